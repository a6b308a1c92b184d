"""The people that a search among neighbours looks at: all of them, or a sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from isonomia.languages import Message, msg
from isonomia.parameters import Integer, Parameter
from isonomia.subject import Subject

R = TypeVar("R")

#: The option of a check that examines a sample of rows; its function examines all of them.
SAMPLE = Parameter("max_rows", Integer(1), 20_000, "rows examined at most; more are sampled", own=None)
#: The same for a check that calls the model on many altered versions of every row: its budget of model rows.
ALTERED_ROWS = Parameter("max_rows", Integer(1), 8_000, "rows that are altered and predicted; larger data are sampled")
#: People are compared with their neighbours. Who is near is found among all rows of the sample, so fewer people make
#: the interval wider and nothing else.
PEOPLE = Parameter("max_people", Integer(1), 4_000, "people compared with their neighbours, at most")


def sampled(subject: Subject, maximum: int) -> NDArray[np.intp]:
    """Rows of the subject, at most `most` of them."""
    n = len(subject)
    if n <= maximum:
        return np.arange(n)
    return np.sort(np.random.default_rng(subject.settings.seed).choice(n, maximum, replace=False))


def predicted_of_sample(rows: NDArray[np.intp], subject: Subject) -> tuple[Message, ...]:
    """That a sample was looked at, where it was."""
    if rows.size == len(subject):
        return ()
    return (msg("{n:int} of {all:int} rows were sampled.", n=rows.size, all=len(subject)),)


def sample_of(subject: Subject, maximum: int) -> tuple[Subject, tuple[Message, ...]]:
    """The subject, or a sample of its rows where there are more than `most`, and the note that states it."""
    rows = sampled(subject, maximum)
    return (subject if rows.size == len(subject) else subject.take(rows)), predicted_of_sample(rows, subject)


def neighbourly(
    subject: Subject, measure: Callable[..., R], *, max_rows: int, max_people: int, **options: Any
) -> tuple[R, NDArray[np.intp]]:
    """A measure of people and those like them, on a sample; and the rows of it. `options` are the measure's own."""
    rows = sampled(subject, max_rows)
    people = subject if rows.size == len(subject) else subject.take(rows)
    return measure(people, max_rows=max_people, progress=subject.progress, **options), rows
