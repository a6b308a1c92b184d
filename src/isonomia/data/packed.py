"""Tables as they are kept in memory: texts that repeat are categories until somebody asks for the frame.

A column of a million short texts takes nine bytes per row as texts and one as categories. Whatever counts reads the
categories; a model, and a user who asks for the frame, get the texts.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw

from isonomia.data.frames import wrap

#: Texts of a shorter table are left as they are: there is little to gain.
MIN_ROWS = 1 << 16
#: Columns of more different texts than this are left as they are: a code would no longer fit into one byte.
MAX_VALUES = 127
_GLANCE = 4096


@dataclass(frozen=True, eq=False)
class Packed:
    """A table, and which of its columns are categories that stand for texts."""

    table: nw.DataFrame[Any]
    texts: frozenset[str] = frozenset()

    @classmethod
    def of(cls, frame: Any) -> Packed:
        """A frame of any kind as it is; what is packed already stays so."""
        return frame if isinstance(frame, Packed) else cls(wrap(frame))

    def pack(self) -> Packed:
        """The same table with its columns of few texts as categories, where it is long enough to matter."""
        if len(self.table) < MIN_ROWS:
            return self
        names = [name for name, dtype in self.table.schema.items() if dtype == nw.String]
        found = {name: column for name in names if (column := _categories(self.table[name])) is not None}
        return Packed(self.table.with_columns(*found.values()), self.texts | frozenset(found)) if found else self

    def unpack(self, names: Collection[str] | None = None) -> Packed:
        """The same table with these columns as texts again; all of them by default."""
        chosen = self.texts if names is None else self.texts & frozenset(names)
        if not chosen:
            return self
        texts = [_texts(self.table[name]) for name in self.table.columns if name in chosen]
        return Packed(self.table.with_columns(*texts), self.texts - chosen)

    def text_column(self, column: nw.Series[Any]) -> nw.Series[Any]:
        """A column of the table, as texts where it is one of texts."""
        return _texts(column) if column.name in self.texts else column


def beside(parts: Sequence[Packed]) -> Packed:
    """The columns of tables with the same rows as one, without copying them."""
    if len(parts) == 1:
        return parts[0]
    table = nw.concat([part.table for part in parts], how="horizontal")
    return Packed(table, frozenset().union(*(part.texts for part in parts)))


def _categories(column: nw.Series[Any]) -> nw.Series[Any] | None:
    """A column of texts as categories in order; None where there are too many."""
    if int(column.head(_GLANCE).n_unique()) > MAX_VALUES:
        return None
    values = column.drop_nulls().unique()
    if not 0 < len(values) <= MAX_VALUES:
        return None
    native = column.to_native()
    if column.implementation.is_pandas():
        import pandas as pd

        coded: Any = native.astype(pd.CategoricalDtype(pd.Index(values.to_native()).sort_values()))
    elif column.implementation.is_polars():
        import polars as pl

        coded = native.cast(pl.Enum(values.sort().to_list()))
    else:
        coded = native.dictionary_encode()
    found: nw.Series[Any] = nw.from_native(coded, series_only=True)
    return found.alias(column.name)


def _texts(column: nw.Series[Any]) -> nw.Series[Any]:
    """Categories as the texts they stand for."""
    native = column.to_native()
    if column.implementation.is_pandas():
        codes = native.array.codes
        texts = native.cat.categories.array.take(codes, allow_fill=bool((codes < 0).any()))
        plain: Any = type(native)(texts, index=native.index, copy=False)  # `astype` takes ten times as long
    elif column.implementation.is_polars():
        import polars as pl

        plain = native.cast(pl.String)
    else:
        plain = native.cast(native.type.value_type)
    found: nw.Series[Any] = nw.from_native(plain, series_only=True)
    return found.alias(column.name)
