"""DuckDB connections that may open the files named and nothing else."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from isonomia.data.frames import Backend, installed, require_backend


@contextlib.contextmanager
def restricted_connection(path: Path) -> Iterator[Any]:
    """A connection in memory that reads `path` alone: no other file, no network, no extension, no setting changed."""
    connection = open_restricted([path])
    try:
        yield connection
    finally:
        connection.close()


def open_restricted(paths: Sequence[Path], *, folder: Path | None = None, memory: int | None = None) -> Any:
    """A connection in memory that reads these files alone, and writes to `folder` what does not fit into `memory`."""
    import duckdb

    config: dict[str, Any] = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    if memory is not None:
        config |= {"memory_limit": f"{memory // 1000}KB", "temp_directory": str(folder)}
    connection = duckdb.connect(":memory:", config=config)
    connection.execute(f"SET allowed_paths = [{', '.join(quoted(str(path)) for path in paths)}]")
    if folder is not None:
        connection.execute(f"SET allowed_directories = [{quoted(str(folder))}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET lock_configuration = true")
    return connection


def collected(connection: Any, query: str, backend: Backend, names: Sequence[str] | None = None) -> Any:
    """The rows of a query as a frame, with other column names where given."""
    frame = relation_frame(connection.sql(query), backend)
    if names is None:
        return frame
    if backend == "pandas":
        return frame.set_axis(list(names), axis=1)
    if backend == "pyarrow":
        return frame.rename_columns(list(names))
    frame.columns = list(names)
    return frame


def relation_frame(relation: Any, backend: Backend) -> Any:
    """The rows of a relation as a frame."""
    require_backend(backend)
    if backend == "pandas":
        return _pandas(relation)
    if backend == "pyarrow":
        return relation.to_arrow_table()
    return relation.pl() if installed("pyarrow") else _polars(relation.fetchnumpy())


def _pandas(relation: Any) -> Any:
    """A pandas frame as DuckDB makes it, whose texts never exist as Python objects where PyArrow is installed.

    DuckDB itself makes an object of every text of the whole table first, which takes ten times the frame's memory.
    """
    kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
    if "VARCHAR" not in kinds.values() or not installed("pyarrow"):
        return relation.df()
    import duckdb
    import pandas as pd

    table, columns = relation.to_arrow_table(), {}
    for name, kind in kinds.items():
        missing = table.column(name).null_count
        if (kind == "VARCHAR" and missing < len(table)) or (kind in _NUMBERS and not missing):
            # in one piece of its own: DuckDB frees a batch when nothing refers to any of its columns
            columns[name] = _one_piece(table.column(name)).to_pandas()
    if others := [name for name in kinds if name not in columns]:  # DuckDB has its own types for what may be missing
        columns |= dict(duckdb.from_arrow(table.select(others)).df().items())
    return pd.DataFrame({name: columns[name] for name in kinds}, copy=False)


def _one_piece(column: Any) -> Any:
    """A column of Arrow whose values lie in memory of their own."""
    return column.combine_chunks() if column.num_chunks > 1 else column


#: Types of numbers that both libraries turn into the same NumPy types where no value is missing.
_NUMBERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
_NUMBERS |= {"FLOAT", "DOUBLE", "BOOLEAN"}


def _polars(columns: Mapping[str, Any]) -> Any:
    """Masked arrays as a Polars frame.

    Polars takes a relation as an Arrow stream too, without PyArrow, but then DuckDB 2.0 prints a page of warnings
    about references when Python ends.
    """
    import polars as pl

    series = []
    for name, values in columns.items():
        mask = np.ma.getmaskarray(values)
        data = np.ma.getdata(values)
        if data.dtype == object:
            data[mask] = None
            series.append(pl.Series(name, data.tolist(), strict=False))
        else:
            column = pl.Series(name, data)
            series.append(column.zip_with(pl.Series(~mask), pl.Series([None], dtype=column.dtype)))
    return pl.DataFrame(series)


def quoted(text: str) -> str:
    """A text as an SQL literal.

    >>> quoted("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"
