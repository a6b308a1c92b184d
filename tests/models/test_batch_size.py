"""Calls of a model grow while rows get cheaper by it, to half a second or to twice what the smallest call takes."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from isonomia.models.batch_size import CALL_SECONDS, FIRST_CALL, Pace


def settled(each: float, fixed: float, *, noise: float = 0.0, most: int = 100_000) -> Pace:
    """After forty calls of a model that takes so long a row and a call."""
    pace, rng = Pace(1, most), np.random.default_rng(0)
    for _ in range(40):
        pace.learn(pace.rows, (fixed + each * pace.rows) * (1 + noise * rng.random()))
    return pace


@pytest.mark.parametrize("noise", [0.0, 0.2])
@pytest.mark.parametrize("each", [1e-2, 1e-3, 1e-4])
def test_a_call_lasts_at_most_half_a_second(each: float, noise: float) -> None:
    pace = settled(each, 0.0, noise=noise)
    assert each * pace.rows < 1.2 * CALL_SECONDS
    assert pace.rows >= min(FIRST_CALL, 0.5 * CALL_SECONDS / each)


@pytest.mark.parametrize("noise", [0.0, 0.2])
@pytest.mark.parametrize("cached", [3_000, 6_000, 20_000])
def test_calls_stay_within_the_cache(cached: int, noise: float) -> None:
    """Rows beyond those that fit take three times as long."""
    pace, rng = Pace(1, 100_000), np.random.default_rng(0)
    for _ in range(40):
        seconds = 0.005 + 1e-5 * pace.rows * (3 if pace.rows > cached else 1)
        pace.learn(pace.rows, seconds * (1 + noise * rng.random()))
    assert FIRST_CALL <= pace.rows <= cached


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_a_fixed_part_is_worth_as_many_rows(noise: float) -> None:
    pace = settled(1e-4, 1.0, noise=noise)
    assert 5000 < pace.rows < 30_000


def test_a_quick_model_is_asked_as_much_at_once_as_allowed() -> None:
    assert settled(1e-7, 0.001, most=50_000).rows == 50_000


def test_small_calls_tell_nothing() -> None:
    pace = Pace(1, 100_000)
    pace.learn(10, 1.0)
    assert pace.rows == Pace(1, 100_000).rows


@example([(500, 2e-311)], 1)
@given(st.lists(st.tuples(st.integers(1, 10**6), st.floats(0, 100)), max_size=30), st.integers(1, 5000))
def test_bounds_hold_whatever_calls_take(calls: list[tuple[int, float]], least: int) -> None:
    pace = Pace(least, least + 1000)
    for rows, seconds in calls:
        pace.learn(rows, seconds)
        assert least <= pace.rows <= least + 1000
