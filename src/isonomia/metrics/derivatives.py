"""Derivatives of metrics by the sums and the cells they are functions of, exact to rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import SpecError
from isonomia.metrics.table_functions import Margins
from isonomia.typing import Floats

#: The imaginary step of a derivative: nothing is subtracted, so it can be as small as it takes.
STEP = 1e-40
#: Derivatives are worked out in blocks of at most this many numbers.
BLOCK_NUMBERS = 1 << 23


def derivative(function: Callable[[NDArray[Any]], NDArray[Any]], at: Floats) -> Floats:
    """The derivative of a function of (..., P) by each of the P parts: imag f(x + ih) / h.

    Nothing is subtracted, so that h can be as small as it takes. The function must take further axes in front, and keep
    complex numbers: sums, products, quotients, roots and choices do; `abs` and a cast to float do not.

    References
    ----------
    W. Squire, G. Trapp (1998), SIAM Review 40:110.

    Examples
    --------
    >>> derivative(lambda x: x[..., 0] ** 2 / x[..., 1], np.array([3.0, 2.0])).tolist()
    [3.0, -2.25]
    """
    block = max(1, BLOCK_NUMBERS // max(at.size, 1))
    found = []
    for start in range(0, at.shape[-1], block):
        parts = np.arange(start, min(start + block, at.shape[-1]))
        moved = np.repeat(at.astype(complex)[None], len(parts), axis=0)
        moved[parts - start, ..., parts] += 1j * STEP
        found.append(_imaginary(function(moved)) / STEP)
    return np.moveaxis(np.concatenate(found), 0, -1)


def table_derivative(function: Callable[..., NDArray[Any]], tables: Floats, *, of_margins: bool) -> Floats:
    """The derivative of a function of confusion tables (..., R, K) by each of their cells.

    A function of the margins alone (`of_margins`) has the derivative a_i + b_j, and e_i more where i = j, with a, b and
    e those by the rows of each true class, of each predicted one, and of those decided right: 3 K questions of 3 K
    numbers instead of K x K of K x K.

    >>> table_derivative(lambda C: Margins.of(C).right.sum(axis=-1), np.ones((2, 2)), of_margins=True).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    *front, n_true, n_predicted = tables.shape
    if not of_margins or n_true != n_predicted:
        flat = tables.reshape(*front, n_true * n_predicted)
        return derivative(lambda x: function(x.reshape(*x.shape[:-1], n_true, n_predicted)), flat).reshape(tables.shape)
    m = Margins.of(tables)
    by = derivative(
        lambda x: function(Margins(*np.split(x, 3, axis=-1))), np.concatenate([m.true, m.predicted, m.right], axis=-1)
    )
    true, predicted, right = np.split(by, 3, axis=-1)
    return true[..., :, None] + predicted[..., None, :] + right[..., None] * np.eye(n_true)


def _imaginary(value: NDArray[Any]) -> Floats:
    """The imaginary part of what a metric gave for complex sums."""
    if not np.iscomplexobj(value):
        raise SpecError("A metric of counts or sums must keep complex numbers: do not cast them to float.")
    return np.asarray(value.imag, dtype=float)
