"""Weights by the two formulas, for classes and for bands of numbers; the estimator that trains with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from tests.mitigation.conftest import People

from isonomia import DataError, SpecError, mitigation
from isonomia.mitigation import Reweigh, weights

HIRED, SEX = np.array([1, 1, 0, 0, 0, 1, 1, 1, 1, 0]), np.repeat(["f", "m"], 5)


def test_the_toy_of_kamiran_and_calders() -> None:
    found = weights(HIRED, SEX)
    assert {(s, y): w for s, y, w in zip(SEX, HIRED.tolist(), found.tolist(), strict=True)} == pytest.approx(
        {("f", 1): 1.5, ("f", 0): 2 / 3, ("m", 1): 0.75, ("m", 0): 2.0}
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("adult", [0.854021, 2.190192, 1.092621, 0.787714]),
        ("german", [0.7125, 1.209091, 1.104545, 0.961017]),
        ("compas, all races", [0.931999, 1.064898, 1.164376, 0.894522]),
        ("default", [1.064676, 0.983039, 0.915289, 1.026997]),
    ],
)
def test_weights_of_the_literature(name: str, expected: list[float], people: Callable[[str], People]) -> None:
    """As AIF360 0.6.1 gives them."""
    everyone = people(name)
    w = weights(everyone.y, everyone.who)
    cells = [(everyone.who == g) & (everyone.y == c) for g in (0, 1) for c in (0, 1)]
    assert [w[cell][0] for cell in cells] == pytest.approx(expected, abs=1e-6)
    rates = [np.average(everyone.y[everyone.who == g], weights=w[everyone.who == g]) for g in (0, 1)]
    assert abs(rates[1] - rates[0]) < 1e-12


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("adult", [0.8452, 0.1243, 0.2087, 0.1357, -0.0117]),
        ("compas", [0.6599, 0.6234, 0.6183, 0.1322, -0.0517]),
        ("german", [0.7400, 0.6596, 0.8063, -0.2050, 0.0207]),
        ("default", [0.8099, 0.9353, 0.9244, 0.0075, -0.0152]),
    ],
)
def test_figures_on_held_out_people(name: str, figures: list[float], people: Callable[[str], People]) -> None:
    """As AIF360's reweighing gives with the same estimator and split."""
    everyone = people(name)
    rows, model = everyone.train, LogisticRegression(max_iter=1000)
    fair = Reweigh(model).fit(everyone.X[rows], everyone.y[rows], sensitive_features=everyone.who[rows])
    assert everyone.figures(fair.predict(everyone.X[~rows])) == pytest.approx(figures, abs=0.001)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.floats(0.1, 5)), min_size=9, max_size=60))
def test_weighted_outcomes_are_independent_of_groups(rows: list[tuple[int, int, float]]) -> None:
    rows = [*rows, *[(g, c, 1.0) for g in range(3) for c in range(3)]]  # no empty cell
    group, y, own = (np.array(column) for column in zip(*rows, strict=True))
    w = weights(y, group, sample_weight=own)
    share = np.array([[w[(group == g) & (y == c)].sum() / w[group == g].sum() for c in range(3)] for g in range(3)])
    assert np.abs(share - share[0]).max() < 1e-12
    assert w.sum() == pytest.approx(own.sum())
    odds = weights(y, group, "equalized_odds", sample_weight=own)
    cells = np.array([[odds[(group == g) & (y == c)].sum() for c in range(3)] for g in range(3)])
    assert np.abs(cells - cells[0]).max() < 1e-9
    assert cells.sum(axis=0) == pytest.approx([own[y == c].sum() for c in range(3)])


def test_the_two_formulas_agree_for_groups_of_one_size_only() -> None:
    assert weights(HIRED, SEX) == pytest.approx(weights(HIRED, SEX, "equalized_odds"))
    unequal = slice(1, None)
    assert (
        np.abs(weights(HIRED[unequal], SEX[unequal]) - weights(HIRED[unequal], SEX[unequal], "equalized_odds")).max()
        > 0.1
    )


def test_numbers_are_cut_into_bands_of_equal_mass(rng: np.random.Generator) -> None:
    group = rng.integers(0, 2, 4000)
    y = rng.normal(group, 1)
    w = weights(y, group)
    edges = np.quantile(y, np.linspace(0, 1, 11))
    band = np.clip(np.searchsorted(edges, y, side="right") - 1, 0, 9)
    for one in range(10):
        rows = band == one
        independent = (group == 1).mean() * rows.mean() / (rows & (group == 1)).mean()
        assert w[rows & (group == 1)] == pytest.approx(independent)
    weighted = [np.average(y[group == g], weights=w[group == g]) for g in (0, 1)]
    assert abs(weighted[1] - weighted[0]) < 0.05 < abs(y[group == 1].mean() - y[group == 0].mean())


def test_the_estimator_trains_with_the_weights(rng: np.random.Generator) -> None:
    sex = rng.integers(0, 2, 500)
    X = np.c_[rng.normal(sex, 1), rng.normal(size=500)]
    y = (X[:, 0] + rng.normal(size=500) > 0.5).astype(int)
    fair = Reweigh(LogisticRegression()).fit(X, y, sensitive_features=sex)
    direct = LogisticRegression().fit(X, y, sample_weight=weights(y, sex))
    assert fair.predict_proba(X) == pytest.approx(direct.predict_proba(X))
    w = weights(y, sex)
    assert fair.effective_size_ == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert fair.groups_ == [(0,), (1,)]
    numbers = Reweigh(LinearRegression(), clip=1.2).fit(X, X[:, 0], sensitive_features=sex)
    assert numbers.weights_.shape == (2, 10)
    assert numbers.weights_.max() == 1.2


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ({"estimator": KNeighborsClassifier()}, HIRED, "KNeighborsClassifier does not"),
        ({}, np.where(SEX == "f", 0, HIRED), r"no rows of f with y = 1"),
        ({}, np.where(HIRED == 1, None, "no"), "missing"),
    ],
)
def test_what_cannot_be_balanced_is_refused(options: dict[str, Any], y: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Reweigh(**options).fit(np.arange(10.0)[:, None], y, sensitive_features=SEX)


def test_an_empty_cell_may_be_ignored() -> None:
    y = np.where(SEX == "f", 0, HIRED)
    fair = Reweigh(empty="ignore").fit(np.arange(10.0)[:, None], y, sensitive_features=SEX)
    assert fair.empty_cells_ == ["f with y = 1"]
    assert fair.weights_[0, 1] == 0


def test_wrong_options_are_refused_by_name() -> None:
    with pytest.raises(SpecError, match=r"`target` must be one of demographic_parity, equalized_odds; got 'odds'"):
        weights(HIRED, SEX, "odds")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="2 options are wrong"):
        Reweigh(bands=1, clip=-1.0).fit(np.arange(10.0)[:, None], HIRED, sensitive_features=SEX)
    with pytest.raises(DataError, match="9 rows"):
        weights(HIRED, SEX[1:])


def test_the_registry_describes_it() -> None:
    entry = mitigation.MITIGATIONS["reweighing"]
    assert (entry.stage, entry.needs, entry.randomised, entry.estimator) == (
        "before",
        ("sample_weight",),
        False,
        Reweigh,
    )
    assert [one.name for one in entry.parameters] == ["target", "bands", "clip", "empty"]
    assert all(one.help for one in entry.parameters)
    assert entry.read({"bands": 5}) == {"bands": 5}
    assert entry.about.text("pt-BR") != entry.purpose


def test_the_function_refuses_empty_cells_as_the_estimator_does() -> None:
    """Group a all hired, group b never: no weight balances that."""
    y, group = [1] * 10 + [0] * 10, ["a"] * 10 + ["b"] * 10
    with pytest.raises(DataError, match="No weight can balance a group that lacks an outcome") as function:
        weights(y, group)
    with pytest.raises(DataError) as estimator:
        Reweigh().fit(np.arange(20.0)[:, None], y, sensitive_features=group)
    assert str(function.value) == str(estimator.value)
    assert weights(y, group, empty="ignore").tolist() == [0.5] * 20
