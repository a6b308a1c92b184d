"""Work that several processes share: one of them claims an item for a while, renews its claim, and settles it once.

An item is a row with `state`, `position`, `lease_owner`, `lease_token`, `lease_until` and `attempts`. A claim puts a
new token into the row; only who knows the token can renew or settle it. Where a process dies, its lease runs out and
the item can be claimed again, `MAX_ATTEMPTS` times; then it has failed.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal

from sqlalchemy import ColumnElement, Connection, Table, func, select

from isonomia.errors import LeaseLost
from isonomia.store.database import Database
from isonomia.store.ids import new_id, now
from isonomia.store.keys import check_slug, printable

#: How an item stands.
State = Literal["waiting", "running", "done", "failed"]
STATES: tuple[State, ...] = ("waiting", "running", "done", "failed")
#: Seconds for which a claim holds where nothing else is asked for.
SECONDS = 120.0
#: How often an item is given out before it counts as failed.
MAX_ATTEMPTS = 3


@dataclass(frozen=True)
class Lease:
    """An item that belongs to one process until a moment.

    Attributes
    ----------
    key : str
        Of the item.
    token : str
        What proves the claim.
    until : datetime
        When it ends, unless it is renewed.
    attempt : int
        1 the first time the item is claimed.
    spec : mapping
        What is to be done.
    """

    key: str
    token: str
    until: datetime
    attempt: int
    spec: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LeasedRows:
    """The rows of a table that processes claim; a subclass names the table and says what its rows are.

    Attributes
    ----------
    database : Database
    table : Table
        With the columns that `tables` gives to work.
    part : str
        The column that says which rows belong together: a benchmark, a queue.
    """

    database: Database
    table: ClassVar[Table]
    part: ClassVar[str]

    def renew(self, lease: Lease, *, seconds: float = SECONDS) -> Lease:
        """The lease with `seconds` more from now; `LeaseLost` where it ran out and somebody else has the item."""

        def work(connection: Connection) -> datetime:
            until = self.database.now(connection) + timedelta(seconds=seconds)
            self._update(connection, lease, {"lease_until": until})
            return until

        return replace(lease, until=self.database.write(work))

    def _of(self, name: str) -> ColumnElement[bool]:
        return self.table.c[self.part] == check_slug(name, self.part)

    def _new(self, connection: Connection, name: str, specs: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Rows that wait, one for each key and spec, after those that are there."""
        last = connection.execute(select(func.max(self.table.c.position)).where(self._of(name))).scalar_one()
        shared = {self.part: name, "state": "waiting", "attempts": 0, "created": now()}
        return [
            {**shared, "key": key, "position": position, "spec": dict(spec)}
            for position, (key, spec) in enumerate(specs.items(), 1 + (last or 0))
        ]

    def _claim(self, *where: ColumnElement[bool], owner: str | None, seconds: float) -> Lease | None:
        """An item that nobody works on, the first by its position; None where none is left."""
        token, who = new_id(), printable(owner or this_process(), 200)

        def work(connection: Connection) -> Lease | None:
            columns = self.table.c
            given = connection.execute(self._chosen(columns.lease_token == token)).one_or_none()
            if given is None:  # else the answer to an earlier try was lost
                moment = self.database.now(connection)
                self._give_up(connection, where, moment)
                free = self._free(connection, where, moment)
                until = moment + timedelta(seconds=seconds)
                connection.execute(
                    self.table.update()
                    .where(columns.key == free)
                    .values(
                        state="running",
                        lease_owner=who,
                        lease_token=token,
                        lease_until=until,
                        attempts=columns.attempts + 1,
                    )
                )
                given = connection.execute(self._chosen(columns.lease_token == token)).one_or_none()
            if given is None:
                return None
            return Lease(key=given.key, token=token, until=given.lease_until, attempt=given.attempts, spec=given.spec)

        return self.database.write(work)

    def _settle(self, lease: Lease, state: State, values: Mapping[str, Any] | None = None) -> None:
        """Record how the item ended, once; an error where the lease was lost in the meantime."""

        def work(connection: Connection) -> None:
            row = connection.execute(self._chosen(self.table.c.key == lease.key)).one_or_none()
            if row is not None and row.lease_token == lease.token and row.state == state != "running":
                return  # the answer to an earlier try was lost
            finished = None if state == "waiting" else self.database.now(connection)
            self._update(
                connection, lease, {"state": state, "finished": finished, "lease_until": None, **(values or {})}
            )

        self.database.write(work)

    def counts(self, name: str) -> dict[State, int]:
        """How many items of a benchmark or a queue stand how."""
        columns = self.table.c
        query = select(columns.state, func.count()).where(self._of(name)).group_by(columns.state)
        found = {
            str(state): int(n) for state, n in self.database.read(lambda connection: connection.execute(query).all())
        }
        return {state: found.get(state, 0) for state in STATES}

    def _chosen(self, *where: ColumnElement[bool]) -> Any:
        columns = self.table.c
        return (
            select(columns.key, columns.state, columns.lease_token, columns.lease_until, columns.attempts, columns.spec)
            .where(*where)
            .order_by(columns.position)
        )

    def _free(self, connection: Connection, where: Sequence[ColumnElement[bool]], moment: datetime) -> str | None:
        """The key of an item that waits, else of one whose lease ran out, locked for this transaction."""
        columns = self.table.c
        for condition in (columns.state == "waiting", (columns.state == "running") & (columns.lease_until < moment)):
            query = select(columns.key).where(*where, condition).order_by(columns.position).limit(1)
            key: str | None = connection.execute(query.with_for_update(skip_locked=True)).scalar_one_or_none()
            if key is not None:
                return key
        return None

    def _give_up(self, connection: Connection, where: Sequence[ColumnElement[bool]], moment: datetime) -> None:
        """Items whose processes died `MAX_ATTEMPTS` times have failed."""
        columns = self.table.c
        error = {"reason": f"The process that worked on it ended {MAX_ATTEMPTS} times without a result."}
        over = (columns.state == "running") & (columns.lease_until < moment) & (columns.attempts >= MAX_ATTEMPTS)
        connection.execute(
            self.table.update()
            .where(*where, over)
            .values(state="failed", finished=moment, lease_until=None, error=error)
        )

    def _update(self, connection: Connection, lease: Lease, values: Mapping[str, Any]) -> None:
        columns = self.table.c
        claimed_row = (columns.key == lease.key) & (columns.lease_token == lease.token) & (columns.state == "running")
        if connection.execute(self.table.update().where(claimed_row).values(**values)).rowcount != 1:
            raise LeaseLost(
                f"The lease of '{lease.key}' was lost: it expired, and another process claimed or removed the item. "
                "Discard the result, and renew leases before they expire."
            )


def this_process() -> str:
    """The machine and the process, as the owner of a lease."""
    return f"{socket.gethostname()}:{os.getpid()}"
