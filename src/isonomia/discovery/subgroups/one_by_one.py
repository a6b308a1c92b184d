"""Subgroups found one after another, each by what it has beyond those found before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from isonomia.discovery.method import Method
from isonomia.discovery.subgroups import present
from isonomia.discovery.subgroups.method import Search, Subgroup
from isonomia.discovery.subgroups.problem import Problem
from isonomia.errors import SpecError
from isonomia.evidence import Column
from isonomia.languages import msg
from isonomia.typing import Bools

#: The method's own column of what a subgroup has beyond those before it.
BEYOND = Column("beyond_previous", format="num4", title=msg("Beyond those listed before"))
NOTE = msg(
    "Found one by one: each subgroup is compared with what those listed before it explain, and so is its p-value."
)


def check_one_by_one(method: Method) -> None:
    """Refuse methods whose subgroups are not conjunctions with another average of a metric."""
    if not method.nested:
        raise SpecError(
            f"The method '{method.id}' does not compare averages of conjunctions, so it cannot search one by one; "
            "leave `one_by_one` out."
        )


def one_by_one(method: Method, problem: Problem) -> Search:
    """The best subgroup, then the best beyond what it explains, and so on up to k of each kind.

    After each step the expected values of its rows are those observed (`explained`); the p-values of the next step are
    those of a search that compares with these. Figures are those of the subgroup among all rows.
    """
    steps: list[Search] = []
    found: list[Subgroup] = []
    for _ in range(problem.k):
        left = replace(problem, k=1, taken=rows_taken(found, problem))
        steps.append(method.run(left))
        best = best_of_each_kind(steps[-1].subgroups, left)
        found += best
        if not best or problem.clock.over:
            break
    kinds = list(dict.fromkeys(present.kind_of_finding(item) for item in found))
    found.sort(key=lambda item: kinds.index(present.kind_of_finding(item)))
    search = joined(steps)
    return replace(
        search,
        subgroups=tuple(with_plain_figures(method, problem, item) for item in found),
        complete=search.complete and not problem.clock.over,
    )


def joined(steps: Sequence[Search]) -> Search:
    """Searches that went on where the one before ended, as one."""
    first = steps[0]
    return replace(
        first,
        tested=max(step.tested for step in steps),
        nodes=sum(step.nodes for step in steps),
        complete=all(step.complete for step in steps),
        columns=(*first.columns, BEYOND),
        notes=(*first.notes, NOTE),
    )


def rows_taken(found: Iterable[Subgroup], problem: Problem) -> tuple[tuple[str, Bools], ...]:
    """The metric and the rows of each subgroup."""
    return tuple((str(item.stats["metric"]), item.mask(problem.by_name)) for item in found)


def best_of_each_kind(found: Iterable[Subgroup], problem: Problem) -> list[Subgroup]:
    """The first subgroup of each metric (and approach); none where its rows were taken before: nothing is left."""
    best: dict[object, Subgroup] = {}
    for item in found:
        best.setdefault(present.kind_of_finding(item), item)
    return [item for item in best.values() if not _taken_before(item, problem)]


def _taken_before(item: Subgroup, problem: Problem) -> bool:
    inside = item.mask(problem.by_name)
    return any(metric == item.stats["metric"] and np.array_equal(inside, rows) for metric, rows in problem.taken)


def with_plain_figures(method: Method, problem: Problem, item: Subgroup) -> Subgroup:
    """The subgroup with its figures among all rows; p-values stay, and what it has beyond those before it."""
    assert method.measure is not None  # methods of conjunctions have it
    value, expected = item.estimate.value, item.overall
    plain: Subgroup = method.measure(problem, item)
    beyond = None if value is None or expected is None else value - expected
    return replace(plain, stats={**plain.stats, BEYOND.name: beyond}, p_value=item.p_value, p_adjusted=item.p_adjusted)
