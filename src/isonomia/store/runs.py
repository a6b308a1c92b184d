"""Runs in the database: added whole, listed, found by id, removed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Select, select

from isonomia.errors import StoreError
from isonomia.store import tables
from isonomia.store.analyses import add_analysis
from isonomia.store.ids import now
from isonomia.store.keys import check_slug, printable
from isonomia.store.log import add_log
from isonomia.store.rows import RunRows

#: What a run is the record of.
Kind = Literal["audit", "discovery", "mitigation"]
#: Rows of one statement; both databases limit the values of one.
_BATCH = 500


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run of an analysis: what the store lists of it. `Store.load` gives the report itself.

    Attributes
    ----------
    id : str
        A UUID of version 7: ids sort by the time they were kept.
    analysis : str
    kind : "audit", "discovery" or "mitigation"
    state : str
    created, finished : datetime
        When it was made, and when it was kept.
    dataset_fp, model_fp, spec_hash, policy_id, policy_hash : str or None
    seed : int or None
    version, schema_version, task : str or None
    rows : int or None
    verdict, worst : str or None
        What the policy says; the worst severity among the findings.
    n_findings : int or None
    signed_by, signed_at : optional
    question : str or None
        What a search was asked, as a hash.
    record_sha256 : str
        The hash of the record, which is compared whenever it is read.
    """

    id: str
    analysis: str
    kind: Kind
    state: str
    created: datetime
    finished: datetime | None
    dataset_fp: str | None
    model_fp: str | None
    spec_hash: str | None
    policy_id: str | None
    policy_hash: str | None
    seed: int | None
    version: str | None
    schema_version: str | None
    task: str | None
    rows: int | None
    verdict: str | None
    worst: str | None
    n_findings: int | None
    signed_by: str | None
    signed_at: datetime | None
    question: str | None
    record_sha256: str


_COLUMNS = tuple(field.name for field in fields(Run))


def add_run(
    connection: Connection,
    run_id: str,
    analysis: str,
    rows: RunRows,
    record: tuple[bytes, str],
    *,
    action: str = "keep",
) -> bool:
    """Add a run with everything that belongs to it; False where it is there already."""
    if connection.execute(_runs().where(tables.run.c.id == run_id)).one_or_none() is not None:
        return False  # the answer to an earlier try was lost
    packed, sha256 = record
    add_analysis(connection, analysis)
    given = {"finished": now(), **rows.run}
    row = {**given, "id": run_id, "analysis": analysis, "record": packed, "record_sha256": sha256}
    connection.execute(tables.run.insert().values(**row))
    for name, part in rows.parts.items():
        common: dict[str, Any] = {"run": run_id, **({"analysis": analysis} if name == "figure" else {})}
        insert_all(connection, tables.metadata.tables[name], [{**one, **common} for one in part])
    add_log(connection, action, f"run:{run_id}", {"analysis": analysis, "record_sha256": sha256})
    return True


def insert_all(connection: Connection, table: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows, some hundreds at a time."""
    for start in range(0, len(rows), _BATCH):
        connection.execute(table.insert(), list(rows[start : start + _BATCH]))


def list_runs(
    connection: Connection,
    *,
    analysis: str | None = None,
    kind: Kind | None = None,
    before: datetime | None = None,
    limit: int = 100,
) -> list[Run]:
    """Runs, the newest first."""
    query = _runs().order_by(tables.run.c.created.desc(), tables.run.c.id.desc()).limit(limit)
    if analysis is not None:
        query = query.where(tables.run.c.analysis == check_slug(analysis))
    if kind is not None:
        query = query.where(tables.run.c.kind == kind)
    if before is not None:
        query = query.where(tables.run.c.created < before)
    return _read(connection.execute(query))


def find_run(connection: Connection, given: str | Run) -> Run:
    """The run with this id, or the only one whose id begins so; of an analysis, the last one."""
    wanted = given.id if isinstance(given, Run) else str(given)
    exact = _read(connection.execute(_runs().where(tables.run.c.id == wanted)))
    if exact:
        return exact[0]
    if len(wanted) >= 8:
        found = _read(connection.execute(_runs().where(tables.run.c.id.startswith(wanted, autoescape=True)).limit(2)))
        if len(found) == 1:
            return found[0]
        if found:
            raise StoreError(f"Several runs begin with '{printable(wanted)}'; give more of the id.")
    named = _read(
        connection.execute(
            _runs()
            .where(tables.run.c.analysis == wanted)
            .order_by(tables.run.c.created.desc(), tables.run.c.id.desc())
            .limit(1)
        )
    )
    if named:
        return named[0]
    raise StoreError(
        f"The store has no run '{printable(wanted)}'. Give the id of a run or its first eight characters, or the name "
        "of an analysis for its last run; see: isonomia runs list."
    )


def record_of(connection: Connection, run_id: str) -> bytes:
    """The packed record of a run."""
    packed: bytes = connection.execute(select(tables.run.c.record).where(tables.run.c.id == run_id)).scalar_one()
    return packed


def remove_run(connection: Connection, found: Run) -> None:
    """Remove a run and everything that belongs to it, unless it is gone already; the log keeps that it was there."""
    if connection.execute(tables.run.delete().where(tables.run.c.id == found.id)).rowcount:
        connection.execute(
            tables.analysis.update().where(tables.analysis.c.baseline_run == found.id).values(baseline_run=None)
        )
        note = {"analysis": found.analysis, "record_sha256": found.record_sha256}
        add_log(connection, "remove", f"run:{found.id}", note)


def _runs() -> Select[Any]:
    """Everything about runs but their records."""
    return select(*(tables.run.c[name] for name in _COLUMNS))


def _read(rows: Iterable[Any]) -> list[Run]:
    return [Run(**row._mapping) for row in rows]


def set_baseline(connection: Connection, given: str | Run) -> Run:
    """Make a run the one that later runs of its analysis are compared with."""
    found = find_run(connection, given)
    if found.kind != "audit":
        raise StoreError(f"A baseline is an audit; the run {found.id} is a {found.kind}.")
    connection.execute(
        tables.analysis.update().where(tables.analysis.c.slug == found.analysis).values(baseline_run=found.id)
    )
    add_log(connection, "baseline", f"run:{found.id}", {"analysis": found.analysis})
    return found
