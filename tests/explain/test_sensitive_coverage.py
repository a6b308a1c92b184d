"""How often intervals of the disparity contain the truth, with a fixed seed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import isonomia as iso
from isonomia.evidence.intervals import student_interval
from isonomia.explain import EXPLAINERS, Prepared, prepare
from isonomia.explain.contributions import Contributions, Runner, contributions
from isonomia.explain.sensitive_figures import SensitiveRequest, by_sampling, by_values, rank_of
from isonomia.subject import Subject

NAMES = ["a", "u", "v"]


class Interacting:
    """Probabilities in which the attribute works differently for different people."""

    classes_ = np.array([0, 1])
    weight = 0.8

    def predict(self, rows: Any) -> Any:
        return (self.predict_proba(rows)[:, 1] >= 0.5).astype(int)

    def predict_proba(self, rows: Any) -> Any:
        a, u, v = np.asarray(rows, dtype=float).T
        p = 1 / (1 + np.exp(-(self.weight * a + u + 0.9 * a * v - 0.5 * u * v)))
        return np.stack([1 - p, p], axis=1)


def population(n: int, rng: np.random.Generator) -> Any:
    """Rows with an attribute that goes along with the other columns."""
    a = rng.random(n) < 0.4
    u = rng.normal(size=n) + 0.7 * a
    return np.column_stack([a, u, 0.5 * u + rng.normal(size=n)]).astype(float)


def prepared_of(rows: Any, model: Any) -> Prepared:
    columns = {name: rows[:, at] for at, name in enumerate(NAMES)} | {"y": [0, 1] * (len(rows) // 2)}
    data = iso.Dataset(columns, target="y", protected=["a"])
    return prepare(Subject.of(data, iso.Model.of(model, features=NAMES)), output="probability")


@pytest.fixture(scope="module")
def prepared() -> Prepared:
    return prepared_of(population(400, np.random.default_rng(1)), Interacting())


def truth(rng: np.random.Generator) -> float:
    """The disparity of the population: the mean of phi(x; b) over pairs of the two groups, by the definition."""
    rows = population(400_000, rng)
    x, b = rows[rows[:, 0] == 1], rows[rows[:, 0] == 0]
    n = min(len(x), len(b))
    x, b = x[:n], b[:n]
    total = np.zeros(n)
    for weight, inside in ((1 / 3, ()), (1 / 6, (1,)), (1 / 6, (2,)), (1 / 3, (1, 2))):
        without = b.copy()
        without[:, list(inside)] = x[:, list(inside)]
        including = without.copy()
        including[:, 0] = x[:, 0]
        model = Interacting()
        total += weight * (model.predict_proba(including) - model.predict_proba(without))[:, 1]
    return float(total.mean())


@pytest.mark.parametrize(("way", "n", "repeats"), [("values", 40, 600), ("draws", 100, 1200)])
def test_intervals_of_the_disparity_cover(prepared: Prepared, way: str, n: int, repeats: int) -> None:
    rng = np.random.default_rng(2)
    expected, covered = truth(rng), 0
    for seed in range(repeats):
        rows = population(n, rng)
        groups = rows[:, 0].astype(np.intp)
        sample = replace(
            prepared, located=rows, weights=np.ones(n), chosen=np.arange(n), pool=rows, pool_weights=np.ones(n)
        )
        request = SensitiveRequest(
            player=0,
            groups=groups,
            count=2,
            level=0.95,
            n_boot=0,
            error=None,
            importance=False,
            max_background=None,
            max_model_rows=10**7 if way == "values" else 4 * 2 * 400,
            seed=seed,
        )
        found = (
            by_values(sample, request, EXPLAINERS["enumeration"]) if way == "values" else by_sampling(sample, request)
        )
        smallest = int(min(groups.sum(), n - groups.sum()))
        low, high = student_interval(found.difference[1], found.difference_error[1], smallest)
        covered += low <= expected <= high
    assert 0.935 <= covered / repeats <= 0.965, covered / repeats


def test_draws_know_that_the_shares_of_groups_are_chance() -> None:
    """Three groups, an attribute that adds the same for everyone: the background adds to no disparity, but to means.

    phi_A(x; b) = w (a_x - a_b), so a disparity is known exactly but for the draws, and the mean of a group varies by
    w sd(a) / sqrt(n).
    """
    rng, n, w = np.random.default_rng(4), 300, 0.1
    model = iso.Model.of(lambda rows: w * np.asarray(rows, dtype=float)[:, 0], features=NAMES, task="regression")
    inside, widths = [], []
    for seed in range(200):
        a = rng.choice(3, n, p=[0.5, 0.3, 0.2]).astype(float)
        data = iso.Dataset(
            {"a": a, "u": rng.normal(size=n), "v": rng.normal(size=n), "y": rng.normal(size=n)},
            target="y",
            protected=["a"],
            privileged={"a": 0},
            task="regression",
        )
        table = iso.explain.sensitive(data, model, method="direct", importance=False, seed=seed).tables["groups"]
        for group in range(3):
            one = table["contribution"].estimate(group)
            inside.append(one.low <= w * (group - 0.7) <= one.high)
            widths.append((one.high - one.low) / 2 / (1.96 * w * np.sqrt(0.61 / n)))
        one = table["disparity"].estimate(2)
        assert one.high - one.low < 0.6 * w * np.sqrt(0.61 / n)
        assert one.value == pytest.approx(2 * w, abs=0.6 * w * np.sqrt(0.61 / n))
    assert 0.92 <= np.mean(inside) <= 0.98
    assert np.mean(widths) == pytest.approx(1, abs=0.05)


class Close(Interacting):
    """The same with an attribute that matters as much as another column."""

    weight = 0.4


def percentiles(size: Any, rng: np.random.Generator) -> tuple[float, float]:
    """Of the rank of the first column over resampled people."""
    means = size[rng.integers(len(size), size=(2000, len(size)))].mean(axis=1)
    low, high = np.percentile(1 + (means > means[:, :1]).sum(axis=1), [2.5, 97.5])
    return float(np.floor(low)), float(np.ceil(high))


def test_the_interval_of_the_rank_covers_the_choice_of_the_background() -> None:
    """200 people against 200 backgrounds of 40 rows: the rank against 4,000 rows lies within 95% intervals."""
    rng = np.random.default_rng(3)
    people, large = population(200, rng), population(4000, rng)
    request = SensitiveRequest(
        player=0,
        groups=people[:, 0].astype(np.intp),
        count=2,
        level=0.95,
        n_boot=300,
        error=None,
        importance=False,
        max_background=None,
        max_model_rows=10**8,
        seed=0,
    )
    own = prepared_of(people, Close())
    enumeration = EXPLAINERS["enumeration"]

    def against(back: Any) -> Contributions:
        given = replace(own, pool=back, pool_weights=np.ones(len(back)))
        run = Runner(given, enumeration, max_model_rows=10**8, seed=0)
        return contributions(run, 0, request.groups, limit=None, seed=0, both_ways=False)

    expected = rank_of(own, replace(request, n_boot=0), against(large)).value
    found = [against(population(40, rng)) for _ in range(200)]
    mean = np.stack([np.abs(one.values).mean(axis=0) for one in found])
    off = [one.shares[:, None] * (one.sizes - one.shares @ one.sizes) for one in found]
    variance = np.mean([(part**2).sum(axis=0) * len(part) / (len(part) - 1) for part in off], axis=0)
    np.testing.assert_allclose(np.sqrt(variance), mean.std(axis=0, ddof=1), rtol=0.25)  # four parts tell the spread
    ranks = [rank_of(own, request, one) for one in found]
    assert len({one.value for one in ranks}) > 1  # the background decides the rank
    covered = np.mean([one.low <= expected <= one.high for one in ranks])
    assert covered >= 0.93
    assert covered > np.mean([one.value == expected for one in ranks])
    people_only = [replace(one, shares=np.ones(1), sizes=one.sizes[:1]) for one in found[:50]]
    pairs = [(rank_of(own, request, one), percentiles(np.abs(one.values), rng)) for one in people_only]
    assert np.mean([(one.low, one.high) == ends for one, ends in pairs]) >= 0.8
    assert np.mean([low < high for _, (low, high) in pairs]) > 0.1
