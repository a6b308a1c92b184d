"""A table as a reader sees it: an interval stands in the cell of its figure instead of in two columns of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from isonomia.evidence import Change, Estimate, Table
from isonomia.evidence.table import yes_no
from isonomia.languages import Message, Name
from isonomia.languages.naming import shown
from isonomia.report.texts import interval, tame

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


def shown_columns(table: Table) -> list[str]:
    """The columns a reader sees: ends of an interval are told in the cells of its figure, notes where there are any.

    >>> shown_columns(Table({"sex": ["F"], "rate": [0.2], "rate_low": [0.1], "rate_high": [0.3]}))
    ['sex', 'rate']
    """
    ends = {end for name in table.columns if _has_interval(table, name) for end in interval_columns(name)}
    return [name for name in table.columns if name not in ends and not _empty_note(table, name)]


def cells(table: Table, language: str, most: int, escape: Callable[[str], str] = tame) -> Iterator[list[Cell]]:
    """The first `most` rows, cell by cell."""
    names = shown_columns(table)
    for _, row in zip(range(most), table.rows(), strict=False):
        yield [_cell(table, row, name, language, escape) for name in names]


def interval_columns(name: str) -> tuple[str, str]:
    """What the columns with the ends of a figure's interval are called.

    >>> interval_columns("rate"), interval_columns("value")
    (('rate_low', 'rate_high'), ('low', 'high'))
    """
    return ("low", "high") if name == "value" else (f"{name}_low", f"{name}_high")


def _empty_note(table: Table, name: str) -> bool:
    return name == "note" and all(value is None for value in table.columns[name])


def _has_interval(table: Table, name: str) -> bool:
    return all(end in table.columns for end in interval_columns(name))


def _cell(table: Table, row: dict[str, Any], name: str, language: str, escape: Callable[[str], str]) -> Cell:
    value = table.named(name, row[name])
    if isinstance(value, bool):
        value = yes_no(value)
    if isinstance(value, Message | Name):
        text = value.text(language, escape=escape)
        return Cell(text, key=text)
    if isinstance(value, Change):
        before, after = (shown(side, language, escape) for side in (value.before, value.after))
        text = str(Change(before, after))
        return Cell(text, key=text, change=(before, after))
    style = table.formats.get(name) or ("num" if isinstance(value, float) else "text")
    text = table.cell(name, value, language)
    if style not in _NUMBERS or isinstance(value, str):
        numeric = isinstance(value, int | float)
        return Cell(escape(text), key=value if numeric else escape(text), number=numeric, whole=_whole(text))
    between = ""
    if value is not None and _has_interval(table, name):
        low, high = interval_columns(name)
        between = interval(Estimate(value, row[low], row[high]), language, style).strip()
    return Cell(escape(text), escape(between) if between else "", "" if value is None else float(value), number=True)


def _whole(text: str) -> str:
    """The text of a cell that had to be cut, for those who point at it; empty where nothing was cut."""
    short = tame(text)
    return tame(text, 600) if short.rstrip("\u2069").endswith("…") else ""
