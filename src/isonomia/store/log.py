"""Who did what to a store: lines that nobody changes or removes."""

from __future__ import annotations

import getpass
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from isonomia.store import tables
from isonomia.store.ids import new_id, now
from isonomia.store.keys import printable


@dataclass(frozen=True, kw_only=True)
class LogLine:
    """One line: when, who, what, about which object."""

    id: str
    at: datetime
    actor: str
    action: str
    object: str
    note: Any


def add_log(connection: Connection, action: str, what: str, note: Any = None) -> None:
    """Add a line."""
    row = {"id": new_id(), "at": now(), "actor": actor(), "action": action, "object": what, "note": note}
    connection.execute(tables.log.insert().values(**row))


def list_log(connection: Connection, limit: int) -> list[LogLine]:
    """The lines, the newest first."""
    rows = connection.execute(select(tables.log).order_by(tables.log.c.at.desc(), tables.log.c.id.desc()).limit(limit))
    return [LogLine(**row._mapping) for row in rows]


def actor() -> str:
    """The user who runs this process."""
    try:
        return printable(getpass.getuser(), 100)
    except (OSError, KeyError):  # a user without a name, as in some containers
        return "unknown"
