"""A small network that both sides ask: no library's model, so that only the explainers differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def draw(columns: int, hidden: int, seed: int) -> dict[str, Any]:
    """Its weights, as lists."""
    rng = np.random.default_rng(seed)
    return {
        "first": (rng.normal(size=(columns, hidden)) * 1.5 / np.sqrt(columns)).tolist(),
        "shift": rng.normal(size=hidden).tolist(),
        "second": (rng.normal(size=hidden) * 3 / np.sqrt(hidden)).tolist(),
    }


def probability(weights: Mapping[str, Any]) -> Callable[[Any], Any]:
    """The network as a function of a matrix."""
    first, shift, second = (np.asarray(weights[name]) for name in ("first", "shift", "second"))
    return lambda rows: 1 / (1 + np.exp(-(np.tanh(np.asarray(rows) @ first + shift) @ second)))
