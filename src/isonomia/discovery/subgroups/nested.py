"""Whether every condition of a subgroup adds something: is it worse than the rest of each larger subgroup around it?"""

from __future__ import annotations

from dataclasses import replace

from isonomia.discovery.subgroups._testing import beyond_parent
from isonomia.discovery.subgroups.method import Subgroup
from isonomia.discovery.subgroups.problem import Problem
from isonomia.discovery.subgroups.rates import defined_rows, quantity

#: A condition stays where the subgroup is worse than the rest of the larger one without it, at this level; it was
#: picked among many, so that at 5% idle ones would stay too.
KEEP = 0.01


def added_by_conditions(problem: Problem, subgroup: Subgroup) -> dict[str, float]:
    """For each condition the p-value that it adds nothing; empty for a subgroup of one condition.

    A subgroup is compared with the rest of the subgroup without the condition, in the direction in which it departs.
    """
    if len(subgroup.conditions) < 2:
        return {}
    rows = problem.on(subgroup.names)
    part, examined = defined_rows(rows, quantity(rows, str(subgroup.stats["metric"])))
    value, overall = subgroup.estimate.value, subgroup.overall
    if value is not None and overall is not None and value < overall:
        examined = examined.flipped()
    inside = subgroup.mask(part.by_name)
    out = {}
    for name in subgroup.conditions:
        parent = replace(subgroup, conditions={key: codes for key, codes in subgroup.conditions.items() if key != name})
        out[name] = beyond_parent(examined, inside, parent.mask(part.by_name), part.mass)
    return out


def without_idle_conditions(problem: Problem, subgroup: Subgroup) -> Subgroup:
    """The subgroup without conditions that add nothing, the most idle one dropped first."""
    p_values = added_by_conditions(problem, subgroup)
    idle = max(p_values, key=lambda name: p_values[name], default=None)
    if idle is None or p_values[idle] < KEEP:
        return subgroup
    kept = {name: codes for name, codes in subgroup.conditions.items() if name != idle}
    return without_idle_conditions(problem, replace(subgroup, conditions=kept))
