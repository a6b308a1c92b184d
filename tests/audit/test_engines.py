"""An audit gives the same report wherever the rows are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.engine_sources import TABLES, assert_same, load_postgres, plain_table

import isonomia as iso

#: Numeric derivatives (the error of R2 in "numbers") and weighted sums magnify the rounding of sums in another order.
TOLERANCE = {"plain": 1e-8, "numbers": 1e-9}


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
    assert_same(expected, found, tolerance=TOLERANCE.get(name, 1e-12))


@pytest.mark.postgres
@pytest.mark.parametrize("name", TABLES)
def test_the_report_from_a_database_is_that_from_memory(
    name: str, tmp_path: Path, reports: dict[str, Any], postgres_url: str
) -> None:
    _, roles, expected = in_memory(name, tmp_path, reports)
    load_postgres(postgres_url, TABLES[name]()[0], table="table")
    data = iso.read(postgres_url, table="table", **roles)
    found = iso.audit(data, n_boot=100).to_dict()
    assert_same(expected, found, tolerance=TOLERANCE.get(name, 1e-12))
    assert data.engine is not None
    assert data.engine.statements <= 8  # type: ignore[attr-defined]


def test_adult_from_a_file_that_is_counted_where_it_is(shared_data: Path, tmp_path: Path) -> None:
    import gzip

    file = tmp_path / "adult.csv"
    file.write_bytes(gzip.decompress((shared_data / "adult.csv.gz").read_bytes()))
    frame = pl.read_csv(file, infer_schema_length=None)
    hours = next(name for name in frame.columns if name.startswith("hours"))
    target = frame.columns[-1] if "income" not in frame.columns else "income"
    labels = sorted(frame[target].unique().to_list(), key=str)
    frame = frame.with_columns(
        pl.when(pl.col(hours) > 45).then(pl.lit(labels[-1])).otherwise(pl.lit(labels[0])).alias("predicted")
    )
    frame.write_csv(file)
    roles: dict[str, Any] = {
        "target": target,
        "positive": labels[-1],
        "prediction": "predicted",
        "protected": ["sex", "race"],
        "na_values": ["?"],
    }
    expected = iso.audit(iso.read(file, **roles), n_boot=100).to_dict()
    found = iso.audit(iso.read(file, engine="duckdb", memory="256MB", **roles), n_boot=100).to_dict()
    assert_same(expected, found)


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
        assert_same(
            expected.document[code].result.to_dict(), found.document[code].result.to_dict(), code, tolerance=1e-10
        )


def test_subgroups_found_in_a_file_are_those_found_in_memory(tmp_path: Path) -> None:
    frame, roles = plain_table(1500)
    file = tmp_path / "rows.parquet"
    frame.write_parquet(file)
    options: dict[str, Any] = {"method": "sliceline", "k": 4, "holdout": 0.5, "seed": 0}
    expected = iso.discovery.find_subgroups(iso.read(file, **roles), **options)
    behind = iso.read(file, engine="duckdb", memory="256MB", **roles)
    found = iso.discovery.find_subgroups(behind, **options)
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
