"""Rows behind a lazy frame: DuckDB, Polars, Spark, or whatever else narwhals builds queries for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.data.engines.engine import PRIME, ROUNDS, Engine, Groups, Key, Profile, first_key, sample_bound
from isonomia.data.engines.fetching import columns_of, fetched, frames_of, numbered
from isonomia.data.engines.memory import read_memory
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

    def _profiled(self, asked: Sequence[str]) -> Profile:
        wanted: dict[tuple[str, str], nw.Expr] = {("rows", ""): nw.len()}
        plain = [name for name, dtype in self.schema.items() if not dtype.is_nested() and dtype != nw.Unknown]
        for name in plain:
            column = self._column(name)
            wanted["known", name] = column.count()
            if self.schema[name].is_float():
                column = nw.when(column.is_finite()).then(column)
                wanted["finite", name] = column.count()
            if name in asked:
                wanted["low", name], wanted["high", name] = column.min(), column.max()
        row = self._answers(wanted)
        rows = int(row["rows", ""])
        known = {name: int(row["known", name]) for name in plain}
        finite = {name: int(row.get(("finite", name), known[name])) for name in plain}
        if odd := [name for name in plain if finite[name] < known[name]]:  # not a number, or infinite
            gone = self._answers({("nan", name): nw.when(self._column(name).is_nan()).then(1).count() for name in odd})
            known |= {name: known[name] - int(gone["nan", name]) for name in odd}
        lows = {name: row["low", name] for name in asked}
        return Profile(
            rows=rows,
            missing={name: rows - known[name] for name in plain},
            infinite={name: known[name] - finite[name] for name in plain},
            ends={
                name: None if low is None or low != low else (float(low), float(row["high", name]))
                for name, low in lows.items()
            },
        )

    def _answers(self, wanted: Mapping[tuple[str, str], nw.Expr]) -> dict[tuple[str, str], Any]:
        """One row of figures over all rows."""
        figures = self._frame.select(*(expr.alias(f"a{index}") for index, expr in enumerate(wanted.values())))
        return dict(zip(wanted, (values[0] for values in columns_of(figures).values()), strict=True))

    def grouped(self, keys: Sequence[Key], *, weight: str | None = None, limit: int) -> Groups | None:
        """The groups with equal keys; None where there are more than `limit`."""
        names = [f"k{index}" for index in range(len(keys))]
        read, total = [], {"n": nw.len()}
        for name, key in zip(names, keys, strict=True):
            read.append(self._key(key).alias(name))
            if key.form == "bands":
                total[f"r{name}"] = nw.col(f"v{name}").min()
            elif key.form == "bins":
                total[f"r{name}"] = nw.col(f"v{name}").mean()
                if weight is not None:
                    total[f"s{name}"] = (nw.col("w") * nw.col(f"v{name}")).sum()
            if key.form in ("bands", "bins"):
                read.append(self._column(key.column).alias(f"v{name}"))
        if weight is not None:
            read.append(self._column(weight).cast(nw.Float64).alias("w"))
            total |= {"w": nw.col("w").sum(), "w2": (nw.col("w") * nw.col("w")).sum()}
        frame = self._frame.select(*read)
        for name, key in zip(names, keys, strict=True):
            frame = _into_bins(frame, name, key) if key.form == "bins" else frame
        table = wrap(fetched(frame.group_by(*names).agg(**total).head(limit + 1), self.backend))
        if len(table) > limit:
            return None
        for name in (name for name in names if f"s{name}" in total):
            mean = nw.when(nw.col("w") > 0).then(nw.col(f"s{name}") / nw.col("w")).otherwise(nw.col(f"r{name}"))
            table = table.with_columns(mean.alias(f"r{name}"))
        shown = [f"r{name}" if f"r{name}" in total else name for name in names]
        outer = dict(zip(shown, (key.column for key in keys), strict=True))
        w, w2 = (np.asarray(table[name].to_numpy(), dtype=float) if name in total else None for name in ("w", "w2"))
        return Groups(
            frame=_renamed(table.select(shown), outer), n=np.asarray(table["n"].to_numpy(), dtype=np.int64), w=w, w2=w2
        )

    def batches(self, columns: Sequence[str], size: int | None = None) -> Iterator[Any]:
        """All rows as frames of at most `size` rows (None: as one frame), in the order of the source."""
        frame, outer = self._selected(columns)
        for part in frames_of(frame, self.backend, size):
            yield _renamed(wrap(part), outer)

    def sample(self, columns: Sequence[str], n: int, seed: int) -> Any:
        """`n` rows that come first in `sample_order`; see `Engine.sample`."""
        picked = {name: self._column(name).alias(f"c{index}") for index, name in enumerate(columns)}
        rows = numbered(self._frame, "row").with_columns(*picked.values()).select(*(_names(picked)), "row")
        order = (nw.col("row") + first_key(seed)) % PRIME
        for factor, shift in ROUNDS:
            square = order * order % PRIME
            order = (square * square % PRIME * order % PRIME * factor + shift) % PRIME
        bound = sample_bound(n, self.profile().rows)
        table = wrap(fetched(rows.with_columns(order.alias("order")).filter(nw.col("order") < bound), self.backend))
        first = np.argsort(table["order"].to_numpy(), kind="stable")[:n]
        ranked = first[np.argsort(table["row"].to_numpy()[first], kind="stable")]
        return _renamed(table[ranked].select(*_names(picked)), dict(zip(_names(picked), columns, strict=True)))

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

    def _key(self, key: Key) -> nw.Expr:
        column = self._column(key.column)
        if key.form == "value":
            return column
        if key.form == "day":
            return column.cast(nw.Date)
        x = column.cast(nw.Float64)
        if self.schema[key.column].is_float():
            x = nw.when(~x.is_nan()).then(x)
        if key.form == "bands":
            return _banded(x, key.edges)
        low, high = key.edges
        return x if (low, high) == (0.0, 1.0) else (x - low) / (high - low)


def _banded(x: nw.Expr, edges: Sequence[float]) -> nw.Expr:
    """How many edges a number has reached; missing stays missing."""
    reached = nw.when(x >= edges[0]).then(1).otherwise(0)
    for edge in edges[1:]:
        reached = reached + nw.when(x >= edge).then(1).otherwise(0)
    return nw.when(~x.is_null()).then(reached)


def _into_bins(frame: nw.LazyFrame[Any], name: str, key: Key) -> nw.LazyFrame[Any]:
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
