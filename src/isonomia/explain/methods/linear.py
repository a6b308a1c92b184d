"""A linear model whose columns are taken as independent: exact, in one product of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from isonomia.errors import NotApplicable
from isonomia.explain.explainer import EXPLAINERS, Case, Explainer, Problem, Values
from isonomia.explain.space import Space
from isonomia.models.estimators import LINEAR_CLASSIFIERS, LINEAR_REGRESSORS
from isonomia.typing import Floats

#: How far coefficients may be off the model before it is not taken as linear.
TOLERANCE = 1e-8


def coefficients(space: Space, background: Floats) -> Floats | None:
    """What each output changes per unit of each coordinate (D, K); None for a model that is not linear in them."""
    estimator: Any = space.estimator
    if not space.encoded or type(estimator).__name__ not in (*LINEAR_CLASSIFIERS, *LINEAR_REGRESSORS):
        return None
    weights = np.atleast_2d(np.asarray(estimator.coef_, dtype=float)).T
    if weights.shape[1] == 1 and type(estimator).__name__ in LINEAR_CLASSIFIERS:
        weights = np.hstack([-weights, weights])
    elif weights.shape[1] > 1:
        weights = weights - weights.mean(axis=1, keepdims=True)
    sample = background[:: max(1, len(background) // 64)]
    answer, linear = space.ask(sample), sample @ weights
    off = np.ptp(linear[:, :, None] - answer[:, None, :], axis=0)
    columns = off.argmin(axis=0)
    if (off.min(axis=0) > TOLERANCE * max(1.0, float(np.abs(answer).max()))).any():
        return None
    return np.asarray(weights[:, columns])


def refuses(case: Case) -> str | None:
    name = type(case.space.estimator).__name__
    if name not in (*LINEAR_CLASSIFIERS, *LINEAR_REGRESSORS):
        return f"it is for linear models; the model is a {name}"
    return None if case.space.encoded else "the steps before the linear model mix columns"


def _run(problem: Problem) -> Values:
    """phi_j(x) = w_j (x_j - mean of x_j over the background), added up over the coordinates of a player."""
    weights = coefficients(problem.space, problem.background)
    if weights is None:
        raise NotApplicable("the output is not a linear function of the columns; use another method")
    centred = problem.rows - problem.weights @ problem.background
    parts = [problem.players.total(centred * weights[:, k]) for k in range(weights.shape[1])]
    base = problem.weights @ problem.space.ask(problem.background)
    return Values(values=np.stack(parts, axis=2)[:, problem.wanted], base=base)


EXPLAINERS.add(
    Explainer(
        id="linear",
        purpose="linear models, columns taken as independent: coefficient times distance from the mean",
        exact_for="log odds (or the number) of a linear model",
        outputs=("log_odds", "score", "number"),
        run=_run,
        refuses=refuses,
        order=20,
        reference="Strumbelj and Kononenko (2014)",
    )
)
