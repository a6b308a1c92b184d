"""Margins of boosted trees rescaled to probabilities, as shap gives them for ``model_output="probability"``.

These are not the Shapley values of the probability: the values of the margin against each background row b are scaled
by (p(x) - p(b)) / (m(x) - m(b)), so that they add up to p(x) - p(b), and averaged over b.
"""

from __future__ import annotations

import numpy as np

from isonomia.explain.trees.values import tree_values
from isonomia.models import TreeEnsemble
from isonomia.typing import Floats, Indices

#: Singular values below this share of the largest are dropped.
PRECISION = 1e-14
#: Numbers (rows x players x terms) that exist at a time.
PORTION = 1 << 24


def rescaled_values(
    trees: TreeEnsemble, rows: Floats, background: Floats, player_of_column: Indices, *, background_weights: Floats
) -> Floats:
    """Rescaled values (n, M, 1) of a model with a logistic link; the arguments are those of `tree_values`.

    The scaling is a smooth function of both margins, so it is a short sum of products f(m(x)) g(m(b)), and every
    product is one column of background weights.
    """
    people, others = (trees.link_scale * trees.raw(part)[:, 0] for part in (rows, background))
    left, right = _products(people, others)
    weights = right * background_weights[:, None] * trees.link_scale
    players = int(player_of_column.max(initial=-1)) + 1
    out = np.empty((len(rows), players))
    step = max(1, PORTION // (max(1, players) * weights.shape[1]))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        values = tree_values(trees, rows[part], background, player_of_column, background_weights=weights)
        out[part] = np.einsum("nmr,nr->nm", values[:, :, 0], left[part])
    return out[..., None]


def _products(people: Floats, others: Floats) -> tuple[Floats, Floats]:
    """Factors (n, R) and (m, R) whose products add up to the slope of the logistic function between two margins."""
    low, high = float(min(people.min(), others.min())), float(max(people.max(), others.max()))
    centre, half = (low + high) / 2, max((high - low) / 2, 1e-6)
    # Chebyshev interpolation converges as `ratio`^-count: the nearest poles of the function are at +- pi i
    ratio = np.pi / half + np.hypot(1.0, np.pi / half)
    count = int(np.ceil(36 / np.log(ratio))) + 4
    angles = (2 * np.arange(count) + 1) * np.pi / (2 * count)
    nodes, sign = np.cos(angles), np.where(np.arange(count) % 2, -1.0, 1.0) * np.sin(angles)
    core = _slope(centre + half * nodes[:, None], centre + half * nodes[None, :])
    first, sizes, second = np.linalg.svd(core)
    kept = sizes > PRECISION * sizes[0]
    left = _interpolation((people - centre) / half, nodes, sign) @ (first[:, kept] * sizes[kept])
    return left, _interpolation((others - centre) / half, nodes, sign) @ second[kept].T


def _interpolation(points: Floats, nodes: Floats, sign: Floats) -> Floats:
    """The matrix (points, nodes) of barycentric interpolation."""
    gap = points[:, None] - nodes
    exact = gap == 0.0
    share = sign / np.where(exact, 1.0, gap)
    share = np.where(exact.any(axis=1, keepdims=True), exact, share)
    return np.asarray(share / share.sum(axis=1, keepdims=True))


def _slope(a: Floats, b: Floats) -> Floats:
    """(sigma(a) - sigma(b)) / (a - b) for the logistic function sigma; its derivative where a = b.

    >>> _slope(np.array(0.0), np.array(0.0)).tolist()
    0.25
    """
    half = np.clip(np.abs(a - b) / 2, 0.0, 600.0)
    ratio = np.where(half < 1e-4, 1.0 + half**2 / 6, np.sinh(half) / np.maximum(half, 1e-4))
    return np.asarray(ratio / (4 * np.cosh(np.clip(a, -600, 600) / 2) * np.cosh(np.clip(b, -600, 600) / 2)))
