"""The statements for PostgreSQL: one template each, with quoted names and numbers of our own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from isonomia.data.engines.engine import PRIME, ROUNDS, Key, first_key

#: What columns of a type are read as, by the type's object id. Others cannot be counted.
TYPES: Mapping[int, Any] = {
    16: nw.Boolean,
    **dict.fromkeys((20, 21, 23), nw.Int64),
    **dict.fromkeys((700, 701, 1700), nw.Float64),
    **dict.fromkeys((18, 19, 25, 1042, 1043, 2950), nw.String),
    1082: nw.Date,
    **dict.fromkeys((1114, 1184), nw.Datetime),
}
_WITH_ZONE = 1184


def plain(name: str, oid: int, dtype: nw.dtypes.DType) -> Any:
    """A column in a type that every frame library has."""
    from psycopg import sql

    column = sql.Identifier(name)
    if oid == _WITH_ZONE:
        return sql.SQL("({} AT TIME ZONE 'UTC')").format(column)
    if dtype == nw.Float64:
        return sql.SQL("{}::float8").format(column)
    if dtype == nw.String:
        return sql.SQL("{}::text").format(column)
    return column


def profile_query(
    source: Any, columns: Sequence[tuple[str, Any, nw.dtypes.DType]], ends: Sequence[str]
) -> tuple[Any, list[tuple[str, str]]]:
    """Rows, known values and finite numbers of every column, the ends of some; and what each field of the answer is."""
    from psycopg import sql

    parts: list[Any] = [sql.SQL("count(*)")]
    fields = [("rows", "")]
    for name, column, dtype in columns:
        where: Any = sql.SQL("")
        known: Any = sql.SQL("count({})").format(column)
        if dtype == nw.Float64:
            known = sql.SQL("count({0}) FILTER (WHERE {0} <> 'NaN')").format(column)
            where = sql.SQL(" FILTER (WHERE {0} > '-Infinity' AND {0} < 'Infinity')").format(column)
        parts.append(known)
        fields.append(("known", name))
        if dtype == nw.Float64:
            parts.append(sql.SQL("count({}){}").format(column, where))
            fields.append(("finite", name))
        if name in ends:
            parts += [sql.SQL("min({}){}").format(column, where), sql.SQL("max({}){}").format(column, where)]
            fields += [("low", name), ("high", name)]
    return sql.SQL("SELECT {} FROM {}").format(sql.SQL(", ").join(parts), source), fields


def grouped_query(source: Any, keys: Sequence[Key], columns: Sequence[Any], weight: Any, limit: int) -> Any:
    """The groups with equal keys and what is summed over each."""
    from psycopg import sql

    read: list[Any] = []
    shown: list[Any] = []
    for index, (key, column) in enumerate(zip(keys, columns, strict=True)):
        group, value, name = (sql.Identifier(f"{letter}{index}") for letter in "gvk")
        read += [sql.SQL("{} AS {}").format(_key(key, column), group), sql.SQL("{} AS {}").format(column, value)]
        shown.append(sql.SQL("{} AS {}").format(_shown(key, group, value, weighted=weight is not None), name))
    shown.append(sql.SQL("count(*) AS n"))
    if weight is not None:
        read.append(sql.SQL("{}::float8 AS w").format(weight))
        shown.append(sql.SQL("sum(w) AS w, sum(w * w) AS w2"))
    comma = sql.SQL(", ")
    groups = comma.join(sql.Identifier(f"g{i}") for i in range(len(keys)))
    return sql.SQL("SELECT {} FROM (SELECT {} FROM {}) AS r GROUP BY {} LIMIT {}").format(
        comma.join(shown), comma.join(read), source, groups, sql.Literal(limit + 1)
    )


def rows_query(source: Any, columns: Sequence[Any]) -> Any:
    """The columns of all rows."""
    from psycopg import sql

    return sql.SQL("SELECT {} FROM {}").format(_named(columns), source)


def sample_query(source: Any, columns: Sequence[Any], seed: int, bound: int) -> Any:
    """The columns of rows whose `sample_order` is below a bound, with their numbers and orders."""
    from psycopg import sql

    prime = sql.Literal(PRIME)
    names = sql.SQL(", ").join(sql.Identifier(f"c{i}") for i in range(len(columns)))
    inner = sql.SQL("SELECT {}, row_number() OVER () - 1 AS row FROM {}").format(_named(columns), source)
    inner = sql.SQL("SELECT *, (row + {}) % {} AS ord FROM ({}) AS r").format(
        sql.Literal(first_key(seed)), prime, inner
    )
    for factor, shift in ROUNDS:
        step = sql.SQL(
            "SELECT {0}, row, (((ord * ord % {1}) * (ord * ord % {1}) % {1}) * ord % {1} * {2} + {3}) % {1} AS ord "
            "FROM ({4}) AS r"
        )
        inner = step.format(names, prime, sql.Literal(factor), sql.Literal(shift), inner)
    return sql.SQL("SELECT * FROM ({}) AS r WHERE ord < {}").format(inner, sql.Literal(bound))


def _named(columns: Sequence[Any]) -> Any:
    from psycopg import sql

    return sql.SQL(", ").join(
        sql.SQL("{} AS {}").format(column, sql.Identifier(f"c{i}")) for i, column in enumerate(columns)
    )


def _shown(key: Key, group: Any, value: Any, *, weighted: bool) -> Any:
    """What stands for a group: its value, the smallest of a band, the (weighted) mean of a bin."""
    from psycopg import sql

    if key.form == "bands":
        return sql.SQL("min({})").format(value)
    if key.form != "bins":
        return group
    if weighted:
        return sql.SQL("CASE WHEN sum(w) > 0 THEN sum(w * {0}) / sum(w) ELSE avg({0}) END").format(value)
    return sql.SQL("avg({})").format(value)


def _key(key: Key, column: Any) -> Any:
    from psycopg import sql

    if key.form == "value":
        return column
    if key.form == "day":
        return sql.SQL("{}::date").format(column)
    x = sql.SQL("nullif({}::float8, 'NaN')").format(column)
    if key.form == "bands":
        return sql.SQL(" + ").join(
            sql.SQL("({} >= {}::float8)::int").format(x, sql.Literal(repr(edge))) for edge in key.edges
        )
    low, high = (sql.SQL("{}::float8").format(sql.Literal(repr(edge))) for edge in key.edges)
    share = x if key.edges == (0.0, 1.0) else sql.SQL("(({} - {}) / ({} - {}))").format(x, low, high, low)
    bins = sql.SQL("{}::float8").format(sql.Literal(repr(float(key.bins))))
    index = sql.SQL("floor({} * {})").format(share, bins)
    up = sql.SQL("(CASE WHEN {0} >= ({1} + 1) / {2} THEN {1} + 1 ELSE {1} END)").format(share, index, bins)
    down = sql.SQL("(CASE WHEN {0} < {1} / {2} THEN {1} - 1 ELSE {1} END)").format(share, up, bins)
    return sql.SQL("least({}, {} - 1)").format(down, bins)
