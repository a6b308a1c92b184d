"""Which columns the change from one model to another runs through, by group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np

from isonomia.errors import SpecError
from isonomia.events import ProgressLike
from isonomia.evidence import Column, Estimate, Picture, Result, Table, benjamini_hochberg
from isonomia.evidence.column import Format
from isonomia.explain.between_groups import Between
from isonomia.explain.gap_decomposition import gap
from isonomia.explain.gap_result import GapCriterion, GapDecomposition, known_p
from isonomia.explain.outputs import Output
from isonomia.explain.shapley_values import MAX_MODEL_ROWS
from isonomia.languages import msg, once
from isonomia.subject import Subject, SubjectOptions


@dataclass(frozen=True)
class Change(Result):
    """What a change of models did to the gap, column by column (see `change`).

    Attributes
    ----------
    before, after : GapDecomposition
    changes : mapping of Estimate
        For each group, the gap after less the gap before.
    parts : mapping of Between
        For each group, the change of every column's contribution, in the order of `columns`.
    columns : tuple of str
        The columns that either model takes.
    """

    before: GapDecomposition | None = field(default=None, kw_only=True)
    after: GapDecomposition | None = field(default=None, kw_only=True)
    changes: Mapping[str, Estimate] = field(default_factory=dict, kw_only=True)
    parts: Mapping[str, Between] = field(default_factory=dict, kw_only=True)
    columns: tuple[str, ...] = field(default=(), kw_only=True)


def change(
    data: Any,
    before: Any,
    after: Any,
    *,
    criterion: GapCriterion = "demographic_parity",
    attribute: str | None = None,
    output: Output = "probability",
    background: Any = "other_group",
    label: Any = None,
    max_model_rows: int = MAX_MODEL_ROWS,
    progress: ProgressLike = None,
    **given: Unpack[SubjectOptions],
) -> Change:
    """The change of the gap from one model to another, as a sum over columns.

    Shapley values are linear: what a column adds to the gap of the difference of two models is what it adds to the gap
    after less what it adds before. Both models are asked about the same people, so errors are those of the paired
    differences.

    Parameters
    ----------
    data, **given
        As in `gap`.
    before, after : models
        Anything that `Model.of` takes. They may take different columns: one that a model does not take adds nothing.
    criterion, attribute, output, background, label, max_model_rows, progress
        As in `gap`.

    Returns
    -------
    Change
        ``tables["contributions"]``: a row per group and column, with its contribution before, after and the change.

    Examples
    --------
    >>> import isonomia as iso
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> sex, skill = rng.integers(0, 2, 200), rng.normal(size=200)
    >>> y = skill + sex
    >>> data = iso.Dataset({"sex": sex, "skill": skill, "y": y}, target="y", protected=["sex"], privileged={"sex": 1},
    ...                    features=["sex", "skill"])
    >>> both = LinearRegression().fit(np.column_stack([sex, skill]), y)
    >>> blind = LinearRegression().fit(skill[:, None], y)
    >>> names = ["sex", "skill"]
    >>> found = change(data, iso.Model.of(both, features=names), iso.Model.of(blind, features=names[1:]))
    >>> [(row["column"], round(row["change"], 1)) for row in found.tables["contributions"].rows()]
    [('sex', 1.0), ('skill', -0.0)]
    """
    options: dict[str, Any] = {
        "criterion": criterion,
        "attribute": attribute,
        "output": output,
        "background": background,
        "label": label,
        "max_model_rows": max_model_rows,
    }
    one = gap(Subject.of(data, before, progress=progress, **given), **options)
    other = gap(Subject.of(data, after, progress=progress, **given), **options)
    if one.output != other.output or set(one.parts) != set(other.parts):
        raise SpecError("The two models do not predict the same outcome for the same groups.")
    names = (*one.columns, *(name for name in other.columns if name not in one.columns))
    parts = {
        group: other.parts[group].aligned(other.columns, names).less(part.aligned(one.columns, names))
        for group, part in one.parts.items()
    }
    return _result(one, other, names, parts)


def _result(
    before: GapDecomposition, after: GapDecomposition, names: tuple[str, ...], parts: dict[str, Between]
) -> Change:
    level = next(iter(before.gaps.values())).level
    sizes = {row["group"]: row["n"] for row in before.tables["groups"].rows()}
    backend = before.tables["groups"].backend
    adjusted = benjamini_hochberg(np.stack([part.p_value for part in parts.values()]))
    format_: Format = "points" if before.output in ("probability", "decision", "rescaled") else "num4"
    rows, totals, changes = [], [], {}
    for (group, part), p_adjusted in zip(parts.items(), adjusted, strict=True):
        first = before.parts[group].aligned(before.columns, names).value
        low, high = part.ends(level)
        changes[group] = part.total_estimate(sizes[group], level)
        totals.append({"group": group, "n": sizes[group], "before": before.gaps[group], "after": after.gaps[group]})
        totals[-1]["change"] = changes[group]
        for at in np.argsort(-np.abs(part.value), kind="stable"):
            rows.append(
                {
                    "group": group,
                    "column": names[at],
                    "before": float(first[at]),
                    "after": float(first[at] + part.value[at]),
                    "change": (float(part.value[at]), float(low[at]), float(high[at])),
                    "p_value": known_p(part.p_value[at]),
                    "p_adjusted": known_p(p_adjusted[at]),
                }
            )
    figures = tuple(
        Column(name, format=format_, title=title)
        for name, title in (("before", msg("before")), ("after", msg("after")), ("change", msg("change")))
    )
    who = Column("group", title=msg("group"))
    tests = (
        Column("p_value", format="p", title=msg("p-value")),
        Column("p_adjusted", format="p", title=msg("adjusted p-value")),
    )
    shapes = (who, Column("column", title=msg("column")), *figures, *tests)
    title = msg("What each column adds to the gap before and after")
    whole = (who, Column("n", format="int", title=msg("rows")), *figures)
    tables = {
        "contributions": Table.from_rows(rows, shapes, title=title, backend=backend),
        "groups": Table.from_rows(totals, whole, title=msg("The gap before and after"), backend=backend),
    }
    picture = Picture(
        "bars", "contributions", title, {"labels": "column", "value": "change", "facet": "group", "reference": 0.0}
    )
    return Change(
        "explain_change",
        msg("Which columns the change of the gap runs through"),
        tables,
        pictures=(picture,),
        notes=once((*before.notes, *after.notes)),
        before=before,
        after=after,
        changes=changes,
        parts=parts,
        columns=names,
    )
