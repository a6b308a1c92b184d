"""What a terminal shows: tables, sentences, JSON; nothing of the data can command the terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    from isonomia.evidence import Column, Table
    from isonomia.languages import Message

#: Columns of a page that is not a terminal (a file, a pipe): wide enough that little is cut.
PAGE_WIDTH = 160
#: Of a table with more columns than this, such as rows of data, those that fit are shown; longer words are broken.
MAX_COLUMNS, MAX_WORD = 12, 30


def printable(text: str, *, lines: bool = False) -> str:
    """A text without control characters, which could move the cursor or colour the terminal.

    >>> printable("a\\x1b[31mb\\nc")
    'a�[31mb�c'
    """
    return "".join(c if c.isprintable() or (lines and c == "\n") else "\N{REPLACEMENT CHARACTER}" for c in text)


@dataclass(frozen=True)
class Screen:
    """Where a command writes: results to stdout, remarks to stderr.

    Parameters
    ----------
    json : bool
        Results as JSON on stdout, and nothing else there.
    quiet : bool
        No remarks and no progress; results only where `json` asks for them.
    color : bool
        False for no colours and styles; a terminal that wants none (NO_COLOR) is heeded anyway.
    language : str
        Of headings and sentences.
    """

    json: bool = False
    quiet: bool = False
    color: bool = True
    language: str = "en"

    @property
    def talks(self) -> bool:
        """Whether people read along: neither quiet nor JSON."""
        return not (self.quiet or self.json)

    def console(self, *, stderr: bool = False) -> Console:
        """A rich console that takes texts as they are: no markup, no emoji codes, no highlighting."""
        from rich.console import Console

        stream = sys.stderr if stderr else sys.stdout
        return Console(
            file=stream,
            no_color=None if self.color else True,
            color_system="auto" if self.color else None,
            width=None if stream.isatty() else PAGE_WIDTH,
            markup=False,
            emoji=False,
            highlight=False,
        )

    def data(self, value: Any) -> None:
        """A value as JSON, on stdout."""
        unicode = (sys.stdout.encoding or "").lower().startswith("utf")  # else letters would be lost in it
        sys.stdout.write(json.dumps(value, ensure_ascii=not unicode, allow_nan=False, indent=2) + "\n")

    def say(self, text: str | Message = "", *, style: str | None = None) -> None:
        """A line for people in their language, on stdout; nothing when quiet or in JSON."""
        if self.talks:
            line = text if isinstance(text, str) else text.text(self.language)
            self.console().print(printable(line, lines=True), style=style if self.color else None, soft_wrap=True)

    def remark(self, text: str | Message) -> None:
        """A line about the run, on stderr; nothing when quiet."""
        if not self.quiet:
            line = text if isinstance(text, str) else text.text(self.language)
            sys.stderr.write(printable(line, lines=True) + "\n")

    def table(self, table: Table, *, title: str | None = None) -> None:
        """A table for people, on stdout; nothing when quiet or in JSON, its title alone when it is empty."""
        if not self.talks:
            return
        if len(table) == 0:
            if title is not None:
                self.say(title)
            return
        from rich import box
        from rich.table import Table as Grid
        from rich.text import Text

        from isonomia.languages import msg

        grid = Grid(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
        fitting = _fitting(table, self.language, self.console().width)
        left = table.columns[len(fitting) :]
        for column in fitting:
            right = (column.format or "text") != "text"
            grid.add_column(
                Text(printable(column.heading(self.language))),
                justify="right" if right else "left",
                no_wrap=right,
                overflow="fold",
            )
        for row in range(len(table)):
            grid.add_row(*(Text(printable(column.text(row, self.language))) for column in fitting))
        self.show(grid)
        if left:
            names = ", ".join(printable(column.heading(self.language)) for column in left)
            self.say(msg("{n:One more column does|# more columns do} not fit: {names}.", n=len(left), names=names))

    def show(self, drawable: RenderableType) -> None:
        """Anything rich can draw, on stdout, without what could command the terminal."""
        if self.talks:
            self.console().print(_Harmless(drawable))


def _fitting(table: Table, language: str, width: int) -> tuple[Column, ...]:
    """The first columns, as many as fit a width without breaking words; all where they are not many."""
    used = 1
    for count, column in enumerate(table.columns if len(table.columns) > MAX_COLUMNS else ()):
        texts = [column.heading(language), *(column.text(row, language) for row in range(len(table)))]
        words = [word for text in texts for word in ([text] if (column.format or "text") != "text" else text.split())]
        used += min(max(map(len, words), default=0), MAX_WORD) + 3
        if used > width and count:
            return table.columns[:count]
    return table.columns


class _Harmless:
    """A renderable whose texts are made printable after rich has laid them out."""

    def __init__(self, drawable: RenderableType) -> None:
        self._drawable = drawable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        from rich.segment import Segment

        for segment in console.render(self._drawable, options):
            yield segment if segment.control else Segment(printable(segment.text, lines=True), segment.style)
