"""Rows out of PostgreSQL, and its errors as ours."""

from __future__ import annotations

import io
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from isonomia.data.engines.fetching import from_polars
from isonomia.data.frames import Backend
from isonomia.errors import DataError, SourceError


def ask(connection: Any, query: Any, *, rows: bool) -> Any:
    """The rows of a small answer, or the description of its columns."""
    import psycopg

    try:
        with connection.cursor() as cursor:
            cursor.execute(query, prepare=True)  # one statement, whatever a query contains
            return cursor.fetchall() if rows else cursor.description
    except psycopg.Error as error:
        raise explained(error, "read") from None


def asked_rows(
    connection: Any, query: Any, values: Sequence[Any], types: Mapping[str, nw.dtypes.DType], backend: Backend
) -> Any:
    """A few rows as a frame; `values` stand for $1, $2, ... and are sent beside the statement."""
    import polars as pl
    import psycopg

    try:
        with psycopg.RawCursor(connection) as cursor:
            rows = cursor.execute(query, values, prepare=True).fetchall()
    except psycopg.Error as error:
        raise explained(error, "read") from None
    series = [
        pl.Series(name, [row[index] for row in rows], dtype=getattr(pl, type(dtype).__name__))
        for index, (name, dtype) in enumerate(types.items())
    ]
    return from_polars(pl.DataFrame(series), backend)


def copied(connection: Any, query: Any, types: Mapping[str, nw.dtypes.DType], backend: Backend) -> tuple[Any, int]:
    """The rows of a query as a frame, and the bytes received."""
    parts = list(copied_in_parts(connection, query, types, backend, None))
    return parts[0]


def copied_in_parts(
    connection: Any, query: Any, types: Mapping[str, nw.dtypes.DType], backend: Backend, size: int | None
) -> Iterator[tuple[Any, int]]:
    """The rows of a query as frames of at most `size` rows (None: as one frame), each with the bytes received.

    Rows come as CSV with a text for missing values that no value is equal to.
    """
    import psycopg
    from psycopg import sql

    missing = secrets.token_hex(8)
    statement = sql.SQL("COPY ({}) TO STDOUT (FORMAT csv, NULL {})").format(query, sql.Literal(missing))
    buffer, rows, given = io.BytesIO(), 0, False
    try:
        with connection.cursor() as cursor, cursor.copy(statement) as copy:
            for block in copy:  # one row each
                buffer.write(block)
                rows += 1
                if rows == size:
                    yield _frame(buffer, types, missing, backend), buffer.tell()
                    buffer, rows, given = io.BytesIO(), 0, True
    except psycopg.Error as error:
        raise explained(error, "read") from None
    if rows or not given:
        yield _frame(buffer, types, missing, backend), buffer.tell()


def _frame(buffer: io.BytesIO, types: Mapping[str, nw.dtypes.DType], missing: str, backend: Backend) -> Any:
    import polars as pl

    kinds = {name: _as_written(dtype) for name, dtype in types.items()}
    texts = [pl.col(name) for name, dtype in types.items() if dtype == nw.String]
    if buffer.tell() == 0:
        table = pl.DataFrame(schema=kinds)
    else:
        table = pl.read_csv(
            buffer.getvalue(),
            has_header=False,
            schema=kinds,
            null_values={name: missing for name, dtype in types.items() if dtype != nw.String},
        )
    table = table.with_columns(
        *(pl.when(text.ne_missing(missing)).then(text.fill_null("")) for text in texts),  # nothing between two commas
        *(pl.col(name) == "t" for name, dtype in types.items() if dtype == nw.Boolean),
        *(pl.col(name).str.to_date() for name, dtype in types.items() if dtype == nw.Date),
        *(pl.col(name).str.to_datetime(time_unit="us") for name, dtype in types.items() if dtype == nw.Datetime),
    )
    return from_polars(table, backend)


def _as_written(dtype: nw.dtypes.DType) -> Any:
    import polars as pl

    if dtype == nw.Int64:
        return pl.Int64
    return pl.Float64 if dtype == nw.Float64 else pl.String


def explained(error: Any, doing: str) -> DataError:
    """An error of the database as ours: what it says of the statement, and nothing of the connection."""
    from psycopg import errors

    said = (error.diag.message_primary or "").strip() or type(error).__name__
    if isinstance(error, errors.ReadOnlySqlTransaction):
        return DataError(f"The query writes, and an audit only reads ({said}). Give a query that selects rows.")
    if isinstance(error, errors.QueryCanceled):
        return SourceError(f"A statement of the audit was ended by the server ({said}). Allow more time: timeout=3600.")
    if isinstance(error, errors.UndefinedTable | errors.InvalidSchemaName | errors.InsufficientPrivilege):
        return DataError(f"The table cannot be read: {said}. Give `table` as schema.name, and a role that may read it.")
    if isinstance(error, errors.SyntaxError | errors.UndefinedColumn | errors.FeatureNotSupported):
        return DataError(f"The query cannot be run: {said}.")
    if doing == "connect":
        return SourceError(f"The database cannot be reached: {_without_address(error)}")
    if error.diag.sqlstate is None or isinstance(error, errors.OperationalError):
        return SourceError(
            f"The connection to the database was lost ({said}). No figure was kept: run the audit again."
        )
    return SourceError(f"The database could not answer: {said}.")


def _without_address(error: Any) -> str:
    """The last line of what the library says, which names the reason."""
    text = str(error).strip().splitlines()
    return text[-1].strip()[:300] if text else type(error).__name__
