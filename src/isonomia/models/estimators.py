"""Families of scikit-learn estimators by class name, the steps of a pipeline, and estimators made from a seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: Packages whose estimators may be named to be trained without naming the package as trusted.
LIBRARIES = ("sklearn", "lightgbm", "xgboost", "catboost")
LINEAR_CLASSIFIERS = (
    "LogisticRegression",
    "LogisticRegressionCV",
    "LinearSVC",
    "SGDClassifier",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "Perceptron",
    "PassiveAggressiveClassifier",
)
LINEAR_REGRESSORS = (
    "LinearRegression",
    "Ridge",
    "RidgeCV",
    "Lasso",
    "LassoCV",
    "ElasticNet",
    "ElasticNetCV",
    "SGDRegressor",
)
#: Transformers that shift and scale every column by itself.
SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")
#: Transformers that preserve the order of the numbers in every column (or drop columns).
ORDER_PRESERVING = (
    *SCALERS,
    "SimpleImputer",
    "VarianceThreshold",
    "SelectKBest",
    "SelectPercentile",
    "SelectFromModel",
)
#: Transformers that work column by column but need not preserve the order of numbers.
COLUMNWISE = ("OneHotEncoder", "OrdinalEncoder", "TargetEncoder", "KBinsDiscretizer", "Binarizer", "PowerTransformer")


def split_pipeline(model: Any) -> tuple[list[Any], Any]:
    """The steps before the last estimator, and that estimator; a parameter search stands for its best estimator.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> split_pipeline(make_pipeline(StandardScaler(), DecisionTreeClassifier()))
    ([StandardScaler()], DecisionTreeClassifier())
    """
    model = getattr(model, "best_estimator_", model)
    if not hasattr(model, "steps"):
        return [], model
    inner, last = split_pipeline(model.steps[-1][1])
    return [step for _, step in model.steps[:-1]] + inner, last


def seeded(estimator: Any, seed: int) -> Any:
    """The estimator with a seed, where it takes one."""
    return estimator.set_params(random_state=seed) if "random_state" in estimator.get_params() else estimator


def learner(path: str, **options: Any) -> Callable[[int], Any]:
    """From a seed to an estimator of the class that ``module:name`` names, which is imported when one is made."""
    from isonomia.models.trust import Trust, import_object

    word = Trust(names=(path.partition(":")[0],))  # a program of Python names it, not a file
    return lambda seed: seeded(import_object(path, word)(**options), seed)
