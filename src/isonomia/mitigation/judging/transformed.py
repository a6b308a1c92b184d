"""An estimator behind a change of features that reads the protected attribute."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from isonomia.mitigation._training import fit_weighted, inner_has, weight_argument


class Transformed(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer of features and the estimator that is trained on its result: a pipeline that passes the attribute.

    Parameters
    ----------
    estimator : estimator
    transformer : transformer
        A mitigation that changes features (`Repair`, `Decorrelate`, `Represent`).
    """

    def __init__(self, estimator: Any, transformer: Any) -> None:
        self.estimator = estimator
        self.transformer = transformer

    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> Self:
        """Learn the change of the features, then train on changed features."""
        self.transformer_ = clone(self.transformer)
        changed = self.transformer_.fit_transform(
            X, y, sensitive_features=sensitive_features, sample_weight=sample_weight
        )
        model = clone(self.estimator)
        weights = sample_weight if weight_argument(model) else None
        self.estimator_ = fit_weighted(model, changed, y, weights, owner="mitigate")
        if hasattr(self.estimator_, "classes_"):
            self.classes_ = self.estimator_.classes_
        return self

    def _changed(self, X: Any, sensitive_features: Any) -> Any:
        check_is_fitted(self)
        return self.transformer_.transform(X, sensitive_features=sensitive_features)

    def predict(self, X: Any, *, sensitive_features: Any = None) -> Any:
        """The predictions for changed features."""
        return self.estimator_.predict(self._changed(X, sensitive_features))

    @available_if(inner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, *, sensitive_features: Any = None) -> Any:
        """The probabilities for changed features."""
        return self.estimator_.predict_proba(self._changed(X, sensitive_features))


class BehindSteps(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A mitigation with a model of its own, behind the steps that prepare the features of an estimator.

    Parameters
    ----------
    estimator : estimator
        The mitigation (`Adversarial`).
    front : pipeline
        All steps of the user's pipeline but the last.
    """

    def __init__(self, estimator: Any, front: Any) -> None:
        self.estimator = estimator
        self.front = front

    def fit(self, X: Any, y: Any, **given: Any) -> Self:
        """Fit the steps in front, then the mitigation on what they make."""
        self.front_ = clone(self.front)
        self.estimator_ = clone(self.estimator).fit(self.front_.fit_transform(X, y), y, **given)
        if hasattr(self.estimator_, "classes_"):
            self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X: Any) -> Any:
        """The predictions of the mitigation."""
        check_is_fitted(self)
        return self.estimator_.predict(self.front_.transform(X))

    @available_if(inner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """The probabilities of the mitigation."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(self.front_.transform(X))
