"""Perturbers: level 0 changes nothing, each does what it says, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from isonomia import SpecError
from isonomia.languages import msg
from isonomia.probing import Feature
from isonomia.robustness import PERTURBERS, Columns, Perturber, perturb_rows

IDS = ("raw", "quantile", "correlated", "swap", "missing", "rounding", "units")


def people(n: int = 2000, seed: int = 0) -> Columns:
    """Two correlated numbers, a whole number, two categories (one with missing values), a constant."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    rows = np.stack(
        [
            x,
            np.exp(0.8 * x + 0.6 * rng.normal(size=n)),
            rng.integers(18, 90, n),
            rng.integers(0, 4, n),
            rng.choice([0, 1, 2], n, p=[0.6, 0.3, 0.1]),
            np.full(n, 7.0),
        ],
        axis=1,
    )
    features = (
        Feature.of("x", (float(x.min()), float(x.max()))),
        Feature.of("w", (0.0, float(rows[:, 1].max()))),
        Feature.of("age", (18, 90)),
        Feature.of("city", list("abcd")),
        Feature.of("job", ["p", "q", None]),
        Feature.of("same", (7.0, 7.0)),
    )
    return Columns(features, rows)


@pytest.mark.parametrize("name", IDS)
def test_level_zero_changes_nothing(name: str) -> None:
    columns = people()
    entry = PERTURBERS[name]
    assert entry.apply is not None
    for out in (
        perturb_rows(entry, columns.rows, columns, 0.0, np.random.default_rng(1)),
        entry.apply(columns.rows, columns, 0.0, np.random.default_rng(1)) if name != "rounding" else columns.rows,
    ):
        np.testing.assert_array_equal(out, columns.rows)


@pytest.mark.parametrize("name", IDS)
def test_only_the_kinds_it_names_change_and_the_rows_given_stay(name: str) -> None:
    columns = people()
    before = columns.rows.copy()
    out = perturb_rows(PERTURBERS[name], columns.rows, columns, 0.3, np.random.default_rng(1))
    np.testing.assert_array_equal(columns.rows, before)
    changed = (~((out == before) | (np.isnan(out) & np.isnan(before)))).any(axis=0)
    assert not changed[~PERTURBERS[name].changes(columns)].any()
    assert changed.any()
    if PERTURBERS[name].valid:
        for place, feature in enumerate(columns.features):
            assert (out[:, place] >= feature.low).all()
            assert (out[:, place] <= feature.high).all()
        assert (out[:, 2] == np.rint(out[:, 2])).all(), "whole numbers stay whole"
        assert (out[:, 5] == 7).all(), "a constant column has no noise of its own"


@settings(max_examples=25, deadline=None)
@given(level=st.floats(0.01, 1.0), seed=st.integers(0, 1000), name=st.sampled_from(IDS))
def test_the_same_generator_gives_the_same_rows(level: float, seed: int, name: str) -> None:
    columns = people(200)
    one, two = (
        perturb_rows(PERTURBERS[name], columns.rows, columns, level, np.random.default_rng(seed)) for _ in range(2)
    )
    np.testing.assert_array_equal(one, two)


def test_raw_noise_has_the_spread_it_says() -> None:
    columns = people(20_000)
    out = perturb_rows(PERTURBERS["raw"], columns.rows, columns, 0.2, np.random.default_rng(0), keep_valid=False)
    off = out[:, :2] - columns.rows[:, :2]
    np.testing.assert_allclose(off.std(axis=0), 0.2 * columns.rows[:, :2].std(axis=0), rtol=0.03)


@pytest.mark.parametrize(("name", "level"), [("quantile", 0.3), ("correlated", 0.5), ("correlated", 1.0)])
def test_noise_in_ranks_keeps_each_distribution(name: str, level: float) -> None:
    columns = people(4000)
    out = perturb_rows(PERTURBERS[name], columns.rows, columns, level, np.random.default_rng(0))
    for place in (0, 1, 2):
        assert stats.ks_2samp(out[:, place], columns.rows[:, place]).pvalue > 0.01
        assert np.isin(out[:, place], columns.rows[:, place]).all()
    if name == "quantile":
        ranks = [stats.rankdata(side[:, 0]) / 4000 for side in (out, columns.rows)]
        assert np.abs(ranks[0] - ranks[1]).max() < level / 2 + 0.05


@pytest.mark.parametrize("level", [0.2, 0.5, 1.0])
def test_correlated_noise_keeps_rank_correlations_where_raw_noise_does_not(level: float) -> None:
    columns = people(8000)
    seen = stats.spearmanr(columns.rows[:, 0], columns.rows[:, 1]).statistic
    joint = perturb_rows(PERTURBERS["correlated"], columns.rows, columns, level, np.random.default_rng(3))
    plain = perturb_rows(PERTURBERS["raw"], columns.rows, columns, level, np.random.default_rng(3), keep_valid=False)
    assert stats.spearmanr(joint[:, 0], joint[:, 1]).statistic == pytest.approx(seen, abs=0.02)
    if level >= 0.5:
        assert stats.spearmanr(plain[:, 0], plain[:, 1]).statistic < seen - 0.05


def test_swaps_draw_another_value_as_often_as_it_occurs() -> None:
    n = 60_000
    columns = people(n)
    out = perturb_rows(PERTURBERS["swap"], columns.rows, columns, 0.25, np.random.default_rng(0))
    before, after = columns.rows[:, 3].astype(int), out[:, 3].astype(int)
    assert (before != after).mean() == pytest.approx(0.25, abs=0.01)
    shares = np.bincount(before) / n
    moved = after[(before == 2) & (after != 2)]
    expected = np.delete(shares, 2) / np.delete(shares, 2).sum()
    seen = np.delete(np.bincount(moved, minlength=4), 2)
    assert stats.chisquare(seen, expected * seen.sum()).pvalue > 0.001
    job = columns.rows[:, 4]
    assert (out[job == 2, 4] == 2).all(), "a missing category stays missing"
    assert not (out[job != 2, 4] == 2).any(), "and none is lost"


def test_missing_values_units_and_rounding_do_what_they_say() -> None:
    columns = people(20_000)
    rng = np.random.default_rng(0)
    lost = perturb_rows(PERTURBERS["missing"], columns.rows, columns, 0.1, rng)
    assert np.isnan(lost[:, 0]).mean() == pytest.approx(0.1, abs=0.01)
    assert np.isnan(lost[:, 3]).mean() == pytest.approx(0.1, abs=0.01)
    assert not np.isnan(lost[:, 4]).any(), "its missing level is used"
    wrong = perturb_rows(PERTURBERS["units"], columns.rows, columns, 0.2, rng)
    factor = wrong[:, 2] / columns.rows[:, 2]
    assert set(np.unique(factor.round(6))) == {0.01, 1.0, 100.0}
    assert (factor != 1).mean() == pytest.approx(0.2, abs=0.02)
    heaped = perturb_rows(PERTURBERS["rounding"], columns.rows, columns, 0.5, rng, keep_valid=False)
    step = 0.5 * columns.rows[:, 0].std()
    np.testing.assert_allclose(heaped[:, 0], np.round(columns.rows[:, 0] / step) * step)


def test_missing_numbers_stay_missing_under_noise() -> None:
    columns = people(300)
    columns.rows[::3, 0] = np.nan
    for name in ("raw", "quantile", "correlated", "rounding", "units"):
        out = perturb_rows(PERTURBERS[name], columns.rows, columns, 0.4, np.random.default_rng(0))
        np.testing.assert_array_equal(np.isnan(out), np.isnan(columns.rows))


@pytest.mark.parametrize("level", [-0.1, float("nan"), float("inf"), "a lot", True])
def test_a_level_that_is_none_is_refused(level: Any) -> None:
    with pytest.raises(SpecError, match="finite number of at least 0"):
        PERTURBERS["raw"].check_level(level)


def test_a_share_above_one_and_an_unknown_name_are_refused() -> None:
    with pytest.raises(SpecError, match=r"`level` of the perturber `swap` must be a number in \[0, 1\]; got 1\.5"):
        PERTURBERS["swap"].check_level(1.5)
    with pytest.raises(SpecError, match="Did you mean 'quantile'"):
        PERTURBERS["quantle"]
    with pytest.raises(SpecError, match="either `apply` or `on_frame`"):
        Perturber("mine", "nothing", msg("Noise"))


@pytest.mark.parametrize("answer", [lambda v: v[:, :1], lambda v: v.astype(str), lambda v: "no"])
def test_a_perturber_that_returns_another_shape_or_dtype_is_refused(answer: Any) -> None:
    columns = people(50)
    mine = Perturber("mine", "breaks", msg("Noise"), apply=lambda values, *_: answer(values))
    with pytest.raises(SpecError, match="'mine' must return numbers of shape"):
        perturb_rows(mine, columns.rows, columns, 0.1, np.random.default_rng(0))


@pytest.mark.parametrize("seed", range(20))
def test_ranks_of_the_rows_seen_are_those_of_any_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 60))
    values = np.column_stack([rng.integers(0, 5, n).astype(float), rng.normal(size=n)])
    values[1:][rng.random((n - 1, 2)) < 0.1] = np.nan
    columns = Columns(tuple(Feature.of(f"x{i}", (-9.0, 9.0)) for i in range(2)), values)
    tie = rng.random(n)
    for place in (0, 1):
        np.testing.assert_array_equal(
            columns.rank(columns.rows, place, tie), columns.rank(columns.rows.copy(), place, tie)
        )
        np.testing.assert_array_equal(columns.score(columns.rows, place), columns.score(columns.rows.copy(), place))
