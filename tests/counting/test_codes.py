"""Codes of every kind of column: the same labels and codes whatever held the values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isonomia.counting import Codes, composite, tally
from isonomia.data import Bands
from isonomia.errors import DataError

TEXTS = st.lists(st.sampled_from(["b", "a", "", "Ä", "zz", None]), min_size=1, max_size=40)


def holders(values: list[Any]) -> dict[str, Any]:
    """The same texts in every kind of column."""
    return {
        "list": values,
        "numpy": np.array(values, dtype=object),
        "pandas": pd.Series(values, dtype=object),
        "pandas str": pd.Series(values, dtype="str"),
        "pandas category": pd.Series(values, dtype="category"),
        "polars": pl.Series(values, dtype=pl.String),
        "polars categorical": pl.Series(values, dtype=pl.String).cast(pl.Categorical),
        "polars enum": pl.Series(values, dtype=pl.Enum(["zz", "b", "unused", "a", "", "Ä"])),
        "pyarrow": pa.array(values, type=pa.string()),
        "pyarrow dictionary": pa.array(values, type=pa.string()).dictionary_encode(),
        "pyarrow chunks": pa.chunked_array(
            [pa.array(values[:1], type=pa.string()), pa.array(values[1:], type=pa.string())]
        ),
    }


@given(TEXTS)
def test_texts_are_encoded_alike_in_every_kind_of_column(values: list[Any]) -> None:
    known = sorted({value for value in values if value is not None})
    expected = (*known, *([None] if None in values else []))
    for kind, column in holders(values).items():
        codes = Codes.encode(column)
        assert codes.labels == expected, kind
        assert [codes.labels[code] for code in codes.codes] == values, kind
        assert codes.codes.dtype == np.uint8, kind


@given(st.lists(st.integers(-300, 300), min_size=1, max_size=50))
def test_whole_numbers(values: list[int]) -> None:
    for column in (
        values,
        np.array(values),
        pd.Series(values),
        pl.Series(values),
        pa.array(values),
        pd.Series(values, dtype="Int64"),
        np.array(values, dtype=float),
    ):
        codes = Codes.encode(column)
        assert list(codes.labels) == sorted(set(values))
        assert [codes.labels[code] for code in codes.codes] == values


def test_missing_numbers_and_truth_values() -> None:
    for column in (
        [1.5, None, 2.0],
        pd.Series([1.5, None, 2.0]),
        pl.Series([1.5, None, 2.0]),
        pa.array([1.5, None, 2.0]),
    ):
        codes = Codes.encode(column)
        assert codes.labels == (1.5, 2.0, None)
        assert codes.missing == 2
    for column in ([True, False, True], pd.Series([True, False, True]), pl.Series([True, False, True])):
        assert Codes.encode(column).labels == (False, True)
    nullable = Codes.encode(pl.Series([3, None, 1]))
    assert nullable.labels == (1, 3, None)
    assert Codes.encode(pd.Series([3, None, 1], dtype="Int64")).labels == (1, 3, None)


def test_many_values_take_wider_codes() -> None:
    assert Codes.encode(np.arange(300)).codes.dtype == np.uint16
    assert Codes.encode(np.arange(70_000) * 7).codes.dtype == np.uint32
    assert Codes.encode([f"v{i}" for i in range(300)]).size == 300


@given(st.lists(st.floats(-50, 150), min_size=1, max_size=40))
def test_bins_hold_what_their_names_say(values: list[float]) -> None:
    edges = [0.0, 18.0, 65.0, 100.0]
    codes = Codes.cut(values, edges, name="age")
    for value, code in zip(values, codes.codes, strict=True):
        expected = sum(value >= edge for edge in edges[1:-1])
        assert code == expected


def test_bands_and_bad_edges() -> None:
    ages = Codes.bands([18, 24, 60, None], Bands((25, 60)), name="age")
    assert ages.labels == ("< 25", ">= 60", None), "an empty band is left out"
    with pytest.raises(DataError, match="at least two different finite edges"):
        Codes.cut([1.0], [3, 3])


@pytest.mark.parametrize("bins", [1, 2, 10, 33, 34, 300])
@pytest.mark.parametrize("rows", [50, 4095, 4096, 9000])
def test_bins_are_those_of_numpy_on_edges_beyond_them_and_missing(bins: int, rows: int) -> None:
    rng = np.random.default_rng(bins + rows)
    edges = np.arange(bins + 1) / bins
    values = rng.choice(np.concatenate([edges, rng.random(500), [-np.inf, -1.0, 2.0, np.inf, np.nan]]), rows)
    values[0] = np.nan
    codes = Codes.cut(values, edges.tolist())
    expected = np.clip(np.digitize(values, edges) - 1, 0, bins - 1)
    np.testing.assert_array_equal(codes.codes, np.where(np.isnan(values), bins, expected))
    with pytest.raises(DataError, match="one dimension"):
        Codes.encode(np.zeros((2, 2)))


@given(st.integers(1, 400), st.integers(0, 1000), st.booleans())
def test_tallies_are_group_sums(rows: int, seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": rng.integers(0, 3, rows),
            "b": rng.choice(["x", "y"], rows),
            "w": rng.uniform(0, 2, rows),
            "v": rng.normal(size=rows),
        }
    )
    columns = [Codes.encode(frame["a"], name="a"), Codes.encode(frame["b"], name="b")]
    weights = frame["w"].to_numpy() if weighted else None
    table = tally(columns, weights=weights, values={"v": frame["v"].to_numpy()})
    use = frame["w"] if weighted else pd.Series(np.ones(rows))
    for i, a in enumerate(columns[0].labels):
        for j, b in enumerate(columns[1].labels):
            inside = (frame["a"] == a) & (frame["b"] == b)
            assert table.n[i, j] == inside.sum()
            assert table.w[i, j] == pytest.approx(use[inside].sum())
            assert table.sums["v"][i, j] == pytest.approx((use * frame["v"])[inside].sum(), abs=1e-9)
    np.testing.assert_array_equal(table.over("b").n, table.n.sum(axis=0))
    np.testing.assert_array_equal(table.over("b", "a").n, table.n.T)
    pair = composite(columns)
    assert [pair.labels[code] for code in pair.codes] == list(zip(frame["a"], frame["b"], strict=True))


def test_columns_of_another_length_are_refused() -> None:
    with pytest.raises(DataError, match="lengths differ"):
        tally([Codes.encode([1, 2], name="a"), Codes.encode([1, 2, 3], name="b")])
    wide = [Codes(str(i), np.zeros(1, np.uint16), tuple(range(500))) for i in range(3)]
    with pytest.raises(DataError, match="too large to count"):
        tally(wide)
    assert composite(wide).size == 1, "cells that do not occur cost nothing"
