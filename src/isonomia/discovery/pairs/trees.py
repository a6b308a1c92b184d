"""Trees and forests read out of scikit-learn as arrays: what exact answers are worked out on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import NotApplicable
from isonomia.probing import Oracle
from isonomia.probing.features import Floats

Scale = Literal["probability", "log-odds", "prediction"]

_SINGLE = ("DecisionTreeClassifier", "ExtraTreeClassifier", "DecisionTreeRegressor", "ExtraTreeRegressor")
_FORESTS = ("RandomForestClassifier", "ExtraTreesClassifier", "RandomForestRegressor", "ExtraTreesRegressor")
_BOOSTED = ("GradientBoostingClassifier", "GradientBoostingRegressor")


@dataclass(frozen=True, eq=False)
class Ensemble:
    """A sum of trees: score(x) = base + sum of the values of the leaves x falls into.

    Nodes of all trees stand in one row of arrays; `roots` says where each tree begins. A leaf has `feature` -1.
    `low` and `high` are the least and the greatest value of a leaf below each node, `uses` says whether a protected
    column is asked about below it (or at it). A classifier decides positively where the score exceeds `cut`.
    """

    roots: NDArray[np.int64]
    feature: NDArray[np.int64]
    threshold: Floats
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    value: Floats
    low: Floats
    high: Floats
    uses: NDArray[np.bool_]
    base: float
    cut: float
    classifier: bool
    scale: Scale

    @property
    def n_leaves(self) -> int:
        """Leaves of all trees."""
        return int((self.feature < 0).sum())

    def score(self, rows: Floats) -> Floats:
        """The score of rows, by walking all trees at once."""
        node = np.tile(self.roots, (len(rows), 1))
        narrow = rows.astype(np.float32)  # what scikit-learn compares
        place = np.arange(len(rows))[:, None]
        while True:
            column = self.feature[node]
            inner = column >= 0
            if not inner.any():
                return np.asarray(self.base + self.value[node].sum(axis=1))
            below = narrow[place, np.maximum(column, 0)] <= self.threshold[node]
            node = np.where(inner, np.where(below, self.left[node], self.right[node]), node)


def count_leaves(model: Any) -> int:
    """Leaves of a tree or an ensemble of scikit-learn; 0 for anything else."""
    members = [model] if hasattr(model, "tree_") else np.ravel(getattr(model, "estimators_", []))
    return sum(int(member.tree_.n_leaves) for member in members if hasattr(member, "tree_"))


def read_trees(oracle: Oracle, protected: NDArray[np.intp]) -> Ensemble:
    """The trees of an oracle's model, or `NotApplicable` with the reason."""
    model, domain = oracle.estimator, oracle.domain
    kind = type(model).__name__
    if kind not in (*_SINGLE, *_FORESTS, *_BOOSTED):
        raise NotApplicable(
            f"exact answers are for linear models, decision trees, forests and gradient boosting of scikit-learn "
            f"on columns of numbers; the model is a {kind}"
        )
    takes = getattr(model, "feature_names_in_", None)
    if takes is not None and tuple(map(str, takes)) != domain.names:
        raise NotApplicable("the model's features are not those of the domain, or stand in another order")
    numeric = all(isinstance(level, int | float) for f in domain.features for level in f.levels)
    in_order = all(list(f.levels) == list(range(len(f.levels))) for f in domain.features if f.kind == "category")
    if not numeric or not in_order:
        raise NotApplicable("the model takes categories that are no numbers in order; exact answers need numbers")
    classifier = kind.endswith("Classifier")
    if classifier and len(model.classes_) != 2:
        raise NotApplicable("exact answers for classifiers are for two classes")
    return _ensemble(oracle, model, kind, protected)


def _ensemble(oracle: Oracle, model: Any, kind: str, protected: NDArray[np.intp]) -> Ensemble:
    classifier = kind.endswith("Classifier")
    boosted = kind in _BOOSTED
    members = [model] if kind in _SINGLE else list(np.ravel(model.estimators_))
    weight = float(model.learning_rate) if boosted else 1.0 / len(members)
    parts: list[dict[str, NDArray[Any]]] = []
    offset = 0
    for member in members:
        tree = member.tree_
        leaf = tree.children_left < 0
        value = tree.value[:, 0, :]
        numbers = value[:, 1] / value.sum(axis=1) if classifier and not boosted else value[:, 0]
        parts.append(
            {
                "feature": np.where(leaf, -1, tree.feature).astype(np.int64),
                "threshold": tree.threshold.astype(float),
                "left": np.where(leaf, np.arange(len(leaf)), tree.children_left) + offset,
                "right": np.where(leaf, np.arange(len(leaf)), tree.children_right) + offset,
                "value": np.where(leaf, weight * numbers, 0.0),
            }
        )
        offset += len(leaf)
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    sizes = np.array([len(part["feature"]) for part in parts])
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    low, high, uses = _below(joined, protected)
    scale: Scale = "prediction" if not classifier else "log-odds" if boosted else "probability"
    made = Ensemble(
        roots, **joined, low=low, high=high, uses=uses, base=0.0, cut=0.5, classifier=classifier, scale=scale
    )
    if not boosted:
        return made
    some = oracle.domain.sample(1, np.random.default_rng(0))
    frame = oracle.domain.decode(some) if hasattr(model, "feature_names_in_") else some
    raw = float(np.ravel(model.decision_function(frame) if classifier else model.predict(frame))[0])
    base = raw - float(made.score(some)[0])
    return Ensemble(**{**made.__dict__, "base": base, "cut": 0.0})


def _below(nodes: dict[str, NDArray[Any]], protected: NDArray[np.intp]) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Least and greatest leaf below each node, and whether protected columns are asked about; from the leaves up."""
    leaf = nodes["feature"] < 0
    low = np.where(leaf, nodes["value"], np.inf)
    high = np.where(leaf, nodes["value"], -np.inf)
    uses = np.isin(nodes["feature"], protected) & ~leaf
    while True:  # as many rounds as the deepest tree is deep
        new_low = np.where(leaf, low, np.minimum(low[nodes["left"]], low[nodes["right"]]))
        new_high = np.where(leaf, high, np.maximum(high[nodes["left"]], high[nodes["right"]]))
        new_uses = uses | (~leaf & (uses[nodes["left"]] | uses[nodes["right"]]))
        if np.array_equal(new_low, low) and np.array_equal(new_high, high) and np.array_equal(new_uses, uses):
            return low, high, uses
        low, high, uses = new_low, new_high, new_uses
