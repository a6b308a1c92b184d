"""DivExplorer: every frequent subgroup, how far its outcome rate departs from everyone's, and which items drive it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isonomia.discovery.method import METHODS, Method
from isonomia.discovery.subgroups._testing import average, best_indices, compared_with
from isonomia.discovery.subgroups.counted import lattice_of
from isonomia.discovery.subgroups.method import Search, Subgroup
from isonomia.discovery.subgroups.problem import Problem
from isonomia.discovery.subgroups.rates import RATES, metrics_of, quantity
from isonomia.discovery.subgroups.searches._divergence_tables import Found, divergence_pictures, divergence_tables
from isonomia.discovery.subgroups.searches.divergence import Divergence, Patterns, divergence_of, lay_out
from isonomia.errors import SpecError
from isonomia.evidence import Column, benjamini_hochberg_among
from isonomia.languages import msg
from isonomia.parameters import Choice, Integer, Number, Parameter
from isonomia.typing import Floats

COLUMNS = (
    Column("metric", format="text", title=msg("Metric")),
    Column("rate", format="num4", title=msg("Rate")),
    Column("divergence", format="num4", title=msg("Divergence")),
    Column("t", format="num"),
)


def run(problem: Problem) -> Search:
    """Count every frequent subgroup once, for all metrics together."""
    metrics = metrics_of(problem, default_metrics(problem))
    quantities = [quantity(problem, metric) for metric in metrics]
    columns = lay_out(quantities, problem.weights)[1]

    def terms(rows: Problem) -> tuple[Problem, dict[str, Floats]]:
        return rows, lay_out([quantity(rows, metric) for metric in metrics], rows.weights)[0]

    lattice = lattice_of(problem, terms, min_size=problem.min_rows)
    patterns = Patterns(lattice, quantities, problem.max_l, columns)
    p_values = np.array([part.p_value for part in patterns.divergences])
    found: list[Subgroup] = []
    for part, p in zip(patterns.divergences, p_values, strict=True):
        best = _best(patterns, part, problem)
        adjusted = benjamini_hochberg_among(p[best], p_values)
        found += [
            _subgroup(problem, patterns, part, index, float(p[index]), float(q))
            for index, q in zip(best, adjusted, strict=True)
        ]
    single = len(quantities) == 1
    return Search(
        tuple(found),
        quantities[0].measure if single else msg("outcome rates"),
        tested=lattice.counted,
        nodes=lattice.looked_at,
        complete=lattice.complete,
        style="pct" if all(item.binary for item in quantities) else "num",
        columns=COLUMNS,
        values={"itemsets": len(patterns), **{f"base_{part.quantity.id}": part.base for part in patterns.divergences}},
        details=patterns,
    )


def describe(problem: Problem, search: Search) -> Search:
    """The search with contributions of items to the subgroups listed and everywhere, and corrective items."""
    patterns: Patterns = search.details
    parts = {part.quantity.id: part for part in patterns.divergences}
    found = [
        Found(subgroup=item, position=patterns.position(item.conditions), part=parts[str(item.stats["metric"])])
        for item in search.subgroups
    ]
    tables = divergence_tables(problem, patterns, found)
    return replace(search, tables=tables, pictures=divergence_pictures(tables, found, problem))


def default_metrics(problem: Problem) -> tuple[str, ...]:
    """What is examined by default: both error rates for two classes, the error rate for several."""
    known = problem.truth is not None and problem.label is not None
    if problem.errors is not None or problem.task is None:
        return ("error",)
    if problem.task == "regression":
        return ("absolute_error",) if known else ("prediction",) if problem.label is not None else ("target",)
    if known:
        return ("fpr", "fnr") if problem.task == "binary" else ("error_rate",)
    if problem.task == "binary":
        return ("selection_rate",) if problem.label is not None else ("base_rate",)
    raise SpecError("Name the class of the rate: metric='selection_rate:class' (predictions), 'base_rate:class'.")


def _best(patterns: Patterns, part: Divergence, problem: Problem) -> list[int]:
    """The k most divergent (or most surely divergent) subgroups that are not redundant, in the direction asked for."""
    direction, tolerance = problem.options["direction"], problem.options["th_redundancy"]
    rate = RATES.get(part.quantity.id.partition(":")[0])
    worse = "high" if rate is None else rate.worse
    side = worse if direction == "worse" else direction
    value = {"high": part.divergence, "low": -part.divergence}.get(side, np.abs(part.divergence))
    if problem.options["rank_by"] == "t":
        value = np.sign(value) * part.t
    ranked = np.where(np.isnan(value), -np.inf, value)
    if tolerance is not None:
        ranked = np.where(patterns.redundant(part.divergence, float(tolerance)), -np.inf, ranked)
    return best_indices(ranked, patterns.sums[:, 0], problem.k)


def _subgroup(problem: Problem, patterns: Patterns, part: Divergence, index: int, p: float, q: float) -> Subgroup:
    conditions = patterns.lattice.conditions(patterns.items(index))
    named = {problem.features[feature].name: (code,) for feature, code in sorted(conditions.items())}
    return _measured(problem, part, Subgroup(named), index, p, q)


def _measured(
    problem: Problem, part: Divergence, subgroup: Subgroup, index: int, p: float, q: float | None
) -> Subgroup:
    cells = problem.on(subgroup.names)
    examined = quantity(cells, part.quantity.id)
    rows = subgroup.mask(cells.by_name)
    if examined.defined is not None:
        rows = rows & examined.defined
    defined = not np.isnan(part.rate[index])
    estimate = average(examined.values[rows], cells.mass.take(rows), binary=examined.binary)
    plain = examined.expected is None
    return replace(
        subgroup,
        stats={
            "metric": part.quantity.id,
            "rate": float(part.rate[index]) if defined and plain else estimate.value,
            "divergence": float(part.divergence[index]) if defined else None,
            "t": float(part.t[index]) if defined else None,
        },
        estimate=estimate,
        overall=part.base if plain else compared_with(examined, rows, cells.mass),
        measure=part.quantity.measure,
        p_value=p if defined else None,
        p_adjusted=q if defined else None,
    )


def measure(problem: Problem, subgroup: Subgroup) -> Subgroup:
    """A subgroup measured on other rows."""
    cells = problem.on(subgroup.names)
    examined = quantity(cells, str(subgroup.stats["metric"]))
    names, columns = lay_out([examined], cells.weights)
    inside, weight = subgroup.mask(cells.by_name), cells.mass.w
    parts = [weight, *(values * weight for values in names.values())]
    sums = np.array([[values[inside].sum() for values in parts]])
    part = divergence_of(examined, sums, np.array([values.sum() for values in parts]), columns[0])
    return _measured(problem, part, subgroup, 0, float(part.p_value[0]), None)


METHODS.add(
    Method(
        id="divexplorer",
        purpose="every frequent subgroup: how far a rate departs from everyone's, and which items drive it",
        needs=(),
        run=run,
        parameters=(
            Parameter(
                "th_redundancy",
                Number(at_least=0).or_none(),
                0.0,
                "leave out subgroups where some item changes the divergence by at most this",
            ),
            Parameter("direction", Choice(("worse", "high", "low", "both")), "worse", "the divergence to rank by"),
            Parameter(
                "rank_by", Choice(("divergence", "t")), "divergence", "what comes first: how large it is or how sure"
            ),
            Parameter("n_corrective", Integer(0), 10, "corrective items to list per metric"),
        ),
        defaults={"min_support": 0.05},
        measure=measure,
        describe=describe,
        nested=True,
        counts=True,
        reference="E. Pastor, L. de Alfaro, E. Baralis (2021), Looking for trouble, SIGMOD, "
        "doi 10.1145/3448016.3457284",
    )
)
