"""The people that a search among neighbours looks at: all of them, or a sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from isonomia.data import Dataset, wrap
from isonomia.languages import Message, msg
from isonomia.subject import Subject

R = TypeVar("R")

#: Searches for neighbours look among this many rows at most unless the check's options say otherwise (`max_rows`).
MAX_ROWS = 20_000
#: That many people are held against their neighbours unless the options say otherwise (`max_people`): who is near is
#: found among all, so fewer people make the interval wider and nothing else.
MAX_PEOPLE = 4_000


def sampled(subject: Subject, options: Mapping[str, Any]) -> NDArray[np.intp]:
    """Rows of the subject, at most ``max_rows`` of them."""
    n, most = len(subject), int(options.get("max_rows", MAX_ROWS))
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(subject.settings.seed).choice(n, most, replace=False))


def said_of_sample(rows: NDArray[np.intp], subject: Subject) -> tuple[Message, ...]:
    """That a sample was looked at, where it was."""
    if rows.size == len(subject):
        return ()
    return (msg("{n:int} of {all:int} rows were sampled.", n=rows.size, all=len(subject)),)


def neighbourly(subject: Subject, options: dict[str, Any], measure: Callable[..., R]) -> tuple[R, NDArray[np.intp]]:
    """A measure of people and those like them, on a sample; and the rows of it. `options` are the measure's own."""
    rows = sampled(subject, options)
    own = {name: value for name, value in options.items() if name not in ("max_rows", "max_people")}
    data = subject.known
    found = measure(
        people_of(data, rows),
        subject.surface.take(rows),
        protected=[name for name in data.protected if name in data.features],
        columns=[column.take(rows) for column in subject.attributes],
        weights=None if subject.weights is None else subject.weights[rows],
        max_rows=options.get("max_people", MAX_PEOPLE),
        level=subject.settings.level,
        seed=subject.settings.seed,
        backend=data.backend,
        progress=subject.progress,
        **own,
    )
    return found, rows


def people_of(data: Dataset, rows: NDArray[np.intp]) -> Any:
    """The features of these rows, in the kind of frame the user gave."""
    table = wrap(data.frame).select(data.features)
    return (table if rows.size == len(table) else table[rows.tolist()]).to_native()
