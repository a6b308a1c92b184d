"""How natural a row is: the density of mixed rows under correlated latent normals."""

from __future__ import annotations

import numpy as np

from isonomia.data.synthetic.truncated import invert
from isonomia.typing import Floats

#: How many rows x draws are in memory at once.
_BLOCK = 1 << 19


def log_rectangles(correlation: Floats, low: Floats, high: Floats, *, draws: int, seed: int) -> Floats:
    """The log probability that correlated normals fall into a rectangle, one rectangle per row.

    Parameters
    ----------
    correlation : array, shape (d, d)
    low, high : arrays, shape (n, d)
    draws : int
        Sequential draws a row (the GHK simulator): the probability is estimated without bias, its relative error
        shrinks with the square root of the draws. All rows share the same random numbers, so equal rows get equal
        figures.

    Examples
    --------
    >>> r = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> orthant = log_rectangles(r, np.zeros((1, 2)), np.full((1, 2), np.inf), draws=4096, seed=0)
    >>> round(float(np.exp(orthant[0])), 2)             # 1/4 + arcsin(r) / (2 pi)
    0.33
    """
    n, size = low.shape
    uniform = np.random.default_rng(seed).random((draws, size))
    root: Floats = np.asarray(np.linalg.cholesky(correlation), dtype=float)
    result = np.empty(n)
    step = max(1, _BLOCK // draws)
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        result[rows] = _block(root, low[rows], high[rows], uniform)
    return result


def _block(root: Floats, low: Floats, high: Floats, uniform: Floats) -> Floats:
    draws, size = uniform.shape
    noise = np.empty((size, low.shape[0], draws))
    logs = np.zeros((low.shape[0], draws))
    for j in range(size):
        shift = np.tensordot(root[j, :j], noise[:j], axes=1) if j else np.zeros((low.shape[0], draws))
        a, b = (low[:, [j]] - shift) / root[j, j], (high[:, [j]] - shift) / root[j, j]
        drawn, mass = invert(a, b, uniform[:, j])
        noise[j] = np.clip(drawn, -40, 40)
        logs += np.log(np.maximum(mass, 1e-300))
    top = logs.max(axis=1)
    return np.asarray(top + np.log(np.exp(logs - top[:, None]).mean(axis=1)), dtype=float)
