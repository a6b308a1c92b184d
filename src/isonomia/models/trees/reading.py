"""The trees of a model, read from the library that trained it."""

from __future__ import annotations

from typing import Any

from isonomia.errors import NotApplicable
from isonomia.models.trees._catboost import read_catboost
from isonomia.models.trees._lightgbm import read_lightgbm
from isonomia.models.trees._sklearn import SKLEARN_TREES, read_sklearn
from isonomia.models.trees._xgboost import read_xgboost
from isonomia.models.trees.arrays import TreeEnsemble


def read_trees(model: Any) -> TreeEnsemble:
    """The trees of a fitted estimator as arrays.

    Reads scikit-learn's decision trees, forests, GradientBoosting and HistGradientBoosting, LightGBM and XGBoost (their
    estimators and boosters), and CatBoost (with categories where no test combines columns). For a pipeline, give its
    last estimator: see `isonomia.models.estimators.split_pipeline`.

    Raises
    ------
    NotApplicable
        With the reason, where the model has no trees or they cannot be read.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> trees = read_trees(DecisionTreeRegressor(max_depth=1).fit(X, [0, 0, 5, 7]))
    >>> trees.feature.tolist(), float(trees.threshold[0]), trees.cover.tolist()
    ([0, -1, -1], 2.5, [4.0, 2.0, 2.0])
    >>> trees.raw(np.array([[2.5], [2.6], [np.nan]])).ravel().tolist()
    [0.0, 6.0, 6.0]
    """
    kind, library = type(model).__name__, type(model).__module__.split(".")[0]
    readers = {"xgboost": read_xgboost, "lightgbm": read_lightgbm, "catboost": read_catboost}
    if library in readers:
        try:
            return readers[library](model)
        except (KeyError, IndexError, TypeError, ValueError) as error:  # the format of another version
            raise NotApplicable(f"the trees of this {kind} could not be read ({error!r})") from error
    if kind not in SKLEARN_TREES:
        raise NotApplicable(
            "trees are read from decision trees, forests and gradient boosting of scikit-learn, XGBoost, LightGBM and "
            f"CatBoost; the model is a {kind}"
        )
    return read_sklearn(model)
