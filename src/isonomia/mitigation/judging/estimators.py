"""What is trained where the user names no estimator of their own."""

from __future__ import annotations

from typing import Any

from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from isonomia.errors import SpecError, close_to
from isonomia.subject import Subject

#: By name: the classifier, the regressor.
ESTIMATORS: dict[str, tuple[Any, Any]] = {
    "logistic": (LogisticRegression(max_iter=1000), Ridge()),
    "forest": (
        RandomForestClassifier(min_samples_leaf=5, random_state=0),
        RandomForestRegressor(min_samples_leaf=5, random_state=0),
    ),
    "boosting": (HistGradientBoostingClassifier(random_state=0), HistGradientBoostingRegressor(random_state=0)),
}


def choose_estimator(subject: Subject, estimator: Any, model: Any) -> Any:
    """What is trained: the estimator given or named; None where predictions exist already; else a linear model."""
    if isinstance(estimator, str):
        return _pipeline(subject, estimator)
    if estimator is not None or model is not None or subject.outcome.surface.kinds:
        return estimator
    return _pipeline(subject, "logistic")


def _pipeline(subject: Subject, name: str) -> Any:
    """Numbers standardised, texts one-hot encoded, missing values filled, then the estimator."""
    if name not in ESTIMATORS:
        known = ", ".join(ESTIMATORS)
        raise SpecError(f"`estimator` must be one of {known}, or your own; got {name!r}.{close_to(name, ESTIMATORS)}")
    last = ESTIMATORS[name][subject.task == "regression"]
    numbers = [name for name in subject.data.features if subject.data.column(name).dtype.is_numeric()]
    texts = [name for name in subject.data.features if name not in numbers]
    scaled = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    encoded = OneHotEncoder(handle_unknown="ignore", sparse_output=name != "boosting")
    if name == "boosting":  # takes missing numbers as they are
        scaled = "passthrough"
    return make_pipeline(make_column_transformer((scaled, numbers), (encoded, texts), sparse_threshold=0.3), last)
