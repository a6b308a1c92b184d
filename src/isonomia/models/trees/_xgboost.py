"""Trees of XGBoost: 32-bit thresholds, "below" goes left, 32-bit sums."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np

from isonomia.errors import NotApplicable
from isonomia.models.trees.arrays import Builder, TreeEnsemble
from isonomia.models.trees.links import Link
from isonomia.typing import Floats

_LINKS: dict[str, Link] = {
    "binary:logistic": "logistic",
    "reg:logistic": "logistic",
    "binary:logitraw": "identity",
    "multi:softprob": "softmax",
    "multi:softmax": "softmax",
    "reg:squarederror": "identity",
    "reg:absoluteerror": "identity",
    "reg:pseudohubererror": "identity",
    "reg:quantileerror": "identity",
    "count:poisson": "exp",
    "reg:gamma": "exp",
    "reg:tweedie": "exp",
}


def read_xgboost(model: Any) -> TreeEnsemble:
    """The trees of an XGBoost booster, or of a model of its scikit-learn interface."""
    booster = model if type(model).__name__ == "Booster" else model.get_booster()
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    objective = str(learner["objective"]["name"])
    kind = str(learner["gradient_booster"]["name"])
    if objective not in _LINKS:
        raise NotApplicable(f"trees with the XGBoost objective {objective!r} are not supported")
    if kind != "gbtree":
        raise NotApplicable(f"the XGBoost booster is a {kind}; only gbtree is supported")
    forest = learner["gradient_booster"]["model"]
    width = max(1, int(learner["learner_model_param"]["num_class"]))
    if int(learner["learner_model_param"].get("num_target", "1")) > 1 and width == 1:
        raise NotApplicable("the XGBoost model predicts several outcomes; only trees with one outcome are read")
    trees, classes = forest["trees"], forest["tree_info"]
    best = booster.attributes().get("best_iteration")
    if best is not None:  # training stopped early: predictions use these rounds only
        last = int(forest["iteration_indptr"][int(best) + 1])
        trees, classes = trees[:last], classes[:last]
    builder = Builder()
    for tree, index in zip(trees, classes, strict=True):
        _add(builder, tree, int(index), width)
    link = _LINKS[objective]
    return builder.build(
        base=_base(learner, link, width),
        link=link,
        classifier=objective.startswith(("binary:", "multi:")),
        feature_dtype=np.float32,
        sum_dtype=np.float32,
        strict=True,
        categories=_categories(forest.get("cats")),
        missing_value=float(getattr(model, "missing", np.nan)),
        absent_is_missing=True,
    )


def _base(learner: Any, link: Link, width: int) -> Floats:
    """The constant, stored on the scale of predictions, on the scale of raw scores (computed as XGBoost does)."""
    stored = str(learner["learner_model_param"]["base_score"]).strip("[]")
    score = np.array([float(part) for part in stored.split(",")], dtype=np.float32)
    if link == "logistic":
        score = -np.log((np.float32(1.0) / score - np.float32(1.0)).astype(float)).astype(np.float32)
    elif link == "exp":
        score = np.log(score.astype(float)).astype(np.float32)
    return np.asarray(np.broadcast_to(score, (width,)), dtype=float)


def _add(builder: Builder, tree: Any, index: int, width: int) -> None:
    left = np.asarray(tree["left_children"], dtype=np.int64)
    leaf = left < 0
    if int(tree["tree_param"].get("size_leaf_vector", "1") or 1) > 1:
        raise NotApplicable("the XGBoost model has leaves with several numbers; only leaves with one are supported")
    numbers = np.asarray(tree["split_conditions"], dtype=np.float32).astype(float)
    value = np.zeros((len(leaf), width))
    value[leaf, index] = numbers[leaf]
    tested = np.full(len(leaf), -1, dtype=np.int64)
    codes = np.asarray(tree["categories"], dtype=np.int64)
    swap = np.zeros(len(leaf), dtype=bool)
    for node, start, size in zip(
        tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True
    ):
        tested[node] = builder.add_set(codes[start : start + size])
        swap[node] = True  # XGBoost sends the listed categories right
    right = np.asarray(tree["right_children"], dtype=np.int64)
    builder.add(
        feature=np.where(leaf, -1, np.asarray(tree["split_indices"], dtype=np.int64)),
        threshold=numbers,
        left=np.where(swap, right, left),
        right=np.where(swap, left, right),
        missing_left=np.asarray(tree["default_left"], dtype=bool) ^ swap,
        value=value,
        cover=np.asarray(tree["sum_hessian"], dtype=float),
        category_set=tested,
    )


def _categories(cats: Any) -> tuple[tuple[Any, ...] | None, ...]:
    """The categories of each column in the order of their codes, as the model stores them."""
    categories: list[tuple[Any, ...] | None] = []
    for column in (cats or {}).get("enc", []):
        values, offsets = column.get("values", []), column.get("offsets")
        if not values:
            categories.append(None)
        elif offsets is None:
            categories.append(tuple(values))
        else:
            raw = bytes(value & 0xFF for value in values)
            categories.append(tuple(raw[a:b].decode() for a, b in pairwise(offsets)))
    return tuple(categories)
