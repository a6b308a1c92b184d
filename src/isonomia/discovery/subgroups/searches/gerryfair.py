"""GerryFair's auditor: the group cut out by a linear threshold on protected attributes that is treated most unequally.

The violation of a group g is its share of all people times how far its rate departs from everyone's. With v the value a
row has (1 for a favourable decision), m the average over the rows where it is defined and n all rows, that is
\\|sum over g of (v - m)\\| / n: a sum of costs over rows. The auditor fits the costs by a linear function of the
protected attributes (a cost-sensitive oracle by regression, by least squares and by logistic regression) and, beyond
the reference, takes the best threshold along each of these directions instead of 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, sum_by
from isonomia.discovery.method import METHODS, Method
from isonomia.discovery.subgroups._testing import average
from isonomia.discovery.subgroups.conditions import condition_text
from isonomia.discovery.subgroups.method import Search, Subgroup
from isonomia.discovery.subgroups.problem import Problem
from isonomia.discovery.subgroups.rates import Quantity, metrics_of, quantity
from isonomia.errors import DataError
from isonomia.evidence import Column, two_proportions
from isonomia.languages import Message, msg
from isonomia.parameters import Integer, Number, Parameter
from isonomia.typing import Bools, Floats

COLUMNS = (
    Column("metric", format="text", title=msg("Metric")),
    Column("violation", format="num4", title=msg("Violation")),
    Column("direction", format="text", title=msg("Direction")),
    Column("rate", format="num4", title=msg("Rate")),
    Column("base_rate", format="num4", title=msg("Rate of everyone")),
    Column("rule", format="text", title=msg("Rule")),
)
#: Maximum number of classes audited one by one by default.
_MAX_CLASSES = 12
_IRLS = 12
_RIDGE = 1e-6


class Rule(NamedTuple):
    """A group: rows whose weighted sum of attributes exceeds the threshold."""

    weights: Floats
    threshold: float

    def holds(self, design: Floats) -> Bools:
        """Which rows are in it."""
        return np.asarray(design @ self.weights > self.threshold, dtype=bool)


@dataclass(frozen=True, eq=False)
class _Design:
    """Protected attributes as numbers: one column per category (the most frequent left out), one for binned numbers."""

    cells: NDArray[np.int64]
    table: Floats
    names: tuple[str, ...]
    units: tuple[tuple[float, float], ...]  # where 0 and how long 1 is, in original units
    columns: tuple[str, ...]

    @classmethod
    def of(cls, columns: list[Codes]) -> _Design:
        wide = np.zeros(len(columns[0]), dtype=np.int64)
        for column in columns:
            wide = wide * column.size + column.codes
            _, wide = np.unique(wide, return_inverse=True)
        _, first = np.unique(wide, return_index=True)
        parts: list[Floats] = []
        names: list[str] = []
        units: list[tuple[float, float]] = []
        for column in columns:
            codes = column.codes[first].astype(np.int64)
            for values, name in _as_numbers(column):
                parts.append(values[codes])
                names.append(name)
                whole = column.edges is not None and name == column.name
                units.append(
                    (column.edges[0], column.edges[-1] - column.edges[0]) if whole and column.edges else (0.0, 1.0)
                )
        table = np.column_stack(parts) if parts else np.zeros((len(first), 0))
        return cls(wide.astype(np.int64), table, tuple(names), tuple(units), tuple(column.name for column in columns))

    def members(self, rule: Rule) -> Callable[[Mapping[str, Codes]], Bools]:
        """Who is in the rule's group, for rows of any data with the same attributes."""
        names = self.columns

        def inside(features: Mapping[str, Codes]) -> Bools:
            design = _Design.of([features[name] for name in names])
            return rule.holds(design.table)[design.cells]

        return inside


def _as_numbers(column: Codes) -> list[tuple[Floats, str]]:
    """For each code, the numbers that stand for it."""
    out: list[tuple[Floats, str]] = []
    if column.edges is not None:
        edges = np.array(column.edges)
        reach = (edges[-1] - edges[0]) or 1.0
        middle = np.array([0.5 if label is None else (edges[label] + edges[label + 1]) / 2 for label in column.labels])
        known = np.array([label is not None for label in column.labels])
        out.append((np.where(known, (middle - edges[0]) / reach, 0.5), column.name))
        if column.missing is None:
            return out
        return [*out, (~known * 1.0, condition_text(column, (column.missing,)))]
    for code in range(1, column.size):
        out.append(((np.arange(column.size) == code).astype(float), condition_text(column, (code,))))
    return out


def _directions(table: Floats, costs: Floats, rows: Floats) -> list[Floats]:
    """Linear functions that fit the costs: least squares, and logistic regression of their signs."""
    full = np.column_stack([np.ones(len(table)), table])
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(rows > 0, costs / rows, 0.0)
    root = np.sqrt(rows)[:, None]
    square, *_ = np.linalg.lstsq(full * root, mean * root[:, 0], rcond=None)
    out = [square[1:]]
    label, weight = (costs > 0).astype(float), np.abs(costs)
    if weight.sum() > 0:
        weight = weight / weight.sum() * len(weight)
        beta = np.zeros(full.shape[1])
        for _ in range(_IRLS):
            p = 1 / (1 + np.exp(-np.clip(full @ beta, -30, 30)))
            curve = np.maximum(weight * p * (1 - p), 1e-9)
            step = np.linalg.solve(
                full.T @ (full * curve[:, None]) + _RIDGE * np.eye(len(beta)), full.T @ (weight * (label - p))
            )
            beta = beta + step
            if np.abs(step).max() < 1e-6 or not np.isfinite(beta).all() or np.abs(beta).max() > 30:
                break
        if np.isfinite(beta).all():
            out.append(beta[1:])
    return out


def _best_rule(table: Floats, costs: Floats, rows: Floats) -> tuple[float, Rule]:
    """The best threshold along each direction: the largest sum of costs of the rows above it."""
    best, rule = 0.0, Rule(np.zeros(table.shape[1]), np.inf)
    for weights in _directions(table, costs, rows):
        position = table @ weights
        order = np.argsort(-position, kind="stable")
        sums = np.cumsum(costs[order])
        gap = position[order][:-1] - position[order][1:]
        cuts = np.flatnonzero(gap > 1e-12 * (1 + np.abs(position).max(initial=0.0)))
        if not cuts.size:
            continue
        index = int(cuts[np.argmax(sums[cuts])])
        if sums[index] > best + 1e-15:
            middle = float((position[order][index] + position[order][index + 1]) / 2)
            best, rule = float(sums[index]), Rule(weights, middle)
    return best, rule


class _Auditor:
    """Costs of one quantity by cell, and the worst group in either direction."""

    def __init__(self, problem: Problem, examined: Quantity, design: _Design) -> None:
        self.problem, self.quantity, self.design = problem, examined, design
        weights = np.ones(problem.n) if problem.weights is None else problem.weights
        self.defined = np.ones(problem.n, dtype=bool) if examined.defined is None else examined.defined
        self.weights = weights * self.defined
        self.total = float(self.weights.sum())
        self.rows = self._by_cell(self.weights)
        self.base = float(self.weights @ examined.values / self.total) if self.total > 0 else None

    def _by_cell(self, values: Floats) -> Floats:
        return sum_by(self.design.cells, values, len(self.design.table))

    def costs(self, values: Floats) -> Floats:
        """(v - m) / n summed by cell."""
        mean = float(self.weights @ values / self.total)
        return self._by_cell(self.weights * (values - mean)) / self.problem.n

    def worst(self, values: Floats, direction: str) -> tuple[float, Rule]:
        costs = self.costs(values)
        return _best_rule(self.design.table, costs if direction == "high" else -costs, self.rows)

    def null(self, replicates: int, rng: np.random.Generator) -> Floats:
        """The largest violations, in either direction, when decisions are dealt out at random."""
        indices = np.flatnonzero(self.defined)
        values = self.quantity.values.copy()
        out = []
        for _ in range(replicates):
            if self.problem.clock.over:
                break
            values[indices] = self.quantity.values[rng.permutation(indices)]
            out.append(max(self.worst(values, direction)[0] for direction in ("high", "low")))
        return np.array(out)


def run(problem: Problem) -> Search:
    """Audit each rate: the group with the highest and the one with the lowest, by size times gap."""
    gamma, replicates = problem.options["gamma"], problem.options["n_randomisations"]
    columns = [column for column in problem.features if column.name in problem.protected]
    if not columns:
        raise DataError(
            "GerryFair audits protected attributes, but none of them is among the features. Name some with protected=."
        )
    design = _Design.of(columns)
    names = metrics_of(problem, _default_metrics(problem))
    found: list[Subgroup] = []
    complete = True
    for name in names:
        examined = quantity(problem, name).beyond()
        auditor = _Auditor(problem, examined, design)
        if auditor.base is None:
            continue
        null = auditor.null(int(replicates), np.random.default_rng(problem.seed))
        complete &= len(null) == replicates
        for direction in ("high", "low"):
            violation, rule = auditor.worst(examined.values, direction)
            if violation <= gamma or not violation > 1e-12:
                continue
            subgroup = _measured(problem, examined, design, rule, direction)
            p = (1 + (null >= violation - 1e-12).sum()) / (1 + len(null)) if len(null) else None
            found.append(replace(subgroup, p_adjusted=None if p is None else min(1.0, float(p) * len(names))))
    found.sort(key=lambda item: -item.stats["violation"])
    return Search(
        tuple(found[: problem.k]),
        msg("rate of a group defined by a linear threshold"),
        tested=4 * len(names) * len(design.table),
        nodes=4 * len(names) * len(design.table),
        complete=complete,
        columns=COLUMNS,
        notes=(
            msg("A violation is the share of people in the group times the gap between its rate and the overall rate."),
        ),
        values={"gamma": float(gamma), "largest_violation": max((i.stats["violation"] for i in found), default=0.0)},
    )


def _default_metrics(problem: Problem) -> tuple[str, ...]:
    """Statistical parity, and false positives where they are known; of each class in turn; of predicted numbers."""
    if problem.task is None:
        return ("error",)
    if problem.task == "regression":
        return ("target",) if problem.label is None else ("prediction",)
    rate = "base_rate" if problem.label is None else "selection_rate"
    if problem.task == "multiclass":
        return tuple(f"{rate}:{name}" for name in problem.classes[:_MAX_CLASSES])
    if problem.label is None:
        return (rate,)
    return ("selection_rate",) if problem.truth is None else ("selection_rate", "fpr")


def _measured(problem: Problem, examined: Quantity, design: _Design, rule: Rule, direction: str) -> Subgroup:
    inside = rule.holds(design.table)[design.cells]
    auditor = _Auditor(problem, examined, design)
    mine = inside & auditor.defined
    estimate = average(examined.values[mine], problem.mass.take(mine), binary=examined.binary)
    text = _text(design, rule)
    base = auditor.base
    total = float(auditor.weights[inside].sum())
    gap = None if estimate.value is None or base is None else estimate.value - base
    signed = 0.0 if gap is None else gap * total / problem.n
    stats: dict[str, Any] = {
        "metric": examined.id,
        "violation": signed if direction == "high" else -signed,
        "direction": direction,
        "rate": estimate.value,
        "base_rate": base,
        "rule": text,
        "_rule": rule,
    }
    return Subgroup(
        {},
        stats,
        estimate=estimate,
        overall=base,
        p_value=_against_the_rest(examined, auditor, inside) if problem.weights is None else None,
        text=text,
        member=design.members(rule),
        message=_sentence(examined, text, estimate.value, base, int(inside.sum())),
    )


def _against_the_rest(examined: Quantity, auditor: _Auditor, inside: Bools) -> float | None:
    """The two-sided test of the group's rate against the rest's, as if the group had been named beforehand."""
    if not examined.binary:
        return None
    mine, others = inside & auditor.defined, ~inside & auditor.defined
    if not mine.any() or not others.any():
        return None
    counts = [float(examined.values[rows].sum()) for rows in (mine, others)]
    return float(two_proportions(counts[0], int(mine.sum()), counts[1], int(others.sum())))


def _sentence(examined: Quantity, text: str, value: float | None, base: float | None, n: int) -> Message | None:
    if value is None or base is None:
        return None
    return msg(
        "{measure}: {value:pct} in the group {rule}, {base:pct} overall ({n:# row|# rows}).",
        measure=examined.measure,
        value=value,
        rule=text,
        base=base,
        n=n,
    )


def _text(design: _Design, rule: Rule) -> str:
    """The rule as a person reads it: numbers in their own units, the largest effect scaled to 1."""
    scale = float(np.abs(rule.weights).max(initial=0.0)) or 1.0
    parts: list[str] = []
    threshold = rule.threshold / scale
    for weight, name, (low, reach) in zip(rule.weights / scale, design.names, design.units, strict=True):
        threshold += weight * low / reach
        if abs(weight) < 5e-3:
            continue
        sign = "-" if weight < 0 else "+" if parts else ""
        parts.append(f"{sign} {abs(weight) / reach:.2g} [{name}]".strip())
    return f"{' '.join(parts)} > {threshold:.3g}"


def measure(problem: Problem, subgroup: Subgroup) -> Subgroup:
    """A group measured on other rows."""
    columns = [column for column in problem.features if column.name in problem.protected]
    examined = quantity(problem, str(subgroup.stats["metric"])).beyond()
    return _measured(problem, examined, _Design.of(columns), subgroup.stats["_rule"], subgroup.stats["direction"])


METHODS.add(
    Method(
        id="gerryfair",
        purpose="the group cut out by a linear threshold on protected attributes that is treated most unequally",
        needs=("protected",),
        run=run,
        parameters=(
            Parameter("gamma", Number(at_least=0, below=1), 0.0, "violations up to this are left out"),
            Parameter(
                "n_randomisations",
                Integer(0),
                99,
                "audits of decisions dealt out at random, for the p-value; 0 for none",
            ),
        ),
        measure=measure,
        reference="M. Kearns, S. Neel, A. Roth, Z. S. Wu (2018), Preventing fairness gerrymandering, ICML",
    )
)
