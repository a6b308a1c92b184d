"""Sizes of samples and numbers of flipped labels, exactly; what the published curves say about accuracy and rates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from tests.mitigation.conftest import People

from isonomia import DataError, SpecError
from isonomia.mitigation import Massage, Resample, sample

HIRED, SEX = np.array([1, 1, 0, 0, 0, 1, 1, 1, 1, 0]), np.repeat(["f", "m"], 5)


def labels(name: str, folder: Path) -> tuple[Any, Any]:
    """The outcome (1 = the class that the favoured group has more of) and the favoured group."""
    frame = pd.read_csv(folder / f"{name}.csv.gz", keep_default_na=name == "compas")
    if name == "adult":
        return frame["income"] == ">50K", frame["sex"] == "Male"
    if name == "german":
        return frame["credit_risk"] == 1, frame["age"] > 25
    if name == "default":
        return frame["default payment next month"] == 1, frame["SEX"] == 1
    kept = frame[frame["days_b_screening_arrest"].between(-30, 30) & (frame["is_recid"] != -1)]
    return kept["two_year_recid"] == 0, kept["race"] == "Caucasian"


@pytest.mark.parametrize(
    ("name", "at_0", "at_minus_1"),
    [
        ("adult", (7150, 5623), (2788, 4054)),
        ("german", (513, 47), (302, 41)),
        ("compas", (984, 1739), (861, 1335)),
        ("default", (2560, 13248), (2364, 11807)),
    ],
)
def test_the_sizes_of_undersampling(name: str, at_0: Any, at_minus_1: Any, shared_data: Path) -> None:
    y, who = (np.asarray(column, dtype=int) for column in labels(name, shared_data))
    for d, expected in ((0.0, at_0), (-1.0, at_minus_1)):
        rows = sample(y, who, d)
        assert ((y[rows] & who[rows]).sum(), ((1 - y[rows]) & (1 - who[rows])).sum()) == expected
        whole = (y != who).sum()
        assert len(rows) == whole + sum(expected), "the two other cells stay whole"
        assert len(np.unique(rows)) == len(rows)
    assert sample(y, who, 1.0).tolist() == list(range(len(y)))


@pytest.mark.parametrize(("name", "flips"), [("adult", 2105.45), ("german", 23.0), ("compas", 135.12)])
def test_the_number_of_massaged_labels(name: str, flips: float, shared_data: Path) -> None:
    y, who = (np.asarray(column, dtype=int) for column in labels(name, shared_data))
    X = np.random.default_rng(0).normal(y, 1)[:, None]
    fair = Massage().fit(X, y, sensitive_features=who)
    assert fair.exact_flips_ == pytest.approx([-flips, flips], abs=0.005)
    assert len(fair.flipped_) == 2 * round(flips)
    after = y.copy()
    after[fair.flipped_] = 1 - after[fair.flipped_]
    assert abs(after[who == 1].mean() - after[who == 0].mean()) < 1 / min((who == 1).sum(), (who == 0).sum())


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=80),
    st.sampled_from(["under", "over"]),
    st.sampled_from(["quadratic", "linear"]),
)
def test_d_of_1_changes_nothing_and_0_makes_groups_alike(
    rows: list[tuple[int, int]], strategy: Any, shape: Any
) -> None:
    rows = [*rows, *[(g, c) for g in range(3) for c in range(3)]]
    group, y = (np.array(column) for column in zip(*rows, strict=True))
    everything = sample(y, group, 1.0, strategy, shape)
    assert everything.tolist() == list(range(len(y)))
    kept = sample(y, group, 0.0, strategy, shape)
    n, overall = len(y), np.bincount(y) / len(y)
    for g in range(3):
        own = y[kept][group[kept] == g]
        # a cell loses less than one row to the floor
        assert np.abs(np.bincount(own, minlength=3) - overall * (own.size)).max() < 3
    assert (len(kept) <= n) if strategy == "under" else set(kept) <= set(range(n))


def test_minus_1_exchanges_the_rates_of_two_groups() -> None:
    y, who = np.r_[np.repeat([0, 1], [80, 20]), np.repeat([0, 1], [40, 60])], np.repeat([0, 1], 100)
    for strategy in ("under", "over"):
        kept = sample(y, who, -1.0, strategy)  # type: ignore[arg-type]
        assert y[kept][who[kept] == 0].mean() == pytest.approx(0.6, abs=0.01)
        assert y[kept][who[kept] == 1].mean() == pytest.approx(0.2, abs=0.01)
    halfway = {shape: sample(y, who, 0.0, shape=shape) for shape in ("quadratic", "linear")}  # type: ignore[arg-type]
    assert y[halfway["quadratic"]].mean() == pytest.approx(y.mean(), abs=0.01)


def test_weights_decide_the_shares(rng: np.random.Generator) -> None:
    y, who = rng.integers(0, 2, 3000), rng.integers(0, 2, 3000)
    weights = np.where((who == 1) & (y == 1), 3.0, 1.0)
    kept = sample(y, who, 0.0, sample_weight=weights)
    rates = [np.average(y[kept][who[kept] == g], weights=weights[kept][who[kept] == g]) for g in (0, 1)]
    assert rates[1] == pytest.approx(rates[0], abs=0.005)
    assert np.average(y, weights=weights) == pytest.approx(rates[0], abs=0.005)


def test_the_same_seed_gives_the_same_rows() -> None:
    y, who = np.tile([0, 1, 1], 100), np.repeat([0, 1, 1], 100)
    y = np.where(who == 0, y, 1 - y)
    assert sample(y, who, seed=3).tolist() == sample(y, who, seed=3).tolist() != sample(y, who, seed=4).tolist()


def test_preferential_sampling_takes_the_border() -> None:
    y, who = np.r_[np.repeat([0, 1], [80, 20]), np.repeat([0, 1], [40, 60])], np.repeat([0, 1], 100)
    scores = np.arange(200) % 100 / 100
    kept = sample(y, who, 0.0, "preferential", scores=scores)
    times = np.bincount(kept, minlength=200)
    assert len(kept) == 200
    assert times[:20].tolist() == [1] * 20, "negatives with low scores stay"
    assert times[60:80].tolist() == [0] * 20, "those nearest the border go"
    assert times[80:100].tolist() == [2] * 20, "positives of the disfavoured group are repeated"
    with pytest.raises(DataError, match="Preferential sampling needs two classes and a score per row"):
        sample(y, who, 0.0, "preferential")


#: fairCorrect's result files: accuracy and rates of the two groups, LR with liblinear, mean of 20 random splits 90/10.
CURVES = [
    ("adult", "under", 1.0, (0.8511, 0.0741, 0.2521)),
    ("adult", "under", 0.0, (0.8453, 0.1240, 0.2080)),
    ("adult", "under", -1.0, (0.8199, 0.1459, 0.1019)),
    ("adult", "over", 0.0, (0.8439, 0.1283, 0.2094)),
    ("adult", "over", -1.0, (0.8192,)),
    ("adult", "preferential", 0.0, (0.8292, 0.1938, 0.1724)),
    ("adult", "preferential", -1.0, (0.7896, 0.2518, 0.0877)),
    ("compas, all races", "under", 1.0, (0.6755, 0.5505, 0.7315)),
    ("compas, all races", "under", 0.0, (0.6595, 0.6341, 0.5891)),
    ("compas, all races", "under", -1.0, (0.6344, 0.7364, 0.5200)),
    ("german by sex", "under", 1.0, (0.7530, 0.6810, 0.8039)),
    ("german by sex", "under", 0.0, (0.7512, 0.7358, 0.7824)),
    ("german by sex", "under", -1.0, (0.7428, 0.7600, 0.7336)),
]


@pytest.mark.parametrize(("name", "strategy", "d", "published"), CURVES)
def test_the_published_curves(
    name: str, strategy: Any, d: float, published: tuple[float, ...], people: Callable[[str], People]
) -> None:
    """Within three standard errors of the splits: those of the source are 20 others of the same people.

    The source ranks people by a Gaussian naive Bayes of the numbers in their own units (its smoothing is a share of the
    largest variance, that of capital gains).
    """
    everyone, splits = people(name), 2 if name == "adult" else 20
    ranker = make_pipeline(FunctionTransformer(lambda X: X * everyone.units), GaussianNB())
    found = []
    for seed in range(splits):
        train = np.random.default_rng(seed).permutation(len(everyone.y)) < 0.9 * len(everyone.y)
        split = replace(everyone, train=train)
        fair = Resample(LogisticRegression(solver="liblinear"), d=d, strategy=strategy, ranker=ranker, seed=seed)
        fair.fit(split.X[train], split.y[train], sensitive_features=split.who[train])
        found.append(split.figures(fair.predict(split.X[~train]))[:3])
    given = np.array(published)
    judged = np.array([len(everyone.y), *np.bincount(everyone.who)])[: len(given)] / 10
    error = np.sqrt(given * (1 - given) / judged * (1 / 20 + 1 / splits))
    assert np.abs((np.mean(found, axis=0)[: len(given)] - given) / error).max() < 3


def test_what_cannot_be_sampled_is_refused(rng: np.random.Generator) -> None:
    X, one_class = np.arange(10.0)[:, None], np.where(SEX == "f", 0, HIRED)
    with pytest.raises(DataError, match="no rows of f with y = 1"):
        Resample().fit(X, one_class, sensitive_features=SEX)
    with pytest.raises(SpecError, match=r"`d` must be a number in \[-1, 1\]; got 2"):
        sample(HIRED, SEX, 2)
    with pytest.raises(DataError, match="Massage is for two classes; y has 3"):
        Massage().fit(X, np.arange(10) % 3, sensitive_features=SEX)
    with pytest.raises(DataError, match="neither"):
        Massage(ranker=LinearRegression()).fit(X, HIRED, sensitive_features=SEX)
    y = rng.normal(size=200)
    numbers = Resample(LinearRegression()).fit(y[:, None], y, sensitive_features=np.arange(200) % 2)
    assert numbers.sizes_.shape == (2, 10)
