"""Progress for people who wait, on stderr: bars on a terminal after a second, elsewhere a line now and then."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from isonomia.events import Event, Progress, stages_after
from isonomia.languages import Message, msg

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from isonomia.cli.output.screen import Screen

#: Seconds before anything is shown.
PATIENCE = 1.0
#: Seconds before the first line where there is no terminal; each next one comes after twice as many, up to the last.
LINE_AFTER, LINE_AT_LEAST_EVERY = 10.0, 60.0


class ProgressBar:
    """Shows the stages of long work on stderr, one bar for each, once it takes longer than a second.

    A stage that does not know how many parts it has gets a bar that only moves. Where stderr is no terminal, such as in
    the log of a run, a line says now and then how far each stage is.

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
        self._timer: threading.Timer | None = None

    @property
    def shown(self) -> bool:
        """Whether a bar is on the terminal now."""
        return self._bars is not None

    def __enter__(self) -> Progress:
        if not self._screen.quiet:
            if sys.stderr.isatty():
                self._after(PATIENCE, self._show)
            else:
                self._after(LINE_AFTER, lambda: self._tell(LINE_AFTER))
        return Progress(self._receive)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()
            if self._bars is not None:
                self._bars.stop()
                self._bars = None

    def _after(self, seconds: float, do: Callable[[], None]) -> None:
        self._timer = threading.Timer(seconds, do)
        self._timer.daemon = True
        self._timer.start()

    def _tell(self, waited: float) -> None:
        """A line about the stages under way, and the next one later."""
        with self._lock:
            if self._closed:
                return
            self._screen.remark(" · ".join(self._line(one) for one in self._stages))
            seconds = min(2 * waited, LINE_AT_LEAST_EVERY)
            self._after(seconds, lambda: self._tell(seconds))

    def _line(self, stage: Event) -> str:
        text = stage.message.text(self._screen.language)
        if not stage.total:
            return text
        return msg("{stage}: {done:int} of {total:int}", stage=text, done=stage.done, total=stage.total).text(
            self._screen.language
        )

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
