"""A logistic regression under parity: fits at prices, how rates answer to them, and a boundary moved by counting.

A fit at prices is warm-started from the last; how its decisions answer to another price follows from the curvature of
the loss, so that a handful of fits is enough for any number of groups and for two rates at once.
"""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge

from isonomia.counting import sum_by
from isonomia.mitigation.before.ranking import take_rows
from isonomia.mitigation.training.ensemble import Ensemble
from isonomia.mitigation.training.parity import Parity
from isonomia.mitigation.training.prices import Found, Tried, mix, search_prices
from isonomia.typing import Bools, Floats

#: Rows on which the prices are guessed before all rows are fitted.
FEW = 8000
#: Columns up to which the curvature of the loss is inverted.
MAX_COLUMNS = 1500
#: The width of the band around the boundary whose people answer to a price, in standard deviations of the scores.
BAND = 0.25
#: Shifts that are tried at each width, and the widths, in standard deviations of the scores.
SHIFTS, WIDTHS = 9, (0.3, 0.04, 0.006)
#: Directions along which the boundary is moved at most.
DIRECTIONS = 12


def fit_at_prices(
    last: LogisticRegression,
    X: Any,
    classes: NDArray[Any],
    parity: Parity,
    eps: float,
    rounds: int,
    *,
    draws: int | None = None,
) -> tuple[Any, int]:
    """The logistic regression with the fewest errors whose gap is within eps, and the number of fits on all rows.

    `draws` is the seed of a mixture of regressions, one of which is drawn for each decision; None for a single one.
    """
    model = clone(last).set_params(warm_start=True)
    if model.solver == "lbfgs" and isinstance(X, np.ndarray) and X.shape[0] > 10 * X.shape[1]:
        model.set_params(solver="newton-cholesky")  # the same optimum, in a few steps
    start = None
    with sklearn.config_context(enable_metadata_routing=False):
        some = np.arange(0, len(parity.positive), max(len(parity.positive) // FEW, 1))
        if len(some) <= len(parity.positive) / 2 and parity.take(some).smallest() >= 100:
            guess = _search(model, take_rows(X, some), classes, parity.take(some), eps, rounds, None)
            start = guess.best.prices if guess.best.prices.any() else None
        found = _search(model, X, classes, parity, eps, rounds, start)
    best, fits = found.best.model, len(found.tried)
    given = {"warm_start": last.warm_start, "solver": last.solver}
    if not found.best.prices.any():
        return best.set_params(**given), fits
    sharpened = deepcopy(best)
    _sharpen(sharpened, X, parity, eps)
    if draws is None:
        return sharpened.set_params(**given), fits
    predicted = np.asarray(sharpened.decision_function(X)) > 0
    moved = Tried(
        prices=found.best.prices, figures=parity.rates(predicted), error=parity.error(predicted), model=sharpened
    )
    every = [*found.tried, moved]
    shares = mix(every, eps)
    kept = [one.model.set_params(**given) for one, share in zip(every, shares, strict=True) if share > 0]
    return Ensemble(kept, shares[shares > 0], chance=True, seed=draws), fits


def _search(
    model: Any, X: Any, classes: NDArray[Any], parity: Parity, eps: float, rounds: int, start: Floats | None
) -> Found:
    def fit(prices: Floats) -> Tried:
        costs = parity.costs(prices)
        sizes = np.abs(costs)
        with warnings.catch_warnings():
            # at the optimum rounding stops Newton's line search; scikit-learn then ends with lbfgs by itself
            warnings.filterwarnings("ignore", message="Line search of Newton", category=ConvergenceWarning)
            model.fit(X, classes[(costs < 0).astype(int)], sample_weight=sizes / sizes.mean())
        score = np.asarray(model.decision_function(X), dtype=float)
        predicted = score > 0
        return Tried(
            prices=prices,
            figures=parity.rates(predicted),
            error=parity.error(predicted),
            model=deepcopy(model),
            state=(score, costs),
        )

    def response(one: Tried) -> Floats:
        score, costs = one.state
        return _response(parity, X, score, costs, 1 / model.C)

    return search_prices(fit, response, parity.mass(), eps, rounds, start)


def _response(parity: Parity, X: Any, score: Floats, costs: Floats, penalty: float) -> Floats:
    """-dr/dp of a logistic regression at its optimum: B'H^-1 A, (cells, cells).

    H is the curvature of the loss, A how its slope answers to each price, and B how each rate answers to the
    coefficients, by the density of the scores at the boundary.
    """
    cells = parity.mass().size
    if X.shape[1] > MAX_COLUMNS:
        return np.diag(0.5 / parity.mass().ravel())
    p, scale = expit(score), np.abs(costs).mean()
    band = max(BAND * float(score.std()), 1e-12)
    near = expit(score / band)
    moved = np.where(costs > 0, p, 1 - p) / scale
    A, B = (_by_cell(parity, X, one) for one in (moved, near * (1 - near) / band))
    curve = np.abs(costs) / scale * p * (1 - p)
    H = _gram(X, curve)
    H[np.diag_indices(X.shape[1])] += penalty
    H += 1e-9 * np.trace(H) * np.eye(len(H))
    return np.asarray(B.T @ np.linalg.solve(H, A)).reshape(cells, cells)


def _by_cell(parity: Parity, X: Any, each: Floats) -> Floats:
    """Sums of share x each x features (and 1) over the people of every cell: (features + 1, cells)."""
    codes, size = parity.groups.codes, parity.groups.size
    spread = np.zeros((len(each), size))
    parts = []
    for share in parity.shares():
        spread[np.arange(len(each)), codes] = share * each
        parts.append(np.vstack([np.asarray(X.T @ spread), sum_by(codes, share * each, size)]))
    return np.hstack(parts)


def _gram(X: Any, weights: Floats) -> Floats:
    """X'WX with a column of ones beside X."""
    sparse = issparse(X)
    weighted = X.multiply(weights[:, None]).tocsr() if sparse else X * weights[:, None]
    inner = X.T @ weighted
    side = np.asarray(X.T @ weights).ravel()
    square = np.asarray(inner.toarray() if sparse else inner)
    return np.block([[square, side[:, None]], [side[None, :], np.array([[weights.sum()]])]])


def _sharpen(model: Any, X: Any, parity: Parity, eps: float) -> None:
    """Move the boundary of a linear model where that leaves fewer errors within the limit.

    A fit under costs minimises a smooth loss, not errors: along the directions that tell a group from the others, and
    over all cuts, errors are counted exactly.
    """
    contrasts = _contrasts(parity)
    score = np.asarray(model.decision_function(X), dtype=float)
    best = _merit(parity, score > 0, eps)
    for contrast in contrasts:
        line = Ridge(alpha=1.0).fit(X, contrast * len(contrast), sample_weight=parity.weights * len(contrast))
        direction = np.asarray(line.predict(X), dtype=float)
        shift, cut, merit = _along(score, direction, parity, eps)
        if merit >= best:
            continue
        model.coef_ = model.coef_ + shift * line.coef_[None, :]
        model.intercept_ = model.intercept_ + shift * line.intercept_ - cut
        score, best = score + shift * direction - cut, merit


def _contrasts(parity: Parity) -> list[Floats]:
    """What each row adds to the difference between one group and the others: per comparison and group."""
    groups = range(1, 2) if parity.groups.size == 2 else range(parity.groups.size)
    found = []
    for share in parity.shares():
        for group in groups:
            own = parity.groups.codes == group
            found.append(np.where(own, share, -share / max(parity.groups.size - 1, 1)))
    return found[:DIRECTIONS]


def _merit(parity: Parity, decisions: Bools, eps: float) -> tuple[float, float]:
    """Smaller is better: what the gap exceeds the limit by, then errors."""
    return round(max(parity.gap(decisions) - eps, 0.0), 12), round(parity.error(decisions), 12)


def _along(score: Floats, direction: Floats, parity: Parity, eps: float) -> tuple[float, float, tuple[float, float]]:
    """The shift d and the cut c of score + d direction > c with the best merit, and that merit."""
    spread = float(direction.std())
    scale = float(score.std() / spread) if spread > 0 else 0.0
    costs = parity.weights * (1.0 - 2.0 * parity.positive)
    base, shares = float(parity.weights @ parity.positive), parity.shares()
    centre, best = 0.0, (0.0, 0.0, (np.inf, np.inf))
    for width in WIDTHS:
        for step in np.linspace(-width, width, SHIFTS) * scale:
            cut, merit = _best_cut(score + (centre + step) * direction, base, costs, shares, parity, eps)
            if merit < best[2]:
                best = (centre + step, cut, merit)
        centre = best[0]
    return best


def _best_cut(
    score: Floats, base: float, costs: Floats, shares: Floats, parity: Parity, eps: float
) -> tuple[float, tuple[float, float]]:
    """The cut with the best merit, counted over all of them."""
    order = np.argsort(-score)
    s, codes = score[order], parity.groups.codes[order]
    error = base + np.cumsum(costs[order])
    gap = np.zeros(s.size)
    for share in shares:
        running = np.zeros((parity.groups.size, s.size))
        running[codes, np.arange(s.size)] = share[order]
        np.maximum(gap, np.ptp(np.cumsum(running, axis=1), axis=0), out=gap)
    excess = np.maximum(gap - (eps - 1e-9), 0.0)  # sums are rounded
    usable = np.append(s[1:] < s[:-1], True)
    least = float(excess[usable].min())
    at = int(np.argmin(np.where(usable & (excess <= least + 1e-12), error, np.inf)))
    below = s[at + 1] if at + 1 < s.size else s[at] - 1.0
    return float((s[at] + below) / 2), (round(least, 12), round(float(error[at]), 12))
