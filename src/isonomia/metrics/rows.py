"""The rows that metrics read: labels, predictions and weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, smallest
from isonomia.data import relative_weights
from isonomia.errors import NotApplicable
from isonomia.languages import msg
from isonomia.models import Surface
from isonomia.subject import Subject
from isonomia.typing import Floats


@dataclass(frozen=True, eq=False)
class Rows:
    """What metrics read: labels (codes over `surface.classes`, numbers, or None), predictions and weights.

    `counts` says how many identical rows each row stands for, where that is not one.
    """

    truth: NDArray[Any] | None
    surface: Surface
    weights: Floats | None = None
    counts: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, subject: Subject) -> Rows:
        """The rows of a subject."""
        return cls(subject.outcome.truth, subject.surface, subject.weights, subject.counts)

    def __len__(self) -> int:
        return len(self.surface) if self.counts is None else int(self.counts.sum())

    def take(self, rows: Any) -> Rows:
        """Some of the rows."""
        truth, weights, counts = (
            None if part is None else part[rows] for part in (self.truth, self.weights, self.counts)
        )
        return Rows(truth, self.surface.take(rows), weights, counts)

    def weighing(self) -> Rows:
        """The rows with weights that are 1 on average."""
        return self if self.weights is None else replace(self, weights=relative_weights(self.weights, self.counts))

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of a confusion table of these rows: one true row where there are no labels."""
        k = len(self.surface.classes)
        return (1 if self.truth is None else k, k)

    @cached_property
    def outcome(self) -> Codes:
        """The cell of the confusion table that each row falls into."""
        truth, label = self.truth, self.surface.label
        if label is None:
            raise NotApplicable(msg("the predictions have no labels"))
        size = self.shape[0] * self.shape[1]
        if truth is None:
            return Codes("outcome", label, tuple(range(size)))
        kind = smallest(size)
        return Codes("outcome", truth.astype(kind) * kind.type(self.shape[1]) + label.astype(kind), tuple(range(size)))
