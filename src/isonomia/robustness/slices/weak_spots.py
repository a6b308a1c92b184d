"""Where the model is worse than it is on average: slices of one feature, and of two at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.counting.cuts import Cut
from isonomia.events import Progress, ProgressLike
from isonomia.evidence import Result, benjamini_hochberg, simultaneous_level
from isonomia.languages import Message, msg
from isonomia.metrics import Rows, RowSums, SetValues, Sums
from isonomia.parameters import ALPHA, LEVEL, NAMES, SEED, Boolean, Choice, Integer, Number, validated
from isonomia.robustness._features import check_features
from isonomia.robustness.row_metrics import METRIC, as_error, measure_named
from isonomia.robustness.slices.counted_slices import CountedSlices, RowsInCounts
from isonomia.robustness.slices.slice_rows import Excess, RowsInMemory, SliceRows
from isonomia.robustness.slices.slicing import SLICINGS, Slicing, learn_cuts
from isonomia.robustness.slices.spot_merging import Spot, explained, fold, rectangles, runs
from isonomia.robustness.slices.weak_spot_tables import show
from isonomia.subject import Reading, Subject
from isonomia.typing import Floats

#: Pairs of features that are counted together.
AT_ONCE = 16


@dataclass(frozen=True)
class Limits:
    """What makes a slice weak."""

    min_samples: int
    severity: float
    critical: float
    alpha: float
    level: float


@dataclass(frozen=True, eq=False)
class Slices:
    """All slices of one feature, or all cells of a pair of features, measured."""

    names: tuple[str, ...]
    cells: Sums
    measured: SetValues
    severity: Floats
    severity_low: Floats
    severity_high: Floats
    p_value: Floats
    enough: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Search:
    """What the search found: the slices, their adjusted p-values, the weak ones joined into spots."""

    rows: SliceRows
    overall: Sums
    global_error: float
    singles: tuple[Slices, ...]
    pairs: tuple[Slices, ...]
    adjusted: Mapping[tuple[str, ...], Floats]
    spots: tuple[Spot, ...]
    limits: Limits
    n_tests: int
    _excesses: dict[int, Excess] = field(default_factory=dict)

    @property
    def parts(self) -> RowSums:
        """The metric."""
        return self.rows.parts

    @property
    def columns(self) -> Mapping[str, Codes]:
        """The slices of every feature."""
        return self.rows.columns

    def excess(self, index: int) -> Excess:
        """What scores let expect of a spot."""
        if index not in self._excesses:
            self._excesses[index] = self.rows.excess(self.spots[index])
        return self._excesses[index]

    @property
    def picked_level(self) -> float:
        """The level of the interval of a slice that was picked among all: it holds for all of them at once."""
        return simultaneous_level(self.limits.level, self.n_tests)


@validated(
    pairs=Boolean(),
    metric=METRIC,
    features=NAMES.or_none(),
    slicing=Choice(SLICINGS),
    bins=Integer(1),
    min_samples=Integer(1),
    severity=Number(at_least=0),
    critical=Number(at_least=0),
    alpha=ALPHA,
    level=LEVEL,
    seed=SEED,
)
def weak_spots(
    data: Any,
    model: Any = None,
    *,
    pairs: bool = False,
    metric: str | None = None,
    features: Sequence[str] | None = None,
    slicing: Slicing = "quantile",
    bins: int = 10,
    min_samples: int = 30,
    severity: float = 0.1,
    critical: float = 0.5,
    alpha: float = 0.05,
    level: float = 0.95,
    seed: int = 0,
    progress: ProgressLike = None,
    **given: Unpack[Reading],
) -> Result:
    """Slice every feature (and every pair) and report where the model errs more than it does overall.

    Parameters
    ----------
    data : Dataset, frame or Subject
        With a target; with predictions where no model is given. Rows without a target are left out.
        A plain frame takes its roles as keywords (``target=...``; see `subject.Reading`).
    model : optional
        Anything that predicts; called once.
    pairs : bool
        Whether to cross every two features as well.
    metric : str, optional
        Measure of the error: "error_rate", "mae" (or "residual"), "mse", "log_loss", or any metric of counts or means.
        For classes "mae" is 1 - the probability of what happened and "mse" the Brier score. By default the error rate,
        or the mean absolute error of a regression.
    features : sequence of str, optional
        Features to slice; all by default.
    slicing : "quantile", "uniform", "tree" or "adaptive"
        Method to bin numbers: equal shares of rows; equal widths; the cuts of a small tree on the errors; or boundaries
        where the error changes. The last two look at the errors, so they are chosen on a random half of the rows and
        everything is measured on the other half: what is reported is not optimistic.
    bins : int
        Maximum number of slices of a numeric feature. Categories are slices of their own.
    min_samples : int
        Minimum number of rows of a slice that is tested; smaller ones are shown.
    severity, critical : float
        Slices whose error is larger than the global one by this share are weak, or critical.
    alpha, level : float
        False discovery rate over all slices tested; level of the intervals.
    seed : int
        Of the halves.

    Returns
    -------
    Result
        Tables ``weak_spots`` (the weak slices, joined and ranked by the lower end of their severity), ``slices`` (all
        of one feature), ``features`` (worst and best slice of each), ``pairs`` (the worst cell of each pair) and
        ``heatmap_1`` ... (all cells of the worst pairs).

    Notes
    -----
    severity = error of the slice / error of all rows - 1, where the error of a metric that should be high is what it
    lacks to its best value. Its interval takes the global error as known. Weak spots and worst slices were picked:
    their intervals hold for all slices tested at once (`evidence.simultaneous_level`). Where the model gives scores, a
    spot is a warning only if it has more errors than its scores let expect (`metrics.expected_error`), at 5% over all
    slices tested; errors near the border between decisions are frequent also in the best possible model. A slice is
    compared with all other rows: by the two-proportion test (Fisher's where counts are small), else by Welch's. A cell
    of two features counts only if it is worse than the rest of each of the two slices it lies in: its p-value is the
    largest of three. Neighbouring weak slices are joined; a slice that is weak only because of a pair within it is left
    to the pair; spots that are mostly the same rows are reported once.

    Examples
    --------
    >>> from isonomia import Dataset
    >>> x = np.arange(4000) % 100
    >>> wrong = (x >= 40) & (x < 60) & (np.arange(4000) % 3 > 0)
    >>> frame = {"x": x + 0.5, "y": np.zeros(4000, dtype=int) + (x > 50), "predicted": ((x > 50) ^ wrong).astype(int)}
    >>> result = weak_spots(Dataset(frame, target="y", prediction="predicted"))
    >>> [(row["slice"], round(row["value"], 2)) for row in result.tables["weak_spots"].rows()]
    [('x in [40.1, 59.9)', 0.67)]
    """
    limits = Limits(min_samples, severity, critical, alpha, level)
    subject = Subject.of(data, model, progress=progress, counted=True, **given).fitting().needs_outcomes()
    measured = measure_named(metric, subject.surface)
    honest = slicing in ("tree", "adaptive")
    by_class = subject.task == "multiclass" and "probability" in subject.surface.kinds
    if honest or by_class or not measured.of_decisions:
        subject = subject.in_rows()
    table = subject.known if subject.counts is None else subject.data
    names = check_features(table, features, table.searchable)
    notes: tuple[Message, ...] = ()
    if subject.counts is None:
        cuts, rows = _slice(subject, names, RowSums(measured, Rows.of(subject)), slicing, bins, limits, seed)
    else:
        slices = CountedSlices(subject, names, slicing=slicing, bins=bins, min_samples=min_samples)
        cuts, rows, notes = slices.cuts, RowsInCounts(slices, measured), slices.notes
    search = _search(rows, cuts, limits, pairs, subject.progress)
    found = show(search, subject.backend, honest=honest, n_rows=len(subject))
    return subject.noted(replace(found, notes=(*found.notes, *notes)))


def _slice(
    subject: Subject, names: Sequence[str], parts: RowSums, slicing: Slicing, bins: int, limits: Limits, seed: int
) -> tuple[tuple[Cut, ...], SliceRows]:
    """The cuts of every feature and the rows; for slices chosen by the errors, those of the half that measures."""
    options: dict[str, Any] = {"slicing": slicing, "bins": bins, "min_samples": limits.min_samples}
    if slicing not in ("tree", "adaptive"):
        cuts = learn_cuts(subject.known, names, **options)
        return cuts, RowsInMemory(parts, {cut.name: cut.codes(subject.known) for cut in cuts})
    chooses = np.random.default_rng(seed).random(len(subject)) < 0.5
    loss, counted = parts.take(chooses).loss()
    if loss.size < 2 or loss.size == len(subject):
        chooses[: len(subject) // 2], chooses[len(subject) // 2 :] = True, False
        loss, counted = parts.take(chooses).loss()
    rest = subject.known.take(~chooses)
    cuts = learn_cuts(subject.known.take(chooses), names, loss=loss, counted=counted, measured=[rest], **options)
    return cuts, RowsInMemory(parts.take(~chooses), {cut.name: cut.codes(rest) for cut in cuts})


def _search(rows: SliceRows, cuts: Sequence[Cut], limits: Limits, pairs: bool, progress: Progress) -> Search:
    parts, columns = rows.parts, rows.columns
    ordered = {cut.name: cut.ordered for cut in cuts}
    counted = dict(zip(columns, rows.sums([(name,) for name in columns]), strict=True))
    overall = next(iter(counted.values())).total()
    error = float(as_error(parts.metric, parts.value(overall.sums)))
    judge = _Judge(parts, overall, error, limits)
    singles = judge.slices({(name,): cells for name, cells in counted.items()})
    couples = list(combinations(columns, 2)) if pairs else []
    batches = [couples[start : start + AT_ONCE] for start in range(0, len(couples), AT_ONCE)]
    cells: list[Sums] = []
    for batch in progress.stage("feature_pairs", msg("Slicing pairs of features"), total=len(batches)).over(batches):
        cells += rows.sums(batch)
    crossed = judge.pairs(dict(zip(couples, cells, strict=True)), counted)
    every = [*singles, *crossed]
    sizes = np.cumsum([part.p_value.size for part in every])[:-1]
    pooled = np.concatenate([part.p_value.ravel() for part in every])
    flat = np.split(benjamini_hochberg(pooled), sizes)
    adjusted = {part.names: p.reshape(part.p_value.shape) for part, p in zip(every, flat, strict=True)}
    tests = int((~np.isnan(pooled)).sum())
    judge.picked_level = simultaneous_level(limits.level, tests)
    found = _spots(judge, singles, crossed, adjusted, ordered)
    return Search(
        rows=rows,
        overall=overall,
        global_error=error,
        singles=tuple(singles),
        pairs=tuple(crossed),
        adjusted=adjusted,
        spots=tuple(fold(found, columns, rows.overlap)),
        limits=limits,
        n_tests=tests,
    )


class _Judge:
    """Measures slices against all rows."""

    def __init__(self, parts: RowSums, overall: Sums, error: float, limits: Limits) -> None:
        self.parts, self.overall, self.error, self.limits = parts, overall, error, limits
        self.picked_level = limits.level

    def severity(self, value: Floats) -> Floats:
        """How much larger the error is than the global one; NaN where that is 0."""
        if not self.error > 0:
            return np.full(np.shape(value), np.nan)
        return np.asarray(as_error(self.parts.metric, value) / self.error - 1.0, dtype=float)

    def slices(self, cells: Mapping[tuple[str, ...], Sums]) -> list[Slices]:
        """The slices of each set of features, with value, interval, severity and the p-value against all other rows."""
        every = Sums.joined(list(cells.values()))
        measured, enough = self._measured(every)
        p_value = np.full(every.n.shape, np.nan)
        if enough.any() and self.error > 0:
            p_value[enough] = self.parts.compare(every[enough], _spread(self.overall, enough) - every[enough])
        return self._apart(cells, measured, enough, p_value)

    def pairs(self, cells: Mapping[tuple[str, str], Sums], singles: Mapping[str, Sums]) -> list[Slices]:
        """Cells of two features each; only one that looks weak is tested, the others stand as p = 1."""
        if not cells:
            return []
        every = Sums.joined(list(cells.values()))
        measured, enough = self._measured(every)
        p_value = np.where(enough & (self.error > 0), 1.0, np.nan)
        with np.errstate(invalid="ignore"):
            here = enough & (self.severity(measured.value) > self.limits.severity)
        if here.any():
            p_value[here] = self._beyond_margins(every[here], here, cells, singles)
        return self._apart(cells, measured, enough, p_value)

    def _measured(self, every: Sums) -> tuple[SetValues, NDArray[np.bool_]]:
        """Values and intervals of slices, and which of them have enough rows to be tested."""
        measured = self.parts.measure(every, self.limits.level)
        enough = (every.n >= self.limits.min_samples) & ~np.isnan(measured.value) & (every.n < self.overall.n)
        return measured, enough

    def _beyond_margins(
        self,
        own: Sums,
        here: NDArray[np.bool_],
        cells: Mapping[tuple[str, str], Sums],
        singles: Mapping[str, Sums],
    ) -> Floats:
        """The largest p-value of a cell against all other rows, and against the rest of each slice that it lies in."""
        first, second = [], []
        for (one, two), part, (start, stop) in zip(cells, cells.values(), _bounds(cells.values()), strict=True):
            rows, across = np.nonzero(here[start:stop].reshape(part.n.shape))
            first.append(singles[one][rows])
            second.append(singles[two][across])
        p = self.parts.compare(own, _spread(self.overall, here) - own)
        error = as_error(self.parts.metric, self.parts.value(own.sums))
        for margin in (Sums.joined(first), Sums.joined(second)):
            rest = margin - own
            with np.errstate(invalid="ignore"):
                worse = error > as_error(self.parts.metric, self.parts.value(rest.sums))
            beyond = np.where(worse, self.parts.compare(own, rest), 1.0)
            # a cell that is all of its slice says nothing new
            p = np.fmax(p, np.where(rest.n >= 2, np.nan_to_num(beyond, nan=1.0), 1.0))
        return np.nan_to_num(p, nan=1.0)

    def _apart(
        self,
        cells: Mapping[tuple[str, ...], Sums] | Mapping[tuple[str, str], Sums],
        measured: SetValues,
        enough: NDArray[np.bool_],
        p_value: Floats,
    ) -> list[Slices]:
        """What was worked out for all slices, set by set."""
        out = []
        for (names, part), (start, stop) in zip(cells.items(), _bounds(cells.values()), strict=True):
            sets, shape = slice(start, stop), part.n.shape
            own = measured.part(sets, shape)
            ends = self.severity(own.low), self.severity(own.high)
            out.append(
                Slices(
                    names=names,
                    cells=part,
                    measured=own,
                    severity=self.severity(own.value),
                    severity_low=np.minimum(*ends),
                    severity_high=np.maximum(*ends),
                    p_value=p_value[sets].reshape(shape),
                    enough=enough[sets].reshape(shape),
                )
            )
        return out

    def weak(self, part: Slices, adjusted: Floats) -> NDArray[np.bool_]:
        """Slices that are worse by enough, and surely so."""
        with np.errstate(invalid="ignore"):
            return np.asarray(
                part.enough & (part.severity > self.limits.severity) & (adjusted < self.limits.alpha), dtype=bool
            )

    def spot(self, slices: dict[str, tuple[int, ...]], cells: Sums, p_value: Floats, adjusted: Floats) -> Spot:
        """A spot of these rows; its p-values are the smallest of its slices."""
        measured = self.parts.measure(cells, self.picked_level)
        ends = [float(self.severity(end)) for end in (measured.low, measured.high)]
        severity = float(self.severity(measured.value))
        return Spot(slices, cells, float(p_value.min()), float(adjusted.min()), severity, min(ends))

    def still_weak(self, cells: Sums) -> bool:
        """Whether rows are weak on their own, by the plain test."""
        if int(cells.n) < self.limits.min_samples:
            return False
        severity = float(self.severity(self.parts.value(cells.sums)))
        return severity > self.limits.severity and float(self.parts.compare(cells, self.overall - cells)) < (
            self.limits.alpha
        )


def _spots(
    judge: _Judge,
    singles: Sequence[Slices],
    crossed: Sequence[Slices],
    adjusted: Mapping[tuple[str, ...], Floats],
    ordered: Mapping[str, bool],
) -> list[Spot]:
    pairs = []
    for part in crossed:
        p, one, two = adjusted[part.names], *part.names
        for rows, across in rectangles(judge.weak(part, p), (ordered[one], ordered[two])):
            box = np.ix_(rows, across)
            pairs.append(judge.spot({one: rows, two: across}, part.cells[box].total((0, 1)), part.p_value[box], p[box]))
    found = list(pairs)
    for part in singles:
        p, (name,) = adjusted[part.names], part.names
        for run in runs(judge.weak(part, p), ordered[name]):
            indices = np.array(run)
            spot = judge.spot({name: run}, part.cells[indices].total(), part.p_value[indices], p[indices])
            if not explained(spot, pairs, judge.still_weak):
                found.append(spot)
    return found


def _spread(cells: Sums, where: NDArray[np.bool_]) -> Sums:
    """The same sums once for each slice chosen."""
    return cells.along(0, int(where.sum()))


def _bounds(cells: Iterable[Sums]) -> list[tuple[int, int]]:
    """Where the cells of each set begin and end in one list of all."""
    ends = np.cumsum([0, *(part.n.size for part in cells)]).tolist()
    return list(pairwise(ends))
