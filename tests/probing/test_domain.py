"""Domains: valid people, the way to the model's frame and back, constraints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isonomia import DataError, Dataset, SpecError
from isonomia.probing import Constraint, Domain

COLUMNS = {
    "age": [20, 35, 61, 44],
    "sex": ["F", "M", "F", "M"],
    "height": [1.5, 1.75, 1.9, 1.6],
    "child": [True, False, False, True],
    "rooms": [1.0, np.nan, 3.0, 2.0],
}


def test_round_trip_is_exact_for_every_kind_of_frame(frame_kind: Callable[[Any], Any]) -> None:
    import narwhals.stable.v2 as nw

    data = Dataset(frame_kind(COLUMNS), protected=["sex"])
    domain = Domain.from_data(data)
    rows = domain.encode(data.frame)
    back = nw.from_native(domain.decode(rows), eager_only=True)
    there = nw.from_native(data.feature_frame(), eager_only=True)
    assert back.columns == there.columns
    assert back.schema == there.schema
    for name in there.columns:
        a, b = there[name].to_list(), back[name].to_list()
        assert all(x == y or (x != x and y != y) or x is y for x, y in zip(a, b, strict=True)), name
    again = domain.encode(domain.decode(rows))
    assert np.array_equal(again, rows, equal_nan=True)
    assert domain.valid(rows).all()


@pytest.mark.parametrize("dtype", ["Int64", "Int16", "Float64", "int64[pyarrow]", "double[pyarrow]"])
@pytest.mark.parametrize("values", [[1, 2, 3], [1, None, 3]])
def test_nullable_columns_of_pandas_come_back_as_they_were(dtype: str, values: list[Any]) -> None:
    import pandas as pd

    frame = pd.DataFrame({"rooms": pd.array(values, dtype=dtype), "sex": pd.array([0, 1, 0], dtype="Int64")})
    for overrides in (None, {"rooms": (0, 9)}):
        domain = Domain.from_data(Dataset(frame), overrides=overrides)
        pd.testing.assert_frame_equal(domain.decode(domain.encode(frame)), frame)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 50))
def test_samples_and_snapped_rows_are_valid_people(seed: int, n: int) -> None:
    domain = Domain({"a": (1, 9), "b": ["x", "y", "z"], "c": (0.5, 2.5)}, backend="polars")
    rng = np.random.default_rng(seed)
    assert domain.valid(domain.sample(n, rng)).all()
    assert domain.valid(domain.snap(rng.normal(0, 10, (n, 3)))).all()


def test_sampling_is_uniform(rng: np.random.Generator) -> None:
    domain = Domain({"a": (0, 4), "b": ["x", "y"]}, backend="polars")
    rows = domain.sample(100_000, rng)
    counts = np.bincount((rows[:, 0] * 2 + rows[:, 1]).astype(int), minlength=10)
    assert np.abs(counts - 10_000).max() < 5 * np.sqrt(10_000)


def test_constraints_are_kept(rng: np.random.Generator) -> None:
    domain = Domain(
        {"age": (0, 99), "education_years": (0, 20), "job": ["none", "clerk"]},
        constraints=["age >= 18 and education_years <= age - 5", "not (job == 'clerk' and age > 70)"],
        backend="polars",
    )
    rows = domain.sample(2000, rng)
    age, years, job = rows.T
    assert len(rows) == 2000
    assert (age >= 18).all()
    assert (years <= age - 5).all()
    assert not ((job == 1) & (age > 70)).any()


def test_a_constraint_may_be_a_function(rng: np.random.Generator) -> None:
    domain = Domain({"age": (0, 99)}, constraints=[lambda frame: (frame["age"] > 90).to_numpy()], backend="polars")
    assert (domain.sample(20, rng) > 90).all()
    wrong = Domain({"age": (0, 99)}, constraints=[lambda frame: [1]], backend="polars")
    with pytest.raises(SpecError, match="True or False per row"):
        wrong.sample(5, rng)


def test_a_domain_without_a_valid_person_says_so(rng: np.random.Generator) -> None:
    domain = Domain({"age": (0, 9)}, constraints=["age > 50"], backend="polars")
    with pytest.raises(DataError, match="No valid person"):
        domain.sample(1, rng)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "age.real > 1",
        "(lambda: 1)()",
        "age >",
        "[x for x in age]",
        "gendr > 1",
        "x" * 3000,
    ],
)
def test_hostile_or_broken_constraints_are_refused(text: str) -> None:
    with pytest.raises(SpecError):
        Constraint(text, columns=["age"])


def test_a_constraint_that_is_no_question_is_refused() -> None:
    with pytest.raises(SpecError, match="not yes or no"):
        Constraint("age + 1", columns=["age"]).holds({"age": np.array([1.0])})


@pytest.mark.parametrize("values", [(5, 1), (0.0, float("inf")), "text", [], 3, (0, 2**60)])
def test_bad_features_are_refused(values: Any) -> None:
    with pytest.raises(DataError):
        Domain({"x": values})


def test_an_unknown_category_or_column_is_named() -> None:
    domain = Domain({"sex": ["F", "M"]}, backend="polars")
    with pytest.raises(DataError, match="'X' is not a value of 'sex'"):
        domain.encode({"sex": ["F", "X"]})
    with pytest.raises(DataError, match="has no column for the feature"):
        domain.encode({"gender": ["F"]})


def test_overrides_widen_what_the_data_shows() -> None:
    domain = Domain.from_data(COLUMNS, overrides={"age": (18, 99), "sex": ["F", "M", "X"]})
    assert (domain.features[0].low, domain.features[0].high, domain.features[1].size) == (18, 99, 3)
