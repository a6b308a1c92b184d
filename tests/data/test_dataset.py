"""Roles are checked against the table; what is doubtful is said; subsets keep what is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import isonomia as iso
from isonomia.data import Bands, Dataset

ROWS = {
    "sex": ["F", "M", "F", "M"],
    "age": [20, 30, 40, 70],
    "code": [1, 2, 1, 2],
    "score": [0.1, 0.9, 0.4, 0.6],
    "w": [1.0, 2.0, 0.0, 1.0],
    "said": ["no", "yes", "no", "yes"],
    "hired": ["no", "yes", "yes", "no"],
}
BASE = {"target": "hired", "positive": "yes", "protected": ["sex"]}
MANY = [f"p{i}" for i in range(5000)]


def people(frame_kind, **options):
    return Dataset(frame_kind(ROWS), **{**BASE, **options})


def test_features_are_what_has_no_other_role(frame_kind):
    data = people(frame_kind, prediction="said", score="score", weight="w", time="age")
    assert data.features == ("sex", "code")
    assert data.weights.tolist() == [0.75, 1.5, 0.0, 0.75]  # 1 on average, without the row that weighs nothing


@pytest.mark.parametrize("written", [1, "1", 1.0, np.int64(1), [1], ("1",), {1}])
def test_privileged_values_are_found_however_written(frame_kind, written):
    data = people(frame_kind, protected=["code"], privileged={"code": written})
    assert data.privileged == {"code": (1,)}


def test_privileged_bands(frame_kind):
    data = people(frame_kind, protected={"age": [25, 60]}, privileged={"age": "[25, 60)"})
    assert data.privileged == {"age": ("[25, 60)",)}
    assert data.group_column("age").tolist() == ["< 25", "[25, 60)", "[25, 60)", ">= 60"]


@pytest.mark.parametrize(
    ("values", "written", "held"),
    [
        ([1.0, 0.0], "1", 1.0),
        ([True, False], "true", True),
        ([True, False], 1, True),
        (["1", "0"], 1, "1"),
        ([1, 2], "2", 2),
    ],
)
def test_positive_is_found_however_written(frame_kind, values, written, held):
    data = Dataset(frame_kind({"y": values}), target="y", positive=written)
    assert data.positive == held
    assert isinstance(data.positive, type(held))


WRONG = [
    ({"target": "hird"}, "`target` must name a column.*'hird'.*'hired'"),
    ({"target": 3}, "`target` must be the name of a column"),
    ({"protected": ["gendr"]}, "`protected` must name a column.*'gendr'"),
    ({"protected": ["sex", "sex"]}, "more than once"),
    ({"protected": 5}, "`protected` must be the name of a column, or a list of them"),
    ({"protected": ["hired"]}, "both as the target and as protected"),
    ({"prediction": "hired"}, "both as the target and as the prediction"),
    ({"weight": "hired"}, "both as target and as weight"),
    ({"weight": "sex"}, "weights in 'sex' must be finite numbers"),
    ({"score": "sex"}, "scores in 'sex' must be numbers; got values such as 'F'"),
    ({"privileged": {"sex": "Male"}}, "`privileged` must name values of 'sex'; got 'Male'"),
    ({"privileged": {"race": "x"}}, "not among the protected"),
    ({"privileged": ["M"]}, "`privileged` must be a mapping, each value a value or a list"),
    ({"privileged": {"sex": ["F", "M"]}}, "names every value"),
    ({"protected": {"age": [25]}, "privileged": {"age": "young"}}, "values of 'age'; got 'young'.*'< 25'"),
    ({"protected": {"sex": [25]}}, "Bands cut numbers; 'sex'"),
    ({"positive": "maybe"}, "`positive` must be a value of 'hired'; got 'maybe'"),
    ({"positive": None}, "`positive` must say which value"),
    ({"features": "age"}, "`features` must be a list"),
    ({"features": ["age", "age"]}, "more than once"),
    ({"features": ["hired"]}, "must not see it"),
    ({"kinds": {"sex": "numeric"}}, "calls 'sex' numeric, but it contains String"),
    ({"kinds": {"age": "number"}}, "`kinds` must be a mapping, each value one of numeric"),
    ({"task": "ranking"}, "`task` must be one of"),
    ({"task": "regression", "positive": None}, "contains no numbers"),
    ({"target": "age", "task": "binary", "positive": None}, "has 4 different values"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_wrong_roles(frame_kind, options, message):
    with pytest.raises(iso.IsonomiaError, match=message):
        people(frame_kind, **options)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"s": MANY}, "'s' has 5,000 different values.*identifier"),
        ({"s": [None, None]}, "has no values"),
        ({"s": [float("nan"), float("nan")]}, "has no values"),
        ({"s": [[1], [2]]}, "nested values"),
    ],
)
def test_protected_columns_that_make_no_groups(columns, message):
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        with pytest.raises(iso.DataError, match=f"(?s){message}"):
            Dataset(make(columns), protected=["s"])


def test_many_numbers_are_fine_in_bands():
    data = Dataset({"s": list(range(5000))}, protected={"s": Bands((100,), ("low", "high"))}, privileged={"s": "high"})
    assert (data.group_column("s") == "high").sum() == 4900


TABLES = [
    ({}, "no columns"),
    ({"a": []}, "no rows"),
    ({"a": 1}, "must be a list or an array; 'a' is int"),
    ({"a": "text"}, "must be a list or an array"),
    ({"a": [1], "b": [1, 2]}, "differ in length"),
    (pl.LazyFrame({"a": [1]}), "lazy frame"),
    (np.zeros((3, 2)), "must be a table"),
    ("adult.csv", "must be a table"),
    (pd.DataFrame([[1, 2]], columns=["a", "a"]), "unique; repeated: 'a'"),
    (pd.DataFrame([[1, 2]]), "Column names must be texts"),
]


@pytest.mark.parametrize(("table", "message"), TABLES)
def test_bad_tables(table, message):
    with pytest.raises(iso.DataError, match=message):
        Dataset(table)


def test_notes_say_what_is_doubtful():
    frame = {"s": ["a", "a", None], "c": ["x", "x", "x"], "x": [1.0, float("inf"), 2.0], "y": [1.0, 1.0, None]}
    data = Dataset(frame, target="y", protected=["s", "c"])
    said = [note.text() for note in data.notes]
    assert said == [
        "The target y is missing in 1 row.",
        "The target y has only one value: there is nothing to predict.",
        "The protected attribute c has only one value: there are no groups to compare.",
        "The protected attribute s is missing in 1 row, which forms a group of its own.",
        "The feature x contains infinite values, or no value at all: searches and comparisons of people leave it out.",
    ]
    assert all(note.text("pt-BR") != note.text() for note in data.notes)
    assert Dataset(ROWS, **BASE).notes == ()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_nested_columns_are_left_out_of_features(make):
    data = Dataset(make({"y": [0, 1], "tags": [["a"], ["b", "c"]]}), target="y")
    assert data.features == ()
    assert "nested" in data.notes[0].text()
    assert len(data.fingerprint) == 64
    with pytest.raises(iso.DataError, match="nested"):
        data.with_roles(features=["tags"])


def test_subset_without_a_class_or_a_group_keeps_what_is_known(frame_kind):
    data = people(frame_kind, privileged={"sex": "M"})
    women = data.take(np.array([True, False, False, False]))
    assert (women.positive, women.task, women.privileged) == ("yes", "binary", {"sex": ("M",)})
    assert data.take([0, 0, 2]).column("age").to_list() == [20, 20, 40]
    grades = Dataset(frame_kind({"y": ["a", "b", "c"]}), target="y")
    assert grades.take(np.array([0])).task == "multiclass"
    pay = Dataset(frame_kind({"y": [1.5, 2.5, 3.5]}), target="y")
    assert pay.take(np.array([0])).task == "regression"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([9], "between 0 and 3"),
        ([-1], "between 0 and 3"),
        ([True], "one value per row"),
        ([0.5], "whole numbers"),
        ([], "no rows"),
    ],
)
def test_bad_rows(frame_kind, rows, message):
    with pytest.raises(iso.DataError, match=message):
        people(frame_kind).take(rows)


def test_changed_roles_are_read_anew(frame_kind):
    data = people(frame_kind, privileged={"sex": "M"})
    other = data.with_roles(target="code", positive=2)
    assert (other.task, other.positive) == ("binary", 2)
    assert "hired" in other.features
    assert "code" not in other.features
    assert data.with_roles(protected=["code"]).privileged == {}
    assert data.with_roles(weight="w").privileged == {"sex": ("M",)}
    assert data.with_roles(target="score", positive=None).task == "regression"


def every_kind(values, dtype=None):
    """One column in all the ways a user may bring it."""
    arrow = pa.array(values, from_pandas=True)
    yield pd.DataFrame({"x": values})
    yield pd.DataFrame({"x": pd.array(values, dtype=dtype)}) if dtype else pd.DataFrame({"x": values})
    yield pd.DataFrame({"x": pd.Series(values, dtype=pd.ArrowDtype(arrow.type))})
    yield pd.DataFrame({"x": pd.Series(values, dtype=object)})
    yield pl.DataFrame({"x": values})
    yield pa.table({"x": arrow})


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (["a", "", "b", "a"], "string"),
        (["é", None, "🙂", "a"], "string"),
        ([1, 2, 3, 2], "Int64"),
        ([1, None, 3, 2], "Int64"),
        ([1.5, None, -0.0, 2.0], "Float64"),
        ([True, False, True, True], "boolean"),
        ([True, None, True, False], "boolean"),
        ([2**60, 2**60 + 1, 3, 4], "Int64"),
    ],
)
def test_fingerprint_is_of_the_content(values, dtype):
    assert len({Dataset(frame).fingerprint for frame in every_kind(values, dtype)}) == 1


def test_fingerprint_of_categories():
    texts = ["b", None, "a", "b"]
    frames = [
        pd.DataFrame({"x": texts}),
        pd.DataFrame({"x": pd.Categorical(texts, categories=["c", "b", "a"])}),
        pl.DataFrame({"x": pl.Series(texts, dtype=pl.Categorical)}),
        pl.DataFrame({"x": pl.Series(texts, dtype=pl.Enum(["z", "a", "b"]))}),
        pa.table({"x": pa.array(texts).dictionary_encode()}),
    ]
    assert len({Dataset(frame, protected=["x"]).fingerprint for frame in frames}) == 1


def test_fingerprint_of_dates():
    days = pd.to_datetime(["2024-02-29", "2024-03-01"])
    frames = [
        pd.DataFrame({"x": days}),
        pl.DataFrame({"x": days.to_numpy()}),
        pl.DataFrame({"x": days.date.tolist()}),
        pa.table({"x": pa.array(days)}),
    ]
    assert len({Dataset(frame).fingerprint for frame in frames}) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"x": ["a", "b"], "y": [1, 3]},
        {"x": ["b", "a"], "y": [1, 2]},
        {"x": ["a", None], "y": [1, 2]},
        {"x": ["ab", ""], "y": [1, 2]},
        {"x": ["a", "b"], "z": [1, 2]},
        {"x": ["a", "b"], "y": ["1", "2"]},
        {"x": ["a", "b"], "y": [True, True]},
    ],
)
def test_fingerprint_sees_every_change(other):
    base = Dataset({"x": ["a", "b"], "y": [1, 2]})
    assert Dataset(other).fingerprint != base.fingerprint
    assert Dataset({"y": [1, 2], "x": ["a", "b"]}).fingerprint == base.fingerprint


@given(st.lists(st.one_of(st.none(), st.text(max_size=4)), min_size=1, max_size=30))
def test_fingerprint_of_any_texts(values):
    if all(value is None for value in values):
        return
    frames = [pd.DataFrame({"x": pd.array(values, dtype="str")}), pl.DataFrame({"x": values}, schema={"x": pl.String})]
    frames.append(pa.table({"x": pa.array(values, pa.string())}))
    assert len({Dataset(frame).fingerprint for frame in frames}) == 1


@given(st.lists(st.one_of(st.none(), st.floats()), min_size=1, max_size=30))
def test_fingerprint_of_any_numbers(values):
    frames = [
        pd.DataFrame({"x": np.array([np.nan if v is None else v for v in values], dtype=float)}),
        pl.DataFrame({"x": values}, schema={"x": pl.Float64}),
        pa.table({"x": pa.array(values, pa.float64())}),
    ]
    assert len({Dataset(frame).fingerprint for frame in frames}) == 1


def test_object_columns_of_numbers_are_numbers():
    frame = pd.DataFrame(
        {"n": pd.Series([1, 2, None], dtype=object), "b": pd.Series([True, None, False], dtype=object)}
    )
    assert Dataset(frame).kinds == {"n": "numeric", "b": "boolean"}
    mixed = pd.DataFrame({"m": pd.Series([1, "a", None], dtype=object)})
    assert Dataset(mixed, target="m", positive="a").positive == "a"
