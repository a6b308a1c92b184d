"""Intervals against scipy, by hand and by law."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from isonomia.evidence.intervals import (
    Figures,
    bootstrap_interval,
    difference_error,
    difference_interval,
    error_within,
    extremes,
    normal_interval,
    quotient,
    ratio_interval,
    spread_of,
    student_interval,
)
from isonomia.evidence.mean_intervals import mover_difference, score_ends


def test_means_have_the_normal_and_students_interval_of_scipy() -> None:
    value, error = np.array([1.0, -2.0]), np.array([0.5, 0.1])
    np.testing.assert_allclose(normal_interval(value, error, 0.9), stats.norm.interval(0.9, value, error))
    np.testing.assert_allclose(student_interval(value, error, 12, 0.9), stats.t.interval(0.9, 11, value, error))
    assert error_within(*normal_interval(1.0, 0.5, 0.8), 0.8) == pytest.approx(0.5)


def test_the_middle_of_replicates() -> None:
    draws = np.linspace(0.1, 0.3, 1001)
    assert bootstrap_interval(0.0, draws) == (pytest.approx(0.105), pytest.approx(0.295))
    assert np.isnan(bootstrap_interval(np.nan, draws)).all()


def test_differences_and_ratios_from_replicates_are_paired(rng: np.random.Generator) -> None:
    a, b = rng.uniform(0.5, 0.6, (3, 400)), rng.uniform(0.2, 0.3, (3, 400))
    one, other = Figures(a.mean(axis=1), a), Figures(b.mean(axis=1), b)
    low, high = difference_interval(one, other, 0.8)
    np.testing.assert_allclose([low, high], np.quantile(a - b, [0.1, 0.9], axis=1))
    np.testing.assert_allclose(ratio_interval(one, other, 0.8), np.quantile(a / b, [0.1, 0.9], axis=1))
    np.testing.assert_allclose(difference_error(one, other), (a - b).std(axis=1, ddof=1))


def test_differences_and_ratios_from_errors_are_those_of_independent_figures() -> None:
    one = Figures(np.array([0.5]), error=np.array([0.03]))
    other = Figures(np.array([0.25]), error=np.array([0.04]))
    np.testing.assert_allclose(difference_interval(one, other), stats.norm.interval(0.95, [0.25], [0.05]))
    low, high = ratio_interval(one, other)
    relative = np.hypot(0.03 / 0.5, 0.04 / 0.25)
    np.testing.assert_allclose(np.log([low, high]), np.log(2) + relative * stats.norm.ppf([[0.025], [0.975]]))


def test_two_rates_have_newcombes_interval() -> None:
    """The first example of Newcombe (1998), method 10: 56/70 - 48/80."""
    sides = [
        (k / n, *(float(end) for end in score_ends(np.array(k), np.array(n), 1.96))) for k, n in ((56, 70), (48, 80))
    ]
    low, high = mover_difference(*sides)
    assert (round(float(low), 4), round(float(high), 4)) == (0.0524, 0.3339)


@given(seed=st.integers(0, 10**6), missing=st.floats(0, 0.6))
def test_extremes_are_those_of_a_loop(seed: int, missing: float) -> None:
    rng = np.random.default_rng(seed)
    value = rng.random((4, 5))
    value[rng.random(value.shape) < missing] = np.nan
    difference, ratio = extremes(value)
    for row in range(4):
        known = np.flatnonzero(~np.isnan(value[row]))
        if known.size < 2:
            assert np.isnan([difference[row], ratio[row]]).all()
            continue
        own = value[row, known]
        assert difference[row] == own.max() - own.min()
        assert ratio[row] == own.min() / own.max()


def test_no_groups_and_one_group_have_no_gap() -> None:
    for groups in (0, 1):
        parts = extremes(np.full((3, groups), 0.5))
        assert [part.shape for part in parts] == [(3,), (3,)]
        assert np.isnan(parts[0]).all()
        assert np.isnan(parts[1]).all()


def test_what_is_divided_by_nothing_is_undefined_and_spread_leaves_it_out() -> None:
    np.testing.assert_equal(quotient(np.array([1.0, 0.0, 2.0]), np.array([2.0, 0.0, np.nan])), [0.5, np.nan, np.nan])
    draws = np.array([[1.0, 2.0, 4.0, np.nan], [1.0, 1.0, 1.0, 1.0]])
    np.testing.assert_allclose(spread_of(draws), [np.std([1.0, 2.0, 4.0], ddof=1), 0.0])
