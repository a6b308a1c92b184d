"""SliceLine: the k slices with the highest error score, exactly.

The score of a slice S of n rows with average error m is
alpha (mean_S / m - 1) - (1 - alpha) (n / |S| - 1): worse than average, and not too small. All rows score 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Lattice, Level
from isonomia.discovery.method import METHODS, Method
from isonomia.discovery.subgroups._testing import average, best_indices, compared_with, upper_tail
from isonomia.discovery.subgroups.counted import Terms, lattice_of
from isonomia.discovery.subgroups.method import Search, Subgroup
from isonomia.discovery.subgroups.problem import Problem
from isonomia.discovery.subgroups.rates import Quantity, defined_rows, metrics_of, quantity
from isonomia.errors import SpecError
from isonomia.evidence import Column
from isonomia.languages import msg, once
from isonomia.parameters import Number, Parameter
from isonomia.typing import Floats

#: What rounding may add to a score of 0, or take (relatively) from a bound.
_ROUNDING = 1e-12

COLUMNS = (
    Column("slice_score", format="num4", title=msg("Score")),
    Column("sum_slice_error", format="num", title=msg("Sum of errors")),
    Column("max_slice_error", format="num", title=msg("Largest error")),
    Column("slice_average_error", format="num4", title=msg("Average error")),
    Column("metric", format="text", title=msg("Metric")),
)


class _Score:
    """The score, and what no slice within given limits can exceed."""

    def __init__(self, alpha: float, n: float, total_error: float, smallest: float) -> None:
        self.alpha, self.n, self.mean, self.smallest = alpha, n, total_error / n, smallest

    def of(self, size: Floats, error: Floats) -> Floats:
        out = self.alpha * (error / (size * self.mean) - 1) - (1 - self.alpha) * (self.n / size - 1)
        return np.asarray(out, dtype=float)

    def bound(self, size: Floats, error: Floats, largest: Floats) -> Floats:
        """The highest score of slices of at most `size` rows, `error` in total and `largest` error a row.

        For a size s the total error is at most min(error, s * largest). Up to s* = error / largest the score rises
        with s; beyond it is a constant over s, highest at one of the two ends. So the maximum over [smallest, size] is
        at s* (moved into the range) or at `size`.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            turn = np.clip(np.where(largest > 0, error / largest, 0.0), self.smallest, np.maximum(size, self.smallest))
        best = self.of(turn, np.minimum(error, turn * largest))
        return np.maximum(best, self.of(size, np.minimum(error, size * largest)))


class _Best:
    """The k best slices seen so far; until k are found, everything above 0 is of interest."""

    def __init__(self, k: int) -> None:
        self.k = k
        self.entries: list[tuple[float, Floats, NDArray[np.int32]]] = []

    @property
    def threshold(self) -> float:
        return self.entries[-1][0] if len(self.entries) == self.k else 0.0

    def add(self, level: Level, scores: Floats) -> None:
        limit = max(self.threshold, _ROUNDING)
        best = best_indices(np.where(scores > limit, scores, -np.inf), level.sums[:, 0], self.k)
        self.entries += [(float(scores[i]), level.sums[i], level.items[i]) for i in best]
        self.entries = sorted(self.entries, key=lambda entry: -entry[0])[: self.k]


def run(problem: Problem) -> Search:
    """Search once a metric; the slices of all of them, metric by metric."""
    searches = [_search(problem, metric) for metric in metrics_of(problem, ("error",))]
    if len(searches) == 1:
        return searches[0]
    return replace(
        searches[0],
        subgroups=tuple(item for search in searches for item in search.subgroups),
        tested=sum(search.tested for search in searches),
        nodes=sum(search.nodes for search in searches),
        complete=all(search.complete for search in searches),
        notes=once(note for search in searches for note in search.notes),
        measure=msg("errors"),
        values={},
    )


def _search(problem: Problem, metric: str) -> Search:
    """The best slices by one error, on the rows where it is defined (false positives: the negatives alone)."""
    part, error = _examined(problem, metric)
    values = error.values
    if values.size and values.min() < 0:
        raise SpecError(
            f"SliceLine needs errors of at least 0; '{error.id}' has negative values. Choose another metric."
        )
    total = part.mass.sum(values)
    if not part.features or not values.size or total == 0:
        note = msg("There is no error in {metric}, so no slice can be worse.", metric=error.measure)
        return Search((), error.measure, tested=0, style=error.style, columns=COLUMNS, notes=(note,))
    mean = total / part.n

    def terms(rows: Problem) -> tuple[Problem, dict[str, Floats]]:
        """Errors; where something else than the average is expected they count by what they have beyond it."""
        part, error = _examined(rows, metric)
        counted = error.values if error.expected is None else error.excess() + mean
        return part, {"error": counted, **({} if error.expected is None else {"gain": np.maximum(counted, 0.0)})}

    lattice = lattice_of(problem, terms, min_size=part.min_rows)
    best = _walk(lattice, _largest_by_item(problem, lattice, terms), problem, total)
    tests = lattice.possible(problem.max_l)
    subgroups = tuple(
        _subgroup(problem, metric, lattice.conditions(items), score, tests) for score, _, items in best.entries
    )
    return Search(
        subgroups,
        error.measure,
        tested=lattice.counted,
        nodes=lattice.looked_at,
        complete=lattice.complete,
        style=error.style,
        columns=COLUMNS,
        values={"tests": tests},
    )


def _examined(problem: Problem, metric: str) -> tuple[Problem, Quantity]:
    """The rows where an error is defined, and the error."""
    return defined_rows(problem, quantity(problem, metric))


def _walk(lattice: Lattice, largest: Floats, problem: Problem, total: float) -> _Best:
    """The best slices; none within a slice has more error than the slice's gains (its errors above 0) add up to."""
    score = _Score(problem.options["alpha"], float(lattice.totals[0]), total, lattice.min_size)
    best = _Best(problem.k)

    def promising(level: Level) -> NDArray[np.bool_]:
        limit = best.threshold - _ROUNDING * max(1.0, abs(best.threshold))
        cap = largest[level.items].min(axis=1)
        bound = score.bound(level.sums[:, 0], level.sums[:, -1], cap)
        return np.asarray((level.sums[:, -1] > 0) & (bound > limit))

    for level in lattice.walk(problem.max_l, admit=promising, keep=promising):
        best.add(level, score.of(level.sums[:, 0], level.sums[:, 1]))
    return best


def _largest_by_item(problem: Problem, lattice: Lattice, terms: Terms) -> Floats:
    """The largest error among the rows of each item."""
    values = _gains(terms(problem)[1])
    if values.min() == values.max() or bool(((values == 0) | (values == 1)).all()):
        return np.where(lattice.item_sums[:, -1] > 0, values.max(), 0.0)
    out = np.empty(lattice.n_items)
    names = [column.name for column in lattice.columns]
    for feature, cells in problem.on_each([(name,) for name in names]):
        part, sums = terms(cells)
        column = part.by_name[names[feature]]
        top = np.zeros(column.size)
        np.maximum.at(top, column.codes, _gains(sums))
        items = lattice.item_feature == feature
        out[items] = top[lattice.item_code[items]]
    return out


def _gains(sums: Mapping[str, Floats]) -> Floats:
    return np.maximum(sums["error"], 0.0)


def _subgroup(problem: Problem, metric: str, conditions: dict[int, int], score: float, tests: int) -> Subgroup:
    named = {problem.features[feature].name: (code,) for feature, code in sorted(conditions.items())}
    subgroup = _measured(problem, metric, Subgroup(named))
    p = subgroup.p_value
    return replace(
        subgroup,
        stats={**subgroup.stats, "slice_score": score},
        p_adjusted=None if p is None else min(1.0, p * tests),
    )


def _measured(problem: Problem, metric: str, subgroup: Subgroup) -> Subgroup:
    """Sizes, errors and the test of one slice."""
    part, error = _examined(problem.on(subgroup.names), metric)
    inside = subgroup.mask(part.by_name)
    mine, mass = error.values[inside], part.mass.take(inside)
    estimate = average(mine, mass, binary=error.binary)
    return replace(
        subgroup,
        stats={
            "sum_slice_error": mass.sum(mine),
            "max_slice_error": float(mine.max()) if mine.size else None,
            "slice_average_error": estimate.value,
            "metric": error.id,
        },
        estimate=estimate,
        measure=error.measure,
        overall=compared_with(error, inside, part.mass),
        p_value=upper_tail(error, inside, part.mass),
    )


def measure(problem: Problem, subgroup: Subgroup) -> Subgroup:
    """A slice measured on other rows."""
    metric = str(subgroup.stats["metric"])
    again = _measured(problem, metric, subgroup)
    part, error = _examined(problem.on(subgroup.names), metric)
    inside = subgroup.mask(part.by_name)
    own, total = part.mass.take(inside), part.mass.sum(error.values)
    score = None
    if own.total > 0 and total > 0:
        scale = _Score(problem.options["alpha"], float(part.n), total, 1.0)
        shift = 0.0 if error.expected is None else total / part.n
        gained = own.sum(error.excess()[inside] + shift)
        score = float(scale.of(np.array([own.total]), np.array([gained]))[0])
    return replace(again, stats={**again.stats, "slice_score": score})


METHODS.add(
    Method(
        id="sliceline",
        purpose="the k slices with the highest error score, exactly (any error of at least 0)",
        needs=("errors",),
        run=run,
        parameters=(
            Parameter("alpha", Number(above=0, at_most=1), 0.95, "weight of the error compared with the size"),
        ),
        defaults={"min_support": lambda n: min(n, max(32, -(-n // 100)))},
        measure=measure,
        nested=True,
        counts=True,
        reference="S. Sagadeeva, M. Boehm (2021), SliceLine, SIGMOD, doi 10.1145/3448016.3457323",
    )
)
