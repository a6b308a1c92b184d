"""Tables: columns of equal length that keep their intervals, shown to users as flat frames."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isonomia.data import Backend, to_frame
from isonomia.display import Shown
from isonomia.errors import SpecError, close_to
from isonomia.evidence.column import Column, Values, plain
from isonomia.languages import Message, Record, msg, take_texts


def free_name(name: str, taken: Container[str]) -> str:
    """What a column of the user's is called in a table that has columns of its own.

    >>> free_name("sex", {"n", "rate"}), free_name("n", {"n", "rate"})
    ('sex', 'n (column)')
    """
    return f"{name} (column)" if name in taken else name


@dataclass(frozen=True)
class Table(Record, Shown, kind="table"):
    """Columns of equal length.

    Attributes
    ----------
    columns : tuple of Column
    title : Message, optional
        The table's own title; a plain text will do.
    backend : "pandas", "polars" or "pyarrow", optional
        The kind of frame the user gave, and gets back; None where arrays were given.

    Examples
    --------
    >>> rate = Column("rate", [0.25, None], [0.2, None], [0.3, None], [None, "no positives"], format="pct")
    >>> table = Table((Column("sex", ["F", "M"]), rate))
    >>> next(table.rows())
    {'sex': 'F', 'rate': 0.25, 'rate_low': 0.2, 'rate_high': 0.3, 'note': None}
    >>> table["rate"].text(0), Table.from_dict(table.to_dict()).to_dict() == table.to_dict()
    ('25.0% [20.0%, 30.0%]', True)
    """

    columns: tuple[Column, ...]
    title: Message | None = None
    backend: Backend | None = None

    def __post_init__(self) -> None:
        take_texts(self, "title")
        if len(set(self.names)) < len(self.columns):
            raise ValueError(f"The columns of a table must have different names; got {', '.join(self.names)}.")
        lengths = {column.name: len(column) for column in self.columns}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"The columns of a table must have the same length; got {lengths}.")

    def __repr__(self) -> str:
        names = ", ".join(column.name for column in self.columns)
        return f"Table({len(self)} row{'' if len(self) == 1 else 's'}: {names})"

    @classmethod
    def from_rows(
        cls,
        rows: Sequence[Mapping[str, Any]],
        columns: Iterable[Column],
        *,
        title: Message | None = None,
        backend: Backend | None = None,
    ) -> Table:
        """A table of rows: `columns` (without values) name the fields; an `Estimate` brings its interval and reason.

        >>> from isonomia.evidence import Estimate
        >>> rows = [{"sex": "F", "rate": Estimate(0.25, 0.2, 0.3)}, {"sex": "M", "rate": Estimate.missing("no rows")}]
        >>> [row["note"] for row in Table.from_rows(rows, (Column("sex"), Column("rate", format="pct"))).rows()]
        [None, 'no rows']
        """
        filled = tuple(column.filled([row[column.name] for row in rows]) for column in columns)
        return cls(filled, title, backend)

    @classmethod
    def of(
        cls,
        values: Mapping[str, Values | Column],
        columns: Iterable[Column] = (),
        *,
        title: Message | None = None,
        backend: Backend | None = None,
    ) -> Table:
        """A table of columns by name; an `Estimate`, or (value, low, high), brings its interval, as a `Column` does.

        `columns` (without values) describe some of them, or columns of other tables too: format, title, names.

        >>> Table.of({"rate": Column("rate", [0.5], [0.4], [0.6])}, [Column("rate", format="pct")])["rate"].text(0)
        '50.0% [40.0%, 60.0%]'
        """
        described = {column.name: column for column in columns}
        filled = []
        for name, given in values.items():
            column = described.get(name, given if isinstance(given, Column) else Column(name))
            if isinstance(given, Column):
                column = replace(given, format=column.format, title=column.title)
            elif isinstance(given, np.ndarray):
                column = replace(column, values=given)
            else:
                column = column.filled(given)
            filled.append(column)
        return cls(tuple(filled), title, backend)

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise SpecError(f"There is no column {name!r} in this table.{close_to(name, self.names)}")

    def __contains__(self, name: object) -> bool:
        return name in self.names

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def flat(self) -> dict[str, Values]:
        """Values by name, ends of intervals as columns of their own, and a column `note` with the reasons, if any."""
        values: dict[str, Values] = {}
        for column in self.columns:
            values |= column.flat()
        if any(column.reason is not None for column in self.columns):
            values["note"] = self.notes()
        return values

    def notes(self) -> list[Message | str | None]:
        """Row by row, why values are missing and what to be careful about."""
        given = [column.reason for column in self.columns if column.reason is not None]
        return [Message.join(filter(None, parts)) if any(parts) else None for parts in zip(*given, strict=True)]

    def frame(self, backend: Backend | None = None) -> Any:
        """The table as a flat frame of the kind the user gave (or the kind asked for)."""
        written = (Message, Change)
        texts = {
            name: values
            if isinstance(values, np.ndarray) and values.dtype != object
            else [str(value) if isinstance(value, written) else value for value in values]
            for name, values in self.flat().items()
        }
        return to_frame(texts, backend or self.backend)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One plain mapping per row, with the names of the frame; NaN is None."""
        flat = self.flat()
        for values in zip(*flat.values(), strict=True):
            yield {name: plain(value) for name, value in zip(flat, values, strict=True)}

    @classmethod
    def stack(cls, tables: Sequence[Table]) -> Table:
        """Tables with the same columns, one below the other."""
        first = tables[0]
        columns = (Column.stack([table[name] for table in tables]) for name in first.names)
        return replace(first, columns=tuple(columns))

    def take(self, rows: Sequence[int]) -> Table:
        """The rows asked for."""
        return replace(self, columns=tuple(column.take(rows) for column in self.columns))

    def select(self, names: Iterable[str]) -> Table:
        """The columns asked for, in that order."""
        return replace(self, columns=tuple(self[name] for name in names))

    def without(self, *names: str) -> Table:
        """The table without some columns."""
        return replace(self, columns=tuple(column for column in self.columns if column.name not in names))

    def with_columns(self, *columns: Column) -> Table:
        """The table with these columns: in place of those of the same name, else at the end."""
        given = {column.name: column for column in columns}
        kept = tuple(given.pop(column.name, column) for column in self.columns)
        return replace(self, columns=(*kept, *given.values()))


@dataclass(frozen=True)
class Change(Record, kind="change"):
    """A value in a cell that differs between two people, or before and after: both are kept, and read as one text.

    >>> str(Change("F", "M"))
    'F → M'
    """

    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.before} → {self.after}"


def yes_no(value: bool) -> Message:
    """A truth value as a word.

    >>> yes_no(True).text("pt-BR")
    'sim'
    """
    return msg("yes") if value else msg("no")
