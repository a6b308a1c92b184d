"""What is known of sets of rows: the sums that a metric needs, and the values that follow from them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.typing import Floats


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over the rows of each set.

    Attributes
    ----------
    n : (...) rows of each set
    sums : (..., P) weighted sums of the P parts a metric is made of
    squares : (..., P) or (..., P, P) the same with squared weights: of each part, or of products of parts
    cubes : (..., 5) of a mean of one quantity v: w^3, w^3 v, w^3 v^2, w^3 v^3 and w^4; (..., 16) of R2 (`POWERS`);
        (..., 0) of other metrics
    losses : (..., K) of a loss of probabilities: weighted sums of what it would be in each class; (..., 0) of others
    """

    n: NDArray[np.int64]
    sums: Floats
    squares: Floats
    cubes: Floats
    losses: Floats

    def each(self, change: Callable[..., Any], *others: Sums) -> Sums:
        """The same change of every array."""
        names = ("n", "sums", "squares", "cubes", "losses")
        parts = ((getattr(one, name) for one in (self, *others)) for name in names)
        n, sums, squares, cubes, losses = (np.asarray(change(*part)) for part in parts)
        return Sums(n=n, sums=sums, squares=squares, cubes=cubes, losses=losses)

    def __add__(self, other: Sums) -> Sums:
        return self.each(operator.add, other)

    def __sub__(self, other: Sums) -> Sums:
        return self.each(operator.sub, other)

    def __getitem__(self, key: Any) -> Sums:
        return self.each(lambda part: part[key])

    @classmethod
    def joined(cls, parts: Sequence[Sums]) -> Sums:
        """The sets of several families as one list."""
        first, *rest = [part.flat() for part in parts]
        return first.each(lambda *arrays: np.concatenate(arrays), *rest)

    def flat(self) -> Sums:
        """The cells of a cross table as one list."""
        size, lead = self.n.size, self.n.ndim
        return self.each(lambda part: part.reshape(size, *part.shape[lead:]))

    def along(self, axis: int, size: int) -> Sums:
        """The same sums repeated `size` times along a new axis."""
        return self.each(lambda part: np.repeat(np.expand_dims(part, axis), size, axis))

    def total(self, axis: int | tuple[int, ...] = 0) -> Sums:
        """Summed over sets."""
        return self.each(lambda part: part.sum(axis=axis))


@dataclass(frozen=True, eq=False)
class SetValues:
    """A metric of each set from its sums: value, standard error, interval, effective size; NaN where undefined."""

    n: NDArray[np.int64]
    value: Floats
    error: Floats
    low: Floats
    high: Floats
    size: Floats

    def part(self, sets: slice, shape: tuple[int, ...]) -> SetValues:
        """Some neighbouring sets of a list, in a shape of their own."""
        return SetValues(**{one.name: getattr(self, one.name)[sets].reshape(shape) for one in fields(self)})
