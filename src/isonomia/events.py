"""How long work reports what it does, and how a caller ends it: events to one sink, one way to cancel.

Every function that can take long has an argument ``progress``: a function of an `Event`, or a `Progress`, which can
also be cancelled, from any thread. Nothing is printed here; the command line, a notebook or a server show the events.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeVar

from isonomia.display import default_sink
from isonomia.errors import Cancelled
from isonomia.languages import Message
from isonomia.parameters import Number

T = TypeVar("T")


@dataclass(frozen=True, eq=False, kw_only=True)
class Event:
    """One report of progress.

    Attributes
    ----------
    path : tuple of str
        The stages that are under way, the outermost first: ``("audit", "consistency", "neighbours")``.
    message : Message
        What the innermost of them does, to be shown in any language.
    done, total : int
        How many of its parts are finished; `total` is 0 where nobody knows how many there are.
    result : optional
        What the stage produced: the section of a check that has finished.
    """

    path: tuple[str, ...]
    message: Message
    done: int
    total: int
    result: Any = None


Sink = Callable[[Event], object]


def stages_after(event: Event, stages: Sequence[Event]) -> list[Event]:
    """The last event of every stage that is under way once `event` has come, the outermost stage first.

    `stages` is what this returned for the event before: what a display of nested stages keeps.
    """
    outer = [one for one in stages if len(one.path) < len(event.path) and event.path[: len(one.path)] == one.path]
    return [*outer, event]


class Progress:
    """Passes events to a sink, and ends the work once it is cancelled.

    Parameters
    ----------
    sink : callable, optional
        Called with every `Event`, in the thread that does the work.

    Examples
    --------
    >>> from isonomia.languages import msg
    >>> progress = Progress(lambda event: print("/".join(event.path), event.done, event.total))
    >>> with progress.stage("audit", msg("Audit"), total=2) as checks:
    ...     with progress.stage("drift", msg("Drift")):
    ...         pass
    ...     checks.advance()
    ...     progress.cancel()  # from any thread; the work stops at its next event
    ...     checks.advance()
    Traceback (most recent call last):
    ...
    isonomia.errors.Cancelled: The work was cancelled before it was finished.
    """

    def __init__(self, sink: Sink | None = None) -> None:
        self._sink = sink
        self._cancelled = threading.Event()
        self._path: tuple[str, ...] = ()
        #: What the sink raised, which is the caller's own word and never a fault of the work it interrupted.
        self.raised: BaseException | None = None

    @classmethod
    def of(cls, given: Progress | Sink | None) -> Progress:
        """The `Progress` itself, or one around a sink; with None, bars in a notebook and silence elsewhere."""
        return given if isinstance(given, Progress) else cls(default_sink() if given is None else given)

    def cancel(self) -> None:
        """End the work at its next event. May be called from any thread, or from a signal handler; it does not wait."""
        self._cancelled.set()

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled.is_set()

    def check(self) -> None:
        """Raise `Cancelled` if the work is to end: for loops that have nothing to report."""
        if self._cancelled.is_set():
            raise Cancelled

    def stage(self, name: str, message: Message, total: int = 0) -> Stage:
        """A part of the work, as a context: stages opened inside it are reported below it."""
        return Stage(self, name, message, total)

    def _emit(self, event: Event) -> None:
        self.check()
        if self._sink is not None:
            try:
                self._sink(event)
            except BaseException as error:
                self.raised = error
                raise


class Stage:
    """A part of the work, made by `Progress.stage`; a loop with nothing to report below it need not enter it."""

    def __init__(self, progress: Progress, name: str, message: Message, total: int) -> None:
        self._progress, self._message = progress, message
        self._outer = progress._path
        self._path = (*progress._path, name)
        self.done, self.total = 0, total

    def __enter__(self) -> Stage:
        self.at(0)
        self._progress._path = self._path
        return self

    def at(self, done: int, *, result: Any = None) -> None:
        """Report how many parts are finished; raises `Cancelled` where the caller wants the work to end."""
        self.done = done
        event = Event(path=self._path, message=self._message, done=done, total=self.total, result=result)
        self._progress._emit(event)

    def advance(self) -> None:
        """Report that one more part is finished."""
        self.at(self.done + 1)

    def over(self, items: Iterable[T]) -> Iterator[T]:
        """The items one after the other, each reported when it is finished."""
        for item in items:
            self.at(self.done)
            yield item
            self.done += 1
        self.at(self.done)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress._path = self._outer


#: What an argument ``progress`` may be.
ProgressLike = Progress | Sink | None


class Clock:
    """Measures the seconds since it was made, against a limit if there is one.

    A loop that asks whether the time is over can be cancelled there too.

    >>> Clock().over
    False
    >>> Clock(-1)
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: `max_seconds` must be a finite number above 0, or None for no limit; got -1.
    """

    def __init__(self, max_seconds: float | None = None, progress: Progress | None = None) -> None:
        if max_seconds is not None:
            Number(above=0).or_none("for no limit").check("max_seconds", max_seconds)
        self.max_seconds = max_seconds
        self.progress = Progress.of(progress)
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._start

    @property
    def over(self) -> bool:
        """Whether the time limit has passed; raises `Cancelled` where the caller wants the work to end."""
        self.progress.check()
        return self.max_seconds is not None and self.seconds > self.max_seconds
