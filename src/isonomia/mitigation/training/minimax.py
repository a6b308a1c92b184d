"""Minimax: training that lowers the loss of the worst group (Martinez and others 2020; Diana and others 2021).

Rounds of weighted fits: a group's weight is multiplied by exp(eta loss_g), so that groups with a high loss count more
in the next round. The average of the rounds' models approaches min over models of max over groups of loss_g.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from isonomia.counting import Codes, mean_by, sum_by
from isonomia.languages import msg
from isonomia.mitigation._training import TrainingMitigator, fit_weighted, prepare
from isonomia.mitigation.registry import MITIGATIONS, Mitigation
from isonomia.mitigation.training.ensemble import Ensemble
from isonomia.parameters import Integer, Number
from isonomia.typing import Floats


@dataclass(eq=False, repr=False, kw_only=True)
class Minimax(TrainingMitigator):
    """Estimators trained for the worst group's loss, averaged.

    Parameters
    ----------
    estimator : estimator, optional
        What is trained; its fit must take `sample_weight`. Two or more classes, or a regression. A logistic regression
        by default.
    sensitive : str or list of str, optional
        The columns of X that hold the protected attribute; several make intersections, an empty list makes everyone one
        group. None where the attribute comes as `sensitive_features`.
    rounds : int
        How many models are trained and averaged.
    eta : float
        How strongly a group's loss raises its weight; losses are divided by the largest one of the first round.
    drop_sensitive : bool
        Whether the columns of the protected attribute are hidden from the estimator.

    Attributes
    ----------
    estimator_ : estimator
        The average of the rounds' models.
    losses_before_, losses_ : array (groups,)
        The mean loss of each group on the training rows, by the plain model and by the average: log-loss of classes
        (share of errors where the estimator gives no probabilities), squared error of numbers.
    weights_ : array (rounds, groups)
        The groups' weights in every round.

    Notes
    -----
    The attribute is not read at decision time. The gain of the worst group is paid by the others: compare
    `losses_before_` with `losses_`, and both on other people.

    References
    ----------
    Martinez, Bertran and Sapiro (2020), Minimax Pareto fairness. Diana, Gill, Kearns, Kenthapadi and Roth (2021),
    Minimax group fairness: algorithms and experiments.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> few = np.arange(1000) < 100
    >>> x = rng.normal(size=1000)
    >>> fair = Minimax(LinearRegression()).fit(x[:, None], np.where(few, -x, x), sensitive_features=few)
    >>> fair.losses_before_.round(2).tolist(), bool(fair.losses_.max() < 0.5 * fair.losses_before_.max())
    ([0.04, 3.03], True)
    """

    __kinds__: ClassVar = {**TrainingMitigator.__kinds__, "rounds": Integer(1), "eta": Number(above=0)}

    rounds: int = 20
    eta: float = 1.0

    @classmethod
    def takes_prepared(cls, last: Any) -> bool:
        """Always."""
        return True

    def _train(
        self, model: Any, X: Any, y: NDArray[Any], groups: Codes, weights: Floats | None, options: dict[str, Any]
    ) -> Any:
        last, matrix, whole = prepare(model, X, y)

        def by_group(predictor: Any) -> Floats:
            return mean_by(groups.codes, self._losses(predictor, matrix, y), groups.size, weights)

        first = fit_weighted(clone(last), matrix, y, weights, owner="Minimax")
        self.losses_before_ = by_group(first)
        mass = sum_by(groups.codes, weights, groups.size)
        shares = mass / mass.sum()
        self.weights_, self.losses_ = shares[None], self.losses_before_
        scale = self.losses_before_.max()
        if groups.size == 1 or options["rounds"] == 1 or scale == 0:
            return whole(first)
        models, history, losses = [first], [shares], self.losses_before_
        for _ in range(options["rounds"] - 1):
            raised = history[-1] * np.exp(options["eta"] * losses / scale)
            history.append(raised / raised.sum())
            rows = (history[-1] / shares)[groups.codes]
            rows = rows if weights is None else rows * weights
            models.append(fit_weighted(clone(last), matrix, y, rows, owner="Minimax"))
            losses = by_group(models[-1])
        average = Ensemble(models, np.full(len(models), 1 / len(models)))
        self.weights_, self.losses_ = np.stack(history), by_group(average)
        return whole(average)

    def _losses(self, predictor: Any, X: Any, y: NDArray[Any]) -> Floats:
        """The loss of every row."""
        if not is_classifier(self):
            return np.asarray((np.asarray(predictor.predict(X)) - y) ** 2, dtype=float)
        if not hasattr(predictor, "predict_proba"):
            return np.asarray(predictor.predict(X) != y, dtype=float)
        own = np.searchsorted(predictor.classes_, y)
        probability = np.asarray(predictor.predict_proba(X))[np.arange(len(y)), own]
        return np.asarray(-np.log(np.maximum(probability, 1e-12)))


MITIGATIONS.add(
    Mitigation(
        id="minimax",
        title=msg("Minimax training"),
        about=msg("trains for the group with the highest loss"),
        stage="in",
        estimator=Minimax,
        needs=("sample_weight",),
        fits=20,
        reference="Martinez and others (2020)",
    )
)
