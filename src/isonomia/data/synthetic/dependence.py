"""The latent correlation under a table: how strongly must normals correlate for the values to rank-correlate as seen?

Ranks of a column with few values are a step function g(Z) of its latent normal, so they correlate less than the
normals do. With Hermite coefficients c_k of g, E[g_i(Z_i) g_j(Z_j)] = sum_k c_ik c_jk rho^k for normals of correlation
rho (Mehler); the sum grows with rho and is inverted by bisection. Without this step a copula fitted to categories
thins their dependence out twice, once when it is fitted and once when it is sampled.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isonomia.typing import Floats

#: Terms of the Hermite series; enough for |rho| up to the bound.
_TERMS = 160
#: Terms summed at once.
_BLOCK = 16
#: Latent correlations stay within this bound: beyond it two columns are one.
_BOUND = 0.99


def hermite(columns: Sequence[tuple[Floats, Floats]]) -> Floats:
    """Normalised Hermite coefficients c_1..c_K, divided by the standard deviation, of step functions of a normal.

    Parameters
    ----------
    columns : sequence of (edges, heights)
        m + 1 borders from -inf to inf, and m heights, of each step function.

    Returns
    -------
    array (columns, K)
        Zeros for a function that has no steps.

    Notes
    -----
    With he_k = He_k / sqrt(k!), the integral of he_k phi over (a, b] is (he_{k-1}(a) phi(a) - he_{k-1}(b) phi(b)) /
    sqrt(k). The steps of all functions are taken through the recursion together.

    >>> c = hermite([(np.array([-np.inf, 0.0, np.inf]), np.array([0.25, 0.75]))])[0]
    >>> rho = 0.5
    >>> bool(abs((c**2 * rho ** np.arange(1, c.size + 1)).sum() - 2 / np.pi * np.arcsin(rho)) < 1e-12)
    True
    """
    from scipy.special import ndtr

    coefficients = np.zeros((len(columns), _TERMS))
    indices, steps, jumps = [], [], []
    for index, (edges, heights) in enumerate(columns):
        shares = np.diff(ndtr(edges))
        deviation = float(np.sqrt(shares @ (heights - float(shares @ heights)) ** 2))
        real = np.isfinite(edges[1:-1])
        if deviation >= 1e-12 and real.any():
            indices.append(index)
            steps.append(edges[1:-1][real])
            jumps.append(np.diff(heights)[real] / deviation)
    if not indices:
        return coefficients
    starts = np.cumsum([0, *map(len, steps[:-1])])
    inner, jump = np.concatenate(steps), np.concatenate(jumps)
    previous, current = np.zeros_like(inner), np.exp(-(inner**2) / 2) / np.sqrt(2 * np.pi)
    roots = np.sqrt(np.arange(_TERMS + 1))
    sums = np.empty((_TERMS, len(indices)))
    for k, (before, root) in enumerate(zip(roots[:-1].tolist(), roots[1:].tolist(), strict=True)):
        np.add.reduceat(current * jump, starts, out=sums[k])
        following = inner * current
        previous *= before
        following -= previous
        following /= root
        previous, current = current, following
    coefficients[indices] = sums.T / roots[1:]
    return coefficients


def _products(coefficients: Floats) -> Floats:
    """Products of the coefficients of any two columns, term by term: (blocks, terms of a block, d, d)."""
    by_term = np.ascontiguousarray(coefficients.T)
    products = by_term[:, :, None] * by_term[:, None, :]
    return np.asarray(products.reshape(-1, _BLOCK, *products.shape[1:]))


def _summed(products: Floats, latent: Floats) -> Floats:
    """The series: the sum of each block of terms, and Horner's rule over the blocks."""
    powers = np.empty((_BLOCK, *latent.shape))
    powers[0] = latent
    for k in range(1, _BLOCK):
        np.multiply(powers[k - 1], latent, out=powers[k])
    result = np.zeros_like(latent)
    for block in np.einsum("bkij,kij->bij", products, powers)[::-1]:
        result *= powers[-1]
        result += block
    return result


def latent_correlation(coefficients: Floats, target: Floats) -> Floats:
    """The latent correlations under observed rank correlations, pair by pair, by bisection.

    >>> c = hermite([(np.array([-np.inf, 0.0, np.inf]), np.array([0.0, 1.0]))] * 2)
    >>> seen = np.array([[1.0, 1 / 3], [1 / 3, 1.0]])   # two halves that agree in two thirds of rows
    >>> latent_correlation(c, seen).round(6).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    low, high = np.full_like(target, -_BOUND), np.full_like(target, _BOUND)
    products = _products(coefficients)
    for _ in range(32):
        middle = (low + high) / 2
        under = _summed(products, middle) < target
        low, high = np.where(under, middle, low), np.where(under, high, middle)
    latent = (low + high) / 2
    flat = ~coefficients.any(axis=1)
    latent[flat, :] = latent[:, flat] = 0.0
    latent[~np.isfinite(target)] = 0.0
    np.fill_diagonal(latent, 1.0)
    return np.asarray((latent + latent.T) / 2, dtype=float)


def pairwise_correlation(scores: Floats) -> Floats:
    """Pearson correlations of columns over the rows where both are present (NaN is missing); undefined ones are 0.

    >>> x = np.array([[1.0, 1.0], [2.0, np.nan], [3.0, 3.0]])
    >>> pairwise_correlation(x).round(12).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    there: NDArray[np.float64] = (~np.isnan(scores)).astype(float)
    centre = np.nansum(scores, axis=0) / np.maximum(there.sum(axis=0), 1)
    filled = np.where(there > 0, scores - centre, 0.0)
    n = np.maximum(there.T @ there, 1.0)
    mean = filled.T @ there / n
    product = filled.T @ filled / n - mean * mean.T
    square = (filled**2).T @ there / n - mean**2
    scale = np.sqrt(np.maximum(square * square.T, 0.0))
    return np.where(scale > 1e-15, product / np.where(scale > 1e-15, scale, 1.0), 0.0)


def nearest_correlation(matrix: Floats, *, smallest: float = 1e-4, rounds: int = 200) -> Floats:
    """The nearest correlation matrix whose eigenvalues are at least `smallest`.

    Alternating projections with Dykstra's correction: Higham, "Computing the nearest correlation matrix", IMA Journal
    of Numerical Analysis 22 (2002).

    >>> bad = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1.0]])
    >>> bool(np.linalg.eigvalsh(nearest_correlation(bad)).min() > 0)
    True
    """
    if np.linalg.eigvalsh(matrix).min() >= smallest:
        return matrix
    current, correction = matrix.copy(), np.zeros_like(matrix)
    for _ in range(rounds):
        shifted = current - correction
        values, vectors = np.linalg.eigh(shifted)
        projected = (vectors * np.maximum(values, smallest)) @ vectors.T
        correction = projected - shifted
        before, current = current, projected.copy()
        np.fill_diagonal(current, 1.0)
        if np.abs(current - before).max() < 1e-9:
            break
    values, vectors = np.linalg.eigh(current)
    current = (vectors * np.maximum(values, smallest)) @ vectors.T
    scale = np.sqrt(np.diag(current))
    return np.asarray(current / np.outer(scale, scale), dtype=float)
