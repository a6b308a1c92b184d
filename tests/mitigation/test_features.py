"""Features repaired, decorrelated, represented by prototypes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.stats import ks_2samp, spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from tests.conftest import MakeFrame
from tests.mitigation.conftest import People

from isonomia import DataError, MissingExtraError
from isonomia.mitigation import Decorrelate, Repair, Represent
from isonomia.models import load_model, save_model


def columns(n: int = 300) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    sex, race = rng.choice(["f", "m"], n, p=[0.3, 0.7]), rng.choice(["a", "b", "c"], n)
    pay = np.exp(rng.normal((sex == "m") * 1.0 + (race == "b"), 1))
    return {"sex": sex, "race": race, "pay": pay, "age": rng.normal(40, 9, n) + 5 * (race == "c"), "city": race}


def test_repair_equalises_distributions_and_keeps_the_order() -> None:
    people = columns()
    X, group = np.c_[people["pay"], people["age"]], people["race"]
    repaired = Repair().fit_transform(X, sensitive_features=group)
    sizes = [int((group == g).sum()) for g in "abc"]
    for index in range(2):
        parts = [repaired[group == g, index] for g in "abc"]
        for g, part in zip("abc", parts, strict=True):
            assert spearmanr(part, X[group == g, index])[0] == pytest.approx(1, abs=1e-12)
        assert max(ks_2samp(parts[0], other).statistic for other in parts[1:]) < 1 / min(sizes) + 1e-9
    before = ks_2samp(X[group == "a", 0], X[group == "b", 0]).statistic
    assert before > 0.2


def test_a_level_mixes_and_one_group_stays() -> None:
    people = columns()
    X = np.c_[people["pay"], people["age"]]
    whole, half = (Repair(level=level).fit_transform(X, sensitive_features=people["sex"]) for level in (1.0, 0.5))
    assert half == pytest.approx((X + whole) / 2)
    assert Repair(sensitive=()).fit_transform(X) == pytest.approx(X, abs=0)
    weighted = Repair().fit(X, sensitive_features=people["sex"], sample_weight=np.full(len(X), 2.0))
    assert weighted.transform(X, sensitive_features=people["sex"]) == pytest.approx(whole)


def test_repair_of_new_people_uses_what_was_learnt() -> None:
    X, sex = np.array([[1.0], [2.0], [3.0], [11.0], [12.0], [13.0]]), ["f"] * 3 + ["m"] * 3
    repair = Repair().fit(X, sensitive_features=sex)
    new = repair.transform(np.array([[1.5], [99.0], [-5.0]]), sensitive_features=["f", "f", "m"])
    assert new.ravel().tolist() == [6.5, 8.0, 6.0]
    with pytest.raises(DataError, match=r"met a group that it was not fitted on: x\. Known: f, m"):
        repair.transform(X[:1], sensitive_features=["x"])
    with pytest.raises(DataError, match="has no protected attribute"):
        repair.transform(X)


def test_decorrelated_as_fairlearn_does() -> None:
    fairlearn = pytest.importorskip("fairlearn.preprocessing")
    people = columns()
    frame = pd.DataFrame({**people, "sex": (people["sex"] == "m") * 1.0, "b": (people["race"] == "b") * 1.0})
    frame = frame[["sex", "b", "pay", "age"]]
    for alpha in (1.0, 0.3):
        theirs = fairlearn.CorrelationRemover(sensitive_feature_ids=["sex", "b"], alpha=alpha).fit(frame)
        ours = Decorrelate(sensitive=["sex", "b"], alpha=alpha).fit(frame)
        assert ours.transform(frame).to_numpy() == pytest.approx(theirs.transform(frame), abs=1e-10)
    plain = Decorrelate(sensitive=["sex", "b"]).fit_transform(frame)
    related = np.corrcoef(frame[["sex", "b"]].to_numpy(), plain.to_numpy(), rowvar=False)[:2, 2:]
    assert np.abs(related).max() < 1e-12


def test_texts_are_indicators() -> None:
    people = columns()
    X = np.c_[people["pay"], people["age"]]
    given = Decorrelate().fit_transform(X, sensitive_features=people["race"])
    indicators = np.stack([people["race"] == value for value in "bc"], axis=1) * 1.0
    by_hand = Decorrelate().fit_transform(X, sensitive_features=indicators)
    assert given == pytest.approx(by_hand)
    means = [given[people["race"] == value].mean(axis=0) for value in "abc"]
    assert np.ptp(means, axis=0).max() < 1e-9
    fitted = Decorrelate().fit(X, sensitive_features=people["race"])
    with pytest.raises(DataError, match="met a value of 'group' that it was not fitted on: 'z'"):
        fitted.transform(X[:2], sensitive_features=["a", "z"])
    weights = np.random.default_rng(0).uniform(0.5, 2, len(X))
    weighted = Decorrelate().fit_transform(X, sensitive_features=people["race"], sample_weight=weights)
    rows = people["race"] == "a"
    assert np.average(weighted[rows], axis=0, weights=weights[rows]) == pytest.approx(
        np.average(X, axis=0, weights=weights)
    )


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("adult", [0.8443, 0.1217, 0.2069, 0.1391, -0.0146]),
        ("compas", [0.6599, 0.6414, 0.5883, 0.1824, -0.0043]),
        ("german", [0.7433, 0.7660, 0.7984, -0.0605, 0.0795]),
        ("default", [0.8097, 0.9339, 0.9261, 0.0064, -0.0254]),
    ],
)
def test_figures_on_held_out_people(name: str, figures: list[float], people: Callable[[str], People]) -> None:
    """As Fairlearn's CorrelationRemover gives with the same estimator and split."""
    everyone = people(name)
    rows, who = everyone.train, everyone.who
    remover = Decorrelate().fit(everyone.X[rows, :-1], sensitive_features=who[rows])
    model = LogisticRegression(max_iter=1000)
    model.fit(remover.transform(everyone.X[rows, :-1], sensitive_features=who[rows]), everyone.y[rows])
    predicted = model.predict(remover.transform(everyone.X[~rows, :-1], sensitive_features=who[~rows]))
    assert everyone.figures(predicted) == pytest.approx(figures, abs=0.0005)


@pytest.mark.parametrize("kind", [Repair, Decorrelate])
def test_every_kind_of_frame_comes_back_as_it_is(kind: Any, frame_kind: MakeFrame, tmp_path: Path) -> None:
    people = columns()
    given = frame_kind({name: people[name] for name in ("sex", "pay", "city", "age")})
    changed = kind(sensitive="sex").fit_transform(given)
    wrapped = nw.from_native(changed, eager_only=True)
    assert wrapped.columns == ["pay", "city", "age"]
    assert wrapped["city"].to_list() == people["city"].tolist()
    if not isinstance(given, dict):
        assert type(changed) is type(given)
    plain = kind().fit_transform(np.c_[people["pay"], people["age"]], sensitive_features=people["sex"])
    assert np.c_[wrapped["pay"].to_numpy(), wrapped["age"].to_numpy()] == pytest.approx(plain)
    fitted = kind(sensitive="sex").fit(given)
    assert fitted.untouched_ == ["city"]
    assert fitted.get_feature_names_out().tolist() == ["pay", "city", "age"]


@pytest.mark.parametrize("kind", [Repair, Decorrelate])
def test_in_a_saved_pipeline(kind: Any, tmp_path: Path) -> None:
    people = pd.DataFrame(columns())
    X, y = people[["sex", "pay", "age"]], np.where(people["pay"] > people["pay"].median(), "yes", "no")
    line = make_pipeline(kind(sensitive="sex"), LogisticRegression())
    assert len(cross_val_predict(line, X, y, cv=3)) == len(y)
    line.fit(X, y)
    loaded = load_model(save_model(line, tmp_path / "line.skops"), positive="yes")
    assert loaded.estimator.predict(X).tolist() == line.predict(X).tolist()
    with sklearn.config_context(enable_metadata_routing=True):
        step = kind().set_fit_request(sensitive_features=True).set_transform_request(sensitive_features=True)
        routed = make_pipeline(step, LogisticRegression()).fit(X[["pay", "age"]], y, sensitive_features=X["sex"])
        assert routed.predict(X[["pay", "age"]], sensitive_features=X["sex"]).tolist() == line.predict(X).tolist()


def test_missing_numbers_are_refused() -> None:
    frame = pd.DataFrame({"sex": ["f", "m", "f"], "pay": [1.0, None, 2.0]})
    for kind in (Repair, Decorrelate):
        with pytest.raises(DataError, match="X contains NaN or infinity in 'pay'; impute these first"):
            kind(sensitive="sex").fit(frame)


def test_prototypes_hide_the_group(tmp_path: Path) -> None:
    pytest.importorskip("fairlearn.preprocessing")
    rng = np.random.default_rng(0)
    sex = rng.integers(0, 2, 150)
    X = np.c_[rng.normal(sex * 2.0, 1), rng.normal(size=150)]
    y = X[:, 0] + X[:, 1] > 1
    options = {"prototypes": 2, "max_iter": 20}
    found = Represent(fairness=20.0, **options).fit(X, y, sensitive_features=sex)
    M, blind = found.transform(X), Represent(fairness=0.0, **options).fit(X, y, sensitive_features=sex).transform(X)
    assert M.sum(axis=1) == pytest.approx(np.ones(150))
    apart, before = (np.abs(m[sex == 1].mean(axis=0) - m[sex == 0].mean(axis=0)).max() for m in (M, blind))
    assert apart < 0.5 * before
    equal = Represent(fairness=20.0, **options).fit(X, y, sensitive_features=sex, sample_weight=np.full(150, 0.4))
    assert equal.transform(X) == pytest.approx(M)
    few = Represent(**options).fit(X, y, sensitive_features=sex, sample_weight=np.where(X[:, 0] > 3, 0.0, 1.0))
    assert few.prototypes_[:, 0].max() < 3.5, "people without weight leave no trace"
    line = make_pipeline(found, LogisticRegression()).fit(X, y, represent__sensitive_features=sex)
    loaded = load_model(save_model(line, tmp_path / "line.skops"))
    assert loaded.estimator.predict(X).tolist() == line.predict(X).tolist()


def test_without_fairlearn_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fairlearn.preprocessing", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'isonomia\[mitigation\]'"):
        Represent().fit(np.eye(4), [0, 1, 0, 1], sensitive_features=[0, 0, 1, 1])
