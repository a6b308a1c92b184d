"""The models of the study, each made anew for every cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from isonomia.errors import SpecError
from isonomia.languages import Message, msg
from isonomia.models.estimators import LINEAR_CLASSIFIERS, learner, seeded, split_pipeline
from isonomia.registry import Registry


@dataclass(frozen=True)
class StudyModel:
    """A model of the study.

    Attributes
    ----------
    id, purpose : str
    title : Message
    make : callable
        From a seed to an estimator that was not trained.
    family : str
        Which explainers know it: "linear", "trees" or "other".
    short : str
        Its name in the published result files.
    """

    id: str
    purpose: str
    title: Message
    make: Callable[[int], Any]
    family: str = "other"
    short: str = ""


STUDY_MODELS: Registry[StudyModel] = Registry("study_model", word="model")


STUDY_MODELS.add(
    StudyModel(
        id="logistic",
        purpose="logistic regression (liblinear)",
        title=msg("logistic regression"),
        make=learner("sklearn.linear_model:LogisticRegression", solver="liblinear"),
        family="linear",
        short="lr",
    ),
    StudyModel(
        id="forest",
        purpose="random forest: 10 trees, depth 5, at least 2 rows per leaf",
        title=msg("random forest"),
        make=learner("sklearn.ensemble:RandomForestClassifier", n_estimators=10, max_depth=5, min_samples_leaf=2),
        family="trees",
        short="rf",
    ),
    StudyModel(
        id="boosting",
        purpose="gradient boosting on samples of 90% of the rows",
        title=msg("gradient boosting"),
        make=learner("sklearn.ensemble:GradientBoostingClassifier", subsample=0.9),
        family="trees",
        short="gb",
    ),
    StudyModel(
        id="svm",
        purpose="support vector machine, radial kernel, probabilities",
        title=msg("support vector machine"),
        make=learner("isonomia.study.vectors:VectorMachine"),
        short="svm",
    ),
)


def own_model(name: str, estimator: Any) -> StudyModel:
    """A user's estimator as a model of the study: cloned for every cell, with the cell's seed where it takes one.

    A function or class without arguments that makes the estimator is called once.
    """
    from sklearn.base import clone

    if isinstance(estimator, type) or (callable(estimator) and not hasattr(estimator, "fit")):
        try:
            estimator = estimator()
        except Exception as error:  # a user's function may raise anything
            cause = f"{type(error).__name__}: {error}"
            raise SpecError(f"The model {name!r} of the study could not be made. {cause}") from error
    if not hasattr(estimator, "fit"):
        raise SpecError(
            f"The model {name!r} of the study must be an estimator with fit(X, y), or make one; got {estimator!r:.80}."
        )
    last = type(split_pipeline(estimator)[1]).__name__
    trees = any(part in last for part in ("Forest", "Boosting", "Trees", "DecisionTree", "LGBM", "XGB", "CatBoost"))
    family = "linear" if last in LINEAR_CLASSIFIERS else "trees" if trees else "other"
    return StudyModel(
        id=name,
        purpose=last,
        title=Message.literal(name),
        make=lambda seed: seeded(clone(estimator), seed),
        family=family,
    )
