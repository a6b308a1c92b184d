"""What an examination returns: tables, pictures to be drawn of them, findings."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from isonomia.data import Backend
from isonomia.display import Shown, renderer
from isonomia.errors import DataError, NotApplicable, SpecError, close_to
from isonomia.evidence.column import Format
from isonomia.evidence.finding import Finding
from isonomia.evidence.table import Table
from isonomia.languages import Message, Record, take_texts
from isonomia.parameters import unknown_name


@dataclass(frozen=True)
class Picture(Record, kind="picture"):
    """A picture to be drawn of one table; `report.figures` draws it, a check never does.

    `kind` is a registered kind of picture ("forest"); `options` name the columns it shows (see ``docs/pictures.md``).
    """

    kind: str
    table: str
    title: Message
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        take_texts(self, "title")


@dataclass(frozen=True)
class Drawing(Shown):
    """A picture with the table it shows: it can be shown alone.

    Attributes
    ----------
    picture : Picture
    table : Table
    """

    picture: Picture
    table: Table

    def plot(self, language: str = "en") -> Any:
        """The Plotly figure."""
        return renderer().draw(self.picture, self.table, language)

    def to_svg(self, language: str = "en") -> str:
        """A static drawing with the same numbers, as one ``<svg>`` element."""
        return renderer().draw_svg(self.picture, self.table, language)


@dataclass(frozen=True)
class Result(Record, Shown, kind="result"):
    """The outcome of one examination.

    Attributes
    ----------
    code : str
        The examination's stable name.
    title : Message
        What it is called in a report. Here, and in `notes` and `titles`, a plain text will do.
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

    def __post_init__(self) -> None:
        take_texts(self, "title", "notes", "titles")

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__repr__" not in cls.__dict__:  # else @dataclass writes one that spells out every table
            cls.__repr__ = cls.__repr__  # type: ignore[method-assign]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            raise unknown_name("Result", type(self).__name__, name, dir(self))

    @property
    def table(self) -> Any:
        """The main table as a frame of the kind the user gave."""
        return self.to_frame()

    @property
    def lead(self) -> tuple[Message, ...]:
        """What it says first: in plain text always, on a page where there are no findings."""
        return ()

    def to_frame(self, name: str | None = None, backend: Backend | None = None) -> Any:
        """The table of this name, else the main one, as a frame of the kind the user gave, or of the kind asked for."""
        return (self.main_table if name is None else _named(self.tables, name, "table")).frame(backend)

    @property
    def main_table(self) -> Table:
        """The first table, with its intervals, formats and titles."""
        if not self.tables:
            why = " ".join(note.text() for note in self.notes)
            raise SpecError(f"The result {self.code!r} has no tables. {why}".strip())
        return next(iter(self.tables.values()))

    @property
    def drawings(self) -> dict[str, Drawing]:
        """The pictures with their tables, by name: that of the table; a second picture of it is called ``name_2``."""
        drawings: dict[str, Drawing] = {}
        for picture in self.pictures:
            if picture.table not in self.tables:
                raise SpecError(
                    f"The picture '{picture.title}' shows the table {picture.table!r}, which the result {self.code!r} "
                    f"does not have. Available: {', '.join(self.tables)}."
                )
            names = (picture.table if number == 1 else f"{picture.table}_{number}" for number in count(1))
            name = next(name for name in names if name not in drawings)
            drawings[name] = Drawing(picture, self.tables[picture.table])
        return drawings

    def plot(self, name: str | None = None, language: str = "en") -> Any:
        """The Plotly figures.

        Parameters
        ----------
        name : str, optional
            Which picture of `drawings`; its figure is returned.
        language : "en" or "pt-BR"

        Returns
        -------
        plotly.graph_objects.Figure or dict of them
            Without a name: the figure of a result with one picture, a dict of figures by name where there are several.
        """
        drawings = self.drawings
        if name is not None:
            return _named(drawings, name, "picture").plot(language)
        if not drawings:
            raise NotApplicable(f"the result '{self.code}' has no pictures")
        figures = {name: drawing.plot(language) for name, drawing in drawings.items()}
        return next(iter(figures.values())) if len(figures) == 1 else figures

    def heading(self, name: str, language: str = "en") -> str:
        """What a figure of `values` is called."""
        if name in self.titles:
            return self.titles[name].text(language)
        for table in self.tables.values():
            if name in table and (title := table[name].title) is not None:
                return title.text(language)
        return name.replace("_", " ")

    def style(self, name: str) -> Format:
        """How a figure of `values` is written: as declared, as the tables' column of its name, or as a number."""
        named = (table[name].format for table in self.tables.values() if name in table)
        return self.formats.get(name) or next((style for style in named if style not in (None, "text")), None) or "num"

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.title.text()}: tables {', '.join(self.tables)}; "
            f"{len(self.findings)} finding{'' if len(self.findings) == 1 else 's'})"
        )

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, language: str = "en") -> str:
        """What `print` shows: what it says, its headline figures, its findings and its first table."""
        return renderer().to_text(self, language)

    def to_markdown(self, language: str = "en") -> str:
        """The result as Markdown, with all its tables."""
        return renderer().to_markdown(self, language)

    def to_json(self) -> str:
        """The result as JSON text; `from_json` reads it."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Result:
        """The result that `to_json` wrote: its tables, figures, findings and notes."""
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DataError(f"The text is not JSON ({error}); give what `to_json` wrote.") from None
        try:
            return Result.from_dict(record)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise DataError(
                f"The JSON is not a result that `to_json` wrote ({type(error).__name__}: {error})."
            ) from None

    def save(self, path: str | os.PathLike[str], *, language: str = "en") -> Path:
        """Write the result: the suffix of the path decides how.

        Parameters
        ----------
        path : path
            A file that ends in ``.html``, ``.json``, ``.md``, ``.pdf`` or ``.csv`` (the main table; `to_frame` gives
            the others); without a suffix a folder for result.html, result.json and result.md.
        language : "en" or "pt-BR"

        Returns
        -------
        Path
            The file or the folder.
        """
        written = renderer().save(self, path, language=language)
        return next(iter(written.values())) if len(written) == 1 else Path(path).expanduser()


T = TypeVar("T")


def _named(parts: Mapping[str, T], name: str, kind: str) -> T:
    if name not in parts:
        raise SpecError(f"The result has no {kind} called {name!r}.{close_to(name, parts)}")
    return parts[name]
