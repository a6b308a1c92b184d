"""What every mitigation keeps to as an estimator: scikit-learn's rules, frames, searches, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.conftest import MakeFrame

from isonomia import DataError, SpecError, load_model
from isonomia.mitigation import (
    MITIGATIONS,
    Adversarial,
    Decorrelate,
    Massage,
    Minimax,
    Reduce,
    Repair,
    Represent,
    Resample,
    Reweigh,
)
from isonomia.models import save_model

#: One of each, with everyone as one group: scikit-learn's checks know no protected attribute.
ONE_GROUP = [
    Reweigh(sensitive=()),
    Reweigh(LinearRegression(), sensitive=()),
    Resample(sensitive=()),
    Massage(sensitive=()),
    Reduce(sensitive=()),
    Minimax(sensitive=()),
    Minimax(LinearRegression(), sensitive=()),
    Repair(sensitive=()),
    Decorrelate(sensitive=()),
    Represent(sensitive=(), prototypes=2, max_iter=1),
]
#: Networks learn the small data of the checks in steps that are larger than those of whole datasets.
NETWORKS = [
    Adversarial(sensitive=(), task=task, learning_rate=0.02, epochs=5, batch_size=32)
    for task in ("classification", "regression")
]
#: What trains an estimator.
TRAINING = [Reweigh, Resample, Massage, Reduce, Minimax]


@parametrize_with_checks(ONE_GROUP)  # type: ignore[untyped-decorator]
def test_the_rules_of_scikit_learn(estimator: Any, check: Any) -> None:
    with np.errstate(all="ignore"):
        check(estimator)


@parametrize_with_checks(NETWORKS)  # type: ignore[untyped-decorator]
def test_the_rules_of_scikit_learn_for_networks(estimator: Any, check: Any) -> None:
    pytest.importorskip("torch", reason="torch is not installed; pip install 'isonomia[torch]'")
    pytest.importorskip("fairlearn.adversarial")
    check(estimator)


def columns(n: int = 400) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    sex, race = rng.choice(["f", "m"], n), rng.choice(["a", "b", "c"], n)
    pay = rng.normal((sex == "m") * 1.0, 1)
    y = np.where(pay + rng.normal(size=n) > 0.4, "yes", "no")
    return {"sex": sex, "race": race, "pay": pay, "age": rng.integers(18, 80, n).astype(float), "y": y}


def made(kind: Any, *args: Any, **options: Any) -> Any:
    """One around an estimator, with few rounds."""
    return kind(*args, **{**({"rounds": 3} if kind is Minimax else {}), **options})


def model() -> Any:
    numbers = make_column_transformer((StandardScaler(), ["pay", "age"]), (OneHotEncoder(), ["race"]))
    return make_pipeline(numbers, LogisticRegression())


@pytest.mark.parametrize("kind", TRAINING)
def test_every_kind_of_frame_gives_the_same(kind: Any, frame_kind: MakeFrame) -> None:
    people = columns()
    X = {name: people[name] for name in ("sex", "race", "pay", "age")}
    expected = made(kind, model(), sensitive="sex").fit(pd.DataFrame(X), people["y"]).predict(pd.DataFrame(X))
    assert (
        made(kind, model(), sensitive="sex").fit(frame_kind(X), people["y"]).predict(frame_kind(X)).tolist()
        == expected.tolist()
    )
    given = made(kind, model()).fit(frame_kind(X), people["y"], sensitive_features=people["sex"])
    assert given.predict(frame_kind(X)).tolist() == expected.tolist()
    assert given.groups_ == [("f",), ("m",)]


@pytest.mark.parametrize("kind", TRAINING)
def test_several_attributes_make_intersections(kind: Any) -> None:
    people = pd.DataFrame(columns())
    fair = made(kind, model(), sensitive=["sex", "race"]).fit(people.drop(columns="y"), people["y"])
    assert fair.attributes_ == ["sex", "race"]
    assert len(fair.groups_) == 6


@pytest.mark.parametrize("kind", TRAINING)
def test_searches_and_cross_fitting(kind: Any) -> None:
    people = pd.DataFrame(columns())
    X, y = people.drop(columns="y"), people["y"]
    fair = made(kind, model(), sensitive="sex", drop_sensitive=True)
    assert len(cross_val_predict(fair, X, y, cv=3)) == len(y)
    search = GridSearchCV(fair, {"estimator__logisticregression__C": [0.1, 1.0]}, cv=2).fit(X, y)
    assert search.best_estimator_.score(X, y) > 0.5
    assert clone(fair).get_params()["sensitive"] == "sex"


@pytest.mark.parametrize("kind", TRAINING)
def test_metadata_is_routed(kind: Any) -> None:
    people = columns()
    X, y = np.c_[people["pay"], people["age"]], people["y"]
    direct = made(kind, LogisticRegression()).fit(
        StandardScaler().fit_transform(X), y, sensitive_features=people["sex"]
    )
    by_name = make_pipeline(StandardScaler(), made(kind, LogisticRegression()))
    by_name.fit(X, y, **{f"{kind.__name__.lower()}__sensitive_features": people["sex"]})
    with sklearn.config_context(enable_metadata_routing=True):
        routed = make_pipeline(
            StandardScaler(),
            made(kind, LogisticRegression()).set_fit_request(sensitive_features=True, sample_weight=False),
        ).fit(X, y, sensitive_features=people["sex"])
        found = cross_val_predict(routed, X, y, cv=2, params={"sensitive_features": people["sex"]})
    scaled = StandardScaler().fit_transform(X)
    assert routed.predict(X).tolist() == direct.predict(scaled).tolist() == by_name.predict(X).tolist()
    assert set(found) <= {"yes", "no"}


@pytest.mark.parametrize("kind", TRAINING)
@pytest.mark.parametrize("inner", [LogisticRegression(), DecisionTreeClassifier(max_depth=3, random_state=0)])
def test_saved_and_loaded_safely(kind: Any, inner: Any, tmp_path: Path) -> None:
    people = columns()
    X = pd.DataFrame({name: people[name] for name in ("pay", "age")})
    fair = made(kind, inner).fit(X, people["y"], sensitive_features=people["sex"])
    loaded = load_model(save_model(fair, tmp_path / "fair.skops"), positive="yes")
    assert loaded.estimator.predict(X).tolist() == fair.predict(X).tolist()
    assert loaded.estimator.groups_ == fair.groups_


@pytest.mark.parametrize("kind", TRAINING)
def test_the_attribute_must_be_there(kind: Any) -> None:
    people = pd.DataFrame(columns())
    X, y = people[["pay", "age", "sex"]], people["y"]
    with pytest.raises(DataError, match="has no protected attribute"):
        made(kind).fit(X[["pay"]], y)
    with pytest.raises(DataError, match=r"must name columns of X; got 'sexx'. Did you mean 'sex'"):
        made(kind, sensitive="sexx").fit(X, y)
    with pytest.raises(DataError, match="without column names"):
        made(kind, sensitive="sex").fit(X.to_numpy(), y)
    with pytest.raises(SpecError, match="twice"):
        made(kind, sensitive="sex").fit(X, y, sensitive_features=people["race"])
    with pytest.raises(DataError, match="3 rows"):
        made(kind).fit(X[["pay"]], y, sensitive_features=["a", "b", "c"])


def test_every_mitigation_is_described_in_both_languages() -> None:
    for entry in MITIGATIONS:
        assert entry.title.text("pt-BR")
        assert entry.about.text("pt-BR") != entry.purpose, entry.id
        assert entry.tasks, entry.id
