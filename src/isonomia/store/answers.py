"""Results that are not audits: what a search found, and which fixes were tried, as records and back.

The answer of a search is found again by its question: the method and its options, the data, the model, the seed and the
version of Isonomia.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from sqlalchemy import Connection, select
from sqlalchemy.dialects import postgresql, sqlite

from isonomia._version import __version__
from isonomia.discovery import SearchResult
from isonomia.errors import StoreError
from isonomia.evidence import SEVERITIES, Result
from isonomia.report import SCHEMA_VERSION
from isonomia.store import tables
from isonomia.store.database import Database
from isonomia.store.ids import now
from isonomia.store.keys import digest, printable
from isonomia.store.records import as_bytes, from_bytes, pack, unpack
from isonomia.store.rows import RunRows, finding_rows
from isonomia.store.runs import Kind

T = TypeVar("T")


def record_of_result(
    result: Result, question: Mapping[str, Any] | None, again: Mapping[str, Any] | None
) -> tuple[RunRows, bytes]:
    """The rows and the record of a result; `again` is what gives the same answer without a search."""
    search = isinstance(result, SearchResult)
    kind: Kind = "discovery" if search else "mitigation"
    created = now()
    values = {
        "schema_version": SCHEMA_VERSION,
        "isonomia_version": __version__,
        "kind": kind,
        "created": created.isoformat(),
        "question": question,
        "again": again,
        "result": result.to_dict(),
    }
    identity = question or {}
    worst = next((grade for grade in SEVERITIES if any(one.severity == grade for one in result.findings)), None)
    run = {
        "kind": kind,
        "state": "done",
        "created": created,
        "question": None if question is None else digest(question),
        "dataset_fp": identity.get("data"),
        "model_fp": identity.get("model"),
        "seed": identity.get("seed"),
        "version": __version__,
        "schema_version": SCHEMA_VERSION,
        "verdict": printable(result.verdict) if hasattr(result, "verdict") else None,
        "worst": worst,
        "n_findings": len(result.findings),
    }
    return RunRows(run=run, parts={"finding": finding_rows(result.findings)}), as_bytes(values)


def result_of(values: Any) -> Result:
    """The result of a record."""
    if not isinstance(values, Mapping) or not isinstance(values.get("result"), Mapping):
        raise StoreError("The record is not a result of Isonomia; restore the store from a backup.")
    given = values["result"]
    base = Result.from_dict(given)
    if values.get("kind") != "discovery":
        return base
    parts = {field.name: getattr(base, field.name) for field in fields(Result)}
    return SearchResult(**parts, method=given["method"], metrics=given["metrics"])


def find_answer(connection: Connection, question: Mapping[str, Any]) -> tuple[str, bytes, str] | None:
    """The id, the packed record and the hash of the newest answer to a question."""
    query = select(tables.run.c.id, tables.run.c.record, tables.run.c.record_sha256).where(
        tables.run.c.question == digest(question)
    )
    row = connection.execute(query.order_by(tables.run.c.created.desc()).limit(1)).one_or_none()
    return None if row is None else (row.id, row.record, row.record_sha256)


def trained_before(
    database: Database,
    key: Mapping[str, Any],
    train: Callable[[], T],
    *,
    write: Callable[[T], Mapping[str, Any]],
    read: Callable[[Mapping[str, Any]], T],
) -> T:
    """What was trained for a key; trained now, and kept, where it was not."""
    name = digest({**key, "isonomia": __version__})
    query = select(tables.trained.c.record, tables.trained.c.record_sha256).where(tables.trained.c.key == name)
    found = database.read(lambda connection: connection.execute(query).one_or_none())
    if found is not None:
        what = f"what was trained as '{key.get('kind')}'"
        return read(from_bytes(unpack(found.record, found.record_sha256, what), what))
    made = train()
    packed, sha256 = pack(as_bytes(write(made)))
    row = {"key": name, "kind": str(key["kind"]), "created": now(), "record": packed, "record_sha256": sha256}

    def work(connection: Connection) -> None:
        insert: Any = (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(tables.trained)
        connection.execute(insert.values(**row).on_conflict_do_nothing())

    database.write(work)
    return made
