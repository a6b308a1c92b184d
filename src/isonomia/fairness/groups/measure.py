"""Any metric of the registry over many overlapping sets of rows at once.

Rows are tallied once into cells that do not overlap (every combination of the attributes that occurs). A set of rows is
a union of cells, so its counts are a sum of cell counts, and so are its bootstrap replicates: one draw of the cells
serves every group, every intersection and every reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Axis, Codes, Tally, composite, resample, resample_sums, tally
from isonomia.errors import NotApplicable, SpecError
from isonomia.evidence import percentile, wilson
from isonomia.fairness.groups.grouping import Groups
from isonomia.languages import Message, msg
from isonomia.metrics import METRICS, Metric, logit_interval, one_vs_rest, smaller_class, without_spread
from isonomia.subject import Outcome
from isonomia.typing import Floats

#: One-vs-rest metrics are spelt out for at most this many classes unless they are asked for by name.
MAX_SPELT_CLASSES = 10
#: Replicates are worked out in blocks of at most this many numbers (sets x replicates x cells of a table).
BLOCK_NUMBERS = 1 << 25
#: Values closer than this are equal but for rounding.
SAME = 1e-12


@dataclass(frozen=True)
class Use:
    """A metric in use: as it is, or about one class against the rest."""

    metric: Metric
    id: str
    title: Message
    place: int | None = None

    def table(self, counts: NDArray[Any]) -> NDArray[Any]:
        """The confusion table the metric reads: 2 x 2 for one class against the rest."""
        return counts if self.place is None else one_vs_rest(counts, self.place)


@dataclass(frozen=True, eq=False)
class Measured:
    """One metric over S sets of rows.

    Attributes
    ----------
    value, low, high : (S,) arrays, NaN where undefined
    size : (S,) the number behind the value (the denominator of a rate), effective where rows are weighted
    draws : (S, B) bootstrap replicates, or None
    error : (S,) standard errors, or None where draws tell
    rate : whether the value is a simple proportion of `size`
    method : how the intervals were made
    reasons : why a value is missing, by set
    """

    use: Use
    value: Floats
    low: Floats
    high: Floats
    size: Floats
    draws: Floats | None = None
    error: Floats | None = None
    rate: bool = False
    method: str = ""
    reasons: tuple[Message | str | None, ...] = ()

    def spread(self) -> Floats:
        """Standard errors of the values."""
        if self.error is not None:
            return self.error
        if self.draws is None:
            return np.full(self.value.shape, np.nan)
        return spread_of(self.draws)


def choose_metrics(names: Sequence[str] | None, outcome: Outcome) -> tuple[Use, ...]:
    """The metrics asked for (or the usual ones of the task), one against the rest where there are several classes."""
    surface = outcome.surface
    wanted = list(names) if names is not None else _usual(outcome)
    if isinstance(names, str):
        raise SpecError(f"`metrics` must be a list of metric names; got the text {names!r}.")
    uses: list[Use] = []
    for name in wanted:
        metric = METRICS[name]
        if outcome.truth is None and metric.needs_labels:
            raise SpecError(
                f"The metric '{name}' needs true labels; give y_true, or ask for metrics of predictions alone."
            )
        if not set(metric.surface) & set(surface.kinds) and surface.task in metric.tasks:
            needed = " or ".join(_GIVEN_AS[kind] for kind in metric.surface)
            raise SpecError(f"The metric '{name}' needs {needed}; there is only {', '.join(surface.kinds)}.")
        if surface.task in metric.tasks:
            uses.append(Use(metric, name, metric.title))
        elif surface.task == "multiclass" and metric.family == "counts" and "binary" in metric.tasks:
            if names is None and len(surface.classes) > MAX_SPELT_CLASSES:
                continue
            for place, label in enumerate(surface.classes):
                title = msg('{metric} of "{label}"', metric=metric.title, label=str(label))
                uses.append(Use(metric, f"{name}[{label}]", title, place))
        else:
            raise SpecError(
                f"The metric '{name}' is for {' or '.join(metric.tasks)} tasks; this task is {surface.task}. "
                f"Available for it: {', '.join(m.id for m in METRICS if surface.task in m.tasks)}."
            )
    if not uses:
        raise SpecError("`metrics` must name at least one metric.")
    return tuple(uses)


_GIVEN_AS = {
    "label": "decisions (y_pred)",
    "probability": "probabilities (y_score)",
    "score": "scores (y_score)",
    "continuous": "predicted numbers (y_pred)",
}


def _usual(outcome: Outcome) -> list[str]:
    labelled = outcome.truth is not None
    if outcome.task == "regression":
        return ["mean_prediction", "mean_error", "mae", "rmse"] if labelled else ["mean_prediction"]
    if outcome.task == "multiclass":
        return ["accuracy", "macro_f1", "selection_rate", "tpr"] if labelled else ["selection_rate"]
    return ["selection_rate", "tpr", "fpr", "ppv", "accuracy"] if labelled else ["selection_rate"]


@dataclass(frozen=True, eq=False)
class Sample:
    """What the measures read.

    Attributes
    ----------
    outcome : Outcome
    groups : Groups
        Their `cells` are only worked out when a metric needs rows.
    counts : Tally or None
        Cells x true x predicted, for the cells that occur; None for a regression.
    membership : (cells, sets) array
        1 where a cell belongs to a set of rows.
    """

    outcome: Outcome
    groups: Groups
    counts: Tally | None
    membership: Floats
    weights: Floats | None = None
    n_boot: int = 1000
    seed: int = 0
    level: float = 0.95

    def rows_of(self, index: int) -> NDArray[np.bool_]:
        """The rows of one set."""
        inside: NDArray[np.bool_] = (self.membership[:, index] > 0)[self.groups.cells.codes]
        return inside


#: Above this many cells the attributes are folded into those that occur before they are counted.
_DENSE_CELLS = 1 << 20


def count_cells(columns: Sequence[Codes], outcome: Outcome, weights: Floats | None) -> Tally:
    """Attribute cells that occur x true x predicted, in one pass over the rows.

    Without labels there is one true row; for a regression one true row and one predicted column. The axis of the
    cells has the tuples of attribute values as labels.
    """
    surface, k = outcome.surface, tuple(range(len(outcome.surface.classes)))
    asked: list[Codes] = []
    if surface.label is not None:
        said = Codes("predicted", surface.label, k)
        asked = [said] if outcome.truth is None else [Codes("true", outcome.truth, k), said]
    shape = tuple(column.size for column in columns)
    ends = tuple(column.size for column in asked)
    dense = int(np.prod((*shape, *ends), dtype=object)) <= _DENSE_CELLS
    table = tally([*columns, *asked] if dense else [composite(columns), *asked], weights=weights)
    tail = (1,) * (2 - len(ends)) + ends
    n = table.n.reshape(-1, *tail)
    used = np.flatnonzero(n.any(axis=(1, 2)))
    if dense:
        places = zip(*np.unravel_index(used, shape), strict=True)
        labels = tuple(tuple(c.labels[i] for c, i in zip(columns, place, strict=True)) for place in places)
    else:
        labels = table.axes[0].labels
    axes = (Axis("cell", labels), Axis("true", k), Axis("predicted", k))
    w, w2 = (array.reshape(-1, *tail)[used] for array in (table.w, table.w2))
    return Tally(axes, n[used], w, w2, weighted=table.weighted)


def measure(sample: Sample, uses: Sequence[Use]) -> dict[str, Measured]:
    """Every metric over every set, with intervals."""
    out: dict[str, Measured] = {}
    counted = [use for use in uses if use.metric.family == "counts"]
    if counted:
        out |= _from_counts(sample, counted)
    for use in uses:
        if use.metric.family == "means":
            out[use.id] = _from_sums(sample, use)
        elif use.metric.family == "ranks":
            out[use.id] = _from_rows(sample, use)
    return {use.id: out[use.id] for use in uses}


def _from_counts(sample: Sample, uses: Sequence[Use]) -> dict[str, Measured]:
    table = sample.counts
    if table is None:
        raise SpecError("These metrics are about decisions, and a regression predicts numbers.")
    size, n_sets, k = len(table.n), sample.membership.shape[1], table.n.shape[-1]
    members = np.ascontiguousarray(sample.membership.T)

    def to_sets(array: NDArray[Any]) -> Floats:
        flat: Floats = members @ array.reshape(size, -1)
        return flat.reshape(n_sets, -1, k)

    counts = to_sets(table.w)
    squares = to_sets(table.w2) if table.weighted else None
    draws = _replicates(sample, table, members, uses)
    return {use.id: _count_metric(use, counts, squares, draws.get(use.id), sample.level) for use in uses}


def _replicates(sample: Sample, table: Tally, members: Floats, uses: Sequence[Use]) -> dict[str, Floats]:
    """Bootstrap replicates (sets, replicates) of each metric, in blocks: tables of many classes are large."""
    if not sample.n_boot:
        return {}
    size, k, n_sets = len(table.n), table.n.shape[-1], len(members)
    block = max(1, BLOCK_NUMBERS // (max(n_sets, size) * table.n[0].size))
    rng = np.random.default_rng(sample.seed)
    parts: dict[str, list[Floats]] = {use.id: [] for use in uses}
    for start in range(0, sample.n_boot, block):
        n_boot = min(block, sample.n_boot - start)
        drawn = resample(table, n_boot, rng).reshape(n_boot, size, -1)
        # laid out cell of the table first: metrics add whole (sets, replicates) planes instead of short rows
        planes = members @ np.ascontiguousarray(drawn.transpose(2, 1, 0), dtype=float)
        tables = np.moveaxis(planes.reshape(-1, k, n_sets, n_boot), (0, 1), (2, 3))
        for use in uses:
            own = use.table(tables)
            if use.metric.rate is not None:
                parts[use.id].append(_divide(*use.metric.rate(own)))
            else:
                assert use.metric.from_counts is not None  # the registry makes sure
                parts[use.id].append(use.metric.from_counts(own))
    return {name: part[0] if len(part) == 1 else np.concatenate(part, axis=1) for name, part in parts.items()}


def _count_metric(use: Use, counts: Floats, squares: Floats | None, drawn: Floats | None, level: float) -> Measured:
    metric = use.metric
    own = use.table(counts)
    if metric.rate is not None:
        numerator, size = metric.rate(own)
        value = _divide(numerator, size)
        if squares is not None:
            size = _divide(size * size, metric.rate(use.table(squares))[1])
        low, high = wilson(np.nan_to_num(value) * np.nan_to_num(size), np.nan_to_num(size), level)
        return Measured(
            use, value, low, high, np.nan_to_num(size), drawn, None, True, "wilson", _reasons(metric, value)
        )
    assert metric.from_counts is not None  # the registry makes sure
    value = metric.from_counts(own)
    low, high = _interval(drawn, value, level)
    if drawn is not None:
        ends = without_spread(
            value, _smaller_class(own, None if squares is None else use.table(squares)), metric, level
        )
        low, high = (np.where(high - low < SAME, end, usual) for end, usual in zip(ends, (low, high), strict=True))
    total = counts.sum(axis=(-2, -1))
    n = total if squares is None else _divide(total**2, squares.sum(axis=(-2, -1)))
    return Measured(use, value, low, high, n, drawn, None, False, "bootstrap", _reasons(metric, value))


def _smaller_class(counts: Floats, squares: Floats | None) -> Floats:
    """The (effective) number of rows of the smallest class that occurs, set by set."""
    size = counts.sum(axis=-1)
    if squares is not None:
        size = _divide(size * size, squares.sum(axis=-1))
    return np.where(size > 0, size, np.inf).min(axis=-1)  # type: ignore[no-any-return]


def _from_sums(sample: Sample, use: Use) -> Measured:
    metric, outcome = use.metric, sample.outcome
    assert metric.quantities is not None  # the registry makes sure
    assert metric.from_sums is not None
    found = np.asarray(metric.quantities(outcome.truth, outcome.surface), dtype=float)
    centre = found.mean(axis=0)  # moments about a nearby point: those about 0 lose all digits where it is far away
    rows = found - centre
    weighted = sample.weights is not None
    if sample.weights is not None:
        rows = np.column_stack([sample.weights, rows * sample.weights[:, None]])
    q = rows.shape[1]
    upper = [(i, j) for i in range(q) for j in range(i, q)]
    values = {f"s{i}": rows[:, i] for i in range(q)} | {f"p{i},{j}": rows[:, i] * rows[:, j] for i, j in upper}
    cells = sample.groups.cells
    table = tally([cells], values=values)
    sums = np.stack([table.sums[f"s{i}"] for i in range(q)], axis=-1)
    products = np.zeros((cells.size, q, q))
    for i, j in upper:
        products[:, i, j] = products[:, j, i] = table.sums[f"p{i},{j}"]

    def evaluate(n: Floats, s: Floats) -> Floats:
        assert metric.from_sums is not None
        total, about = (s[..., 0], s[..., 1:]) if weighted else (n, s)
        return metric.from_sums(total, about + total[..., None] * centre)

    members = sample.membership.T
    n_set = members @ table.n
    value = evaluate(n_set, members @ sums)
    drawn = None
    if sample.n_boot:
        m, drawn_sums = resample_sums(table.n, sums, products, sample.n_boot, sample.seed)
        m_set = members @ m.T.astype(float)
        s_set = (members @ drawn_sums.transpose(1, 0, 2).reshape(cells.size, -1)).reshape(len(members), -1, q)
        drawn = evaluate(m_set, s_set)
    low, high = _interval(drawn, value, sample.level)
    return Measured(
        use, value, low, high, n_set.astype(float), drawn, None, False, "bootstrap", _reasons(metric, value)
    )


def _from_rows(sample: Sample, use: Use) -> Measured:
    metric, outcome = use.metric, sample.outcome
    assert metric.from_rows is not None  # the registry makes sure
    n_sets = sample.membership.shape[1]
    value, error, size, smaller = (np.full(n_sets, np.nan) for _ in range(4))
    reasons: list[Message | str | None] = [None] * n_sets
    drawn = None if metric.draws is None or not sample.n_boot else np.full((n_sets, sample.n_boot), np.nan)
    rng = np.random.default_rng(sample.seed)  # one for all sets: equal noise would hide the spread of a difference
    for index in range(n_sets):
        rows = sample.rows_of(index)
        part = outcome.take(rows)
        weights = None if sample.weights is None else sample.weights[rows]
        size[index] = len(part)
        try:
            if part.truth is None or not len(part):
                raise NotApplicable(msg("the group has no rows"))
            value[index], spread = metric.from_rows(part.truth, part.surface, weights)
            error[index] = np.nan if spread is None else spread
            if metric.interval and metric.draws is None:
                smaller[index] = smaller_class(part.truth, weights)
            if drawn is not None and metric.draws is not None:
                drawn[index] = metric.draws(part.truth, part.surface, weights, sample.n_boot, rng)
        except NotApplicable as reason:
            reasons[index] = reason.message
    if drawn is not None:
        low, high = _interval(drawn, value, sample.level)
        low, high = np.minimum(low, value), np.maximum(high, value)  # the value itself may be biased
        return Measured(use, value, low, high, size, drawn, None, False, metric.interval, tuple(reasons))
    low, high = _row_intervals(metric, value, error, smaller, sample.level)
    return Measured(use, value, low, high, size, None, error, False, metric.interval, tuple(reasons))


def _row_intervals(
    metric: Metric, value: Floats, error: Floats, smaller: Floats, level: float
) -> tuple[Floats, Floats]:
    """On the logit scale, as for all rows together; none where the metric has no known spread."""
    low, high = np.full(value.shape, np.nan), np.full(value.shape, np.nan)
    for index in np.flatnonzero(~np.isnan(value)).tolist() if metric.interval else ():
        spread = None if np.isnan(error[index]) else float(error[index])
        low[index], high[index] = logit_interval(float(value[index]), spread, float(smaller[index]), level)
    return low, high


def _reasons(metric: Metric, value: Floats) -> tuple[Message | str | None, ...]:
    missing = np.isnan(value)
    if not missing.any():
        return (None,) * value.size
    return tuple(metric.undefined if absent else None for absent in missing.tolist())


def _interval(draws: Floats | None, value: Floats, level: float) -> tuple[Floats, Floats]:
    if draws is None:
        nothing = np.full(value.shape, np.nan)
        return nothing, nothing
    low, high = percentile(draws.T, level)
    absent = np.isnan(value)
    return np.where(absent, np.nan, low), np.where(absent, np.nan, high)


def spread_of(draws: Floats) -> Floats:
    """Standard deviations of replicates along the last axis, leaving out undefined ones."""
    if not np.isnan(draws).any():
        return draws.std(axis=-1, ddof=1)  # type: ignore[no-any-return]
    known = ~np.isnan(draws)
    n = known.sum(axis=-1)
    filled = np.where(known, draws, 0.0)
    mean = _divide(filled.sum(axis=-1), n)
    square = np.where(known, (draws - mean[..., None]) ** 2, 0.0).sum(axis=-1)
    return np.sqrt(_divide(square, np.where(n > 1, n - 1, 0)))


def _divide(numerator: NDArray[Any], denominator: NDArray[Any]) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominator > 0, numerator / denominator, np.nan)
