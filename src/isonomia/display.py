"""How results show themselves: rooms below `report` ask here for what only `report` can draw.

A `Result`, a `Table` or a `Finding` has `to_html` and appears in a notebook, but lives below the room that renders it,
and imports go down only. `isonomia/__init__` knows all rooms: it names the one that renders, which is loaded on first
use.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol


class Renderer(Protocol):
    """What the room that renders has to offer."""

    def to_html(self, part: Any, language: str, *, page: bool) -> str: ...

    def to_text(self, result: Any, language: str) -> str: ...

    def to_markdown(self, part: Any, language: str) -> str: ...

    def save(self, part: Any, path: Any, *, language: str) -> dict[str, Path]: ...

    def draw(self, picture: Any, table: Any, language: str) -> Any: ...

    def draw_svg(self, picture: Any, table: Any, language: str) -> str: ...


_loaders: list[Callable[[], Renderer]] = []


def render_with(load: Callable[[], Renderer]) -> None:
    """Name the renderer, as a function that loads it."""
    _loaders[:] = [load]


def renderer() -> Renderer:
    """The renderer."""
    return _loaders[0]()


#: The function that makes the sink of progress in a notebook; `isonomia/__init__` names it.
_sinks: list[Callable[[], Any]] = []


def progress_with(make: Callable[[], Any]) -> None:
    """Name what makes the default sink of progress: None where nobody watches."""
    _sinks[:] = [make]


def default_sink() -> Any:
    """A sink of progress where a notebook runs this code, else None; nothing is imported elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return _sinks[0]() if _sinks and hasattr(shell, "kernel") else None


class Shown:
    """Any part of a report: it renders as a page of its own, as a fragment of another page, and in a notebook."""

    def to_html(self, language: str = "en", *, page: bool = True) -> str:
        """The part as HTML.

        Parameters
        ----------
        language : "en" or "pt-BR"
        page : bool
            True gives one self-contained file. False gives a fragment to be put into another
            page, several times if need be: static figures, no script, no ids, styles that touch nothing around it, less
            than 200 kB (long tables are cut, which is stated).
        """
        return renderer().to_html(self, language, page=page)

    def _repr_html_(self) -> str:
        return self.to_html(page=False)
