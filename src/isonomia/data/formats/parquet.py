"""Parquet files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isonomia.data._duckdb import quoted, restricted_connection
from isonomia.data.file_format import FILE_FORMATS, FileFormat, ReadTable
from isonomia.data.formats._columnar import BATCH, damaged, selected
from isonomia.data.formats.csv_files import duck_error
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


def read_parquet(path: Path, source_path: Path, *, columns: Sequence[str] | None, backend: Backend | None) -> ReadTable:
    """A frame of a Parquet file."""
    check_marks(path, source_path)
    try:
        with restricted_connection(path) as connection:
            names = column_names(connection, path)
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
    )
)
