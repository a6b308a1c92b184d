"""What lazy frames are grouped by: the expressions of keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from isonomia.data.engines.engine import PRIME, ROUNDS, Box, Key, first_key, part_bounds

_INFINITE = float("inf")


def with_keys(
    frame: nw.LazyFrame[Any],
    keys: Sequence[tuple[str, Key]],
    read: Callable[[str], tuple[nw.Expr, nw.dtypes.DType]],
    *more: nw.Expr,
) -> nw.LazyFrame[Any]:
    """What rows are grouped by under the names given, the numbers of bands and bins as v and the name, and more.

    `read` gives a column and its type; a random split reads the numbers of rows in "row". A number is read in one
    selection and cut in the next: an engine that puts one expression into another would read it once per edge.
    """
    first: list[nw.Expr] = []
    for name, key in keys:
        if key.form == "part":
            first.append(split_of("row", key).alias(name))
            continue
        column, dtype = read(key.column)
        first.append(_before_cutting(key, column, dtype).alias(name))
        if key.form in ("bands", "bins"):
            first.append(column.alias(f"v{name}"))
    frame = frame.select(*first, *more)
    if bands := [_banded(nw.col(name), key.edges).alias(name) for name, key in keys if key.form == "bands"]:
        frame = frame.with_columns(*bands)
    for name, key in keys:
        frame = into_bins(frame, name, key) if key.form == "bins" else frame
    return frame


def shown_by(name: str, key: Key, *, weighted: bool) -> tuple[dict[str, nw.Expr], nw.Expr]:
    """What is summed over a group to show one of its keys, and what shows it."""
    value = nw.col(f"v{name}")
    if key.form == "bands":
        return {f"r{name}": value.min()}, nw.col(f"r{name}")
    if key.form != "bins":
        return {}, nw.col(name)
    sums, mean = {f"r{name}": value.mean()}, nw.col(f"r{name}")
    if not weighted:
        return sums, mean
    sums[f"s{name}"] = (nw.col("w") * value).sum()
    return sums, nw.when(nw.col("w") > 0).then(nw.col(f"s{name}") / nw.col("w")).otherwise(mean)


def sums_of(summed: int, *, weighted: bool) -> dict[str, nw.Expr]:
    """What is summed over a group: rows n, weights w and their squares, the numbers y0, y1, ... and their squares."""
    w = nw.col("w")
    out = {"n": nw.len(), **({"w": w.sum(), "w2": (w * w).sum()} if weighted else {})}
    for index in range(summed):
        y = nw.col(f"y{index}")
        own = w * y if weighted else y
        out |= {f"sum{index}": own.sum(), f"square{index}": (own * y).sum()}
    return out


def in_box(box: Box, read: Callable[[str], nw.Expr]) -> nw.Expr:
    """Whether a row is in a box; `read` gives a column. Values are constants of the query, not part of its text."""
    equal = [
        read(name).is_null() if value is None else read(name) == nw.lit(value) for name, value in box.values.items()
    ]
    within = [(read(name) >= low) & (read(name) <= high) for name, (low, high) in box.ranges.items()]
    return nw.all_horizontal(*equal, *within, ignore_nulls=False)


def _before_cutting(key: Key, column: nw.Expr, dtype: nw.dtypes.DType) -> nw.Expr:
    """What a key groups by; of bands the number, of bins the number from 0 to 1 that `into_bins` takes."""
    if key.form == "value":
        return column
    if key.form == "day":
        return column.cast(nw.Date)
    if key.form == "absent":
        return _absent(column, dtype, key.blanks)
    x = finite_or_null(column, dtype)
    if key.form == "bands":
        return x
    low, high = key.edges
    return x if (low, high) == (0.0, 1.0) else (x - low) / (high - low)


def finite_or_null(column: nw.Expr, dtype: nw.dtypes.DType) -> nw.Expr:
    """A column of numbers as floats, without what is not a number."""
    x = column.cast(nw.Float64)
    return nw.when(is_number(x)).then(x) if dtype.is_float() else x


def is_known(column: nw.Expr, dtype: nw.dtypes.DType) -> nw.Expr:
    """Whether there is a value."""
    return ~column.is_null() & is_number(column) if dtype.is_float() else ~column.is_null()


def is_number(column: nw.Expr) -> nw.Expr:
    """Whether a float is a number, if an infinite one.

    Not the opposite of `is_nan`: DuckDB answers that from the statistics of a Parquet file, in which other writers
    leave out what is not a number, and then finds none.
    """
    return column.is_finite() | (column == _INFINITE) | (column == -_INFINITE)


def pieced(x: nw.Expr, pieces: Sequence[tuple[float, float]], bins: int) -> nw.Expr:
    """The index of the bin of a number within some pieces, or the number itself (0 bins); missing outside of them.

    It rises with the number whatever the rounding, which is all that is asked of it.
    """
    found: Any = None
    for index, (low, high) in reversed(list(enumerate(pieces))):
        inside = x
        if bins:
            step = ((x - low) / ((high - low) / bins)).floor() if high > low else x * 0
            inside = nw.when(step >= bins).then(nw.lit(float(bins - 1))).otherwise(step) + float(index * bins)
        chosen = nw.when((x >= low) & (x <= high)).then(inside)
        found = chosen if found is None else chosen.otherwise(found)
    expression: nw.Expr = found
    return expression


def into_bins(frame: nw.LazyFrame[Any], name: str, key: Key) -> nw.LazyFrame[Any]:
    """The frame with the bins of a number from 0 to 1 in its place; the last one is closed.

    The edges are i / bins, rounded as division rounds it: multiplication alone would put 0.57 into the bin below it,
    since 0.57 * 1000 is less than 570. Polars divides by a constant through its reciprocal, which rounds otherwise; so
    the divisor is a column.
    """
    share, index = nw.col(name), nw.col(f"i{name}")
    bins = index * 0 + key.bins
    up = nw.when(share >= (index + 1) / bins).then(index + 1).otherwise(index)
    down = nw.when(share < index / bins).then(index - 1).otherwise(index)
    last = nw.when(index >= key.bins).then(nw.lit(float(key.bins - 1))).otherwise(index)
    frame = frame.with_columns((share * key.bins).floor().alias(f"i{name}"))
    for step in (up, down):
        frame = frame.with_columns(step.alias(f"i{name}"))
    return frame.with_columns(last.alias(name)).drop(f"i{name}")


def order_of(row: str, seed: int) -> nw.Expr:
    """`sample_order` of a column of row numbers."""
    order = (nw.col(row) + first_key(seed)) % PRIME
    for factor, shift in ROUNDS:
        square = order * order % PRIME
        order = (square * square % PRIME * order % PRIME * factor + shift) % PRIME
    return order


def split_of(row: str, key: Key) -> nw.Expr:
    """`part_of` a column of row numbers."""
    order = order_of(row, key.seed)
    part: nw.Expr = nw.lit(0)
    for bound in part_bounds(key.edges):
        part = part + nw.when(order >= bound).then(1).otherwise(0)
    return part.cast(nw.Int64)


def _absent(column: nw.Expr, dtype: nw.dtypes.DType, blanks: Sequence[str]) -> nw.Expr:
    gone = ~is_known(column, dtype)
    if not blanks or dtype != nw.String:
        return gone
    return gone | column.str.strip_chars().is_in(list(blanks)).fill_null(False)


def _banded(x: nw.Expr, edges: Sequence[float]) -> nw.Expr:
    """How many edges a number has reached; missing stays missing."""
    return nw.when(~x.is_null()).then(_reached(x, edges, 0))


def _reached(x: nw.Expr, edges: Sequence[float], below: int) -> nw.Expr:
    """How many edges a number has reached, with those below it: half of the edges are left after each question."""
    if not edges:
        return nw.lit(below)
    middle = len(edges) // 2
    above = _reached(x, edges[middle + 1 :], below + middle + 1)
    return nw.when(x >= edges[middle]).then(above).otherwise(_reached(x, edges[:middle], below))
