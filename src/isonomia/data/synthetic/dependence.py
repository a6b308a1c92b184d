"""The latent correlation under a table: how strongly must normals correlate for the values to rank-correlate as seen?

Ranks of a column with few values are a step function g(Z) of its latent normal, so they correlate less than the
normals do. With Hermite coefficients c_k of g, E[g_i(Z_i) g_j(Z_j)] = sum_k c_ik c_jk rho^k for normals of correlation
rho (Mehler); the sum grows with rho and is inverted by bisection. Without this step a copula fitted to categories
thins their dependence out twice, once when it is fitted and once when it is sampled.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isonomia.data.synthetic.marginals import Floats

#: Terms of the Hermite series; enough for |rho| up to the bound.
_TERMS = 160
#: Latent correlations stay within this bound: beyond it two columns are one.
_BOUND = 0.99


def hermite(edges: Floats, heights: Floats) -> Floats:
    """Normalised Hermite coefficients c_1..c_K, divided by the standard deviation, of a step function of a normal.

    Parameters
    ----------
    edges : array of m + 1 borders from -inf to inf
    heights : array of m heights

    Notes
    -----
    With he_k = He_k / sqrt(k!), the integral of he_k phi over (a, b] is (he_{k-1}(a) phi(a) - he_{k-1}(b) phi(b)) /
    sqrt(k).

    >>> c = hermite(np.array([-np.inf, 0.0, np.inf]), np.array([0.25, 0.75]))
    >>> rho = 0.5
    >>> bool(abs((c**2 * rho ** np.arange(1, c.size + 1)).sum() - 2 / np.pi * np.arcsin(rho)) < 1e-12)
    True
    """
    from scipy.special import ndtr

    shares = np.diff(ndtr(edges))
    mean = float(shares @ heights)
    deviation = float(np.sqrt(shares @ (heights - mean) ** 2))
    if deviation < 1e-12:
        return np.zeros(_TERMS)
    inner = edges[1:-1]
    inner = inner[np.isfinite(inner)]
    jumps = np.diff(heights)[np.isfinite(edges[1:-1])]
    coefficients = np.empty(_TERMS)
    previous, current = np.zeros_like(inner), np.exp(-(inner**2) / 2) / np.sqrt(2 * np.pi)
    roots = np.sqrt(np.arange(_TERMS + 1))
    for k, (before, root) in enumerate(zip(roots[:-1].tolist(), roots[1:].tolist(), strict=True)):
        coefficients[k] = current.dot(jumps)
        following = inner * current
        previous *= before
        following -= previous
        following /= root
        previous, current = current, following
    return np.asarray(coefficients / roots[1:] / deviation)


def rank_correlation(coefficients: Floats, latent: Floats) -> Floats:
    """The rank correlations that latent correlations give: (d, K) coefficients, (d, d) matrix -> (d, d) matrix."""
    return _summed(_products(coefficients), latent)


def _products(coefficients: Floats) -> Floats:
    """Products of the coefficients of any two columns, term by term, the last term first."""
    by_term = np.ascontiguousarray(coefficients.T[::-1])
    return np.asarray(by_term[:, :, None] * by_term[:, None, :])


def _summed(products: Floats, latent: Floats) -> Floats:
    """The series by Horner's rule."""
    result = np.zeros_like(latent)
    for term in products:
        result += term
        result *= latent
    return result


def latent_correlation(coefficients: Floats, target: Floats) -> Floats:
    """The latent correlations under observed rank correlations, pair by pair, by bisection.

    >>> c = np.stack([hermite(np.array([-np.inf, 0.0, np.inf]), np.array([0.0, 1.0]))] * 2)
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
