"""Runs as files: a folder per run, with its record byte by byte, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import select

from isonomia.atomic import atomic_write
from isonomia.audit import Report
from isonomia.errors import DataError, StoreError
from isonomia.report import SCHEMA_VERSION
from isonomia.store import tables
from isonomia.store.analyses import add_analysis
from isonomia.store.database import Database
from isonomia.store.ids import new_id
from isonomia.store.keys import check_slug
from isonomia.store.records import MAX_BYTES, from_bytes, pack, unpack
from isonomia.store.rows import RunRows, rows_of
from isonomia.store.runs import add_run, list_runs, record_of

#: What describes an exported store, and what a run's record is called.
MANIFEST, REPORT, RESULT = "store.json", "report.json", "result.json"
_EXPORT_VERSION = 1
_TIMES = ("created", "finished", "signed_at")


def export_runs(database: Database, folder: Path, analysis: str | None = None) -> int:
    """Write every run into ``folder/ANALYSIS/ID/``, and what the store knows besides into store.json."""
    slug = None if analysis is None else check_slug(analysis)
    runs = database.read(lambda connection: list_runs(connection, analysis=slug, limit=1 << 31))[::-1]
    chosen = select(tables.analysis).order_by(tables.analysis.c.slug)
    chosen = chosen if slug is None else chosen.where(tables.analysis.c.slug == slug)
    analyses = [dict(row._mapping) for row in database.read(lambda connection: connection.execute(chosen).all())]
    folder.mkdir(parents=True, exist_ok=True)
    for run in runs:
        packed = database.read(lambda connection, run=run: record_of(connection, run.id))  # type: ignore[misc]
        target = folder / run.analysis / run.id
        target.mkdir(parents=True, exist_ok=True)
        with atomic_write(target / (REPORT if run.kind == "audit" else RESULT)) as part:
            part.write_bytes(unpack(packed, run.record_sha256, f"run {run.id}"))
    manifest = {
        "isonomia_store": _EXPORT_VERSION,
        "analyses": [_plain(one) for one in analyses],
        "runs": [_plain(asdict(run)) for run in runs],
    }
    with atomic_write(folder / MANIFEST) as part:
        part.write_text(json.dumps(manifest, indent=1) + "\n", encoding="ascii")
    return len(runs)


def import_runs(database: Database, folder: Path, analysis: str | None = None) -> tuple[int, int]:
    """Add the runs of an exported folder, or every report.json in it; returns how many are new and how many were known.

    A report that the analysis has already is left out.
    """
    if not folder.is_dir():
        raise StoreError(f"There is no folder '{folder}' to import from.")
    found = _exported(folder) if (folder / MANIFEST).is_file() else _reports(folder, analysis)
    new = known = 0
    for run_id, slug, rows, record in found:
        packed = pack(record)

        def work(
            connection: Any, run_id: str = run_id, slug: str = slug, rows: RunRows = rows, packed: Any = packed
        ) -> bool:
            if _is_known(connection, run_id, slug, packed[1]):
                return False
            add_run(connection, run_id, slug, rows, packed, action="import")
            return True

        fresh = database.write(work)
        new, known = new + fresh, known + (not fresh)
    if (folder / MANIFEST).is_file():
        analyses = _manifest(folder)["analyses"]
        database.write(lambda connection: _describe(connection, analyses))
    return new, known


def rows_of_record(record: bytes, what: str) -> RunRows:
    """The rows of an audit's record as it lies in a file."""
    values = from_bytes(record, what)
    if not isinstance(values, Mapping):
        raise StoreError(f"The record of {what} is not a report.")
    try:
        rows = rows_of(Report.from_dict(values))
    except DataError as error:
        raise StoreError(f"The record of {what} cannot be read: {error}") from None
    version = str(values.get("schema_version", SCHEMA_VERSION))
    return RunRows(run={**rows.run, "schema_version": version}, parts=rows.parts)


def _exported(folder: Path) -> Iterator[tuple[str, str, RunRows, bytes]]:
    for given in _manifest(folder)["runs"]:
        slug, run_id = check_slug(given["analysis"]), str(given["id"])
        if not run_id.replace("-", "").isalnum():
            raise StoreError(f"'{folder / MANIFEST}' contains an invalid run id: {run_id[:80]!r}.")
        name = REPORT if given["kind"] == "audit" else RESULT
        record = _read(folder / slug / run_id / name)
        rows = rows_of_record(record, f"run {run_id}") if given["kind"] == "audit" else RunRows(run={})
        facts = {key: value for key, value in given.items() if key not in ("id", "analysis", "record_sha256")}
        facts |= {key: None if facts[key] is None else datetime.fromisoformat(facts[key]) for key in _TIMES}
        yield run_id, slug, RunRows(run={**rows.run, **facts}, parts=rows.parts), record


def _reports(folder: Path, analysis: str | None) -> Iterator[tuple[str, str, RunRows, bytes]]:
    paths = sorted(folder.rglob(REPORT))
    if not paths:
        raise StoreError(f"There is no {REPORT} and no {MANIFEST} in '{folder}'.")
    if analysis is None:
        raise StoreError(f"'{folder}' does not name the analysis of its reports. Pass --analysis NAME.")
    for path in paths:
        record = _read(path)
        yield new_id(), check_slug(analysis), rows_of_record(record, f"'{path}'"), record


def _manifest(folder: Path) -> Any:
    values = from_bytes(_read(folder / MANIFEST), f"'{folder / MANIFEST}'")
    if not isinstance(values, Mapping) or values.get("isonomia_store") != _EXPORT_VERSION:
        raise StoreError(f"'{folder / MANIFEST}' was not written by this version of Isonomia; export the store again.")
    return values


def _is_known(connection: Any, run_id: str, slug: str, sha256: str) -> bool:
    """Whether the store has the run, or the same record in the same analysis."""
    same = connection.execute(select(tables.run.c.record_sha256).where(tables.run.c.id == run_id)).scalar_one_or_none()
    if same is not None and same != sha256:
        raise StoreError(f"The store has another record of the run {run_id}; remove one of the two first.")
    query = select(tables.run.c.id).where(tables.run.c.record_sha256 == sha256, tables.run.c.analysis == slug)
    return same is not None or connection.execute(query.limit(1)).first() is not None


def _describe(connection: Any, analyses: list[dict[str, Any]]) -> None:
    """Titles, owners and baselines of analyses that the store did not know."""
    for given in analyses:
        slug = check_slug(given["slug"])
        add_analysis(connection, slug)
        facts = {name: given.get(name) for name in ("title", "owner", "baseline_run", "tags")}
        facts["created"] = datetime.fromisoformat(given["created"])
        empty = (
            (tables.analysis.c.slug == slug)
            & tables.analysis.c.baseline_run.is_(None)
            & tables.analysis.c.title.is_(None)
        )
        connection.execute(tables.analysis.update().where(empty).values(**facts))


def _read(path: Path) -> bytes:
    if not path.is_file():
        raise StoreError(f"The file '{path}' is missing.")
    if path.stat().st_size > MAX_BYTES:
        raise StoreError(f"'{path}' is larger than {MAX_BYTES:,} bytes; it is not a record of Isonomia.")
    return path.read_bytes()


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in values.items()}
