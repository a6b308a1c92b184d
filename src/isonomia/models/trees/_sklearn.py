"""Trees, forests and gradient boosting of scikit-learn, as arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import NotApplicable
from isonomia.models.trees.arrays import Grown, Link, joined

_SINGLE = ("DecisionTreeClassifier", "ExtraTreeClassifier", "DecisionTreeRegressor", "ExtraTreeRegressor")
_FORESTS = ("RandomForestClassifier", "ExtraTreesClassifier", "RandomForestRegressor", "ExtraTreesRegressor")
_BOOSTED = ("GradientBoostingClassifier", "GradientBoostingRegressor")
_BINNED = ("HistGradientBoostingClassifier", "HistGradientBoostingRegressor")
SKLEARN = (*_SINGLE, *_FORESTS, *_BOOSTED, *_BINNED)


def read_sklearn(model: Any) -> Grown:
    """The trees of one of `SKLEARN`."""
    kind = type(model).__name__
    if getattr(model, "n_outputs_", 1) != 1:
        raise NotApplicable(f"the {kind} predicts {model.n_outputs_} outcomes; exact answers are for one")
    if kind in _BINNED:
        return _binned(model)
    classifier = kind.endswith("Classifier")
    if kind in _BOOSTED:
        return _boosted(model, classifier)
    members = [model] if kind in _SINGLE else list(model.estimators_)
    parts = []
    for member in members:
        value = member.tree_.value[:, 0, :]
        numbers = value / value.sum(axis=1, keepdims=True) if classifier else value
        if classifier and value.shape[1] == 2:
            numbers = numbers[:, 1:]
        parts.append(_nodes(member.tree_, numbers / len(members)))
    return _grown(parts, "identity", classifier)


def _nodes(tree: Any, value: NDArray[Any]) -> dict[str, NDArray[Any]]:
    leaf = tree.children_left < 0
    missing = getattr(tree, "missing_go_to_left", np.zeros(len(leaf), np.uint8))
    return {
        "column": np.where(leaf, -1, tree.feature).astype(np.int64),
        "threshold": tree.threshold.astype(float),
        "left": tree.children_left,
        "right": tree.children_right,
        "missing_left": np.asarray(missing).astype(bool),
        "value": np.where(leaf[:, None], value, 0.0),
    }


def _grown(parts: list[dict[str, NDArray[Any]]], link: Link, classifier: bool) -> Grown:
    nodes, roots = joined(parts)
    base = np.zeros(nodes["value"].shape[1])
    return Grown(roots, **nodes, link=link, classifier=classifier, base=base, narrow=True)


def _boosted(model: Any, classifier: bool) -> Grown:
    """GradientBoosting*: `base` is not known here, the caller works it out from what the model says."""
    width = model.estimators_.shape[1]
    loss = str(getattr(model, "loss", ""))
    factor = 2.0 if classifier and loss == "exponential" else 1.0  # its probability is that of twice the raw score
    parts = []
    for stage in model.estimators_:
        for place, member in enumerate(stage):
            value = np.zeros((member.tree_.node_count, width))
            value[:, place] = factor * model.learning_rate * member.tree_.value[:, 0, 0]
            parts.append(_nodes(member.tree_, value))
    link: Link = "identity" if not classifier else "logistic" if width == 1 else "softmax"
    return replace(_grown(parts, link, classifier), base=np.full(width, np.nan), factor=factor)


def _binned(model: Any) -> Grown:
    """HistGradientBoosting*: its trees have no public face, so their fields are read where they are."""
    classifier = type(model).__name__.endswith("Classifier")
    try:
        iterations, baseline = model._predictors, np.ravel(model._baseline_prediction).astype(float)
        prepare = model._preprocessor
        width = len(iterations[0])
        parts: list[dict[str, NDArray[Any]]] = []
        sets: list[NDArray[np.int64]] = []
        for stage in iterations:
            for place, member in enumerate(stage):
                parts.append(_histogram_nodes(member, place, width, sets))
    except (AttributeError, IndexError, ValueError) as error:
        raise NotApplicable(f"the trees of this {type(model).__name__} could not be read ({error})") from error
    loss = str(getattr(model, "loss", ""))
    link: Link = "identity" if loss not in ("poisson", "gamma") else "exp"
    if classifier:
        link = "logistic" if width == 1 else "softmax"
    nodes, roots = joined(parts)
    return Grown(
        roots,
        **nodes,
        link=link,
        classifier=classifier,
        base=baseline,
        sets=tuple(sets),
        prepare=None if prepare is None else prepare.transform,
    )


def _histogram_nodes(member: Any, place: int, width: int, sets: list[NDArray[np.int64]]) -> dict[str, NDArray[Any]]:
    nodes = member.nodes
    leaf = nodes["is_leaf"].astype(bool)
    value = np.zeros((len(nodes), width))
    value[:, place] = np.where(leaf, nodes["value"], 0.0)
    group = np.full(len(nodes), -1, dtype=np.int64)
    for node in np.flatnonzero(nodes["is_categorical"].astype(bool) & ~leaf):
        words = member.raw_left_cat_bitsets[int(nodes["bitset_idx"][node])]
        bits = np.unpackbits(np.asarray(words, dtype="<u4").view(np.uint8), bitorder="little")
        group[node] = len(sets)
        sets.append(np.flatnonzero(bits).astype(np.int64))
    return {
        "column": np.where(leaf, -1, nodes["feature_idx"]).astype(np.int64),
        "threshold": nodes["num_threshold"].astype(float),
        "left": nodes["left"].astype(np.int64),
        "right": nodes["right"].astype(np.int64),
        "missing_left": nodes["missing_go_to_left"].astype(bool),
        "value": value,
        "group": group,
    }
