"""How much rows count."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.typing import Floats


@dataclass(frozen=True, eq=False)
class Mass:
    """How much each row counts: its weight, and how many identical rows it stands for.

    Attributes
    ----------
    length : int
        How many rows there are, each of them once.
    weights, counts : arrays or None
        None where every row has weight 1, and stands for itself.

    Examples
    --------
    >>> mass = Mass(2, counts=np.array([3, 1]))
    >>> mass.n, mass.mean(np.array([1.0, 0.0])), mass.effective
    (4, 0.75, 4.0)
    """

    length: int
    weights: Floats | None = None
    counts: NDArray[np.int64] | None = None

    def take(self, rows: NDArray[Any]) -> Mass:
        """That of some of the rows."""
        weights, counts = (None if part is None else part[rows] for part in (self.weights, self.counts))
        length = int(np.count_nonzero(rows)) if rows.dtype == bool else int(rows.size)
        return Mass(length, weights, counts)

    @cached_property
    def n(self) -> int:
        """How many rows there are, with those that a row stands for."""
        return self.length if self.counts is None else int(self.counts.sum())

    @cached_property
    def w(self) -> Floats:
        """The weight of all rows that each row stands for."""
        return self._times(self.weights)

    @cached_property
    def w2(self) -> Floats:
        """The squared weights of all rows that each row stands for, added up."""
        return self._times(None if self.weights is None else self.weights**2)

    def _times(self, weights: Floats | None) -> Floats:
        if self.counts is None:
            return np.ones(self.length) if weights is None else weights
        return np.asarray(self.counts if weights is None else weights * self.counts, dtype=float)

    @cached_property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.n if self.weights is None else self.w.sum())

    @property
    def effective(self) -> float:
        """How many rows of equal weight would tell as much."""
        return float(self.n) if self.weights is None else self.total**2 / float(self.w2.sum())

    @property
    def mean_one(self) -> Floats | None:
        """Weights scaled so that their mean is 1."""
        if self.weights is None or self.total <= 0:
            return self.weights
        return np.asarray(self.weights * (self.n / self.total), dtype=float)

    def sum(self, values: NDArray[Any]) -> float:
        """The values of all rows added up, times their weights."""
        return float(values.sum() if self._single else values @ self.w)

    def mean(self, values: NDArray[Any]) -> float:
        """The (weighted) average."""
        return float(values.mean() if self._single else values @ self.w / self.total)

    def variance(self, values: Floats) -> float:
        """The (weighted) average of squared distances from the average."""
        return self.mean((values - self.mean(values)) ** 2)

    @property
    def _single(self) -> bool:
        return self.weights is None and self.counts is None
