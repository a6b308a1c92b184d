"""What an examination returns: tables, pictures to be drawn of them, findings."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from isonomia.evidence.column import Format
from isonomia.evidence.finding import Finding
from isonomia.evidence.table import Table
from isonomia.languages import Message, Record


@dataclass(frozen=True)
class Picture(Record, kind="picture"):
    """A picture to be drawn of one table; `report.figures` draws it, a check never does.

    `kind` is a registered kind of picture ("forest"); `options` name the columns it shows (see ``docs/pictures.md``).
    """

    kind: str
    table: str
    title: Message
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Result(Record, kind="result"):
    """The outcome of one examination.

    Attributes
    ----------
    code : str
        The examination's stable name.
    title : Message
        What it is called in a report.
    tables : mapping of Table
        By name; the first is the main one.
    values : mapping
        Headline figures: estimates, numbers or texts by name.
    findings : tuple of Finding
    pictures : tuple of Picture
    notes : tuple of Message
        What a reader has to know: what was left out, what is assumed.
    titles : mapping of Message
        What the figures in `values` are called; one not named here has the title of a table's column of its name.
    formats : mapping
        How the figures in `values` are written; likewise.
    """

    code: str
    title: Message
    tables: Mapping[str, Table] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    pictures: tuple[Picture, ...] = ()
    notes: tuple[Message, ...] = ()
    titles: Mapping[str, Message] = field(default_factory=dict, kw_only=True)
    formats: Mapping[str, Format] = field(default_factory=dict, kw_only=True)

    @property
    def table(self) -> Any:
        """The main table as a frame of the kind the user gave."""
        return next(iter(self.tables.values())).frame()

    def heading(self, name: str, language: str = "en") -> str:
        """What a figure of `values` is called."""
        if name in self.titles:
            return self.titles[name].text(language)
        for table in self.tables.values():
            if name in table and (title := table[name].title) is not None:
                return title.text(language)
        return name.replace("_", " ")

    def style(self, name: str) -> Format:
        """How a figure of `values` is written: as told, as the tables' column of its name, or as a number."""
        named = (table[name].format for table in self.tables.values() if name in table)
        return self.formats.get(name) or next((style for style in named if style not in (None, "text")), None) or "num"

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.title.text()}: tables {', '.join(self.tables)}; "
            f"{len(self.findings)} finding{'' if len(self.findings) == 1 else 's'})"
        )

    def _repr_html_(self) -> str:
        findings = "".join(f"<li>{html.escape(str(finding.message))}</li>" for finding in self.findings)
        tables = "".join(table._repr_html_() for table in self.tables.values())
        return f"<h3>{html.escape(self.title.text())}</h3><ul>{findings}</ul>{tables}"
