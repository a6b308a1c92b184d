"""Ranges of several bins: what lies across the edges of bins is too thin in each of them to be found.

A search is run on bins twice and four times as wide as the finest; then each condition on a binned feature takes the
range of the finest bins that departs most, given the other conditions.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isonomia.counting import Codes, smallest, sum_by
from isonomia.discovery.subgroups.method import Subgroup
from isonomia.discovery.subgroups.problem import Problem
from isonomia.discovery.subgroups.rates import defined_rows, quantity
from isonomia.discovery.subgroups.rectangles import best_rectangles, departures, strength
from isonomia.typing import Floats

#: How often all conditions are gone through, at most.
_ROUNDS = 5


def wider_bins(problem: Problem) -> Problem:
    """The same rows with every two neighbouring bins as one."""
    return replace(problem, features=tuple(_wider(column) for column in problem.features))


def in_bins_of(subgroup: Subgroup, problem: Problem) -> Subgroup:
    """A subgroup of `wider_bins` in the bins of the problem itself."""
    conditions = {}
    for name, codes in subgroup.conditions.items():
        column = problem.by_name[name]
        if column.edges is not None:
            wide = _wide_codes(column)
            codes = tuple(np.flatnonzero(np.isin(wide, codes)).tolist())
        conditions[name] = codes
    return replace(subgroup, conditions=conditions)


def rectangles_like(problem: Problem, found: list[Subgroup], count: int) -> list[Subgroup]:
    """For each metric examined the rectangles of two features that depart most, in the direction of those found."""
    examples = {str(item.stats["metric"]): item for item in reversed(found)}
    out = []
    for metric, example in examples.items():
        best = best_rectangles(problem, metric, count, upwards=departs_upwards(example))
        out += [replace(example, conditions=conditions) for conditions in best]
    return out


def best_ranges(problem: Problem, subgroup: Subgroup) -> Subgroup:
    """The subgroup with the range of bins that departs most in each condition, given the others.

    What is maximised is the `strength` of the sum of departures. Conditions are gone through until none changes.
    """
    cells = problem.on(subgroup.names)
    part, examined = defined_rows(cells, quantity(cells, str(subgroup.stats["metric"])))
    weights, total = part.mass.w, part.mass.total
    departure, variance = departures(part, examined, upwards=departs_upwards(subgroup))
    for _ in range(_ROUNDS):
        before = subgroup
        for name in subgroup.conditions:
            column = part.by_name[name]
            if column.edges is None or column.missing in subgroup.conditions[name]:
                continue
            others = {key: codes for key, codes in subgroup.conditions.items() if key != name}
            rows = np.flatnonzero(replace(subgroup, conditions=others).mask(part.by_name))
            codes = column.codes[rows]
            n_bins = len(column.edges) - 1
            sums, spread, sizes = (
                sum_by(codes, values[rows], column.size)[:n_bins] for values in (departure, variance, weights)
            )
            chosen = _best_range(sums, spread, sizes / total, part.min_rows / total)
            if chosen is not None:
                subgroup = replace(subgroup, conditions={**subgroup.conditions, name: chosen})
        if subgroup.conditions == before.conditions:
            break
    return subgroup


def departs_upwards(subgroup: Subgroup) -> bool:
    """Whether what was examined is higher in the subgroup than elsewhere."""
    value, overall = subgroup.estimate.value, subgroup.overall
    return value is None or overall is None or value >= overall


def _best_range(sums: Floats, spread: Floats, shares: Floats, least: float) -> tuple[int, ...] | None:
    """The neighbouring bins with the strongest departure; not all of them, and not of too small a share of the rows.

    >>> _best_range(np.array([-1.0, 4.0, 5.0, 0.0]), np.full(4, 2.0), np.full(4, 0.1), 0.05)
    (1, 2)
    """
    total, noise, share = (np.concatenate([[0.0], np.cumsum(part)]) for part in (sums, spread, shares))
    first, last = np.triu_indices(sums.size)
    inside = share[last + 1] - share[first]
    allowed = (inside >= least - 1e-12) & (last - first + 1 < sums.size)
    found = strength(total[last + 1] - total[first], noise[last + 1] - noise[first], inside, 1)
    score = np.where(allowed, found, -np.inf)
    if not score.size or score.max() == -np.inf:
        return None
    best = int(score.argmax())
    return tuple(range(int(first[best]), int(last[best]) + 1))


def _wide_codes(column: Codes) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """For each code of a binned column its code with bins twice as wide; an odd last bin joins the one before it."""
    assert column.edges is not None
    n_bins = len(column.edges) - 1
    wide = np.minimum(np.arange(n_bins) // 2, max(n_bins // 2 - 1, 0))
    return wide if column.missing is None else np.append(wide, wide[-1] + 1)


def _wider(column: Codes) -> Codes:
    if column.edges is None or len(column.edges) < 4:
        return column
    wide = _wide_codes(column)
    n_bins = int(wide[len(column.edges) - 2]) + 1
    edges = (*column.edges[: 2 * n_bins : 2], column.edges[-1])
    labels = (*range(n_bins), *([] if column.missing is None else [None]))
    return Codes(column.name, wide.astype(smallest(len(labels)))[column.codes], labels, edges)
