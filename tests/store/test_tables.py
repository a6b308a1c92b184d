"""The tables: migrations from empty and from filled, on both databases; what is not ours or newer is refused."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import event, inspect, select, text
from tests.store.reports import audited

import isonomia as iso
from isonomia.errors import StoreError
from isonomia.store import Store, migrations, schema, tables
from isonomia.store.address import read_address
from isonomia.store.database import Database


def differences(store: Store) -> list[Any]:
    """What the tables of a store have that the code does not know, and the other way round."""

    def work(connection: Any) -> list[Any]:
        return list(compare_metadata(MigrationContext.configure(connection), tables.metadata))

    return store.database.read(work)


NEXT = '''"""A step of a later version."""
import sqlalchemy as sa
from alembic import op

revision = "r2"
down_revision = "r1"


def upgrade():
    op.add_column("analysis", sa.Column("colour", sa.Text()))
'''


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code of a version with one more step."""
    steps = tmp_path / "migrations"
    shutil.copytree(Path(migrations.__file__).parent, steps, ignore=shutil.ignore_patterns("__pycache__"))
    (steps / "versions" / "r2.py").write_text(NEXT)
    config = schema._config()
    config.set_main_option("script_location", str(steps))
    monkeypatch.setattr(schema, "_config", lambda: config)


def test_an_empty_database_gets_the_tables_of_the_code(store: Store) -> None:
    assert differences(store) == []


def test_a_filled_store_of_an_earlier_version_keeps_everything(address: str, request: pytest.FixtureRequest) -> None:
    with iso.store.open(address) as early:
        run = early.keep(audited(), analysis="loans")
        early.cells.add("quick", [{"method": "x"}])
    request.getfixturevalue("later")
    with pytest.raises(StoreError, match="older version of Isonomia"):
        iso.store.open(address)
    with iso.store.open(address, upgrade_tables=True) as store:
        assert [str(change[0]) for change in differences(store)] == ["remove_column"]  # one more than this code knows
        assert store.load(run.id).to_dict() == audited().to_dict()
        assert store.cells.counts("quick")["waiting"] == 1
    with iso.store.open(address) as store:
        store.keep(audited(1), analysis="loans")
        assert len(store.runs("loans")) == 2


def test_a_newer_store_is_refused_and_stays_as_it_is(address: str) -> None:
    with iso.store.open(address) as store:
        store.keep(audited(), analysis="loans")
        store.database.write(lambda c: c.execute(text("UPDATE alembic_version SET version_num = 'r99'")))
    for options in ({}, {"upgrade_tables": True}):
        with pytest.raises(StoreError, match=r"written by a newer version of Isonomia .*'r99'.* Update Isonomia"):
            iso.store.open(address, **options)  # type: ignore[arg-type]
    database = Database(read_address(address))
    database.write(lambda c: c.execute(text("UPDATE alembic_version SET version_num = 'r1'")))
    database.close()
    with iso.store.open(address) as store:
        assert store.load("loans").to_dict() == audited().to_dict()


def test_a_missing_table_is_named(address: str) -> None:
    with iso.store.open(address) as store:
        store.keep(audited(), analysis="loans")
        store.database.write(lambda c: c.execute(text("DROP TABLE criterion")))
        with pytest.raises(StoreError, match=r"criterion"):
            store.keep(audited(1), analysis="loans")
        assert len(store.runs("loans")) == 1
        assert store.load("loans").to_dict() == audited().to_dict()
    with pytest.raises(StoreError, match="the table 'criterion' is missing"):
        iso.store.open(address)


def test_a_database_of_other_software_is_left_alone(address: str) -> None:
    database = Database(read_address(address))
    database.write(lambda c: c.execute(text("CREATE TABLE run (id int)")))
    with pytest.raises(StoreError, match=r"tables of other software \(such as 'run'\)"):
        iso.store.open(address)
    names = database.read(lambda c: inspect(c).get_table_names())
    database.close()
    assert names == ["run"]


LISTS = {
    "runs of an analysis": lambda store: store.runs("loans"),
    "runs of all": lambda store: store.runs(),
    "runs of a kind": lambda store: store.runs("loans", kind="audit"),
    "history": lambda store: store.history("tpr", analysis="loans", who={"sex": "F"}),
    "answer": lambda store: store.answer_to({"a": 1}),
    "alerts": lambda store: store.alerts("loans"),
    "watches": lambda store: store.watches("loans"),
    "cells": lambda store: store.cells.list("quick"),
    "cells of a state": lambda store: store.cells.list("quick", state="done"),
    "log": lambda store: store.log(),
}


@pytest.mark.parametrize("what", LISTS)
def test_every_list_uses_an_index(store: Store, what: str) -> None:
    """The plan of every statement of a list names an index, and no table is scanned from end to end."""
    store.keep(audited(), analysis="loans")
    statements: list[tuple[str, Any]] = []

    @event.listens_for(store.database.engine, "before_cursor_execute")
    def remember(connection: Any, cursor: Any, statement: str, parameters: Any, *others: Any) -> None:
        if statement.lstrip().upper().startswith("SELECT"):
            statements.append((statement, parameters))

    LISTS[what](store)
    event.remove(store.database.engine, "before_cursor_execute", remember)
    assert statements
    for statement, parameters in statements:
        plan = explain(store, statement, parameters)
        assert "index" in plan.lower(), f"{statement}\n{plan}"
        assert "Seq Scan" not in plan
        assert "SCAN run\n" not in f"{plan}\n"


def explain(store: Store, statement: str, parameters: Any) -> str:
    """What the database says about how it would answer."""
    sqlite = store.address.is_file

    def work(connection: Any) -> str:
        if not sqlite:  # on an empty table a scan is cheaper than any index
            connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
            connection.exec_driver_sql("SET LOCAL enable_sort = off")
        found = connection.exec_driver_sql(f"EXPLAIN {'QUERY PLAN ' if sqlite else ''}{statement}", parameters).all()
        return "\n".join(str(row[-1]) for row in found)

    return store.database.read(work)


def test_the_log_is_only_added_to(store: Store) -> None:
    run = store.keep(audited(), analysis="loans")
    store.remove(run)
    lines = store.database.read(lambda c: c.execute(select(tables.log).order_by(tables.log.c.id)).all())
    assert [line.action for line in lines] == ["keep", "remove"]
