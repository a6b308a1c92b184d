"""The lowest and the highest of the answers about the variants of people, where variants could exist."""

from __future__ import annotations

from functools import reduce
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from isonomia.typing import Floats


def filled(values: Any, possible: NDArray[np.bool_] | None) -> Any:
    """Answers (..., V) or (..., V, classes) with those of impossible variants replaced by the first possible one's."""
    if values is None or possible is None or possible.all():
        return values
    mask = possible.reshape(*possible.shape, *(1,) * (values.ndim - possible.ndim))
    first = np.expand_dims(mask.argmax(axis=possible.ndim - 1), possible.ndim - 1)
    return np.where(mask, values, np.take_along_axis(values, first, axis=possible.ndim - 1))


def highest(values: NDArray[Any]) -> NDArray[Any]:
    """The largest along the last axis, which is short: column by column, which NumPy does quickly."""
    return np.asarray(reduce(np.maximum, [values[..., index] for index in range(values.shape[-1])]))


def lowest(values: NDArray[Any]) -> NDArray[Any]:
    """The smallest along the last, short axis."""
    return np.asarray(reduce(np.minimum, [values[..., index] for index in range(values.shape[-1])]))


def extremes(label: NDArray[np.int64] | None, score: Floats | None) -> tuple[Any, Any, Floats]:
    """The variants with the lowest and the highest score, and how far apart they are."""
    values: NDArray[Any] = score if score is not None else cast(NDArray[np.int64], label)
    if values.ndim == 3:  # several classes: the first variant against the one farthest from it
        apart = np.abs(values - values[:, :1]).max(axis=2)
        return np.zeros(len(values)), apart.argmax(axis=1), np.asarray(apart.max(axis=1))
    if values.shape[1] == 2:
        apart = np.asarray(values[:, 1] - values[:, 0], dtype=float)
        widest = np.abs(apart)
        return apart < 0, apart > 0, widest if score is not None else np.minimum(widest, 1.0)
    transposed = np.ascontiguousarray(values.T)  # numpy is slow along short rows
    low, high = transposed.argmin(axis=0), transposed.argmax(axis=0)
    widest = (transposed.max(axis=0) - transposed.min(axis=0)).astype(float)
    return low, high, widest if score is not None else np.minimum(widest, 1.0)


def doubt(score: Floats) -> Floats:
    """Several classes: how little the leading class leads where it leads least, below 0."""
    two = np.partition(score, -2, axis=2)
    return -np.asarray((two[:, :, -1] - two[:, :, -2]).min(axis=1)) + 0.0
