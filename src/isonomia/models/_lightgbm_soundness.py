"""Checks of the text of LightGBM models, whose compiled code follows counts and indices as soon as it reads them.

Only what LightGBM writes is let through: known keys, each once, with as many numbers as they need. Its reader steps
from tree to tree by the sizes in the head, counts on the lengths of lists, and ends the process where a number is none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import ModelError
from isonomia.models._unsound import UnsoundError, check_count, check_length, check_range, check_type, sound

_MAX_OUTPUTS, _MAX_COLUMNS = 10_000, 10_000_000
_HEAD = frozenset(
    (
        *("version", "num_class", "num_tree_per_iteration", "label_index", "max_feature_idx", "objective"),
        *("feature_names", "feature_infos", "monotone_constraints", "tree_sizes"),
    )
)
#: Keys of a tree with one number for each split, and for each leaf.
_PER_SPLIT = ("split_gain", "threshold", "internal_value", "internal_weight", "internal_count")
_PER_LEAF = ("leaf_value", "leaf_weight", "leaf_count")
_SPLITS = ("split_feature", "left_child", "right_child", "decision_type")
_CATEGORIES = ("cat_boundaries", "cat_threshold")
_LINEAR = ("leaf_const", "num_features", "leaf_features", "leaf_coeff")
_TREE = frozenset(
    (*_PER_SPLIT, *_PER_LEAF, *_SPLITS, *_CATEGORIES, *_LINEAR, "num_leaves", "num_cat", "is_linear", "shrinkage")
)
_WHOLE = re.compile(r"-?\d{1,18}")
_NUMBER = re.compile(r"-?(?:\d{1,400}(?:\.\d{0,400})?(?:[eE][-+]?\d{1,3})?|inf|nan)")
_OBJECTIVE = re.compile(r"[a-z_0-9]+(?: [a-z_0-9]+(?::[\w.+,-]+)?)*")
_PARAMETER = re.compile(r"\[[a-z_0-9]+: [^\[\]]*\]")
_IMPORTANCE = re.compile(r"[^\n]*=\d+(?:\.\d+)?")


def check_lightgbm(text: str, *, name: str) -> None:
    """Raise `ModelError` where the text of a model is not one that LightGBM could have written."""
    try:
        _check(text)
    except UnsoundError as error:
        raise ModelError(f"Refused to load '{name}': {error} (corrupt or malicious file).") from error
    except (ValueError, OverflowError) as error:
        raise ModelError(f"'{name}' is not a readable LightGBM model: {error}.") from error


def _check(text: str) -> None:
    sound("\r" not in text and "\0" not in text, "a line in it is unknown")
    starts = [found.start() for found in re.finditer(r"^Tree=", text, re.MULTILINE)]
    end = re.search(r"^end of trees$", text, re.MULTILINE)
    if end is None or any(start > end.start() for start in starts):
        raise ValueError("it has no end")
    head = text[: starts[0] if starts else end.start()]
    trees = [text[start:stop] for start, stop in pairwise([*starts, end.start()])]
    given, columns, per_round = _check_head(head)
    sound(len(trees) % per_round == 0, "its classes and its trees do not fit")
    for index, tree in enumerate(trees):
        sound(tree.isascii(), "a line in it is unknown")
        _check_tree(tree, index, columns)
    if "tree_sizes" in given:
        sizes = _whole(given["tree_sizes"], None, "tree_sizes")
        sound(sizes.tolist() == [len(tree) for tree in trees], "its trees have other sizes than it states")
    _check_rest(text[end.end() :])


def _check_head(head: str) -> tuple[Mapping[str, str], int, int]:
    """What the head says, the number of columns, and of trees of one round."""
    first, *lines = head.split("\n")
    sound(first == "tree" and lines[-2:] == ["", ""], "a line in it is unknown")
    flags = [line for line in lines if line and "=" not in line]
    sound(set(flags) <= {"average_output"}, "a line in it is unknown")
    given = _once([line for line in lines if "=" in line], _HEAD)
    classes, per_round = (_count(given, key, _MAX_OUTPUTS) for key in ("num_class", "num_tree_per_iteration"))
    columns = _count(given, "max_feature_idx", _MAX_COLUMNS) + 1
    sound(classes >= 1 and per_round in (1, classes), "its classes and its trees do not fit")
    _count(given, "label_index", _MAX_COLUMNS)
    for key in ("feature_names", "feature_infos"):
        check_length(len(given.get(key, "").split(" ")) == columns, key)
    if "objective" in given:
        sound(_OBJECTIVE.fullmatch(given["objective"]), "its objective and its classes do not fit")
        options = dict(part.split(":", 1) for part in given["objective"].split(" ") if ":" in part)
        sound(options.get("num_class", str(classes)) == str(classes), "its objective and its classes do not fit")
    return given, columns, per_round


def _once(lines: list[str], allowed: frozenset[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        key, _, value = line.partition("=")
        sound(key in allowed and key not in found, "a line in it is unknown, or stands twice")
        found[key] = value
    return found


def _count(given: Mapping[str, str], key: str, most: int) -> int:
    text = given.get(key, "")
    check_count(_WHOLE.fullmatch(text) and 0 <= int(text) <= most, key)
    return int(text)


def _check_tree(text: str, index: int, columns: int) -> None:
    first, *lines = text.split("\n")
    sound(first == f"Tree={index}", "a line in it is unknown")
    given = _once([line for line in lines if line], _TREE)
    leaves, sets = _count(given, "num_leaves", 1 << 31), _count(given, "num_cat", 1 << 31)
    sound(leaves >= 1 and len(text) >= leaves, "a tree has no nodes")  # a leaf takes a character at least
    splits = leaves - 1
    _check_numbers(given, leaves, splits)
    if not splits:
        return
    feature, left, right, kind = (_whole(given.get(key, ""), splits, key) for key in _SPLITS)
    check_range(feature, columns, "split_feature")
    _check_links(left, right, leaves)
    check_range(kind, 12, "decision_type")
    _check_categories(given, sets, kind, splits)
    if given.get("is_linear", "0") != "0":
        _check_linear(given, leaves, columns)


def _check_numbers(given: Mapping[str, str], leaves: int, splits: int) -> None:
    _numbers(given.get("leaf_value", ""), leaves, "leaf_value")
    _numbers(given.get("shrinkage", "1"), 1, "shrinkage")
    sound(given.get("is_linear", "0") in ("0", "1"), "a line in it is unknown")
    for key in _PER_LEAF[1:]:  # a tree of one leaf, and older versions, leave some out
        if given.get(key):
            _numbers(given[key], leaves, key)
    for key in _PER_SPLIT:
        if splits or given.get(key):
            _numbers(given.get(key, ""), splits, key)


def _check_links(left: NDArray[np.int64], right: NDArray[np.int64], leaves: int) -> None:
    """Children come after their parent and every leaf has one: then every walk ends in a leaf."""
    children = np.concatenate([left, right])
    parents = np.tile(np.arange(left.size), 2)
    inner = children >= 0
    inside = (children[inner] > parents[inner]).all() and (children[inner] < left.size).all()
    sound(inside and (~children[~inner] < leaves).all(), "a tree points outside itself")
    sound(np.unique(children).size == children.size, "a tree points outside itself")


def _check_categories(given: Mapping[str, str], sets: int, kind: NDArray[np.int64], splits: int) -> None:
    by_set = (kind & 1) == 1
    if not sets:
        sound(not by_set.any(), "its sets of categories are incomplete")
        return
    bounds = _whole(given.get("cat_boundaries", ""), sets + 1, "cat_boundaries")
    sound(bounds[0] == 0 and (np.diff(bounds) > 0).all(), "its sets of categories are incomplete")
    bits = _whole(given.get("cat_threshold", ""), int(bounds[-1]), "cat_threshold")
    check_range(bits, 1 << 32, "cat_threshold")
    chosen = _numbers(given["threshold"], splits, "threshold")[by_set]
    sound(((chosen >= 0) & (chosen < sets) & (chosen % 1 == 0)).all(), "its sets of categories are incomplete")


def _check_linear(given: Mapping[str, str], leaves: int, columns: int) -> None:
    _numbers(given.get("leaf_const", ""), leaves, "leaf_const")
    counts = _whole(given.get("num_features", ""), leaves, "num_features")
    check_range(counts, columns + 1, "num_features")
    total = int(counts.sum())
    read = _whole(given.get("leaf_features", ""), total, "leaf_features")
    check_range(read, columns, "leaf_features")
    _numbers(given.get("leaf_coeff", ""), total, "leaf_coeff")


def _check_rest(text: str) -> None:
    """What follows the trees: how much each column matters, the parameters of the training, categories of pandas."""
    rest, _, _ = text.partition("\npandas_categorical:")
    importances, mark, parameters = rest.partition("\nparameters:\n")
    listed = [line for line in importances.split("\n") if line and line != "feature_importances:"]
    sound(all(map(_IMPORTANCE.fullmatch, listed)), "a line in it is unknown")
    if mark:
        lines = [line for line in parameters.split("\n") if line]
        sound(lines and lines[-1] == "end of parameters", "a parameter in it is malformed")
        sound(all(map(_PARAMETER.fullmatch, lines[:-1])), "a parameter in it is malformed")


def _whole(text: str, n: int | None, key: str) -> NDArray[np.int64]:
    """Whole numbers with a space between them; a list may end in one."""
    words = text.split()
    check_type(all(map(_WHOLE.fullmatch, words)), key)
    check_length(n is None or len(words) == n, key)
    return np.array(words, dtype=np.int64)


def _numbers(text: str, n: int, key: str) -> NDArray[np.float64]:
    words = text.split()
    check_type(all(map(_NUMBER.fullmatch, words)), key)
    check_length(len(words) == n, key)
    return np.array(words, dtype=np.float64)
