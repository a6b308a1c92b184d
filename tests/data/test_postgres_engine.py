"""PostgreSQL as a source of rows: what it sends, what it may do, and how it fails."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.engine_sources import LABELS, NASTY, load_postgres, nasty_table, plain_table
from tests.postgres_cluster import GUARDED, PASSWORD, PostgresCluster, postgres_cluster

import isonomia as iso
from isonomia.data.engines.engine import Box, sample_order
from isonomia.errors import DataError, SourceError, SpecError

pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def loans(postgres: PostgresCluster) -> Iterator[str]:
    """A database with the plain table."""
    with postgres.database() as url:
        load_postgres(url, plain_table(800)[0])
        postgres.execute("CREATE SEQUENCE counter", url.split("/")[-1].split("?")[0])
        yield url


def read(url: str, **options: Any) -> iso.Dataset:
    return iso.read(url, **{"table": "loans", **plain_table(1)[1], **options})


def test_rows_and_labels_come_back_as_they_are(postgres_url: str) -> None:
    frame, _ = nasty_table(400)
    load_postgres(postgres_url, frame, table='odd "table.name')
    data = iso.read(postgres_url, table='"odd ""table.name"', target=NASTY[2], positive='"', protected=[NASTY[0]])
    assert data.engine is not None
    (rows,) = data.engine.batches(frame.columns)
    assert list(rows.columns) == frame.columns
    labels = [None if value != value else value for value in rows[NASTY[0]].tolist()]
    assert labels == frame[NASTY[0]].to_list()
    assert set(LABELS) <= set(labels)
    np.testing.assert_array_equal(rows["n"], frame["n"])  # floats to the last bit
    parts = list(data.engine.batches(["n"], 150))
    assert [len(part) for part in parts] == [150, 150, 100]


def test_a_sample_has_the_rows_that_it_has_elsewhere(postgres_url: str) -> None:
    load_postgres(postgres_url, pl.DataFrame({"x": np.arange(5000), "y": np.arange(5000) % 2}))
    data = iso.read(postgres_url, table="loans", target="y")
    assert data.engine is not None
    expected = np.sort(np.argsort(sample_order(np.arange(5000), seed=7), kind="stable")[:200])
    assert data.engine.sample(["x"], 200, seed=7)["x"].tolist() == expected.tolist()


def test_a_table_has_no_order_but_a_query_may(postgres_url: str) -> None:
    """COPY puts a short row into an earlier page that has space left; numbers by a key are those of the file."""
    n = 3000
    texts = ["x" * (7 * row % 900) for row in range(n)]
    rng = np.random.default_rng(0)
    table = {"key": np.arange(n), "text": texts, "y": rng.integers(0, 2, n), "p": rng.random(n)}
    load_postgres(postgres_url, pl.DataFrame(table))
    roles: dict[str, Any] = {"target": "y", "score": "p", "features": ["text"]}
    stored = iso.read(postgres_url, table="loans", **roles)
    asked = iso.read(postgres_url, query="SELECT * FROM loans ORDER BY key", **roles)
    assert stored.engine is not None
    assert asked.engine is not None
    (first,), (second,) = (data.engine.batches(["key"]) for data in (stored, asked) if data.engine is not None)
    assert sorted(first["key"]) == list(range(n))
    assert list(first["key"]) != list(range(n))  # the server's doing
    assert list(second["key"]) == list(range(n))
    everyone = [Box(values={"y": 1}), Box(values={"y": 0})]
    for data, frame in ((stored, first), (asked, second)):  # numbers are the same in all statements
        assert data.engine is not None
        picked = data.engine.picked(["key"], everyone, n)
        assert picked.numbers.tolist() == list(range(n))
        assert list(picked.frame["key"]) == list(frame["key"])
    found = [iso.robustness.failure_modes(data) for data in (iso.Dataset(pl.DataFrame(table), **roles), asked)]
    expected, numbers = ([row["row"] for row in result.tables["rows"].rows()] for result in found)
    assert numbers == expected
    notes = [" ".join(map(str, iso.robustness.failure_modes(data).notes)) for data in (stored, asked)]
    assert ["has no order" in text for text in notes] == [True, False]


def test_a_query_and_columns_choose_what_is_read(loans: str) -> None:
    data = iso.read(
        loans,
        query="SELECT sex, paid, granted, upper(region) AS region FROM loans WHERE age >= 30 -- grown up;",
        columns=["sex", "paid", "granted"],
        target="paid",
        prediction="granted",
        protected=["sex"],
    )
    assert data.columns == ("sex", "paid", "granted")
    assert len(data) == plain_table(800)[0].filter(pl.col("age") >= 30).height
    assert data.name == "query"


def test_types_are_read_or_refused(postgres: PostgresCluster, postgres_url: str) -> None:
    name = postgres_url.split("/")[-1].split("?")[0]
    postgres.execute(
        "CREATE TYPE mood AS ENUM ('sad', 'ok'); "
        "CREATE TABLE t (y int, m mood, c numeric(8,2), z timestamptz, b bytea, a int[]); "
        "INSERT INTO t VALUES (0, 'sad', 1.25, '2024-03-01 23:30+02', NULL, NULL), "
        "(1, 'ok', 'NaN', '2024-03-02 01:00+02', NULL, NULL)",
        name,
    )
    data = iso.read(postgres_url, table="public.t", target="y", protected=["m"])
    assert [data.kinds[column] for column in "ymcz"] == ["integer", "category", "numeric", "datetime"]
    assert data.left_out == ("b", "a")
    rows = data.rows()
    assert rows.column("m").to_list() == ["sad", "ok"]
    assert str(rows.column("z").to_list()[0]).startswith("2024-03-01 21:30")
    with pytest.raises(DataError, match="'b' contains values of a type that cannot be counted"):
        iso.read(postgres_url, table="t", target="y", protected=["b"])


def test_all_statements_see_one_state_of_the_data(postgres: PostgresCluster, postgres_url: str) -> None:
    frame, roles = plain_table(500)
    load_postgres(postgres_url, frame)
    data = iso.read(postgres_url, table="loans", **roles)
    postgres.execute("DELETE FROM loans WHERE sex = 'F'", postgres_url.split("/")[-1].split("?")[0])
    assert len(data.rows()) == 500
    assert len(iso.read(postgres_url, table="loans", **roles)) < 500


def test_a_role_that_may_only_read_is_enough_and_its_password_stays_out(
    postgres: PostgresCluster, loans: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: Any
) -> None:
    name = loans.split("/")[-1].split("?")[0]
    postgres.execute(f"GRANT SELECT ON loans TO {GUARDED}", name)
    address = postgres.url(name, user=GUARDED)
    with pytest.raises(SourceError, match="cannot be reached") as refused:
        read(address)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    report = iso.audit(read(address), checks="quick", n_boot=50)
    report.save(tmp_path, formats=("json", "md"))
    written = "".join(file.read_text() for file in tmp_path.iterdir())
    monkeypatch.setenv("PGPASSWORD", "wrong")
    with pytest.raises(SourceError) as wrong:
        read(address)
    monkeypatch.delenv("PGPASSWORD")
    (tmp_path / "pass").write_text("*:*:*:*:" + PASSWORD.replace("\\", "\\\\").replace(":", "\\:") + "\n")
    os.chmod(tmp_path / "pass", 0o600)  # noqa: PTH101
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "pass"))
    assert len(read(address)) == 800
    for text in (written, str(refused.value), str(wrong.value), caplog.text):
        assert PASSWORD not in text
        assert str(postgres.folder) not in written
    with pytest.raises(SpecError, match="contains a password") as shown:
        read(postgres.url(name, user=GUARDED, password=PASSWORD))
    assert "horse" not in str(shown.value)


@pytest.mark.parametrize(
    ("source", "match"),
    [
        ({"table": "nope"}, 'relation "nope" does not exist'),
        ({"table": "secret.loans"}, "cannot be read"),
        ({"table": "a.b.c.d"}, "`table` must be a name"),
        ({"query": "SELECT 1) AS x; COMMIT; DROP TABLE loans; --"}, "cannot be run"),
        ({"query": "DELETE FROM loans RETURNING *"}, "cannot be run"),
        ({"query": "WITH gone AS (DELETE FROM loans RETURNING *) SELECT * FROM gone"}, "cannot be run"),
        ({"query": "SELECT paid, granted, nextval('counter') AS made FROM loans"}, "only reads"),
        ({"query": "SELECT 1 AS paid, 1 AS paid"}, "must be unique"),
        ({"query": " ; "}, "`query` must be one statement"),
        ({"table": "loans", "query": "SELECT 1"}, "either `table`"),
        ({"table": "loans", "engine": "duckdb"}, "`engine` is for files"),
        ({"table": "loans", "columns": ["payed"]}, "Did you mean 'paid'"),
        ({"table": "loans", "target": "payed"}, "Did you mean 'paid'"),
    ],
)
def test_what_cannot_be_read_or_would_write_is_refused(loans: str, source: dict[str, Any], match: str) -> None:
    options = {"target": "paid", "prediction": "granted", **source}
    with pytest.raises((DataError, SpecError), match=match):
        iso.audit(iso.read(loans, **options), checks=["weak_spots"])
    assert len(read(loans)) == 800


def test_a_statement_that_takes_too_long_is_ended(loans: str) -> None:
    with pytest.raises(SourceError, match=r"ended by the server .*timeout=3600"):
        iso.read(loans, query="SELECT *, pg_sleep(1)::text AS z FROM loans", target="paid", timeout=0.2)


def test_a_lost_connection_and_a_restart_end_the_audit() -> None:
    with postgres_cluster() as cluster, cluster.database() as url:
        load_postgres(url, plain_table(400)[0])
        data = read(url)
        name = url.split("/")[-1].split("?")[0]
        cluster.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'isonomia'", name
        )
        with pytest.raises(SourceError, match=r"connection to the database was lost.*run the audit again"):
            iso.audit(data)
        data = read(url)
        cluster.crash()
        cluster.start()
        with pytest.raises(SourceError, match="connection to the database was lost"):
            iso.audit(data)
        assert len(read(url)) == 400
