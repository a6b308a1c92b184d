"""What is found on one part of the rows and measured on the other, so that its p-values are those of fresh rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from isonomia.discovery.method import Method
from isonomia.discovery.subgroups import present
from isonomia.discovery.subgroups.method import Search, Subgroup
from isonomia.discovery.subgroups.nested import KEEP, added_by_conditions, without_idle_conditions
from isonomia.discovery.subgroups.one_by_one import (
    best_of_each_kind,
    joined,
    rows_taken,
    with_plain_figures,
)
from isonomia.discovery.subgroups.problem import Problem
from isonomia.discovery.subgroups.ranges import best_ranges, in_bins_of, rectangles_like, wider_bins
from isonomia.discovery.subgroups.rectangles import log_choices
from isonomia.errors import SpecError
from isonomia.evidence import holm
from isonomia.languages import Message, msg

#: Below this a p-value is significant.
_LEVEL = 0.05
#: Above this the rows kept out show nothing, or the opposite.
_DIRECTION = 0.5
#: Without a limit of overlap only subgroups of exactly the same people are repeats.
_SAME = 1 - 1e-12
#: One by one, this many subgroups are refined per step, of which the most striking is taken.
_PER_STEP = 8


def with_holdout(
    method: Method, problem: Problem, holdout: float, max_overlap: float | None, k: int, *, one_by_one: bool = False
) -> Search:
    """Search one part of the rows, measure what was found on the other.

    What is measured is chosen on the part searched: without conditions that add nothing there, and without repeats or
    one by one. Conjunctions are searched for twice, with other rows held out, since what one part hides by chance the
    other may show: their p-values count double, and of two subgroups of much the same people one is listed.
    """
    if method.measure is None:
        raise SpecError(f"The method '{method.id}' cannot measure what it found on other rows; leave `holdout` out.")
    problem, halves = _halves(problem, holdout, twice=method.nested)
    ways = [_one_way(method, problem, *parts, max_overlap, k, one_by_one=one_by_one) for parts in halves]
    search, (searched, other) = ways[0].search, halves[0]
    found = [one for way in ways for one in way.adjusted(len(ways))]
    if method.nested:
        found.sort(key=lambda one: (not _sure(one[0]), one[1]))
    search = replace(
        search,
        subgroups=tuple(subgroup for subgroup, _ in found),
        tested=sum(way.search.tested for way in ways),
        nodes=sum(way.search.nodes for way in ways),
        complete=all(way.search.complete for way in ways),
        notes=(*search.notes, _note(searched.n, other.n, twice=method.nested)),
    )
    if one_by_one:
        search = replace(search, subgroups=tuple(_beyond_better(method, problem, search.subgroups)))
    return present.without_repeats(search, problem, _SAME if max_overlap is None else max_overlap, k)


def _halves(problem: Problem, holdout: float, *, twice: bool) -> tuple[Problem, list[tuple[Problem, Problem]]]:
    """All rows; and those to search and the others: the last of a random order are held out, then the first ones.

    All rows come with the parts, so that an engine that counts parts has counted all rows, too.
    """
    shares = sorted({holdout, 1 - holdout})
    parts = range(len(shares) + 1)
    last = {part for part in parts if part > shares.index(1 - holdout)}
    first = {part for part in parts if part <= shares.index(holdout)}
    chosen = [side for left_out in ([last, first] if twice else [last]) for side in ({*parts} - left_out, left_out)]
    everyone, *found = problem.parts(shares, [{*parts}, *chosen])
    if min(part.n for part in found) == 0:
        raise SpecError(f"`holdout` leaves one of the two parts empty: {problem.n} rows, holdout {holdout:g}.")
    return everyone, list(zip(found[::2], found[1::2], strict=True))


@dataclass(frozen=True, eq=False)
class _Way:
    """One search with some rows held out: what was found, measured on these; its rank and p-value by both parts."""

    search: Search
    found: list[tuple[Subgroup, float, float]]

    def adjusted(self, ways: int) -> list[tuple[Subgroup, float]]:
        """The subgroups with their p-values, adjusted for as many searches and for those found; and their ranks."""
        parts = shares_of_level(len(self.found), ways)
        doubled = [ways * p for _, _, p in self.found]
        adjusted = holm(doubled, weights=parts)
        return [
            (replace(item, p_value=_known(min(1.0, p / part)), p_adjusted=_known(own)), rank)
            for (item, rank, _), p, part, own in zip(self.found, doubled, parts, adjusted, strict=True)
        ]


def shares_of_level(found: int, ways: int) -> list[float]:
    """How many times an equal share of the level each subgroup gets, the most striking first: 1, 1/2, 1/3 and so on.

    They come first by the rows searched, so that the rows kept out do not decide it. With several searches no share is
    larger than their number: a p-value that counts for each of them is not smaller than that of one test. One search
    shares equally.

    References
    ----------
    C. R. Genovese, K. Roeder, L. Wasserman (2006), Biometrika 93:509.

    Examples
    --------
    >>> [round(share, 2) for share in shares_of_level(5, 2)], shares_of_level(2, 1)
    ([2.0, 1.09, 0.73, 0.55, 0.44], [1.0, 1.0])
    """
    if ways == 1:
        return [1.0] * found
    total = sum(1 / rank for rank in range(1, found + 1))
    return [min(found / rank / total, float(ways)) for rank in range(1, found + 1)]


def _one_way(
    method: Method,
    problem: Problem,
    searched: Problem,
    other: Problem,
    max_overlap: float | None,
    k: int,
    *,
    one_by_one: bool,
) -> _Way:
    assert method.measure is not None  # `with_holdout` refuses such methods
    if one_by_one:
        return _step_by_step(method, problem, searched, other, k)
    search = _in_ranges(method, searched) if method.nested else method.run(searched)
    search = present.without_repeats(search, searched, max_overlap, k)
    again = [replace(method.measure(other, item), measured=other) for item in search.subgroups]
    if method.nested:
        ranks = [_chance(searched, item) for item in search.subgroups]
        kinds = _kinds(search.subgroups)
        p_values = [
            _joint_p(problem, other, method.measure(problem, found), fresh, kinds)
            for found, fresh in zip(search.subgroups, again, strict=True)
        ]
    else:
        ranks = [float(rank) for rank in range(len(again))]
        p_values = [np.nan if item.p_value is None else item.p_value for item in again]
    return _Way(search, list(zip(again, ranks, p_values, strict=True)))


def _step_by_step(method: Method, problem: Problem, searched: Problem, other: Problem, k: int) -> _Way:
    """Each subgroup is searched for, and measured, beyond what those found before it explain in either part."""
    assert method.measure is not None  # `with_holdout` refuses such methods
    steps: list[Search] = []
    found: list[tuple[Subgroup, float, float]] = []
    taken: list[Subgroup] = []
    for _ in range(k):
        here = replace(searched, k=_PER_STEP, taken=rows_taken(taken, searched))
        there = replace(other, taken=rows_taken(taken, other))
        everyone = replace(problem, taken=rows_taken(taken, problem))
        steps.append(_in_ranges(method, here))
        best = best_of_each_kind(steps[-1].subgroups, here)
        for item in best:
            again = method.measure(there, item)
            p = _joint_p(everyone, there, method.measure(everyone, item), again, _kinds(best))
            found.append((replace(with_plain_figures(method, other, again), measured=other), _chance(here, item), p))
        taken += best
        if not best or searched.clock.over:
            break
    return _Way(joined(steps), found)


def _beyond_better(method: Method, problem: Problem, found: Sequence[Subgroup]) -> list[Subgroup]:
    """Of what several searches found, the subgroups that have more than those before them explain, on all rows."""
    assert method.measure is not None  # `with_holdout` refuses such methods
    kept: list[Subgroup] = []
    for item in found:
        again = method.measure(replace(problem, taken=rows_taken(kept, problem)), item)
        if again.p_value is not None and again.p_value < KEEP:
            kept.append(item)
    return kept


def _known(p: float) -> float | None:
    return None if np.isnan(p) else float(p)


def _sure(subgroup: Subgroup) -> bool:
    return subgroup.p_adjusted is not None and subgroup.p_adjusted < _LEVEL


def _note(found: int, measured: int, *, twice: bool) -> Message:
    if not twice:
        return msg(
            "Found on {found:int} rows, measured on the other {measured:int}; p-values are adjusted for those listed.",
            found=found,
            measured=measured,
        )
    return msg(
        "Found on {found:int} rows and measured on the other {measured:int}, twice with different rows. P-values "
        "are those of the other rows, or of all rows times how many subgroups there were to find, each with half of "
        "the level; they are adjusted for both searches and for those listed.",
        found=found,
        measured=measured,
    )


def _in_ranges(method: Method, problem: Problem) -> Search:
    """Search bins twice and four times as wide, then ranges of the finest bins, without conditions that add nothing.

    The most striking subgroup comes first.
    """
    assert method.measure is not None  # `with_holdout` refuses such methods
    wide = wider_bins(problem)
    wider = wider_bins(wide)
    search: Search = method.run(wide)
    other: Search = method.run(wider)
    found = [in_bins_of(item, problem) for item in search.subgroups]
    found += [in_bins_of(in_bins_of(item, wide), problem) for item in other.subgroups]
    if problem.max_l >= 2:
        found += rectangles_like(problem, found, problem.k)
    ranged = [method.measure(problem, item) for item in _once(best_ranges(problem, item) for item in found)]
    known = {id(item) for item in ranged}
    shorter = _once(without_idle_conditions(problem, item) for item in ranged)
    measured = (item if id(item) in known else method.measure(problem, item) for item in shorter)
    ordered = sorted(measured, key=lambda item: _chance(problem, item))
    return replace(
        search,
        subgroups=tuple(ordered),
        tested=search.tested + other.tested,
        nodes=search.nodes + other.nodes,
        complete=search.complete and other.complete,
    )


def _chance(problem: Problem, item: Subgroup) -> float:
    """The log of the p-value times how many effectively different subgroups of its kind there were to find."""
    p = 1.0 if item.p_value is None else max(item.p_value, 1e-300)
    ranges = sum(problem.by_name[name].edges is not None for name in item.conditions)
    sets = problem.max_l * math.comb(len(problem.features), len(item.conditions))
    return math.log(p) + math.log(sets) + float(log_choices(max(_share(problem, item), 1 / problem.n), ranges))


def _share(problem: Problem, item: Subgroup) -> float:
    cells = problem.on(item.names)
    return cells.mass.take(item.mask(cells.by_name)).total / cells.mass.total


def _once(found: Iterable[Subgroup]) -> list[Subgroup]:
    """Subgroups found in the same way with the same conditions are listed once."""
    out: dict[tuple[object, ...], Subgroup] = {}
    for item in found:
        out.setdefault((present.kind_of_finding(item), *sorted(item.conditions.items())), item)
    return list(out.values())


def _hurdles(problem: Problem, item: Subgroup) -> dict[str | None, float]:
    """The logs of the p-values that a subgroup has to pass, each times how many subgroups (or conditions) it is of.

    Against all other rows (None), and by condition against the rest of the subgroup without it.
    """
    logs: dict[str | None, float] = {None: _chance(problem, item)}
    for name, p in added_by_conditions(problem, item).items():
        around = replace(item, conditions={key: codes for key, codes in item.conditions.items() if key != name})
        left = len(problem.features) - len(around.conditions)
        share = _share(problem, item) / _share(problem, around)
        choices = math.log(left) + float(log_choices(share, int(problem.by_name[name].edges is not None)))
        logs[name] = math.log(max(p, 1e-300)) + choices
    return logs


def _kinds(found: Sequence[Subgroup]) -> int:
    """How many metrics (or approaches) were searched, as far as they gave anything."""
    return len({present.kind_of_finding(item) for item in found})


def _joint_p(everyone: Problem, other: Problem, whole: Subgroup, again: Subgroup, kinds: int = 1) -> float:
    """The p-value of a subgroup: the largest of those that it has to pass, on the rows kept out or on all rows.

    That of the rows kept out is as it is, since the subgroup was not picked on them. That of all rows is times how many
    subgroups (or conditions) of how many kinds there were to find, whichever search found it; each has half of the
    level. Rows kept out must point in the same direction.

    Of the two searches each counts for itself, so that `adjusted` doubles p-values; that of all rows allows for both
    already, and its doubling is the half of the level.
    """
    if whole.p_value is None or again.p_value is None:
        return np.nan
    added = added_by_conditions(other, again)
    parts = [
        min(2 * (again.p_value if name is None else added[name]), kinds * math.exp(min(log, 0.0)))
        for name, log in _hurdles(everyone, whole).items()
    ]
    return max(*parts, again.p_value if again.p_value >= _DIRECTION else 0.0)
