"""Several trained predictors as one: their average, or one of them by chance for each row."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, r2_score

from isonomia.typing import Floats


class Ensemble(BaseEstimator):  # type: ignore[misc]
    """Trained predictors with a weight each.

    Parameters
    ----------
    predictors : list of estimators
        Trained on the same task; they know the same classes.
    weights : array
        How much each predictor counts; sums to 1.
    chance : bool
        Whether each row's decision is that of one predictor, drawn with its weight, instead of the average's.
    seed : int
        The start of the draws; the same rows in the same order get the same decisions.
    names : array, optional
        The classes, where the predictors were trained on their indices.
    """

    def __init__(self, predictors: Any, weights: Any, chance: bool = False, seed: int = 0, names: Any = None) -> None:
        self.predictors = predictors
        self.weights = weights
        self.chance = chance
        self.seed = seed
        self.names = names

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing is learnt: the predictors are trained already (a pipeline asks for this method)."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _classifies(self) -> bool:
        return hasattr(self.predictors[0], "classes_")

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes that the predictors know."""
        return np.asarray(self.predictors[0].classes_ if self.names is None else self.names)

    def predict_proba(self, X: Any) -> Floats:
        """The average probabilities; where chance decides (or predictors give none), of the decisions."""
        return self._average([self._probabilities(one, X) for one in self.predictors])

    def _average(self, tables: list[Any]) -> Floats:
        return np.asarray(np.tensordot(np.asarray(self.weights, dtype=float), np.stack(tables), axes=1))

    def _probabilities(self, predictor: Any, X: Any) -> Floats:
        if not self.chance and hasattr(predictor, "predict_proba"):
            return np.asarray(predictor.predict_proba(X), dtype=float)
        return np.asarray(np.asarray(predictor.predict(X))[:, None] == predictor.classes_, dtype=float)

    def predict(self, X: Any) -> NDArray[Any]:
        """The decisions, or the numbers of a regression."""
        if not self._classifies():
            return self._average([one.predict(X) for one in self.predictors])
        tables = np.stack([self._probabilities(one, X) for one in self.predictors])
        if not self.chance:
            return np.asarray(self.classes_[np.argmax(self._average(list(tables)), axis=1)])
        rows = np.arange(tables.shape[1])
        drawn = np.random.default_rng(self.seed).choice(len(tables), size=rows.size, p=self.weights)
        return np.asarray(self.classes_[np.argmax(tables[drawn, rows], axis=1)])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, or R² of a regression."""
        measure = accuracy_score if self._classifies() else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))
