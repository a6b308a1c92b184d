"""What a picture reads from its table: the rows it shows, their labels, numbers as they are written."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from isonomia.errors import SpecError, close_to
from isonomia.evidence import Column, Picture, Table
from isonomia.evidence.column import plain
from isonomia.languages import Language, Message, Name, msg
from isonomia.languages.message import write_number
from isonomia.languages.people import called
from isonomia.report.figures.labels import SHORT, TITLE, label, long_label


@dataclass(frozen=True)
class Reading:
    """The part of a table that a picture shows, in a language.

    Attributes
    ----------
    picture : Picture
    table : Table
    language : str
    rows : list of mappings
        The rows that ``where`` leaves, missing values None.
    left_out : int
        How many more there were than a picture can hold.
    """

    picture: Picture
    table: Table
    language: Language
    rows: list[dict[str, Any]]
    left_out: int = 0

    @classmethod
    def of(cls, picture: Picture, table: Table, language: Language, most: int) -> Reading:
        """The rows that the picture shows, at most `most` of them."""
        reading = cls(picture, table, language, [])
        wanted = [reading._wanted(name, _as_list(value)) for name, value in reading.option("where", {}).items()]
        kept = [index for index in range(len(table)) if all(keep[index] for keep in wanted)]
        return cls(picture, table, language, list(table.take(kept[:most]).rows()), max(0, len(kept) - most))

    def option(self, name: str, default: Any = None) -> Any:
        """An option of the picture."""
        value = self.picture.options.get(name)
        return default if value is None else value

    def column(self, option: str, default: str | None = None) -> str | None:
        """The column an option names, checked; the default where left out and the table has it."""
        name = self.option(option)
        if name is None:
            return default if default in self.flat else None
        return self._check(name)

    def needed(self, option: str, default: str | None = None) -> str:
        """The same for an option that a kind cannot do without."""
        name = self.column(option, default)
        if name is None:
            raise SpecError(f"A {self.picture.kind} picture needs the option {option!r}, the name of a column.")
        return name

    def columns(self, option: str) -> list[str]:
        """One or more columns an option names."""
        return [self._check(name) for name in _as_list(self.option(option, []))]

    def interval(self, value: str) -> tuple[str | None, str | None]:
        """The columns with the ends of a figure's interval, by option or by their usual names."""
        single = not isinstance(self.option("value"), list | tuple)
        below, above = Column(value).ends
        low = self.column("low", below) if single else self._usual(below)
        high = self.column("high", above) if single else self._usual(above)
        return (low, high) if low and high else (None, None)

    def numbers(self, column: str, rows: Sequence[Mapping[str, Any]] | None = None) -> list[float | None]:
        """A column as numbers; what is not finite is None."""
        return [_number(row[column]) for row in (self.rows if rows is None else rows)]

    def write(self, column: str, value: Any) -> str:
        """A number as the language writes it in this column."""
        style = self.style(column)
        return write_number(_number(value), style, self.language)

    def style(self, column: str) -> str:
        """How a column's numbers are written."""
        style = self.option("format") or self._owner(column).format or "num"
        return "num" if style == "text" else str(style)

    def text(self, value: Any, longest: int = SHORT) -> str:
        """A cell as a label, escaped and cut."""
        return label(self.words(value), longest)

    def name_of(self, row: Mapping[str, Any], columns: Sequence[str], *, whole: bool = False) -> str:
        """A row's label from its columns."""
        words = " · ".join(self.words(row[name]) for name in columns)
        return long_label(words) if whole else label(words)

    def heading(self, column: str) -> str:
        """A column's title as a label."""
        return label(self._owner(column).heading(self.language), 60)

    def say(self, message: Message | str | None) -> str:
        """A sentence of ours, with texts from data escaped."""
        if message is None:
            return ""
        return message.text(self.language, escape=label) if isinstance(message, Message) else label(message, 60)

    def hover(self, row: Mapping[str, Any], names: Sequence[str], value: str) -> str:
        """What is shown when a mark is pointed at: its label, figure, interval, rows, and whether it is small."""
        lines = [f"<b>{self.name_of(row, names, whole=True)}</b>"] if names else []
        low, high = self.interval(value)
        lines.append(f"{self.heading(value)}: {self.write(value, row[value])}")
        if low and high and row[low] is not None and row[high] is not None:
            ends = f"{self.write(value, row[low])} – {self.write(value, row[high])}"
            lines.append(msg("interval: {ends}", ends=ends).text(self.language))
        n = self.column("n", "n")
        if n is not None and _number(row[n]) is not None:
            lines.append(msg("rows: {n:int}", n=row[n]).text(self.language))
        flag = self.column("flag")
        if flag is not None and row[flag] is True:
            lines.append(msg("small group: interpret with caution").text(self.language))
        return "<br>".join(lines)

    def series(self, option: str = "color") -> list[tuple[str | None, list[dict[str, Any]]]]:
        """The rows by the values of a column, in order of first appearance; one series where the option is left out."""
        column = self.column(option)
        if column is None:
            return [(None, self.rows)]
        groups: dict[str, list[dict[str, Any]]] = {}
        for row in self.rows:
            groups.setdefault(self.words(row[column]), []).append(row)
        return [(label(name, TITLE), rows) for name, rows in groups.items()]

    def words(self, value: Any) -> str:
        """A cell as it is read, not yet escaped or cut: what rows with one label have in common."""
        if value is None:
            return "—"
        for names in (self.option("names", {}), *(column.names for column in self.table.columns)):
            if isinstance(value, str) and value in names:
                value = names[value]
        if isinstance(value, Message | Name):
            return (called(value) or value).text(self.language)
        if isinstance(value, float):
            return write_number(value, "num", self.language)
        return str(value)

    @cached_property
    def flat(self) -> tuple[str, ...]:
        """The names of the columns, ends of intervals and notes included."""
        return tuple(self.table.flat())

    def _wanted(self, name: str, values: list[Any]) -> list[bool]:
        """Which rows have one of these values in a column; tuples are compared with the column's keys."""
        self._check(name)
        if any(isinstance(value, tuple) for value in values):
            return [key in values for key in self.table[name].keys or ()]
        return [plain(value) in values for value in self.table.flat()[name]]

    def _owner(self, name: str) -> Column:
        """The column that a name belongs to: its own, or the one it is an end of the intervals of."""
        return next((c for c in self.table.columns if name == c.name or name in c.flat()), Column(name))

    def _usual(self, name: str) -> str | None:
        return name if name in self.flat else None

    def _check(self, name: str) -> str:
        if name not in self.flat:
            raise SpecError(
                f"The picture '{self.picture.title}' names the column {name!r}, which its table "
                f"'{self.picture.table}' does not have.{close_to(name, self.flat)}"
            )
        return name


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple | set) else [value]


def _number(value: Any) -> float | None:
    if value is None or isinstance(value, str | Message):
        return None
    number = float(value)
    return number if math.isfinite(number) else None
