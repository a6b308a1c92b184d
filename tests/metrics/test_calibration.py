"""Calibration against definitions, scikit-learn and brute force."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import LogisticRegression

from isonomia.counting import Codes
from isonomia.errors import NotApplicable, SpecError
from isonomia.evidence import wilson
from isonomia.evidence.intervals import Figures, difference_interval, difference_p
from isonomia.languages.locales import catalog
from isonomia.metrics import evaluate, expected_calibration_error, reliability
from isonomia.metrics.scores.bins import STRATEGIES, bin_edges, binned
from isonomia.metrics.scores.calibration_interval import CalibrationEnds
from isonomia.models import Surface

SEEDS = st.integers(0, 2**32 - 1)


def two(p: Any) -> Surface:
    return Surface.of_probabilities(p, classes=("no", "yes"))


def by_definition(y: Any, p: Any, edges: Any, w: Any) -> tuple[float, float]:
    """ECE and MCE, bin by bin."""
    place = np.clip(np.searchsorted(edges, p, side="right") - 1, 0, len(edges) - 2)
    total = worst = 0.0
    for b in np.unique(place):
        rows = place == b
        gap = abs(np.average(y[rows], weights=w[rows]) - np.average(p[rows], weights=w[rows]))
        total += gap * w[rows].sum() / w.sum()
        worst = max(worst, gap)
    return total, worst


@given(SEEDS, st.integers(1, 80), st.booleans(), st.sampled_from([1, 5, 10, 15]), st.sampled_from(STRATEGIES))
@settings(max_examples=50)
def test_errors_by_definition(seed: int, n: int, weighted: bool, bins: int, strategy: Any) -> None:
    rng = np.random.default_rng(seed)
    y, p = rng.integers(0, 2, n), rng.choice([rng.random(n), np.round(rng.random(n), 1)])
    w = rng.uniform(0.1, 3.0, n) if weighted else None
    found = reliability(y, two(p), bins=bins, strategy=strategy, weights=w)
    edges = bin_edges(p, bins, strategy, w)
    ece, mce = by_definition(y, p, edges, np.ones(n) if w is None else w)
    assert (found.ece.value, found.mce.value) == pytest.approx((ece, mce))
    assert found.brier.value == pytest.approx(np.average((p - y) ** 2, weights=w))
    assert found.gap.value == pytest.approx(np.average(y - p, weights=w))
    assert expected_calibration_error(y, two(p), bins=bins, strategy=strategy, weights=w) == pytest.approx(ece)


def test_confidence_of_nine_tenths_that_is_always_right_is_off_by_one_tenth() -> None:
    always = Surface.of_probabilities(np.array([[0.9, 0.05, 0.05], [0.05, 0.9, 0.05]] * 10), classes="abc")
    estimate = evaluate("ece", np.array([0, 1] * 10), always)
    assert estimate.value == pytest.approx(0.1)
    assert estimate.low < 0.1 < estimate.high  # twenty hits in twenty are no proof


def test_several_classes_are_judged_by_the_most_probable() -> None:
    rng = np.random.default_rng(1)
    p, y = rng.dirichlet(np.ones(4), 300), rng.integers(0, 4, 300)
    found = reliability(y, Surface.of_probabilities(p, classes="abcd"))
    right, top = (p.argmax(axis=1) == y).astype(int), p.max(axis=1)
    assert found.ece.value == pytest.approx(expected_calibration_error(right, two(top)))
    assert found.brier.value == pytest.approx(((p - np.eye(4)[y]) ** 2).sum(axis=1).mean())
    assert found.slope.value is None
    assert len(found.notes) == 2


def test_bins_hold_what_they_say() -> None:
    p = np.array([0.0, 0.05, 0.1, 0.3, 0.7, 0.95, 1.0])
    y = np.array([0, 1, 0, 0, 1, 1, 1])
    rows = list(reliability(y, two(p)).tables["bins"].rows())
    assert [(row["bin"], row["n"]) for row in rows] == [
        ("[0, 0.1)", 2),
        ("[0.1, 0.2)", 1),
        ("[0.3, 0.4)", 1),
        ("[0.7, 0.8)", 1),
        ("[0.9, 1]", 2),
    ]
    low = stats.binomtest(1, 2, alternative="greater").proportion_ci(method="exact").low  # a single case
    assert (rows[0]["observed_low"], rows[0]["observed_high"]) == pytest.approx((low, 1 - low))
    assert rows[0]["gap"] == pytest.approx(0.5 - 0.025)


@pytest.mark.parametrize("weighted", [False, True])
def test_groups_are_what_their_rows_alone_would_be(weighted: bool) -> None:
    rng = np.random.default_rng(2)
    n = 600
    p, sex = rng.random(n), rng.choice(["<F>", "M", None], n, p=[0.5, 0.4, 0.1])
    y = (rng.random(n) < p**1.5).astype(np.uint8)
    w = rng.uniform(0.5, 2.0, n) if weighted else None
    groups = Codes.encode(np.array(sex, dtype=object), name="sex")
    found = reliability(y, two(p), groups=groups, weights=w)
    assert [row["group"] for row in found.tables["by_group"].rows()] == ["<F>", "M", "missing"]
    for code, row in enumerate(found.tables["by_group"].rows()):
        rows = groups.codes == code
        alone = reliability(y[rows], two(p[rows]), weights=None if w is None else w[rows])
        assert row["n"] == rows.sum()
        assert row["mce"] == pytest.approx(alone.mce.value)
        for name, estimate in (("brier", alone.brier), ("gap", alone.gap), ("slope", alone.slope)):
            ends = (row[name], row[f"{name}_low"], row[f"{name}_high"])
            assert ends == pytest.approx((estimate.value, estimate.low, estimate.high)), name
        assert row["ece"] == pytest.approx(alone.ece.value)
        assert 0 <= row["ece_low"] <= row["ece"] <= row["ece_high"] <= 1
    whole = reliability(y, two(p), weights=w)
    assert found.ece.value == pytest.approx(whole.ece.value)
    assert len(found.tables["bins_by_group"]) > len(found.tables["bins"])
    assert [picture.table for picture in found.pictures] == ["bins", "bins_by_group"]


@pytest.mark.parametrize("weighted", [False, True])
def test_slope_is_that_of_a_logistic_regression(weighted: bool) -> None:
    rng = np.random.default_rng(3)
    logit = rng.normal(0, 2, 800)
    p = 1 / (1 + np.exp(-logit))
    y = (rng.random(800) < 1 / (1 + np.exp(-0.5 * logit - 0.3))).astype(np.uint8)
    w = rng.uniform(0.5, 2.0, 800) if weighted else None
    fitted = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(logit[:, None], y, sample_weight=w)
    slope = reliability(y, two(p), weights=w).slope
    assert slope.value == pytest.approx(float(fitted.coef_[0, 0]), abs=1e-5)
    assert slope.low < 0.5 < slope.high
    draws = []
    for _ in range(200):
        rows = rng.integers(0, 800, 800)
        part = None if w is None else w[rows]
        draws.append(reliability(y[rows], two(p[rows]), weights=part).slope.value)
    assert (slope.high - slope.low) / 3.92 == pytest.approx(np.std(draws), rel=0.2)


def test_a_score_that_says_nothing_has_a_slope_of_about_zero() -> None:
    """Newton's steps from a slope of 1 go back and forth here for ever: all log odds from -14 to 14."""
    rng = np.random.default_rng(5)
    p, y, group = rng.random(20_000), rng.integers(0, 2, 20_000), rng.integers(0, 3, 20_000)
    p[group == 1] = np.where(y[group == 1] == 1, 0.9, 0.2)  # separated: no slope, and no bother to the others
    found = list(reliability(y, two(p), groups=Codes.encode(group, name="group")).tables["by_group"].rows())
    for code in (0, 2):
        rows = group == code
        logit = (np.log(p) - np.log1p(-p))[rows, None]
        fitted = LogisticRegression(C=np.inf, tol=1e-10).fit(logit, y[rows])
        assert found[code]["slope"] == pytest.approx(float(fitted.coef_[0, 0]), abs=1e-6)
    assert found[1]["slope"] is None


@pytest.mark.parametrize(
    ("y", "p"),
    [
        ([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9]),  # parted
        ([1, 1, 1], [0.2, 0.5, 0.8]),  # one outcome
        ([0, 1, 1], [0.5, 0.5, 0.5]),  # one probability
        ([1], [1.0]),
    ],
)
def test_no_slope_where_none_can_be_fitted(y: Any, p: Any) -> None:
    slope = reliability(np.array(y), two(p)).slope
    assert slope.value is None
    assert slope.note.startswith(
        "no slope: all outcomes are the same" if len(set(y)) == 1 else "no slope can be fitted"
    )


@pytest.mark.parametrize(("n", "shift"), [(200, 0.0), (1000, 0.0), (1000, 0.1), (3000, 0.2)])
def test_interval_of_the_error_covers(n: int, shift: float) -> None:
    """Nominal 95% for models that are right, and for models that are off."""
    rng = np.random.default_rng(n)
    middles = np.arange(0.05, 1, 0.1)
    truth = np.abs(middles * (1 - 2 * shift) + shift - middles).mean()
    hits = 0
    for _ in range(200):
        p = rng.random(n)
        y = (rng.random(n) < p * (1 - 2 * shift) + shift).astype(np.uint8)
        estimate = evaluate("ece", y, two(p))
        hits += estimate.low <= truth <= estimate.high
    assert hits / 200 >= 0.9


def test_the_excess_of_a_noisy_gap_is_that_of_the_folded_normal() -> None:
    ends = CalibrationEnds(
        np.array([[0.03, 0.0]]), np.array([[0.0004, 0.0001]]), np.full((1, 2), 0.5), np.array([500.0])
    )
    excess = ends._excess(np.abs(ends.gap))[0]
    expected = [stats.foldnorm.mean(gap / s, scale=s) - gap for gap, s in ((0.03, 0.02), (0.0, 0.01))]
    np.testing.assert_allclose(excess, expected)
    low, high = (float(end[0]) for end in ends.at(0.025))
    stretched = float(ends._excess(np.abs(ends.gap) * high / 0.03).sum())
    assert high == pytest.approx(0.03 + 1.959964 * float(ends.error[0]) - stretched, abs=1e-6)
    assert 0 <= low < 0.03


def test_a_small_group_is_not_worse_calibrated_because_it_is_small() -> None:
    """The error of 60 rows is far above that of 1,000 for the same model; the test of their difference knows."""
    rng = np.random.default_rng(8)
    p = rng.random(300 * 1060)
    y = (rng.random(p.size) < p).astype(np.uint8)
    small, large = (slice(0, 300 * 60), slice(300 * 60, None))
    figures = []
    for rows, n in ((small, 60), (large, 1000)):
        groups = Codes("g", np.repeat(np.arange(300), n), tuple(range(300)))
        table = binned(y[rows], two(p[rows]), groups=groups)
        figures.append(Figures(table.error(), ends=table.ends()))
    assert figures[0].value.mean() > 3 * figures[1].value.mean()
    assert (difference_p(*figures) < 0.05).mean() <= 0.05


def test_a_difference_of_calibration_errors_covers_where_one_model_is_right() -> None:
    """The error seen of a calibrated model is all excess: the difference is measured from what is expected of it."""
    rng = np.random.default_rng(9)
    p, groups = rng.random(300 * 1000), Codes("g", np.repeat(np.arange(300), 1000), tuple(range(300)))
    middles = np.arange(0.05, 1, 0.1)
    truth = float(np.abs(middles * 0.6 + 0.2 - middles).mean())
    figures = []
    for chance in (p * 0.6 + 0.2, p):
        table = binned((rng.random(p.size) < chance).astype(np.uint8), two(p), groups=groups)
        figures.append(Figures(table.error(), ends=table.ends()))
    low, high = difference_interval(*figures)
    assert ((low <= truth) & (truth <= high)).mean() >= 0.92
    assert (figures[0].value - figures[1].value).mean() < truth - 0.01  # the plain difference is far off


def test_the_gap_of_few_outcomes_has_the_interval_of_the_observed_rate() -> None:
    y, p = np.array([1] * 2 + [0] * 98), np.full(100, 0.1)
    row = next(reliability(y, two(p), groups=Codes.encode(["a"] * 100, name="g")).tables["by_group"].rows())
    low, high = wilson(2, 100)
    assert (row["gap_low"], row["gap_high"]) == pytest.approx((float(low) - 0.1, float(high) - 0.1))
    assert row["p_value"] == pytest.approx(2 * stats.norm.sf(0.08 / np.sqrt(0.1 * 0.9 / 100)))
    assert 0 <= row["brier_low"] < row["brier"] < row["brier_high"]
    many = reliability(np.array([1] * 40 + [0] * 60), two(np.linspace(0.2, 0.8, 100))).gap
    assert (many.method, many.low < many.value < many.high) == ("hall", True)


def test_equal_mass_merges_equal_edges() -> None:
    p = np.array([0.2] * 50 + [0.9])
    assert bin_edges(p, 10, "quantile").tolist() == [0.2, 0.9]
    assert bin_edges(np.full(5, 0.3), 10, "quantile").tolist() == [0.0, 1.0]
    counts = [
        row["n"]
        for row in reliability(np.arange(100) % 2, two(np.linspace(0, 1, 100)), strategy="quantile")
        .tables["bins"]
        .rows()
    ]
    assert max(counts) - min(counts) <= 2


def test_what_cannot_be_judged() -> None:
    with pytest.raises(NotApplicable, match="it needs probability"):
        reliability(np.array([0, 1]), Surface.of_labels([0, 1], classes=(0, 1)))
    for bins in (0, 1001, 2.5, True):
        with pytest.raises(SpecError, match="`bins` must be a whole number of at least 1 and at most 1000"):
            reliability(np.array([0, 1]), two([0.1, 0.9]), bins=bins)
    with pytest.raises(SpecError, match="Did you mean 'quantile'"):
        reliability(np.array([0, 1]), two([0.1, 0.9]), strategy="quantiles")


def test_the_result_is_json_safe_and_speaks_portuguese() -> None:
    found = reliability(np.array([0, 1, 1]), two([0.2, 0.6, 0.7]))
    told = found.to_dict()
    assert told["values"]["ece"]["value"] == pytest.approx(found.ece.value)
    assert found.title.text("pt-BR") == "Calibração das probabilidades"
    known = catalog("pt-BR")
    for table in found.tables.values():
        assert all(column.title.template in known for column in table.columns if column.title is not None)
    assert all(note.template in known for note in found.notes)


def test_the_p_value_of_a_slope_is_that_of_the_exact_conditional_distribution() -> None:
    """Every way in which as many of the rows could have come true, weighed by its odds; half of ties count (mid-p)."""
    p = np.array([0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.45, 0.55, 0.6, 0.7, 0.75, 0.85, 0.9, 0.97])
    x = np.log(p / (1 - p))
    for came_true in ([0, 2, 3, 5, 7, 9, 12], [6, 8, 9, 10, 11, 12, 13], [1, 3, 6, 8, 10, 11, 13]):
        y = np.isin(np.arange(p.size), came_true).astype(np.uint8)
        ways = np.array(list(combinations(range(p.size), len(came_true))))
        statistic = x[ways].sum(axis=1)
        odds = np.exp(statistic)
        beyond, equal = statistic > x[came_true].sum() + 1e-9, np.isclose(statistic, x[came_true].sum())
        upper = (odds[beyond].sum() + odds[equal].sum() / 2) / odds.sum()
        codes = Codes("g", np.zeros(p.size, dtype=np.uint8), ("all",))
        found = reliability(y, two(p), groups=codes).tables["by_group"]["slope_p_value"].values[0]
        assert found == pytest.approx(2 * min(upper, 1 - upper), rel=0.15, abs=0.002)
