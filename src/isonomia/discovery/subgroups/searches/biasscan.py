"""BiasScan: the subgroups, as sets of values, whose outcomes depart most from what a model expects of them.

The score of a subgroup is the log likelihood ratio of its outcomes under the best changed expectation (odds or mean
times q) against the expectation as it is, less a penalty for each value listed. Both directions are searched: "over"
(outcomes below what was expected) and "under" (above).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import sum_by
from isonomia.discovery.method import METHODS, Method
from isonomia.discovery.subgroups._testing import average
from isonomia.discovery.subgroups.conditions import slice_text
from isonomia.discovery.subgroups.method import Search, Subgroup
from isonomia.discovery.subgroups.problem import Problem
from isonomia.discovery.subgroups.scan import Ascent, Best, Comparison, Direction, comparisons, family_of, scan_p_value
from isonomia.discovery.subgroups.scan.expectation import SCORINGS
from isonomia.evidence import Column, Picture
from isonomia.languages import Message, msg
from isonomia.models.call_threads import one_thread
from isonomia.parameters import ALPHA, Anything, Choice, Integer, Number, Parameter
from isonomia.typing import Floats

COLUMNS = (
    Column("score", format="num4", title=msg("Score")),
    Column("q", format="num4", title=msg("Factor")),
    Column("observed", format="num4", title=msg("Observed")),
    Column("expected", format="num4", title=msg("Expected")),
    Column("direction", format="text", title=msg("Direction")),
    Column("metric", format="text", title=msg("Metric")),
)
#: Starts of each search on outcomes of chance; the score they are compared with comes from as many.
_NULL_STARTS = 3
#: Up to so many different expectations, rows are counted by expectation instead of adding up their coefficients.
_FEW_KINDS = 256


class _Scan:
    """One comparison in one direction: finds disjoint subgroups, the best first."""

    def __init__(
        self, problem: Problem, comparison: Comparison, direction: Direction, options: Mapping[str, Any]
    ) -> None:
        self.problem, self.comparison, self.direction, self.options = problem, comparison, direction, options
        self.weights = np.ones(problem.n) if problem.weights is None else problem.weights
        family = family_of(comparison.scoring, comparison.side(direction))
        _, expected = comparison.parts(direction)
        values, kinds = np.unique(expected, return_inverse=True)
        few = len(values) <= _FEW_KINDS
        cells, codes, first = _cells(problem, kinds if few else None)
        self.cells = cells
        if few:
            fixed = family.fixed(values, np.ones(len(values)), np.arange(len(values)), len(values))
        else:
            fixed = family.fixed(expected, self.weights, cells, len(codes[0]))
        self.ascent = Ascent(
            codes=codes,
            sizes=tuple(column.size for column in problem.features),
            family=family,
            fixed=fixed,
            kinds=kinds[first] if few else None,
            rows=sum_by(cells, self.weights, len(codes[0])),
            penalty=options["penalty"],
            max_l=problem.max_l,
            min_rows=problem.min_rows,
            clock=problem.clock,
        )
        self.seed = [problem.seed, int(direction == "over")]
        self.observed = self._by_cell(None)
        self.next = self._search()

    def _by_cell(self, observed: Floats | None) -> Floats:
        y, _ = self.comparison.parts(self.direction, observed)
        return sum_by(self.cells, self.weights * y, len(self.ascent.rows))

    def _search(self) -> Best:
        starts = self.options["bias_scan_num_iters"]
        return self.ascent.best(self.observed, starts, np.random.default_rng(self.seed))

    def null(self) -> Any:
        """Scores that chance alone gives, and the score of the data from as many starts."""
        few = self.ascent.best(self.observed, _NULL_STARTS, np.random.default_rng(self.seed)).score
        null = scan_p_value(
            self.ascent,
            lambda rng: self._by_cell(self.comparison.draw(rng)),
            few,
            replicates=self.options["n_randomisations"],
            starts=_NULL_STARTS,
            seed=self.problem.seed,
        )
        return few, null

    def advance(self) -> None:
        """Take the rows of the subgroup found away, and search the rest."""
        inside = self.ascent.open_cells(self.next.chosen)
        self.observed = self.observed[~inside]
        self.ascent.remove(inside)
        self.next = self._search()

    def subgroup(self) -> Subgroup:
        """The subgroup found, in terms of the problem's features; rows removed before are not part of it."""
        conditions = self.ascent.conditions(self.next.chosen)
        return Subgroup({self.problem.features[j].name: codes for j, codes in conditions.items()})


def _cells(
    problem: Problem, kinds: NDArray[np.int64] | None
) -> tuple[NDArray[np.int64], tuple[NDArray[np.int64], ...], NDArray[np.int64]]:
    """The cell of each row (rows alike in all features and of one kind share it), codes of each cell, its first row."""
    key = np.zeros(problem.n, dtype=np.int64) if kinds is None else kinds.astype(np.int64)
    span = int(key.max()) + 1
    for column in problem.features:
        if span * column.size > 2**62:
            _, key = np.unique(key, return_inverse=True)
            span = int(key.max()) + 1
        key = key * column.size + column.codes
        span *= column.size
    _, first, cells = np.unique(key, return_index=True, return_inverse=True)
    return cells.astype(np.int64), tuple(column.codes[first].astype(np.int64) for column in problem.features), first


def run(problem: Problem) -> Search:
    """Scan in each direction (and for each class); the best subgroups of all scans.

    Its products are of small matrices, thousands of them: threads would wait for each other longer than they work (ten
    times as many processor seconds on two cores).
    """
    with one_thread("blas"):
        return _run(problem)


def _run(problem: Problem) -> Search:
    options = problem.options
    directions: tuple[Direction, ...] = ("over", "under")
    if options["direction"] != "both":
        directions = (options["direction"],)
    pairs = comparisons(problem)
    scans = [_Scan(problem, pair, direction, options) for pair in pairs for direction in directions]
    nulls = [scan.null() if options["n_randomisations"] else None for scan in scans]
    found: list[Subgroup] = []
    before: list[list[Subgroup]] = [[] for _ in scans]
    stage = problem.clock.progress.stage("subgroups", msg("Scanning for subgroups"), total=problem.k)
    while len(found) < problem.k:
        index = int(np.argmax([scan.next.score for scan in scans]))
        scan = scans[index]
        if not scan.next.score > 0 or not np.isfinite(scan.next.score):
            break
        subgroup = scan.subgroup()
        subgroup = replace(subgroup, without=_overlapping(subgroup, before[index]))
        subgroup = replace(
            _measured(problem, scan.comparison, scan.direction, subgroup, scan.next.score),
            p_adjusted=_adjusted(nulls[index], scan.next.score, not before[index], len(scans)),
        )
        found.append(subgroup)
        before[index].append(subgroup)
        stage.at(len(found))
        if len(found) < problem.k:
            scan.advance()
    return _search_of(scans, nulls, found)


def _overlapping(subgroup: Subgroup, before: list[Subgroup]) -> tuple[Mapping[str, tuple[int, ...]], ...]:
    """The conditions of those found before that a person of this subgroup could meet as well."""
    mine = subgroup.conditions
    return tuple(
        item.conditions
        for item in before
        if all(set(codes) & set(mine.get(name, codes)) for name, codes in item.conditions.items())
    )


def _search_of(scans: list[_Scan], nulls: list[Any], found: list[Subgroup]) -> Search:
    complete = all(scan.ascent.complete for scan in scans) and all(null is None or null[1].complete for null in nulls)
    rate = scans[0].comparison.is_rate
    notes: list[Message] = []
    if any(item.without for item in found):
        notes.append(
            msg("Subgroups of the same direction share no rows: each leaves out the rows of the previous ones.")
        )
    if scans[0].comparison.flat:
        notes.append(msg("There are no predictions: everyone is expected to have the average outcome."))
    tested = sum(scan.ascent.looked_at for scan in scans)
    return Search(
        tuple(found),
        msg("observed and expected outcome"),
        tested=tested,
        nodes=tested,
        complete=complete,
        style="pct" if rate else "num",
        columns=COLUMNS,
        pictures=_pictures(found),
        notes=tuple(notes),
        values={
            "penalty": float(scans[0].options["penalty"]),
            "restarts": int(scans[0].options["bias_scan_num_iters"]),
            "randomisations": max((null[1].scores.size for null in nulls if null is not None), default=0),
        },
    )


def _pictures(found: list[Subgroup]) -> tuple[Picture, ...]:
    if not found:
        return ()
    options = {
        "x": "expected",
        "y": "observed",
        "color": "direction",
        "hover": ["slice", "score", "p_adjusted"],
        "n": "size",
        "x_title": msg("Expected"),
        "y_title": msg("Observed"),
    }
    return (Picture("scatter", "subgroups", msg("Expected and observed outcome of each subgroup"), options),)


def _adjusted(null: Any, score: float, first: bool, scans: int) -> float | None:
    """The chance that a whole scan of outcomes as expected scores as high, times the scans made."""
    if null is None:
        return None
    few, null_scans = null
    p = null_scans.p_value(min(score, few) if first else score)
    return None if p is None else min(1.0, p * scans)


def _measured(
    problem: Problem, comparison: Comparison, direction: Direction, subgroup: Subgroup, score: float | None = None
) -> Subgroup:
    """Observed and expected averages, the factor q, the score and its p-value as if nothing had been searched."""
    inside = subgroup.mask(problem.by_name)
    weights = np.ones(problem.n) if problem.weights is None else problem.weights
    weight = weights[inside]
    total = float(weight.sum())
    stats: dict[str, Any] = dict.fromkeys(column.name for column in COLUMNS)
    stats.update(direction=direction, metric=comparison.about or comparison.mode)
    if total <= 0:
        return replace(subgroup, stats=stats)
    family = family_of(comparison.scoring, comparison.side(direction))
    y, expected = comparison.parts(direction)
    one = np.zeros(int(inside.sum()), dtype=np.int64)
    sums = family.fixed(expected[inside], weight, one, 1) + float(y[inside] @ weight) * family.unit
    peak = family.peak(sums)
    ratio = max(float(peak.value[0]), 0.0)
    listed = sum(len(codes) for codes in subgroup.conditions.values())
    if score is None:
        score = ratio - float(problem.options["penalty"]) * listed
    x = float(peak.x[0])
    expectation = float(comparison.expected[inside] @ weight / total)
    stats.update(
        score=score,
        q=x if comparison.scoring == "Gaussian" else float(np.exp(x)),
        observed=float(comparison.observed[inside] @ weight / total),
        expected=expectation,
    )
    return replace(
        subgroup,
        stats=stats,
        message=_sentence(problem, comparison, direction, subgroup, stats),
        estimate=average(comparison.observed[inside], problem.mass.take(inside), binary=comparison.is_rate),
        overall=expectation,
        p_value=_ratio_p(ratio, total / float((weight**2).sum()) if problem.weights is not None else 1.0),
    )


def _sentence(
    problem: Problem, comparison: Comparison, direction: Direction, subgroup: Subgroup, stats: dict[str, Any]
) -> Message:
    params = {
        "slice": slice_text(subgroup, problem.by_name),
        "observed": stats["observed"],
        "expected": stats["expected"],
        "n": int(subgroup.mask(problem.by_name).sum()),
    }
    if not comparison.is_rate:
        if direction == "over":
            return msg(
                "The expected value is too high for {slice}: {expected:num} on average, {observed:num} observed "
                "({n:# row|# rows}).",
                **params,
            )
        return msg(
            "The expected value is too low for {slice}: {expected:num} on average, {observed:num} observed ({n:# "
            "row|# rows}).",
            **params,
        )
    params["outcome"] = comparison.about or _favourable(problem)
    if direction == "over":
        return msg(
            "{outcome} is expected too often for {slice}: {expected:pct} expected, {observed:pct} observed ({n:# "
            "row|# rows}).",
            **params,
        )
    return msg(
        "{outcome} is expected too rarely for {slice}: {expected:pct} expected, {observed:pct} observed ({n:# row|# "
        "rows}).",
        **params,
    )


def _favourable(problem: Problem) -> str:
    """The outcome that a binary scan counts."""
    favorable = problem.options["bias_scan_favorable_value"]
    if favorable in (None, "high"):
        return str(problem.classes[1])
    return str(problem.classes[0] if favorable == "low" else favorable)


def _ratio_p(ratio: float, effective: float) -> float:
    """The one-sided p-value of a log likelihood ratio with one free factor: half a chi-square of one degree."""
    from scipy.special import ndtr

    return float(ndtr(-np.sqrt(2 * ratio * min(effective, 1.0)))) if ratio > 0 else 1.0


def measure(problem: Problem, subgroup: Subgroup) -> Subgroup:
    """A subgroup measured on other rows."""
    pairs = comparisons(problem)
    mine = [pair for pair in pairs if (pair.about or pair.mode) == subgroup.stats["metric"]]
    return _measured(problem, mine[0], subgroup.stats["direction"], subgroup)


METHODS.add(
    Method(
        id="biasscan",
        purpose="subgroups as sets of values whose outcomes depart most from what the model expects, both ways",
        needs=("labels",),
        run=run,
        parameters=(
            Parameter(
                "bias_scan_num_iters", Integer(1), 50, "starts of the search: everyone, and random sets of values"
            ),
            Parameter(
                "bias_scan_scoring",
                Choice(dict.fromkeys(name for names in SCORINGS.values() for name in names)).or_none(),
                None,
                "the statistic; by default as the outcome is",
            ),
            Parameter(
                "bias_scan_favorable_value",
                Anything("'high', 'low' or an outcome"),
                None,
                "'high', 'low' or a value: the outcome that is favourable",
            ),
            Parameter("bias_scan_mode", Choice(SCORINGS).or_none(), None, "what the outcome is; by default as it is"),
            Parameter("penalty", Number(at_least=0), 1.0, "taken off the score for each value listed"),
            Parameter(
                "direction", Choice(("over", "under", "both")), "both", "expected too much (over), too little, or both"
            ),
            Parameter(
                "n_randomisations", Integer(0), 99, "searches on outcomes of chance, for the p-value; 0 for none"
            ),
            Parameter("alpha", ALPHA, 0.5, "quantile that high outcomes lie above, for Berk-Jones"),
        ),
        defaults={"min_support": 1},
        measure=measure,
        reference="Z. Zhang, D. B. Neill (2016), Identifying significant predictive bias in classifiers, "
        "arXiv:1611.08292",
    )
)
