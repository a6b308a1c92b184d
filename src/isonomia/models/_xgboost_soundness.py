"""Checks of XGBoost models, whose compiled code follows the indices of a file without looking."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import ModelError
from isonomia.models._ubjson import read_ubjson
from isonomia.models._unsound import UnsoundError, check_count, check_length, check_range, check_same, check_type, sound

#: Columns, outputs and bits of sets of categories that a model may have; it says so itself, and memory follows.
_MAX_COLUMNS, _MAX_OUTPUTS, _MAX_BITS = 10_000_000, 10_000, 1 << 31
#: Arrays of a tree with one number per node; the first ones are followed.
_PER_NODE = ("left_children", "right_children", "parents", "split_indices", "split_type", "default_left")
_NUMBERS_PER_NODE = ("split_conditions", "loss_changes", "sum_hessian")
_DIGITS = re.compile(r"\d{1,12}")
_CATEGORIES = ("categories", "categories_nodes", "categories_segments", "categories_sizes")


def check_xgboost(content: bytes, *, name: str) -> None:
    """Raise `ModelError` where a model file (text or binary JSON) is not one that XGBoost could have written."""
    try:
        _check_model(_read(content))
    except UnsoundError as error:
        raise ModelError(f"Refused to load '{name}': {error} (corrupt or malicious file).") from error
    except (ValueError, RecursionError, TypeError, OverflowError) as error:
        raise ModelError(f"'{name}' is not a readable XGBoost model: {error}.") from error


def check_xgboost_snapshot(content: bytes, *, name: str) -> None:
    """The same of the content that a skops file keeps of a booster: its settings and its model."""
    try:
        whole = read_ubjson(content)
        model = _inside(whole, "Model")
        _check_model(model)
        _check_settings(_inside(_inside(whole, "Config"), "learner"), model["learner"])
    except (ValueError, TypeError, OverflowError) as error:
        raise ModelError(f"Refused to load '{name}': {error} (corrupt or malicious file).") from error


def _check_settings(given: Mapping[str, Any], learner: Mapping[str, Any]) -> None:
    """Settings are read after the model and go before it: where both say something, they say the same."""
    stated, known = _inside(given, "learner_model_param"), learner["learner_model_param"]
    for key in ("num_class", "num_feature", "num_target"):
        check_same(stated.get(key) == known.get(key), key)
    check_same(given.get("objective") == learner["objective"], "objective")
    settings, booster = _inside(given, "gradient_booster"), learner["gradient_booster"]
    check_same(settings.get("name") == booster["name"], "gradient_booster")
    if booster["name"] != "gblinear":
        settings, booster = settings.get("gbtree", settings), booster.get("gbtree", booster)
        same = _inside(settings, "gbtree_model_param") == booster["model"]["gbtree_model_param"]
        check_same(same, "gbtree_model_param")


def _read(content: bytes) -> Any:
    """XGBoost tells the two kinds apart by the second byte."""
    if content[:1] != b"{":
        raise ValueError("it does not begin with a brace")
    if content[1:2] == b'"' or content[1:2].isspace():
        return json.loads(content.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_word)
    return read_ubjson(content)


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key appears twice")
    return found


def _no_word(word: str) -> Any:
    raise ValueError(f"{word} is not a number")


def _inside(content: Any, key: str) -> Mapping[str, Any]:
    """The mapping under a key."""
    found = _at(content, key)
    if not isinstance(found, Mapping):
        raise ValueError(f"`{key}` is not a mapping of keys to values")
    return found


def _at(content: Any, key: str) -> Any:
    if not isinstance(content, Mapping) or key not in content:
        raise ValueError(f"`{key}` is missing in it")
    return content[key]


def _check_model(whole: Any) -> None:
    learner = _inside(whole, "learner")
    facts = _inside(learner, "learner_model_param")
    columns = _count(facts, "num_feature", _MAX_COLUMNS)
    classes, targets = (_count(facts, key, _MAX_OUTPUTS, missing="0") for key in ("num_class", "num_target"))
    outputs = max(classes, 1) * max(targets, 1)
    sound(classes <= 1 or targets <= 1, "its objective and its classes do not fit")
    _check_base_score(facts.get("base_score", "0"), outputs)
    for key in ("feature_names", "feature_types"):
        check_length(_size(learner.get(key, ()), key) in (0, columns), key)
        check_type(all(isinstance(item, str) for item in learner.get(key, ())), key)
    _check_objective(_inside(learner, "objective"), classes)
    booster = _inside(learner, "gradient_booster")
    kind = _at(booster, "name")
    if kind == "gblinear":
        weights = _at(_inside(booster, "model"), "weights")
        _numbers(weights, (columns + 1) * outputs, "weights")
        return
    sound(kind in ("gbtree", "dart"), "it is a booster of an unknown kind")
    forest = _inside(booster, "gbtree") if kind == "dart" else booster
    n_trees = _check_forest(_inside(forest, "model"), columns, outputs)
    if kind == "dart":
        _numbers(_at(booster, "weight_drop"), n_trees, "weight_drop")


def _count(facts: Mapping[str, Any], key: str, most: int, *, missing: str | None = None) -> int:
    """A number that the file writes as a text."""
    text = str(_at(facts, key) if missing is None else facts.get(key, missing))
    check_count(_DIGITS.fullmatch(text) and int(text) <= most, key)
    return int(text)


def _check_base_score(value: Any, outputs: int) -> None:
    numbers = [float(part) for part in str(value).strip("[]").split(",") if part.strip()]
    sound(len(numbers) in (1, outputs) and np.isfinite(numbers).all(), "its base scores do not fit its outputs")


def _check_objective(objective: Mapping[str, Any], classes: int) -> None:
    several = str(_at(objective, "name")).startswith("multi:")
    given = _count(_inside(objective, "softmax_multiclass_param"), "num_class", _MAX_OUTPUTS) if several else 0
    sound(classes >= 1 and given == classes if several else classes <= 1, "its objective and its classes do not fit")


def _check_forest(model: Mapping[str, Any], columns: int, outputs: int) -> int:
    trees, facts = _at(model, "trees"), _inside(model, "gbtree_model_param")
    n_trees = _size(trees, "trees")
    check_length(_count(facts, "num_trees", 1 << 31) == n_trees, "trees")
    check_count(_count(facts, "num_parallel_tree", 1 << 31, missing="1") >= 1, "num_parallel_tree")
    check_range(_whole(_at(model, "tree_info"), n_trees, "tree_info"), outputs, "tree_info")
    if "iteration_indptr" in model:
        rounds = _whole(model["iteration_indptr"], None, "iteration_indptr")
        whole = rounds.size > 0 and rounds[0] == 0 and rounds[-1] == n_trees and (np.diff(rounds) >= 0).all()
        sound(whole, "its rounds do not hold its trees")
    widths = {_check_tree(tree, columns, outputs) for tree in trees}
    sound(len(widths) <= 1, "its trees differ in their number of outputs")
    if "cats" in model:
        _check_encoding(_inside(model, "cats"), columns)
    return n_trees


def _check_tree(tree: Any, columns: int, outputs: int) -> int:
    """How many numbers a leaf holds, once every index of the tree was found to stay in it."""
    facts = _inside(tree, "tree_param")
    n, width = _count(facts, "num_nodes", 1 << 31), _count(facts, "size_leaf_vector", _MAX_OUTPUTS, missing="1")
    sound(n > _count(facts, "num_deleted", 1 << 31, missing="0"), "a tree has no nodes")
    sound(width in (0, 1, outputs), "its leaves do not fit its outputs")
    check_count(_count(facts, "num_feature", _MAX_COLUMNS) <= columns, "num_feature")
    check_type(type(tree.get("id", 0)) is int, "id")
    left, right, parents, feature, by_set, default = (_whole(_at(tree, key), n, key) for key in _PER_NODE)
    for key in _NUMBERS_PER_NODE:
        _numbers(_at(tree, key), n, key)
    inner = left != -1
    _check_links(left, right, parents, inner)
    check_range(feature[inner], columns, "split_indices")  # of a node that was pruned nothing is read
    check_range(by_set, 2, "split_type")
    check_range(default, 2, "default_left")
    _check_leaves(tree, n, width, right[~inner])
    _check_categories(tree, n, inner & (by_set == 1))
    return max(width, 1)


def _check_leaves(tree: Mapping[str, Any], n: int, width: int, right: NDArray[np.int64]) -> None:
    """A leaf of several outputs says, where its child would be, which row of `leaf_weights` is its own."""
    _numbers(_at(tree, "base_weights"), n * max(width, 1), "base_weights")
    if width > 1 and "leaf_weights" in tree:
        _numbers(tree["leaf_weights"], right.size * width, "leaf_weights")
        check_range(right, right.size, "right_children")
    else:
        sound((right == -1).all(), "a tree points outside itself")


def _check_links(left: NDArray[Any], right: NDArray[Any], parents: NDArray[Any], inner: NDArray[np.bool_]) -> None:
    """No node has two parents and the root has none, so that every walk ends in a leaf."""
    own = np.flatnonzero(inner)
    children, of = np.concatenate([left[own], right[own]]), np.concatenate([own, own])
    inside = ((children > 0) & (children < left.size)).all() and np.unique(children).size == children.size
    sound(inside and (parents[children] == of).all(), "a tree points outside itself")
    sound(parents[0] in (-1, 2147483647), "a tree points outside itself")


def _check_categories(tree: Mapping[str, Any], n: int, by_set: NDArray[np.bool_]) -> None:
    if not all(key in tree for key in _CATEGORIES):
        sound(not by_set.any(), "its sets of categories are incomplete")
        return
    known, nodes, starts, sizes = (_whole(tree[key], None, key) for key in _CATEGORIES)
    sound(nodes.size == starts.size == sizes.size, "its sets of categories are incomplete")
    check_range(nodes, n, "categories_nodes")
    check_range(known, 1 << 24, "categories")
    whole = (np.diff(nodes) > 0).all() and set(np.flatnonzero(by_set)) <= set(nodes.tolist())
    inside = ((sizes > 0) & (starts >= 0) & (starts <= known.size) & (sizes <= known.size - starts)).all()
    sound(whole and inside, "its sets of categories are incomplete")
    bits = sum(int(known[start : start + size].max()) for start, size in zip(starts, sizes, strict=True))
    sound(bits <= _MAX_BITS, "its sets of categories would take all memory")


def _check_encoding(cats: Mapping[str, Any], columns: int) -> None:
    """The categories that the model saw in training, column by column, and their order."""
    encoded = _at(cats, "enc")
    check_length(_size(encoded, "enc") in (0, columns), "enc")
    counts = np.array([_n_categories(one) for one in encoded], dtype=np.int64)
    bounds = np.concatenate([[0], np.cumsum(counts)])
    segments = _whole(_at(cats, "feature_segments"), None, "feature_segments")
    fits = segments.tolist() == bounds.tolist() or not (counts.size or segments.any())
    check_length(fits and segments.size <= columns + 1, "feature_segments")
    order = _whole(_at(cats, "sorted_idx"), int(bounds[-1]), "sorted_idx")
    for start, stop in pairwise(bounds):
        check_length(np.unique(order[start:stop]).size == stop - start, "sorted_idx")
        check_range(order[start:stop], int(stop - start), "sorted_idx")


def _n_categories(column: Any) -> int:
    if not isinstance(column, Mapping) or "offsets" not in column:
        return _size(_at(column, "values"), "values")
    offsets = _whole(column["offsets"], None, "offsets")
    values = _whole(_at(column, "values"), None, "values")
    if not offsets.size:
        check_length(not values.size, "offsets")
        return 0
    whole = offsets[0] == 0 and offsets[-1] == values.size and (np.diff(offsets) >= 0).all()
    check_length(whole, "offsets")
    return int(offsets.size) - 1


def _size(value: Any, key: str) -> int:
    if not isinstance(value, list | tuple | np.ndarray):
        raise ValueError(f"`{key}` is not a list")
    return len(value)


def _numbers(value: Any, n: int, key: str) -> None:
    """An array of numbers of a length."""
    check_length(_size(value, key) == n, key)
    right = isinstance(value, np.ndarray) or all(type(item) in (int, float) for item in value)
    check_type(right, key)


def _whole(value: Any, n: int | None, key: str) -> NDArray[np.int64]:
    """An array of whole numbers of a length."""
    size = _size(value, key)
    typed = isinstance(value, np.ndarray)
    right = value.dtype.kind in "iu" if typed else all(type(item) is int and abs(item) < 1 << 62 for item in value)
    check_type(right, key)
    check_length(n is None or size == n, key)
    return np.asarray(value, dtype=np.int64)
