"""A store: what was found before, in a SQLite file or a PostgreSQL database."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from sqlalchemy import Connection

from isonomia.audit import Comparison, Measure, Report, compare
from isonomia.counting import Cells
from isonomia.errors import StoreError
from isonomia.evidence import Result
from isonomia.report import SCHEMA_VERSION, dumps
from isonomia.store.address import Address
from isonomia.store.analyses import Analysis, list_analyses
from isonomia.store.answers import find_answer, record_of_result, result_of, trained_before
from isonomia.store.benchmark_cells import BenchmarkCells
from isonomia.store.database import Database
from isonomia.store.ids import new_id
from isonomia.store.jobs import Jobs
from isonomia.store.keys import check_slug, escaped, who_key
from isonomia.store.log import LogLine, actor, list_log
from isonomia.store.over_time.history import LIMIT, read_history
from isonomia.store.over_time.looking import NewRun, look_at
from isonomia.store.over_time.since import with_section
from isonomia.store.over_time.watches import (
    Alert,
    Rule,
    Watch,
    add_watch,
    close_alert,
    end_watch,
    list_alerts,
    list_watches,
)
from isonomia.store.records import from_bytes, pack, unpack
from isonomia.store.rows import RunRows, attribute_key, rows_of
from isonomia.store.runs import Kind, Run, add_run, find_run, list_runs, record_of, remove_run, set_baseline
from isonomia.store.tallies import MIN_CELL, add_cells, read_cells
from isonomia.store.transfer import export_runs, import_runs

T = TypeVar("T")


class Store:
    """Runs, figures and benchmark cells in a database. `isonomia.store.open` gives one.

    It can be shared by threads, used by a forked process and sent to another one; close it, or use it in a ``with``
    statement, to let go of the database's connections.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    @property
    def address(self) -> Address:
        """Where it is; shown without its password."""
        return self.database.address

    # runs -------------------------------------------------------------------------------------------------------

    def keep(self, report: Report | Result, *, analysis: str) -> Run:
        """Keep a report as a run of an analysis: all of it or, after an error, nothing.

        The watches of the analysis look at an audit: `alerts` lists what they saw.

        Parameters
        ----------
        report : Report, or the Result of a search or of mitigations
        analysis : str
            The analysis it belongs to, such as "loans": what is compared over time.

        Returns
        -------
        Run
        """
        if isinstance(report, Result):
            rows, record = record_of_result(report, None, None)
            return self._add(rows, pack(record), check_slug(analysis))
        record = dumps(report.document).encode("ascii")
        rows = rows_of(report)
        rows.run["schema_version"] = SCHEMA_VERSION
        return self._add(rows, pack(record), check_slug(analysis))

    def continued(self, report: Report, *, analysis: str) -> Report:
        """The report with a section on what changed since the last audit of the analysis, unless it is the first."""
        last = self.runs(analysis, kind="audit", limit=1)
        return report if not last else with_section(report, self.load(last[0]), last[0].created)

    def runs(
        self, analysis: str | None = None, *, kind: Kind | None = None, before: datetime | None = None, limit: int = 100
    ) -> list[Run]:
        """Runs of an analysis, or of all, the newest first; `before` a time, to go on where a list ended."""
        return self.database.read(lambda c: list_runs(c, analysis=analysis, kind=kind, before=before, limit=limit))

    def run(self, run: str | Run) -> Run:
        """The run with an id, or whose id begins so; of an analysis, its last run."""
        return self.database.read(lambda connection: find_run(connection, run))

    def record(self, run: str | Run) -> bytes:
        """The record of a run as it was kept, byte by byte: the report.json of an audit."""
        found = self.run(run)
        packed = self.database.read(lambda connection: record_of(connection, found.id))
        return unpack(packed, found.record_sha256, f"run {found.id}")

    def load(self, run: str | Run) -> Any:
        """What was kept: the `Report` of an audit, the `Result` of a search or of mitigations.

        Its hash is compared with the one that was kept.
        """
        found = self.run(run)
        values = from_bytes(self.record(found), f"run {found.id}")
        return Report.from_dict(values) if found.kind == "audit" else result_of(values)

    def compare(self, before: str | Run, after: str | Run) -> Comparison:
        """What changed from one audit to another."""
        runs = [self.run(one) for one in (before, after)]
        for one in runs:
            if one.kind != "audit":
                raise StoreError(f"Only audits can be compared; the run {one.id} is a {one.kind}.")
        return compare(*(self.load(one) for one in runs))

    def remove(self, run: str | Run) -> Run:
        """Remove a run and everything that belongs to it; the log keeps that it was there."""
        found = self.run(run)
        self.database.write(lambda connection: remove_run(connection, found))
        return found

    def analyses(self) -> list[Analysis]:
        """The analyses, by name."""
        return self.database.read(list_analyses)

    def set_baseline(self, run: str | Run) -> Run:
        """Make a run the one that watches of the rule "change" compare the later runs of its analysis with."""
        return self.database.write(lambda connection: set_baseline(connection, run))

    def export(self, folder: str | os.PathLike[str], *, analysis: str | None = None) -> int:
        """Write all runs as files, their records byte by byte; returns how many. `import_` reads them again."""
        return export_runs(self.database, Path(folder), analysis)

    def import_(self, folder: str | os.PathLike[str], *, analysis: str | None = None) -> tuple[int, int]:
        """Add the runs of a folder that `export` wrote, or every report.json in a folder to the analysis named.

        Returns
        -------
        (int, int)
            How many are new, and how many the store had already.
        """
        return import_runs(self.database, Path(folder), analysis)

    def log(self, *, limit: int = 100) -> list[LogLine]:
        """Who did what, the newest first; nothing is ever removed from it."""
        return self.database.read(lambda connection: list_log(connection, limit))

    def keep_cells(self, run: str | Run, name: str, cells: Cells, *, min_cell: int = MIN_CELL) -> None:
        """Keep tallied cells with a run; those of fewer than `min_cell` rows are merged into one: none is a person."""
        found = self.run(run)
        self.database.write(lambda connection: add_cells(connection, found.id, name, cells, min_cell=min_cell))

    def load_cells(self, run: str | Run, name: str) -> Cells:
        """The cells that were kept with a run."""
        found = self.run(run)
        return self.database.read(lambda connection: read_cells(connection, found.id, name))

    # searches ---------------------------------------------------------------------------------------------------

    def keep_answer(
        self, result: Result, *, analysis: str, question: Mapping[str, Any], record: Mapping[str, Any]
    ) -> Run:
        """Keep what a search found, the question it answers, and what is needed to give the answer again."""
        rows, written = record_of_result(result, question, record)
        return self._add(rows, pack(written), check_slug(analysis))

    def answer_to(self, question: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The record of the newest answer to the same question; None where there is none."""
        found = self.database.read(lambda connection: find_answer(connection, question))
        if found is None:
            return None
        run, packed, sha256 = found
        values: Mapping[str, Any] = from_bytes(unpack(packed, sha256, f"run {run}"), f"run {run}")
        return values

    def trained(
        self,
        key: Mapping[str, Any],
        train: Callable[[], T],
        *,
        write: Callable[[T], Mapping[str, Any]],
        read: Callable[[Mapping[str, Any]], T],
    ) -> T:
        """What was trained for a key before; trained now, and kept, where it was not."""
        return trained_before(self.database, key, train, write=write, read=read)

    # over time --------------------------------------------------------------------------------------------------

    def history(
        self,
        metric: str,
        *,
        analysis: str,
        measure: Measure = "value",
        who: Mapping[str, Any] | None = None,
        attributes: Sequence[str] | None = None,
        limit: int = LIMIT,
    ) -> Result:
        """A figure over the runs of an analysis, with its intervals and where its control chart alerts.

        Parameters
        ----------
        metric : str
            Such as "selection_rate".
        analysis : str
        measure : "value", "difference" or "ratio"
            The metric itself, or how far groups are apart in it.
        who : mapping, optional
            The people, as column and value; everyone where left out.
        attributes : sequence of str, optional
            The protected attributes, where several figures fit: ``["sex"]`` for the gap between all groups of sex.
        limit : int
            The newest runs only.
        """
        key = None if attributes is None else attribute_key(tuple(attributes))
        key = "" if key is None and who is None and measure == "value" else key
        return self.database.read(
            lambda connection: read_history(
                connection,
                analysis=check_slug(analysis),
                metric=escaped(metric),
                measure=measure,
                attribute=key,
                who=who_key(who or {}),
                limit=limit,
            )
        )

    def watch(
        self,
        analysis: str,
        *,
        rule: Rule,
        metric: str | None = None,
        measure: Measure = "value",
        who: Mapping[str, Any] | None = None,
        attributes: Sequence[str] | None = None,
    ) -> Watch:
        """Look at some figures with every new run of an analysis.

        Parameters
        ----------
        analysis : str
        rule : "policy", "change" or "chart"
            When to alert. "policy": a criterion exceeds the policy and did not in the run before. "change": a figure
            differs from that of the baseline run (see `set_baseline`): two-sample tests, corrected over all watched
            figures (Holm) and over repeated looks. "chart": a figure left the limits of its own history
            (`isonomia.store.over_time.charts`).
        metric, measure, who, attributes : optional
            The figures, as in `history`; without `who` and `attributes` all figures of the metric.
        """
        watch_id = new_id()
        return self.database.write(
            lambda connection: add_watch(
                connection,
                analysis=analysis,
                rule=rule,
                metric=None if metric is None else escaped(metric),
                measure=measure,
                attribute=None if attributes is None else attribute_key(tuple(attributes)),
                who=None if who is None else who_key(who),
                owner=actor(),
                watch_id=watch_id,
            )
        )

    def watches(self, analysis: str) -> list[Watch]:
        """What is watched in an analysis."""
        return self.database.read(lambda connection: list_watches(connection, analysis))

    def end_watch(self, watch: str) -> None:
        """Look no more; the alerts stay."""
        self.database.write(lambda connection: end_watch(connection, watch))

    def alerts(
        self, analysis: str, *, state: Literal["open", "closed"] | None = "open", run: str | None = None
    ) -> list[Alert]:
        """What the watches of an analysis saw, the newest first; those that nobody closed, unless asked otherwise."""
        return self.database.read(lambda connection: list_alerts(connection, analysis, state=state, run=run))

    def close_alert(self, alert: str, *, note: str) -> None:
        """Say what an alert was; it is then no longer open."""
        self.database.write(lambda connection: close_alert(connection, alert, by=actor(), note=note))

    # work that processes share ----------------------------------------------------------------------------------

    @cached_property
    def jobs(self) -> Jobs:
        """Work that somebody asked for, done by other processes."""
        return Jobs(self.database)

    @cached_property
    def cells(self) -> BenchmarkCells:
        """The cells of benchmarks, shared by processes through leases."""
        return BenchmarkCells(self.database)

    def _add(self, rows: RunRows, record: tuple[bytes, str], analysis: str) -> Run:
        run_id = new_id()

        def work(connection: Connection) -> Run:
            if add_run(connection, run_id, analysis, rows, record) and rows.run["kind"] == "audit":
                look_at(connection, NewRun(id=run_id, analysis=analysis, at=rows.run["created"]))
            return find_run(connection, run_id)

        return self.database.write(work)

    def close(self) -> None:
        """Close the connections."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        from isonomia.store.opening import open as reopen

        return (reopen, (self.address.url.render_as_string(hide_password=False),))

    def __repr__(self) -> str:
        return f"Store({self.address})"
