"""Numbers under parity: means of predictions or of errors that are alike between groups, or a bound on group errors.

For squared error a price on the predictions of a group is a shift of its targets: sum_i w_i (f_i - y_i)^2 + p_g mean_g
f is least where f is fitted to y - p_g / (2 W_g). A bound on the groups' mean squared errors is a price on each group's
errors: its rows count more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from isonomia.counting import Codes, mean_by, sum_by
from isonomia.mitigation._training import fit_weighted, weight_argument
from isonomia.mitigation.training.prices import Tried, search_prices
from isonomia.typing import Floats

#: The share of a limit that is aimed at, and the share from which a result is near enough.
AIM, NEAR = 0.995, 0.99
#: How much more than at first a group's rows count at most.
MOST = 1e6


def fit_equal_means(
    model: Any,
    X: Any,
    y: NDArray[Any],
    groups: Codes,
    weights: Floats | None,
    limit: float,
    rounds: int,
    *,
    of_errors: bool = False,
) -> tuple[Any, int]:
    """The model whose mean predictions (or mean errors) differ by at most the limit, and the number of fits."""
    used = weights if weight_argument(model) else None
    mass = sum_by(groups.codes, weights, groups.size)
    mass = mass / mass.sum()

    def trained(target: Floats) -> tuple[Any, Floats]:
        fitted = fit_weighted(clone(model), X, target, used, owner="Reduce")
        return fitted, np.asarray(fitted.predict(X), dtype=float)

    def means(numbers: Floats) -> Floats:
        return mean_by(groups.codes, numbers, groups.size, weights)[None]

    def fit(prices: Floats) -> Tried:
        fitted, predicted = trained(y - (prices[0] / (2 * mass))[groups.codes])
        error = float(np.average((predicted - y) ** 2, weights=weights))
        return Tried(prices=prices, figures=means(predicted - y if of_errors else predicted), error=error, model=fitted)

    answers: list[Floats] = []

    def response(_: Tried) -> Floats:
        """How the means answer to a shift: exact for least squares, where predictions are linear in the targets."""
        if not answers:
            columns = [means(trained((groups.codes == g).astype(float))[1])[0] for g in range(groups.size)]
            answers.append(np.stack(columns, axis=1) / (2 * mass))
        return answers[0]

    found = search_prices(fit, response, mass[None], limit, rounds, aim=AIM, near=NEAR)
    return found.best.model, len(found.tried) + (groups.size if answers else 0)


def fit_bounded_losses(
    model: Any, X: Any, y: NDArray[Any], groups: Codes, weights: Floats | None, bound: float, rounds: int
) -> tuple[Any, int]:
    """The model with the smallest squared error whose groups' mean squared errors are at most the bound.

    A group's rows count (loss / bound)^2 times as much in the next round, but never less than they did at first. Where
    no round keeps the bound, the one that exceeds it least is returned.
    """
    mass = sum_by(groups.codes, weights, groups.size)
    base = np.ones(len(y)) if weights is None else weights
    factor, power = np.ones(groups.size), 2.0
    best: tuple[tuple[float, float], Any] = ((np.inf, np.inf), None)
    above = None
    for number in range(1, rounds + 1):
        rows = factor[groups.codes] * base
        fitted = fit_weighted(clone(model), X, y, rows / rows.mean(), owner="Reduce")
        losses = mean_by(groups.codes, (np.asarray(fitted.predict(X)) - y) ** 2, groups.size, weights)
        merit = (round(max(float(losses.max()) - bound, 0.0), 12), float(np.average(losses, weights=mass)))
        best = min(best, (merit, fitted), key=lambda one: one[0])
        kept = losses.max() <= bound
        if kept and (number == 1 or losses.max() >= NEAR * bound):
            return best[1], number
        power = power if above in (None, not kept) else power / 2  # went past the bound: smaller steps
        above = not kept
        factor = np.clip(factor * (losses / (AIM * bound)) ** power, 1.0, MOST)
    return best[1], rounds
