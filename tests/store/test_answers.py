"""Searches in the store: the same question is answered without a search, another one is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

import isonomia as iso
from isonomia.discovery import find_pairs, find_subgroups, fit_fair_naive_bayes
from isonomia.errors import SpecError
from isonomia.models import Model
from isonomia.store import Store


def _frame(seed: int = 0, n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    columns = {"sex": rng.choice(["F", "M"], n), "race": rng.choice(["A", "B"], n), "x": rng.integers(0, 12, n)}
    frame = pd.DataFrame(columns)
    frame["y"] = (frame.x + 4 * (frame.sex == "M") + rng.normal(size=n) > 8).astype(int)
    return frame


class Counted:
    """A model whose questions are counted, wherever it is asked."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.asked = 0

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        real = type(self.model).predict_proba

        def counted(given: Any, rows: Any) -> Any:
            self.asked += 1
            return real(given, rows)

        monkeypatch.setattr(type(self.model), "predict_proba", counted)


@pytest.fixture(scope="module")
def model() -> Any:
    """A fitted pipeline."""
    frame = _frame()
    made = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    return made.fit(frame[["sex", "race", "x"]], frame.y)


@pytest.fixture(scope="module")
def data() -> iso.Dataset:
    """The people."""
    return iso.Dataset(_frame(), target="y", protected=["sex", "race"])


@pytest.mark.parametrize("method", ["sliceline", "divexplorer", "biasscan", "gerryfair", "naivebayes", "slicefinder"])
def test_subgroups_are_found_once(
    store: Store, data: iso.Dataset, model: Any, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: Any = {"method": method, "store": store, "analysis": "loans", "reuse": True}
    first = find_subgroups(data, model, **given)
    counted = Counted(model)
    counted.watch(monkeypatch)
    again = find_subgroups(data, model, **given)
    assert counted.asked == 0
    assert again.to_dict() == first.to_dict()
    assert (again.metrics, again.complete, again.feature_names) == (
        first.to_dict()["metrics"],
        first.complete,
        first.feature_names,
    )
    assert [one.conditions for one in again.subgroups] == [dict(one.conditions) for one in first.subgroups]
    assert len(store.runs("loans", kind="discovery")) == 1
    for index, one in enumerate(first.subgroups):
        if one.member is None:
            assert (again.mask(index) == first.mask(index)).all()
        else:
            with pytest.raises(SpecError, match="does not keep which rows a rule covers"):
                again.mask(index)
    if method == "sliceline":
        assert again.around(0).to_dict() == first.around(0).to_dict()


@pytest.mark.parametrize("method", ["observed", "aequitas", "limi", "themis"])
def test_pairs_are_found_once(
    store: Store, data: iso.Dataset, model: Any, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: Any = {"method": method, "max_tests": 200, "store": store, "analysis": "loans", "reuse": True}
    first = find_pairs(data, model, **given)
    counted = Counted(model)
    counted.watch(monkeypatch)
    again = find_pairs(data, model, **given)
    assert counted.asked == 0
    assert again.to_dict() == first.to_dict()
    pd.testing.assert_frame_equal(again.table, first.table)
    assert again.classes == first.classes
    run = store.run("loans")
    assert (run.kind, run.dataset_fp, run.model_fp) == ("discovery", data.fingerprint, Model.of(model).identity)
    loaded = store.load(run)
    assert (loaded.method, loaded.metrics["TSN"]) == (method, first.metrics["TSN"])
    assert loaded.tables["witnesses"].to_dict() == first.tables["witnesses"].to_dict()


OTHER: dict[str, dict[str, Any]] = {
    "seed": {"seed": 1},
    "method": {"method": "aequitas"},
    "gamma": {"gamma": 0.2},
    "budget": {"max_tests": 100},
    "protected": {"protected": ["sex"]},
    "values": {"values": {"sex": ["F", "M"]}},
    "domain": {"domain": {"x": (0, 20)}},
    "rules": {"constraints": ["x >= 1"]},
}


@pytest.mark.parametrize("what", [*OTHER, "data", "model", "threshold", "version"])
def test_another_question_is_searched_again(
    tmp_path: Path, data: iso.Dataset, model: Any, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = iso.store.open(tmp_path / "runs.db")
    given: Any = {"method": "themis", "max_tests": 50, "store": store, "analysis": "loans", "reuse": True}
    find_pairs(data, model, **given)
    other_data = iso.Dataset(_frame(1), target="y", protected=["sex", "race"]) if what == "data" else data
    other = model
    if what == "model":
        frame = _frame(2)
        other = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
        other.fit(frame[["sex", "race", "x"]], frame.y)
    elif what == "threshold":
        other = Model.of(model, threshold=0.7)
    elif what == "version":
        monkeypatch.setattr("isonomia.discovery.questions.__version__", "99.0")
    find_pairs(other_data, other, **{**given, **OTHER.get(what, {})})
    assert len(store.runs("loans")) == 2


def test_without_reuse_every_search_is_kept(store: Store, data: iso.Dataset, model: Any) -> None:
    for _ in range(2):
        find_subgroups(data, model, store=store, analysis="loans")
    assert len(store.runs("loans")) == 2
    with pytest.raises(SpecError, match="give store= and analysis="):
        find_subgroups(data, model, reuse=True)
    with pytest.raises(SpecError, match="needs both"):
        find_pairs(data, model, store=store)


def test_predictions_given_as_columns_are_part_of_the_question(store: Store) -> None:
    frame = _frame()
    given: Any = {"store": store, "analysis": "loans", "reuse": True}
    features = frame[["sex", "race", "x"]]
    for flipped, runs in ((0, 1), (0, 1), (5, 2)):
        predicted = frame.y.to_numpy().copy()
        predicted[:flipped] = 1 - predicted[:flipped]
        find_subgroups(features, y_true=frame.y, y_pred=predicted, **given)
        assert len(store.runs("loans")) == runs


def test_code_has_no_identity(store: Store, data: iso.Dataset, model: Any) -> None:
    def rule(frame: Any) -> Any:
        return (frame["sex"] == "M").astype(int)

    assert Model.of(rule).identity is None
    given: Any = {"method": "observed", "store": store, "analysis": "loans"}
    with pytest.raises(SpecError, match=r"cannot be recognised again.*Leave out reuse=True"):
        find_pairs(data, rule, **given, reuse=True)
    assert find_pairs(data, rule, **given).metrics["DSN"] > 0
    assert [run.question for run in store.runs("loans")] == [None]
    with pytest.raises(SpecError, match="A function"):
        find_pairs(data, model, **given, reuse=True, constraints=[lambda people: people["x"] > 0])


def test_an_identity_is_that_of_the_parameters(model: Any) -> None:
    frame = _frame()
    twin = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    twin.fit(frame[["sex", "race", "x"]], frame.y)
    first = Model.of(model).identity
    assert first is not None
    assert first == Model.of(twin).identity
    twin[-1].coef_[0, 0] += 1e-9
    assert Model.of(twin).identity != first
    assert Model.of(model, threshold=0.3).identity != first
    own = make_pipeline(FunctionTransformer(_frame), LogisticRegression())
    assert Model.of(own).identity is None


def test_a_trained_classifier_is_not_trained_again(
    store: Store, data: iso.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = fit_fair_naive_bayes(data, delta=0.05, store=store)
    monkeypatch.setattr("isonomia.discovery.subgroups.bayes.fair._Fit", None)  # nothing can be trained
    again = fit_fair_naive_bayes(data, delta=0.05, store=store)
    codes = np.column_stack([column.codes for column in first.features])
    assert (again.predict_proba(codes) == first.predict_proba(codes)).all()
    parts = ("log_likelihood", "delta", "rounds", "forbidden", "left", "complete")
    assert [getattr(again, name) for name in parts] == [getattr(first, name) for name in parts]
    with pytest.raises(TypeError):
        fit_fair_naive_bayes(data, delta=0.06, store=store)
