"""XGBoost and LightGBM models, as arrays."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import NotApplicable
from isonomia.models.trees.arrays import Grown, Link, joined
from isonomia.typing import Floats

_XGBOOST_LINKS: dict[str, Link] = {
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
_LIGHTGBM_LINKS: dict[str, Link] = {
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


def booster_of(model: Any) -> tuple[str, Any] | None:
    """("xgboost" or "lightgbm", the booster) where the model is one of theirs."""
    maker = type(model).__module__.split(".")[0]
    if maker == "xgboost":
        return maker, model if type(model).__name__ == "Booster" else model.get_booster()
    if maker == "lightgbm":
        return maker, model if type(model).__name__ == "Booster" else model.booster_
    return None


def read_xgboost(booster: Any) -> Grown:
    """The trees of an XGBoost booster: 32-bit thresholds, "below" goes left, sums of 32 bits."""
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    objective = str(learner["objective"]["name"])
    kind = str(learner["gradient_booster"]["name"])
    if objective not in _XGBOOST_LINKS:
        raise NotApplicable(f"exact answers do not know the XGBoost objective {objective!r}")
    if kind != "gbtree":
        raise NotApplicable(f"exact answers are for XGBoost's gbtree; this is a {kind}")
    forest = learner["gradient_booster"]["model"]
    width = max(1, int(learner["learner_model_param"]["num_class"]))
    if int(learner["learner_model_param"].get("num_target", "1")) > 1 and width == 1:
        raise NotApplicable("the XGBoost model predicts several outcomes; exact answers are for one")
    trees, places = forest["trees"], forest["tree_info"]
    best = booster.attributes().get("best_iteration")
    if best is not None:  # training stopped early: these rounds alone count
        last = int(forest["iteration_indptr"][int(best) + 1])
        trees, places = trees[:last], places[:last]
    sets: list[NDArray[np.int64]] = []
    nodes, roots = joined(
        [_xgboost_nodes(tree, int(place), width, sets) for tree, place in zip(trees, places, strict=True)]
    )
    link = _XGBOOST_LINKS[objective]
    return Grown(
        roots,
        **nodes,
        link=link,
        classifier=objective.startswith(("binary:", "multi:")),
        base=_xgboost_base(learner, link, width),
        narrow=True,
        strict=True,
        rounding=2.0**-24,
        sets=tuple(sets),
        codes=_xgboost_codes(forest.get("cats")),
        sparse_missing=True,
    )


def _xgboost_base(learner: Any, link: Link, width: int) -> Floats:
    """What every row starts from: kept on the scale of the outcome, needed on the scale of the leaves."""
    kept = str(learner["learner_model_param"]["base_score"]).strip("[]")
    score = np.array([float(part) for part in kept.split(",")], dtype=np.float32).astype(float)
    if link == "logistic":
        score = np.log(score) - np.log1p(-score)
    elif link == "exp":
        score = np.log(score)
    return np.asarray(np.broadcast_to(score, (width,)).copy())


def _xgboost_nodes(tree: Any, place: int, width: int, sets: list[NDArray[np.int64]]) -> dict[str, NDArray[Any]]:
    left = np.asarray(tree["left_children"], dtype=np.int64)
    leaf = left < 0
    if int(tree["tree_param"].get("size_leaf_vector", "1") or 1) > 1:
        raise NotApplicable("the XGBoost model has leaves of several numbers; exact answers are for one")
    numbers = np.asarray(tree["split_conditions"], dtype=np.float32).astype(float)
    value = np.zeros((len(leaf), width))
    value[leaf, place] = numbers[leaf]
    group = np.full(len(leaf), -1, dtype=np.int64)
    listed = np.asarray(tree["categories"], dtype=np.int64)
    swap = np.zeros(len(leaf), dtype=bool)
    for node, start, size in zip(
        tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True
    ):
        group[node] = len(sets)
        sets.append(listed[start : start + size])
        swap[node] = True  # the listed categories go to the right
    right = np.asarray(tree["right_children"], dtype=np.int64)
    missing = np.asarray(tree["default_left"], dtype=bool)
    return {
        "column": np.where(leaf, -1, np.asarray(tree["split_indices"], dtype=np.int64)),
        "threshold": numbers,
        "left": np.where(swap, right, left),
        "right": np.where(swap, left, right),
        "missing_left": missing ^ swap,
        "value": value,
        "group": group,
    }


def _xgboost_codes(cats: Any) -> tuple[tuple[Any, ...] | None, ...]:
    """The categories of each column in the order of their codes, as the model keeps them."""
    codes: list[tuple[Any, ...] | None] = []
    for one in (cats or {}).get("enc", []):
        values, offsets = one.get("values", []), one.get("offsets")
        if not values:
            codes.append(None)
        elif offsets is None:
            codes.append(tuple(values))
        else:
            raw = bytes(value & 0xFF for value in values)
            codes.append(tuple(raw[a:b].decode() for a, b in pairwise(offsets)))
    return tuple(codes)


def read_lightgbm(booster: Any) -> Grown:
    """The trees of a LightGBM booster: 64-bit thresholds, "at most" goes left."""
    model = booster.dump_model()
    words = str(model.get("objective", "")).split()
    objective = words[0] if words else ""
    if objective not in _LIGHTGBM_LINKS or "sqrt" in words:
        raise NotApplicable(f"exact answers do not know the LightGBM objective {' '.join(words)!r}")
    width = int(model["num_tree_per_iteration"])
    infos = model["tree_info"]
    scale = float(next((word[8:] for word in words if word.startswith("sigmoid:")), "1"))
    if model.get("average_output"):
        scale *= width / max(1, len(infos))
    sets: list[NDArray[np.int64]] = []
    parts = [_lightgbm_nodes(info, place % width, width, scale, sets) for place, info in enumerate(infos)]
    nodes, roots = joined(parts)
    link = _LIGHTGBM_LINKS[objective]
    return Grown(
        roots,
        **nodes,
        link=link,
        classifier=link in ("logistic", "softmax"),
        base=np.zeros(width),
        sets=tuple(sets),
        codes=_lightgbm_codes(model, nodes["column"], nodes["group"]),
    )


def _lightgbm_nodes(
    info: Any, place: int, width: int, scale: float, sets: list[NDArray[np.int64]]
) -> dict[str, NDArray[Any]]:
    """One tree, its nodes numbered as they are met."""
    made: dict[str, list[Any]] = {
        name: [] for name in ("column", "threshold", "left", "right", "missing_left", "zero_missing", "value", "group")
    }
    todo: list[tuple[Any, int, str]] = [(info["tree_structure"], -1, "left")]
    while todo:
        node, parent, side = todo.pop()
        if "leaf_coeff" in node:
            raise NotApplicable("the LightGBM model has linear leaves; exact answers are for leaves of one number")
        own = len(made["column"])
        if parent >= 0:
            made[side][parent] = own
        leaf = "split_feature" not in node
        made["column"].append(-1 if leaf else int(node["split_feature"]))
        made["value"].append(scale * float(node["leaf_value"]) if leaf else 0.0)
        grouped = not leaf and node["decision_type"] == "=="
        threshold = 0.0 if leaf or grouped else float(node["threshold"])
        made["threshold"].append(threshold)
        made["group"].append(len(sets) if grouped else -1)
        if grouped:
            sets.append(np.array([int(code) for code in str(node["threshold"]).split("||")], dtype=np.int64))
        known = not leaf and not grouped and node["missing_type"] != "None"
        # a missing number is 0 where the column had none in training; a missing category goes right
        made["missing_left"].append(bool(node["default_left"]) if known else not grouped and threshold >= 0.0)
        made["zero_missing"].append(known and node["missing_type"] == "Zero")
        made["left"].append(-1)
        made["right"].append(-1)
        if not leaf:
            todo += [(node["right_child"], own, "right"), (node["left_child"], own, "left")]
    arrays = {name: np.asarray(part) for name, part in made.items()}
    value = np.zeros((len(arrays["column"]), width))
    value[:, place] = arrays["value"]
    return {**arrays, "value": value}


def _lightgbm_codes(model: Any, column: NDArray[Any], group: NDArray[Any]) -> tuple[tuple[Any, ...] | None, ...]:
    """Categories of pandas, in the order of their codes, for the columns that have categories."""
    known = list(model.get("pandas_categorical") or [])
    if not known:
        return ()
    infos, names = model["feature_infos"], model["feature_names"]
    columns = [place for place, name in enumerate(names) if infos.get(name, {}).get("values")]
    columns = sorted({*columns, *(int(one) for one in np.unique(column[group >= 0]))})
    if len(columns) != len(known):
        raise NotApplicable("the categories of the LightGBM model could not be matched with its columns")
    codes: list[tuple[Any, ...] | None] = [None] * len(names)
    for place, levels in zip(columns, known, strict=True):
        codes[place] = tuple(levels)
    return tuple(codes)
