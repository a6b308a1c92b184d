"""From the raw score of a tree ensemble to its prediction."""

from __future__ import annotations

from typing import Literal

import numpy as np

from isonomia.typing import Floats

#: How a raw score becomes a prediction: as it is, the probability of one class or of several, or its exponential.
Link = Literal["identity", "logistic", "softmax", "exp"]


def apply_link(link: Link, raw: Floats) -> Floats:
    """The predictions at raw scores of shape (..., K).

    >>> apply_link("logistic", np.array([[0.0]])).tolist(), apply_link("softmax", np.zeros((1, 2))).tolist()
    ([[0.5]], [[0.5, 0.5]])
    """
    if link == "softmax":
        powers = np.exp(raw - raw.max(axis=-1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=-1, keepdims=True))
    if link == "exp":
        return np.asarray(np.exp(np.minimum(raw, 700.0)))
    if link == "logistic":
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(raw, -700.0, 700.0))))
    return raw
