"""Proxies at work: columns that carry a protected attribute and move the gap of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.counting import Codes
from isonomia.data import Dataset, wrap
from isonomia.errors import ModelError, SpecError
from isonomia.events import ProgressLike
from isonomia.evidence import Column, Estimate, Finding, Result, Table
from isonomia.evidence.column import Format
from isonomia.explain.compared import attribute_column
from isonomia.explain.gap_decomposition import gap
from isonomia.explain.gap_result import GapCriterion, GapDecomposition
from isonomia.explain.outputs import OUTPUTS, Output
from isonomia.explain.shapley_values import MAX_MODEL_ROWS
from isonomia.fairness import Proxies, proxies
from isonomia.languages import ColumnName, Message, msg, once
from isonomia.models import Model
from isonomia.parameters import Choice, Integer, Number, validated
from isonomia.subject import Subject, SubjectOptions


@dataclass(frozen=True)
class WorkingProxies(Result):
    """Which columns carry the attribute and move the gap (see `proxies_at_work`).

    Attributes
    ----------
    at_work : tuple of str
        Columns that do both, the largest contribution first.
    carriers : tuple of str
        Columns that carry the attribute, the strongest first.
    block : mapping of Estimate
        For each group, what all carriers together add to the gap, as one player; empty without carriers.
    gap : GapDecomposition or None
    refit : GapDecomposition or None
        The gap of a model fitted without the worst carrier; None where no estimator was given or there is no carrier.
    """

    at_work: tuple[str, ...] = field(default=(), kw_only=True)
    carriers: tuple[str, ...] = field(default=(), kw_only=True)
    block: Mapping[str, Estimate] = field(default_factory=dict, kw_only=True)
    gap: GapDecomposition | None = field(default=None, kw_only=True)
    refit: GapDecomposition | None = field(default=None, kw_only=True)


@validated(
    output=Choice(OUTPUTS),
    least=Number(at_least=0, at_most=1),
    max_model_rows=Integer(1),
)
def proxies_at_work(
    data: Any,
    model: Any = None,
    *,
    estimator: Any = None,
    train: Any = None,
    attribute: str | None = None,
    criterion: GapCriterion = "demographic_parity",
    output: Output = "probability",
    least: float = 0.01,
    max_model_rows: int = MAX_MODEL_ROWS,
    progress: ProgressLike = None,
    **given: Unpack[SubjectOptions],
) -> WorkingProxies:
    """Columns that carry a protected attribute and move the gap of a model.

    A column carries the attribute where its mutual information with it is at least `least` of the attribute's entropy
    (see `fairness.proxies`). It moves the gap where its contribution (see `gap`) differs from 0 after adjusting over
    the columns. A proxy at work does both. Most useful for models that do not take the attribute itself.

    Parameters
    ----------
    data, model, criterion, attribute, output, max_model_rows, progress, **given
        As in `gap`.
    estimator : scikit-learn estimator, optional
        Fitted again without the worst carrier (all rows have its most frequent value), to show what the gap would be.
        It takes the model's columns as a frame.
    train : Dataset, optional
        The rows to fit on; by default `data`.
    least : float
        Minimum information of a carrier, as a share of the attribute's entropy.

    Returns
    -------
    WorkingProxies
        ``tables["columns"]``: a row per group and column with its information and its contribution; a finding for each
        proxy at work whose contribution is large enough to be one of `gap`.
    """
    subject = Subject.of(data, model, progress=progress, **given)
    column = attribute_column(subject, attribute)
    options: dict[str, Any] = {
        "criterion": criterion,
        "attribute": column.name,
        "output": output,
        "max_model_rows": max_model_rows,
    }
    found = gap(subject, **options)
    used = [name for name in found.columns if name != column.name]
    if not used:
        raise SpecError("The model takes no column but the attribute itself.")
    carried = proxies(subject, attributes=[column.name], columns=used)
    names = carried.carriers(column.name, least=least, most=len(used))
    at_work = _at_work(found, names, 1 - subject.settings.level)
    block: dict[str, Estimate] = {}
    if names:
        together = gap(subject, block=list(names), **options)
        block = {group: _last(part, together.gaps[group]) for group, part in together.parts.items()}
    refit = None
    worst = next(iter(at_work), None)
    if estimator is not None and worst is not None:
        refit = gap(_without(subject, estimator, train, worst), **options)
    return _result(subject, found, carried, names=names, at_work=at_work, block=block, refit=refit)


def _at_work(found: GapDecomposition, carriers: tuple[str, ...], alpha: float) -> tuple[str, ...]:
    """Carriers whose contribution differs from 0 for some group, the largest first."""
    size: dict[str, float] = {}
    for row in found.tables["contributions"].rows():
        sure = row["p_adjusted"] is None or row["p_adjusted"] < alpha
        if row["column"] in carriers and sure and row["contribution"]:
            size[row["column"]] = max(size.get(row["column"], 0.0), abs(row["contribution"]))
    return tuple(sorted(size, key=lambda name: -size[name]))


def _last(part: Any, whole: Estimate) -> Estimate:
    low, high = part.ends(whole.level)
    return Estimate(
        float(part.value[-1]), float(low[-1]), float(high[-1]), n=whole.n, method="normal", level=whole.level
    )


def _without(subject: Subject, estimator: Any, train: Any, column: str) -> Subject:
    """The subject with a model fitted to rows that all have the same value of a column."""
    from sklearn.base import clone

    model, test = subject.needs_model(), subject.known
    rows = test if train is None else train
    if not isinstance(rows, Dataset) or rows.target is None:
        raise SpecError("`train` must be a Dataset with a target.")
    names = tuple(model.features or test.features)
    codes = Codes.encode(wrap(rows.frame)[column], name=column)
    constant = codes.labels[int(np.argmax(codes.counts()))]

    def same(data: Dataset) -> Dataset:
        table = wrap(data.frame)
        kind = table.schema[column]
        return data.replace(table.with_columns(nw.lit(constant).cast(kind).alias(column)).to_native())

    fitted = same(rows)
    try:
        table = wrap(fitted.frame)
        again = clone(estimator).fit(table.select(names).to_native(), table[rows.target].to_numpy())
    except Exception as error:  # any error of the user's estimator
        raise ModelError(f"The estimator could not be fitted without {column!r}: {error}") from error
    settings = subject.settings
    return Subject.of(
        same(test),
        Model.of(again, features=names),
        level=settings.level,
        missing=settings.missing,
        reference=settings.reference,
    )


def _result(
    subject: Subject,
    found: GapDecomposition,
    carried: Proxies,
    *,
    names: tuple[str, ...],
    at_work: tuple[str, ...],
    block: dict[str, Estimate],
    refit: GapDecomposition | None,
) -> WorkingProxies:
    information = {
        row["column"]: (row["information"], row["information_low"], row["information_high"])
        for row in carried.tables["columns"].rows()
    }
    format_: Format = "points" if found.output in ("probability", "decision", "rescaled") else "num4"
    unknown = msg("it is not a column of numbers or categories")
    rows = [
        {
            "group": row["group"],
            "column": row["column"],
            "information": information.get(row["column"], unknown),
            "contribution": (row["contribution"], row["contribution_low"], row["contribution_high"]),
            "at_work": row["column"] in at_work,
        }
        for row in found.tables["contributions"].rows()
        if row["column"] != found.attribute
    ]
    shapes = (
        Column("group", title=msg("group")),
        Column("column", title=msg("column")),
        Column("information", format="pct", title=msg("information about {column}", column=found.attribute)),
        Column("contribution", format=format_, title=msg("contribution to the gap")),
        Column("at_work", title=msg("proxy at work")),
    )
    title = msg("What columns reveal about {column}, and what they add to the gap", column=found.attribute)
    totals = [
        {
            "group": group,
            "gap": whole,
            "block": block.get(group, msg("no column carries the attribute")),
            "without": refit.gaps[group]
            if refit is not None
            else msg("no model was fitted without the strongest carrier"),
        }
        for group, whole in found.gaps.items()
    ]
    worst = at_work[0] if at_work else ""
    sums = (
        Column("group", title=msg("group")),
        Column("gap", format=format_, title=msg("gap")),
        Column("block", format=format_, title=msg("contribution of all carriers together")),
        Column("without", format=format_, title=msg("gap of a model without {column}", column=worst or "-")),
    )
    backend = subject.backend
    notes: tuple[Message, ...] = (*found.notes, *carried.notes)
    if found.attribute in found.columns:
        notes = (msg("The model uses {column} itself, not only its proxies.", column=found.attribute), *notes)
    return WorkingProxies(
        "explain_proxies",
        msg("Proxies of {column} at work", column=found.attribute),
        {
            "columns": Table.from_rows(rows, shapes, title=title, backend=backend),
            "groups": Table.from_rows(
                totals, sums, title=msg("The gap, what all carriers add, and the gap without one"), backend=backend
            ),
        },
        findings=_findings(found, information, at_work),
        notes=once(notes),
        at_work=at_work,
        carriers=names,
        block=block,
        gap=found,
        refit=refit,
    )


def _findings(
    found: GapDecomposition, information: Mapping[str, tuple[Any, ...]], at_work: tuple[str, ...]
) -> tuple[Finding, ...]:
    """What the gap says of each proxy at work, and how much of the attribute the column reveals."""
    return tuple(
        replace(
            one,
            code="explain_proxies.at_work",
            message=msg(
                "{statement} This column carries {information:pct} of the information about {attribute}: it is a "
                "proxy at work.",
                statement=one.message,
                information=information[one.columns[0]][0],
                attribute=ColumnName(found.attribute),
            ),
            remedy="examine_proxies",
            evidence="explain_proxies/columns",
        )
        for one in found.findings
        if one.code == "explain_gap.contribution" and one.columns[0] in at_work
    )
