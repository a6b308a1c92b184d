"""Subgroups of rows that do not fit into memory: counted by an engine, they are those that are found in rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.audit.test_counted_checks import spotted_table
from tests.engine_sources import (
    adult_table,
    assert_same,
    classes_table,
    create_table,
    credit_table,
    load_postgres,
    nasty_table,
    unweighted_table,
)

import isonomia as iso
from isonomia.data import Dataset
from isonomia.data.engines.lazy import LazyEngine
from isonomia.discovery import find_subgroups
from isonomia.errors import SpecError

TABLES = {
    "spotted": spotted_table,  # with weights, gaps and dates
    "unweighted": unweighted_table,
    "nasty": nasty_table,
    "classes": classes_table,
    "credit": credit_table,
}
HELD_OUT = "sliceline, held out"
SEARCHES: dict[str, dict[str, Any]] = {
    "sliceline": {},
    "sliceline, false positives": {"metric": "fpr", "bins": 6, "binning": "uniform"},
    "sliceline, given scores": {"metric": "error_given_score", "max_overlap": 0.5},
    HELD_OUT: {"holdout": 0.4, "max_overlap": 0.6},
    "sliceline, given scores and held out": {"metric": "error_given_score", "holdout": 0.4, "max_overlap": 0.6},
    "divexplorer": {"method": "divexplorer"},
    "divexplorer, few": {"method": "divexplorer", "min_support": 40, "rank_by": "t", "max_overlap": 0.6},
    "divexplorer, held out": {"method": "divexplorer", "holdout": 0.6},
}
#: What depends on where and when a search ran.
APART = ("total_time", "RUNTIME", "DSS", "max_memory")


def asked_of(table: str) -> list[str]:
    scored = table in ("spotted", "unweighted", "credit")
    return [
        name
        for name, options in SEARCHES.items()
        if (scored or options.get("metric") != "error_given_score")
        and (table != "classes" or options.get("metric") != "fpr")
        and (table in ("spotted", "nasty") or "holdout" not in options or asked_once(table, options))
    ]


def asked_once(table: str, options: Mapping[str, Any]) -> bool:
    """Held-out searches take ten times as long: two tables have all of them, others one."""
    return table == "credit" and "metric" in options


def cases() -> list[tuple[str, str]]:
    return [(table, asked) for table in TABLES for asked in asked_of(table)]


def nothing_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of an engine do not fit into memory, however few they are; nor do their codes."""
    codes_alone_fit(monkeypatch)
    monkeypatch.setattr("isonomia.discovery.subgroups.question.codes_fit", lambda data: False)


def codes_alone_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of an engine do not fit into memory."""
    monkeypatch.setattr(Dataset, "rows_fit", property(lambda data: data.engine is None))
    monkeypatch.setattr(Dataset, "_most_rows", property(lambda data: 200))


@pytest.fixture
def too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing_fits(monkeypatch)


def found_in(data: Any, asked: str) -> dict[str, Any]:
    """A result as JSON; nothing of it comes from a sample."""
    result = find_subgroups(data, k=4, **SEARCHES[asked])
    assert not any("were examined" in str(note) for note in result.notes)
    found = result.to_dict()
    found["metrics"] = _without_times(found["metrics"])
    return found


def _without_times(metrics: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _without_times(value) if isinstance(value, dict) else value
        for name, value in metrics.items()
        if name not in APART
    }


def written(table: str, folder: Path) -> tuple[Path, dict[str, Any], pl.DataFrame]:
    frame, roles = TABLES[table]()
    file = folder / f"{table}.parquet"
    frame.write_parquet(file)
    return file, {key: value for key, value in roles.items() if value is not None}, frame


@pytest.mark.usefixtures("too_large")
@pytest.mark.parametrize(("table", "asked"), cases())
def test_subgroups_in_files_are_those_in_rows(table: str, asked: str, tmp_path: Path) -> None:
    file, roles, _ = written(table, tmp_path)
    expected = found_in(iso.read(file, **roles), asked)
    assert_same(expected, found_in(iso.read(file, engine="duckdb", memory="128MB", **roles), asked))


@pytest.mark.usefixtures("too_large")
@pytest.mark.parametrize("asked", ["sliceline", "divexplorer", "divexplorer, few", "sliceline, given scores"])
def test_each_set_of_features_can_be_counted_alone(asked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where cells are many a `GROUP BY` is of one set of features, without combinations that too few rows have."""
    file, roles, _ = written("unweighted", tmp_path)
    expected = found_in(iso.read(file, **roles), asked)
    monkeypatch.setattr("isonomia.discovery.subgroups.counted.SHARE", 10**9)
    monkeypatch.setattr("isonomia.discovery.subgroups.counted.KEPT", 0)
    assert_same(expected, found_in(iso.Dataset(pl.scan_parquet(file), name="unweighted", **roles), asked))


@pytest.mark.postgres
@pytest.mark.parametrize("table", ["unweighted", "nasty", "spotted"])
def test_subgroups_in_a_database_are_those_in_rows(
    table: str, tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows are those of the database: it need not keep them in the order in which they came."""
    _, roles, frame = written(table, tmp_path)
    load_postgres(postgres_url, frame)
    every = [*asked_of(table), HELD_OUT] if table == "unweighted" else ["divexplorer, few", HELD_OUT]

    def found(asked: str) -> dict[str, Any]:
        return found_in(iso.read(postgres_url, table="loans", name=table, **roles), asked)

    expected = {asked: found(asked) for asked in every}
    nothing_fits(monkeypatch)
    for asked in every:
        assert_same(expected[asked], found(asked), where=asked)


@pytest.mark.postgres
@pytest.mark.usefixtures("too_large")
def test_hidden_subgroups_of_adult_are_counted(shared_data: Path, tmp_path: Path, postgres_url: str) -> None:
    frame, roles = adult_table(shared_data, 6000)
    file = tmp_path / "adult.parquet"
    frame.write_parquet(file)
    create_table(postgres_url, frame, "adult")
    options: dict[str, Any] = {"options": {"hidden_subgroups": {"methods": ["sliceline"]}}, "n_boot": 50}
    sources = [
        iso.read(file, **roles),
        iso.read(file, engine="duckdb", memory="128MB", **roles),
        iso.read(postgres_url, table="adult", name="adult", **roles),
    ]
    expected, *others = (
        iso.audit(data, checks=["hidden_subgroups"], **options).document["hidden_subgroups"].result.to_dict()
        for data in sources
    )
    assert expected["findings"]
    for found in others:
        assert_same(expected, found)


@pytest.mark.usefixtures("too_large")
@pytest.mark.parametrize(
    "options",
    [
        {"method": "biasscan"},
        {"method": "gerryfair"},
        {"method": "slicefinder"},
        {"one_by_one": True},
        {"binning": "tree"},
        {"metric": "log_loss"},
        {"method": "auto"},
    ],
)
def test_what_needs_rows_has_a_sample_and_says_so(options: dict[str, Any], tmp_path: Path) -> None:
    file, roles, _ = written("unweighted", tmp_path)
    result = find_subgroups(iso.read(file, engine="duckdb", memory="128MB", **roles), k=1, **options)
    assert any("200 of 1,500 rows were examined" in str(note) for note in result.notes)


@pytest.mark.usefixtures("too_large")
def test_cells_that_do_not_fit_either_leave_a_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, roles, _ = written("unweighted", tmp_path)
    for name in ("isonomia.data.engines.role_counts", "isonomia.discovery.subgroups.counted"):
        monkeypatch.setattr(f"{name}.GROUP_BYTES", 10**12)
    monkeypatch.setattr("isonomia.data.engines.role_counts.EXACT_ROWS", 300)
    result = find_subgroups(iso.read(file, engine="duckdb", memory="128MB", **roles), k=1)
    assert any("200 of 1,500 rows were examined" in str(note) for note in result.notes)


@pytest.mark.usefixtures("too_large")
def test_a_search_that_cannot_be_counted_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, roles, _ = written("unweighted", tmp_path)
    data = iso.read(file, engine="duckdb", memory="128MB", **roles)
    monkeypatch.setattr("isonomia.data.engines.role_counts.GROUP_BYTES", 10**12)
    monkeypatch.setattr("isonomia.data.engines.role_counts.EXACT_ROWS", 1)
    notes = [str(note) for note in find_subgroups(data, k=1).notes]
    assert any("200 of 1,500 rows were examined" in note for note in notes)
    reason = "no feature has few enough values to be counted within the memory given"
    assert f"Rows were read for this search instead of counted: {reason}." in notes


@pytest.mark.usefixtures("too_large")
def test_rows_that_stay_have_no_mask(tmp_path: Path) -> None:
    file, roles, _ = written("unweighted", tmp_path)
    result = find_subgroups(iso.read(file, engine="duckdb", memory="128MB", **roles), method="divexplorer", k=1)
    assert result.subgroups
    for ask in (result.mask, result.around):
        with pytest.raises(SpecError, match=r"An engine counted the rows|counted where they are"):
            ask(0)


@pytest.mark.usefixtures("too_large")
@pytest.mark.parametrize(("asked", "most"), [("sliceline", 4), (HELD_OUT, 7), ("divexplorer, held out", 20)])
def test_parts_that_are_held_out_are_counted_together(
    asked: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One statement counts the rows of all parts; features alone are not counted again."""
    file, roles, _ = written("nasty", tmp_path)
    sent = []
    for verb in ("grouped_each", "ranges"):
        original = getattr(LazyEngine, verb)

        def counted(self: Any, *given: Any, original: Any = original, **options: Any) -> Any:
            sent.append(given)
            return original(self, *given, **options)

        monkeypatch.setattr(LazyEngine, verb, counted)
    found_in(iso.read(file, engine="duckdb", memory="128MB", **roles), asked)
    assert 0 < len(sent) <= most
