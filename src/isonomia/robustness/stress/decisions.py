"""Decisions that follow from changed probabilities and scores: only where they cross the line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.models import Surface
from isonomia.typing import Floats


def with_probability(surface: Surface, probability: Floats) -> Surface:
    """Other probabilities; a decision changes where they cross the threshold, or where another class comes first.

    Decisions that were made elsewhere (a column of their own) stay as they are on all other rows.

    >>> before = Surface.of_probabilities([0.2, 0.9], classes=(0, 1))
    >>> with_probability(before, np.array([0.6, 0.8])).label.tolist()
    [1, 1]
    """
    assert surface.probability is not None
    label = surface.label
    if label is not None:
        was, now = (_side(surface, table) for table in (surface.probability, probability))
        label = np.where(was != now, now, label).astype(label.dtype)
    return replace(surface, probability=probability, label=label)


def with_score(surface: Surface, score: Floats) -> Surface:
    """Other scores; a decision changes where they cross the threshold."""
    assert surface.score is not None
    label = surface.label
    if label is not None:
        was, now = (part >= surface.cut for part in (surface.score, score))
        label = np.where(was != now, now, label).astype(label.dtype)
    return replace(surface, score=score, label=label)


def _side(surface: Surface, table: Floats) -> NDArray[Any]:
    return table >= surface.cut if table.ndim == 1 else table.argmax(axis=1)
