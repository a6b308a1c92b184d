"""A progress bar for people who wait: after a second, on a terminal, never in the way of output."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from isonomia.cli.screen import Screen

#: Seconds before anything is shown.
PATIENCE = 1.0


class Waiting:
    """A `Progress` callback that shows a bar on stderr once the work takes longer than a second.

    Works for parts that tell how far they are, and for those that do not (the bar then only moves).

    Examples
    --------
    >>> from isonomia.cli.screen import Screen
    >>> with Waiting(Screen(), "counting") as progress:
    ...     progress("counting", 1, 2)
    """

    def __init__(self, screen: Screen, stage: str) -> None:
        self._screen = screen
        self._stage, self._done, self._total = stage, 0, 0
        self._bars: Bars | None = None
        self._task: Any = None
        self._lock = threading.Lock()
        self._closed = False
        self._timer = threading.Timer(PATIENCE, self._show)
        self._timer.daemon = True

    @property
    def shown(self) -> bool:
        """Whether a bar is on the terminal now."""
        return self._bars is not None

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Tell that `done` of `total` parts of `stage` are finished."""
        with self._lock:
            self._stage, self._done, self._total = stage, done, total
            self._update()

    def __enter__(self) -> Waiting:
        if not self._screen.quiet and sys.stderr.isatty():
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._bars is not None:
                self._bars.stop()
                self._bars = None

    def _show(self) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._closed:
                return
            self._bars = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TimeElapsedColumn(),
                console=self._screen.console(stderr=True),
                transient=True,
            )
            self._bars.start()
            self._task = self._bars.add_task(self._stage, total=None)
            self._update()

    def _update(self) -> None:
        if self._bars is not None:
            self._bars.update(self._task, description=self._stage, completed=self._done, total=self._total or None)
