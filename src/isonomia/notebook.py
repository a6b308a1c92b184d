"""Progress in a notebook: bars below the cell, made of plain HTML."""

from __future__ import annotations

import html
import sys
import time
from typing import Any

from isonomia.events import Event, stages_after
from isonomia.languages import check_language

#: Seconds between two drawings at least.
PAUSE = 0.2


class NotebookProgress:
    """Shows the stages of long work below the cell that does it; outside a notebook, as one line of text on stderr.

    Parameters
    ----------
    language : "en" or "pt-BR"
    patience : float
        Seconds before anything is drawn. Long work in a notebook shows its progress by default, after a second.

    Examples
    --------
    >>> import isonomia as iso
    >>> progress = iso.Progress(iso.NotebookProgress())  # or progress=iso.NotebookProgress() where nothing is cancelled
    """

    def __init__(self, language: str = "en", *, patience: float = 0.0) -> None:
        self.language = check_language(language)
        self._first = time.monotonic() + patience
        self._stages: list[Event] = []
        self._drawn = float("-inf")
        self._handle: Any = None

    def __call__(self, event: Event) -> None:
        """Take note of an event, and draw unless the last drawing was a moment ago."""
        self._stages = stages_after(event, self._stages)
        ended = len(event.path) == 1 and 0 < event.total <= event.done
        now = time.monotonic()
        if now >= self._first and (ended or now - self._drawn >= PAUSE):
            self._drawn = now
            shell = _notebook()
            if shell is None:
                sys.stderr.write(f"\r{self.text()}\x1b[K" + ("\n" if ended else ""))
            else:
                self._show(shell)

    def text(self) -> str:
        """The stages under way as one line."""
        return " > ".join(self._line(one) for one in self._stages)

    def to_html(self) -> str:
        """The stages under way, a bar for each."""
        bars = "".join(
            f"<div style='padding-left:{depth}em'>{_bar(one)} {html.escape(self._line(one))}</div>"
            for depth, one in enumerate(self._stages)
        )
        return f"<div>{bars}</div>"

    def _line(self, event: Event) -> str:
        counts = f" {event.done}/{event.total}" if event.total else f" {event.done}" if event.done else ""
        return event.message.text(self.language) + counts

    def _show(self, display: Any) -> None:
        page = display.HTML(self.to_html())
        if self._handle is None:
            self._handle = display.display(page, display_id=True)
        else:
            self._handle.update(page)


def _bar(event: Event) -> str:
    return f"<progress max='{event.total}' value='{event.done}'></progress>" if event.total else "<progress></progress>"


def _notebook() -> Any:
    """The display module of IPython where a notebook's kernel runs this code, else None; nothing is imported for it."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return sys.modules.get("IPython.display") if hasattr(shell, "kernel") else None
