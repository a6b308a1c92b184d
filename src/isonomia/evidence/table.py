"""Tables: columns of values, how each is to be written, and what it is called."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from isonomia.data import Backend, default_backend, to_frame
from isonomia.languages import Message, Name, msg
from isonomia.languages.message import write_number

#: How a column is written: share (0.12 as 12.0%), signed points (0.12 as 12.0), number, count, p-value, text.
Format = Literal["pct", "points", "num", "num4", "int", "p", "text"]


@dataclass(frozen=True)
class Table:
    """Columns of equal length with their formats and titles.

    Attributes
    ----------
    columns : mapping of sequences
        Values by column name. A missing value is None (or NaN in a float array).
    formats : mapping
        How a column is written; columns not named are texts, or numbers where their values are.
    titles : mapping of Message
        Headings; a column not named is headed by its name.
    title : Message, optional
        The table's own title.
    backend : "pandas", "polars" or "pyarrow"
        The kind of frame the user gave, and gets back.
    names : mapping of mappings
        By column, how codes in it are read ("tpr" as "true positive rate"); frames and JSON keep the codes.

    Examples
    --------
    >>> table = Table({"sex": ["F", "M"], "rate": [0.25, None]}, {"rate": "pct"})
    >>> list(table.rows())
    [{'sex': 'F', 'rate': 0.25}, {'sex': 'M', 'rate': None}]
    >>> table.cell("rate", 0.25), table.cell("rate", None, "pt-BR")
    ('25.0%', 'não disponível')
    """

    columns: Mapping[str, Sequence[Any] | np.ndarray[Any, Any]]
    formats: Mapping[str, Format] = field(default_factory=dict)
    titles: Mapping[str, Message] = field(default_factory=dict)
    title: Message | None = None
    backend: Backend = field(default_factory=default_backend)
    names: Mapping[str, Mapping[str, Message]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def frame(self, backend: Backend | None = None) -> Any:
        """The table as a frame of the kind the user gave (or the kind asked for)."""
        plain = {
            name: [str(value) if isinstance(value, Message | Change) else value for value in values]
            if not isinstance(values, np.ndarray) or values.dtype == object
            else values
            for name, values in self.columns.items()
        }
        return to_frame(plain, backend or self.backend)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One plain mapping a row; NaN is None."""
        names = list(self.columns)
        for values in zip(*(self.columns[name] for name in names), strict=True):
            yield {name: _plain(value) for name, value in zip(names, values, strict=True)}

    def named(self, column: str, value: Any) -> Any:
        """A code in words, where its column has words for it; any other value as it is."""
        return self.names[column].get(value, value) if column in self.names and isinstance(value, str) else value

    def cell(self, column: str, value: Any, language: str = "en") -> str:
        """One value as a person reads it."""
        style = self.formats.get(column)
        value = self.named(column, value)
        if isinstance(value, Message | Name):
            return value.text(language)
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return write_number(None, "num", language) if style not in (None, "text") else ""
        if style is None:
            style = "num" if isinstance(value, float | np.floating) else "text"
        return str(value) if style == "text" else write_number(value, style, language)

    def heading(self, column: str, language: str = "en") -> str:
        """The title of a column; that its numbers are percentage points is told with it."""
        title = self.titles[column].text(language) if column in self.titles else column
        return msg("{title} (points)", title=title).text(language) if self.formats.get(column) == "points" else title

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe columns, formats and titles."""
        return {
            "title": None if self.title is None else self.title.text(),
            "columns": list(self.columns),
            "formats": dict(self.formats),
            "rows": [[_jsonable(value) for value in row.values()] for row in self.rows()],
        }

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(self.heading(name))}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(self.cell(name, value))}</td>" for name, value in row.items()) + "</tr>"
            for row in self.rows()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


@dataclass(frozen=True)
class Change:
    """A value in a cell that differs between two people, or before and after: both are kept, and read as one text.

    >>> str(Change("F", "M")), Table({"sex": [Change("F", "M"), "F"]}).to_dict()["rows"]
    ('F → M', [['F → M'], ['F']])
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


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and math.isnan(value) else value


def _jsonable(value: Any) -> Any:
    if isinstance(value, Message):
        return value.text()
    if isinstance(value, float) and math.isinf(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
