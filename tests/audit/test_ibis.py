"""An audit of an Ibis table, which comes in through narwhals: the same report as from memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.engine_sources import NASTY, TABLES, assert_same, credit_table

import isonomia as iso

ibis = pytest.importorskip("ibis", reason="Ibis is not a dependency, and brings a dozen packages along")

#: Ibis 12 calls what DuckDB 2 has renamed.
pytestmark = pytest.mark.filterwarnings("ignore:fetch_.* is deprecated:DeprecationWarning")

CHECKS = ["representation", "performance", "group_fairness", "calibration", "weak_spots", "missingness"]


def table_of(file: Path) -> Any:
    return ibis.duckdb.connect().read_parquet(str(file))


@pytest.mark.parametrize("name", TABLES)
def test_the_report_from_ibis_is_that_from_memory(name: str, tmp_path: Path) -> None:
    frame, roles = TABLES[name]()
    roles = {key: value for key, value in roles.items() if value is not None}
    if name == "nasty":  # DuckDB, which Ibis asks here, takes "Sex" and "sex" for one name
        frame = frame.rename({NASTY[1]: "Sex'"})
        roles["protected"] = [NASTY[0], "Sex'"]
    file = tmp_path / "table.parquet"
    frame.write_parquet(file)
    expected = iso.audit(iso.read(file, **roles), checks=CHECKS, n_boot=20).to_dict()
    found = iso.audit(iso.Dataset(table_of(file), name="table", **roles), checks=CHECKS, n_boot=20).to_dict()
    assert found["subject"]["engine"] == "ibis"
    assert_same(expected, found)


def test_rows_come_in_batches_in_their_order(tmp_path: Path) -> None:
    frame, roles = credit_table(500)
    frame.write_parquet(tmp_path / "rows.parquet")
    engine = iso.Dataset(table_of(tmp_path / "rows.parquet"), **roles).engine
    assert engine is not None
    parts = list(engine.batches(["income", "sex"], 128))
    assert max(len(part) for part in parts) <= 128
    assert [value for part in parts for value in part["income"]] == frame["income"].to_list()
    assert [value for part in parts for value in part["sex"]] == frame["sex"].to_list()
