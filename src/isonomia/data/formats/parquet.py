"""Parquet files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

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


def read_parquet(path: Path, source_path: Path, *, columns: Sequence[str] | None, backend: Backend | None) -> ReadTable:
    """A frame of a Parquet file."""
    import polars as pl

    check_marks(path, source_path)
    source = f"read_parquet({quoted(str(path))}, hive_partitioning = false, filename = false)"
    try:
        # DuckDB renames columns that differ in case only; the file's own names come from its schema.
        names = list(pl.read_parquet_schema(path))
        with restricted_connection(path) as connection:
            return ReadTable(selected(connection, source, names, columns, backend, batch=BATCH))
    except (duck_error(), pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
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
