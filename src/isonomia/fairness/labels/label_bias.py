"""Are the labels themselves even-handed: base rates, what the attribute adds, labels of similar people."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np

from isonomia.counting import Codes
from isonomia.data import Dataset, kind_of, numbers
from isonomia.errors import NotApplicable, SpecError, close_to
from isonomia.events import Progress, ProgressLike
from isonomia.evidence import Column, Estimate, Picture, Result, Table, benjamini_hochberg
from isonomia.evidence.intervals import normal_interval
from isonomia.fairness.groups.averages import effective_rows
from isonomia.fairness.groups.group_metrics import GroupMetrics, group_metrics
from isonomia.fairness.groups.grouping import BY, By, attribute_sets
from isonomia.fairness.labels.label_neighbours import MAX_COMPARED, against_similar
from isonomia.fairness.labels.label_values import left_out_classes
from isonomia.fairness.labels.mutual_information import equal_shares, information, permuted, spread, table
from isonomia.languages import msg
from isonomia.models import Surface
from isonomia.parameters import NAMES, Integer, validated
from isonomia.subject import Outcome, Subject, SubjectOptions

#: More rows than this are sampled for the search of neighbours.
MAX_ROWS = 20_000
#: A regression's target is cut into this many bins of equal shares to estimate the information about it.
TARGET_BINS = 5


@dataclass(frozen=True, repr=False)
class LabelBias(Result):
    """Signs that labels depend on the group.

    ``tables["base_rates"]``: base rate (or mean) of each group. ``tables["information"]``: what an attribute says
    about the label, alone and given the strata. ``tables["neighbours"]``: labels of each group against those of the
    most similar people of other groups.
    """

    conditional: dict[str, Estimate] = field(default_factory=dict)


@validated(given=NAMES.or_none(), k=Integer(1), by=BY, max_rows=Integer(1))
def label_bias(
    data: Any,
    *,
    given: Sequence[str] | None = None,
    k: int = 5,
    by: By | Sequence[Sequence[str]] = "each",
    max_rows: int = MAX_ROWS,
    progress: ProgressLike = None,
    **options: Unpack[SubjectOptions],
) -> LabelBias:
    """Signs of bias in the true labels.

    Parameters
    ----------
    data : Dataset, frame or Subject
        With a target and protected attributes. A weight is the number of people that a row stands for.
    given : sequence of str, optional
        Legitimate factors: the label and the attribute are compared within strata of these (numbers in four bins). By
        default the two other features that carry most information about the label.
    k : int
        How many neighbours of other groups a row is compared with.
    by : "each", "intersection", "all" or lists of names
        The groups that are compared; an intersection counts as one attribute.
    max_rows : int
        Maximum number of rows for the neighbours; of groups with more than 2,000 rows so many are looked at.
    **options
        How to read the data, and settings (see `subject.Reading` and `subject.Settings`). `n_boot`, the bootstrap
        samples behind the intervals of base rates, is 500 by default.

    Notes
    -----
    Conditional mutual information I(label; attribute | given) in nats, less what chance alone gives; its p-value comes
    from permuting the attribute within strata, where rows keep their weights. Its standard error adds the variance of
    the delta method (rows drawn anew) and that of the permutations (where there is no association).

    Neighbours: d_i = label_i - mean label of the k nearest rows outside the group (ties shared, the mean weighted), and
    the mean of d over the group, less what a linear regression on the features and the squares of numbers, fitted
    outside the group, says about the features in which the nearest rows still differ (Abadie and Imbens 2011). Labels
    are 1 for the favourable class, 1 for each of several classes in turn (one against the rest), or the number.
    `disagreement` is the mean of |d|.

    With weights, sums over rows are as if a row were repeated (weight) times; how far chance reaches is judged by the
    effective number of rows, and the k neighbours are k rows. None of this proves bias: base rates can differ for
    reasons, and a column that explains the difference may itself be the product of unequal treatment.

    Returns
    -------
    LabelBias

    References
    ----------
    A. Abadie, G. W. Imbens (2011), J. Bus. Econ. Stat. 29:1.
    """
    if not isinstance(data, Subject):
        options.setdefault("n_boot", 500)
    subject = Subject.of(data, **options)
    known, attributes = subject.known, subject.attributes
    if known.target is None or not attributes:
        raise NotApplicable(msg("the data have no target or no protected attribute"))
    level, seed = subject.settings.level, subject.settings.seed
    label = Codes.encode(known.column(known.target), name=known.target).observed()
    if label.size < 2:
        raise NotApplicable(msg("every label is the same"))
    rates = _base_rates(subject, label, by)
    tables = {"base_rates": _as_base_rates(rates.tables["comparisons"])}
    classes = label if known.task != "regression" else _cut(known, known.target)
    chosen = tuple(given) if given is not None else _telling(known, classes)
    for name in chosen:
        if name not in known.columns:
            raise SpecError(f"`given` must name columns of the data; got {name!r}.{close_to(name, known.columns)}")
    tables["information"], conditional = _information(
        known, classes, attribute_sets(attributes, by), _strata(known, chosen), level, seed
    )
    tables["neighbours"] = against_similar(
        known,
        label,
        attributes,
        by=by,
        k=k,
        max_rows=max_rows,
        level=level,
        seed=seed,
        progress=Progress.of(progress),
    )
    facet = {"facet": "class"} if "class" in tables["neighbours"] else {}
    pictures = (
        Picture(
            "forest",
            "neighbours",
            msg("Labels compared with those of similar people in other groups"),
            {"labels": "group", "value": "difference", "reference": 0.0, **facet},
        ),
    )
    message = msg("The label is compared within strata of: {names}.", names=", ".join(chosen) or "—")
    notes = [message, *rates.notes, *left_out_classes(known, label)]
    if max(column.counts().max() for column in attributes) > MAX_COMPARED:
        notes.append(
            msg("In larger groups, {n:int} people sampled at random are compared with similar people.", n=MAX_COMPARED)
        )
    if len(known) > max_rows:
        notes.append(
            msg(
                "Similar people are searched among {n:int} of {all:int} rows, sampled at random.",
                n=max_rows,
                all=len(known),
            )
        )
    found = LabelBias(
        "label_bias",
        msg("Label bias"),
        tables,
        {f"information[{name}]": value for name, value in conditional.items()},
        (),
        pictures,
        tuple(notes),
        conditional,
        titles={
            f"information[{name}]": msg("{name}: information about the label beyond the strata (nats)", name=name)
            for name in conditional
        },
    )
    return subject.noted(found)


def _base_rates(subject: Subject, label: Codes, by: By | Sequence[Sequence[str]]) -> GroupMetrics:
    """The labels taken as if they were decisions: their selection rate is the base rate."""
    data = subject.known
    if data.task == "regression":
        surface, metric = Surface.of_numbers(data.column(label.name).to_numpy()), "mean_prediction"
    else:
        classes = tuple(label.labels)
        codes = label.codes
        if data.task == "binary":
            index = label.code_of(data.positive)
            classes = (*(x for i, x in enumerate(label.labels) if i != index), data.positive)
            codes = (label.codes == index).astype(np.uint8)
        surface, metric = Surface(data.task or "binary", classes, label=codes), "selection_rate"
    decisions = replace(subject, outcome=Outcome(None, surface), cache={})
    return group_metrics(decisions, metrics=[metric], by=by)


def _as_base_rates(table: Table) -> Table:
    """Comparisons of labels whose tests are known as those of base rates, not of decisions."""
    names = {"selection_rate": "base_rate", "mean_prediction": "mean_label"}
    keys = [
        (kind, re.sub(r"^\w+", lambda found: names[found[0]], metric), *rest)
        for kind, metric, *rest in table["p_value"].keys or ()
    ]
    return table.with_columns(replace(table["p_value"], keys=keys))


def _cut(data: Dataset, target: str) -> Codes:
    values = numbers(data.column(target))
    return Codes.cut(values, equal_shares(values, TARGET_BINS, data.weights).tolist(), name=target).observed()


def _column_codes(data: Dataset, name: str, bins: int = 4) -> Codes:
    column = data.column(name)
    if kind_of(column) in ("numeric", "integer") and column.n_unique() > bins:
        values = numbers(column)
        values = np.where(np.isfinite(values), values, np.nan)
        edges = equal_shares(values, bins, data.weights)
        if edges.size >= 2:
            return Codes.cut(values, edges.tolist(), name=name).observed()
    return Codes.encode(column, name=name)


def _telling(data: Dataset, label: Codes) -> tuple[str, ...]:
    """The two features, protected ones apart, that carry most information about the label."""
    scores = []
    everyone = Codes("", np.zeros(len(label), np.uint8), (0,))
    for name in data.descriptive:
        if name in data.protected or kind_of(data.column(name)) == "datetime":
            continue
        codes = _column_codes(data, name)
        if 1 < codes.size <= 50:
            scores.append((-float(information(table(everyone, codes, label, data.weights))), name))
    return tuple(name for _, name in sorted(scores)[:2])


def _strata(data: Dataset, names: Sequence[str]) -> Codes:
    code = np.zeros(len(data), dtype=np.int64)
    for name in names:
        column = _column_codes(data, name)
        code = code * column.size + column.codes
    values, inverse = np.unique(code, return_inverse=True)
    return Codes("strata", inverse.astype(np.uint32), tuple(range(values.size)))


def _information(
    data: Dataset, label: Codes, attributes: Sequence[Codes], strata: Codes, level: float, seed: int
) -> tuple[Table, dict[str, Estimate]]:
    rng = np.random.default_rng(seed)
    out: list[dict[str, Any]] = []
    estimates: dict[str, Estimate] = {}
    single = Codes("", np.zeros(len(label), np.uint8), (0,))
    w = data.weights
    size = effective_rows(len(label), w)
    for column in attributes:
        alone = float(information(table(single, column, label, w)))
        counts = table(strata, column, label, w)
        value, drawn = float(information(counts)), permuted(strata, column, label, w, rng)
        excess = max(0.0, value - float(drawn.mean()))
        p = float((1 + (drawn >= value * (1 - 1e-12)).sum()) / (1 + drawn.size))
        low, high = normal_interval(excess, np.hypot(spread(counts, size), drawn.std()), level)
        ends = max(0.0, float(low)), float(high)
        estimates[column.name] = Estimate(excess, *ends, n=len(label), method="delta", level=level)
        chance = (column.size - 1) * (label.size - 1) / (2 * size)
        out.append(
            {
                "attribute": column.name,
                "alone": max(0.0, alone - chance),
                "given": (excess, *ends),
                "p_value": p,
                "strata": strata.size,
            }
        )
    p_adjusted = benjamini_hochberg(np.array([row["p_value"] for row in out], dtype=float))
    shown = Table.from_rows(
        out,
        (
            Column("attribute", title=msg("protected attribute")),
            Column("alone", format="num4", title=msg("information about the label alone (nats)")),
            Column("given", format="num4", title=msg("information beyond the strata (nats)")),
            Column("p_value", format="p", title=msg("p-value")),
            Column("strata", format="int", title=msg("strata")),
        ),
        title=msg("Information an attribute carries about the label"),
        backend=data.backend,
    )
    return shown.with_columns(Column("p_adjusted", p_adjusted, format="p", title=msg("p adjusted"))), estimates
