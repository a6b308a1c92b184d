"""The check of sample weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.data.frames import to_numpy
from isonomia.errors import DataError
from isonomia.typing import Floats


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


def _numbers(array: NDArray[Any]) -> Floats:
    if array.dtype.kind not in "biuf" and any(isinstance(value, str) for value in array.tolist()):
        return np.full(array.shape, np.nan)  # texts are not numbers, whatever they say
    try:
        return np.asarray(array, dtype=float)
    except (TypeError, ValueError):
        return np.full(array.shape, np.nan)
