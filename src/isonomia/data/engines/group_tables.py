"""From the tables that engines return to groups: types, names, numbers that were packed."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.data.engines.engine import Groups, Key, Ranges
from isonomia.data.engines.fetching import from_polars
from isonomia.data.frames import Backend, wrap
from isonomia.typing import Floats


def sum_names(summed: int, *, weighted: bool) -> tuple[str, ...]:
    """What the columns of sums are called: n, those of weights, those of so many columns and their squares."""
    own = (name for index in range(summed) for name in (f"sum{index}", f"square{index}"))
    return ("n", *(("w", "w2") if weighted else ()), *own)


def groups_of(table: nw.DataFrame[Any], keys: Sequence[Key], limit: int, summed: Sequence[str] = ()) -> Groups | None:
    """Groups from a table with the columns k0, k1, ..., n and perhaps others of sums; None where there are too many."""
    if len(table) > limit:
        return None
    w, w2 = (_floats(table, name) if name in table.columns else None for name in ("w", "w2"))
    sums = {
        column: (_floats(table, f"sum{index}"), _floats(table, f"square{index}")) for index, column in enumerate(summed)
    }
    names = {f"k{index}": key.column for index, key in enumerate(keys)}
    n = np.asarray(table["n"].to_numpy(), dtype=np.int64)
    return Groups(frame=table.select(*names).rename(names).to_native(), n=n, w=w, w2=w2, sums=sums)


def _floats(table: nw.DataFrame[Any], name: str) -> Floats:
    return np.asarray(table[name].to_numpy(), dtype=float)


def groups_of_each(
    table: Any,
    sets: Sequence[Sequence[Key]],
    shared: Sequence[Key],
    schema: Mapping[str, nw.dtypes.DType],
    limit: int,
    backend: Backend,
    summed: Sequence[str] = (),
) -> list[Groups | None]:
    """The groups of each set, from a Polars frame of all: set, t0, x0, ..., s0, ..., n and perhaps others of sums.

    A key of a set is a number in x or a text in t, so that keys of any types fit the same columns.
    """
    import polars as pl

    sums = sum_names(len(summed), weighted="w" in table.columns)
    found = []
    for index, own in enumerate(sets):
        columns = []
        for place, key in enumerate(own):
            dtype = key.type_in(schema)
            column = pl.col(f"x{place}") if dtype.is_float() else _typed(pl.col(f"t{place}"), dtype)
            columns.append(column.alias(f"k{place}"))
        columns += [pl.col(f"s{place}").alias(f"k{len(own) + place}") for place in range(len(shared))]
        part = table.filter(pl.col("set") == index).select(*columns, *sums)
        found.append(groups_of(wrap(from_polars(part, backend)), [*own, *shared], limit, summed))
    return found


def unpacked(table: nw.DataFrame[Any], place: int, *, weighted: bool) -> nw.DataFrame[Any]:
    """Groups whose numbers (n, the mean of bin k`place`, w, w2) came packed: 8 bytes each, most significant first."""
    kind = np.dtype([("n", ">i8"), (f"k{place}", ">f8"), *((("w", ">f8"), ("w2", ">f8")) if weighted else ())])
    parts = [np.frombuffer(base64.b64decode(text), dtype=kind) for text in table["packed"].to_list()]
    rows = np.repeat(np.arange(len(parts)), [part.size for part in parts])
    numbers = np.concatenate(parts) if parts else np.empty(0, dtype=kind)
    names = [
        nw.new_series(name, numbers[name].astype(kind[name].newbyteorder("=")), backend=table.implementation)
        for name in kind.names or ()
    ]
    return table.drop("packed")[rows].with_columns(*names)  # before it is repeated: the texts are long


def read_ranges(table: Mapping[str, Sequence[Any]], names: Sequence[str]) -> dict[str, Ranges]:
    """The answer to `Engine.ranges`: from the number of the column, the bin, n, low, high, and g0, ... of each bin."""
    b = np.asarray(table["b"], dtype=float)
    which, order = np.asarray(table["set"], dtype=np.int64), np.argsort(b, kind="stable")
    by = [name for name in table if name[0] == "g"]
    found = {}
    for index, name in enumerate(names):
        own = order[which[order] == index]
        n, low, high = (np.asarray(table[field], dtype=float)[own] for field in ("n", "low", "high"))
        if by and own.size:  # a bin has several rows here
            first = np.flatnonzero(np.concatenate([[True], b[own][1:] != b[own][:-1]]))
            sizes = np.diff(np.append(first, own.size))
            low, high = (
                np.repeat(np.minimum.reduceat(low, first), sizes),
                np.repeat(np.maximum.reduceat(high, first), sizes),
            )
        values = tuple(tuple(table[field][place] for place in own.tolist()) for field in by)
        found[name] = Ranges(n=n.astype(np.int64), low=low, high=high, by=values)
    return found


def _typed(text: Any, dtype: nw.dtypes.DType) -> Any:
    """Values that came as texts, in their own type."""
    import polars as pl

    if dtype == nw.Boolean:
        return pl.when(text.is_not_null()).then(text.is_in(["true", "t", "1"]))
    if dtype == nw.Date:
        return text.str.to_date("%Y-%m-%d")
    return text.cast(pl.Int64) if dtype.is_integer() else text
