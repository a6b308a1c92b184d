"""What files that have their own types share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isonomia.data._duckdb import collected
from isonomia.data.formats.csv_files import column_index
from isonomia.data.frames import Backend, default_backend
from isonomia.data.packed import Packed, beside
from isonomia.errors import DataError

#: Columns of a file by columns that are handed over together: a query result and a frame of it are there at once.
BATCH = 16


def selected(
    connection: Any,
    source: str,
    names: Sequence[str] | None,
    columns: Sequence[str] | None,
    backend: Backend | None,
    *,
    batch: int | None = None,
) -> Packed:
    """The columns asked for, in types that every frame library has; some at a time where the file allows it."""
    relation = connection.sql(f"SELECT * FROM {source}")
    inner = list(relation.columns)
    outer = list(names) if names is not None and len(names) == len(inner) else inner
    kept = range(len(inner)) if columns is None else [column_index(name, outer) for name in columns]
    picked = []
    for index in kept:
        identifier = '"' + inner[index].replace('"', '""') + '"'
        kind = str(relation.types[index]).split("(")[0]
        # Exact decimals become floats: every frame library has those, and no check needs cents.
        plain = {"DECIMAL": "DOUBLE", "HUGEINT": "DOUBLE", "UHUGEINT": "DOUBLE", "ENUM": "VARCHAR", "UUID": "VARCHAR"}
        picked.append(f"CAST({identifier} AS {plain[kind]}) AS {identifier}" if kind in plain else identifier)
    kind = backend or default_backend()
    chosen = [outer[index] for index in kept]
    size = batch or len(picked)
    parts = []
    for at in range(0, len(picked), size):
        query = f"SELECT {', '.join(picked[at : at + size])} FROM {source}"
        parts.append(Packed.of(collected(connection, query, kind, chosen[at : at + size])).pack())
    return beside(parts)


def damaged(error: BaseException, source_path: Path, format_name: str) -> DataError:
    """The error about a file that cannot be read."""
    reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
    return DataError(f"'{source_path}' cannot be read as {format_name}: it is damaged or truncated ({reason}).")
