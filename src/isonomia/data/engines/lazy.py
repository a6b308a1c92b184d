"""Rows behind a lazy frame: DuckDB, Polars, Spark, or whatever else narwhals builds queries for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.data.engines.engine import Box, Engine, Groups, Key, Picked, Profile, Ranges, require_polars, sample_bound
from isonomia.data.engines.fetching import columns_of, fetched, frames_of, numbered
from isonomia.data.engines.group_tables import groups_of, groups_of_each, read_ranges, sum_names
from isonomia.data.engines.lazy_keys import (
    finite_or_null,
    in_box,
    is_known,
    is_number,
    order_of,
    pieced,
    shown_by,
    sums_of,
    with_keys,
)
from isonomia.data.engines.memory import read_memory
from isonomia.data.engines.spark import groups_of_sets, numbered_from_0, ranges_of_sets, rows_by_part
from isonomia.data.engines.watching import Watch
from isonomia.data.frames import Backend, default_backend, wrap
from isonomia.languages import Message

#: Types that frame libraries do not share, and what they are read as.
_PLAIN = {nw.Decimal: nw.Float64, nw.Int128: nw.Float64, nw.UInt128: nw.Float64, nw.Enum: nw.String}


def is_lazy(frame: object) -> bool:
    """Whether an object is a lazy frame that narwhals knows."""
    if type(frame).__module__.split(".")[0] in ("builtins", "numpy", "pandas", "pyarrow"):
        return False
    return isinstance(nw.from_native(frame, pass_through=True), nw.LazyFrame)


class LazyEngine(Engine):
    """A lazy frame that counts its own rows.

    Parameters
    ----------
    frame : DuckDB relation, Polars LazyFrame, Spark DataFrame, Ibis table, or other lazy frame that narwhals knows
    memory : int or str, optional
        How much memory rows and groups may take here ("512MB"); half of the machine's by default.
    names : sequence of str, optional
        What its columns are called, where it has other names for them.
    watch : Watch, optional
        Files behind the frame, which must not change.
    notes : sequence of Message
        What a reader of the results should know about the source.

    Examples
    --------
    >>> import polars as pl
    >>> engine = LazyEngine(pl.LazyFrame({"sex": ["F", "M", "F"], "pay": [10.0, 12.0, 20.0]}))
    >>> engine.profile().rows, engine.profile(ends=["pay"]).ends["pay"]
    (3, (10.0, 20.0))
    >>> groups = engine.grouped([Key(column="sex")], limit=10)
    >>> sorted(zip(groups.frame["sex"].to_list(), groups.n.tolist()))
    [('F', 2), ('M', 1)]
    """

    def __init__(
        self,
        frame: Any,
        *,
        memory: int | str | None = None,
        names: Sequence[str] | None = None,
        watch: Watch | None = None,
        notes: Sequence[Message] = (),
    ) -> None:
        require_polars()
        self._frame: nw.LazyFrame[Any] = nw.from_native(frame)
        if self._frame.implementation.is_pyspark():  # which reads dots and backticks in names as more than letters
            names = names or frame.columns
            self._frame = nw.from_native(frame.toDF(*(f"c{index}" for index in range(len(names)))))
        types = self._frame.collect_schema()
        self._inner = dict(zip(names or list(types), types, strict=True))
        self.schema: Mapping[str, nw.dtypes.DType] = {
            outer: _plain_type(types[inner]) for outer, inner in self._inner.items()
        }
        self.name = self._frame.implementation.name.lower()
        self.memory = read_memory(memory)
        self.backend: Backend = "polars" if self.name == "polars" else default_backend()
        self.notes = tuple(notes)
        self._watch = watch
        self.repeatable = watch is not None  # files; what is behind another frame may be joined or grouped
        self.slow_to_start = self._frame.implementation.is_pyspark()

    def _profiled(self, names: Sequence[str], ends: Sequence[str]) -> Profile:
        wanted: dict[tuple[str, str], nw.Expr] = {("rows", ""): nw.len()}
        for name in names:
            column = self._column(name)
            wanted["known", name] = column.count()
            if self.schema[name].is_float():
                column = nw.when(column.is_finite()).then(column)
                wanted["finite", name] = column.count()
            if name in ends:
                wanted["low", name], wanted["high", name] = column.min(), column.max()
        row = self._answers_apart(wanted)
        rows = int(row["rows", ""])
        known = {name: int(row["known", name]) for name in names}
        finite = {name: int(row.get(("finite", name), known[name])) for name in names}
        if odd := [name for name in names if finite[name] < known[name]]:  # not a number, or infinite
            gone = self._answers(
                {("nan", name): nw.when(~is_number(self._column(name))).then(1).count() for name in odd}
            )
            known |= {name: known[name] - int(gone["nan", name]) for name in odd}
        lows = {name: row["low", name] for name in ends}
        return Profile(
            rows=rows,
            missing={name: rows - known[name] for name in names},
            infinite={name: known[name] - finite[name] for name in names},
            ends={
                name: None if low is None or low != low else (float(low), float(row["high", name]))
                for name, low in lows.items()
            },
        )

    def _answers_apart(self, wanted: Mapping[tuple[str, str], nw.Expr]) -> dict[tuple[str, str], Any]:
        """Figures over all rows; of one Parquet file the counts on their own, which DuckDB reads off its footer."""
        if self._watch is None or len(self._watch.files) > 1:
            return self._answers(wanted)
        counts = {key: expr for key, expr in wanted.items() if key[0] in ("rows", "known")}
        others = {key: expr for key, expr in wanted.items() if key not in counts}
        return {**self._answers(counts), **(self._answers(others) if others else {})}

    def _answers(self, wanted: Mapping[tuple[str, str], nw.Expr]) -> dict[tuple[str, str], Any]:
        """One row of figures over all rows."""
        figures = self._frame.select(*(expr.alias(f"a{index}") for index, expr in enumerate(wanted.values())))
        return dict(zip(wanted, (values[0] for values in columns_of(figures).values()), strict=True))

    def grouped(self, keys: Sequence[Key], *, weight: str | None = None, limit: int) -> Groups | None:
        """The groups with equal keys; None where there are more than `limit`."""
        return groups_of(wrap(fetched(self._aggregated(keys, weight, limit), self.backend)), keys, limit)

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
        if self.slow_to_start:
            return self._grouped_at_once(sets, shared, weight, limit, least, summed)
        types = [[key.type_in(self.schema) for key in own] for own in sets]
        width = max(len(own) for own in sets)
        sums = sum_names(len(summed), weighted=weight is not None)
        parts = []
        for index, own in enumerate(sets):
            frame = self._aggregated([*own, *shared], weight, limit, (len(own), least), summed)
            parts.append(_in_common_types(frame, index, types[index], width, len(shared), sums))
        table = fetched(nw.concat(parts), "polars")
        return groups_of_each(table, sets, shared, self.schema, limit, self.backend, summed)

    def _grouped_at_once(
        self,
        sets: Sequence[Sequence[Key]],
        shared: Sequence[Key],
        weight: str | None,
        limit: int,
        least: int,
        summed: Sequence[str],
    ) -> list[Groups | None]:
        """The groups of several sets by one aggregation of Spark.

        Where they are more than all sets may have together, at least one has more than the limit; the others are
        asked for again.
        """
        keys = {
            key: f"q{index}" for index, key in enumerate(dict.fromkeys([*(k for own in sets for k in own), *shared]))
        }
        rows = self._keyed([(name, key) for key, name in keys.items()], weight, summed)
        most = (limit + 1) * len(sets)
        found = groups_of_sets(
            rows, keys, sets, shared, self.schema, summed=(len(summed), weight is not None), least=least, limit=most
        )
        table = fetched(found, "polars")
        groups = groups_of_each(table, sets, shared, self.schema, limit, self.backend, summed)
        if len(table) < most:
            return groups
        left = [index for index, one in enumerate(groups) if one is not None]
        some = [sets[index] for index in left]
        again = self._grouped_at_once(some, shared, weight, limit, least, summed) if left else []
        return [dict(zip(left, again, strict=True)).get(index) for index in range(len(sets))]

    def _aggregated(
        self,
        keys: Sequence[Key],
        weight: str | None,
        limit: int,
        frequent: tuple[int, int] = (0, 1),
        summed: Sequence[str] = (),
    ) -> nw.LazyFrame[Any]:
        """What stands for each group: k0, k1, ... as they are shown, sums; at most one group above the limit.

        With `frequent` only groups whose first keys, so many, are those of so many rows.
        """
        named = [(f"k{index}", key) for index, key in enumerate(keys)]
        names = [name for name, _ in named]
        total, shown = sums_of(len(summed), weighted=weight is not None), {}
        last = list(total)
        for name, key in named:
            sums, shown[name] = shown_by(name, key, weighted=weight is not None)
            total |= sums
        found = self._keyed(named, weight, summed).group_by(*names).agg(**total)
        if frequent[1] > 1:
            together = nw.col("n").sum().over(*names[: frequent[0]])
            found = found.with_columns(together.alias("together")).filter(nw.col("together") >= frequent[1])
        # a filter that all groups pass: Spark collects the first rows of a limit job by job
        found = found.head(limit + 1).filter(nw.col("n") > 0)
        return found.select(*(expr.alias(name) for name, expr in shown.items()), *last)

    def _keyed(
        self, keys: Sequence[tuple[str, Key]], weight: str | None, summed: Sequence[str] = ()
    ) -> nw.LazyFrame[Any]:
        """The rows by these keys, with their weights w and the numbers y0, y1, ... that are summed."""
        weights = [] if weight is None else [self._column(weight).cast(nw.Float64).alias("w")]
        numbers = (finite_or_null(self._column(name), self.schema[name]).cast(nw.Float64) for name in summed)
        weights += [number.alias(f"y{index}") for index, number in enumerate(numbers)]
        rows = numbered(self._frame, "row") if any(key.form == "part" for _, key in keys) else self._frame
        return with_keys(rows, keys, lambda name: (self._column(name), self.schema[name]), *weights)

    def ranges(
        self,
        pieces: Mapping[str, Sequence[tuple[float, float]]],
        *,
        bins: int,
        known: str | None = None,
        by: Sequence[str] = (),
    ) -> dict[str, Ranges]:
        """Numbers in bins; see `Engine.ranges`."""
        source, beside = self._frame, [f"g{index}" for index in range(len(by))]
        others = [self._column(name).alias(key) for key, name in zip(beside, by, strict=True)]
        if known is not None:
            source = source.filter(is_known(self._column(known), self.schema[known]))
        if self.slow_to_start:
            numbers = (finite_or_null(self._column(name), self.schema[name]) for name in pieces)
            rows = source.select(*(x.alias(f"x{index}") for index, x in enumerate(numbers)), *others)
            return read_ranges(columns_of(ranges_of_sets(rows, list(pieces.values()), bins, beside)), list(pieces))
        parts = []
        for index, (name, own) in enumerate(pieces.items()):
            x = nw.col("x")
            frame = source.select(finite_or_null(self._column(name), self.schema[name]).alias("x"), *others)
            frame = frame.select(pieced(x, own, bins).alias("b"), "x", *beside).filter(~nw.col("b").is_null())
            counted = frame.group_by("b", *beside).agg(n=nw.len(), low=x.min(), high=x.max())
            parts.append(counted.select(nw.lit(index).alias("set"), "b", "n", "low", "high", *beside))
        return read_ranges(columns_of(nw.concat(parts)), list(pieces))

    def head(self, columns: Sequence[str], n: int) -> Any:
        """The first `n` rows as a frame."""
        frame, outer = self._selected(columns)
        return _renamed(wrap(fetched(frame.head(n), self.backend)), outer)

    def distinct(self, columns: Sequence[str]) -> dict[str, int]:
        """How many different values each of these columns has."""
        row = self._answers({("distinct", name): self._column(name).n_unique() for name in columns})
        gaps = self.profile().missing
        return {name: int(row["distinct", name]) - (gaps[name] > 0) for name in columns}

    def batches(
        self, columns: Sequence[str], size: int | None = None, *, backend: Backend | None = None
    ) -> Iterator[Any]:
        """All rows as frames, in the order of the source; see `Engine.batches`."""
        frame, outer = self._selected(columns)
        for part in frames_of(frame, backend or self.backend, size):
            yield _renamed(wrap(part), outer)

    def sample(self, columns: Sequence[str], n: int, seed: int) -> Any:
        """`n` rows that come first in `sample_order`; see `Engine.sample`."""
        picked = {name: self._column(name).alias(f"c{index}") for index, name in enumerate(columns)}
        rows = numbered(self._frame, "row").with_columns(*picked.values()).select(*(_names(picked)), "row")
        order = order_of("row", seed)
        bound = sample_bound(n, self.profile().rows)
        table = wrap(fetched(rows.with_columns(order.alias("order")).filter(nw.col("order") < bound), self.backend))
        first = np.argsort(table["order"].to_numpy(), kind="stable")[:n]
        ranked = first[np.argsort(table["row"].to_numpy()[first], kind="stable")]
        return _renamed(table[ranked].select(*_names(picked)), dict(zip(_names(picked), columns, strict=True)))

    def picked(self, columns: Sequence[str], boxes: Sequence[Box], n: int) -> Picked:
        """The first rows that are in one of these boxes; see `Engine.picked`."""
        read = [self._column(name).alias(f"c{index}") for index, name in enumerate(columns)]
        inside = nw.any_horizontal(*(in_box(box, self._column) for box in boxes), ignore_nulls=True)
        rows = numbered(self._frame, "row").filter(inside).select(*read, "row").sort("row").head(n)
        table = wrap(fetched(rows, self.backend))
        numbers = table["row"].to_numpy().astype(np.int64)
        if self.slow_to_start and numbers.size:
            parts = columns_of(rows_by_part(numbered(self._frame, "row"), "row"))
            numbers = numbered_from_0(numbers, dict(zip(parts["part"], parts["n"], strict=True)))
        outer = {f"c{index}": name for index, name in enumerate(columns)}
        return Picked(frame=_renamed(table.drop("row"), outer), numbers=numbers)

    def moved(self) -> Message | None:
        """What changed in the files behind the frame since they were opened."""
        return None if self._watch is None else self._watch.moved()

    def _selected(self, columns: Sequence[str]) -> tuple[nw.LazyFrame[Any], dict[str, str]]:
        inner = [f"c{index}" for index in range(len(columns))]
        read = (self._column(name).alias(safe) for name, safe in zip(columns, inner, strict=True))
        return self._frame.select(*read), dict(zip(inner, columns, strict=True))

    def _column(self, name: str) -> nw.Expr:
        """A column in a type that every frame library has."""
        column = nw.col(self._inner[name])
        given = self._frame.collect_schema()[self._inner[name]]
        return column if given == self.schema[name] else column.cast(self.schema[name])


def _plain_type(dtype: nw.dtypes.DType) -> nw.dtypes.DType:
    for given, plain in _PLAIN.items():
        if dtype == given:
            return plain()
    return nw.String() if dtype == nw.Categorical else dtype


def _names(picked: Mapping[str, Any]) -> list[str]:
    return [f"c{index}" for index in range(len(picked))]


def _renamed(table: nw.DataFrame[Any], names: Mapping[str, str]) -> Any:
    """A frame under the names of its source, which may be any texts."""
    return table.rename(dict(names)).to_native()


def _in_common_types(
    frame: nw.LazyFrame[Any],
    index: int,
    types: Sequence[nw.dtypes.DType],
    width: int,
    shared: int,
    sums: Sequence[str],
) -> nw.LazyFrame[Any]:
    """Groups of one set as rows that fit those of others: own keys as texts t or numbers x, shared ones, sums."""
    columns = [nw.lit(index).alias("set")]
    for place in range(width):
        text, number = nw.lit(None, nw.String), nw.lit(None, nw.Float64)
        if place < len(types):
            own = nw.col(f"k{place}")
            if types[place].is_float():
                number = own.cast(nw.Float64)
            else:
                text = own.cast(nw.String)
        columns += [text.alias(f"t{place}"), number.alias(f"x{place}")]
    columns += [nw.col(f"k{len(types) + place}").alias(f"s{place}") for place in range(shared)]
    return frame.select(*columns, *(nw.col(name).cast(nw.Int64 if name == "n" else nw.Float64) for name in sums))
