"""Score intervals of two rates: against root finding, published examples, and their coverage over all tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq, minimize_scalar

from isonomia.evidence import (
    agreeing,
    agreeing_ends,
    score_difference,
    score_odds_ratio,
    score_ratio,
    two_proportions,
)
from isonomia.evidence.equivalence import constrained_rate
from isonomia.evidence.score_intervals import Asking, RatePairs, answered

Z = float(stats.norm.ppf(0.975))

#: Newcombe (1998), Stat. Med. 17:873, table II, method 6 (Miettinen and Nurminen).
PUBLISHED = [
    ((56, 70, 48, 80), (0.0528, 0.3382)),
    ((9, 10, 3, 10), (0.1700, 0.8406)),
    ((5, 56, 0, 29), (-0.0326, 0.1933)),
    ((0, 10, 0, 20), (-0.1658, 0.2844)),
    ((0, 10, 0, 10), (-0.2879, 0.2879)),
]


def _log_likelihood(k: int, n: int, p: float) -> float:
    return (k * np.log(p) if k else 0.0) + ((n - k) * np.log(1 - p) if n > k else 0.0)


def _most_likely(table: tuple[int, ...], first_of: Callable[[float], float], low: float, high: float) -> float:
    """The second rate that maximises the likelihood where the first is a function of it."""
    a, na, b, nb = table

    def loss(p: float) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            value = -_log_likelihood(a, na, first_of(p)) - _log_likelihood(b, nb, p)
        return 1e12 if np.isnan(value) or np.isinf(value) else value

    return float(minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-13}).x)


def _by_root_finding(table: tuple[int, ...], what: str) -> tuple[float, float]:
    """Both ends by a plain root finder over a statistic whose constrained rates are maximised numerically."""
    a, na, b, nb = table
    scale = (na + nb) / (na + nb - 1)

    def statistic(at: float) -> float:
        if what == "difference":
            p = _most_likely(table, lambda p: min(max(p + at, 0.0), 1.0), max(0.0, -at), min(1.0, 1 - at))
            first, weight, gap = p + at, 1.0, a / na - b / nb - at
        else:
            p = _most_likely(table, lambda p: min(at * p, 1.0), 0.0, min(1.0, 1 / at))
            first, weight, gap = at * p, at, a / na - at * b / nb
        variance = (first * (1 - first) / na + weight**2 * p * (1 - p) / nb) * scale
        return float(np.clip(gap / np.sqrt(max(variance, 1e-300)), -1e6, 1e6))

    bounds = (-1 + 1e-9, 1 - 1e-9) if what == "difference" else (1e-9, 1e9)
    ends = []
    for target in (Z, -Z):
        ends.append(brentq(lambda at, target=target: statistic(at) - target, *bounds, xtol=1e-12))
    return ends[0], ends[1]


@pytest.mark.parametrize(("table", "ends"), PUBLISHED)
def test_published_differences(table: tuple[int, int, int, int], ends: tuple[float, float]) -> None:
    assert [round(float(end), 4) for end in score_difference(*table)] == list(ends)


@pytest.mark.parametrize(
    "table", [(3, 10, 7, 12), (1, 30, 20, 1000), (10, 40, 0, 50), (25, 30, 28, 30), (40, 400, 1, 9)]
)
def test_root_finding_gives_the_same_ends(table: tuple[int, int, int, int]) -> None:
    np.testing.assert_allclose(score_difference(*table), _by_root_finding(table, "difference"), atol=2e-6)
    if table[0] and table[2]:
        np.testing.assert_allclose(score_ratio(*table), _by_root_finding(table, "ratio"), rtol=2e-5)


def test_the_statistic_is_z_at_the_ends() -> None:
    """By the closed forms of the constrained rates, over tables with cells of zero and very different sizes."""
    rng = np.random.default_rng(0)
    na, nb = rng.choice([2, 5, 30, 1000], (2, 4000)).astype(float)
    a, b = np.rint(np.stack([na, nb]) * rng.choice([0, 0.01, 0.1, 0.5, 0.9, 1], (2, 4000)))
    level = rng.choice([0.5, 0.95, 0.9999], 4000)
    z = stats.norm.ppf(0.5 + level / 2)
    scale = (na + nb) / (na + nb - 1)
    for d in score_difference(a, na, b, nb, level):
        q = np.clip(constrained_rate(a, na, b, nb, d), 0, 1)
        p = np.clip(q + d, 0, 1)
        inside = np.abs(d) < 1
        gap, error = a / na - b / nb - d, np.sqrt((p * (1 - p) / na + q * (1 - q) / nb) * scale)
        np.testing.assert_allclose(np.abs(gap)[inside], (z * error)[inside], rtol=1e-7, atol=2e-6)
    for r in score_ratio(a, na, b, nb, level):
        inside = (r > 0) & (r < np.inf)
        (k, n, j, m, s, quantile, at) = (part[inside] for part in (a, na, b, nb, scale, z, r))
        linear = n * at + k + m + at * j  # of the quadratic for the second rate, whose first is r times as large
        q = (linear - np.sqrt(linear**2 - 4 * at * (n + m) * (k + j))) / (2 * at * (n + m))
        p = at * q
        error = np.sqrt((p * (1 - p) / n + at**2 * q * (1 - q) / m) * s)
        np.testing.assert_allclose(np.abs(k / n - at * j / m), quantile * error, rtol=1e-5)


TABLES = st.tuples(st.integers(1, 60), st.integers(1, 60), st.floats(0, 1), st.floats(0, 1)).map(
    lambda t: (round(t[2] * t[0]), t[0], round(t[3] * t[1]), t[1])
)


@given(TABLES, st.sampled_from([0.8, 0.95, 0.999]))
def test_laws(table: tuple[int, int, int, int], level: float) -> None:
    a, na, b, nb = table
    low, high = score_difference(*table, level)
    assert -1 <= low <= a / na - b / nb <= high <= 1
    assert high > low
    np.testing.assert_allclose(score_difference(b, nb, a, na, level), (-high, -low), atol=1e-8)
    np.testing.assert_allclose(score_difference(na - a, na, nb - b, nb, level), (-high, -low), atol=1e-8)
    wider = score_difference(*table, (1 + level) / 2)
    assert wider[0] <= low + 1e-9
    assert wider[1] >= high - 1e-9
    for ratio in (score_ratio, score_odds_ratio):
        bottom, top = ratio(*table, level)
        other = ratio(b, nb, a, na, level)
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(other, (1 / np.asarray(top), 1 / np.asarray(bottom)), rtol=1e-5)
        assert 0 <= bottom < top
        if b and ratio is score_ratio:
            assert bottom <= (a / na) / (b / nb) * (1 + 1e-9)
            assert top >= (a / na) / (b / nb) * (1 - 1e-9)
            assert np.isfinite(top)


def test_all_three_agree_with_the_test_of_equal_rates() -> None:
    k1, k2 = (part.ravel() for part in np.meshgrid(np.arange(121), np.arange(151)))
    p = two_proportions(k1, 120, k2, 150)
    pooled = (k1 + k2) / 270
    large = np.minimum(pooled, 1 - pooled) * 120 >= 5
    for interval, null in ((score_difference, 0.0), (score_ratio, 1.0), (score_odds_ratio, 1.0)):
        low, high = interval(k1, 120, k2, 150)
        outside = (low > null) | (high < null)
        assert np.array_equal(outside[large], p[large] < 0.05), interval.__name__
        assert not (~outside & (p < 0.05)).any()  # few cases: Fisher's test can only add caution


def test_weights_levels_and_empty_groups() -> None:
    low, high = score_difference(
        [12.5, 0.0, 3.0], [40.2, 10.0, 0.0], [3.1, 1.0, 2.0], [20.7, 9.0, 4.0], [0.9, 0.95, 0.95]
    )
    assert low[0] < 12.5 / 40.2 - 3.1 / 20.7 < high[0]
    assert np.isnan([low[2], high[2]]).all()
    one = score_difference(12.5, 40.2, 3.1, 20.7, 0.9)
    np.testing.assert_allclose((low[0], high[0]), one, atol=1e-9)
    assert np.isnan(score_ratio(0, 0, 2, 4)).all()
    assert [float(end) for end in score_ratio(0, 5, 0, 7)] == [0.0, np.inf]
    assert [float(end) for end in score_odds_ratio(5, 5, 7, 7)] == [0.0, np.inf]


def test_rates_of_0_and_1_have_ends_for_every_effective_number_of_rows() -> None:
    """Rounding once lifted a constrained rate above 1 in 7% of these, which then had no interval."""
    m, n = np.random.default_rng(0).uniform(1, 600, (2, 20_000))
    whole = score_difference([0, 24], [17, 24], [24, 0], [24, 17])
    weighted = score_difference([0, 24 - 1e-14], [17 - 4e-15, 24 - 1e-14], [24 - 1e-14, 0], [24 - 1e-14, 17 - 4e-15])
    np.testing.assert_allclose(weighted, whole, atol=1e-9)
    for one, other in ((0 * m, n), (m, 0 * n), (m, n), (0 * m, 0 * n)):
        for low, high in (score_difference(one, m, other, n), score_ratio(one, m, other, n)):
            assert not np.isnan(low + np.where(np.isinf(high), 0.0, high)).any()


@pytest.mark.parametrize("sizes", [(30, 30), (100, 100), (100, 1000)])
@pytest.mark.parametrize("rate", [0.01, 0.05, 0.3])
def test_coverage_summed_over_all_tables(sizes: tuple[int, int], rate: float) -> None:
    """The 27 settings in which a bootstrap of counts covers 26 to 90%."""
    n1, n2 = sizes
    used = np.arange(int(stats.binom.isf(1e-9, n2, min(2 * rate, 0.99))) + 2).clip(max=n2)
    k1, k2 = (part.ravel() for part in np.meshgrid(np.arange(n1 + 1), np.unique(used)))
    difference, ratio, odds = (f(k1, n1, k2, n2) for f in (score_difference, score_ratio, score_odds_ratio))
    for factor in (1.0, 0.8, 0.5):
        other = rate / factor
        weight = stats.binom.pmf(k1, n1, rate) * stats.binom.pmf(k2, n2, other)
        truths: list[tuple[Any, float]] = [
            (difference, rate - other),
            (ratio, factor),
            (odds, rate / (1 - rate) / (other / (1 - other))),
        ]
        for (low, high), truth in truths:
            covered = weight[(low <= truth + 1e-12) & (truth <= high + 1e-12)].sum() / weight.sum()
            assert covered >= 0.935, (truth, covered)
        assert (difference[1] - difference[0]).min() > 0


@given(st.integers(1, 40), st.integers(1, 400), st.sampled_from([0.9, 0.95, 0.999]), st.data())
def test_agreeing_ends_leave_out_equality_exactly_where_the_test_rejects(
    n1: int, n2: int, level: float, data: st.DataObject
) -> None:
    table = data.draw(st.integers(0, n1)), n1, data.draw(st.integers(0, n2)), n2
    rejected = bool(two_proportions(*table) < 1 - level)
    for interval, same in ((score_difference, 0.0), (score_ratio, 1.0), (score_odds_ratio, 1.0)):
        plain = interval(*table, level)
        low, high = agreeing(plain, same, *table, level)
        assert bool((low > same) | (high < same)) == rejected or abs(two_proportions(*table) - (1 - level)) < 1e-6
        assert low <= plain[0]
        assert high >= plain[1]


def test_agreeing_ends_are_those_of_difference_and_ratio() -> None:
    a, na, b, nb = [0, 6, 40, 3, 9], [9, 7, 100, 3, 9], [2, 2, 30, 5, 9], [9, 7, 120, 5, 12]
    both = agreeing_ends(a, na, b, nb, 0.9)
    apart = (*agreeing(score_difference(a, na, b, nb, 0.9), 0.0, a, na, b, nb, 0.9),)
    apart += (*agreeing(score_ratio(a, na, b, nb, 0.9), 1.0, a, na, b, nb, 0.9),)
    np.testing.assert_array_equal(both, apart)


def _asking(*counts: list[float], level: float, tested: bool) -> Asking[Any]:
    columns = [np.array(column, dtype=float) for column in counts]
    n = len(columns[0])
    found = yield RatePairs(*columns, np.full(n, level), np.full(n, tested))
    return found


def test_work_that_asks_together_gets_the_ends_it_would_get_alone() -> None:
    one = [0.0, 6.0, 40.0], [9.0, 7.0, 100.0], [2.0, 2.0, 30.0], [9.0, 7.0, 120.0]
    other = [3.0, 0.0], [5.0, 0.0], [50.0, 1.0], [60.0, 8.0]  # a group without rows leaves NaN
    together = answered(
        _asking(*one, level=0.9, tested=True),
        _asking([], [], [], [], level=0.9, tested=False),
        _asking(*other, level=0.99, tested=False),
    )
    assert [len(ends[0]) for ends in together] == [3, 0, 2]
    np.testing.assert_allclose(together[0][:4], agreeing_ends(*one, 0.9), rtol=1e-13)
    np.testing.assert_allclose(together[2][:4], agreeing_ends(*other, 0.99), rtol=1e-13)
    assert np.isnan([ends[1] for ends in together[2]]).all()
    np.testing.assert_array_equal(together[0][4], two_proportions(*one))  # asked for
    np.testing.assert_array_equal(together[2][4], [np.nan, np.nan])  # 0 lies inside: no end needs it
