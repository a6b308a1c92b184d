"""Who did what to a store: lines that nobody changes or removes."""

from __future__ import annotations

import getpass
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from isonomia.store.ids import new_id, now
from isonomia.store.keys import printable

if TYPE_CHECKING:
    from sqlalchemy import Connection


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
    from isonomia.store.tables import log

    row = {"id": new_id(), "at": now(), "actor": actor(), "action": action, "object": what, "note": note}
    connection.execute(log.insert().values(**row))


def list_log(connection: Connection, limit: int) -> list[LogLine]:
    """The lines, the newest first."""
    from sqlalchemy import select

    from isonomia.store.tables import log

    rows = connection.execute(select(log).order_by(log.c.at.desc(), log.c.id.desc()).limit(limit))
    return [LogLine(**row._mapping) for row in rows]


def actor() -> str:
    """The user who runs this process."""
    try:
        return printable(getpass.getuser(), 100)
    except (OSError, KeyError):  # a user without a name, as in some containers
        return "unknown"
