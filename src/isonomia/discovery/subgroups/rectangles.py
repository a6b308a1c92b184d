"""Ranges of two features at once: every rectangle of neighbouring bins, or range within a category, is looked at.

A search over single bins sees a subgroup that lies across their edges only in pieces, each too thin to stand out.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from isonomia.counting import Codes, sum_by
from isonomia.discovery.subgroups.problem import Problem
from isonomia.discovery.subgroups.rates import Quantity, defined_rows, quantity
from isonomia.typing import Bools, Floats

#: Features with more values than this are left out: their pairs are too many, and each too small.
_MOST_VALUES = 40
#: A range of bins has about twenty times as many effectively different places as ranges of its share lie side by side.
#: Simulated for 20 bins without any departure: the 95% quantile of the largest of minus the log of p less the
#: log of 1 / share is 5.7 with one range and 8.9 with two, so 2.7 and 2 x 2.9 above that of one subgroup, which is 3.
_PLACES = 20.0

Conditions = dict[str, tuple[int, ...]]


def departures(problem: Problem, examined: Quantity, *, upwards: bool) -> tuple[Floats, Floats]:
    """What each row adds to the departure of a subgroup, and to its variance if nothing is there.

    The departure is the value less the expected one (or the average of everyone), less the average of that. Where rows
    have expected chances p their variance is p (1 - p), else that of all rows: a score that took all rows alike would
    look first where chance does most, among decisions near the border.
    """
    mass, excess = problem.mass, examined.excess()
    away = excess - mass.mean(excess)
    if examined.binary and examined.expected is not None:
        chance = np.clip(examined.expected, 0.0, 1.0)
        variance = np.maximum(chance * (1 - chance), 1e-9)
    else:
        variance = np.full(problem.length, max(mass.mean(away**2), 1e-300))
    return (away if upwards else -away) * mass.w, variance * mass.w2


def log_choices(share: Floats | float, ranges: int) -> Floats:
    """The log of how many effectively different subgroups of a share of the rows some given features can form.

    Values of a share w lie side by side 1 / w times; a range of bins has `_PLACES` times as many places. The more there
    are, the more the best of them departs by chance: L. Duembgen, V. Spokoiny (2001), Ann. Statist. 29:124.
    """
    return np.asarray(ranges * np.log(_PLACES) - np.log(share), dtype=float)


def strength(gain: Floats, spread: Floats, share: Floats, ranges: int) -> Floats:
    """How far a departure goes beyond the largest that chance gives among as many subgroups; -inf where it is not up.

    Minus the log of the p-value is about z^2 / 2 with z = gain / sqrt(spread).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        found = gain**2 / spread / 2 - log_choices(share, ranges)
    return np.where((gain > 0) & (spread > 0) & (share > 0), found, -np.inf)


def best_rectangles(problem: Problem, metric: str, count: int, *, upwards: bool) -> list[Conditions]:
    """Of each two features the rectangle that departs most; the `count` best of them, the most striking first.

    The score of a rectangle is the `strength` of the sum of its departures. All rectangles of two features follow from
    one table of their bins.
    """
    names = [column.name for column in problem.features if 1 < column.size <= _MOST_VALUES]
    choices = {name: _choices(problem.by_name[name]) for name in names}
    pairs = list(combinations(names, 2))
    found: list[tuple[float, int, Conditions]] = []
    for index, cells in problem.on_each(pairs):
        pair = pairs[index]
        if problem.clock.over:
            break
        part, terms = _terms(cells, metric, upwards=upwards)
        one, other = (part.by_name[name] for name in pair)
        rows, cols = (choices[name] for name in pair)
        joint = one.codes.astype(np.intp) * other.size + other.codes
        gain, spread, size = (
            rows.astype(float) @ sum_by(joint, term, one.size * other.size).reshape(one.size, -1) @ cols.T
            for term in terms
        )
        ranges = (one.edges is not None) + (other.edges is not None)
        share = size / part.mass.total
        score = np.where(size >= part.min_rows, strength(gain, spread, share, ranges), -np.inf)
        if not score.size:
            continue
        first, second = np.unravel_index(int(score.argmax()), score.shape)
        if score[first, second] > -np.inf:
            chosen = {one.name: _codes(rows[first]), other.name: _codes(cols[second])}
            found.append((-float(score[first, second]), index, chosen))
    return [conditions for *_, conditions in sorted(found, key=lambda item: item[:2])[:count]]


def _terms(problem: Problem, metric: str, *, upwards: bool) -> tuple[Problem, tuple[Floats, Floats, Floats]]:
    """The rows where a metric is defined; departures, variances and weights of each."""
    key = f"departures of {metric}, {upwards}"
    if key not in problem.shared:
        part, examined = defined_rows(problem, quantity(problem, metric))
        problem.shared[key] = part, (*departures(part, examined, upwards=upwards), part.mass.w)
    found: tuple[Problem, tuple[Floats, Floats, Floats]] = problem.shared[key]
    return found


def _choices(column: Codes) -> Bools:
    """The sets of codes that a condition may be on, one per row: ranges of bins but for all of them, or one value."""
    if column.edges is None:
        return np.eye(column.size, dtype=bool)
    n_bins = len(column.edges) - 1
    first, last = np.triu_indices(n_bins)
    some = last - first + 1 < n_bins
    bins = np.arange(column.size)
    return (bins >= first[some, None]) & (bins <= last[some, None]) & (bins < n_bins)


def _codes(chosen: Bools) -> tuple[int, ...]:
    return tuple(np.flatnonzero(chosen).tolist())
