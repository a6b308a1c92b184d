"""Progress bars for people who wait: after a second, on a terminal, never in the way of output."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any

from isonomia.events import Event, Progress, stages_after
from isonomia.languages import Message

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from isonomia.cli.output.screen import Screen

#: Seconds before anything is shown.
PATIENCE = 1.0


class ProgressBar:
    """Shows the stages of long work on stderr, one bar for each, once it takes longer than a second.

    A stage that does not know how many parts it has gets a bar that only moves.

    Examples
    --------
    >>> from isonomia.cli.output.screen import Screen
    >>> from isonomia.languages import msg
    >>> with ProgressBar(Screen(), msg("Reading")) as progress:
    ...     progress.stage("audit", msg("Running checks"), total=2).at(1)
    """

    def __init__(self, screen: Screen, message: Message) -> None:
        self._screen = screen
        #: The last event of every stage that is under way, the outermost first.
        self._stages = [Event(path=(), message=message, done=0, total=0)]
        self._bars: Bars | None = None
        self._tasks: dict[tuple[str, ...], Any] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._timer = threading.Timer(PATIENCE, self._show)
        self._timer.daemon = True

    @property
    def shown(self) -> bool:
        """Whether a bar is on the terminal now."""
        return self._bars is not None

    def __enter__(self) -> Progress:
        if not self._screen.quiet and sys.stderr.isatty():
            self._timer.start()
        return Progress(self._receive)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._bars is not None:
                self._bars.stop()
                self._bars = None

    def _receive(self, event: Event) -> None:
        with self._lock:
            self._stages = stages_after(event, [one for one in self._stages if one.path])
            self._update()

    def _show(self) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        with self._lock:
            if self._closed:
                return
            self._bars = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                console=self._screen.console(stderr=True),
                transient=True,
            )
            self._bars.start()
            self._update()

    def _update(self) -> None:
        if self._bars is None:
            return
        for path in [path for path in self._tasks if all(path != one.path for one in self._stages)]:
            self._bars.remove_task(self._tasks.pop(path))
        for depth, one in enumerate(self._stages):
            if one.path not in self._tasks:
                self._tasks[one.path] = self._bars.add_task("", total=None)
            text = "  " * depth + one.message.text(self._screen.language)
            self._bars.update(self._tasks[one.path], description=text, completed=one.done, total=one.total or None)
