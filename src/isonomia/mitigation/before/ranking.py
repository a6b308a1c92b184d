"""Rows ranked by a cross-fitted estimator, and rows taken from any kind of table."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.utils import _safe_indexing  # documented for developers of estimators

from isonomia.errors import DataError
from isonomia.typing import Floats, Indices

#: Folds of the ranker, at most.
FOLDS = 5


def favourable_scores(ranker: Any, X: Any, y: NDArray[Any], seed: int) -> Floats:
    """How likely the second class is for each row, by a ranker that has not seen the row."""
    method = next((name for name in ("predict_proba", "decision_function") if hasattr(ranker, name)), None)
    if method is None:
        raise DataError(
            f"Ranking rows needs an estimator with predict_proba or decision_function; {type(ranker).__name__} has "
            "neither. Give another `ranker`."
        )
    folds = min(FOLDS, int(np.unique(y, return_counts=True)[1].min()))
    if folds < 2:
        raise DataError("Ranking rows by cross-fitting needs at least two rows of each class.")
    split = StratifiedKFold(folds, shuffle=True, random_state=seed)
    with sklearn.config_context(enable_metadata_routing=False):
        scores = np.asarray(cross_val_predict(clone(ranker), X, y, cv=split, method=method), dtype=float)
    return scores if scores.ndim == 1 else scores[:, 1]


def take_rows(X: Any, rows: Indices) -> Any:
    """Some rows of a frame or an array, as the same kind."""
    return _safe_indexing(X.tocsr() if hasattr(X, "tocsr") else X, rows)
