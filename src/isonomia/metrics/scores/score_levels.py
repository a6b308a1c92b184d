"""What scores let expect of rows that were counted: the same step function for every table of the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.metrics.scores.expected_error import expected_error
from isonomia.models import Surface
from isonomia.subject import Subject
from isonomia.typing import Floats


@dataclass(frozen=True, eq=False)
class ScoreLevels:
    """The share of wrong decisions by decision and level of the score (see `expected_error`).

    A level is a score, or the bin that scores were counted in: the mean score of a bin differs from table to table.

    Attributes
    ----------
    edges : array or None
        Of the bins.
    steps : mapping
        For each decision its levels, in order, and what is expected at each.
    """

    edges: Floats | None
    steps: Mapping[int, tuple[Floats, Floats]]

    @classmethod
    def of(cls, subject: Subject, edges: Floats | None = None) -> ScoreLevels | None:
        """Those of a subject made of counts; None where it has no decisions of two classes with scores.

        `edges` are those of the bins that scores were counted in, where its dataset does not know them.
        """
        surface = subject.surface
        scores = _scores(surface)
        if scores is None or surface.label is None or subject.dataset is None:
            return None
        edges = subject.dataset.score_edges if edges is None else edges
        levels = _levels(scores, edges)
        n = np.ones(levels.size) if subject.counts is None else subject.counts.astype(float)
        weights = n if subject.weights is None else n * subject.weights
        binned = replace(surface, probability=None, score=levels)
        expected = expected_error(subject.truth, binned, weights)
        assert expected is not None
        steps = {}
        for decision in np.unique(surface.label).tolist():
            rows = np.flatnonzero((surface.label == decision) & (weights > 0))
            own, first = np.unique(levels[rows], return_index=True)
            steps[int(decision)] = own, expected[rows[first]]
        return cls(edges, steps)

    @property
    def changes(self) -> list[float]:
        """The scores from which on something else is expected, after one decision or the other."""
        found: set[float] = set()
        for own, expected in self.steps.values():
            levels = own[1:][np.diff(expected) != 0]
            found.update((levels if self.edges is None else self.edges[levels.astype(int)]).tolist())
        return sorted(found)

    def expected(self, part: Subject) -> Floats:
        """What is expected of each row of a table that counts the same rows by more columns."""
        surface = part.surface
        scores, label = _scores(surface), surface.label
        assert scores is not None
        assert label is not None
        levels, out = _levels(scores, self.edges), np.zeros(scores.size)
        for decision, (own, expected) in self.steps.items():
            rows = np.flatnonzero(label == decision)
            out[rows] = expected[np.clip(np.searchsorted(own, levels[rows]), 0, own.size - 1)]
        return out


def _scores(surface: Surface) -> Floats | None:
    found = surface.probability if surface.probability is not None else surface.score
    return None if found is None or found.ndim != 1 else found


def _levels(scores: NDArray[Any], edges: Floats | None) -> Floats:
    if edges is None:
        return np.asarray(scores, dtype=float)
    return np.clip(np.searchsorted(edges, scores, side="right") - 1, 0, edges.size - 2).astype(float)
