"""Whether the decisions of a model follow from its probabilities or scores, or have to be asked for."""

from __future__ import annotations

from enum import Enum
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.models.estimators import LINEAR_CLASSIFIERS

#: Probabilities this close are a tie, which `predict` may decide by numbers that were rounded less.
TIE = 1e-9
#: Libraries whose classes below decide as they say.
_LIBRARIES = ("sklearn", "xgboost", "lightgbm")
#: Their `predict` is the first of the largest of their own `predict_proba`, to the last bit.
_LARGEST = (
    "DecisionTreeClassifier",
    "ExtraTreeClassifier",
    "RandomForestClassifier",
    "ExtraTreesClassifier",
    "BaggingClassifier",
    "VotingClassifier",
    "CalibratedClassifierCV",
    "LGBMClassifier",
)
#: Their `predict` compares what the probabilities are made from, so the two may differ where these are equal.
_LARGEST_BUT_TIES = (
    "GradientBoostingClassifier",
    "HistGradientBoostingClassifier",
    "AdaBoostClassifier",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MLPClassifier",
    "GaussianNB",
    "BernoulliNB",
    "MultinomialNB",
    "ComplementNB",
    "CategoricalNB",
    "LinearDiscriminantAnalysis",
    "QuadraticDiscriminantAnalysis",
    "KNeighborsClassifier",
    "XGBClassifier",
)
#: What stands for its last step or its best candidate, and predicts as that does.
_WRAPPERS = {"Pipeline": "steps", "GridSearchCV": "best_estimator_", "RandomizedSearchCV": "best_estimator_"}


class Decisions(Enum):
    """Where the decisions of a model come from."""

    #: They follow from the answer.
    FOLLOW = "follow"
    #: They follow from the answer, but for rows whose largest probabilities are equal.
    BUT_TIES = "follow, but for ties"
    #: Only `predict` knows.
    ASKED = "asked"


def decisions_of(estimator: Any, answer: Literal["predict_proba", "decision_function"]) -> Decisions:
    """Whether `predict` is known to follow from this answer: from the largest probability, or the sign of the score.

    Known are the classes whose code says so; an attribute ``own_decision_`` of any other class says whether it decides
    by anything else. Whoever is not known is asked: a threshold that differs by group would not show in few rows.

    >>> from sklearn.svm import SVC, LinearSVC
    >>> decisions_of(LinearSVC(), "decision_function"), decisions_of(SVC(), "decision_function")
    (<Decisions.FOLLOW: 'follow'>, <Decisions.ASKED: 'asked'>)
    """
    last = last_step(estimator)
    stated = getattr(last, "own_decision_", None)
    if isinstance(stated, bool):
        return Decisions.ASKED if stated else Decisions.FOLLOW
    if not callable(getattr(last, "predict", None)):
        return Decisions.FOLLOW  # nobody else to ask
    family = _family(last, answer)
    if family in (_LARGEST if answer == "predict_proba" else LINEAR_CLASSIFIERS):
        return Decisions.FOLLOW
    if answer == "decision_function":
        return Decisions.ASKED
    return Decisions.BUT_TIES if family in _LARGEST_BUT_TIES else Decisions.ASKED


def times_asked(estimator: Any) -> tuple[int, int]:
    """How often every row is sent so that it has a decision: as a rule, and at most."""
    answers: tuple[Literal["predict_proba", "decision_function"], ...] = ("predict_proba", "decision_function")
    for answer in answers:
        if callable(getattr(estimator, answer, None)):
            decisions = decisions_of(estimator, answer)
            return 1 + (decisions is Decisions.ASKED), 1 + (decisions is not Decisions.FOLLOW)
    return 1, 1


def tied_rows(table: NDArray[np.float64]) -> NDArray[np.intp]:
    """The rows whose two largest probabilities are equal."""
    if table.ndim == 1 or table.shape[1] < 2:
        return np.empty(0, dtype=np.intp)
    if table.shape[1] == 2:
        return np.flatnonzero(np.abs(table[:, 1] - table[:, 0]) <= TIE)
    top = np.partition(table, -2, axis=1)
    return np.flatnonzero(top[:, -1] - top[:, -2] <= TIE)


def last_step(estimator: Any) -> Any:
    """The step that decides: the end of a pipeline, the winner of a search.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> last_step(make_pipeline(StandardScaler(), DecisionTreeClassifier()))
    DecisionTreeClassifier()
    """
    for _ in range(10):
        part = _WRAPPERS.get(type(estimator).__name__)
        inner = getattr(estimator, part, None) if part is not None and _from_library(estimator, "predict") else None
        if isinstance(inner, list) and inner:
            inner = inner[-1][1]
        if inner is None or isinstance(inner, list):
            break
        estimator = inner
    return estimator


def _family(estimator: Any, answer: str) -> str | None:
    """The class of a library whose `predict` and answer the estimator has, also where it descends from it."""
    if not (_from_library(estimator, "predict") and _from_library(estimator, answer)):
        return None
    return next((one.__name__ for one in type(estimator).__mro__ if _module(one) in _LIBRARIES), None)


def _from_library(estimator: Any, name: str) -> bool:
    """Whether the method is the one that a known library defines, not one that a descendant has written anew."""
    method = getattr(type(estimator), name, None)
    return method is not None and _module(method) in _LIBRARIES


def _module(thing: Any) -> str:
    return str(getattr(thing, "__module__", "")).split(".")[0]
