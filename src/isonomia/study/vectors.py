"""A support vector machine that decides by its margin and has probabilities beside it, as the paper's had."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.svm import SVC

from isonomia.typing import Floats


class VectorMachine(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """SVC with Platt's probabilities by five-fold cross-fitting; decisions are those of the machine on all rows.

    What ``SVC(probability=True)`` gave before scikit-learn 1.9 deprecated it: `predict` need not agree with the
    probabilities.

    Parameters
    ----------
    gamma : "auto", "scale" or float
    random_state : int, optional
        Kept for the study's seeds; nothing here is random.
    """

    def __init__(self, gamma: Any = "auto", random_state: int | None = None) -> None:
        self.gamma = gamma
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> VectorMachine:
        """Train the machine, and calibrate its margins."""
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.machine_ = SVC(gamma=self.gamma).fit(X, y, **given)
        calibrated = CalibratedClassifierCV(SVC(gamma=self.gamma), ensemble=False, cv=5)
        self.calibrated_ = calibrated.fit(X, y, **given)
        self.own_decision_ = True  # a `Model` takes `predict`, not the larger probability
        self.classes_ = self.machine_.classes_
        if hasattr(self.machine_, "feature_names_in_"):
            self.feature_names_in_ = self.machine_.feature_names_in_
        self.n_features_in_ = self.machine_.n_features_in_
        return self

    def predict(self, X: Any) -> Any:
        """Decisions by the sign of the margin."""
        return self.machine_.predict(X)

    def predict_proba(self, X: Any) -> Floats:
        """Calibrated probabilities."""
        found: Floats = self.calibrated_.predict_proba(X)
        return found
