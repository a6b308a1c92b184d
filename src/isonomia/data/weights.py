"""Sample weights: their check, and their one scale."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.data.frames import to_numpy
from isonomia.errors import DataError
from isonomia.typing import Floats

#: Scaled weights are multiples of this: what weighs less than half of it weighs nothing.
GRID = 2.0**-40


def check_weights(weights: Any, length: int, *, what: str = "`weights`") -> Floats | None:
    """One finite weight of at least 0 per row, not all of them 0; None where there are no weights.

    >>> check_weights([1, 0.5], 2)
    array([1. , 0.5])
    >>> check_weights([1, -0.5], 2)
    Traceback (most recent call last):
    ...
    isonomia.errors.DataError: `weights` must be finite numbers of at least 0, not all of them zero.
    """
    if weights is None:
        return None
    array = to_numpy(weights)
    if array.shape != (length,):
        raise DataError(f"{what} must have one number per row ({length}); got an array of shape {array.shape}.")
    numbers = _numbers(array)
    if not np.isfinite(numbers).all() or (numbers < 0).any() or not numbers.any():
        raise DataError(f"{what} must be finite numbers of at least 0, not all of them zero.")
    return numbers


def relative_weights(weights: Floats, counts: NDArray[np.int64] | None = None, *, unit: float | None = None) -> Floats:
    """Weights in units of the mean of those above 0; `counts` says how many rows each of them stands for.

    Only the ratios of sample weights have a meaning: weights that add up to 1, to the number of rows or to a population
    are the same weights. Sums and squares of scaled ones neither overflow nor vanish. They are rounded to `GRID`, so
    that the same weights on another scale are the same numbers to the last digit, and nothing that is ordered by them
    changes its order.

    >>> relative_weights(np.array([1e300, 3e300, 0.0])), relative_weights(np.array([1e-300, 3e-300, 0.0]))
    (array([0.5, 1.5, 0. ]), array([0.5, 1.5, 0. ]))
    """
    mean = mean_weight(weights, counts) if unit is None else unit
    return np.asarray(np.rint(weights / mean / GRID) * GRID) if mean > 0 else weights


def mean_weight(weights: Floats, counts: NDArray[np.int64] | None = None) -> float:
    """The mean of the weights above 0 of the rows that each of them stands for; 0 where there are none."""
    largest = float(weights.max(initial=0.0))
    if largest == 0:
        return 0.0
    shares = weights / largest
    return float(np.average(shares, weights=(shares > 0) * (1 if counts is None else counts))) * largest


def _numbers(array: NDArray[Any]) -> Floats:
    if array.dtype.kind not in "biuf" and any(isinstance(value, str) for value in array.tolist()):
        return np.full(array.shape, np.nan)  # texts are not numbers, whatever they say
    try:
        return np.asarray(array, dtype=float)
    except (TypeError, ValueError):
        return np.full(array.shape, np.nan)
