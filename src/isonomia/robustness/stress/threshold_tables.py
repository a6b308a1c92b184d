"""Confusion tables at every threshold, for everyone and for groups, from one pass over the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.evidence import percentile, wilson
from isonomia.metrics import Metric
from isonomia.typing import Floats


@dataclass(frozen=True, eq=False)
class Swept:
    """Confusion tables of G groups at T thresholds.

    Attributes
    ----------
    thresholds : (T,) rising; a score of at least the threshold is a positive decision
    tables : (T, G, 2, 2) weighted counts [true, decided]
    squares : (T, G, 2, 2) sums of squared weights
    """

    thresholds: Floats
    tables: Floats
    squares: Floats

    def total(self) -> Swept:
        """All groups as one."""
        return Swept(self.thresholds, self.tables.sum(axis=1, keepdims=True), self.squares.sum(axis=1, keepdims=True))


def sweep(
    score: Floats, positive: NDArray[np.bool_], thresholds: Floats, groups: Codes, weights: Floats | None = None
) -> Swept:
    """Cut the scores at every threshold at once.

    Each row falls between two thresholds; rows are counted there, by group and truth, and the counts are added up from
    the top. So the cost is one pass over the rows however many thresholds there are.

    >>> groups = Codes("g", np.zeros(4, dtype=np.uint8), ("all",))
    >>> truth = np.array([False, True, False, True])
    >>> sweep(np.array([0.1, 0.4, 0.4, 0.8]), truth, np.array([0.4, 0.5]), groups).tables[:, 0].tolist()
    [[[1.0, 1.0], [0.0, 2.0]], [[2.0, 0.0], [1.0, 1.0]]]
    """
    between = np.searchsorted(thresholds, score, side="right")
    cell = (groups.codes.astype(np.int64) * 2 + positive) * (thresholds.size + 1) + between
    size = groups.size * 2 * (thresholds.size + 1)

    def tables(w: Floats | None) -> Floats:
        counts = np.bincount(cell, weights=w, minlength=size).astype(float).reshape(groups.size, 2, -1)
        above = np.cumsum(counts[..., ::-1], axis=-1)[..., ::-1]
        yes = above[..., 1:]
        both = np.stack([above[..., :1] - yes, yes], axis=2)  # group, truth, decided, threshold
        return np.ascontiguousarray(np.maximum(np.moveaxis(both, -1, 0), 0.0))

    first = tables(weights)
    return Swept(thresholds, first, first if weights is None else tables(weights * weights))


def measure(metric: Metric, swept: Swept, level: float, n_boot: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """Value and interval of a metric of counts, (T, G): Wilson's for proportions, of a bootstrap of the table else."""
    assert metric.from_counts is not None
    with np.errstate(divide="ignore", invalid="ignore"):
        value = metric.from_counts(swept.tables)
        if metric.rate is not None:
            bottom, square = metric.rate(swept.tables)[1], metric.rate(swept.squares)[1]
            size = np.where(square > 0, bottom * bottom / square, 0.0)
            low, high = wilson(np.nan_to_num(value) * size, size, level)
        elif n_boot:
            low, high = percentile(metric.from_counts(draws(swept, n_boot, seed)), level)
            low, high = np.fmin(low, value), np.fmax(high, value)
        else:
            low = high = np.full(value.shape, np.nan)
    unknown = np.isnan(value)
    return value, np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)


def draws(swept: Swept, n_boot: int, seed: int) -> Floats:
    """Replicated tables (B, T, G, 2, 2): multinomial, of as many rows as are (effectively) there."""
    rng = np.random.default_rng(seed)
    flat = swept.tables.reshape(*swept.tables.shape[:2], 4)
    total, square = flat.sum(axis=-1), swept.squares.sum(axis=(-2, -1))
    rows = np.where(square > 0, total * total / np.where(square > 0, square, 1.0), 0.0)
    share = flat / np.where(total > 0, total, 1.0)[..., None]
    share[..., 0] = np.maximum(0.0, 1.0 - share[..., 1:].sum(axis=-1))
    drawn = rng.multinomial(np.rint(rows).astype(np.int64), share, size=(n_boot, *rows.shape))
    scale = np.where(rows > 0, total / np.where(rows > 0, rows, 1.0), 0.0)
    return np.asarray((drawn * scale[..., None]).reshape(n_boot, *swept.tables.shape), dtype=float)


def spread_between(values: Floats) -> tuple[Floats, Floats]:
    """Largest less smallest, and smallest over largest, over the last axis; NaN with fewer than two known values."""
    known = (~np.isnan(values)).sum(axis=-1) >= 2
    filled = np.where(known[..., None], values, 0.0)
    top, bottom = np.nanmax(filled, axis=-1), np.nanmin(filled, axis=-1)
    ratio = np.divide(bottom, top, out=np.full(top.shape, np.nan), where=top > 0)
    return np.where(known, top - bottom, np.nan), np.where(known, ratio, np.nan)
