"""The base of estimators that train another one, and how weights reach an estimator."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from isonomia.counting import Codes
from isonomia.data import check_weights
from isonomia.errors import DataError
from isonomia.mitigation._attribute import SENSITIVE, Mitigator
from isonomia.parameters import Boolean
from isonomia.typing import Floats, Indices

#: Whether the model inside sees the columns of the protected attribute.
DROP_SENSITIVE = Boolean()
#: Rows that repetitions may make of one, on average; more are drawn instead.
MOST_REPEATED = 10


def weight_argument(estimator: Any) -> str | None:
    """The argument of `fit` that takes sample weights; None where there is none.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> weight_argument(make_pipeline(StandardScaler(), LogisticRegression()))
    'logisticregression__sample_weight'
    """
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        inner = weight_argument(last)
        return None if inner is None else f"{name}__{inner}"
    if isinstance(estimator, GridSearchCV | RandomizedSearchCV):
        return weight_argument(estimator.estimator)
    if isinstance(estimator, TransformedTargetRegressor):
        return weight_argument(estimator.regressor)
    return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None


def fit_weighted(estimator: Any, X: Any, y: Any, weights: Floats | None, *, owner: str) -> Any:
    """Fit an estimator, also a pipeline or a search, with sample weights; refuse one that takes none."""
    argument = weight_argument(estimator)
    if weights is not None and argument is None:
        raise DataError(
            f"{owner} needs an estimator whose fit takes sample_weight; {type(estimator).__name__} does not. Choose "
            "another one (logistic regression, trees and boosting take weights), or Resample instead."
        )
    given = {} if weights is None or argument is None else {argument: weights}
    with sklearn.config_context(enable_metadata_routing=False):  # the weights are ours: no request is needed
        return estimator.fit(X, y, **given)


def rows_by_weight(weights: Floats, seed: int) -> Indices:
    """Rows for learners without weights, each as often as its weight asks.

    Whole numbers are repetitions (equal ones take every row once). Otherwise as many rows are taken as there are, each
    as often as its weight asks rounded up or down: they lie side by side, as wide as their weights, and are taken at
    equal distances from a random start.

    >>> rows_by_weight(np.array([1.0, 1.0, 3.0, 0.0]), seed=0).tolist()
    [0, 1, 2, 2, 2]
    >>> rows_by_weight(np.array([0.5, 0.5, 1.25, 0.0]), seed=0).tolist()
    [0, 1, 2, 2]
    """
    times = weights.astype(np.int64)
    if (times == weights).all():
        times //= np.gcd.reduce(times)
        if times.sum() <= MOST_REPEATED * weights.size:
            return np.repeat(np.arange(weights.size), times)
    ends = np.cumsum(weights) * (weights.size / weights.sum())
    at = np.arange(weights.size) + np.random.default_rng(seed).random()
    last = int(np.flatnonzero(weights)[-1])
    return np.asarray(np.searchsorted(ends, at, side="right").clip(max=last), dtype=np.intp)


def steps_in_front(estimator: Any) -> Pipeline | None:
    """All steps of a pipeline but the last; None without any, and for pipelines of other makes, which may change rows.

    >>> from sklearn.preprocessing import StandardScaler
    >>> steps_in_front(Pipeline([("scale", StandardScaler()), ("fit", LogisticRegression())]))
    Pipeline(steps=[('scale', StandardScaler())])
    """
    return estimator[:-1] if type(estimator) is Pipeline and len(estimator.steps) > 1 else None


def prepare(model: Any, X: Any, y: Any) -> tuple[Any, Any, Callable[[Any], Any]]:
    """The last step of a pipeline, what reaches it, and a function that puts a trained last step back in its place.

    Only the last step takes weights, so that the others are fitted once for any number of weighted fits.
    """
    if type(model) is not Pipeline:
        return model, X, lambda trained: trained
    front, (name, last) = steps_in_front(model), model.steps[-1]
    if front is None:
        return last, X, lambda trained: Pipeline([(name, trained)])
    with sklearn.config_context(enable_metadata_routing=False):
        matrix = front.fit_transform(X, y)
    return last, matrix, lambda trained: Pipeline([*front.steps, (name, trained)])


def inner_has(method: str) -> Callable[[Any], bool]:
    """Whether the estimator inside has a method, before and after it is trained."""

    def check(self: Any) -> bool:
        template = self._template() if hasattr(self, "_template") else self.estimator
        return hasattr(template, method) and hasattr(getattr(self, "estimator_", template), method)

    return check


@dataclass(eq=False, repr=False, kw_only=True)
class MetaMitigator(MetaEstimatorMixin, Mitigator):  # type: ignore[misc]
    """Has an estimator inside, which may be kept from seeing the protected attribute."""

    __kinds__: ClassVar = {"sensitive": SENSITIVE, "drop_sensitive": DROP_SENSITIVE}
    estimator: Any = field(default=None, kw_only=False)
    drop_sensitive: bool = False

    def _template(self) -> Any:
        """The estimator to train."""
        return LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator

    def _read(
        self, X: Any, y: Any, sensitive_features: Any, sample_weight: Any
    ) -> tuple[Any, NDArray[Any], Codes, Floats | None]:
        """What `fit` is given: the features, the outcomes, the group and the weight of every row."""
        outcomes = self._target(y)
        groups = self._learn_groups(X, sensitive_features)
        rows = self._features(X, reset=True, drop=self.drop_sensitive)
        if len(groups) != len(outcomes):
            raise DataError(f"X has {len(groups)} rows, but y has {len(outcomes)}: inconsistent numbers of samples.")
        return rows, outcomes, groups, check_weights(sample_weight, len(outcomes), what="`sample_weight`")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._template())
        for part in ("estimator_type", "classifier_tags", "regressor_tags", "target_tags", "input_tags"):
            setattr(tags, part, deepcopy(getattr(inner, part)))
        tags.target_tags.multi_output = False
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class TrainingMitigator(MetaMitigator):
    """Trains an estimator on changed data or weights; predictions are those of the trained estimator.

    A subclass writes `_train`, which returns the fitted estimator.
    """

    @classmethod
    def takes_prepared(cls, last: Any) -> bool:
        """Whether `last`, a pipeline's last step, may be given to it with features that the other steps have prepared.

        It may where the estimator inside is trained on all rows with the features and labels that were given: then the
        other steps would learn the same inside it.
        """
        return False

    def _train(
        self, model: Any, X: Any, y: NDArray[Any], groups: Codes, weights: Floats | None, options: dict[str, Any]
    ) -> Any:
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None) -> Any:
        """Train the estimator.

        Parameters
        ----------
        X : frame or array
            The features.
        y : column
            The outcomes.
        sensitive_features : column, frame or array, optional
            The protected attributes, where they are not columns of X.
        sample_weight : column, optional
            A weight per row; counts become sums of weights.
        """
        options = self._options()
        rows, outcomes, groups, weights = self._read(X, y, sensitive_features, sample_weight)
        self.estimator_ = self._train(clone(self._template()), rows, outcomes, groups, weights, options)
        if hasattr(self.estimator_, "classes_"):
            self.classes_ = self.estimator_.classes_
        return self

    def _ask(self, method: str, X: Any, *rest: Any, **more: Any) -> Any:
        check_is_fitted(self)
        return getattr(self.estimator_, method)(self._features(X, reset=False, drop=self.drop_sensitive), *rest, **more)

    def predict(self, X: Any) -> Any:
        """The predictions of the trained estimator."""
        return self._ask("predict", X)

    @available_if(inner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """The probabilities of the trained estimator."""
        return self._ask("predict_proba", X)

    @available_if(inner_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """The logarithms of the probabilities of the trained estimator."""
        return self._ask("predict_log_proba", X)

    @available_if(inner_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """The scores of the trained estimator."""
        return self._ask("decision_function", X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score of the trained estimator: accuracy, or R² of a regression."""
        return float(self._ask("score", X, y, **({} if sample_weight is None else {"sample_weight": sample_weight})))
