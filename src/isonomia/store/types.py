"""Kinds of columns that mean the same in both databases."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Dialect, Text
from sqlalchemy.types import TypeDecorator


class Moment(TypeDecorator[datetime]):
    """A time in UTC: a `timestamptz` in PostgreSQL, a text in SQLite; always with its zone in Python."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """What goes into the database."""
        if value is None:
            return None
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """What comes out of the database."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Body(TypeDecorator[Any]):
    """JSON that is read whole and never searched: as ASCII text, which keeps the order of keys and any character.

    PostgreSQL's own type refuses U+0000, which hostile data may hold, and writes numbers anew.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """What goes into the database."""
        return None if value is None else json.dumps(value, ensure_ascii=True, allow_nan=False)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """What comes out of the database."""
        return None if value is None else json.loads(value)
