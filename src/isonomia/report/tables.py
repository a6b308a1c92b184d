"""A table as a reader sees it: an interval stands in the cell of its figure, reasons in a last column."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from isonomia.evidence import Change, Column, Table
from isonomia.evidence.column import plain
from isonomia.evidence.table import yes_no
from isonomia.languages import Message, Name, msg
from isonomia.languages.naming import shown
from isonomia.report.texts import tame

_NUMBERS = ("pct", "points", "num", "num4", "int", "p")


@dataclass(frozen=True)
class Cell:
    """One cell: what is read, the interval beside it, what it is sorted by, and whether it is a number.

    `change` holds both sides of a value that differs between two people.
    """

    text: str
    interval: str = ""
    key: float | str = ""
    number: bool = False
    whole: str = ""
    change: tuple[str, str] | None = None

    @property
    def order(self) -> str:
        """What a number is sorted by, in as few characters as tell the rows of one table apart."""
        if isinstance(self.key, str):
            return ""
        if math.isinf(self.key):
            return "Infinity" if self.key > 0 else "-Infinity"  # as the page's script reads it
        return str(int(self.key)) if self.key == int(self.key) else f"{self.key:.6g}"


def shown_columns(table: Table) -> list[Column]:
    """The columns a reader sees; the last one has the reasons why values are missing, where there are any.

    >>> rate = Column("rate", [None], reason=[msg("missing")])
    >>> [column.name for column in shown_columns(Table((Column("sex", ["F"]), rate)))]
    ['sex', 'rate', 'note']
    """
    columns = [column for column in table.columns if not _empty_note(column)]
    if any(column.reason is not None for column in table.columns):
        note = Column("note", table.notes(), title=msg("note"))
        columns += [] if _empty_note(note) else [note]
    return columns


def cells(table: Table, language: str, most: int, escape: Callable[[str], str] = tame) -> Iterator[list[Cell]]:
    """The first `most` rows, cell by cell."""
    columns = shown_columns(table)
    for row in range(min(most, len(table))):
        yield [_cell(column, row, language, escape) for column in columns]


def _empty_note(column: Column) -> bool:
    return column.name == "note" and all(value is None for value in column.values)


def _cell(column: Column, row: int, language: str, escape: Callable[[str], str]) -> Cell:
    value = column.read(plain(column.values[row]))
    if isinstance(value, bool):
        value = yes_no(value)
    if isinstance(value, Message | Name):
        text = value.text(language, escape=escape)
        return Cell(text, key=text)
    if isinstance(value, Change):
        before, after = (shown(side, language, escape) for side in (value.before, value.after))
        text = str(Change(before, after))
        return Cell(text, key=text, change=(before, after))
    text = column.written(value, language)
    if column.style(value) not in _NUMBERS or isinstance(value, str):
        numeric = isinstance(value, int | float)
        return Cell(escape(text), key=value if numeric else escape(text), number=numeric, whole=_whole(text))
    between = column.interval(row, language)
    return Cell(escape(text), escape(between) if between else "", "" if value is None else float(value), number=True)


def _whole(text: str) -> str:
    """The text of a cell that had to be cut, for those who point at it; empty where nothing was cut."""
    short = tame(text)
    return tame(text, 600) if short.rstrip("\u2069").endswith("…") else ""
