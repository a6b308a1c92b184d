"""Intervals of picked figures: quantiles against scipy, ends against all pairs, coverage by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from isonomia.evidence import (
    gaps_of_figures,
    gaps_of_rates,
    pair_level,
    score_difference,
    score_ratio,
    simultaneous_level,
)
from isonomia.evidence.intervals import Figures, normal_interval
from isonomia.evidence.simultaneous import range_quantile


@pytest.mark.parametrize("groups", [2, 3, 7, 40])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.9999])
def test_quantiles_of_the_range(groups: int, level: float) -> None:
    assert range_quantile(level, groups) == pytest.approx(stats.studentized_range.ppf(level, groups, np.inf), abs=1e-7)


def test_levels() -> None:
    assert simultaneous_level(0.95, 1) == 0.95
    assert simultaneous_level(0.95, 10) == pytest.approx(0.95**0.1)
    assert pair_level(0.95, 2) == 0.95
    for groups in (3, 5, 20):  # sharper than Sidak over all pairs
        assert 0.95 < pair_level(0.95, groups) < simultaneous_level(0.95, groups * (groups - 1) // 2)
    with pytest.raises(ValueError, match="two groups"):
        range_quantile(0.95, 1)


def test_two_groups_have_the_plain_interval() -> None:
    low, high = score_difference(40, 100, 30, 120)
    found = gaps_of_rates(np.array([0.4, 0.25]), np.array([100.0, 120.0]))
    assert found.difference == pytest.approx(0.15)
    np.testing.assert_allclose(
        (found.difference_low, found.difference_high), (max(low, 0.0), max(high, -low)), atol=1e-9
    )
    low, high = score_ratio(30, 120, 40, 100)
    np.testing.assert_allclose((found.ratio_low, found.ratio_high), (min(low, 1 / high), min(high, 1.0)), rtol=1e-6)


def test_ends_are_those_of_all_pairs() -> None:
    rng = np.random.default_rng(0)
    size = rng.integers(20, 200, (6, 4)).astype(float)
    rate = rng.integers(0, size + 1) / size
    rate[2, 1] = np.nan
    rate[3, :3] = np.nan
    found = gaps_of_rates(rate, size)
    for row in range(6):
        known = np.flatnonzero(~np.isnan(rate[row]))
        if known.size < 2:
            assert np.isnan([found.difference[row], found.difference_low[row], found.ratio_high[row]]).all()
            continue
        level = pair_level(0.95, known.size)
        k, n = rate[row] * size[row], size[row]
        pairs = [(i, j) for i in known for j in known if i != j]
        gaps = np.array([score_difference(k[i], n[i], k[j], n[j], level) for i, j in pairs])
        ratios = np.array([score_ratio(k[i], n[i], k[j], n[j], level) for i, j in pairs])
        np.testing.assert_allclose(found.difference_low[row], max(0.0, gaps[:, 0].max()), atol=1e-7)
        np.testing.assert_allclose(found.difference_high[row], gaps[:, 1].max(), atol=1e-7)
        np.testing.assert_allclose(found.ratio_low[row], ratios[:, 0].min(), atol=1e-6)
        np.testing.assert_allclose(found.ratio_high[row], min(1.0, ratios[:, 1].min()), atol=1e-6)


def test_very_many_groups_pair_up_their_extremes_only() -> None:
    rng = np.random.default_rng(1)
    size = rng.integers(10, 500, 150).astype(float)
    rate = rng.binomial(size.astype(int), 0.3) / size
    found = gaps_of_rates(rate, size)
    one, other = np.triu_indices(150, 1)
    low, high = score_difference(
        rate[one] * size[one], size[one], rate[other] * size[other], size[other], pair_level(0.95, 150)
    )
    assert found.difference_low == pytest.approx(max(0.0, low.max(), (-high).max()), abs=1e-7)
    assert found.difference_high == pytest.approx(max(high.max(), (-low).max()), abs=1e-7)


@pytest.mark.parametrize("rates", [(0.4,) * 2, (0.05,) * 5, (0.4,) * 5, (0.3, 0.4, 0.4, 0.4, 0.4)])
@pytest.mark.parametrize("size", [30, 200])
def test_gaps_cover(rates: tuple[float, ...], size: int) -> None:
    true = np.array(rates)
    observed = np.random.default_rng(7).binomial(size, true, (4000, len(rates))) / size
    found = gaps_of_rates(observed, np.full(observed.shape, float(size)))
    gap, ratio = true.max() - true.min(), true.min() / true.max()
    slack = 3 * np.sqrt(0.935 * 0.065 / 4000)
    covered = (found.difference_low <= gap + 1e-12) & (gap <= found.difference_high)
    assert covered.mean() >= 0.935 - slack
    given = ~np.isnan(found.ratio)
    covered = (found.ratio_low <= ratio + 1e-9) & (ratio <= found.ratio_high + 1e-9)
    assert covered[given].mean() >= 0.935 - slack


def test_figures_with_errors_and_replicates() -> None:
    value, error = np.array([1.0, 1.5, 2.0]), np.array([0.1, 0.2, 0.1])
    found = gaps_of_figures(Figures(value, error=error))
    low, high = normal_interval(1.0, np.hypot(0.1, 0.1), pair_level(0.95, 3))
    assert (found.difference_low, found.difference_high) == pytest.approx((low, high), abs=1e-6)
    assert found.ratio_low < 0.5 < found.ratio_high < 1
    rng = np.random.default_rng(0)
    drawn = gaps_of_figures(Figures(value, draws=value[:, None] + error[:, None] * rng.standard_normal((3, 20000))))
    assert (drawn.difference_low, drawn.difference_high) == pytest.approx((low, high), abs=0.02)
    assert np.isnan(gaps_of_figures(Figures(np.array([1.0, np.nan]), error=np.array([0.1, 0.1]))).difference)


def test_the_gap_of_equal_means_covers_zero() -> None:
    rng = np.random.default_rng(3)
    hits = [gaps_of_figures(Figures(rng.normal(size=5), error=np.ones(5))).difference_low == 0 for _ in range(2000)]
    assert np.mean(hits) == pytest.approx(0.95, abs=0.015)
