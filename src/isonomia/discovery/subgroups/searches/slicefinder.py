"""SliceFinder: large slices whose loss is higher than that of the rest, in few conditions, tested as they are found.

The effect size of a slice S against the rest S': sqrt(2) (mean_S - mean_S') / sqrt(var_S + var_S') in the paper; the
released code divides by the square root of the mean of the two *standard deviations* instead (`effect="code"`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Lattice, Level
from isonomia.discovery.method import METHODS, Method
from isonomia.discovery.subgroups._testing import average, welch_upper
from isonomia.discovery.subgroups.method import Search, Subgroup
from isonomia.discovery.subgroups.problem import Problem
from isonomia.discovery.subgroups.rates import Quantity, metrics_of, quantity
from isonomia.discovery.subgroups.searches._slicetree import Step, tree_levels
from isonomia.errors import SpecError
from isonomia.evidence import AlphaInvesting, Column, Table, benjamini_hochberg_among
from isonomia.languages import msg
from isonomia.languages.naming import number
from isonomia.parameters import ALPHA, Boolean, Choice, Integer, Number, Parameter
from isonomia.typing import Floats

COLUMNS = (
    Column("effect_size", format="num4", title=msg("Effect size")),
    Column("metric", format="text", title=msg("Metric")),
    Column("approach", format="text", title=msg("Approach")),
    Column("loss", format="num4", title=msg("Average loss")),
    Column("loss_rest", format="num4", title=msg("Average loss of the rest")),
)
#: A cut of the tree, with the effect size and the size of the node it leads to.
PathStep = tuple[Step, float, float]
PATH_COLUMNS = (
    Column("case", format="int", title=msg("Slice, counted from 0")),
    Column("order", format="int", title=msg("Step")),
    Column("feature", title=msg("Feature")),
    Column(
        "operator",
        title=msg("Comparison"),
        names={"in": msg("in"), "is missing": msg("is missing"), "is not missing": msg("is not missing")},
    ),
    Column("threshold", title=msg("With")),
    Column("val_diff_outcome", format="num4", title=msg("Effect size")),
    Column("size", format="int", title=msg("Rows")),
)
APPROACHES = ("both", "lattice", "decision_tree")


@dataclass(frozen=True, eq=False)
class Effects:
    """Slices against the rest: sizes, average losses, effect sizes, one-sided p-values of Welch's test."""

    size: Floats
    mean: Floats
    mean_rest: Floats
    effect: Floats
    p_value: Floats

    def row(self, index: int) -> dict[str, float]:
        """The method's own columns of one slice."""
        return {
            "effect_size": float(self.effect[index]),
            "loss": float(self.mean[index]),
            "loss_rest": float(self.mean_rest[index]),
        }


class _Loss:
    """The loss of every row, and what its sums over a slice say."""

    def __init__(self, problem: Problem, loss: Quantity, formula: str) -> None:
        self.problem, self.quantity, self.formula = problem, loss, formula
        weights = problem.weights
        self.mean = float(loss.values.mean() if weights is None else loss.values @ weights / weights.sum())
        #: Measured from the mean, so that squares lose no digits.
        self.centred = loss.values - self.mean
        parts = [np.ones(problem.n), self.centred, self.centred**2]
        self.totals = np.array([part.sum() if weights is None else part @ weights for part in parts])
        self.shrink = 1.0 if weights is None else problem.n / float(weights @ weights)

    def effects(self, sums: Floats) -> Effects:
        """From (weight, centred loss, its square) summed over each slice."""
        mine, rest = sums, self.totals - sums
        with np.errstate(divide="ignore", invalid="ignore"):
            (n1, mean1, var1), (n2, mean2, var2) = self._moments(mine), self._moments(rest)
            if self.formula == "paper":
                effect = np.sqrt(2) * (mean1 - mean2) / np.sqrt(var1 + var2)
            else:
                effect = (mean1 - mean2) / np.sqrt((np.sqrt(var1) + np.sqrt(var2)) / 2)
            enough = (n1 >= 2) & (n2 >= 2)
            scale1, scale2 = n1 / (n1 - 1), n2 / (n2 - 1)  # Welch wants n - 1; effect sizes are reported without it
            p = welch_upper(mean1, var1 * scale1, n1, mean2, var2 * scale2, n2)
        return Effects(
            size=sums[:, 0],
            mean=mean1 + self.mean,
            mean_rest=mean2 + self.mean,
            effect=np.where(enough & np.isfinite(effect), effect, np.nan),
            p_value=np.where(enough, p, np.nan),
        )

    def _moments(self, sums: Floats) -> tuple[Floats, Floats, Floats]:
        mean = sums[:, 1] / sums[:, 0]
        return sums[:, 0] * self.shrink, mean, np.maximum(sums[:, 2] / sums[:, 0] - mean**2, 0.0)


def run(problem: Problem) -> Search:
    """The lattice of conjunctions, the decision tree, or both."""
    options = problem.options
    surprised = problem.probability is not None and problem.truth is not None and problem.errors is None
    metric = metrics_of(problem, ("log_loss" if surprised else "error",))
    if len(metric) != 1:
        raise SpecError(f"SliceFinder searches by one metric at a time; got {len(metric)} metrics.")
    loss = quantity(problem, metric[0]).beyond()
    if loss.defined is not None:
        problem, loss = problem.take(np.flatnonzero(loss.defined)), loss.take(np.flatnonzero(loss.defined))
    measured = _Loss(problem, loss, options["effect"])
    searches = []
    if options["approach"] in ("both", "lattice"):
        searches.append(_search_lattice(problem, measured))
    if options["approach"] in ("both", "decision_tree"):
        searches.append(_search_tree(problem, measured))
    found = [item for search in searches for item in search.subgroups]
    looked_at = np.concatenate([search.values["p_values"] for search in searches])
    adjusted = benjamini_hochberg_among([item.p_value or 0.0 for item in found], looked_at)
    return Search(
        tuple(replace(item, p_adjusted=float(p)) for item, p in zip(found, adjusted, strict=True)),
        loss.measure,
        tested=sum(search.tested for search in searches),
        nodes=sum(search.nodes for search in searches),
        complete=all(search.complete for search in searches),
        style=loss.style,
        columns=COLUMNS,
    )


def _search_lattice(problem: Problem, loss: _Loss) -> Search:
    """Level by level: slices with a large effect are tested, large ones first; the others have children."""
    options = problem.options
    lattice = Lattice(
        problem.features,
        {"loss": loss.centred, "square": loss.centred**2},
        min_size=max(2.0, problem.min_rows),
        weights=problem.weights,
        budget=problem.max_memory,
        clock=problem.clock,
    )
    investing = AlphaInvesting(options["alpha"], policy=options["policy"])
    found: list[Subgroup] = []
    taken: list[NDArray[np.bool_]] = []
    p_values: list[Floats] = []
    chosen = np.empty(0, dtype=np.int64)  # slices of the current level that were reported: they have no children

    def has_children(level: Level) -> NDArray[np.bool_]:
        return ~np.isin(np.arange(len(level)), chosen)

    longest = problem.max_l if options["degree"] is None else min(options["degree"], len(problem.features))
    for level in lattice.walk(longest, keep=has_children):
        effects = loss.effects(level.sums)
        p_values.append(effects.p_value)
        chosen = np.empty(0, dtype=np.int64)
        large = np.flatnonzero(effects.effect >= options["epsilon"])
        for index in large[np.lexsort((large, -effects.effect[large], -effects.size[large]))].tolist():
            rows = lattice.rows(level.items[index]) if options["disjoint"] else None
            if rows is not None and any(bool((rows & other).any()) for other in taken):
                continue
            if investing.test(float(effects.p_value[index])):
                named = lattice.conditions(level.items[index])
                conditions = {problem.features[f].name: (code,) for f, code in sorted(named.items())}
                found.append(_subgroup(problem, loss, conditions, effects, index, "lattice"))
                chosen = np.append(chosen, index)
                if rows is not None:
                    taken.append(rows)
                if len(found) == problem.k:
                    break
        if len(found) == problem.k:
            break
    return _part(found, p_values, lattice.counted, lattice.looked_at, lattice.complete)


def _search_tree(problem: Problem, loss: _Loss) -> Search:
    """The nodes of a small regression tree on the loss, level by level; below a reported node nothing is reported."""
    options = problem.options
    investing = AlphaInvesting(options["alpha"], policy=options["policy"])
    found: list[Subgroup] = []
    p_values: list[Floats] = []
    closed: set[int] = set()
    paths: dict[int, tuple[PathStep, ...]] = {}
    tested = 0
    weights = problem.weights
    parts = [np.ones(problem.n), loss.centred, loss.centred**2]
    columns = parts if weights is None else [part * weights for part in parts]
    for nodes in tree_levels(problem, loss.quantity.values, options["dt_max_depth"], options["min_size"]):
        tested += len(nodes)
        masks = [Subgroup(node.conditions).mask(problem.by_name) for node in nodes]
        sums = np.array([[column[rows].sum() for column in columns] for rows in masks])
        effects = loss.effects(sums)
        p_values.append(effects.p_value)
        for node, effect, size in zip(nodes, effects.effect.tolist(), effects.size.tolist(), strict=True):
            paths[node.number] = (*paths.get(node.parent, ()), (node.step, effect, size))
        for index in np.lexsort((-effects.effect, -effects.size)).tolist():
            node = nodes[index]
            if node.parent in closed:
                closed.add(node.number)
                continue
            large = effects.effect[index] >= options["min_effect_size"] and len(found) < problem.k
            if large and investing.test(float(effects.p_value[index])):
                closed.add(node.number)
                slice_ = _subgroup(problem, loss, node.conditions, effects, index, "decision_tree")
                found.append(replace(slice_, stats={**slice_.stats, "_path": paths[node.number]}))
        if problem.clock.over:
            return _part(found, p_values, tested, tested, complete=False)
    return _part(found, p_values, tested, tested, complete=True)


def _part(found: list[Subgroup], p_values: list[Floats], tested: int, nodes: int, complete: bool) -> Search:
    looked_at = np.concatenate(p_values) if p_values else np.empty(0)
    return Search(
        subgroups=tuple(found),
        measure=msg("mean error"),
        tested=tested,
        nodes=nodes,
        complete=complete,
        values={"p_values": looked_at},
    )


def _subgroup(problem: Problem, loss: _Loss, conditions: Any, effects: Effects, index: int, approach: str) -> Subgroup:
    subgroup = Subgroup(conditions)
    inside = subgroup.mask(problem.by_name)
    p = float(effects.p_value[index])
    return replace(
        subgroup,
        stats={**effects.row(index), "metric": loss.quantity.id, "approach": approach},
        estimate=average(loss.quantity.values[inside], problem.mass.take(inside), binary=loss.quantity.binary),
        overall=loss.mean,
        p_value=None if np.isnan(p) else p,
    )


def describe(problem: Problem, search: Search) -> Search:
    """The steps of each path of the tree, in their order: one row per cut, with the effect size of the node below."""
    rows = [
        {
            "case": case,
            "order": order,
            "feature": step.feature,
            "operator": step.operator,
            "threshold": number(step.threshold) if isinstance(step.threshold, float) else step.threshold,
            "val_diff_outcome": None if np.isnan(effect) else effect,
            "size": size,
        }
        for case, item in enumerate(search.subgroups)
        for order, (step, effect, size) in enumerate(item.stats.get("_path", ()), start=1)
    ]
    if not rows:
        return search
    title = msg("How the tree leads to each slice, cut by cut")
    return replace(search, tables={**search.tables, "paths": Table.from_rows(rows, PATH_COLUMNS, title=title)})


def measure(problem: Problem, subgroup: Subgroup) -> Subgroup:
    """A slice measured on other rows."""
    examined = quantity(problem, str(subgroup.stats["metric"])).beyond()
    if examined.defined is not None:
        rows = np.flatnonzero(examined.defined)
        problem, examined = problem.take(rows), examined.take(rows)
    loss = _Loss(problem, examined, problem.options["effect"])
    inside = subgroup.mask(problem.by_name)
    weight = np.ones(problem.n) if problem.weights is None else problem.weights
    parts = [weight, loss.centred * weight, loss.centred**2 * weight]
    effects = loss.effects(np.array([[part[inside].sum() for part in parts]]))
    return _subgroup(problem, loss, subgroup.conditions, effects, 0, str(subgroup.stats["approach"]))


METHODS.add(
    Method(
        id="slicefinder",
        purpose="large slices with a higher loss than the rest, in few conditions, tested as they are found",
        needs=("errors",),
        run=run,
        parameters=(
            Parameter(
                "approach", Choice(APPROACHES), "both", "slices of a lattice may overlap, those of a tree do not"
            ),
            Parameter("epsilon", Number(at_least=0), 0.3, "smallest effect size of a slice of the lattice"),
            Parameter("degree", Integer(1).or_none("for `max_l`"), None, "conditions a slice of the lattice may have"),
            Parameter("effect", Choice(("paper", "code")), "paper", "effect size after the paper or its released code"),
            Parameter("alpha", ALPHA, 0.05, "what alpha-investing starts with"),
            Parameter(
                "policy", Choice(("spend", "bff")), "spend", "how alpha-investing stakes (bff: best foot forward)"
            ),
            Parameter("disjoint", Boolean(), False, "whether slices of the lattice must not share rows"),
            Parameter("dt_max_depth", Integer(1), 3, "depth of the tree"),
            Parameter("min_size", Integer(1), 100, "minimum number of rows in a node of the tree"),
            Parameter("min_effect_size", Number(at_least=0), 0.3, "smallest effect size of a node of the tree"),
        ),
        defaults={"min_support": lambda n: min(n, max(30, n // 1000))},
        measure=measure,
        describe=describe,
        nested=True,
        reference="Y. Chung, T. Kraska, N. Polyzotis, K. H. Tae, S. E. Whang (2020), Automated data slicing for model "
        "validation, IEEE TKDE 32:2284, doi 10.1109/TKDE.2019.2916074",
    )
)
