"""From raw scores to what a model says, and how far two of them can lie apart when only bounds are known.

Two people whose raw scores differ by d, the lower at m, lie g(m + d) - g(m) apart. For the logistic link that is
largest at m = -d/2 and smallest at an end of the range of m; for exp it grows with m.
"""

from __future__ import annotations

import numpy as np

from isonomia.models import Link, apply_link
from isonomia.typing import Floats


def said_bounds(link: Link, least: Floats, most: Floats) -> tuple[Floats, Floats]:
    """Bounds (..., K) of what is said from bounds of raw scores."""
    if link != "softmax":
        return apply_link(link, least), apply_link(link, most)
    low, high = np.empty_like(least), np.empty_like(most)
    with np.errstate(over="ignore"):
        for k in range(least.shape[-1]):
            others = np.arange(least.shape[-1]) != k
            low[..., k] = 1.0 / (1.0 + np.exp(most[..., others] - least[..., [k]]).sum(axis=-1))
            high[..., k] = 1.0 / (1.0 + np.exp(least[..., others] - most[..., [k]]).sum(axis=-1))
    return low, high


def rise(link: Link, at: Floats, by: Floats) -> Floats:
    """How much is said more at `at + by` than at `at`."""
    return apply_link(link, at + by) - apply_link(link, at)


def steepest(link: Link, by: Floats, least: Floats, most: Floats) -> Floats:
    """The largest rise by `by` from a raw score between `least` and `most`."""
    at = np.clip(-by / 2, least, most) if link == "logistic" else most
    return rise(link, at, by)


def apart(least: Floats, most: Floats) -> tuple[Floats, Floats]:
    """Between numbers (n, V) known within bounds: how far two of them are apart for sure, and at most.

    >>> sure, possible = apart(np.array([[0.0, 3.0]]), np.array([[1.0, 5.0]]))
    >>> float(sure[0]), float(possible[0])
    (2.0, 5.0)
    """
    sure = least.max(axis=1) - most.min(axis=1)
    if least.shape[1] < 2:
        return np.zeros(len(least)), np.zeros(len(least))
    top, bottom = most.argmax(axis=1), least.argmin(axis=1)
    place = np.arange(len(least))
    one = most[place, top] - least[place, bottom]
    without_top, without_bottom = most.copy(), least.copy()
    without_top[place, top], without_bottom[place, bottom] = -np.inf, np.inf
    other = np.maximum(most[place, top] - without_bottom.min(axis=1), without_top.max(axis=1) - least[place, bottom])
    return np.maximum(sure, 0.0), np.maximum(np.where(top == bottom, other, one), 0.0)
