"""Rows out of lazy frames, without the packages that narwhals would want for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import narwhals.stable.v2 as nw

from isonomia.data._duckdb import relation_frame
from isonomia.data.engines.spark import collected
from isonomia.data.frames import Backend, installed, wrap
from isonomia.errors import DataError, SourceError


def fetched(frame: nw.LazyFrame[Any], backend: Backend) -> Any:
    """All rows of a lazy frame as a frame of this kind."""
    native, kind = frame.to_native(), frame.implementation
    try:
        if kind is nw.Implementation.DUCKDB:
            return relation_frame(native, backend)
        if kind is nw.Implementation.POLARS:
            return native.collect(engine="streaming")
        if kind.is_pyspark():
            return _from_rows(frame, collected(native), backend)
        return _from_other(frame.collect("pyarrow").to_native(), backend)
    except Exception as error:
        raise explained(error) from error


def columns_of(frame: nw.LazyFrame[Any]) -> Mapping[str, list[Any]]:
    """A small result as lists, missing values as None."""
    native, kind = frame.to_native(), frame.implementation
    try:
        if kind is nw.Implementation.DUCKDB:
            return _listed(native.columns, native.fetchall())
        if kind is nw.Implementation.POLARS:
            columns: dict[str, list[Any]] = native.collect(engine="streaming").to_dict(as_series=False)
            return columns
        if kind.is_pyspark():
            return _listed(native.columns, collected(native))
        table = frame.collect()
        return {name: table[name].to_list() for name in table.columns}
    except Exception as error:
        raise explained(error) from error


def frames_of(frame: nw.LazyFrame[Any], backend: Backend, size: int | None) -> Iterator[Any]:
    """The rows of a lazy frame in frames of at most `size` rows (None: in one), in their order."""
    if size is None:
        yield fetched(frame, backend)
        return
    native, kind = frame.to_native(), frame.implementation
    try:
        if kind is nw.Implementation.DUCKDB:
            yield from _relation_frames(native, backend, size)
        elif kind is nw.Implementation.POLARS:
            for part in native.collect_batches(chunk_size=size, maintain_order=True):
                yield from (part.slice(start, size) for start in range(0, part.height, size))
        elif kind.is_pyspark():
            rows = native.toLocalIterator()  # a partition at a time
            while part := list(islice(rows, size)):
                yield _from_rows(frame, part, backend)
        else:  # of which narwhals has no batches
            whole = wrap(fetched(frame, backend))
            for start in range(0, len(whole), size):
                yield whole[start : start + size].to_native()
    except Exception as error:
        raise explained(error) from error


def numbered(frame: nw.LazyFrame[Any], name: str) -> nw.LazyFrame[Any]:
    """The rows with their numbers from 0, in the order of the source."""
    native, kind = frame.to_native(), frame.implementation
    found: nw.LazyFrame[Any]
    if kind is nw.Implementation.DUCKDB:
        found = nw.from_native(native.project(f"*, (row_number() OVER ()) - 1 AS {name}"))
    elif kind is nw.Implementation.POLARS:
        import polars as pl

        found = nw.from_native(native.with_row_index(name).with_columns(pl.col(name).cast(pl.Int64)))
    elif kind.is_pyspark():
        from pyspark.sql.functions import monotonically_increasing_id  # type: ignore[import-not-found,unused-ignore]

        found = nw.from_native(native.withColumn(name, monotonically_increasing_id()))
    else:
        raise DataError(f"Rows of {kind.name.lower()} have no order, so no sample can be drawn from them here.")
    return found


def explained(error: Exception) -> DataError:
    """An error of an engine as one of ours."""
    if isinstance(error, DataError):
        return error
    first = str(error).splitlines()[0][:300] if str(error) else type(error).__name__
    lowered = str(error).lower()
    if "no space left" in lowered or "max_temp_directory_size" in lowered:
        return SourceError(
            f"The folder for temporary files is full ({first}). Free space, or set TMPDIR to another disk."
        )
    if "out of memory" in lowered or "could not allocate" in lowered:
        return SourceError(
            f"The memory given is not enough, and the folder for temporary files does not make up for it ({first}). "
            "Allow more (memory='2GB'), or set TMPDIR to a disk with more space."
        )
    return SourceError(f"The rows could not be read: {first}")


def _listed(names: Any, rows: list[Any]) -> dict[str, list[Any]]:
    return {name: [row[index] for row in rows] for index, name in enumerate(names)}


def _from_rows(frame: nw.LazyFrame[Any], rows: list[Any], backend: Backend) -> Any:
    """Rows as tuples, in the types of the lazy frame they come from."""
    import polars as pl

    series = []
    for index, (name, dtype) in enumerate(frame.collect_schema().items()):
        named = getattr(pl, type(dtype).__name__, None)  # narwhals and Polars call types by the same names
        series.append(pl.Series(name, [row[index] for row in rows], dtype=named, strict=False))
    return from_polars(pl.DataFrame(series), backend)


def _from_other(table: Any, backend: Backend) -> Any:
    """A PyArrow table of an engine that has no types of its own here: whole numbers with gaps stay whole."""
    import polars as pl

    return from_polars(pl.DataFrame(pl.from_arrow(table)), backend)


def from_polars(table: Any, backend: Backend) -> Any:
    """A Polars frame as one of this kind, in the types that DuckDB would give it."""
    if backend == "polars":
        return table
    if backend == "pyarrow":
        return table.to_arrow()
    import pandas as pd

    return pd.DataFrame({column.name: _pandas_column(column) for column in table})


def _pandas_column(column: Any) -> Any:
    import pandas as pd
    import polars as pl

    if column.dtype.is_temporal():
        return column.cast(pl.Datetime("us")).to_numpy()
    if column.null_count() and (column.dtype.is_integer() or column.dtype == pl.Boolean):
        return pd.array(column.to_list(), dtype="boolean" if column.dtype == pl.Boolean else "Int64")
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return column.to_numpy()
    return pd.array(column.to_list(), dtype="str")


def _relation_frames(relation: Any, backend: Backend, size: int) -> Iterator[Any]:
    if installed("pyarrow"):
        import pyarrow as pa

        for batch in relation.to_arrow_reader(size):
            part = pa.Table.from_batches([batch])
            yield from_arrow(part, backend)
    else:
        rows = iter(relation.iter_rows())
        while part := list(islice(rows, size)):
            yield _from_rows(nw.from_native(relation), part, backend)


def from_arrow(table: Any, backend: Backend) -> Any:
    """A PyArrow table as a frame of this kind."""
    if backend == "pandas":
        return table.to_pandas()
    if backend == "polars":
        import polars as pl

        return pl.from_arrow(table)
    return table
