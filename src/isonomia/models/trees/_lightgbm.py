"""Trees of LightGBM: 64-bit thresholds, "at most" goes left, a missing value may be 0."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import NotApplicable
from isonomia.models.trees.arrays import Builder, TreeEnsemble
from isonomia.models.trees.links import Link

_LINKS: dict[str, Link] = {
    "binary": "logistic",
    "multiclass": "softmax",
    "regression": "identity",
    "regression_l1": "identity",
    "huber": "identity",
    "fair": "identity",
    "quantile": "identity",
    "mape": "identity",
    "poisson": "exp",
    "gamma": "exp",
    "tweedie": "exp",
}


def read_lightgbm(model: Any) -> TreeEnsemble:
    """The trees of a LightGBM booster, or of a model of its scikit-learn interface."""
    booster = model if type(model).__name__ == "Booster" else model.booster_
    dump = booster.dump_model()
    words = str(dump.get("objective", "")).split()
    objective = words[0] if words else ""
    if objective not in _LINKS or "sqrt" in words:
        raise NotApplicable(f"trees with the LightGBM objective {' '.join(words)!r} are not supported")
    width = int(dump["num_tree_per_iteration"])
    builder = Builder()
    for index, info in enumerate(dump["tree_info"]):
        _add(builder, info["tree_structure"], index % width, width)
    link = _LINKS[objective]
    return builder.build(
        link=link,
        link_scale=float(next((word[8:] for word in words if word.startswith("sigmoid:")), "1")),
        classifier=link in ("logistic", "softmax"),
        divisor=len(builder.trees) / width if dump.get("average_output") else 1.0,
        zero_threshold=float(np.float32(1e-35)),
        categories=_categories(dump, builder),
    )


def _add(builder: Builder, root: Any, index: int, width: int) -> None:
    """One tree, its nodes numbered in depth-first order."""
    names = ("feature", "threshold", "left", "right", "missing_left", "zero_missing", "value", "cover", "category_set")
    nodes: dict[str, list[Any]] = {name: [] for name in names}
    todo: list[tuple[Any, int, str]] = [(root, -1, "left")]
    while todo:
        node, parent, side = todo.pop()
        if "leaf_coeff" in node:
            raise NotApplicable("the LightGBM model has linear leaves; only leaves with one number are supported")
        own = len(nodes["feature"])
        if parent >= 0:
            nodes[side][parent] = own
        leaf = "split_feature" not in node
        categorical = not leaf and node["decision_type"] == "=="
        threshold = 0.0 if leaf or categorical else float(node["threshold"])
        codes = [int(code) for code in str(node["threshold"]).split("||")] if categorical else []
        directed = not leaf and not categorical and node["missing_type"] != "None"
        nodes["feature"].append(-1 if leaf else int(node["split_feature"]))
        nodes["value"].append(float(node["leaf_value"]) if leaf else 0.0)
        nodes["cover"].append(float(node.get("leaf_count" if leaf else "internal_count", np.nan)))
        nodes["threshold"].append(threshold)
        nodes["category_set"].append(builder.add_set(codes) if categorical else -1)
        # a missing number is 0 where the column had none in training; a missing category goes right
        nodes["missing_left"].append(bool(node["default_left"]) if directed else not categorical and threshold >= 0.0)
        nodes["zero_missing"].append(directed and node["missing_type"] == "Zero")
        nodes["left"].append(-1)
        nodes["right"].append(-1)
        if not leaf:
            todo += [(node["right_child"], own, "right"), (node["left_child"], own, "left")]
    arrays: dict[str, NDArray[Any]] = {name: np.asarray(part) for name, part in nodes.items()}
    value = np.zeros((len(arrays["feature"]), width))
    value[:, index] = arrays["value"]
    builder.add(**{**arrays, "value": value})


def _categories(dump: Any, builder: Builder) -> tuple[tuple[Any, ...] | None, ...]:
    """pandas categories in the order of their codes, for the columns that have categories."""
    stored = list(dump.get("pandas_categorical") or [])
    if not stored:
        return ()
    infos, names = dump["feature_infos"], dump["feature_names"]
    columns = {index for index, name in enumerate(names) if infos.get(name, {}).get("values")}
    for tree in builder.trees:
        columns |= set(tree["feature"][tree["category_set"] >= 0].tolist())
    if len(columns) != len(stored):
        raise NotApplicable("the categories of the LightGBM model could not be matched with its columns")
    categories: list[tuple[Any, ...] | None] = [None] * len(names)
    for index, levels in zip(sorted(columns), stored, strict=True):
        categories[index] = tuple(levels)
    return tuple(categories)
