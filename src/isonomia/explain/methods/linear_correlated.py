"""A linear model whose columns are correlated: absent columns take the value that the present ones let expect."""

from __future__ import annotations

import numpy as np

from isonomia.errors import NotApplicable
from isonomia.explain.explainer import EXPLAINERS, Explainer, Problem, Values
from isonomia.explain.methods.enumeration import all_coalitions, shapley_matrix
from isonomia.explain.methods.linear import coefficients, refuses
from isonomia.explain.players import Players
from isonomia.parameters import Integer, Parameter
from isonomia.typing import Bools, Floats

#: Up to so many columns every coalition is tried.
ENUMERATED = 12
#: Directions with a smaller share of the variance than this are taken to have none.
RANK = 1e-10


def coalition_weights(players: Players, coalitions: Bools, covariance: Floats, weights: Floats) -> Floats:
    """c_S (C, D, K) with v(S) = base + (x - mean) c_S, for Gaussian columns.

    E[w x | x_S] = w mean + (x_S - mean_S) cov_SS^+ (cov w)_S, with the pseudo-inverse where columns repeat each other.
    """
    masks = players.coordinates(coalitions)
    pull = covariance @ weights
    out = np.zeros((len(coalitions), *weights.shape))
    size = masks.sum(axis=1)
    for count in np.unique(size[size > 0]):
        which = np.flatnonzero(size == count)
        inside = np.nonzero(masks[which])[1].reshape(len(which), count)
        inverse = np.linalg.pinv(covariance[inside[:, :, None], inside[:, None, :]], rcond=RANK, hermitian=True)
        out[which[:, None], inside] = inverse @ pull[inside]
    return out


def _enumerated(players: Players, covariance: Floats, weights: Floats) -> Floats:
    """The matrix (M, D, K) that turns x - mean into values."""
    each = coalition_weights(players, all_coalitions(len(players)), covariance, weights)
    return np.asarray(np.einsum("cj,cdk->jdk", shapley_matrix(len(players)), each, optimize=True))


def _sampled(players: Players, covariance: Floats, weights: Floats, orders: int, seed: int) -> Floats:
    """One such matrix per pair of an order and its reverse: (pairs, M, D, K)."""
    rng = np.random.default_rng(seed)
    m = len(players)
    half = rng.random((max(2, orders // 2), m)).argsort(axis=1)
    order = np.stack([half, half[:, ::-1]], axis=1).reshape(-1, m)
    rank = order.argsort(axis=1)
    joined = rank[:, None, :] < np.arange(m + 1)[None, :, None]
    distinct, inverse = np.unique(joined.reshape(-1, m), axis=0, return_inverse=True)
    each = coalition_weights(players, distinct, covariance, weights)
    steps = np.diff(each[inverse.reshape(len(order), m + 1)], axis=1)
    found = np.take_along_axis(steps, rank[:, :, None, None], axis=1)
    return np.asarray(found.reshape(len(half), 2, *found.shape[1:]).mean(axis=1))


def _run(problem: Problem) -> Values:
    weights = coefficients(problem.space, problem.background)
    if weights is None:
        raise NotApplicable("the output is not a linear function of the columns; use another method")
    mean = problem.weights @ problem.background
    centred = problem.background - mean
    covariance = (centred * problem.weights[:, None]).T @ centred
    base = problem.weights @ problem.space.ask(problem.background)
    rows, error = problem.rows - mean, None
    if len(problem.players) <= ENUMERATED:
        matrix = _enumerated(problem.players, covariance, weights)[problem.wanted]
    else:
        pairs = _sampled(problem.players, covariance, weights, problem.options["orders"], problem.seed)
        pairs = pairs[:, problem.wanted]
        matrix = pairs.mean(axis=0)
        off = (pairs - matrix) / np.sqrt(len(pairs) * (len(pairs) - 1))
        spread = np.einsum("pjdk,pjek->jdek", off, off, optimize=True)
        error = np.sqrt(np.maximum(np.einsum("nd,jdek,ne->njk", rows, spread, rows, optimize=True), 0.0))
    return Values(values=np.einsum("nd,jdk->njk", rows, matrix, optimize=True), base=base, error=error)


EXPLAINERS.add(
    Explainer(
        id="linear_correlated",
        purpose="linear models, columns taken as jointly Gaussian: absent columns follow the present ones",
        exact_for="log odds (or the number) of a linear model with up to 12 columns",
        outputs=("log_odds", "score", "number"),
        run=_run,
        refuses=refuses,
        pairwise=False,
        shares_draws=True,
        parameters=(Parameter("orders", Integer(4), 1000, "orders drawn where there are more than 12 columns"),),
        reference="Aas, Jullum and Loland (2021)",
    )
)
