"""An audit gives the same report wherever the rows are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.engine_sources import TABLES, adult_table, assert_same, create_table, load_postgres, plain_table

import isonomia as iso


@pytest.fixture(scope="module")
def reports() -> dict[str, Any]:
    """Reports from memory, made once."""
    return {}


def in_memory(name: str, folder: Path, reports: dict[str, Any]) -> tuple[Path, dict[str, Any], Any]:
    frame, roles = TABLES[name]()
    file = folder / "table.parquet"
    frame.write_parquet(file)
    roles = {key: value for key, value in roles.items() if value is not None}
    if name not in reports:
        reports[name] = iso.audit(iso.read(file, **roles), n_boot=100).to_dict()
    return file, roles, reports[name]


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("kind", ["duckdb", "polars"])
def test_the_report_from_files_is_that_from_memory(
    name: str, kind: str, tmp_path: Path, reports: dict[str, Any]
) -> None:
    file, roles, expected = in_memory(name, tmp_path, reports)
    if kind == "duckdb":
        data = iso.read(file, engine="duckdb", memory="256MB", **roles)
    else:
        data = iso.Dataset(pl.scan_parquet(file), name="table", **roles)
    assert data.source == kind
    assert len(data) == len(TABLES[name]()[0])
    found = iso.audit(data, n_boot=100).to_dict()
    if name != "numbers":  # the rows of a regression are read into memory
        assert found["subject"]["engine"] == kind
    assert_same(expected, found)


@pytest.mark.postgres
@pytest.mark.parametrize("name", TABLES)
def test_the_report_from_a_database_is_that_from_memory(
    name: str, tmp_path: Path, reports: dict[str, Any], postgres_url: str
) -> None:
    _, roles, expected = in_memory(name, tmp_path, reports)
    load_postgres(postgres_url, TABLES[name]()[0], table="table")
    data = iso.read(postgres_url, table="table", **roles)
    found = iso.audit(data, n_boot=100).to_dict()
    assert_same(expected, found)
    assert data.engine is not None
    assert data.engine.statements <= 8  # type: ignore[attr-defined]


def test_adult_from_a_file_that_is_counted_where_it_is(shared_data: Path, tmp_path: Path) -> None:
    frame, roles = adult_table(shared_data)
    file = tmp_path / "adult.csv"
    frame.write_csv(file)
    roles["na_values"] = ["?"]
    expected = iso.audit(iso.read(file, **roles), n_boot=100).to_dict()
    found = iso.audit(iso.read(file, engine="duckdb", memory="256MB", **roles), n_boot=100).to_dict()
    assert_same(expected, found)


@pytest.mark.postgres
def test_adult_from_a_database(shared_data: Path, tmp_path: Path, postgres_url: str) -> None:
    frame, roles = adult_table(shared_data, 4000)
    frame.write_parquet(tmp_path / "adult.parquet")
    create_table(postgres_url, frame, "adult")
    expected = iso.read(tmp_path / "adult.parquet", **roles)
    behind = iso.read(postgres_url, table="adult", **roles)
    assert_same(iso.audit(expected, n_boot=50).to_dict(), iso.audit(behind, n_boot=50).to_dict())
    assert_same(*(iso.discovery.find_subgroups(data).tables["subgroups"].to_dict() for data in (expected, behind)))


def test_the_demo_with_its_model_is_predicted_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.ensemble import HistGradientBoostingClassifier

    from isonomia.data.synthetic import credit

    made = credit(3000).dataset
    file = tmp_path / "credit.parquet"
    pl.from_pandas(made.frame).write_parquet(file) if made.backend == "pandas" else made.frame.write_parquet(file)
    roles = {name: value for name, value in made.options().items() if value is not None and name != "kinds"}
    numbers = [name for name in made.features if made.kinds[name] in ("numeric", "integer")]
    data = iso.read(file, **{**roles, "name": "credit"})
    fitted = HistGradientBoostingClassifier(max_iter=20).fit(data.frame[numbers], data.frame[data.target])
    model = iso.Model.of(fitted, features=numbers)
    expected = iso.audit(data, model, n_boot=100)
    monkeypatch.setattr("isonomia.subject.engine_predictions.SHARE", 10**6)  # small batches
    behind = iso.read(file, engine="duckdb", memory="256MB", **{**roles, "name": "credit"})
    found = iso.audit(behind, model, n_boot=100)
    for code in ("representation", "performance", "group_fairness", "calibration", "counterfactual", "weak_spots"):
        assert_same(expected.document[code].result.to_dict(), found.document[code].result.to_dict(), code)


#: Tables to search for subgroups: with gaps and weights, with names like code, the demo.
SEARCHED = {
    "plain": {"holdout": 0.5},
    "nasty": {"method": "divexplorer"},
    "credit": {"method": "divexplorer", "metric": "fpr"},
}


@pytest.mark.parametrize("source", ["duckdb", pytest.param("postgres", marks=pytest.mark.postgres)])
@pytest.mark.parametrize("name", SEARCHED)
def test_subgroups_found_by_an_engine_are_those_found_in_memory(
    name: str, source: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    frame, roles = TABLES[name]()
    file = tmp_path / "rows.parquet"
    frame.write_parquet(file)
    if source == "duckdb":
        behind = iso.read(file, engine="duckdb", memory="256MB", **roles)
    else:
        url = request.getfixturevalue("postgres_url")
        load_postgres(url, frame, "rows")
        behind = iso.read(url, table="rows", **roles)
    options: dict[str, Any] = {"k": 4, "seed": 0, **SEARCHED[name]}
    expected = iso.discovery.find_subgroups(iso.read(file, **roles), **options)
    found = iso.discovery.find_subgroups(behind, **options)
    assert len(found.tables["subgroups"]) > 0
    assert_same(expected.tables["subgroups"].to_dict(), found.tables["subgroups"].to_dict())
    assert not any("were examined" in str(note) for note in found.notes)


def test_a_spec_and_the_command_line_name_the_engine(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from isonomia.cli.app import app

    frame, _ = plain_table(600)
    for part in range(2):
        frame[part * 300 : (part + 1) * 300].write_parquet(tmp_path / f"part-{part}.parquet")
    given = {"path": str(tmp_path / "*.parquet"), "engine": "duckdb", "memory": "256MB"}
    roles = {"target": "paid", "prediction": "granted", "protected": ["sex"]}
    report = iso.run({"dataset": given, **roles, "checks": "quick", "n_boot": 50, "name": "loans"})
    assert report.document.subject["engine"] == "duckdb"
    assert report.document.subject["rows"] == 600
    words = "--engine duckdb --memory 256MB --target paid --prediction granted --protected sex --checks quick --json"
    shown = CliRunner().invoke(app, ["audit", given["path"], *words.split()])
    assert json.loads(shown.stdout)["subject"]["engine"] == "duckdb"
    wrong = CliRunner().invoke(app, ["audit", str(tmp_path / "part-0.parquet"), "--memory", "lots"])
    assert wrong.exit_code == 2


@pytest.mark.postgres
def test_the_command_line_reads_a_table_of_a_database(postgres_url: str) -> None:
    from typer.testing import CliRunner

    from isonomia.cli.app import app

    load_postgres(postgres_url, plain_table(400)[0])
    command = ["audit", postgres_url, "--table", "loans", "--target", "paid", "--prediction", "granted"]
    shown = CliRunner().invoke(app, [*command, "--protected", "sex", "--checks", "quick", "--json"])
    assert json.loads(shown.stdout)["subject"]["engine"] == "postgresql"
    assert "iso-pg-" not in shown.stdout  # nothing of the address
