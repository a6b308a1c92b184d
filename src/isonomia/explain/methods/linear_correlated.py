"""A linear model whose columns are correlated: absent columns take the value that the present ones let expect."""

from __future__ import annotations

import numpy as np

from isonomia.errors import NotApplicable
from isonomia.explain.explainer import EXPLAINERS, Explainer, Problem, Values
from isonomia.explain.methods.enumeration import all_coalitions, shapley_matrix
from isonomia.explain.methods.linear import coefficients, refuses
from isonomia.explain.players import Players
from isonomia.parameters import Integer, Parameter
from isonomia.typing import Bools, Floats, Indices

#: Up to so many columns every coalition is tried.
ENUMERATED = 12
#: Directions with a smaller share of the variance than this are taken to have none.
RANK = 1e-10
#: Pairs of orders that are worked on together.
BLOCK = 32


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
    half = rng.random((max(2, orders // 2), len(players))).argsort(axis=1)
    found = []
    for part in np.array_split(half, -(-len(half) // BLOCK)):
        each = [_along(players, order, covariance, weights) for order in (part, part[:, ::-1])]
        found.append((each[0] + each[1]) / 2)
    return np.concatenate(found)


def _along(players: Players, order: Indices, covariance: Floats, weights: Floats) -> Floats:
    """What each player adds when players join in an order: (orders, M, D, K).

    Along an order every column is taken for what the columns before it do not tell of it: elimination of the covariance
    gives those remainders, which are uncorrelated, for all coalitions of the order at once. A column that the ones
    before it determine has none.
    """
    turn = order.argsort(axis=1)[:, players.owner].argsort(axis=1, kind="stable")  # coordinates as they join
    size = turn.shape[1]
    S = covariance[turn[:, :, None], turn[:, None, :]]
    pull = (covariance @ weights)[turn]
    remainder = np.broadcast_to(np.eye(size), S.shape).copy()
    least = RANK * np.diagonal(S, axis1=1, axis2=2)
    for k in range(size):
        with np.errstate(divide="ignore"):
            scale = np.where(S[:, k, k] > least[:, k], 1 / S[:, k, k], 0.0)
        share = (S[:, k + 1 :, k] * scale[:, None])[:, :, None]
        S[:, k + 1 :, k + 1 :] -= share * S[:, None, k, k + 1 :]
        pull[:, k + 1 :] -= share * pull[:, None, k]
        remainder[:, k + 1 :, : k + 1] -= share * remainder[:, None, k, : k + 1]
        pull[:, k] *= scale[:, None]
    back = turn.argsort(axis=1)
    lead = np.arange(len(turn))[:, None]
    remainder = remainder[lead[:, :, None], back[:, :, None], back[:, None, :]]
    added = remainder[..., None] * pull[lead, back][:, :, None, :]
    return np.moveaxis(players.total(np.moveaxis(added, 1, -1)), -1, 1)


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
