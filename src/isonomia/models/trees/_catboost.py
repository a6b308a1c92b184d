"""Trees of CatBoost: symmetric (one test per level) or not, 32-bit columns, "above" goes right."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from isonomia.errors import NotApplicable
from isonomia.models.trees.arrays import Builder, Integers, TreeEnsemble
from isonomia.models.trees.links import Link
from isonomia.typing import Bools, Floats

_LINKS: dict[str, Link] = {
    "Logloss": "logistic",
    "CrossEntropy": "logistic",
    "MultiClass": "softmax",
    "RMSE": "identity",
    "MAE": "identity",
    "Quantile": "identity",
    "MAPE": "identity",
    "Huber": "identity",
    "Poisson": "exp",
    "Tweedie": "exp",
}


def read_catboost(model: Any) -> TreeEnsemble:
    """The trees of a CatBoost model of numeric columns."""
    with tempfile.TemporaryDirectory() as folder:  # the library writes JSON to files only
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        dump = json.loads(path.read_text(encoding="utf-8"))
    kinds = ("categorical_features", "text_features", "embedding_features")
    if any(dump["features_info"].get(name) for name in kinds):
        raise NotApplicable(
            "the CatBoost model has categorical, text or embedding columns, which it turns into numbers of its own; "
            "only trees over numeric columns are read"
        )
    objective = str(dump["model_info"]["params"]["loss_function"]["type"])
    if objective not in _LINKS:
        raise NotApplicable(f"trees with the CatBoost loss {objective!r} are not supported")
    scale, bias = dump["scale_and_bias"]
    base = np.atleast_1d(np.asarray(bias, dtype=float))
    tests = _Tests(dump["features_info"]["float_features"])
    builder = Builder()
    for tree in dump.get("oblivious_trees", ()):
        _add_symmetric(builder, tree, tests, float(scale), len(base))
    for tree in dump.get("trees", ()):
        _add(builder, tree, tests, float(scale), len(base))
    link = _LINKS[objective]
    return builder.build(base=base, link=link, classifier=link in ("logistic", "softmax"), feature_dtype=np.float32)


class _Tests:
    """Column, threshold and direction of missing values of CatBoost's splits."""

    def __init__(self, columns: list[dict[str, Any]]) -> None:
        self.index = np.array([int(column["flat_feature_index"]) for column in columns])
        # a missing number is above every border, or above none
        self.left = np.array([column["nan_value_treatment"] != "AsTrue" for column in columns])

    def read(self, splits: list[dict[str, Any]]) -> tuple[Integers, Floats, Bools]:
        own = np.array([int(split["float_feature_index"]) for split in splits], dtype=np.int64)
        border = np.array([float(split["border"]) for split in splits])
        return self.index[own].astype(np.int64), border, self.left[own]


def _add_symmetric(builder: Builder, tree: dict[str, Any], tests: _Tests, scale: float, width: int) -> None:
    """A tree with one test per level: bit i of a leaf's number is the result of test i, so the last test is first."""
    depth = len(tree["splits"])
    feature, threshold, missing_left = tests.read(tree["splits"][::-1])
    inner = (1 << depth) - 1
    level = np.repeat(np.arange(depth), 1 << np.arange(depth))
    leaf = np.full(inner + 1, -1)
    children = 2 * np.arange(inner)
    value = np.zeros((2 * inner + 1, width))
    value[inner:] = scale * np.asarray(tree["leaf_values"], dtype=float).reshape(-1, width)
    weights = [np.asarray(tree["leaf_weights"], dtype=float)]
    while len(weights[0]) > 1:
        weights.insert(0, weights[0].reshape(-1, 2).sum(axis=1))
    builder.add(
        feature=np.concatenate([feature[level], leaf]),
        threshold=np.concatenate([threshold[level], np.zeros(inner + 1)]),
        left=np.concatenate([children + 1, leaf]),
        right=np.concatenate([children + 2, leaf]),
        missing_left=np.concatenate([missing_left[level], np.zeros(inner + 1, dtype=bool)]),
        value=value,
        cover=np.concatenate(weights),
    )


def _add(builder: Builder, root: dict[str, Any], tests: _Tests, scale: float, width: int) -> None:
    """A tree with a test of its own at every node, numbered in depth-first order."""
    left: list[int] = []
    right: list[int] = []
    splits: list[dict[str, Any] | None] = []
    value: list[Floats] = []
    cover: list[float] = []
    todo: list[tuple[dict[str, Any], list[int] | None, int]] = [(root, None, 0)]
    while todo:
        node, side, parent = todo.pop()
        own = len(left)
        if side is not None:
            side[parent] = own
        left.append(-1)
        right.append(-1)
        splits.append(node.get("split"))
        value.append(scale * np.resize(np.asarray(node.get("value", 0.0), dtype=float), width))
        cover.append(float(node.get("weight", 0.0)))
        if "split" in node:
            todo += [(node["right"], right, own), (node["left"], left, own)]
    inner = np.array([split is not None for split in splits])
    feature, threshold, missing = np.full(len(left), -1), np.zeros(len(left)), np.zeros(len(left), dtype=bool)
    feature[inner], threshold[inner], missing[inner] = tests.read([split for split in splits if split is not None])
    for own in np.flatnonzero(inner)[::-1].tolist():  # children come after their parent
        cover[own] = cover[left[own]] + cover[right[own]]
    builder.add(
        feature=feature,
        threshold=threshold,
        left=np.array(left),
        right=np.array(right),
        missing_left=missing,
        value=np.stack(value),
        cover=np.array(cover),
    )
