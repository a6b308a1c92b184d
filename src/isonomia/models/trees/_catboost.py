"""Trees of CatBoost: symmetric (one test per level) or not, 32-bit columns, "above" goes right; tests of categories."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from isonomia.data import numbers, wrap
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
    """The trees of a CatBoost model of numbers and, where every test is of one column, categories."""
    with tempfile.TemporaryDirectory() as folder:  # the library writes JSON to files only
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        dump = json.loads(path.read_text(encoding="utf-8"))
    if any(dump["features_info"].get(name) for name in ("text_features", "embedding_features")):
        raise NotApplicable(
            "the CatBoost model has text or embedding columns, which it turns into numbers of its own; only trees over "
            "numbers and categories are read"
        )
    objective = str(dump["model_info"]["params"]["loss_function"]["type"])
    if objective not in _LINKS:
        raise NotApplicable(f"trees with the CatBoost loss {objective!r} are not supported")
    scale, bias = dump["scale_and_bias"]
    base = np.atleast_1d(np.asarray(bias, dtype=float))
    tests = _Tests(dump)
    builder = Builder()
    for tree in dump.get("oblivious_trees", ()):
        _add_symmetric(builder, tree, tests, float(scale), len(base))
    for tree in dump.get("trees", ()):
        _add(builder, tree, tests, float(scale), len(base))
    link = _LINKS[objective]
    return builder.build(
        base=base,
        link=link,
        classifier=link in ("logistic", "softmax"),
        feature_dtype=np.float32,
        source=tests.source,
        prepare=tests.prepare(model),
    )


class _Tests:
    """Column, threshold and direction of missing values of CatBoost's splits.

    A test of a category (is it one value; is the number that the model keeps for each value above a border) becomes a
    column of its own, 0 or 1, with the model's own answer: bit i of the number of a symmetric tree's leaf. A number
    that belongs to a *combination* of columns cannot be such a column: nobody can exchange one of them alone.
    """

    def __init__(self, dump: dict[str, Any]) -> None:
        info = dump["features_info"]
        floats, categories = info.get("float_features") or [], info.get("categorical_features") or []
        self.index = np.array([int(column["flat_feature_index"]) for column in floats], dtype=np.int64)
        # a missing number is above every border, or above none
        self.left = np.array([column["nan_value_treatment"] != "AsTrue" for column in floats], dtype=bool)
        self.width = len(floats) + len(categories)
        self.own: dict[int, int] = {}
        self.tree_and_bit: list[tuple[int, int]] = []
        columns: list[int] = []
        if categories:
            if dump.get("trees"):
                raise NotApplicable(
                    "the CatBoost model tests categories in trees that are not symmetric; only symmetric trees "
                    "(grow_policy='SymmetricTree') show how each test of a category turns out"
                )
            meaning = _meaning(info)
            names = {int(one["flat_feature_index"]): one.get("feature_id") or "" for one in (*floats, *categories)}
            for number, tree in enumerate(dump["oblivious_trees"]):
                for bit, split in enumerate(tree["splits"]):
                    if split["split_type"] != "FloatFeature" and split["split_index"] not in self.own:
                        self.own[split["split_index"]] = self.width + len(columns)
                        self.tree_and_bit.append((number, bit))
                        columns.append(_column_of(meaning, split, names))
        self.source = None if not categories else np.array([*range(self.width), *columns], dtype=np.int64)

    def read(self, splits: list[dict[str, Any]]) -> tuple[Integers, Floats, Bools]:
        """Column, threshold and direction of missing values of each split."""
        number = [split["split_type"] == "FloatFeature" for split in splits]
        own = [int(split["float_feature_index"]) if one else 0 for one, split in zip(number, splits, strict=True)]
        column = [
            int(self.index[at]) if one else self.own[split["split_index"]]
            for one, at, split in zip(number, own, splits, strict=True)
        ]
        border = [float(split["border"]) if one else 0.5 for one, split in zip(number, splits, strict=True)]
        left = [bool(self.left[at]) if one else True for one, at in zip(number, own, strict=True)]
        return np.array(column, dtype=np.int64), np.array(border, dtype=float), np.array(left, dtype=bool)

    def prepare(self, model: Any) -> Callable[[Any], Floats] | None:
        """From a table to its numbers and the answers to the tests of categories; None where there are no categories.

        The columns of categories themselves, which no tree tests, are missing.
        """
        if self.source is None:
            return None
        tree, bit = np.array(self.tree_and_bit, dtype=np.int64).reshape(-1, 2).T

        def prepare(table: Any) -> Floats:
            plain = isinstance(table, np.ndarray)
            frame = table if plain else wrap(table)
            found = np.full((len(frame), self.width + len(tree)), np.nan)
            for at in self.index:
                found[:, at] = frame[:, at].astype(float) if plain else numbers(frame[frame.columns[at]])
            found[:, self.width :] = (np.asarray(model.calc_leaf_indexes(table))[:, tree] >> bit) & 1
            return found

        return prepare


def _meaning(info: dict[str, Any]) -> list[tuple[str, float, list[int]]]:
    """Kind, border (or value) and input columns of every test that the model knows, in the order of their numbers."""
    floats, categories = info.get("float_features") or [], info["categorical_features"]
    numeric = [int(column["flat_feature_index"]) for column in floats]
    flat = [int(column["flat_feature_index"]) for column in categories]

    def elements(ctr: dict[str, Any]) -> list[int]:
        return [
            flat[one["cat_feature_index"]] if "cat_feature_index" in one else numeric[one["float_feature_index"]]
            for one in ctr["elements"]
        ]

    borders = [("FloatFeature", b, [at]) for at, one in zip(numeric, floats, strict=True) for b in one["borders"] or ()]
    values = zip(flat, categories, strict=True)
    return [
        *borders,
        *(("OneHotFeature", value, [at]) for at, one in values for value in one.get("values") or ()),
        *(("OnlineCtr", border, elements(ctr)) for ctr in info.get("ctrs") or () for border in ctr["borders"]),
    ]


def _column_of(meaning: list[tuple[str, float, list[int]]], split: dict[str, Any], names: dict[int, str]) -> int:
    """The input column that a test of a category is about."""
    kind, border, columns = meaning[split["split_index"]]
    if kind != split["split_type"] or border != split.get("border", split.get("value")):
        raise ValueError(f"test {split['split_index']} is a {split['split_type']}, not the {kind} of the list")
    if len(set(columns)) > 1:
        several = ", ".join(names[one] or str(one) for one in sorted(set(columns)))
        raise NotApplicable(
            f"the CatBoost model tests combinations of columns ({several} together), so no test belongs to one column; "
            "max_ctr_complexity=1 trains one without combinations"
        )
    return int(columns[0])


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
