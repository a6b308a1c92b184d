"""A causal graph as the user draws it, and the mechanisms fitted along its arrows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.counting import Codes
from isonomia.data import Dataset, kind_of, numbers
from isonomia.errors import DataError, SpecError, close_to
from isonomia.models.call_threads import one_thread
from isonomia.parameters import Choice
from isonomia.typing import Floats

Mechanism = Literal["linear", "boosting"]
MECHANISMS: tuple[Mechanism, ...] = get_args(Mechanism)


@dataclass(frozen=True)
class CausalGraph:
    """Arrows from causes to effects, without a cycle.

    >>> graph = CausalGraph.of(["race -> LSAT", "race -> UGPA", "UGPA -> LSAT"], ["race", "UGPA", "LSAT"])
    >>> graph.order, graph.parents("LSAT"), sorted(graph.descendants(["race"]))
    (('race', 'UGPA', 'LSAT'), ('race', 'UGPA'), ['LSAT', 'UGPA'])
    """

    edges: tuple[tuple[str, str], ...]
    order: tuple[str, ...]

    @classmethod
    def of(cls, given: Any, columns: Sequence[str]) -> CausalGraph:
        """Read ``[("a", "b"), ...]``, ``["a -> b", ...]`` or ``{"a": ["b", ...]}``; every name must be a column."""
        if isinstance(given, CausalGraph):
            return given
        edges = tuple(dict.fromkeys(_edges(given)))
        if not edges:
            raise SpecError("`graph` must have at least one arrow, such as ('sex', 'income').")
        for name in dict.fromkeys(end for edge in edges for end in edge):
            if name not in columns:
                raise SpecError(f"`graph` must name columns of the data; got {name!r}.{close_to(name, columns)}")
        return cls(edges, _ordered(edges))

    def parents(self, node: str) -> tuple[str, ...]:
        """The direct causes of a column."""
        return tuple(dict.fromkeys(cause for cause, effect in self.edges if effect == node))

    def descendants(self, nodes: Iterable[str]) -> frozenset[str]:
        """Everything that these columns cause, directly or not, themselves apart."""
        return self._reach(nodes, {cause: [b for a, b in self.edges if a == cause] for cause, _ in self.edges})

    def ancestors(self, nodes: Iterable[str]) -> frozenset[str]:
        """Everything that causes these columns, themselves apart."""
        return self._reach(nodes, {effect: [a for a, b in self.edges if b == effect] for _, effect in self.edges})

    @staticmethod
    def _reach(nodes: Iterable[str], steps: Mapping[str, Sequence[str]]) -> frozenset[str]:
        start = set(nodes)
        found: set[str] = set()
        front = set(start)
        while front:
            front = {step for node in front for step in steps.get(node, ())} - found
            found |= front
        return frozenset(found - start)


def _edges(given: Any) -> Iterable[tuple[str, str]]:
    if isinstance(given, Mapping):
        items: list[Any] = [
            (cause, effect)
            for cause, effects in given.items()
            for effect in ([effects] if isinstance(effects, str) else effects)
        ]
    elif isinstance(given, Sequence) and not isinstance(given, str):
        items = list(given)
    else:
        raise SpecError(f"`graph` must be a list of arrows such as ('sex', 'income'); got {given!r}.")
    for item in items:
        parts = [part.strip() for part in item.split("->")] if isinstance(item, str) else list(item)
        if len(parts) != 2 or not all(isinstance(part, str) and part for part in parts):
            raise SpecError(f"An arrow of `graph` is two columns, such as ('sex', 'income'); got {item!r}.")
        yield parts[0], parts[1]


def _ordered(edges: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Causes before effects; a cycle is an error that names it."""
    nodes = list(dict.fromkeys(end for edge in edges for end in edge))
    left = {node: {a for a, b in edges if b == node} for node in nodes}
    order: list[str] = []
    while left:
        free = [node for node in nodes if node in left and not left[node]]
        if not free:
            walk = [next(iter(left))]
            while walk[-1] not in walk[:-1]:
                walk.append(sorted(left[walk[-1]])[0])
            cycle = walk[walk.index(walk[-1]) :][::-1]
            raise SpecError(f"`graph` has a cycle: {' -> '.join(cycle)}. Nothing can be its own cause; drop an arrow.")
        for node in free:
            del left[node]
            for causes in left.values():
                causes.discard(node)
        order += free
    return tuple(order)


@dataclass(frozen=True, eq=False)
class Node:
    """A column in the graph: numbers, or codes of categories."""

    name: str
    values: Floats
    labels: tuple[Any, ...] = ()

    @classmethod
    def of(cls, data: Dataset, name: str, *, as_category: bool) -> Node:
        column = data.column(name)
        if as_category or kind_of(column) in ("category", "boolean", "datetime") or column.dtype == nw.Duration:
            codes = Codes.encode(column, name=name)
            return cls(name, codes.codes.astype(float), codes.labels)
        values = numbers(column)
        if not np.isfinite(values).any():
            raise DataError(f"'{name}' of the causal graph has no finite number; drop its arrows.")
        return cls(name, values)

    def design(self, values: Floats) -> Floats:
        """Its values as columns a mechanism reads: one a category (the first apart), or the number."""
        if self.labels:
            return np.asarray((values[:, None] == np.arange(1, len(self.labels))[None, :]).astype(float))
        return np.where(np.isfinite(values), values, np.nanmean(self.values))[:, None]


class Mechanisms:
    """How each column comes about from its causes, fitted to the data.

    A number is f(causes) + residual: f is linear (least squares) or gradient boosted trees. A category is drawn with
    the probabilities that a logistic regression, or boosted trees, give it. `answer` follows Pearl's three steps:
    abduction (each row's residual is what its own value leaves unexplained), action (the attribute is set), prediction
    (effects are computed anew in causal order, residuals kept). A category keeps its value as far as the changed
    probabilities allow (maximal coupling), with the same random number for each row in every question.
    """

    def __init__(
        self,
        data: Dataset,
        graph: CausalGraph,
        needed: Iterable[str],
        *,
        mechanism: Mechanism,
        seed: int,
        categories: Iterable[str] = (),
    ) -> None:
        Choice(MECHANISMS).check("mechanism", mechanism)
        self.graph, self.kind, self.seed = graph, mechanism, seed
        self.effects = tuple(node for node in graph.order if node in set(needed))
        names = dict.fromkeys([*self.effects, *(p for node in self.effects for p in graph.parents(node))])
        marked = set(categories)
        self.nodes = {name: Node.of(data, name, as_category=name in marked) for name in names}
        self.fitted: dict[str, Any] = {}
        self.before: dict[str, Floats] = {}
        for name in self.effects:
            X = self._causes(name, {})
            with one_thread("openmp"):
                self.fitted[name] = self._fit(self.nodes[name], X)
                self.before[name] = self._predicted(name, X)

    def _causes(self, name: str, changed: Mapping[str, Floats]) -> Floats:
        parts = [self.nodes[p].design(changed.get(p, self.nodes[p].values)) for p in self.graph.parents(name)]
        return np.hstack(parts)

    def _fit(self, node: Node, X: Floats) -> Any:
        known = np.isfinite(node.values)
        if node.labels:
            from sklearn.ensemble import HistGradientBoostingClassifier
            from sklearn.linear_model import LogisticRegression

            classifier = (
                LogisticRegression(max_iter=1000)
                if self.kind == "linear"
                else HistGradientBoostingClassifier(max_iter=100, early_stopping=False, random_state=self.seed)
            )
            return classifier.fit(X[known], node.values[known].astype(int)) if len(node.labels) > 1 else None
        if self.kind == "boosting":
            from sklearn.ensemble import HistGradientBoostingRegressor

            trees = HistGradientBoostingRegressor(
                max_iter=100, min_samples_leaf=50, early_stopping=False, random_state=self.seed
            )
            return trees.fit(X[known], node.values[known])
        ones = np.column_stack([np.ones(known.sum()), X[known]])
        return np.linalg.lstsq(ones, node.values[known], rcond=None)[0]

    def _predicted(self, name: str, X: Floats) -> Floats:
        """The mean of a number, or the probabilities of a category, given its causes."""
        model, node = self.fitted[name], self.nodes[name]
        if node.labels:
            if model is None:
                return np.ones((len(X), 1))
            table = np.zeros((len(X), len(node.labels)))
            table[:, model.classes_] = model.predict_proba(X)
            return table
        return np.asarray(model.predict(X) if self.kind == "boosting" else model[0] + X @ model[1:])

    def answer(self, action: Mapping[str, Floats]) -> dict[str, Floats]:
        """The effects as they would have been, given what the acted columns are set to (codes or numbers)."""
        changed = dict(action)
        reached = self.graph.descendants(action)
        for name in self.effects:
            if name in action or name not in reached:
                continue
            node, after = self.nodes[name], self._predicted(name, self._causes(name, changed))
            if node.labels:
                changed[name] = self._coupled(node, self.before[name], after)
            else:
                changed[name] = node.values + (after - self.before[name])
        return {name: values for name, values in changed.items() if name not in action}

    def _coupled(self, node: Node, before: Floats, after: Floats) -> Floats:
        rng = np.random.default_rng([self.seed, *node.name.encode()])
        u, v = rng.random(len(before)), rng.random(len(before))
        code = node.values.astype(np.intp)
        own = np.arange(len(before))
        with np.errstate(divide="ignore", invalid="ignore"):
            keep = np.minimum(1.0, after[own, code] / before[own, code])
        gain = np.maximum(after - before, 0.0)
        total = gain.sum(axis=1, keepdims=True)
        step = np.cumsum(np.divide(gain, total, out=np.zeros_like(gain), where=total > 0), axis=1)
        moved = np.minimum((v[:, None] >= step).sum(axis=1), len(node.labels) - 1)
        return np.where((u <= keep) | (total[:, 0] <= 0), code, moved).astype(float)
