"""Exact answers against counting everyone in small domains."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from isonomia import NotApplicable
from isonomia.discovery import find_pairs
from isonomia.discovery.pairs.exact.domain_trees import read_domain_trees
from isonomia.probing import Domain, Oracle

pandas = pytest.importorskip("pandas")

SMALL = {"age": (1, 7), "sex": (0, 1), "hours": (0, 5), "job": (0, 3), "race": (0, 2), "debt": (-3, 3)}
DOMAIN = Domain(SMALL, backend="pandas")
EVERYONE = np.array(list(itertools.product(*(np.arange(low, high + 1) for low, high in SMALL.values()))), dtype=float)
MODELS: dict[str, Any] = {
    "tree": lambda: DecisionTreeClassifier(max_depth=6, random_state=0),
    "forest": lambda: RandomForestClassifier(6, max_depth=4, random_state=0),
    "extra": lambda: ExtraTreesClassifier(5, max_depth=4, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=8, max_depth=3, random_state=0),
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "ridge": lambda: RidgeClassifier(),
}


def learn(kind: str, seed: int, *, number: bool = False) -> Any:
    """A model of people drawn at random, whose outcome depends on sex and race in places."""
    rng = np.random.default_rng(seed)
    rows = DOMAIN.sample(400, rng)
    weights = rng.normal(0, 1, 6) * [1, 2, 1, 1, 1, 1]
    score = (rows - rows.mean(axis=0)) @ weights + rng.normal(0, 1, 400) + rows[:, 1] * (rows[:, 3] > 1)
    frame = DOMAIN.decode(rows)
    return MODELS[kind]().fit(frame, score if number else (score > np.median(score)).astype(int))


def by_hand(model: Any, protected: list[str], *, single: bool = False, gamma: float = 0.0) -> tuple[float, float]:
    """The share of people treated differently and the widest gap in score, by asking about everyone."""
    places = [DOMAIN.index(name) for name in protected]
    free = [place for place in range(6) if place not in places]
    if hasattr(model, "predict_proba"):
        score = model.predict_proba(DOMAIN.decode(EVERYONE))[:, 1]
    elif hasattr(model, "decision_function"):
        score = model.decision_function(DOMAIN.decode(EVERYONE))
    else:
        score = model.predict(DOMAIN.decode(EVERYONE))
    said = np.asarray(model.predict(DOMAIN.decode(EVERYONE)), dtype=float)
    order = np.lexsort(EVERYONE[:, [*places[::-1], *free[::-1]]].T)
    sizes = [int(DOMAIN.high[place] - DOMAIN.low[place]) + 1 for place in places]
    said, score = said[order].reshape(-1, *sizes), score[order].reshape(-1, *sizes)
    axes = [tuple(range(1, 1 + len(sizes)))] if not single else [(1 + axis,) for axis in range(len(sizes))]
    values = score if gamma else said
    differs = [(np.ptp(values, axis=axis) > gamma).reshape(len(said), -1).any(axis=1) for axis in axes]
    gap = max(float(np.ptp(score, axis=axis).max()) for axis in axes)
    return float(np.logical_or.reduce(differs).mean()), gap


@settings(max_examples=12)
@given(seed=st.integers(0, 10_000), kind=st.sampled_from(sorted(MODELS)), single=st.booleans(), two=st.booleans())
def test_share_gap_and_status_are_those_of_asking_everyone(seed: int, kind: str, single: bool, two: bool) -> None:
    model = learn(kind, seed)
    protected = ["sex", "race"] if two else ["sex"]
    result = find_pairs(
        DOMAIN, model, method="exact", protected=protected, one_attr_at_a_time=single, n_pairs=300, max_tests=None
    )
    share, gap = by_hand(model, protected, single=single)
    metrics = result.metrics
    assert metrics["share_low"] <= share + 1e-9
    assert metrics["share_high"] >= share - 1e-9
    assert metrics["share_low"] == pytest.approx(metrics["share_high"])
    assert metrics["status"] == ("pair" if share > 0 else "none")
    assert metrics["DSN"] == metrics["TSN"]
    assert metrics["max_gap"] == pytest.approx(gap, abs=1e-9)
    assert metrics["max_gap_bound"] == pytest.approx(gap, abs=1e-9)


@settings(max_examples=6)
@given(seed=st.integers(0, 10_000), gamma=st.sampled_from([0.1, 1.0, 4.0]))
def test_regressions_compare_numbers(seed: int, gamma: float) -> None:
    makers = {
        "one": lambda: DecisionTreeRegressor(max_depth=5, random_state=0),
        "many": lambda: RandomForestRegressor(4, max_depth=4, random_state=0),
        "boosted": lambda: GradientBoostingRegressor(n_estimators=6, random_state=0),
        "line": LinearRegression,
    }
    for kind, maker in makers.items():
        MODELS[kind] = maker
        model = learn(kind, seed, number=True)
        MODELS.pop(kind)
        result = find_pairs(DOMAIN, model, method="exact", protected="sex", gamma=gamma, n_pairs=50)
        share, gap = by_hand(model, ["sex"], gamma=gamma)
        assert result.metrics["share_low"] == pytest.approx(share)
        assert result.metrics["share_high"] == pytest.approx(share)
        assert result.metrics["max_gap"] == pytest.approx(gap)
        assert result.metrics["status"] == ("pair" if share > 0 else "none")


@pytest.mark.parametrize("kind", sorted(MODELS))
def test_a_model_that_ignores_the_attribute_is_proved_fair(kind: str) -> None:
    rng = np.random.default_rng(0)
    rows = DOMAIN.sample(400, rng)
    constant = rows.copy()
    constant[:, 1] = 1
    model = MODELS[kind]().fit(DOMAIN.decode(constant), (rows[:, 0] + rows[:, 2] > 6).astype(int))
    result = find_pairs(DOMAIN, model, method="exact", protected="sex")
    assert (result.metrics["status"], result.metrics["share_high"], result.metrics["max_gap_bound"]) == ("none", 0, 0)
    assert "Proved" in result.notes[-1].text()
    assert result.findings == ()


def test_trees_are_read_as_they_predict() -> None:
    protected, variants = np.array([1], dtype=np.intp), np.array([[0.0], [1.0]])
    for kind in ("tree", "forest", "extra"):
        model = learn(kind, 3)
        ensemble = read_domain_trees(Oracle(model, DOMAIN), protected, variants)
        assert np.allclose(ensemble.raw(EVERYONE)[:, 0], model.predict_proba(DOMAIN.decode(EVERYONE))[:, 1])
    model = learn("boosting", 3)
    ensemble = read_domain_trees(Oracle(model, DOMAIN), protected, variants)
    assert np.allclose(ensemble.raw(EVERYONE)[:, 0], model.decision_function(DOMAIN.decode(EVERYONE)))


def test_without_bounds_the_same_people_are_tested() -> None:
    model = learn("forest", 3)
    whole, quick = (
        find_pairs(DOMAIN, model, method="exact", protected="sex", max_boxes=20, bounds=bounds)
        for bounds in (True, False)
    )
    assert len(whole.pairs) > 0
    assert np.array_equal(whole.pairs.first, quick.pairs.first)
    assert np.array_equal(whole.pairs.second, quick.pairs.second)
    share, _ = by_hand(model, ["sex"])
    assert quick.metrics["share_low"] - 1e-9 <= share <= quick.metrics["share_high"] + 1e-9
    assert "max_gap" in whole.metrics
    assert "max_gap" not in quick.metrics


def test_without_bounds_a_proof_is_a_proof() -> None:
    model = MODELS["forest"]().fit(DOMAIN.decode(EVERYONE), (EVERYONE[:, 0] > 3).astype(int))
    metrics = find_pairs(DOMAIN, model, method="exact", protected="sex", bounds=False).metrics
    assert metrics["status"] == "none"
    assert metrics["share_high"] == 0


def test_a_small_budget_brackets_the_share() -> None:
    MODELS["deep"] = lambda: RandomForestClassifier(15, max_depth=7, random_state=0)
    model = learn("deep", 1)
    MODELS.pop("deep")
    share, _ = by_hand(model, ["sex"])
    widths = []
    for boxes in (1, 10, 100, 400, 1600, 60_000):
        metrics = find_pairs(DOMAIN, model, method="exact", protected="sex", max_boxes=boxes).metrics
        assert metrics["nodes_visited"] <= boxes
        assert metrics["share_low"] - 1e-9 <= share <= metrics["share_high"] + 1e-9
        assert metrics["max_gap"] <= metrics["max_gap_bound"]
        widths.append(metrics["share_high"] - metrics["share_low"])
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) >= 3
    assert widths[-1] == 0


def test_bounds_tighten_with_the_seconds_and_the_limit_is_kept(
    ticking: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("isonomia.discovery.pairs.exact.branch_and_bound.BATCH", 16)
    MODELS["deep"] = lambda: RandomForestClassifier(25, max_depth=8, random_state=0)
    model = learn("deep", 1)
    MODELS.pop("deep")
    share, _ = by_hand(model, ["sex"])
    brackets, visited = [], []
    for seconds in (40, 200, 1000, 20_000):
        ticking(1.0)  # every look at the clock takes a second
        metrics = find_pairs(
            DOMAIN, model, method="exact", protected="sex", max_seconds=seconds, max_tests=None
        ).metrics
        assert metrics["status"] == "pair"  # time was left to test what was certified
        assert metrics["total_time"] < seconds + 200  # one portion, and what it takes to tell
        brackets.append((metrics["share_low"], metrics["share_high"]))
        visited.append(metrics["nodes_visited"])
    lows, highs = zip(*brackets, strict=True)
    assert list(lows) == sorted(lows)
    assert list(highs) == sorted(highs, reverse=True)
    assert all(low - 1e-9 <= share <= high + 1e-9 for low, high in brackets)
    assert visited[0] < visited[1] < visited[2]
    assert lows[-1] == pytest.approx(highs[-1])


def test_there_is_a_status_whenever_the_seconds_end(ticking: Callable[[float], None]) -> None:
    model = learn("forest", 1)
    for seconds in (3, 8, 20, 60):
        ticking(1.0)
        metrics = find_pairs(DOMAIN, model, method="exact", protected="sex", max_seconds=seconds).metrics
        assert metrics["status"] in ("pair", "undecided")
        assert 0 <= metrics["share_low"] <= metrics["share_high"] <= 1
        assert (metrics["status"] == "pair") == (metrics["DSN"] > 0)


def test_linear_models_behind_encoders() -> None:
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    domain = Domain(
        {"age": (18, 60), "sex": ["F", "M"], "job": ["clerk", "cook", "judge"], "pay": (0.0, 10.0)}, backend="pandas"
    )
    rng = np.random.default_rng(1)
    rows = domain.sample(500, rng)
    y = (rows[:, 0] / 10 + 2 * rows[:, 1] + rows[:, 2] + rows[:, 3] + rng.normal(0, 1, 500) > 11).astype(int)
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["sex", "job"]), remainder=StandardScaler()), LogisticRegression()
    ).fit(domain.decode(rows), y)
    result = find_pairs(domain, model, method="exact", protected="sex")
    sampled = find_pairs(domain, model, method="themis", protected="sex", error=None, max_tests=40_000)
    low, high = result.metrics["share_low"], result.metrics["share_high"]
    share = sampled.values["share"]
    assert high - low < 0.01
    assert low <= share.high
    assert share.low <= high
    assert result.metrics["DSN"] > 0.95 * result.metrics["TSN"]  # cells of a real feature are a little wider


def test_models_that_cannot_be_read_are_named() -> None:
    from sklearn.neighbors import KNeighborsClassifier

    rows = DOMAIN.sample(50, np.random.default_rng(0))
    model = KNeighborsClassifier().fit(DOMAIN.decode(rows), (rows[:, 0] > 3).astype(int))
    with pytest.raises(NotApplicable, match="KNeighborsClassifier"):
        find_pairs(DOMAIN, model, method="exact", protected="sex")


def test_of_two_attributes_the_one_that_changes_margins_less_may_change_probabilities_more() -> None:
    model = learn("logistic", 0)
    options: dict[str, Any] = {"protected": ["sex", "race"], "one_attr_at_a_time": True, "max_tests": None}
    metrics = find_pairs(DOMAIN, model, method="exact", **options).metrics
    _, gap = by_hand(model, ["sex", "race"], single=True)
    assert metrics["max_gap"] == pytest.approx(gap, abs=1e-12)
    assert metrics["max_gap_bound"] == pytest.approx(gap, abs=1e-12)
