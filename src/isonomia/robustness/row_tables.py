"""Tables made of rows: the format and title of each column are declared once per kind of table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from isonomia.data import Backend
from isonomia.evidence import Format, Table
from isonomia.languages import Message


def table_of_rows(
    rows: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    title: Message,
    backend: Backend,
    *,
    formats: Mapping[str, Format],
    headings: Mapping[str, Message],
    intervals: Sequence[str] = (),
) -> Table:
    """The named fields of rows as columns; a number that is not finite is missing."""

    def plain(value: Any) -> Any:
        return None if isinstance(value, float) and not np.isfinite(value) else value

    return Table.of(
        {name: [plain(row[name]) for row in rows] for name in names},
        {name: formats[name] for name in names if name in formats},
        {name: headings[name] for name in names if name in headings},
        title,
        backend,
        intervals=intervals,
    )


def chained(parts: Sequence[Message]) -> Message | None:
    """Several sentences as one, with semicolons between them; None without any."""
    if not parts:
        return None
    joined = parts[0]
    for more in parts[1:]:
        joined = Message("{first}; {more}", {"first": joined, "more": more})
    return joined
