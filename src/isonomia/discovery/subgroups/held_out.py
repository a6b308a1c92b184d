"""What is found on one part of the rows and measured on the other, so that its p-values are those of fresh rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from isonomia.discovery.method import Method
from isonomia.discovery.subgroups import present
from isonomia.discovery.subgroups.method import Search, Subgroup
from isonomia.discovery.subgroups.nested import added_by_conditions, without_idle_conditions
from isonomia.discovery.subgroups.problem import Problem
from isonomia.discovery.subgroups.ranges import best_ranges, in_bins_of, rectangles_like, wider_bins
from isonomia.errors import SpecError
from isonomia.evidence import holm
from isonomia.languages import msg
from isonomia.typing import Floats

#: This share of the level on the rows held out is divided equally among what was found.
_EQUALLY = 0.2


def with_holdout(
    method: Method, problem: Problem, holdout: float, max_overlap: float | None, k: int
) -> tuple[Problem, Search]:
    """Search one part of the rows, measure what was found on the other.

    What is measured is chosen on the part searched: without conditions that add nothing there, and without repeats.
    """
    if method.measure is None:
        raise SpecError(f"The method '{method.id}' cannot measure what it found on other rows; leave `holdout` out.")
    order = np.random.default_rng(problem.seed).permutation(problem.n)
    cut = problem.n - round(problem.n * holdout)
    if cut < 1 or cut == problem.n:
        raise SpecError(f"`holdout` leaves one of the two parts empty: {problem.n} rows, holdout {holdout:g}.")
    searched, other = problem.take(np.sort(order[:cut])), problem.take(np.sort(order[cut:]))
    search = _in_ranges(method, searched) if method.nested else method.run(searched)
    search, _ = present.without_repeats(search, searched, max_overlap, k)
    again = [method.measure(other, subgroup) for subgroup in search.subgroups]
    weights = _weights(searched, search.subgroups) if method.nested else None
    adjusted = holm([_largest_p(method, other, item) for item in again], weights)
    subgroups = tuple(
        replace(item, p_adjusted=None if np.isnan(p) else float(p)) for item, p in zip(again, adjusted, strict=True)
    )
    note = msg(
        "Found on {found:int} rows, measured on the other {measured:int}; p-values are adjusted for those listed.",
        found=cut,
        measured=problem.n - cut,
    )
    return other, replace(search, subgroups=subgroups, notes=(*search.notes, note))


def _in_ranges(method: Method, problem: Problem) -> Search:
    """Search bins twice and four times as wide, then ranges of the finest bins, without conditions that add nothing.

    The most striking subgroup comes first.
    """
    assert method.measure is not None  # `_with_holdout` refuses such methods
    wide = wider_bins(problem)
    wider = wider_bins(wide)
    search: Search = method.run(wide)
    other: Search = method.run(wider)
    found = [in_bins_of(item, problem) for item in search.subgroups]
    found += [in_bins_of(in_bins_of(item, wide), problem) for item in other.subgroups]
    if problem.max_l >= 2:
        found += rectangles_like(problem, found, problem.k)
    ranged = [method.measure(problem, best_ranges(problem, item)) for item in found]
    measured = (method.measure(problem, item) for item in _shortened(problem, ranged))
    ordered = sorted(measured, key=lambda item: _chance(problem, item))
    return replace(
        search,
        subgroups=tuple(ordered),
        tested=search.tested + other.tested,
        nodes=search.nodes + other.nodes,
        complete=search.complete and other.complete,
    )


def _chance(problem: Problem, item: Subgroup) -> float:
    """The log of the p-value times how many subgroups have as many conditions: more of them differ more by chance."""
    conditions, possible = len(item.conditions), sum(column.size for column in problem.features)
    p = 1.0 if item.p_value is None else max(item.p_value, 1e-300)
    return math.log(p) + conditions * math.log(possible) - math.lgamma(conditions + 1)


def _weights(searched: Problem, found: Sequence[Subgroup]) -> Floats | None:
    """How much of the level each subgroup gets on the other rows: more, the less the rows searched put it to chance.

    The root of `_chance`, so that doubtful ones are not given up; a share of the level is divided equally.
    """
    if not found:
        return None
    chance = np.array([_chance(searched, item) for item in found])
    share = np.exp((chance.min() - chance) / 2)
    return np.asarray((1 - _EQUALLY) * share / share.sum() + _EQUALLY / len(found))


def _shortened(problem: Problem, found: Sequence[Subgroup]) -> tuple[Subgroup, ...]:
    """Subgroups without idle conditions; those that become the same are listed once."""
    out: dict[tuple[object, ...], Subgroup] = {}
    for item in found:
        shorter = without_idle_conditions(problem, item)
        out.setdefault((present.kind_of_finding(item), *sorted(shorter.conditions.items())), shorter)
    return tuple(out.values())


def _largest_p(method: Method, problem: Problem, item: Subgroup) -> float:
    """The largest p-value of a subgroup: against all other rows, and against the rest of each larger subgroup."""
    if item.p_value is None:
        return np.nan
    return float(max([item.p_value, *(added_by_conditions(problem, item).values() if method.nested else ())]))
