"""Steps that prepare features are fitted once per part, for all fixes to which they would do the same."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from isonomia.data import Dataset
from isonomia.errors import ModelError
from isonomia.mitigation import Mitigated, Reduce, mitigate
from isonomia.mitigation.judging import trial
from isonomia.mitigation.judging.trial import Trial

SAME, OTHER = ["reweighing", "minimax", "reduction"], ["sampling", "massaging", "repair"]


class Watched(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Changes nothing and keeps the number of rows of every call."""

    calls: ClassVar[list[tuple[str, int]]] = []

    def fit(self, X: Any, y: Any = None) -> Watched:
        self.calls.append(("fit", len(X)))
        self.fitted_ = True
        return self

    def transform(self, X: Any) -> Any:
        self.calls.append(("transform", len(X)))
        return X


def people(n: int = 400, *, numbers: bool = False) -> Dataset:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "skill": rng.normal(size=n), "other": rng.normal(size=n)})
    merit = frame.skill + (frame.sex == "M") + rng.normal(size=n)
    frame["proxy"] = (frame.sex == "M") + rng.normal(size=n)
    roles: dict[str, Any] = {} if numbers else {"positive": 1}
    features = ["skill", "other", "proxy"]
    target = merit if numbers else (merit > 0.5).astype(int)
    return Dataset(frame.assign(y=target), target="y", protected="sex", features=features, **roles)


def tried(estimator: Any, data: Dataset | None = None, **options: Any) -> Mitigated:
    return mitigate(people() if data is None else data, estimator, folds=2, attribute_at_decision=True, **options)


def same(one: Mitigated, other: Mitigated) -> bool:
    assert one.decisions.keys() == other.decisions.keys()
    equal = all(np.array_equal(one.decisions[name], other.decisions[name]) for name in one.decisions)
    return equal and one.tables["methods"].to_dict() == other.tables["methods"].to_dict()


def test_steps_are_fitted_once_for_fixes_that_train_on_the_same_rows() -> None:
    Watched.calls.clear()
    tried(make_pipeline(Watched(), LogisticRegression()), methods=SAME)
    assert Watched.calls.count(("fit", 200)) == 2, "one per part, for the model and three fixes"
    Watched.calls.clear()
    tried(make_pipeline(Watched(), LogisticRegression()), methods=OTHER[:1])
    assert len([kind for kind, _ in Watched.calls if kind == "fit"]) == 4, "other rows: fitted again in both parts"


@pytest.mark.parametrize(
    ("estimator", "numbers", "methods"),
    [
        (make_pipeline(StandardScaler(), SelectKBest(k=2), LogisticRegression()), False, SAME + OTHER),
        (make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression()), False, SAME),
        (make_pipeline(OneHotEncoder(handle_unknown="ignore"), RandomForestClassifier(3)), False, ["reweighing"]),
        (make_pipeline(StandardScaler().set_output(transform="pandas"), LogisticRegression()), False, SAME),
        (make_pipeline(StandardScaler(), Ridge()), True, SAME),
    ],
)
def test_no_decision_is_another_one(
    estimator: Any, numbers: bool, methods: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if isinstance(estimator[-1], RandomForestClassifier):
        estimator[-1].set_params(random_state=0)
    data = people(numbers=numbers)
    together = tried(estimator, data, methods=methods)
    monkeypatch.setattr(Trial, "prepare_features", lambda trial, split: None)
    assert same(together, tried(estimator, data, methods=methods))


def test_features_too_large_to_keep_are_prepared_fix_by_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "MOST_NUMBERS", 100)
    Watched.calls.clear()
    tried(make_pipeline(Watched(), LogisticRegression()), methods=["reweighing"])
    assert Watched.calls.count(("fit", 200)) == 6, "in each part to see how large they are, for the model and the fix"


def test_pipelines_of_other_makes_are_not_entered() -> None:
    class Resampling(Pipeline):  # type: ignore[misc]
        """Stands for one whose steps may leave out rows while it is trained."""

        def __getitem__(self, index: Any) -> Any:
            raise AssertionError("entered")

    tried(Resampling([("scale", StandardScaler()), ("fit", LogisticRegression())]), methods=["reweighing", "minimax"])


def test_a_step_that_fails_is_named() -> None:
    class Stubborn(Watched):
        def fit(self, X: Any, y: Any = None) -> Watched:
            raise ValueError("too few rows for me")

    with pytest.raises(ModelError, match="Training Pipeline on 200 people failed"):
        tried(make_pipeline(Stubborn(), LogisticRegression()), methods=["reweighing"])


def test_a_pipeline_of_one_step_is_reduced_like_its_step() -> None:
    data = people()
    X, y, sex = data.feature_frame(), data.frame["y"], data.frame["sex"]
    alone, piped = (
        Reduce(estimator).fit(X, y, sensitive_features=sex)
        for estimator in (LogisticRegression(), make_pipeline(LogisticRegression()))
    )
    assert piped.solver_ == "price"
    assert (alone.predict(X) == piped.predict(X)).all()
