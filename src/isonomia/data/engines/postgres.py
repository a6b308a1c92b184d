"""Rows in PostgreSQL: counted by the server, in one transaction that reads one state of the data."""

from __future__ import annotations

import math
import re
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.data.engines.engine import Box, Engine, Groups, Key, Picked, Profile, Ranges, require_polars, sample_bound
from isonomia.data.engines.group_tables import groups_of, groups_of_each, read_ranges, sum_names, unpacked
from isonomia.data.engines.options import Where
from isonomia.data.engines.postgres_rows import ask, asked_rows, copied, copied_in_parts, explained
from isonomia.data.engines.postgres_sql import (
    TYPES,
    distinct_query,
    each_query,
    finite_query,
    grouped_query,
    packed_query,
    picked_query,
    plain,
    profile_query,
    ranges_query,
    rows_query,
    sample_query,
)
from isonomia.data.frames import Backend, default_backend, wrap
from isonomia.errors import DataError, SpecError, close_to, require
from isonomia.languages import Message, msg

#: Seconds to wait for a server.
CONNECT = 10
#: Every scan of a table begins with its first row, so that rows have the same numbers in all statements.
IN_ORDER = "-c synchronize_seqscans=off"
#: Groups are hashed. The server cannot know that bins of a number are few, and would sort all rows by all keys: five
#: times as long. A hash that outgrows its memory goes on in files. Compiling a statement takes longer than it saves.
HASHED = "-c work_mem=64MB -c enable_sort=off -c jit=off"
#: A table keeps a row wherever a page has space for it: COPY puts a short row behind longer ones into an earlier page.
STORED = msg(
    "A table of a database has no order: rows are numbered as the server stores them, which need not be the order in "
    "which they were loaded. To number them by a key, give a query that ends in ORDER BY and the key."
)
_ORDERED = re.compile(r"\border\s+by\b", re.IGNORECASE)
#: Object ids of types that a database defines itself begin here.
_OWN_TYPES = 16384


def is_database(source: str) -> bool:
    """Whether a source is the address of a PostgreSQL database."""
    return source.startswith(("postgresql://", "postgres://"))


def open_postgres(address: str, where: Where, columns: Sequence[str] | None = None) -> PostgresEngine:
    """An engine over a table, a view or a query of a database."""
    if (where.table is None) == (where.query is None):
        raise SpecError("A database needs either `table`, the name of a table, or `query`, a query that reads.")
    if where.engine is not None:
        raise SpecError("`engine` is for files; rows of a database are counted by the database.")
    _refuse_password(address)
    require_polars()
    psycopg = require("psycopg", extra="postgres", purpose="reading PostgreSQL")
    settings = f"-c statement_timeout={int(where.timeout * 1000)} -c default_transaction_read_only=on"
    try:
        connection = psycopg.connect(
            address,
            connect_timeout=CONNECT,
            application_name="isonomia",
            options=f"{settings} {HASHED} {IN_ORDER}",
            prepare_threshold=None,
        )
    except psycopg.Error as error:
        raise explained(error, "connect") from None
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    connection.read_only = True
    return PostgresEngine(connection, where, columns)


class PostgresEngine(Engine):
    """A table, a view or a query of a PostgreSQL database.

    The first statement begins a transaction that is repeatable and reads only, and that lasts as long as the engine:
    whatever others write meanwhile, all statements see the same rows. Names are quoted as identifiers; no value of the
    data becomes part of a statement.
    """

    name = "postgresql"
    repeatable = True

    def __init__(self, connection: Any, where: Where, columns: Sequence[str] | None) -> None:
        from psycopg import sql

        self._connection = connection
        weakref.finalize(self, connection.close)
        self.memory = where.bytes
        self.backend: Backend = default_backend()
        self.notes: tuple[Message, ...] = ()
        if where.query is None or not _ORDERED.search(where.query):
            self.numbering = STORED
        self._numbered = False
        #: Statements sent, and bytes of rows received.
        self.statements = self.bytes_received = 0
        if where.table is not None:
            self._source: Any = sql.Identifier(*_parts(where.table))
        else:
            assert where.query is not None
            self._source = sql.SQL("(") + sql.SQL(_one_statement(where.query)) + sql.SQL(") AS isonomia_rows")  # type: ignore[arg-type,unused-ignore]
        described = self._ask(sql.SQL("SELECT * FROM {} LIMIT 0").format(self._source))
        oids = {column.name: column.type_code for column in described}
        if len(oids) < len(described):
            raise DataError("Column names must be unique; the query repeats one. Give each column a name of its own.")
        types = self._types(oids)
        for name in columns or ():
            if name not in types:
                raise DataError(f"`columns` must name columns of the data; got {name!r}.{close_to(name, list(types))}")
        self._oids = {name: oids[name] for name in (columns or types)}
        self.schema: Mapping[str, nw.dtypes.DType] = {name: types[name] for name in self._oids}

    def _profiled(self, names: Sequence[str], ends: Sequence[str]) -> Profile:
        columns = [(name, self._plain(name), self.schema[name]) for name in names]
        query, fields = profile_query(self._source, columns, ends)
        row = dict(zip(fields, self._ask(query, rows=True)[0], strict=True))
        rows = int(row["rows", ""])
        known = {name: int(row["known", name]) for name in names}
        finite = dict(known)
        if odd := [name for name in names if not _are_finite(row.get(("low", name)), row.get(("high", name)))]:
            found = self._ask(finite_query(self._source, [self._plain(name) for name in odd]), rows=True)[0]
            for place, name in enumerate(odd):
                gone, finite[name], row["low", name], row["high", name] = found[4 * place : 4 * place + 4]
                known[name] -= gone
        return Profile(
            rows=rows,
            missing={name: rows - known[name] for name in names},
            infinite={name: known[name] - finite[name] for name in names},
            ends={
                name: None if row["low", name] is None else (float(row["low", name]), float(row["high", name]))
                for name in ends
            },
        )

    def grouped(self, keys: Sequence[Key], *, weight: str | None = None, limit: int) -> Groups | None:
        """The groups with equal keys; None where there are more than `limit`."""
        query, types = self._grouped(keys, weight, limit), self._group_types(keys, weight)
        binned = [index for index, key in enumerate(keys) if key.form == "bins"]
        if len(binned) != 1 or len(keys) == 1:
            return groups_of(wrap(self._copied(query, types)), keys, limit)
        (place,) = binned
        others = {name: dtype for name, dtype in types.items() if name[0] == "k" and name != f"k{place}"}
        packed = packed_query(query, len(keys), place, weighted=weight is not None)
        table = unpacked(
            wrap(self._copied(packed, {**others, "packed": nw.String()})), place, weighted=weight is not None
        )
        return groups_of(table, keys, limit)

    def grouped_each(
        self,
        sets: Sequence[Sequence[Key]],
        *,
        shared: Sequence[Key] = (),
        weight: str | None = None,
        limit: int,
        least: int = 1,
        summed: Sequence[str] = (),
    ) -> list[Groups | None]:
        """The groups of several sets of keys; see `Engine.grouped_each`."""
        if any(key.form == "part" for key in shared):
            self._number_rows()
        types = [[key.type_in(self.schema) for key in own] for own in sets]
        width = max(len(own) for own in sets)
        queries = [self._grouped([*own, *shared], weight, limit, (len(own), least), summed) for own in sets]
        fields: dict[str, nw.dtypes.DType] = {"set": nw.Int64()}
        for place in range(width):
            fields |= {f"t{place}": nw.String(), f"x{place}": nw.Float64()}
        fields |= {f"s{place}": key.type_in(self.schema) for place, key in enumerate(shared)}
        sums = sum_names(len(summed), weighted=weight is not None)
        fields |= {name: nw.Int64() if name == "n" else nw.Float64() for name in sums}
        table = self._copied(each_query(queries, types, width, len(shared), sums), fields, "polars")
        return groups_of_each(table, sets, shared, self.schema, limit, self.backend, summed)

    def ranges(
        self,
        pieces: Mapping[str, Sequence[tuple[float, float]]],
        *,
        bins: int,
        known: str | None = None,
        by: Sequence[str] = (),
    ) -> dict[str, Ranges]:
        """Numbers in bins; see `Engine.ranges`."""
        columns = [(self._plain(name), own) for name, own in pieces.items()]
        only = None if known is None else (self._plain(known), self.schema[known])
        query = ranges_query(self._source, columns, bins, only, [self._plain(name) for name in by])
        numbers: dict[str, nw.dtypes.DType] = {"low": nw.Float64(), "high": nw.Float64()}
        types = {"set": nw.Int64(), "b": nw.Float64(), "n": nw.Int64(), **numbers}
        types |= {f"g{index}": self.schema[name] for index, name in enumerate(by)}
        table = self._copied(query, types, "polars")  # whose missing values are None
        return read_ranges({name: table[name].to_list() for name in types}, list(pieces))

    def head(self, columns: Sequence[str], n: int) -> Any:
        """The first `n` rows as a frame."""
        _, types, names = self._rows(columns)
        query = rows_query(self._source, [self._plain(name) for name in columns], n)
        return wrap(self._copied(query, types)).rename(names).to_native()

    def distinct(self, columns: Sequence[str]) -> dict[str, int]:
        """How many different values each of these columns has."""
        row = self._ask(distinct_query(self._source, [self._plain(name) for name in columns]), rows=True)[0]
        return {name: int(value) for name, value in zip(columns, row, strict=True)}

    def picked(self, columns: Sequence[str], boxes: Sequence[Box], n: int) -> Picked:
        """The first rows that are in one of these boxes; see `Engine.picked`."""
        self._number_rows()
        _, types, names = self._rows(columns)
        query, values = picked_query(self._source, [self._plain(name) for name in columns], boxes, self._plain, n)
        self.statements += 1
        table = wrap(asked_rows(self._connection, query, values, {**types, "row": nw.Int64()}, self.backend))
        frame = table.select(*names).rename(names).to_native()
        return Picked(frame=frame, numbers=table["row"].to_numpy().astype(np.int64))

    def _grouped(
        self,
        keys: Sequence[Key],
        weight: str | None,
        limit: int,
        frequent: tuple[int, int] = (0, 1),
        summed: Sequence[str] = (),
    ) -> Any:
        described = [
            (key, None, nw.Int64()) if key.form == "part" else (key, self._plain(key.column), self.schema[key.column])
            for key in keys
        ]
        weights = None if weight is None else self._plain(weight)
        return grouped_query(self._source, described, weights, limit, frequent, [self._plain(name) for name in summed])

    def _group_types(self, keys: Sequence[Key], weight: str | None) -> dict[str, nw.dtypes.DType]:
        types = {f"k{index}": key.type_in(self.schema) for index, key in enumerate(keys)}
        sums = {"n": nw.Int64(), **({} if weight is None else {"w": nw.Float64(), "w2": nw.Float64()})}
        return {**types, **sums}

    def batches(
        self, columns: Sequence[str], size: int | None = None, *, backend: Backend | None = None
    ) -> Iterator[Any]:
        """All rows as frames, in the order of the source; see `Engine.batches`."""
        query, types, names = self._rows(columns)
        if size is not None:
            self._number_rows()
        self.statements += 1
        for part, received in copied_in_parts(self._connection, query, types, backend or self.backend, size):
            self.bytes_received += received
            yield wrap(part).rename(names).to_native()

    def sample(self, columns: Sequence[str], n: int, seed: int) -> Any:
        """`n` rows that come first in `sample_order`; see `Engine.sample`."""
        self._number_rows()
        _, types, names = self._rows(columns)
        bound = sample_bound(n, self.profile().rows)
        query = sample_query(self._source, [self._plain(name) for name in columns], seed, bound)
        table = wrap(self._copied(query, {**types, "row": nw.Int64(), "ord": nw.Int64()}))
        first = np.argsort(table["ord"].to_numpy(), kind="stable")[:n]
        ranked = first[np.argsort(table["row"].to_numpy()[first], kind="stable")]
        return table[ranked].select(*names).rename(names).to_native()

    def close(self) -> None:
        """End the transaction and the connection."""
        self._connection.close()

    def moved(self) -> Message | None:
        """Nothing: the transaction sees one state of the data."""
        return None

    def _rows(self, columns: Sequence[str]) -> tuple[Any, dict[str, nw.dtypes.DType], dict[str, str]]:
        query = rows_query(self._source, [self._plain(name) for name in columns])
        types = {f"c{index}": self.schema[name] for index, name in enumerate(columns)}
        return query, types, dict(zip(types, columns, strict=True))

    def _plain(self, name: str) -> Any:
        return plain(name, self._oids[name], self.schema[name])

    def _types(self, oids: Mapping[str, int]) -> dict[str, nw.dtypes.DType]:
        """The types of columns; names of an enumeration are texts."""
        from psycopg import sql

        enums: set[int] = set()
        if any(oid >= _OWN_TYPES for oid in oids.values()):
            enums = {row[0] for row in self._ask(sql.SQL("SELECT oid FROM pg_type WHERE typtype = 'e'"), rows=True)}
        return {name: nw.String() if oid in enums else TYPES.get(oid, nw.Unknown)() for name, oid in oids.items()}

    def _number_rows(self) -> None:
        """From here on one process scans a table: several would number its rows in the order in which they finish."""
        from psycopg import sql

        if not self._numbered:
            self._numbered = True
            self._ask(sql.SQL("SET LOCAL max_parallel_workers_per_gather = 0"))

    def _ask(self, query: Any, *, rows: bool = False) -> Any:
        self.statements += 1
        return ask(self._connection, query, rows=rows)

    def _copied(self, query: Any, types: Mapping[str, nw.dtypes.DType], backend: Backend | None = None) -> Any:
        self.statements += 1
        frame, received = copied(self._connection, query, types, backend or self.backend)
        self.bytes_received += received
        return frame


def _refuse_password(address: str) -> None:
    try:
        parts = urlsplit(address)
        given = parts.password is not None or "password" in parse_qs(parts.query)
    except ValueError:
        raise SpecError(
            "The address of the database cannot be read; expected postgresql://user@host/database."
        ) from None
    if given:
        raise SpecError(
            "The address contains a password, which others can read there. Leave it out, and set PGPASSWORD or write "
            "it to ~/.pgpass."
        )


def _are_finite(low: Any, high: Any) -> bool:
    """Whether numbers between these ends are finite; for the server what is not a number is larger than any other."""
    return low is None or (math.isfinite(low) and math.isfinite(high))


def _parts(table: str) -> list[str]:
    """The parts of a name such as ``public.loans`` or ``"my table"``."""
    found = re.findall(r'"((?:[^"]|"")+)"|([^".]+)', table)
    parts = [quoted.replace('""', '"') or bare for quoted, bare in found]
    if not 1 <= len(parts) <= 3 or "\x00" in table:
        raise SpecError(f"`table` must be a name such as loans or public.loans; got {table!r}.")
    return parts


def _one_statement(query: str) -> str:
    text = query.strip().rstrip(";").strip()
    if not text or "\x00" in text:
        raise SpecError("`query` must be one statement that reads, such as SELECT * FROM loans.")
    return text + "\n"  # a comment at its end must not swallow what follows
