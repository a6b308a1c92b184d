"""Where the model fits the rows it was trained on and not new ones: the train-test gap, slice by slice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, smallest
from isonomia.counting.cuts import Cut
from isonomia.errors import DataError
from isonomia.events import ProgressLike
from isonomia.evidence import Result, benjamini_hochberg, normal_p
from isonomia.evidence.intervals import error_within, normal_interval, normal_quantile
from isonomia.evidence.mean_intervals import mover_difference
from isonomia.languages import Message, msg
from isonomia.languages.naming import together
from isonomia.metrics import Metric, Rows, RowSets, RowSums, Sums, measure
from isonomia.parameters import ALPHA, LEVEL, NAMES, SEED, Boolean, Choice, Integer, Number, validated
from isonomia.robustness._features import check_features, check_same_columns
from isonomia.robustness.missing_reasons import Reason
from isonomia.robustness.row_metrics import METRIC, as_error, measure_named
from isonomia.robustness.slices.counted_slices import CountedSlices
from isonomia.robustness.slices.overfit_tables import show
from isonomia.robustness.slices.side_slices import SideSlices, aligned, in_codes
from isonomia.robustness.slices.slicing import SLICINGS, Slicing, learn_cuts
from isonomia.robustness.slices.spot_merging import condition_text
from isonomia.subject import Reading, Subject
from isonomia.typing import Floats


@dataclass(frozen=True, eq=False)
class Gaps:
    """Train and test side by side, for the slices of a feature or the cells of a pair."""

    names: tuple[str, ...]
    labels: tuple[str, ...]
    n_train: NDArray[np.int64]
    n_test: NDArray[np.int64]
    train: Floats
    test: Floats
    gap: Floats
    low: Floats
    high: Floats
    p_value: Floats
    enough: NDArray[np.bool_]
    notes: tuple[Message | None, ...]


#: Rows, values, and why a value is missing: the slices of one side.
_Side = tuple[NDArray[np.int64], Floats, Sequence[Reason | None]]


@dataclass(frozen=True, eq=False)
class Comparison:
    """All gaps with adjusted p-values, and what counts as overfitted.

    `adjusted` are p-values that a gap is there and larger than that of the rest, `above` that it is larger than
    `min_gap`.
    """

    metric: Metric
    overall: Gaps
    singles: tuple[Gaps, ...]
    pairs: tuple[Gaps, ...]
    adjusted: Mapping[tuple[str, ...], Floats]
    above: Mapping[tuple[str, ...], Floats]
    min_gap: float
    alpha: float
    level: float
    min_samples: int

    @property
    def n_tests(self) -> int:
        """How many slices were tested."""
        return sum(int((~np.isnan(p)).sum()) for p in self.adjusted.values())

    def beyond_gap(self, part: Gaps) -> NDArray[np.bool_]:
        """Slices whose gap is surely larger than `min_gap`, also where it is no larger than that of the rest."""
        with np.errstate(invalid="ignore"):
            return np.asarray(part.enough & (self.above[part.names] < self.alpha), dtype=bool)

    def beyond_rest(self, part: Gaps) -> NDArray[np.bool_]:
        """Slices whose gap is large enough, and surely larger than that of the other rows."""
        with np.errstate(invalid="ignore"):
            return np.asarray(
                part.enough & (part.gap > self.min_gap) & (self.adjusted[part.names] < self.alpha), dtype=bool
            )


@validated(
    pairs=Boolean(),
    metric=METRIC,
    features=NAMES.or_none(),
    slicing=Choice(SLICINGS),
    bins=Integer(1),
    min_samples=Integer(1),
    gap=Number(at_least=0),
    alpha=ALPHA,
    level=LEVEL,
    seed=SEED,
)
def overfit(
    train: Any,
    test: Any,
    model: Any = None,
    *,
    metric: str | None = None,
    features: Sequence[str] | None = None,
    pairs: bool = False,
    slicing: Slicing = "quantile",
    bins: int = 10,
    min_samples: int = 30,
    gap: float = 0.1,
    alpha: float = 0.05,
    level: float = 0.95,
    seed: int = 0,
    progress: ProgressLike = None,
    **given: Unpack[Reading],
) -> Result:
    """The train-test gap of every slice of every feature, so that overfitting in one corner is seen.

    Parameters
    ----------
    train, test : Dataset
        The rows the model was trained on, and others; both with a target.
    model : optional
        Anything that predicts; called once for each. Without it the predictions that both datasets carry.
    metric : str, optional
        Metric of the gap: any of the registry with a direction, or "error_rate", "mae", "mse", "log_loss". By default
        the error rate, or the mean absolute error of a regression. (Metrics of ordered rows, such as AUC, are not
        crossed.)
    features, pairs, slicing, bins, min_samples
        Options as in `weak_spots`. Edges come from `train` and are shared; a slice needs enough rows in both. Slices
        chosen by the errors ("tree", "adaptive") are chosen on one half of train and measured on the other.
    gap : float
        Largest gap of a slice that is not overfitted; in units of a metric with a bounded range (0.1 = ten points), as
        a share of the overall test error otherwise.
    alpha, level : float
        False discovery rate over all slices; level of the intervals.
    seed : int
        Of the halves.
    progress : callable or Progress, optional
        Receives an `Event` as work goes on; a `Progress` can end it.

    Returns
    -------
    Result
        Tables ``slices`` (all, with train, test, gap and its interval), ``worst`` (those beyond the rest, by the lower
        end of the gap), ``features`` (largest, mean and standard deviation of the gap) and ``pairs``.

    Notes
    -----
    gap = how much worse test is than train: test - train for an error, train - test for a score. Proportions have
    Newcombe's interval, other metrics one of their standard errors; train and test are taken as independent. A slice
    is overfitted where its gap is surely larger than `gap` (``beyond_gap``), or large and surely larger than that of
    all other rows (``beyond_rest``). For the latter a cell of two features has to be worse than the rest of each slice
    it lies in: its p-value is the larger of two. ``overfitted_slices`` counts both. Findings and the table ``worst``
    are about slices beyond the rest: a gap that is the same everywhere is reported once, for all rows.

    References
    ----------
    R. G. Newcombe (1998), Stat. Med. 17:873.

    Examples
    --------
    >>> from isonomia import Dataset
    >>> x = np.arange(4000) % 100 + 0.5
    >>> y = np.arange(4000) // 100 % 2
    >>> unsure = np.where(x > 80, np.arange(4000) // 200 % 2, y)
    >>> known = Dataset({"x": x, "y": y, "predicted": y}, target="y", prediction="predicted")
    >>> new = Dataset({"x": x, "y": y, "predicted": unsure}, target="y", prediction="predicted")
    >>> [row["slice"] for row in overfit(known, new).tables["worst"].rows()]
    ['[79.7, 89.6)', '[89.6, 99.5]']
    """
    two = Subject.of(test, model, progress=progress, counted=True, **given).fitting().needs_outcomes()
    one = two.like(train).fitting().needs_outcomes()
    if one.outcome.task != two.outcome.task:
        raise DataError(
            f"`train` and `test` must have the same task; got {one.outcome.task} and {two.outcome.task}. Give both the "
            "same target."
        )
    chosen = measure_named(metric, one.outcome.surface, ranks=True)
    by_class = one.task == "multiclass" and "probability" in one.surface.kinds
    if slicing in ("tree", "adaptive") or by_class or not (chosen.adds_up and chosen.of_decisions):
        one, two = one.in_rows(), two.in_rows()
    tables = [part.known if part.counts is None else part.data for part in (one, two)]
    names = check_features(tables[0], features, tables[0].searchable)
    check_same_columns(tables[0], tables[1], names, called=("train", "test"))
    one, cuts, notes = _cuts(one, two, names, chosen, slicing, bins, min_samples, seed)
    names = tuple(cut.name for cut in cuts)
    side = _Sides(chosen, one, two, cuts, min_samples, level)
    columns = side.columns
    stage = two.progress.stage("features", msg("Slicing features"), total=len(names))
    singles = tuple(side.single(name, *columns[name]) for name in stage.over(names))
    couples = list(combinations(names, 2)) if pairs else []
    side.expect(couples)
    stage = two.progress.stage("feature_pairs", msg("Slicing pairs of features"), total=len(couples))
    crossed = [side.pair((a, b), columns[a], columns[b]) for a, b in stage.over(couples)]
    overall = side.overall
    bounded = np.isfinite(chosen.range).all()
    base = 1.0 if bounded else abs(float(as_error(chosen, overall.test[0])))
    crossed = [_tested(part, gap * base) for part in crossed]
    every = [*singles, *crossed]
    pooled = benjamini_hochberg(np.concatenate([part.p_value for part in every]))
    split = np.split(pooled, np.cumsum([part.p_value.size for part in every])[:-1])
    adjusted = {part.names: p for part, p in zip(every, split, strict=True)}
    above = _above(every, gap * base, level)
    found = Comparison(chosen, overall, singles, tuple(crossed), adjusted, above, gap * base, alpha, level, min_samples)
    result = show(found, two.backend)
    return one.noted(two.noted(replace(result, notes=(*result.notes, *notes))))


def _above(every: Sequence[Gaps], minimum: float, level: float) -> dict[tuple[str, ...], Floats]:
    """Adjusted p-values that gaps are larger than `minimum`: one-sided, by the lower ends of their intervals."""
    z = normal_quantile(level)
    found = []
    for part in every:
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = np.where(part.gap > minimum, (part.gap - minimum) / (part.gap - part.low), 0.0)
        found.append(np.where(part.enough, normal_p(z * np.nan_to_num(distance, nan=0.0)) / 2, np.nan))
    pooled = benjamini_hochberg(np.concatenate(found))
    parts = np.split(pooled, np.cumsum([part.gap.size for part in every])[:-1])
    return {part.names: p for part, p in zip(every, parts, strict=True)}


def _cuts(
    one: Subject,
    two: Subject,
    names: Sequence[str],
    metric: Metric,
    slicing: Slicing,
    bins: int,
    minimum: int,
    seed: int,
) -> tuple[Subject, tuple[Cut, ...], tuple[Message, ...]]:
    """Slices with edges from train, `one`; train without the half that chose them. `two` is test."""
    options: dict[str, Any] = {"slicing": slicing, "bins": bins, "min_samples": minimum}
    if one.counts is not None:
        slices = CountedSlices(one, names, **options)
        return one, slices.cuts, slices.notes
    train_data = one.known
    if slicing in ("tree", "adaptive"):
        basis = metric if metric.adds_up else measure_named(None, one.outcome.surface)
        chooses = np.random.default_rng(seed).permutation(len(one)) % 2 == 0
        loss, counted = RowSums(basis, Rows.of(one)).take(chooses).loss()
        train_data = one.known.take(chooses)
        options |= {"loss": loss, "counted": counted}
        rest = ~chooses
        one = one.take(rest)
        options["measured"] = [one.known, two.known]
    return one, learn_cuts(train_data, names, **options), ()


class _Sides:
    """Train and test measured alike."""

    def __init__(
        self, metric: Metric, train: Subject, test: Subject, cuts: Sequence[Cut], minimum: int, level: float
    ) -> None:
        self.metric, self.train, self.test, self.minimum, self.level = metric, train, test, minimum, level
        self.alone: dict[str, Gaps] = {}
        self.meters = None if not metric.adds_up else tuple(RowSums(metric, Rows.of(side)) for side in (train, test))
        self._slices = [SideSlices(side, cuts) for side in (train, test)]
        #: The slices of every feature in the same codes on both sides.
        self.columns = {
            cut.name: aligned(*(side.codes(cut.name, (cut.name,)) for side in self._slices)) for cut in cuts
        }

    def expect(self, sets: Sequence[tuple[str, ...]]) -> None:
        """Count by these sets of features in few statements."""
        for side in self._slices:
            side.expect(sets)

    def _sums(self, names: tuple[str, ...]) -> list[Sums]:
        """The sums of every cell of some features, of train and of test."""
        found = []
        for index, (side, subject) in enumerate(zip(self._slices, (self.train, self.test), strict=True)):
            columns = [self.columns[name][index] for name in names]
            part = side.part(names)
            if part is not subject:
                columns = [in_codes(side.codes(column.name, names), column) for column in columns]
            found.append(RowSums(self.metric, Rows.of(part)).over(columns))
        return found

    @cached_property
    def overall(self) -> Gaps:
        """All rows of train and of test."""
        sides = (self.train, self.test)
        everyone = [Codes("", np.zeros(len(side.outcome), dtype=np.uint8), ("all",)) for side in sides]
        return self._gaps(("",), everyone[0], everyone[1], local=False)

    def single(self, name: str, train: Codes, test: Codes) -> Gaps:
        """The slices of one feature."""
        self.alone[name] = self._gaps((name,), train, test)
        return self.alone[name]

    def pair(self, names: tuple[str, str], one: tuple[Codes, Codes], two: tuple[Codes, Codes]) -> Gaps:
        """The cells of two features, each measured alone before; the p-value is the largest of three, see `overfit`."""
        first, second = (
            [condition_text(names[0], a) for a in one[0].texts],
            [condition_text(names[1], b) for b in two[0].texts],
        )
        labels = [together([a, b]) for a in first for b in second]
        if self.meters is None:
            return self._ranked_pair(names, tuple(labels), one, two)
        cells = self._sums(names)
        flat = [part.flat() for part in cells]
        part = self._of_cells(names, tuple(labels), flat[0], flat[1])
        p = part.p_value
        for axis in (1, 0):
            rest = [(side.total(axis).along(axis, side.n.shape[axis]) - side).flat() for side in cells]
            p = np.fmax(p, self._beyond(flat, rest))
        return Gaps(**{**part.__dict__, "p_value": np.where(part.enough, p, np.nan)})

    def _ranked_pair(
        self, names: tuple[str, str], labels: tuple[str, ...], one: tuple[Codes, Codes], two: tuple[Codes, Codes]
    ) -> Gaps:
        """Cells by a metric of ranks, which has no sums to take away: compared with the whole slices they lie in."""
        across, kind = two[0].size, smallest(len(labels))
        cells = [
            Codes("", a.codes.astype(kind) * kind.type(across) + b.codes.astype(kind), labels)
            for a, b in zip(one, two, strict=True)
        ]
        part = self._gaps(names, cells[0], cells[1])
        p, error = part.p_value, self._error(part)
        index = np.arange(len(labels))
        for name, slot in zip(names, (index // across, index % across), strict=True):
            whole = self.alone[name]
            p = np.fmax(p, _larger(part.gap, error, whole.gap[slot], self._error(whole)[slot]))
        return Gaps(**{**part.__dict__, "p_value": np.where(part.enough, p, np.nan)})

    def _error(self, part: Gaps) -> Floats:
        """The standard error behind an interval of the normal kind."""
        return np.asarray(error_within(part.low, part.high, self.level), dtype=float)

    def _gaps(self, names: tuple[str, ...], train: Codes, test: Codes, *, local: bool = True) -> Gaps:
        texts = train.texts
        if self.meters is None:
            a, b = (
                measure([self.metric], RowSets.of(Rows.of(side), [codes], empty=True), n_boot=0)[self.metric.id]
                for side, codes in ((self.train, train), (self.test, test))
            )
            gap = as_error(self.metric, b.value) - as_error(self.metric, a.value)
            error = np.hypot(a.spread(), b.spread())
            low, high = normal_interval(gap, error, self.level)
            with np.errstate(divide="ignore", invalid="ignore"):
                p = np.where(error > 0, normal_p(gap / error), np.nan)
            if local:
                p = np.fmax(p, _larger(gap, error, self.overall.gap, self._error(self.overall)))
            one, other = ((side.n.astype(np.int64), side.value, side.reasons) for side in (a, b))
            return self._make(one, other, p, names=names, labels=texts, gap=gap, low=low, high=high)
        cells = (
            self._sums(names)
            if local
            else [meter.over([codes]) for meter, codes in zip(self.meters, (train, test), strict=True)]
        )
        part = self._of_cells(names, texts, cells[0], cells[1])
        if not local:
            return part
        rest = [side.total().along(0, side.n.size) - side for side in cells]
        p = np.where(part.enough, np.fmax(part.p_value, self._beyond(cells, rest)), np.nan)
        return Gaps(**{**part.__dict__, "p_value": p})

    def _beyond(self, cells: Sequence[Sums], rest: Sequence[Sums]) -> Floats:
        """P-values that a gap is no larger than that of other rows; 1 where it is not larger, or there are none."""
        gap, error = self._difference(cells[0], cells[1])
        other, other_error = self._difference(rest[0], rest[1])
        return _larger(gap, error, other, other_error)

    def _of_cells(self, names: tuple[str, ...], labels: tuple[str, ...], train: Sums, test: Sums) -> Gaps:
        assert self.meters is not None
        a, b = (meter.measure(cells, self.level) for meter, cells in zip(self.meters, (train, test), strict=True))
        sign = -1.0 if self.metric.higher_is_better else 1.0
        gap = sign * (b.value - a.value)
        if self.meters[0].kind == "rate":
            one, other = (b, a) if sign > 0 else (a, b)
            low, high = mover_difference((one.value, one.low, one.high), (other.value, other.low, other.high))
        else:
            low, high = normal_interval(gap, np.hypot(a.error, b.error), self.level)
        p = self.meters[0].compare(train, test)
        why = [[self.metric.undefined if np.isnan(one) else None for one in part.value] for part in (a, b)]
        sides = (train.n, a.value, why[0]), (test.n, b.value, why[1])
        return self._make(*sides, p, names=names, labels=labels, gap=gap, low=low, high=high)

    def _difference(self, train: Sums, test: Sums) -> tuple[Floats, Floats]:
        assert self.meters is not None
        a, b = (meter.measure(cells, self.level) for meter, cells in zip(self.meters, (train, test), strict=True))
        return as_error(self.metric, b.value) - as_error(self.metric, a.value), np.hypot(a.error, b.error)

    def _make(self, train: _Side, test: _Side, p: Floats, **facts: Any) -> Gaps:
        """The gaps of two sides (rows, values, why a value is missing); p-values only where there are enough rows."""
        enough = (train[0] >= self.minimum) & (test[0] >= self.minimum) & ~np.isnan(facts["gap"])
        return Gaps(
            n_train=train[0],
            n_test=test[0],
            train=train[1],
            test=test[1],
            p_value=np.where(enough, p, np.nan),
            enough=enough,
            notes=tuple(map(self._note, train[0], test[0], train[2], test[2])),
            **facts,
        )

    def _note(self, n_train: int, n_test: int, train: Reason | None, test: Reason | None) -> Message | None:
        """Why a slice has no gap, or was not tested."""
        if train is not None:
            return msg("no value on the training rows: {reason}", reason=train)
        if test is not None:
            return msg("no value on the other rows: {reason}", reason=test)
        few = min(n_train, n_test) < self.minimum
        return msg("fewer than {least:int} rows: not tested", least=self.minimum) if few else None


def _larger(gap: Floats, error: Floats, other: Floats, other_error: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        p = normal_p((gap - other) / np.hypot(error, other_error))
        return np.where(gap > other, np.nan_to_num(p, nan=1.0), 1.0)


def _tested(part: Gaps, minimum: float) -> Gaps:
    """Cells that do not look overfitted stand as p = 1: they count among the tests and cannot be found."""
    with np.errstate(invalid="ignore"):
        p = np.where(part.enough & ~(part.gap > minimum), 1.0, part.p_value)
    return Gaps(**{**part.__dict__, "p_value": p})
