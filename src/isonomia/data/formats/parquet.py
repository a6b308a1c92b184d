"""Parquet files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isonomia.data._duckdb import quoted, restricted_connection
from isonomia.data._files import growth_limit
from isonomia.data.file_format import BYTE_LIMIT, FILE_FORMATS, FileFormat, ReadTable
from isonomia.data.formats._columnar import BATCH, damaged, selected
from isonomia.data.formats.csv_files import MAX_COLUMNS, duck_error
from isonomia.data.frames import Backend
from isonomia.errors import DataError


def check_marks(path: Path, source_path: Path) -> None:
    """Raise an error where a file does not begin and end as Parquet does."""
    with path.open("rb") as file:
        start = file.read(4)
        file.seek(max(path.stat().st_size - 4, 0))
        end = file.read(4)
    if start != b"PAR1":
        raise DataError(f"'{source_path}' does not start like a Parquet file. Is its suffix right?")
    if end != b"PAR1":
        raise DataError(f"The Parquet file '{source_path}' is truncated: its end is missing. Copy or write it again.")


def parquet_source(files: Sequence[Path]) -> str:
    """The rows of Parquet files as a table of a query."""
    listed = ", ".join(quoted(str(file)) for file in files)
    return f"read_parquet([{listed}], hive_partitioning = false, filename = false)"


def column_names(connection: Any, path: Path) -> list[str]:
    """The names of the columns as the file has them: DuckDB renames those that differ in case only.

    The schema of a file lists every part of a nested column behind it, after the root.
    """
    (_, *parts) = connection.execute(f"SELECT name, num_children FROM parquet_schema({quoted(str(path))})").fetchall()
    names, inside = [], 0
    for name, children in parts:
        if inside:
            inside -= 1
        else:
            names.append(name)
        inside += children or 0
    return names


def _check_size(connection: Any, path: Path, source_path: Path, columns: Sequence[str], max_bytes: int | None) -> None:
    """Refuse a file that unpacks to more than the limit: a value that repeats takes a few bytes, however often it does.

    Eight bytes for each value that is not a text, which the end of the file counts, and the texts as long as they are.
    """
    limit = growth_limit(path, max_bytes)
    file, picked = quoted(str(path)), set(columns)
    kinds = dict(
        connection.execute(f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM {_table(path)})").fetchall()
    )
    texts = [name for name, kind in kinds.items() if kind in ("VARCHAR", "BLOB") and name in picked]
    values = connection.execute(
        f"SELECT path_in_schema, sum(num_values) FROM parquet_metadata({file}) GROUP BY path_in_schema"
    ).fetchall()
    size = sum(8 * n for name, n in values if name in picked or name.split(", ")[0] in picked)
    for name in texts:
        if size > limit:
            break
        identifier = '"' + name.replace('"', '""') + '"'
        measure = "strlen" if kinds[name] == "VARCHAR" else "octet_length"
        ((found,),) = connection.execute(f"SELECT sum({measure}({identifier})) FROM {_table(path)}").fetchall()
        size += int(found or 0)
    if size > limit:
        raise DataError(
            f"The file '{source_path}' unpacks to {size:,} bytes or more, more than {limit:,}. If you trust it, raise "
            "`max_bytes`; or name the columns that are needed: columns=[...]."
        )


def _table(path: Path) -> str:
    return parquet_source([path])


def read_parquet(
    path: Path,
    source_path: Path,
    *,
    columns: Sequence[str] | None,
    backend: Backend | None,
    max_bytes: int | None = None,
) -> ReadTable:
    """A frame of a Parquet file."""
    check_marks(path, source_path)
    try:
        with restricted_connection(path) as connection:
            names = column_names(connection, path)
            kept = names if columns is None else columns
            if len(kept) > MAX_COLUMNS:
                raise DataError(
                    f"The file '{source_path}' has {len(kept):,} columns; at most {MAX_COLUMNS:,} are read at once. "
                    "Name those that are needed: columns=[...]."
                )
            _check_size(connection, path, source_path, kept, max_bytes)
            return ReadTable(selected(connection, parquet_source([path]), names, columns, backend, batch=BATCH))
    except duck_error() as error:
        raise damaged(error, source_path, "Parquet") from None


FILE_FORMATS.add(
    FileFormat(
        id="parquet",
        title="Parquet",
        purpose="columns with their types, as most data tools write them",
        suffixes=(".parquet", ".pq"),
        read=read_parquet,
        mark=b"PAR1",
        parameters=(BYTE_LIMIT,),
    )
)
