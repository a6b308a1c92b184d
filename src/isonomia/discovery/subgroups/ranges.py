"""Ranges of several bins: what lies across the edges of bins is too thin in each of them to be found.

A search is run on the bins and again on bins twice as wide; then each condition on a binned feature takes the range
that departs most, given the other conditions.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isonomia.counting import Codes, smallest, sum_by
from isonomia.discovery.subgroups.method import Subgroup
from isonomia.discovery.subgroups.problem import Problem
from isonomia.discovery.subgroups.rates import defined_rows, quantity
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


def best_ranges(problem: Problem, subgroup: Subgroup) -> Subgroup:
    """The subgroup with the range of bins that departs most in each condition, given the others.

    What is maximised is the sum of (value - average) over the root of the number of rows: the scan statistic of a
    range. Conditions are gone through in turn until none changes.
    """
    part, examined = defined_rows(problem, quantity(problem, str(subgroup.stats["metric"])))
    weights = np.ones(part.n) if part.weights is None else part.weights
    excess = examined.excess()
    departure = (excess - np.average(excess, weights=weights)) * weights
    value, overall = subgroup.estimate.value, subgroup.overall
    if value is not None and overall is not None and value < overall:
        departure = -departure
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
            sums, sizes = (sum_by(codes, values[rows], column.size)[:n_bins] for values in (departure, weights))
            chosen = _best_range(sums, sizes, part.min_rows)
            if chosen is not None:
                subgroup = replace(subgroup, conditions={**subgroup.conditions, name: chosen})
        if subgroup.conditions == before.conditions:
            break
    return subgroup


def _best_range(sums: Floats, sizes: Floats, smallest_size: float) -> tuple[int, ...] | None:
    """The neighbouring bins with the largest sum over the root of their size; not all bins, and not too few rows.

    >>> _best_range(np.array([-1.0, 4.0, 5.0, 0.0]), np.array([10.0, 10.0, 10.0, 10.0]), 5)
    (1, 2)
    """
    total, size = (np.concatenate([[0.0], np.cumsum(part)]) for part in (sums, sizes))
    first, last = np.triu_indices(sums.size)
    rows = size[last + 1] - size[first]
    allowed = (rows >= smallest_size) & (rows > 0) & (last - first + 1 < sums.size)
    if not allowed.any():
        return None
    score = np.where(allowed, (total[last + 1] - total[first]) / np.sqrt(np.maximum(rows, 1e-300)), -np.inf)
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
