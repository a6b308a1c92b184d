"""The statements for PostgreSQL: one template each, with quoted names and numbers of our own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from isonomia.data.engines.engine import PRIME, ROUNDS, Box, Key, first_key, part_bounds

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
_SPACES = " \t\n\r\f\v"


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
    """Rows and known values of every column, ends of floats and of some others; what each field of the answer is."""
    from psycopg import sql

    parts: list[Any] = [sql.SQL("count(*)")]
    fields = [("rows", "")]
    for name, column, dtype in columns:
        parts.append(sql.SQL("count({})").format(column))
        fields.append(("known", name))
        if name in ends or dtype == nw.Float64:  # which tell whether there is an infinite one
            parts += [sql.SQL("min({})").format(column), sql.SQL("max({})").format(column)]
            fields += [("low", name), ("high", name)]
    return sql.SQL("SELECT {} FROM {}").format(sql.SQL(", ").join(parts), source), fields


def finite_query(source: Any, columns: Sequence[Any]) -> Any:
    """For each column how many values are not a number, how many finite; the smallest and the largest finite one."""
    from psycopg import sql

    counted = (
        sql.SQL(
            "count(*) FILTER (WHERE {0} = 'NaN'), count(*) FILTER ({1}), min({0}) FILTER ({1}), max({0}) FILTER ({1})"
        ).format(column, sql.SQL("WHERE {0} > '-Infinity' AND {0} < 'Infinity'").format(column))
        for column in columns
    )
    return sql.SQL("SELECT {} FROM {}").format(_comma().join(counted), source)


def grouped_query(
    source: Any,
    keys: Sequence[tuple[Key, Any, nw.dtypes.DType]],
    weight: Any,
    limit: int,
    frequent: tuple[int, int] = (0, 1),
    summed: Sequence[Any] = (),
) -> Any:
    """The groups of equal keys and what is summed over each: k0, k1, ... as they are shown, n, w, w2, sum0, square0.

    With `frequent` only groups whose first keys, so many, are those of so many rows.
    """
    from psycopg import sql

    read: list[Any] = []
    shown: list[Any] = []
    if any(key.form == "part" for key, _, _ in keys):
        source = sql.SQL("(SELECT *, row_number() OVER () - 1 AS {} FROM {}) AS numbered").format(_row(), source)
    for index, (key, column, dtype) in enumerate(keys):
        group, value, name = (sql.Identifier(f"{letter}{index}") for letter in "gvk")
        if key.form == "part":
            read.append(sql.SQL("{} AS {}").format(_part(key), group))
            shown.append(sql.SQL("{} AS {}").format(group, name))
            continue
        read += [sql.SQL("{} AS {}").format(_key(key, column, dtype), group), sql.SQL("{} AS {}").format(column, value)]
        shown.append(sql.SQL("{} AS {}").format(_shown(key, group, value, weighted=weight is not None), name))
    shown.append(sql.SQL("count(*) AS n"))
    if weight is not None:
        read.append(sql.SQL("{}::float8 AS w").format(weight))
        shown.append(sql.SQL("sum(w) AS w, sum(w * w) AS w2"))
    for index, column in enumerate(summed):
        y, total, squares = (sql.Identifier(f"{name}{index}") for name in ("y", "sum", "square"))
        x = sql.SQL("{}::float8").format(column)  # whose square must not be too small for the server
        finite = "CASE WHEN abs({0}) < 1e-150 THEN 0 WHEN {0} > '-Infinity' AND {0} < 'Infinity' THEN {0} END AS {1}"
        read.append(sql.SQL(finite).format(x, y))
        times = sql.SQL("{}").format(y) if weight is None else sql.SQL("w * {}").format(y)
        shown.append(sql.SQL("sum({0}) AS {1}, sum({0} * {2}) AS {3}").format(times, total, y, squares))
    names = [sql.Identifier(f"g{i}") for i in range(len(keys))]
    own, least = frequent
    if least > 1:
        together = sql.SQL("sum(count(*)) OVER (PARTITION BY {}) AS together").format(_comma().join(names[:own]))
        shown.append(together)
    query = sql.SQL("SELECT {} FROM (SELECT {} FROM {}) AS r GROUP BY {}").format(
        _comma().join(shown), _comma().join(read), source, _comma().join(names)
    )
    if least > 1:
        query = sql.SQL("SELECT * FROM ({}) AS f WHERE together >= {}").format(query, sql.Literal(least))
    return sql.SQL("{} LIMIT {}").format(query, sql.Literal(limit + 1))


def packed_query(groups: Any, keys: int, place: int, *, weighted: bool) -> Any:
    """Groups of which one key is a number in bins, a row per combination of the other keys.

    The numbers of a row, n, mean of the bin and sums of weights, are 8 bytes each, written to base 64: a third of what
    they take as texts beside keys that repeat.
    """
    from psycopg import sql

    others = _comma().join(sql.Identifier(f"k{index}") for index in range(keys) if index != place)
    mean = sql.Identifier(f"k{place}")
    numbers = [sql.SQL("int8send(n)"), sql.SQL("float8send(coalesce({}, 'NaN'))").format(mean)]
    numbers += [sql.SQL("float8send(w)"), sql.SQL("float8send(w2)")] if weighted else []
    packed = sql.SQL("translate(encode(string_agg({}, ''), 'base64'), E'\\n', '')").format(
        sql.SQL(" || ").join(numbers)
    )
    return sql.SQL("SELECT {0}, {1} AS packed FROM ({2}) AS p GROUP BY {0}").format(others, packed, groups)


def each_query(
    groups: Sequence[Any],
    types: Sequence[Sequence[nw.dtypes.DType]],
    width: int,
    shared: int,
    sums: Sequence[str],
) -> Any:
    """Several sets of groups in one answer: own keys as texts t or numbers x, then the shared ones, then sums."""
    from psycopg import sql

    parts = []
    for index, (query, own) in enumerate(zip(groups, types, strict=True)):
        fields: list[Any] = [sql.SQL("{} AS set").format(sql.Literal(index))]
        for place in range(width):
            text: Any = sql.SQL("NULL::text")
            number: Any = sql.SQL("NULL::float8")
            if place < len(own):
                key = sql.Identifier(f"k{place}")
                if own[place].is_float():
                    number = sql.SQL("{}::float8").format(key)
                else:
                    text = sql.SQL("{}::text").format(key)
            fields += [text, number]
        fields += [sql.Identifier(f"k{len(own) + place}") for place in range(shared)]
        fields += [sql.Identifier(name) for name in sums]
        parts.append(sql.SQL("(SELECT {} FROM ({}) AS e{})").format(_comma().join(fields), query, sql.SQL(str(index))))
    return sql.SQL(" UNION ALL ").join(parts)


def ranges_query(
    source: Any,
    columns: Sequence[tuple[Any, Sequence[tuple[float, float]]]],
    bins: int,
    known: tuple[Any, nw.dtypes.DType] | None,
    by: Sequence[Any] = (),
) -> Any:
    """Rows, smallest and largest number of each bin of some pieces of several columns; by other columns, too."""
    from psycopg import sql

    where: Any = sql.SQL("")
    groups = sql.SQL("").join(sql.SQL(", {}").format(sql.Identifier(f"g{index}")) for index in range(len(by)))
    others = sql.SQL("").join(
        sql.SQL(", {} AS {}").format(column, sql.Identifier(f"g{index}")) for index, column in enumerate(by)
    )
    if known is not None:
        where = sql.SQL(" WHERE {}").format(_is_known(*known))
    parts = []
    for index, (column, pieces) in enumerate(columns):
        x = sql.SQL("nullif({}::float8, 'NaN')").format(column)
        parts.append(
            sql.SQL(
                "(SELECT {0} AS set, b, count(*) AS n, min(x) AS low, max(x) AS high{1} FROM (SELECT x, {2} AS b{1} "
                "FROM (SELECT {3} AS x{4} FROM {5}{6}) AS r) AS s WHERE b IS NOT NULL GROUP BY b{1})"
            ).format(sql.Literal(index), groups, _pieced(pieces, bins), x, others, source, where)
        )
    return sql.SQL(" UNION ALL ").join(parts)


def distinct_query(source: Any, columns: Sequence[Any]) -> Any:
    """How many different values each column has."""
    from psycopg import sql

    counted = (sql.SQL("count(DISTINCT {})").format(column) for column in columns)
    return sql.SQL("SELECT {} FROM {}").format(_comma().join(counted), source)


def rows_query(source: Any, columns: Sequence[Any], first: int | None = None) -> Any:
    """The columns of all rows, or of the first ones."""
    from psycopg import sql

    limit = sql.SQL("") if first is None else sql.SQL(" LIMIT {}").format(sql.Literal(first))
    return sql.SQL("SELECT {} FROM {}{}").format(_named(columns), source, limit)


def sample_query(source: Any, columns: Sequence[Any], seed: int, bound: int) -> Any:
    """The columns of rows whose `sample_order` is below a bound, with their numbers and orders."""
    from psycopg import sql

    inner = sql.SQL("SELECT {}, row_number() OVER () - 1 AS row FROM {}").format(_named(columns), source)
    ordered = sql.SQL("SELECT *, {} AS ord FROM ({}) AS r").format(_order(sql.Identifier("row"), seed), inner)
    return sql.SQL("SELECT * FROM ({}) AS r WHERE ord < {}").format(ordered, sql.Literal(bound))


def picked_query(
    source: Any, columns: Sequence[Any], boxes: Sequence[Box], plain: Callable[[str], Any], n: int
) -> tuple[Any, list[Any]]:
    """The first rows that are in one of some boxes, with their numbers; and the values that $1, $2, ... stand for."""
    from psycopg import sql

    values: list[Any] = []
    inside = []
    for box in boxes:
        parts: list[Any] = [sql.SQL("true")]
        for name, value in box.values.items():
            if value is None:
                parts.append(sql.SQL("{} IS NULL").format(plain(name)))
                continue
            values.append(value)
            parts.append(sql.SQL("{} = {}").format(plain(name), sql.SQL(f"${len(values)}")))
        for name, (low, high) in box.ranges.items():
            parts.append(
                sql.SQL("{0}::float8 >= {1} AND {0}::float8 <= {2}").format(plain(name), _number(low), _number(high))
            )
        inside.append(sql.SQL("({})").format(sql.SQL(" AND ").join(parts)))
    query = sql.SQL(
        "SELECT {}, {} AS row FROM (SELECT *, row_number() OVER () - 1 AS {} FROM {}) AS numbered WHERE {} "
        "ORDER BY row LIMIT {}"
    ).format(_named(columns), _row(), _row(), source, sql.SQL(" OR ").join(inside), sql.Literal(n))
    return query, values


def _order(row: Any, seed: int) -> Any:
    """`sample_order` of a row number."""
    from psycopg import sql

    prime = sql.Literal(PRIME)
    order = sql.SQL("(({} + {}) % {})").format(row, sql.Literal(first_key(seed)), prime)
    for factor, shift in ROUNDS:
        square = sql.SQL("({0} * {0} % {1})").format(order, prime)
        order = sql.SQL("(({0} * {0} % {1} * {2} % {1} * {3} + {4}) % {1})").format(
            square, prime, order, sql.Literal(factor), sql.Literal(shift)
        )
    return order


def _part(key: Key) -> Any:
    """`part_of` a row number."""
    from psycopg import sql

    bounds = _comma().join(sql.Literal(bound) for bound in part_bounds(key.edges))
    return sql.SQL("width_bucket({}, ARRAY[{}]::int8[])").format(_order(_row(), key.seed), bounds)


def _row() -> Any:
    """The name of a column of row numbers beside columns of any names."""
    from psycopg import sql

    return sql.Identifier("isonomia row number")


def _comma() -> Any:
    from psycopg import sql

    return sql.SQL(", ")


def _pieced(pieces: Sequence[tuple[float, float]], bins: int) -> Any:
    """The bin of x within some pieces, or x itself (0 bins); nothing outside of them."""
    from psycopg import sql

    cases = []
    for index, (low, high) in enumerate(pieces):
        first, last = (_number(end) for end in (low, high))
        inside: Any = sql.SQL("x") if not bins else _number(index * bins)
        if bins and high > low:
            step = sql.SQL("least(floor((x - {}) / {}), {})").format(
                first, _number((high - low) / bins), _number(bins - 1.0)
            )
            inside = sql.SQL("{} + {}").format(step, inside)
        cases.append(sql.SQL("WHEN x >= {} AND x <= {} THEN {}").format(first, last, inside))
    return sql.SQL("CASE {} END").format(sql.SQL(" ").join(cases))


def _number(value: float) -> Any:
    from psycopg import sql

    return sql.SQL("{}::float8").format(sql.Literal(repr(float(value))))


def _is_known(column: Any, dtype: nw.dtypes.DType) -> Any:
    from psycopg import sql

    if dtype == nw.Float64:
        return sql.SQL("({0} IS NOT NULL AND {0} <> 'NaN')").format(column)
    return sql.SQL("({} IS NOT NULL)").format(column)


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
    return sql.SQL("sum({}::float8) / count(*)").format(value)  # avg would sum squares, too; a bin has numbers alone


def _absent(key: Key, column: Any, dtype: nw.dtypes.DType) -> Any:
    """Whether there is no value; texts that stand for none are those that the caller named."""
    from psycopg import sql

    known = _is_known(column, dtype)
    if not key.blanks or dtype != nw.String:
        return sql.SQL("(NOT {})").format(known)
    blanks = _comma().join(sql.Literal(blank) for blank in key.blanks)
    return sql.SQL("(NOT {} OR btrim({}, {}) IN ({}))").format(known, column, sql.Literal(_SPACES), blanks)


def _key(key: Key, column: Any, dtype: nw.dtypes.DType) -> Any:
    from psycopg import sql

    if key.form == "value":
        return column
    if key.form == "day":
        return sql.SQL("{}::date").format(column)
    if key.form == "absent":
        return _absent(key, column, dtype)
    x = sql.SQL("nullif({}::float8, 'NaN')").format(column)
    if key.form == "bands":
        return _edges_reached(x, key.edges)
    low, high = (_number(edge) for edge in key.edges)
    share = x if key.edges == (0.0, 1.0) else sql.SQL("(({} - {}) / ({} - {}))").format(x, low, high, low)
    return _edges_reached(share, [index / key.bins for index in range(1, key.bins)])


def _edges_reached(x: Any, edges: Sequence[float]) -> Any:
    """How many of the edges a number is at or above: the index of its band."""
    from psycopg import sql

    listed = _comma().join(sql.Literal(repr(float(edge))) for edge in edges)
    return sql.SQL("width_bucket({}, ARRAY[{}]::float8[])").format(x, listed)
