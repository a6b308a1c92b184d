"""Subgroups of rows that do not fit into memory, but whose codes do: those that are found in rows, by any method."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.discovery.test_counted_subgroups import (
    HELD_OUT,
    SEARCHES,
    TABLES,
    codes_alone_fit,
    found_in,
    nothing_fits,
    written,
)
from tests.engine_sources import adult_table, assert_same, create_table, load_postgres

import isonomia as iso
from isonomia.data.engines.files import open_parquet
from isonomia.data.engines.lazy import LazyEngine
from isonomia.discovery import find_subgroups
from isonomia.discovery.subgroups import pulled
from isonomia.discovery.subgroups.counted import CountedRows

#: Searches that cannot be counted, with codes alone.
IN_ROWS: dict[str, dict[str, Any]] = {
    "auto": {"method": "auto"},
    "biasscan": {"method": "biasscan"},
    "gerryfair": {"method": "gerryfair"},
    "slicefinder": {"method": "slicefinder"},
    "one by one": {"one_by_one": True},
    "trees": {"binning": "tree"},
    "log loss": {"metric": "log_loss"},
    "edges": {"bins": {"income": [10.0, 25.0, 40.0], "region": None}},
}


@pytest.fixture
def codes_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are pulled in batches and in several parts, and nothing is counted."""
    codes_alone_fit(monkeypatch)
    monkeypatch.setattr(pulled, "BATCH", 250)
    monkeypatch.setattr(pulled, "TOGETHER", 4000)
    monkeypatch.setattr("isonomia.discovery.subgroups.question.codes_fit", lambda data: True)
    monkeypatch.setattr(CountedRows, "of", lambda *args, **options: pytest.fail("rows were counted"))


@pytest.mark.usefixtures("codes_fit")
@pytest.mark.parametrize(
    ("table", "asked"),
    [
        *((table, "divexplorer") for table in TABLES),
        ("spotted", HELD_OUT),
        ("spotted", "sliceline, given scores"),
        ("unweighted", "sliceline, false positives"),
        ("classes", "sliceline"),
    ],
)
def test_subgroups_of_codes_are_those_in_rows(table: str, asked: str, tmp_path: Path) -> None:
    file, roles, _ = written(table, tmp_path)
    expected = found_in(iso.read(file, **roles), asked)
    assert_same(expected, found_in(iso.read(file, engine="duckdb", memory="128MB", **roles), asked))
    if asked == "divexplorer":
        assert_same(expected, found_in(iso.Dataset(pl.scan_parquet(file), name=table, **roles), asked))


@pytest.mark.usefixtures("codes_fit")
@pytest.mark.parametrize("asked", list(IN_ROWS))
def test_methods_that_cannot_count_have_all_rows(asked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SEARCHES, asked, IN_ROWS[asked])
    file, roles, _ = written("unweighted", tmp_path)
    expected = found_in(iso.read(file, **roles), asked)
    assert_same(expected, found_in(iso.read(file, engine="duckdb", memory="128MB", **roles), asked))


@pytest.mark.postgres
@pytest.mark.parametrize("table", ["nasty", "spotted"])
def test_codes_from_a_database_counts_and_rows_give_the_same(
    table: str, tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, roles, frame = written(table, tmp_path)
    load_postgres(postgres_url, frame)

    def found(asked: str) -> dict[str, Any]:
        return found_in(iso.read(postgres_url, table="loans", name=table, **roles), asked)

    every = ["sliceline", "divexplorer, few", HELD_OUT]
    in_rows = {asked: found(asked) for asked in every}
    codes_alone_fit(monkeypatch)
    as_codes = {asked: found(asked) for asked in every}
    nothing_fits(monkeypatch)
    for asked in every:
        assert_same(in_rows[asked], as_codes[asked], where=asked)
        assert_same(found(asked), as_codes[asked], where=asked)


@pytest.mark.postgres
@pytest.mark.usefixtures("codes_fit")
def test_hidden_subgroups_of_adult_from_codes(shared_data: Path, tmp_path: Path, postgres_url: str) -> None:
    frame, roles = adult_table(shared_data, 6000)
    file = tmp_path / "adult.parquet"
    frame.write_parquet(file)
    create_table(postgres_url, frame, "adult")
    sources = [iso.read(file, **roles), iso.read(postgres_url, table="adult", name="adult", **roles)]
    expected, found = (
        iso.audit(data, checks=["hidden_subgroups"], n_boot=50).document["hidden_subgroups"].result.to_dict()
        for data in sources
    )
    assert expected["findings"]
    assert_same(expected, found)


@pytest.mark.usefixtures("codes_fit")
def test_rows_of_a_subgroup_are_known_where_codes_are(tmp_path: Path) -> None:
    file, roles, _ = written("unweighted", tmp_path)
    sources = iso.read(file, **roles), iso.read(file, engine="duckdb", **roles)
    expected, found = (find_subgroups(data, method="divexplorer", k=1) for data in sources)
    np.testing.assert_array_equal(expected.mask(0), found.mask(0))


def test_codes_fit_by_rows_features_and_memory(tmp_path: Path) -> None:
    file = tmp_path / "many.parquet"
    n = 700_000
    table = {"y": np.arange(n) % 2, "p": np.arange(n) // 2 % 2, "x": np.arange(n) % 7, "z": np.arange(n) % 5}
    pl.DataFrame(table).write_parquet(file)
    # half of the memory for codes of two bytes and 96 bytes per row, a quarter for outcomes of 8 bytes
    for memory, fits in ((100 * 2 * n - 1, False), (100 * 2 * n, True)):
        engine = open_parquet([file], memory=memory)
        assert pulled.codes_fit(iso.Dataset(engine, target="y", prediction="p", protected=["x"])) == fits


def test_columns_are_read_together_where_rows_may_come_in_another_order() -> None:
    n = 500_000
    table = {name: np.arange(n) % 3 for name in (*"abcdefghi", "y")}
    frame = pl.LazyFrame({**table, "y": np.arange(n) % 2})
    for memory, fits in ((10 * 8 * 4 * n - 1, False), (10 * 8 * 4 * n, True)):  # ten columns of 8 bytes in a quarter
        data = iso.Dataset(LazyEngine(frame, memory=memory), target="y")
        assert pulled.codes_fit(data) == fits


def test_a_column_whose_values_hardly_repeat_is_left_to_counting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, roles, frame = written("unweighted", tmp_path)
    codes_alone_fit(monkeypatch)
    monkeypatch.setattr(pulled, "CODE", 1)
    frame.with_columns(pl.Series("words", [f"text {number // 4}" for number in range(frame.height)])).write_parquet(
        file
    )
    asked: list[Any] = []
    original = CountedRows.of
    monkeypatch.setattr(CountedRows, "of", lambda *args, **options: asked.append(args) or original(*args, **options))
    find_subgroups(iso.read(file, engine="duckdb", memory="128MB", **roles), k=1)
    assert asked
