"""Single rows where a subject was made of counts: repeated, or handed over by the engine that counted them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from isonomia.errors import NotApplicable
from isonomia.languages import msg
from isonomia.subject.engine_rows import read_rows

if TYPE_CHECKING:
    from isonomia.subject.subject import Subject

#: More rows than this are not made of counts.
MAX_ROWS = 100_000_000
#: The key under which a subject caches that its rows are a sample.
SAMPLED = "sampled"


def in_rows(subject: Subject) -> Subject:
    """The subject with each of its rows on its own."""
    if subject.given_counts is None:
        return subject
    if subject.dataset is not None and subject.dataset.engine is not None:
        data, model, settings = subject.dataset, subject.model, subject.settings
        parts = subject.shared("rows", lambda: read_rows(data, model, settings, subject.progress))
        subject.cache[SAMPLED] = parts.notes
        whole = subject.shared("in_rows", lambda: type(subject)(**parts.fields()))
        notes = (*subject.notes, *parts.notes)
        return replace(whole, settings=settings, best_off=subject.best_off, progress=subject.progress, notes=notes)
    if subject.n_given > MAX_ROWS:
        raise NotApplicable(
            msg(
                "it needs single rows, and these are counts of {n:int} rows; at most {most:int} are repeated",
                n=subject.n_given,
                most=MAX_ROWS,
            )
        )
    whole = subject.shared("in_rows", lambda: _repeated(subject))
    return replace(whole, settings=subject.settings, progress=subject.progress, notes=subject.notes)


def _repeated(subject: Subject) -> Subject:
    assert subject.given_counts is not None
    given = np.repeat(np.arange(subject.rows.size), subject.given_counts)
    known = np.repeat(np.arange(int(subject.rows.sum())), subject.given_counts[subject.rows])
    return replace(
        subject,
        predictions=subject.predictions.take(given),
        outcome=subject.outcome.take(known),
        attributes=tuple(column.take(known) for column in subject.attributes),
        weights=None if subject.weights is None else subject.weights[known],
        rows=subject.rows[given],
        given_counts=None,
        cache={},
    )
