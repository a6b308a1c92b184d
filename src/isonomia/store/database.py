"""Reading and writing in transactions, the same for SQLite and PostgreSQL: settings, retries, errors in words."""

from __future__ import annotations

import os
import random
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, exc, func, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from isonomia.errors import StoreError
from isonomia.store.address import Address, check_place

T = TypeVar("T")

#: Milliseconds that SQLite waits for another writer.
BUSY_TIMEOUT = 10_000
#: Seconds for which a transaction is tried again after a lost connection or a conflict.
PATIENCE = 30.0
#: SQLSTATEs of PostgreSQL that say: try again (conflicts, lost connections, a server that starts or stops).
_TRANSIENT = ("40001", "40P01", "08", "57P01", "57P02", "57P03", "53300")
#: What a server that cannot be connected to says where trying again is of no use.
_LASTING = ("authentication", "no password", "does not exist", "permission denied", "could not translate host name")
_SQLITE_TRANSIENT = ("database is locked", "database table is locked")
_READS = "isonomia_reads"


class Database:
    """A database behind an address; every transaction is whole or not at all.

    Parameters
    ----------
    address : Address
    patience : float
        Seconds for which a transaction is tried again after a lost connection or a conflict.
    """

    def __init__(self, address: Address, *, patience: float = PATIENCE) -> None:
        self.address, self.patience = address, patience
        if address.is_file:
            check_place(address)
        self.engine = _sqlite(address) if address.is_file else _postgres(address)
        weakref.finalize(self, self.engine.dispose)  # connections of a store that nobody closed

    def read(self, work: Callable[[Connection], T]) -> T:
        """What `work` reads, from one consistent state."""
        return self._try(work, reads=True)

    def write(self, work: Callable[[Connection], T]) -> T:
        """What `work` returns once its changes are on disk.

        `work` is run again after a conflict or a lost connection, even where the lost answer was that of a commit: it
        has to recognise what it has already written, by an id chosen before.
        """
        return self._try(work, reads=False)

    def now(self, connection: Connection) -> datetime:
        """The time on the clock that all processes share: the server's, or this machine's for a file."""
        if self.address.is_file:
            return datetime.now(UTC)
        found: datetime = connection.execute(select(func.clock_timestamp())).scalar_one()
        return found.astimezone(UTC)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def _try(self, work: Callable[[Connection], T], *, reads: bool) -> T:
        ends = time.monotonic() + self.patience
        pause = 0.02
        while True:
            try:
                with self._explained(), self.engine.connect() as connection:
                    connection = connection.execution_options(**{_READS: reads})
                    with connection.begin():
                        return work(connection)
            except _AgainError as again:
                if time.monotonic() + pause > ends:
                    raise again.error from None
            time.sleep(pause * random.uniform(0.5, 1.5))
            pause = min(2 * pause, 1.0)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Errors of the driver as sentences without secrets; those that a second try may avoid as `_AgainError`."""
        try:
            yield
        except DBAPIError as error:
            explained = StoreError(self.address.hide(_sentence(error, self.address)))
            if _transient(error):
                raise _AgainError(explained) from None
            raise explained from None
        except SQLAlchemyError as error:
            raise StoreError(self.address.hide(f"The store {self.address} cannot be used: {error}")) from None


class _AgainError(Exception):
    """A transaction that may succeed when it is tried again."""

    def __init__(self, error: StoreError) -> None:
        super().__init__()
        self.error = error


def _sqlite(address: Address) -> Engine:
    engine = create_engine(address.url, connect_args={"timeout": BUSY_TIMEOUT / 1000}, pool_size=8, max_overflow=24)

    @event.listens_for(engine, "connect")
    def settle(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # transactions begin where we say, not where the driver guesses
        for pragma in ("journal_mode=WAL", "synchronous=FULL", f"busy_timeout={BUSY_TIMEOUT}", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        reads = connection.get_execution_options().get(_READS, False)
        connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")

    _own_process(engine)
    return engine


def _postgres(address: Address) -> Engine:
    named = {"application_name": "isonomia", "connect_timeout": "10"}
    given = {name: value for name, value in named.items() if name not in address.url.query}
    engine = create_engine(address.url, pool_pre_ping=True, connect_args=given, hide_parameters=True)
    _own_process(engine)
    return engine


def _own_process(engine: Engine) -> None:
    """A forked process opens connections of its own: those of its parent are left alone."""

    @event.listens_for(engine, "connect")
    def remember(connection: Any, record: Any) -> None:
        record.info["process"] = os.getpid()

    @event.listens_for(engine, "checkout")
    def check(connection: Any, record: Any, proxy: Any) -> None:
        if record.info["process"] != os.getpid():
            record.dbapi_connection = proxy.dbapi_connection = None
            raise exc.DisconnectionError("This connection belongs to another process.")


def _transient(error: Any) -> bool:
    if error.connection_invalidated:
        return True
    original = error.orig
    state = getattr(original, "sqlstate", None)
    if state is not None:
        return str(state).startswith(_TRANSIENT)
    text = str(original).lower()
    if type(original).__name__ == "OperationalError" and type(original).__module__.startswith("psycopg"):
        return not any(sign in text for sign in _LASTING)  # no answer from the server at all
    return any(sign in text for sign in _SQLITE_TRANSIENT)


#: What the databases' own words mean, and what to do. The first that fits is used.
_CAUSES = (
    ("readonly", "it is read-only", "Make the file and its folder writable, or name another store."),
    ("read-only", "it is read-only", "Make the file and its folder writable, or name another store."),
    ("is full", "the disk is full", "Free some space and try again."),
    ("no space left", "the disk is full", "Free some space and try again."),
    ("disk i/o error", "the disk does not answer as it should", "Look at the disk, then try again."),
    ("is locked", "other processes have been writing for too long", "Try again."),
    ("not a database", "the file is not a SQLite database", "Name another file."),
    ("malformed", "the file is damaged", "Restore it from a backup."),
    ("unable to open", "the file cannot be opened", "Look at the permissions of the file and its folder."),
    ("password authentication failed", "the password is wrong", "Look at the user and the password of the address."),
    ("no password supplied", "a password is needed", "Put it into ~/.pgpass, or into the address."),
    ("does not exist", "something it names does not exist", "Look at the address; the database has to exist."),
    ("no such table", "a table is missing", "Restore the store from a backup."),
    ("permission denied", "the user may not do this", "Ask for the right to create and write tables."),
)


def _sentence(error: Any, address: Address) -> str:
    """What happened, in which store, what to do."""
    reason = " ".join(str(error.orig).split())[:300]
    for sign, cause, remedy in _CAUSES:
        if sign in reason.lower():
            return f"The store {address} cannot be used: {cause} ({reason}). {remedy}"
    return f"The store {address} cannot be used: {reason}."
