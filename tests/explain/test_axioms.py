"""What defines Shapley values, for random games: efficiency, dummy, symmetry, linearity, antisymmetry."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.explain.conftest import brute_force

import isonomia as iso
from isonomia.data import to_frame
from isonomia.explain.methods.kernel import draw_pairs

NAMES = ["a", "b", "c", "d"]
METHODS = ("enumeration", "kernel", "sampling")


def explain(function: Any, rows: Any, background: Any, method: str) -> Any:
    """Values of a function of the four columns; the sampled ones with pairs enough for a look."""
    frame = to_frame({name: rows[:, at] for at, name in enumerate(NAMES)} | {"y": np.arange(len(rows)) * 1.0}, "pandas")
    back = to_frame({name: background[:, at] for at, name in enumerate(NAMES)}, "pandas")
    model = iso.Model.of(lambda frame: function(frame[NAMES].to_numpy()), task="regression", features=NAMES)
    data = iso.Dataset(frame, target="y", task="regression", features=NAMES)
    options = {"kernel": {"coalitions": 64}}.get(method)
    return iso.explain.shapley(data, model, method=method, background=back, options=options)


def game(seed: int) -> Any:
    """A smooth function with interactions; column d does nothing, a and b are exchangeable."""
    w = np.random.default_rng(seed).normal(size=5)

    def f(x: Any) -> Any:
        a, b, c = x[:, 0], x[:, 1], x[:, 2]
        return w[0] * (a + b) + w[1] * a * b + w[2] * c * (a + b) + w[3] * np.tanh(w[4] * c)

    return f


def rows_of(seed: int, n: int) -> Any:
    return np.random.default_rng(seed).normal(size=(n, 4)).round(3)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 1000), method=st.sampled_from(METHODS))
def test_efficiency_dummy_and_symmetry(seed: int, method: str) -> None:
    f, rows, back = game(seed), rows_of(seed, 5), rows_of(seed + 1, 7)
    rows[0, 1], back[:, 1] = rows[0, 0], back[:, 0]  # a and b play the same part for the first row
    found = explain(f, rows, back, method)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), f(rows), atol=1e-10)
    assert found.additivity < 1e-10
    np.testing.assert_allclose(found.values[:, 3], 0, atol=1e-10)
    slack = 1e-10 if found.error is None else 5 * found.error[0, :2].max() + 1e-10
    assert abs(found.values[0, 0] - found.values[0, 1]) <= slack


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 1000))
def test_linearity_and_the_definition(seed: int) -> None:
    f, g, rows, back = game(seed), game(seed + 7), rows_of(seed, 3), rows_of(seed + 1, 6)
    both = explain(lambda x: 2 * f(x) - g(x), rows, back, "enumeration").values
    one, other = (explain(each, rows, back, "enumeration").values for each in (f, g))
    np.testing.assert_allclose(both, 2 * one - other, atol=1e-10)
    np.testing.assert_allclose(one[2], brute_force(f, rows[2], back), atol=1e-12)
    every = explain(f, rows, back, "kernel")
    assert every.error is None  # 14 coalitions: all of them were tried
    np.testing.assert_allclose(every.values, one, atol=1e-10)


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 1000))
def test_person_and_background_are_antisymmetric(seed: int) -> None:
    f, rows = game(seed), rows_of(seed, 2)
    there = explain(f, rows[:1], rows[1:], "enumeration").values
    back = explain(f, rows[1:], rows[:1], "enumeration").values
    np.testing.assert_allclose(there, -back, atol=1e-12)


@pytest.mark.parametrize(("players", "count"), [(5, 15), (8, 60), (63, 300), (102, 1200)])
def test_pairs_of_coalitions_are_distinct_and_of_every_size(players: int, count: int) -> None:
    """More than 62 players do not fit into the bits of one number."""
    pairs = draw_pairs(players, count, np.random.default_rng(0))
    assert pairs.inside.shape[1] == players
    assert len(np.unique(pairs.inside, axis=0)) == len(pairs.inside)
    sizes = pairs.inside.sum(axis=1)
    assert set(sizes.tolist()) == set(range(1, players // 2 + 1))
    np.testing.assert_allclose(pairs.sampled[sizes == 1], 1 - (sizes == 1).sum() / players)


@pytest.mark.parametrize("method", ["kernel", "sampling"])
def test_standard_errors_are_as_large_as_the_errors(method: str) -> None:
    """The ratio of errors to standard errors, over columns, rows and seeds, is about 1."""
    rng = np.random.default_rng(0)
    names = [f"x{at}" for at in range(9)]
    w, v = rng.normal(size=9), rng.normal(size=(9, 9)) / 3

    def f(frame: Any) -> Any:
        x = frame[names].to_numpy()
        return np.tanh(x @ w / 3) + np.einsum("ni,ij,nj->n", x, v, x) / 3

    x = rng.normal(size=(40, 9))
    frame = to_frame({name: x[:, at] for at, name in enumerate(names)} | {"y": x[:, 0]}, "pandas")
    data = iso.Dataset(frame, target="y", task="regression", features=names)
    model = iso.Model.of(f, task="regression", features=names)
    exact = iso.explain.shapley(data, model, method="enumeration", rows=np.arange(8), max_model_rows=10**8).values
    ratios = []
    options = {"kernel": {"coalitions": 120}, "sampling": {"pairs": 12}}[method]
    for seed in range(12):
        found = iso.explain.shapley(data, model, method=method, rows=np.arange(8), seed=seed, options=options)
        assert found.error is not None
        ratios.append((found.values - exact) / found.error)
    size = np.sqrt(np.mean(np.square(ratios)))
    assert 0.7 < size < 1.25, size


@pytest.mark.parametrize("method", ["kernel", "sampling"])
def test_an_asked_error_is_reached_or_flagged(method: str) -> None:
    rows = rows_of(3, 30)
    names = [f"x{at}" for at in range(8)]
    x = np.hstack([rows, rows_of(4, 30)])
    frame = to_frame({name: x[:, at] for at, name in enumerate(names)} | {"y": x[:, 0]}, "pandas")
    data = iso.Dataset(frame, target="y", task="regression", features=names)
    model = iso.Model.of(lambda frame: np.tanh(frame[names].to_numpy().prod(axis=1)), task="regression", features=names)
    start = {"kernel": {"coalitions": 40}, "sampling": {"pairs": 4}}[method]
    whole = iso.explain.shapley(data, model, method=method, rows=[0, 1], options={**start, "error": 0.02})
    assert whole.notes == ()
    assert whole.error is None or whole.error.max() <= 0.02
    short = iso.explain.shapley(
        data, model, method=method, rows=[0, 1], options={**start, "error": 1e-4}, max_model_rows=4000
    )
    assert "more than the 0.0001" in short.notes[-1].text()
    assert "acima do valor" in short.notes[-1].text("pt-BR")
    with pytest.raises(iso.SpecError, match=r"at least [\d,]+ model rows; `max_model_rows` allows 50"):
        iso.explain.shapley(data, model, method=method, rows=[0, 1], max_model_rows=50)
