"""Mutual information of columns in weighted tables: its value, its spread, and what chance alone would give."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, mean_by, sum_by
from isonomia.typing import Floats

#: Draws behind the p-value of a conditional mutual information.
N_PERMUTATIONS = 200
#: Different weights up to this many are kept as they are when an attribute is permuted; more are put into classes.
WEIGHT_CLASSES = 32
#: Numbers in a block of permuted tables.
BLOCK = 1 << 22


def information(counts: NDArray[np.number]) -> Floats:
    """I(y; a | s) in nats of (weighted) tables (..., s, a, y).

    >>> information(np.array([[[2.0, 0.0], [0.0, 2.0]]])).round(4).item()  # ln 2: one determines the other
    0.6931
    """
    n = counts.sum(axis=(-3, -2, -1), keepdims=True)
    a, y, s = (counts.sum(axis=axes, keepdims=True) for axes in (-1, -2, (-2, -1)))
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(counts > 0, counts / n * np.log(counts * s / (a * y)), 0.0)
    return np.asarray(terms.sum(axis=(-3, -2, -1)))


def spread(counts: NDArray[np.number], n: float) -> float:
    """The standard error of I(y; a | s) by the delta method: the spread of ln [p(a, y | s) / p(a | s) p(y | s)].

    It is 0 where nothing depends on anything; there the spread is that of chance (`permuted`).
    """
    total = counts.sum()
    a, y, s = (counts.sum(axis=axes, keepdims=True) for axes in (-1, -2, (-2, -1)))
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.where(counts > 0, np.log(counts * s / (a * y)), 0.0)
    p = counts / total
    mean = float((p * log).sum())
    return float(np.sqrt(max(float((p * log * log).sum()) - mean * mean, 0.0) / n))


def table(strata: Codes, attribute: Codes, label: Codes, weights: Floats | None) -> Floats:
    """The (weighted) counts (strata, attribute, label)."""
    shape = (strata.size, attribute.size, label.size)
    flat = (strata.codes.astype(np.int64) * shape[1] + attribute.codes) * shape[2] + label.codes
    return sum_by(flat, weights, int(np.prod(shape))).astype(float).reshape(shape)


def permuted(strata: Codes, attribute: Codes, label: Codes, weights: Floats | None, rng: np.random.Generator) -> Floats:
    """The information when the attribute is dealt out anew within strata, `N_PERMUTATIONS` times.

    A row keeps its label and its weight. How many rows of each group get each (label, weight) is hypergeometric, so
    the rows are never shuffled. More than `WEIGHT_CLASSES` different weights are taken as their mean within classes of
    equal shares of the rows.
    """
    kind, worth = _weight_classes(weights, len(label))
    cells = Codes("", label.codes.astype(np.int64) * worth.size + kind, tuple(range(label.size * worth.size)))  # type: ignore[arg-type]
    there = table(strata, attribute, cells, None).astype(np.int64)
    sizes, pool = there.sum(axis=2), there.sum(axis=1)
    block = max(1, BLOCK // max(1, pool.size))
    out = [
        information(_dealt(sizes, pool, min(block, N_PERMUTATIONS - start), label.size, worth, rng))
        for start in range(0, N_PERMUTATIONS, block)
    ]
    return np.concatenate(out)


def _dealt(
    sizes: NDArray[np.int64], pool: NDArray[np.int64], draws: int, labels: int, worth: Floats, rng: np.random.Generator
) -> Floats:
    """Weighted tables (draws, strata, attribute, label): all strata and draws of a group and cell at once."""
    left = np.broadcast_to(pool, (draws, *pool.shape)).copy()
    out = np.zeros((draws, pool.shape[0], sizes.shape[1], labels))
    for group in range(sizes.shape[1]):
        remaining = np.broadcast_to(sizes[:, group], (draws, pool.shape[0])).copy()
        beyond = left.sum(axis=2)
        for cell in range(pool.shape[1]):
            beyond -= left[:, :, cell]
            took = rng.hypergeometric(left[:, :, cell], beyond, remaining)
            left[:, :, cell] -= took
            remaining -= took
            out[:, :, group, cell // worth.size] += took * worth[cell % worth.size]
    return out


def _weight_classes(weights: Floats | None, n: int) -> tuple[NDArray[np.intp], Floats]:
    """Each row's class of weights, and the weight it stands for."""
    if weights is None:
        return np.zeros(n, dtype=np.intp), np.ones(1)
    values, kind = np.unique(weights, return_inverse=True)
    if values.size <= WEIGHT_CLASSES:
        return kind, values
    rank = np.empty(n, dtype=np.intp)
    rank[np.argsort(weights, kind="stable")] = np.arange(n)
    kind = rank * WEIGHT_CLASSES // n
    return kind, mean_by(kind, weights, WEIGHT_CLASSES)


def equal_shares(values: Floats, bins: int, weights: Floats | None) -> Floats:
    """Edges of bins with equal shares of the weight, from the smallest value to the largest; NaN are left out.

    >>> equal_shares(np.array([1.0, 2.0, 3.0, 4.0]), 2, None).tolist()
    [1.0, 2.0, 4.0]
    """
    known = ~np.isnan(values)
    if weights is not None:
        known &= weights > 0
    w = None if weights is None else weights[known]
    levels = np.linspace(0, 1, bins + 1)
    return np.unique(np.quantile(values[known], levels, weights=w, method="inverted_cdf"))
