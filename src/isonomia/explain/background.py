"""The rows that absent players take their values from."""

from __future__ import annotations

import numpy as np

from isonomia.counting import sum_by
from isonomia.errors import NotApplicable
from isonomia.explain.space import Space
from isonomia.typing import Floats


def distinct(rows: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """The distinct rows and the shares of their weights.

    >>> rows, weights = distinct(np.array([[1.0], [2.0], [1.0]]), np.ones(3))
    >>> rows.ravel().tolist(), weights.round(3).tolist()
    ([1.0, 2.0], [0.667, 0.333])
    """
    found, inverse = np.unique(rows, axis=0, return_inverse=True)
    total = sum_by(inverse.ravel(), weights, len(found))
    return found, total / total.sum()


def summarised(space: Space, rows: Floats, weights: Floats, clusters: int) -> tuple[Floats, Floats]:
    """Centres of k-means with their shares, coordinates moved to the nearest value seen, as ``shap.kmeans`` does."""
    from sklearn.cluster import KMeans

    if not space.encoded or np.isnan(rows).any():
        raise NotApplicable(
            "a background of k-means centres needs columns of numbers without missing values; leave out `clusters`"
        )
    found = KMeans(n_clusters=min(clusters, len(rows)), random_state=0, n_init=10).fit(rows, sample_weight=weights)
    centres = found.cluster_centers_
    for index in range(rows.shape[1]):
        seen = np.unique(rows[:, index])
        after = np.clip(np.searchsorted(seen, centres[:, index]), 1, max(1, len(seen) - 1))
        below, above = seen[after - 1], seen[np.minimum(after, len(seen) - 1)]
        centres[:, index] = np.where(centres[:, index] - below <= above - centres[:, index], below, above)
    return distinct(centres, sum_by(found.labels_, weights, len(centres)))
