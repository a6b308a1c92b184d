"""Random search: conjunctions drawn uniformly. What every other method has to beat at the same cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isonomia.discovery.method import METHODS, Method
from isonomia.discovery.subgroups._testing import average, compared_with, upper_tail
from isonomia.discovery.subgroups.method import Search, Subgroup
from isonomia.discovery.subgroups.problem import Problem
from isonomia.discovery.subgroups.rates import Quantity, defined_rows, metrics_of, quantity
from isonomia.evidence import Column
from isonomia.parameters import Integer, Parameter

COLUMNS = (Column("metric", format="text"),)


def run(problem: Problem) -> Search:
    """Draw conjunctions, measure each, keep those least likely by chance."""
    (metric,) = metrics_of(problem, ("error",))
    part, examined = defined_rows(problem, quantity(problem, metric))
    rng = np.random.default_rng(problem.seed)
    drawn: dict[tuple[tuple[str, tuple[int, ...]], ...], Subgroup] = {}
    complete = True
    for _ in range(problem.options["draws"]):
        if problem.clock.over:
            complete = False
            break
        conditions = _conjunction(part, rng)
        key = tuple(sorted(conditions.items()))
        if key not in drawn:
            drawn[key] = _measured(part, examined, Subgroup(conditions))
    tests = len(drawn)
    tested = [item for item in drawn.values() if item.p_value is not None and (item.estimate.n or 0) >= part.min_rows]
    best = sorted(tested, key=lambda item: (item.p_value, -(item.estimate.n or 0)))[: problem.k]
    return Search(
        tuple(replace(item, p_adjusted=min(1.0, (item.p_value or 0.0) * tests)) for item in best),
        examined.measure,
        tested=tests,
        complete=complete,
        style=examined.style,
        columns=COLUMNS,
    )


def _conjunction(problem: Problem, rng: np.random.Generator) -> dict[str, tuple[int, ...]]:
    """As many conditions as drawn, on features drawn, each with a value drawn: all uniformly."""
    size = int(rng.integers(1, problem.max_l, endpoint=True))
    chosen = np.sort(rng.choice(len(problem.features), size, replace=False))
    columns = [problem.features[index] for index in chosen]
    return {column.name: (int(rng.integers(column.size)),) for column in columns}


def _measured(part: Problem, examined: Quantity, subgroup: Subgroup) -> Subgroup:
    inside, mass = subgroup.mask(part.by_name), part.mass
    return replace(
        subgroup,
        stats={"metric": examined.id},
        estimate=average(examined.values[inside], mass.take(inside), binary=examined.binary),
        overall=compared_with(examined, inside, mass),
        p_value=upper_tail(examined, inside, mass),
        measure=examined.measure,
    )


def measure(problem: Problem, subgroup: Subgroup) -> Subgroup:
    """A conjunction measured on other rows."""
    return _measured(*defined_rows(problem, quantity(problem, str(subgroup.stats["metric"]))), subgroup)


METHODS.add(
    Method(
        id="random",
        purpose="conjunctions drawn at random, those least likely by chance first: what other methods have to beat",
        needs=("errors",),
        run=run,
        parameters=(Parameter("draws", Integer(1), 1000, "conjunctions to draw"),),
        defaults={"min_support": 30},
        measure=measure,
        nested=True,
    )
)
