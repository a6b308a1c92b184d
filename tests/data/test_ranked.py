"""Ranks and rows that engines find, by brute force over the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.engine_sources import load_postgres

import isonomia as iso
from isonomia.data.engines.engine import Box, Engine
from isonomia.data.engines.lazy import LazyEngine
from isonomia.data.engines.ranked import Figure, ranked
from isonomia.errors import NotApplicable

KINDS = ["duckdb", "polars", pytest.param("postgres", marks=pytest.mark.postgres)]


def made(n: int = 3000) -> pl.DataFrame:
    """Numbers over many orders of magnitude, with ties, gaps and infinite ones; two columns to count by."""
    rng = np.random.default_rng(0)
    x = np.exp(5 * rng.normal(size=n)) * rng.choice([-1, 1], n)
    x[rng.random(n) < 0.2] = 7.0
    x[:4] = np.nan, np.inf, -np.inf, 1e-300
    return pl.DataFrame(
        {
            "x": x,
            "it's": np.array(['say "x"', "b; --", "1"])[rng.integers(0, 3, n)].tolist(),
            "flag": [None if one < 0.1 else bool(one < 0.6) for one in rng.random(n)],
            "y": rng.integers(0, 2, n),
        }
    )


@pytest.fixture(params=KINDS)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Engine:
    frame = made()
    if request.param == "polars":
        return LazyEngine(frame.lazy())
    if request.param == "duckdb":
        frame.write_parquet(tmp_path / "rows.parquet")
        data = iso.read(tmp_path / "rows.parquet", engine="duckdb", target="y")
    else:
        url = request.getfixturevalue("postgres_url")
        load_postgres(url, frame)
        data = iso.read(url, table="loans", target="y")
    assert data.engine is not None
    return data.engine


def away(factors: list[float], middle: float) -> Any:
    """The distance from a number, times a factor for each group."""

    def limits(groups: Any, low: Any, high: Any) -> Any:
        factor = np.array(factors)[groups]
        ends = np.abs(low - middle) * factor, np.abs(high - middle) * factor
        return np.where((low < middle) & (middle < high), 0.0, np.minimum(*ends)), np.maximum(*ends)

    return limits


def test_ranks_are_those_of_the_sorted_rows(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isonomia.data.engines.spread.BINS", 256)
    monkeypatch.setattr("isonomia.data.engines.spread.SINGLE_ROWS", 100)
    frame = made().filter(pl.col("x").is_finite())
    groups = [(text, flag) for text in sorted(set(frame["it's"])) for flag in (True, False, None)]
    factors = [1.0, 2.0, 0.5, 3.0, 1.0, 1.0, 10.0, 1.0, 0.25]
    factor = np.array([factors[groups.index(group)] for group in zip(frame["it's"], frame["flag"], strict=True)])
    expected = np.sort(np.abs(frame["x"].to_numpy() - 7.0) * factor)[::-1]
    ranks = [1, 2, 40, 1500, frame.height - 3, frame.height]
    figure = {"x": Figure(limits=away(factors, 7.0), ranks=ranks)}
    found = ranked(engine, figure, by=["it's", "flag"], groups=groups)["x"]
    assert found.tolist() == [expected[rank - 1] for rank in ranks]
    monkeypatch.setattr("isonomia.data.engines.ranked.PASSES", 1)
    with pytest.raises(NotApplicable, match="cannot be ranked"):
        ranked(engine, figure, by=["it's", "flag"], groups=groups)


def test_rows_are_picked_by_their_values_in_the_order_of_the_source(engine: Engine) -> None:
    frame = made().with_row_index("number")
    low, high = -3.5, 20.0
    first = (pl.col("it's") == 'say "x"') & pl.col("x").is_between(low, high)
    second = (pl.col("it's") == "b; --") & pl.col("flag").is_null()
    boxes = [Box(values={"it's": 'say "x"'}, ranges={"x": (low, high)}), Box(values={"it's": "b; --", "flag": None})]
    expected = frame.filter(first | second).head(50)
    found = engine.picked(["x", "it's"], boxes, 50)
    assert found.numbers.tolist() == expected["number"].to_list()
    assert list(found.frame["it's"]) == expected["it's"].to_list()
    np.testing.assert_array_equal(np.asarray(found.frame["x"], dtype=float), expected["x"])
    assert engine.picked(["x"], [Box(values={"it's": "nobody"})], 5).numbers.size == 0


def test_the_profile_tells_infinite_numbers_from_those_that_are_none(engine: Engine) -> None:
    profile = engine.profile(ends=["x", "y"])
    finite = made()["x"].filter(made()["x"].is_finite())
    assert (profile.missing["x"], profile.infinite["x"]) == (1, 2)
    assert profile.missing["flag"] == made()["flag"].null_count()
    assert profile.ends == {"x": (finite.min(), finite.max()), "y": (0.0, 1.0)}
