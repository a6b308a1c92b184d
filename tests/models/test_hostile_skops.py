"""Crafted skops files: nothing beyond our list is built, nothing built reads out of bounds."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import skops.io
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from isonomia import ModelError, UntrustedError, load_model
from isonomia.models import ALLOWED

NUMBERS = ["age", "income"]


def rewrite(content: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    """The same file with another plan."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for entry in old.infolist():
            data = old.read(entry)
            if entry.filename == "schema.json":
                schema = json.loads(data)
                change(schema)
                data = json.dumps(schema).encode()
            new.writestr(entry, data)
    return out.getvalue()


@pytest.fixture
def logistic(people) -> bytes:
    content: bytes = skops.io.dumps(LogisticRegression().fit(people[NUMBERS], people["loan"]))
    return content


def refused(tmp_path: Any, content: bytes, message: str, error: type[Exception] = UntrustedError) -> None:
    (tmp_path / "model.skops").write_bytes(content)
    with pytest.raises(error, match=message):
        load_model(tmp_path / "model.skops", trust=True)  # trust is about pickles and changes nothing here


def test_the_list_is_in_order():
    assert len({(entry.loader, entry.type) for entry in ALLOWED}) == len(ALLOWED)
    assert all(entry.reason for entry in ALLOWED)
    loaders = {entry.loader for entry in ALLOWED}
    assert not loaders & {"MethodNode", "OperatorFuncNode", "ConstructorFromReduceNode"}


def test_functions_are_refused(people, tmp_path):
    content = skops.io.dumps(FunctionTransformer(os.system).fit(people[NUMBERS]))
    refused(tmp_path, content, r"(posix|nt|os)\.system \(as ")


def test_a_call_prepared_in_advance_is_only_as_good_as_its_function(people, tmp_path):
    import functools
    import shutil

    content = skops.io.dumps(FunctionTransformer(functools.partial(shutil.rmtree, "/")).fit(people[NUMBERS]))
    refused(tmp_path, content, r"shutil\.(_RmtreeType|rmtree)")


def test_types_beyond_the_list_are_named(people, tmp_path):
    content = skops.io.dumps(KNeighborsClassifier().fit(people[NUMBERS], people["loan"]))
    refused(tmp_path, content, "KDTree")


@pytest.mark.parametrize(
    "loader", ["ObjectNode", "TypeNode", "ConstructorFromReduceNode", "PartialNode", "FunctionNode"]
)
def test_a_smuggled_type_is_found_wherever_it_stands(logistic, tmp_path, loader):
    node = {"__class__": "Popen", "__module__": "subprocess", "__loader__": loader, "__id__": 1}

    def change(schema: dict[str, Any]) -> None:
        schema["content"]["content"]["C"] = node

    refused(tmp_path, rewrite(logistic, change), rf"subprocess\.Popen \(as {loader}\)")


def test_an_allowed_type_through_another_loader_is_refused(logistic, tmp_path):
    def change(schema: dict[str, Any]) -> None:
        schema["__loader__"] = "ConstructorFromReduceNode"

    refused(tmp_path, rewrite(logistic, change), "LogisticRegression .as ConstructorFromReduceNode")


def test_a_plan_that_makes_no_sense_is_refused(logistic, tmp_path):
    def no_text(schema: dict[str, Any]) -> None:
        schema["content"]["content"]["C"] = {"__loader__": {"a": 1}}

    def emptied(schema: dict[str, Any]) -> None:
        schema.clear()

    def older(schema: dict[str, Any]) -> None:
        schema["protocol"] = 0

    refused(tmp_path, rewrite(logistic, no_text), "corrupt or malicious", ModelError)
    refused(tmp_path, rewrite(logistic, emptied), "contains no object", ModelError)
    refused(tmp_path, rewrite(logistic, older), "follows protocol 0", ModelError)


def test_a_bomb_of_zeros_is_refused(tmp_path, logistic):
    out = io.BytesIO(logistic)
    with zipfile.ZipFile(out, "a", compression=zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros.npy", bytes(5_000_000))
    (tmp_path / "model.skops").write_bytes(out.getvalue())
    with pytest.raises(ModelError, match="unpacks to"):
        load_model(tmp_path / "model.skops", max_bytes=1_000_000)


# indices that compiled code would follow ----------------------------------------------------------------------------


def tampered(estimator: Any, change: Callable[[str, np.ndarray], np.ndarray | None]) -> bytes:
    """The estimator's file with some of its arrays changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(skops.io.dumps(estimator))) as old, zipfile.ZipFile(out, "w") as new:
        for entry in old.infolist():
            data = old.read(entry)
            if entry.filename.endswith(".npy"):
                changed = change(entry.filename, np.load(io.BytesIO(data), allow_pickle=False))
                if changed is not None:
                    buffer = io.BytesIO()
                    np.save(buffer, changed, allow_pickle=False)
                    data = buffer.getvalue()
            new.writestr(entry, data)
    return out.getvalue()


def setting(field: str, value: int) -> Callable[[str, np.ndarray], np.ndarray | None]:
    def change(name: str, array: np.ndarray) -> np.ndarray | None:
        if array.dtype.names is None or field not in array.dtype.names:
            return None
        array[field][0] = value
        return array

    return change


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("left_child", 0),
        ("left_child", 10**9),
        ("right_child", 0),
        ("right_child", -5),
        ("feature", 2),
        ("feature", -5),
    ],
)
@pytest.mark.parametrize(
    "estimator",
    [
        DecisionTreeClassifier(max_depth=3, random_state=0),
        RandomForestClassifier(2, random_state=0),
        GradientBoostingClassifier(n_estimators=2, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_trees_that_point_astray(people, tmp_path, estimator, field, value):
    estimator.fit(people[NUMBERS], people["loan"])
    refused(tmp_path, tampered(estimator, setting(field, value)), "corrupt or malicious", ModelError)


@pytest.mark.parametrize(
    ("field", "value"), [("left", 10**6), ("right", 0), ("feature_idx", 99), ("is_categorical", 1)]
)
def test_histogram_trees_that_point_astray(people, tmp_path, field, value):
    estimator = HistGradientBoostingClassifier(max_iter=2).fit(people[NUMBERS], people["loan"])
    refused(tmp_path, tampered(estimator, setting(field, value)), "corrupt or malicious", ModelError)


def test_a_tree_that_claims_other_columns(people, tmp_path):
    estimator = DecisionTreeClassifier(random_state=0).fit(people[NUMBERS], people["loan"])
    estimator.n_features_in_ = 1
    refused(tmp_path, skops.io.dumps(estimator), "reads other columns", ModelError)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_trees_per_iteration_": 3}, "differs from the one it states"),
        ({"classes_": np.array(["a", "b", "c"])}, "differs from its number of classes"),
        ({"n_features_in_": 5}, "different numbers of columns"),
        ({"init_": LogisticRegression()}, "not a constant"),
        ({"estimators_": np.array([[LogisticRegression()]])}, "trees are missing"),
    ],
)
def test_boosting_that_contradicts_itself(people, tmp_path, change, message):
    estimator = GradientBoostingClassifier(n_estimators=2, random_state=0).fit(people[NUMBERS], people["loan"])
    vars(estimator).update(change)
    refused(tmp_path, skops.io.dumps(estimator), message, ModelError)


def test_a_first_guess_of_another_shape(people, tmp_path):
    estimator = GradientBoostingClassifier(n_estimators=2, random_state=0).fit(people[NUMBERS], people["band"])
    estimator.init_.class_prior_ = estimator.init_.class_prior_[:1]
    refused(tmp_path, skops.io.dumps(estimator), "initial prediction", ModelError)


def test_categories_that_are_no_codes(people, tmp_path):
    frame = people.assign(job=people["job"].astype("category"))[["age", "job"]]
    estimator = HistGradientBoostingClassifier(max_iter=2).fit(frame, people["loan"])
    (column,) = np.flatnonzero(estimator._bin_mapper.is_categorical_)
    estimator._bin_mapper.bin_thresholds_[column] = np.array([0.0, 5000.0])
    refused(tmp_path, skops.io.dumps(estimator), "categories are not codes", ModelError)


def test_support_vectors_that_do_not_add_up(people, tmp_path):
    estimator = SVC().fit(people[NUMBERS], people["loan"])
    estimator._n_support = np.array([1000, 1000], dtype=np.int32)
    refused(tmp_path, skops.io.dumps(estimator), "do not add up", ModelError)
