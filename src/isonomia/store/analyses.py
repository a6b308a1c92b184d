"""Analyses: names under which runs are compared over time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.dialects import postgresql, sqlite

from isonomia.store import tables
from isonomia.store.ids import now
from isonomia.store.keys import check_slug


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """An analysis: its name, and the run that later ones are compared with."""

    slug: str
    title: str | None
    owner: str | None
    baseline_run: str | None
    created: datetime
    tags: Any


def add_analysis(connection: Connection, slug: str) -> None:
    """Add an analysis, unless it is there already; two processes may do so at once."""
    insert: Any = (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(tables.analysis)
    connection.execute(insert.values(slug=check_slug(slug), created=now()).on_conflict_do_nothing())


def list_analyses(connection: Connection) -> list[Analysis]:
    """The analyses, by name."""
    return [
        Analysis(**row._mapping) for row in connection.execute(select(tables.analysis).order_by(tables.analysis.c.slug))
    ]
