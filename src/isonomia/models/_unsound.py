"""What is wrong with a model whose compiled code would be led astray."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class UnsoundError(ValueError):
    """A model holds counts or indices that do not fit one another."""


def sound(condition: object, what: str) -> None:
    """Raise `UnsoundError` with `what` is wrong, unless the condition holds."""
    if not condition:
        raise UnsoundError(what)


def check_range(values: NDArray[np.int64], stop: int, key: str) -> None:
    """Every index must be one of ``range(stop)``."""
    if not ((values >= 0) & (values < stop)).all():
        raise UnsoundError(f"`{key}` points at what is not there")


def check_length(fits: object, key: str) -> None:
    """A list must have the length that the rest of the model needs."""
    if not fits:
        raise UnsoundError(f"`{key}` has another length than it needs")


def check_type(fits: object, key: str) -> None:
    """A list must hold what it is made for."""
    if not fits:
        raise UnsoundError(f"`{key}` holds a value of another type")


def check_count(fits: object, key: str) -> None:
    """A count must be one."""
    if not fits:
        raise UnsoundError(f"`{key}` is out of range")


def check_same(same: object, key: str) -> None:
    """What is said twice must be the same."""
    if not same:
        raise UnsoundError(f"its settings and its model differ in `{key}`")
