"""The bootstrap on counts: resampled tables are drawn from the cells, the rows are never touched again.

Drawing n rows with replacement and counting them gives exactly a multinomial draw over the cells, so a replicate costs
one draw per cell instead of one per row. Where rows carry weights or values, the sum over a cell that was drawn m times
has, given m, the mean and covariance of m draws from that cell; it is drawn from the normal with those moments.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isonomia.counting.tally import Tally
from isonomia.parameters import Integer, validated


@validated(n_boot=Integer(1))
def resample_counts(n: NDArray[np.int64], n_boot: int, seed: int | np.random.Generator) -> NDArray[np.int64]:
    """Bootstrap replicates of a table of counts: shape ``(n_boot, *n.shape)``.

    Examples
    --------
    >>> draws = resample_counts(np.array([[30, 70], [50, 50]]), 3, seed=0)
    >>> draws.shape, draws.sum(axis=(1, 2)).tolist()
    ((3, 2, 2), [200, 200, 200])
    """
    rng = np.random.default_rng(seed)
    flat = n.ravel()
    total = int(flat.sum())
    if total == 0:
        return np.zeros((n_boot, *n.shape), dtype=np.int64)
    used = np.flatnonzero(flat)
    drawn = rng.multinomial(total, flat[used] / total, size=n_boot)
    if used.size == flat.size:
        return drawn.reshape(n_boot, *n.shape)
    out = np.zeros((n_boot, flat.size), dtype=np.int64)
    out[:, used] = drawn
    return out.reshape(n_boot, *n.shape)


def resample(table: Tally, n_boot: int, seed: int | np.random.Generator) -> NDArray[np.float64] | NDArray[np.int64]:
    """Bootstrap replicates of a tally's weighted counts: shape ``(n_boot, *table.w.shape)``.

    Given m draws from a cell whose rows have mean weight a and variance s^2, the replicate's sum of weights is drawn
    as m a + sqrt(m) s z with z standard normal (never below 0): exact in mean and variance.
    """
    rng = np.random.default_rng(seed)
    m: NDArray[np.int64] = resample_counts(table.n, n_boot, rng)
    if not table.weighted:
        return m
    size = np.maximum(table.n, 1)
    mean = table.w / size
    spread = np.sqrt(np.maximum(table.w2 / size - mean * mean, 0.0))
    drawn: NDArray[np.float64] = np.maximum(m * mean + np.sqrt(m) * spread * rng.standard_normal(m.shape), 0.0)
    return drawn


def resample_sums(
    n: NDArray[np.int64],
    sums: NDArray[np.float64],
    products: NDArray[np.float64],
    n_boot: int,
    seed: int | np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Bootstrap replicates of cell counts and of several sums over each cell.

    Parameters
    ----------
    n : (G,) rows in each cell
    sums : (G, Q) sum of each of Q row quantities over each cell
    products : (G, Q, Q) sum of their products

    Returns
    -------
    counts (n_boot, G) and sums (n_boot, G, Q), with the mean and the covariance of the ordinary bootstrap;
    NaN for a cell whose numbers are too large for a covariance.
    """
    rng = np.random.default_rng(seed)
    m: NDArray[np.int64] = resample_counts(n, n_boot, rng)
    size = np.maximum(n, 1)[:, None]
    mean = sums / size
    covariance = products / size[..., None] - mean[:, :, None] * mean[:, None, :]
    finite = np.atleast_1d(np.isfinite(covariance).all(axis=(1, 2)))  # squares of numbers beyond 1e154 are not
    values, vectors = np.linalg.eigh(np.where(finite[:, None, None], covariance, 0.0))
    root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    noise = np.einsum("gqk,bgk->bgq", root, rng.standard_normal((n_boot, *sums.shape)))
    drawn = m[..., None] * mean + np.sqrt(m)[..., None] * noise
    return m, np.where(finite[:, None], drawn, np.nan)
