"""DuckDB connections that may open one file and nothing else."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from isonomia.data.frames import Backend
from isonomia.errors import require


@contextlib.contextmanager
def restricted_connection(path: Path) -> Iterator[Any]:
    """A connection in memory that reads `path` alone: no other file, no network, no extension, no setting changed."""
    import duckdb

    config: dict[str, Any] = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    connection = duckdb.connect(":memory:", config=config)
    try:
        connection.execute(f"SET allowed_paths = [{quoted(str(path))}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET python_enable_replacements = false")
        connection.execute("SET lock_configuration = true")
        yield connection
    finally:
        connection.close()


def collected(connection: Any, query: str, backend: Backend, names: Sequence[str] | None = None) -> Any:
    """The rows of a query as a frame, with other column names where given."""
    relation = connection.sql(query)
    if backend == "pandas":
        frame = require("pandas", extra="pandas", purpose="backend='pandas'") and relation.df()
        return frame if names is None else frame.set_axis(list(names), axis=1)
    if backend == "pyarrow":
        require("pyarrow", extra="arrow", purpose="backend='pyarrow'")
        table = relation.to_arrow_table()
        return table if names is None else table.rename_columns(list(names))
    frame = relation.pl() if importlib.util.find_spec("pyarrow") is not None else _polars(relation.fetchnumpy())
    if names is not None:
        frame.columns = list(names)
    return frame


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
