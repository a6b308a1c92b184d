"""Pairs fed back into training."""

from __future__ import annotations

import numpy as np
import pytest

from isonomia import DataError, Dataset, ModelError, NotApplicable
from isonomia.discovery import find_pairs
from isonomia.discovery.pairs import retrain

from .conftest import Census
from .people import FEATURES, WORLD, Boxed

pandas = pytest.importorskip("pandas")


def test_fewer_people_are_treated_differently_afterwards() -> None:
    from sklearn.tree import DecisionTreeClassifier

    rows = WORLD.sample(4000, np.random.default_rng(0))
    frame = pandas.DataFrame(rows, columns=list(FEATURES))
    frame["y"] = (Boxed().points(rows) > 0).astype(int)
    data = Dataset(frame, target="y", protected=["sex"])
    model = DecisionTreeClassifier(random_state=0).fit(frame[list(FEATURES)], frame["y"])
    found = find_pairs(data, model, method="kosei", max_tests=6000)
    done = retrain(data, model, found, share=0.3, tests=10_000)
    assert done.n_added == 1200
    assert done.after.high < done.before.low
    assert done.accuracy_after > 0.9
    assert "->" in repr(done)


def test_a_classifier_that_is_not_fitted_is_fitted_first() -> None:
    from sklearn.base import clone
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    rows = WORLD.sample(2000, np.random.default_rng(0))
    frame = pandas.DataFrame(rows, columns=list(FEATURES))
    frame["y"] = (Boxed().points(rows) > 0).astype(int)
    data = Dataset(frame, target="y", protected=["sex"])
    tree = DecisionTreeClassifier(random_state=0)
    for plain in (tree, make_pipeline(StandardScaler(), tree)):
        fitted = clone(plain).fit(frame[list(FEATURES)], frame["y"])
        found = find_pairs(data, fitted, method="kosei", max_tests=2000)
        once, again = (retrain(data, one, found, share=0.3, tests=3000) for one in (plain, fitted))
        assert (once.before, once.after, once.n_added) == (again.before, again.after, again.n_added)
        assert (once.before.n, once.accuracy_after) == (3000, again.accuracy_after)
        assert not hasattr(plain, "classes_"), "cloned, not changed"
    with pytest.raises(ModelError, match="Only scikit-learn classifiers"):
        retrain(data, LinearRegression(), found)
    with pytest.raises(ModelError, match="could not be fitted"):
        retrain(data, DecisionTreeClassifier(max_depth=-3), found)


def test_the_census_forest(census: Census) -> None:
    found = find_pairs(census.data, census.model("forest"), method="kosei", domain=census.domain, max_tests=6000)
    done = retrain(census.data, census.model("forest"), found, share=0.1, tests=10_000)
    assert done.after.value < done.before.value


def test_what_cannot_be_trained_is_said() -> None:
    data = Dataset(WORLD.decode(WORLD.sample(200, np.random.default_rng(0))), protected=["sex"])
    found = find_pairs(data, Boxed(), method="observed")
    with pytest.raises(DataError, match="target"):
        retrain(data, Boxed(), found)
    from sklearn.dummy import DummyClassifier

    none = find_pairs(data, lambda frame: np.zeros(len(frame), int), method="observed")
    model = DummyClassifier().fit(np.zeros((2, 8)), [0, 1])
    labelled = Dataset(data.frame, target="race", protected=["sex"])
    with pytest.raises(NotApplicable, match="no pair"):
        retrain(labelled, model, none)
