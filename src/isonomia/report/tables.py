"""A table as a reader sees it: intervals in the cells of their figures, reasons in a last column, nothing twice."""

from __future__ import annotations

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
    """One cell: what is read, the interval beside it, and whether it is a number.

    `change` holds both sides of a value that differs between two people.
    """

    text: str
    interval: str = ""
    number: bool = False
    whole: str = ""
    change: tuple[str, str] | None = None


def shown_columns(table: Table) -> list[Column]:
    """The columns a reader sees; the last one has the reasons why values are missing, where there are any.

    >>> rate = Column("rate", [None], reason=[msg("missing")])
    >>> [column.name for column in shown_columns(Table((Column("sex", ["F"]), rate)))]
    ['sex', 'rate', 'note']
    """
    columns = [column for column in table.columns if not (_empty_note(column) or _repeats(column, table))]
    if any(column.reason is not None for column in table.columns):
        note = Column("note", table.notes(), title=msg("note"))
        columns += [] if _empty_note(note) else [note]
    return columns


def cells(
    table: Table, language: str, most: int, escape: Callable[[str], str] = tame, *, columns: int | None = None
) -> Iterator[list[Cell]]:
    """The first `most` rows, cell by cell; of wide tables the first `columns`."""
    columns_shown = shown_columns(table)[:columns]
    for row in range(min(most, len(table))):
        yield [_cell(column, row, language, escape) for column in columns_shown]


def _empty_note(column: Column) -> bool:
    return column.name == "note" and all(value is None for value in column.values)


#: What follows a column's name where a group's or a slice's name has it: "sex=F", "age in [25, 60)", "hours >= 40".
_SIGNS = ("=", " = ", " in ", " ")
#: Columns that tell how groups were formed: each of their values names one column or several.
_WAYS = ("by", "attribute", "feature")


def _repeats(column: Column, table: Table) -> bool:
    """Whether another column has it all: a group's name has its attributes, and a mark that nobody bears says nothing.

    >>> table = Table.of({"group": ["sex=F", "sex=M"], "by": ["sex", "sex"], "sex": ["F", "M"], "small": [False] * 2})
    >>> [column.name for column in shown_columns(table)]
    ['group']
    """
    if column.name == "small":
        return not any(column.values)
    names = next((each for each in table.columns if each.name in ("group", "slice")), None)
    if names is None or column is names or not all(isinstance(v, str) for v in column.values if v is not None):
        return False
    pairs = [(str(v), str(name)) for v, name in zip(column.values, names.values, strict=True) if v is not None]
    if not pairs:
        return False
    if column.name in _WAYS:
        return all(_formed(way, name) for way, name in pairs)
    if column.name.endswith("_key"):
        return all(part == "*" or part in name for key, name in pairs for part in key.split("|"))
    return all(any(f"{column.name}{sign}{value}" in name for sign in _SIGNS) for value, name in pairs)


def _formed(way: str, name: str) -> bool:
    """Whether a name has every column of a way of grouping ("sex x race") with its value."""
    return all(any(f"{column}{sign}" in name for sign in _SIGNS) for column in way.split(" x "))


def _cell(column: Column, row: int, language: str, escape: Callable[[str], str]) -> Cell:
    value = column.read(plain(column.values[row]))
    if isinstance(value, bool):
        value = yes_no(value)
    if isinstance(value, Message | Name):
        text = value.text(language, escape=escape)
        return Cell(text)
    if isinstance(value, Change):
        before, after = (shown(side, language, escape) for side in (value.before, value.after))
        text = str(Change(before, after))
        return Cell(text, change=(before, after))
    text = column.written(value, language)
    if column.style(value) not in _NUMBERS or isinstance(value, str):
        return Cell(escape(text), number=isinstance(value, int | float), whole=_whole(text))
    between = column.interval(row, language)
    return Cell(escape(text), escape(between) if between else "", number=True)


def _whole(text: str) -> str:
    """The text of a cell that had to be cut, for those who point at it; empty where nothing was cut."""
    short = tame(text)
    return tame(text, 600) if short.rstrip("\u2069").endswith("…") else ""
