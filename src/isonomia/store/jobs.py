"""Jobs: work that somebody asked for and another process does, with events on the way and a request to stop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select

from isonomia.errors import StoreError
from isonomia.store import tables
from isonomia.store.ids import new_id, now
from isonomia.store.keys import check_slug, printable
from isonomia.store.leases import SECONDS, Lease, LeasedRows, State


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job and how far it is.

    Attributes
    ----------
    key : str
        A UUID of version 7.
    queue : str
    state : "waiting", "running", "done" or "failed"
    spec : mapping
        What is to be done.
    stage : str or None
    done, total : int or None
        How many parts of the stage are finished.
    cancel : bool
        Whether somebody asked it to stop.
    run : str or None
        The run that it was kept as.
    error : mapping or None
        Why it failed.
    created, finished : datetime
    """

    key: str
    queue: str
    state: State
    spec: Mapping[str, Any]
    stage: str | None
    done: int | None
    total: int | None
    cancel: bool
    run: str | None
    error: Mapping[str, Any] | None
    created: datetime
    finished: datetime | None


class Jobs(LeasedRows):
    """The jobs of a store: submit one, claim it, report on it, finish or fail it; ask it to stop; list them.

    Examples
    --------
    >>> import tempfile
    >>> import isonomia as iso
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = iso.store.open(f"{folder.name}/runs.db")
    >>> job = store.jobs.submit("audits", {"dataset": "people.csv"})
    >>> lease = store.jobs.claim("audits")
    >>> store.jobs.report(lease, stage="group_fairness", done=1, total=8)
    True
    >>> store.jobs.cancel(job.key)
    >>> store.jobs.report(lease, stage="calibration", done=2, total=8)  # False: somebody asked it to stop
    False
    >>> store.jobs.fail(lease, "cancelled")
    >>> store.jobs.get(job.key).state, [event["done"] for event in store.jobs.events(job.key)]
    ('failed', [1, 2])
    >>> store.close(); folder.cleanup()
    """

    table = tables.job
    part = "queue"

    def submit(self, queue: str, spec: Mapping[str, Any]) -> Job:
        """Ask for some work."""
        key, slug = new_id(), check_slug(queue, "queue")

        def work(connection: Connection) -> None:
            columns = self.table.c
            if connection.execute(select(columns.key).where(columns.key == key)).first() is not None:
                return  # the answer to an earlier try was lost
            (row,) = self._new(connection, slug, {key: spec})
            connection.execute(self.table.insert().values(**row, cancel=False))

        self.database.write(work)
        return self.get(key)

    def claim(self, queue: str, *, owner: str | None = None, seconds: float = SECONDS) -> Lease | None:
        """The oldest job that nobody works on, for `seconds`; None where none waits."""
        return self._claim(self._of(queue), owner=owner, seconds=seconds)

    def report(self, lease: Lease, *, stage: str, done: int, total: int, seconds: float = SECONDS) -> bool:
        """Record how far it is, and renew the lease; False where somebody asked the job to stop."""
        self.renew(lease, seconds=seconds)
        facts: dict[str, Any] = {"stage": printable(stage, 200), "done": done, "total": total}

        def work(connection: Connection) -> bool:
            columns = self.table.c
            connection.execute(self.table.update().where(columns.key == lease.key).values(**facts))
            last = select(func.max(tables.job_event.c.seq)).where(tables.job_event.c.job == lease.key)
            number = 1 + (connection.execute(last).scalar_one() or 0)
            row = {"job": lease.key, "seq": number, "at": now(), "body": facts}
            connection.execute(tables.job_event.insert().values(**row))
            return not connection.execute(select(columns.cancel).where(columns.key == lease.key)).scalar_one()

        return self.database.write(work)

    def finish(self, lease: Lease, *, run: str | None = None) -> None:
        """Record that it is done, and the run that it was kept as."""
        self._settle(lease, "done", {"run": run, "error": None})

    def fail(self, lease: Lease, reason: str) -> None:
        """Record that it failed, and why."""
        self._settle(lease, "failed", {"error": {"reason": reason}})

    def cancel(self, key: str) -> None:
        """Ask a job to stop; one that nobody works on yet has failed at once."""

        def work(connection: Connection) -> None:
            columns = self.table.c
            one = columns.key == key
            if connection.execute(self.table.update().where(one).values(cancel=True)).rowcount != 1:
                raise StoreError(f"The store has no job '{printable(key)}'.")
            ended = {"state": "failed", "finished": now(), "error": {"reason": "cancelled"}}
            connection.execute(self.table.update().where(one, columns.state == "waiting").values(**ended))

        self.database.write(work)

    def get(self, key: str) -> Job:
        """A job by its key."""
        rows = self.database.read(lambda c: c.execute(select(self.table).where(self.table.c.key == key)).all())
        if not rows:
            raise StoreError(f"The store has no job '{printable(key)}'.")
        return _read(rows[0])

    def events(self, key: str, *, after: int = 0) -> list[dict[str, Any]]:
        """What a job reported, with the number of each event; only those after a number."""
        query = (
            select(tables.job_event)
            .where(tables.job_event.c.job == key, tables.job_event.c.seq > after)
            .order_by(tables.job_event.c.seq)
        )
        rows = self.database.read(lambda connection: connection.execute(query).all())
        return [{"seq": row.seq, "at": row.at, **row.body} for row in rows]

    def list(self, queue: str, *, limit: int = 100) -> list[Job]:
        """The jobs of a queue, the newest first."""
        columns = self.table.c
        query = select(self.table).where(self._of(queue))
        query = query.order_by(columns.created.desc()).limit(limit)
        return [_read(row) for row in self.database.read(lambda connection: connection.execute(query).all())]


def _read(row: Any) -> Job:
    return Job(**{name: getattr(row, name) for name in Job.__dataclass_fields__})
