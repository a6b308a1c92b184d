"""Files that have their own types: Parquet, Arrow (Feather), JSON lines."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isonomia.data._csv import _duck_error, _position
from isonomia.data._duckdb import collected, quoted, restricted_connection
from isonomia.data.frames import Backend
from isonomia.errors import DataError, require


def read_parquet(path: Path, source_path: Path, *, columns: Sequence[str] | None, backend: Backend) -> Any:
    """A frame of a Parquet file."""
    import polars as pl

    with path.open("rb") as file:
        start = file.read(4)
        file.seek(max(path.stat().st_size - 4, 0))
        end = file.read(4)
    if start != b"PAR1":
        raise DataError(f"'{source_path}' does not start like a Parquet file. Is its suffix right?")
    if end != b"PAR1":
        raise DataError(f"The Parquet file '{source_path}' is truncated: its end is missing. Copy or write it again.")
    source = f"read_parquet({quoted(str(path))}, hive_partitioning = false, filename = false)"
    try:
        # DuckDB renames columns that differ in case only; the file's own names come from its schema.
        names = list(pl.read_parquet_schema(path))
        with restricted_connection(path) as connection:
            return _selected(connection, source, names, columns, backend)
    except (_duck_error(), pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _damaged(error, source_path, "Parquet") from None


def read_jsonl(path: Path, source_path: Path, *, columns: Sequence[str] | None, backend: Backend) -> Any:
    """A frame of a file with one JSON object per line."""
    with path.open("rb") as file:
        start = file.read(1 << 16).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start:
        raise DataError(f"The file '{source_path}' is empty: it contains only whitespace.")
    if not start.startswith(b"{"):
        raise DataError(
            f"JSON lines are expected in '{source_path}': one object in braces per line; it starts with "
            f"{start[:20].decode('utf-8', 'replace')!r}."
        )
    source = (
        f"read_json({quoted(str(path))}, format = 'newline_delimited', records = true, sample_size = -1, "
        "maximum_depth = 2, convert_strings_to_integers = false, hive_partitioning = false, filename = false, "
        "compression = 'uncompressed')"
    )
    try:
        with restricted_connection(path) as connection:
            return _selected(connection, source, None, columns, backend)
    except _duck_error() as error:
        raise _damaged(error, source_path, "JSON lines") from None


def read_arrow(path: Path, source_path: Path, *, columns: Sequence[str] | None, backend: Backend | None) -> Any:
    """A frame of an Arrow file or stream; pandas needs PyArrow here, so without it the frame is Polars."""
    import polars as pl

    with path.open("rb") as file:
        start = file.read(6)
    reader = pl.read_ipc if start == b"ARROW1" else pl.read_ipc_stream
    try:
        frame = reader(path.read_bytes() if reader is pl.read_ipc_stream else path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        raise _damaged(error, source_path, "Arrow") from None
    if columns is not None:
        frame = frame.select([frame.columns[_position(name, frame.columns)] for name in columns])
    if backend is None:
        both = all(importlib.util.find_spec(package) is not None for package in ("pandas", "pyarrow"))
        backend = "pandas" if both else "polars"
    if backend == "polars":
        return frame
    require("pyarrow", extra="arrow", purpose=f"reading Arrow files with backend={backend!r}")
    return frame.to_pandas() if backend == "pandas" else frame.to_arrow()


def _selected(
    connection: Any, source: str, names: Sequence[str] | None, columns: Sequence[str] | None, backend: Backend
) -> Any:
    relation = connection.sql(f"SELECT * FROM {source}")
    inner = list(relation.columns)
    outer = list(names) if names is not None and len(names) == len(inner) else inner
    kept = range(len(inner)) if columns is None else [_position(name, outer) for name in columns]
    picked = []
    for index in kept:
        identifier = '"' + inner[index].replace('"', '""') + '"'
        kind = str(relation.types[index]).split("(")[0]
        # Exact decimals become floats: every frame library has those, and no check needs cents.
        plain = {"DECIMAL": "DOUBLE", "HUGEINT": "DOUBLE", "UHUGEINT": "DOUBLE", "ENUM": "VARCHAR", "UUID": "VARCHAR"}
        picked.append(f"CAST({identifier} AS {plain[kind]}) AS {identifier}" if kind in plain else identifier)
    return collected(connection, f"SELECT {', '.join(picked)} FROM {source}", backend, [outer[index] for index in kept])


def _damaged(error: BaseException, source_path: Path, format_name: str) -> DataError:
    reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
    return DataError(f"'{source_path}' cannot be read as {format_name}: it is damaged or truncated ({reason}).")
