"""Exact interventional Shapley values of tree ensembles, of every row or as weighted means over rows.

The value of a leaf depends on a row only through its bit mask (see `paths`), so the background is counted once per leaf
and mask, the counts become a table (see `tables`), and rows look their mask up. The work grows with rows plus
background rows, not with their product. Masks of rows x leaves exist for a block of trees and a portion of rows
at a time.
"""

from __future__ import annotations

import numpy as np

from isonomia.explain.trees.kernel import Kernel
from isonomia.models import TreeEnsemble
from isonomia.typing import Floats, Indices


def tree_values(
    trees: TreeEnsemble,
    rows: Floats,
    background: Floats,
    player_of_column: Indices,
    *,
    background_weights: Floats | None = None,
    lead: int | None = None,
) -> Floats:
    """Shapley values (n, M, K) of the raw output for `encode`d rows, against the mean over background rows.

    Parameters
    ----------
    rows, background : (n, columns) and (m, columns) arrays
        From `TreeEnsemble.encode`.
    player_of_column : (columns,) array
        The player 0..M-1 of each column; columns of one player change together. -1 for a column that never changes.
    background_weights : (m,) or (m, R) array, optional
        Weights of the background rows, used as they are (equal and summing to 1 by default). Several columns of
        weights give values (n, M, K, R).
    lead : int, optional
        A player: the values are its Shapley interaction index with every other player (0 for itself).

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from isonomia.models import read_trees
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> trees = read_trees(DecisionTreeRegressor().fit(X, [0.0, 1.0, 2.0, 3.0]))
    >>> tree_values(trees, X[3:], X[:1], np.array([0, 1]))[:, :, 0].tolist()
    [[2.0, 1.0]]
    """
    kernel, weights = Kernel(trees, player_of_column, lead=lead), _weights(background_weights, len(background))
    total = np.zeros((trees.value.shape[1], weights.shape[1], len(rows), kernel.players + 1))
    for look in kernel.look_ups(rows, background, weights):
        value = trees.value[look.leaf]
        for k in np.flatnonzero(value.any(axis=0)):
            for r, table in enumerate(look.tables):
                total[k, r][look.part, look.columns] += look.rows @ (table * value[:, k, None])
    values = total[..., :-1].transpose(2, 3, 0, 1) / trees.divisor
    several = background_weights is not None and background_weights.ndim == 2
    return values if several else values[..., 0]


def tree_group_means(
    trees: TreeEnsemble,
    rows: Floats,
    background: Floats,
    player_of_column: Indices,
    *,
    row_weights: Floats,
    background_weights: Floats | None = None,
) -> Floats:
    """Weighted sums (G, M, K) of the Shapley values of rows: ``row_weights.T @ values``, without the values.

    `row_weights` (n, G) has one column per group, for means with a sum of 1. See `tree_values` for the rest.
    """
    kernel, weights = Kernel(trees, player_of_column), _weights(background_weights, len(background))
    total = np.zeros((trees.value.shape[1], row_weights.shape[1], kernel.players + 1))
    for look in kernel.look_ups(rows, background, weights[:, :1]):
        counts, value = (look.rows.T @ row_weights[look.part]).T, trees.value[look.leaf]
        for k in np.flatnonzero(value.any(axis=0)):
            total[k][:, look.columns] += counts @ (look.tables[0] * value[:, k, None])
    return total[..., :-1].transpose(1, 2, 0) / trees.divisor


def _weights(given: Floats | None, count: int) -> Floats:
    if given is None:
        return np.full((count, 1), 1.0 / max(1, count))
    return np.asarray(given, dtype=float).reshape(count, -1)
