"""Several classes: offsets of the class probabilities by group, such that every class is given at similar rates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.typing import Bools, Floats, Indices

#: Passes over the classes of a group before the search ends.
PASSES = 200


def class_offsets(
    probability: Floats,
    group: Indices,
    n_groups: int,
    tol: float,
    *,
    truth: NDArray[Any] | None = None,
    weights: Floats | None = None,
) -> tuple[Floats, bool]:
    """Offsets b (G, K) such that argmax_k (p_ik + b_gk) gives every class k at rates at most `tol` apart.

    The smallest loss of expected accuracy under fixed class rates is a transport problem; b are its dual variables.
    Each is moved alone: class k is predicted where b_k >= max over j != k of (p_j + b_j) - p_k, so that the offset
    which gives a wanted rate is an order statistic of these margins. Rates that lie within the window stay.

    Parameters
    ----------
    probability : (n, K)
    truth : (n,) codes, optional
        Given: the rates are those among the rows of the class itself (the recall of every class).
    weights : (n,), optional
        How much each row counts.

    Returns
    -------
    offsets (G, K), and whether every rate ended within its window
    """
    n_classes = probability.shape[1]
    offsets = np.zeros((n_groups, n_classes))
    counted = [np.ones(len(probability), dtype=bool) if truth is None else truth == k for k in range(n_classes)]
    before, w = probability.argmax(axis=1), np.ones(len(probability)) if weights is None else weights
    centre = np.array(
        [float(np.average(before[rows] == k, weights=w[rows])) if rows.any() else 0.5 for k, rows in enumerate(counted)]
    )
    low, high = centre - tol / 2, centre + tol / 2
    met = True
    for g in range(n_groups):
        rows = np.flatnonzero(group == g)
        offsets[g], fits = _one_group(probability[rows], [part[rows] for part in counted], w[rows], low, high)
        met &= fits
    return offsets, met


def _one_group(
    probability: Floats, counted: list[Bools], weights: Floats, low: Floats, high: Floats
) -> tuple[Floats, bool]:
    n_classes = probability.shape[1]
    b = np.zeros(n_classes)
    shifted = probability.copy()
    for _ in range(PASSES):
        moved = False
        for k in range(n_classes):
            use = counted[k]
            if not use.any():
                continue
            others = np.delete(shifted[use], k, axis=1).max(axis=1)
            margin = others - probability[use, k]
            rate = float(np.average(margin <= b[k], weights=weights[use]))
            if low[k] - 1e-12 <= rate <= high[k] + 1e-12:
                continue
            order = np.argsort(margin, kind="stable")
            share = np.cumsum(weights[use][order]) / weights[use].sum()
            if rate < low[k]:
                wanted = int(np.searchsorted(share, low[k] - 1e-12)) + 1
            else:
                wanted = int(np.searchsorted(share, high[k] + 1e-12, side="right"))
                if wanted < order.size:  # ties are refused together
                    wanted = int(np.searchsorted(margin[order], margin[order][wanted]))
            b[k] = _cut(margin[order], min(wanted, order.size))
            shifted[:, k] = probability[:, k] + b[k]
            moved = True
        if not moved:
            return b, True
    return b, False


def _cut(margin: Floats, wanted: int) -> float:
    """A number that exactly the `wanted` smallest margins do not exceed (but for ties)."""
    if wanted == 0:
        return float(margin[0] - 1e-6)
    if wanted == margin.size:
        return float(margin[-1] + 1e-6)
    return float((margin[wanted - 1] + margin[wanted]) / 2)
