"""Intervals of means and areas against scipy, brute force and their own defining equations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from isonomia.counting import Codes
from isonomia.evidence.intervals import (
    Figures,
    difference_interval,
    difference_p,
    ratio_interval,
)
from isonomia.evidence.mean_intervals import (
    LONG_TAIL,
    AreaEnds,
    LogitEnds,
    MeanEnds,
    hall_ends,
    mover_difference,
    mover_ratio,
    same_p,
)
from isonomia.metrics import METRICS, Rows, RowSets, measure
from isonomia.metrics.row_sums import RowSums
from isonomia.models import Surface


def transformed(t: float, a: float) -> float:
    """Hall's cubic, whose distribution is normal to the next order."""
    return t + a * t**2 / 3 + a**2 * t**3 / 27 + a / 6


def test_without_skewness_the_interval_is_students() -> None:
    ends = hall_ends([1.0, -2.0], [0.5, 0.1], 0.0, [11, 29], 0.05)
    np.testing.assert_allclose(ends, stats.t.interval(0.9, [11, 29], [1.0, -2.0], [0.5, 0.1]))


@given(st.floats(0.01, 0.15), st.integers(10, 500))
def test_ends_are_where_the_transformed_t_is_students_quantile(a: float, df: int) -> None:
    low, high = hall_ends(3.0, 0.2, a, df)
    quantile = stats.t.ppf(0.975, df)
    assert transformed((3.0 - low) / 0.2, a) == pytest.approx(quantile)
    assert transformed((3.0 - high) / 0.2, LONG_TAIL * a) == pytest.approx(-quantile)
    mirrored = hall_ends(-3.0, 0.2, -a, df)
    np.testing.assert_allclose(mirrored, (-high, -low))


def test_skewed_values_have_about_the_interval_of_the_bca_bootstrap() -> None:
    values = np.random.default_rng(4).exponential(1.0, 200)
    mean_skew = stats.skew(values) / np.sqrt(200)
    low, high = hall_ends(values.mean(), stats.sem(values), mean_skew, 199, positive=True)
    found = stats.bootstrap((values,), np.mean, n_resamples=4000, method="BCa", rng=np.random.default_rng(0))
    bca = found.confidence_interval
    assert low == pytest.approx(bca.low, abs=0.1 * (high - low))
    assert high == pytest.approx(bca.high, abs=0.2 * (high - low))
    assert high - values.mean() > 1.1 * (values.mean() - low)


def test_moments_over_weighted_sets_are_those_of_the_rows() -> None:
    rng = np.random.default_rng(5)
    truth, said, w = rng.normal(size=90) + 50, rng.normal(size=90) + 50, rng.exponential(1.0, 90)
    sets = Codes.encode(np.repeat(["a", "b"], [40, 50]), name="s")
    parts = RowSums(METRICS["mse"], Rows(truth, Surface.of_numbers(said), w))
    found = parts.ends(parts.over([sets]))
    for code in range(2):
        rows = sets.codes == code
        v, u = (said - truth)[rows] ** 2, w[rows]
        total, d = u.sum(), v - np.average(v, weights=u)
        share = u / total
        unbiased = (share**2).sum() / ((share**2) * (1 - 2 * share + (share**2).sum())).sum()
        error = np.sqrt((share**2 * d**2).sum() * unbiased)
        assert found.value[code] == pytest.approx(np.average(v, weights=u))
        assert found.error[code] == pytest.approx(error)
        assert found.skewness[code] == pytest.approx((share**3 * d**3).sum() / error**3)
        assert found.df[code] == pytest.approx((u**2).sum() ** 2 / (u**4).sum() - 1)


def test_root_mean_squared_error_has_the_roots_of_the_ends_and_no_seed_matters() -> None:
    rng = np.random.default_rng(6)
    sets = RowSets.of(
        Rows(rng.normal(size=300), Surface.of_numbers(rng.normal(size=300))), [Codes.encode([0, 1] * 150)]
    )
    metrics = [METRICS["mse"], METRICS["rmse"]]
    first, second = (measure(metrics, sets, n_boot=n, seed=n) for n in (0, 50))
    np.testing.assert_allclose(first["rmse"].low, np.sqrt(first["mse"].low))
    np.testing.assert_allclose(first["rmse"].high, np.sqrt(first["mse"].high))
    for name in ("mse", "rmse"):
        np.testing.assert_array_equal(first[name].low, second[name].low)
        one, other = (first[name].figures.take(np.array([i])) for i in (0, 1))
        again, against = (second[name].figures.take(np.array([i])) for i in (0, 1))
        np.testing.assert_array_equal(difference_interval(one, other), difference_interval(again, against))


def test_rows_that_are_all_alike_say_nothing_about_their_spread() -> None:
    sets = RowSets.of(
        Rows(np.zeros(20), Surface.of_numbers(np.r_[np.ones(10), np.arange(10.0)])), [Codes.encode([0] * 10 + [1] * 10)]
    )
    found = measure([METRICS["mae"]], sets)["mae"]
    assert np.isnan([found.low[0], found.high[0]]).all()
    assert "same value" in str(found.unsure[0])
    assert found.low[1] < 4.5 < found.high[1]
    assert found.unsure[1] is None
    one, other = (found.figures.take(np.array([i])) for i in (0, 1))
    assert np.isfinite(difference_interval(one, other)).all()  # the other group's spread is that of the difference
    assert np.isnan(difference_interval(one, one)).all()


def test_logit_ends_are_symmetric_on_that_scale_and_wilsons_without_an_error() -> None:
    figures = LogitEnds(np.array([0.8, 1.0, np.nan]), np.array([0.05, np.nan, 0.1]), np.array([50.0, 20.0, 9.0]))
    low, high = figures.at(0.025)
    logit = np.log([low[0] / (1 - low[0]), 4.0, high[0] / (1 - high[0])])
    assert logit[1] - logit[0] == pytest.approx(logit[2] - logit[1])
    assert logit[1] - logit[0] == pytest.approx(stats.norm.ppf(0.975) * 0.05 / 0.16)
    assert (low[1], high[1]) == pytest.approx(stats.binomtest(20, 20).proportion_ci(method="wilson"))
    assert np.isnan([low[2], high[2]]).all()


@pytest.mark.parametrize(
    ("area", "m", "n"), [(0.8, 10.0, 40.0), (0.97, 12.0, 300.0), (1.0, 6.0, 6.0), (0.5, 25.0, 25.0)]
)
def test_ends_of_an_area_solve_newcombes_equation(area: float, m: float, n: float) -> None:
    def gap(theta: float) -> float:
        half = (m + n) / 2 - 1
        bracket = 1 + half * (1 - theta) / (2 - theta) + half * theta / (1 + theta)
        return (area - theta) ** 2 - stats.norm.ppf(0.975) ** 2 * theta * (1 - theta) * bracket / (m * n)

    found = AreaEnds(*(np.array([part]) for part in (area, np.nan, m, n)))  # no error: the score interval alone
    low, high = (float(end[0]) for end in found.at(0.025))
    assert low == pytest.approx(optimize.brentq(gap, 1e-9, area - 1e-9), abs=1e-6)
    assert high == (1.0 if area == 1 else pytest.approx(optimize.brentq(gap, area + 1e-9, 1 - 1e-9), abs=1e-6))
    wide = AreaEnds(*(np.array([part]) for part in (area, 0.4, m, n))).at(0.025)
    assert wide[0][0] <= low


def test_differences_of_symmetric_ends_are_those_of_the_errors() -> None:
    one, other = (MeanEnds(*(np.array([x]) for x in part)) for part in [(3.0, 0.3, 0.0, 1e9), (2.0, 0.4, 0.0, 1e9)])
    figures = Figures(one.value, ends=one), Figures(other.value, ends=other)
    np.testing.assert_allclose(difference_interval(*figures), [[1 - 1.959964 * 0.5], [1 + 1.959964 * 0.5]], rtol=1e-6)
    assert difference_p(*figures)[0] == pytest.approx(2 * stats.norm.sf(2.0), rel=1e-6)
    both = (one.value, *one.at(0.025)), (other.value, *other.at(0.025))
    np.testing.assert_allclose(mover_difference(*both), difference_interval(*figures))


@given(st.floats(0.5, 5), st.floats(0.5, 5), st.floats(0.05, 0.2), st.floats(0.05, 0.2), st.floats(0, 0.3))
def test_interval_ratio_and_test_agree_and_swapping_flips_them(
    a: float, b: float, da: float, db: float, skew: float
) -> None:
    one, other = (
        Figures(np.array([v]), ends=MeanEnds(*(np.array([x]) for x in (v, e * v, skew, 40.0)), kind="positive"))
        for v, e in ((a, da), (b, db))
    )
    p = float(difference_p(one, other)[0])
    low, high = (float(end[0]) for end in difference_interval(one, other))
    ratio_low, ratio_high = (float(end[0]) for end in ratio_interval(one, other))
    if abs(p - 0.05) > 1e-6 and a != b:
        assert (p < 0.05) == (low > 0 or high < 0) == (ratio_low > 1 or ratio_high < 1)
    np.testing.assert_allclose(difference_interval(other, one), ([-high], [-low]))
    np.testing.assert_allclose(ratio_interval(other, one), ([1 / ratio_high], [1 / ratio_low]), rtol=1e-6)


def test_a_ratio_whose_lower_figure_may_be_zero_has_no_interval() -> None:
    one, other = (tuple(np.array([x]) for x in part) for part in [(2.0, 1.0, 4.0), (1.0, 0.0, 2.0)])
    assert np.isnan(mover_ratio(one, other)).all()  # type: ignore[arg-type]


def test_very_small_p_values_are_found() -> None:
    p = same_p(np.array([10.0]), lambda tail: (10 + stats.norm.ppf(tail), 10 - stats.norm.ppf(tail)))
    assert p[0] == pytest.approx(2 * stats.norm.sf(10), rel=1e-6)


@pytest.mark.parametrize(
    ("error", "df", "share"),
    [(0.2, 99.0, 0.0), (0.02, 9_900.0, 1.0), (0.2 / 2 ** (1 / 3), 99.0, 1 / 3), (0.2, 99.0 / 3**0.5, 0.5)],
)
def test_skewness_counts_in_a_difference_as_far_as_it_does_not_cancel(error: float, df: float, share: float) -> None:
    """Third moments of 1 and 1/2 leave a third of their sum, squares of rows of 3 and 1 a half."""

    def ends(spread: float, rows: float, skewed: float = 1.0) -> MeanEnds:
        parts = (np.array([part]) for part in (1.0, spread, 0.3, rows))
        return MeanEnds(*parts, kind="positive", skewed=skewed)

    one, other = ends(0.2, 99.0), ends(error, df)
    assert one.beside(other).skewed == pytest.approx(share, abs=2e-3)
    figures = [Figures(np.array([1.0]), ends=part) for part in (one, other)]
    known = [(np.array([1.0]), *ends(*part, skewed=share).at(0.025)) for part in ((0.2, 99.0), (error, df))]
    np.testing.assert_allclose(difference_interval(*figures), mover_difference(*known), rtol=2e-3)
    np.testing.assert_allclose(ratio_interval(*figures), mover_ratio(*known), rtol=2e-3)


def test_the_difference_of_two_samples_alike_is_that_of_student() -> None:
    """Of two samples with the same moments skewness cancels whole, and Welch's interval is left."""
    mean, error, df = (np.array([part]) for part in (0.4, 0.05, 199.0))
    one = Figures(mean, ends=MeanEnds(mean, error, np.array([0.4]), df, kind="positive"))
    half = np.sqrt(2) * 0.05 * stats.t.ppf(0.975, 199)
    np.testing.assert_allclose(difference_interval(one, one), [[-half], [half]])


def test_a_mean_that_cannot_be_negative_does_not_reach_zero() -> None:
    """So that a ratio to it has an interval, however few rows there are."""
    mean, error, df = (np.array([part]) for part in (1.0, 0.6, 20.0))
    few = Figures(mean, ends=MeanEnds(mean, error, np.array([0.0]), df, kind="positive"))
    low, _ = few.ends.at(0.025)  # type: ignore[union-attr]
    assert 0 < low[0] == pytest.approx(np.exp(-2 * 0.6 * stats.t.ppf(0.975, 20)))
    assert np.isfinite(ratio_interval(few, few)).all()
