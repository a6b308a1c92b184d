"""Slices from a small regression tree on the loss, as sets of codes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, count_by, sum_by
from isonomia.discovery.subgroups.problem import Problem
from isonomia.languages.naming import among

Operator = Literal["<", "≥", "in", "is missing", "is not missing"]


class Step(NamedTuple):
    """One cut on the way to a node: the feature, the comparison, with what, and the codes left of that feature."""

    feature: str
    operator: Operator
    threshold: float | str
    codes: tuple[int, ...]


@dataclass(frozen=True)
class TreeSlice:
    """A node: its number, its parent's, the codes each feature may have in it, and the cut that led to it."""

    number: int
    parent: int
    conditions: dict[str, tuple[int, ...]]
    step: Step


def tree_levels(
    problem: Problem, loss: NDArray[np.float64], max_depth: int, min_size: int
) -> Iterator[list[TreeSlice]]:
    """The nodes of the tree below its root, level by level.

    A tree splits numbers; bins and numeric values are taken in their order, other values in the order of their
    average loss, for which the best cut of an order is the best split into two sets (Breiman et al. 1984).
    """
    from sklearn.tree import DecisionTreeRegressor

    orders = [_order(column, loss) for column in problem.features]
    matrix = np.empty((problem.n, len(orders)), dtype=np.float32)
    for index, (column, order) in enumerate(zip(problem.features, orders, strict=True)):
        rank = np.empty(column.size, dtype=np.float32)
        rank[order] = np.arange(column.size)
        matrix[:, index] = rank[column.codes]
    smallest = max(1, min(int(min_size), problem.n))
    model = DecisionTreeRegressor(max_depth=int(max_depth), min_samples_leaf=smallest, random_state=problem.seed)
    tree: Any = model.fit(matrix, loss, sample_weight=problem.weights).tree_
    allowed: dict[int, dict[int, tuple[int, int]]] = {0: {}}  # node -> feature -> range of ranks
    level = [0]
    while level:
        below: list[TreeSlice] = []
        for node in level:
            feature = int(tree.feature[node])
            if feature < 0:
                continue
            cut = int(np.floor(tree.threshold[node])) + 1
            low, high = allowed[node].get(feature, (0, problem.features[feature].size))
            for child, span in ((tree.children_left[node], (low, cut)), (tree.children_right[node], (cut, high))):
                allowed[int(child)] = {**allowed[node], feature: span}
                conditions = _conditions(problem, orders, allowed[int(child)])
                column = problem.features[feature]
                step = _step(column, conditions[column.name], cut, below=child == tree.children_left[node])
                below.append(TreeSlice(number=int(child), parent=node, conditions=conditions, step=step))
        if below:
            yield below
        level = [item.number for item in below]


def _step(column: Codes, codes: tuple[int, ...], cut: int, *, below: bool) -> Step:
    """The cut of a feature, as a comparison with a number where its values are in order, else with a set of them."""
    if not _ordered(column):
        return Step(column.name, "in", among(column.text(code) for code in codes), codes)
    if column.missing is not None and cut >= column.missing:
        return Step(column.name, "is not missing" if below else "is missing", "", codes)
    threshold = column.edges[cut] if column.edges is not None else column.labels[cut]
    return Step(column.name, "<" if below else "≥", float(threshold), codes)


def _conditions(problem: Problem, orders: list[NDArray[np.int64]], spans: dict[int, tuple[int, int]]) -> Any:
    return {
        problem.features[feature].name: tuple(sorted(orders[feature][low:high].tolist()))
        for feature, (low, high) in sorted(spans.items())
    }


def _order(column: Codes, loss: NDArray[np.float64]) -> NDArray[np.int64]:
    """The codes in the order a tree is to see them."""
    if _ordered(column):
        return np.arange(column.size)
    counts = count_by(column.codes, column.size)
    sums = sum_by(column.codes, loss, column.size)
    return np.argsort(sums / np.maximum(counts, 1), kind="stable")


def _ordered(column: Codes) -> bool:
    """Whether the values are numbers, or ranges of them."""
    return column.edges is not None or all(
        isinstance(label, int | float) for label in column.labels if label is not None
    )
