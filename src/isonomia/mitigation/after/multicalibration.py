"""Multicalibration: probabilities that are right on average in every subgroup and every band of probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import sum_by
from isonomia.mitigation.after.fixes import ScoreFix
from isonomia.typing import Floats, Indices

#: Corrections before the search ends.
MAX_ROUNDS = 1000
#: Standard errors that a deviation has to exceed: of some sixty cells, smaller ones are noise.
CLEAR = 3.0


@dataclass(frozen=True)
class PatchFix(ScoreFix, kind="patch_fix"):
    """Corrections in turn: people of these groups whose probability lies in [low, high) get `shift` more.

    Attributes
    ----------
    members : tuple of tuples of int
        The groups of each correction, as indices of `groups`.
    low, high, shift : tuples of float
    """

    members: tuple[tuple[int, ...], ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    shift: tuple[float, ...]

    def transform(self, score: Floats, group: Indices) -> Floats:
        """The probabilities after all corrections."""
        p = score.astype(float)
        for members, low, high, shift in zip(self.members, self.low, self.high, self.shift, strict=True):
            concerned = np.isin(group, members) & (p >= low) & (p < high)
            p = np.where(concerned, np.clip(p + shift, 0.0, 1.0), p)
        return p


def subgroup_sets(groups: Sequence[tuple[Any, ...]]) -> list[tuple[int, ...]]:
    """Everyone, every value of every column, and every combination, each as the groups it consists of.

    >>> subgroup_sets([("f", 1), ("f", 2), ("m", 1)])
    [(0, 1, 2), (0, 1), (2,), (0, 2), (1,), (0,)]
    """
    sets: dict[tuple[int, ...], None] = {tuple(range(len(groups))): None}
    for column in range(len(groups[0]) if groups else 0):
        for value in dict.fromkeys(group[column] for group in groups):
            sets[tuple(number for number, group in enumerate(groups) if group[column] == value)] = None
    for number in range(len(groups)):
        sets[(number,)] = None
    return [*sets]


def multicalibrate(
    score: Floats,
    truth: NDArray[Any],
    group: Indices,
    sets: Sequence[tuple[int, ...]],
    *,
    alpha: float = 0.01,
    bins: int = 10,
    weights: Floats | None = None,
) -> tuple[Floats, list[tuple[tuple[int, ...], float, float, float]]]:
    """Correct the worst cell (subgroup, band) by its mean residual until all are within alpha or within noise.

    A subgroup in all bands together is a cell too: what is off everywhere is corrected at once, and less by chance.

    References
    ----------
    U. Hebert-Johnson, M. Kim, O. Reingold, G. Rothblum (2018), Multicalibration, ICML.
    """
    w = np.ones(score.size) if weights is None else weights
    n_groups = int(group.max()) + 1
    member = np.zeros((len(sets), n_groups))
    for number, one in enumerate(sets):
        member[number, [g for g in one if g < n_groups]] = 1.0
    edges = np.linspace(0.0, 1.0, bins + 1)
    edges[-1] = 1.0 + 1e-9
    p, patches = score.astype(float), []
    for _ in range(MAX_ROUNDS):
        cell = group * bins + np.clip(np.searchsorted(edges, p, side="right") - 1, 0, bins - 1)
        columns = np.column_stack([w, w * w, w * ((truth == 1) - p), w * p * (1 - p)])
        sums = sum_by(cell, columns, n_groups * bins).reshape(n_groups, bins, 4)
        cells = np.einsum("sg,gbk->sbk", member, sums)
        cells = np.concatenate([cells, cells.sum(axis=1, keepdims=True)], axis=1)  # the last: all bands together
        total, square, residual, variance = np.moveaxis(cells, -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = residual / total
            error = np.sqrt(np.maximum(variance / total, 1e-4) * square) / total
            gain = np.where((np.abs(mean) > alpha) & (np.abs(mean) > CLEAR * error), total * mean**2, 0.0)
        s, b = np.unravel_index(int(np.nanargmax(gain)), gain.shape)
        if not gain[s, b] > 0:
            break
        low, high = (edges[0], edges[-1]) if b == bins else (edges[b], edges[b + 1])
        patch = (sets[int(s)], float(low), float(high), float(mean[s, b]))
        concerned = np.isin(group, patch[0]) & (p >= patch[1]) & (p < patch[2])
        p = np.where(concerned, np.clip(p + patch[3], 0.0, 1.0), p)
        patches.append(patch)
    return p, patches
