"""Exact interventional Shapley values of tree ensembles, of every row or as weighted means over rows.

The value of a leaf depends on a row only through its bit mask (see `paths`), so the background is counted once per leaf
and mask, the counts become a table (see `tables`), and rows look their mask up. The work grows with rows plus
background rows, not with their product. Masks of rows x leaves exist for a block of trees and a portion of rows
at a time.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from isonomia.errors import NotApplicable
from isonomia.explain.trees.kernel import Kernel, LookUp
from isonomia.explain.trees.paths import passing
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
    values = _look_up(kernel, kernel.look_ups(rows, background, weights), len(rows), weights.shape[1])
    several = background_weights is not None and background_weights.ndim == 2
    return values if several else values[..., 0]


def path_values(trees: TreeEnsemble, rows: Floats, player_of_column: Indices) -> tuple[Floats, Floats]:
    """Path-dependent Shapley values (n, M, K) of the raw output, and the output (K,) without any player.

    A column that is absent sends a row down both branches, weighted by the training rows (`TreeEnsemble.cover`) there.
    """
    if np.isnan(trees.cover).any():
        raise NotApplicable("the model does not keep how many training rows reached each node")
    kernel = Kernel(trees, player_of_column)
    values = _look_up(kernel, kernel.path_look_ups(rows), len(rows), 1)[..., 0]
    reach = np.zeros(len(trees.feature))
    reach[trees.roots] = 1.0
    node = trees.roots
    while len(node := node[trees.feature[node] >= 0]):
        for child in (trees.left[node], trees.right[node]):
            reach[child] = reach[node] * passing(trees.cover[child], trees.cover[node])
        node = np.concatenate([trees.left[node], trees.right[node]])
    leaf = trees.feature < 0
    return values, (trees.base + reach[leaf] @ trees.value[leaf]) / trees.divisor


def _weights(given: Floats | None, count: int) -> Floats:
    if given is None:
        return np.full((count, 1), 1.0 / max(1, count))
    return np.asarray(given, dtype=float).reshape(count, -1)


def _look_up(kernel: Kernel, look_ups: Iterable[LookUp], n: int, width: int) -> Floats:
    """Values (n, M, K, R) from look-ups with R tables each."""
    trees = kernel.trees
    total = np.zeros((trees.value.shape[1], width, n, kernel.players + 1))
    for look in look_ups:
        for pair in np.ndindex(*look.tables.shape[:2]):
            table = look.tables[pair]
            if table.any():
                total[pair][look.part, look.columns] += look.rows @ table
    return total[..., :-1].transpose(2, 3, 0, 1) / trees.divisor
