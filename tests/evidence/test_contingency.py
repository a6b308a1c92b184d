"""Tests of whole tables against scipy, enumeration and shuffled rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

import isonomia as iso
from isonomia.evidence import chi_square, equivalent_means, equivalent_proportions, permutation
from isonomia.evidence.contingency import draw_tables
from isonomia.evidence.equivalence import constrained_rate

cells = st.lists(st.lists(st.integers(1, 60), min_size=3, max_size=3), min_size=2, max_size=5)


@given(cells)
def test_chi_square_is_that_of_scipy(table: list[list[int]]) -> None:
    expected = stats.chi2_contingency(table, correction=False)
    statistic, df, p = chi_square(table)
    assert (float(statistic), float(df)) == pytest.approx((expected.statistic, expected.dof))
    assert float(p) == pytest.approx(expected.pvalue)


def test_empty_rows_and_columns_do_not_count() -> None:
    full, with_empty = chi_square([[30, 70], [45, 55]]), chi_square([[30, 0, 70], [45, 0, 55], [0, 0, 0]])
    assert [float(x) for x in full] == pytest.approx([float(x) for x in with_empty])
    stacked = chi_square(np.array([[[5, 0], [7, 0]], [[30, 70], [45, 55]]]))[2]
    assert np.isnan(stacked[0]), "one column left: nothing to test"
    assert stacked[1] == pytest.approx(float(full[2]))


def test_drawn_tables_keep_margins_and_their_expectation(rng: np.random.Generator) -> None:
    table = np.array([[12, 3, 9], [4, 10, 2], [0, 5, 7]])
    drawn = draw_tables(table, 20_000, rng)
    assert (drawn.sum(axis=2) == table.sum(axis=1)).all()
    assert (drawn.sum(axis=1) == table.sum(axis=0)).all()
    assert (drawn >= 0).all()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    np.testing.assert_allclose(drawn.mean(axis=0), expected, atol=0.05)


def test_permutation_on_counts_is_the_shuffling_of_rows(rng: np.random.Generator) -> None:
    group, y = np.repeat([0, 1, 2], [14, 20, 9]), np.r_[np.repeat([1, 0], [5, 9]), np.repeat([1, 0], [13, 7]), [0] * 9]
    table = np.array([[((group == g) & (y == c)).sum() for c in (0, 1)] for g in range(3)])
    for statistic in ("chi_square", "gap"):
        seen = _statistic(table, statistic)
        shuffled = []
        for _ in range(3000):
            z = rng.permutation(y)
            shuffled.append(
                _statistic(np.array([[((group == g) & (z == c)).sum() for c in (0, 1)] for g in range(3)]), statistic)
            )
        brute = (np.array(shuffled) >= seen - 1e-9).mean()
        ours = permutation(table, statistic=statistic, n_perm=19_999, seed=2)  # type: ignore[arg-type]
        assert ours == pytest.approx(brute, abs=4 * np.sqrt(brute * (1 - brute) / 3000) + 1e-3)


def _statistic(table: np.ndarray[Any, Any], name: str) -> float:
    if name == "chi_square":
        return float(chi_square(table)[0])
    share = table[:, 1] / table.sum(axis=1)
    return float(share.max() - share.min())


def test_permutation_of_two_groups_is_the_exact_test() -> None:
    table = np.array([[3, 17], [11, 9]])
    exact = stats.fisher_exact(table).pvalue  # equal sizes: both orders of extremity agree
    assert permutation(table, n_perm=99_999, seed=0) == pytest.approx(exact, rel=0.1)
    assert np.isnan(permutation([[3, 0], [5, 0]]))
    with pytest.raises(iso.DataError, match="whole counts"):
        permutation([[3.5, 1], [2, 2]])


@settings(max_examples=25)
@given(st.integers(5, 80), st.integers(5, 80), st.integers(0, 10**6), st.sampled_from([-0.2, -0.05, 0.05, 0.1]))
def test_constrained_rates_are_the_most_likely(na: int, nb: int, seed: int, edge: float) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, na + 1), rng.integers(0, nb + 1)

    def unlikely(x: float) -> float:
        first, second = np.clip([x + edge, x], 1e-12, 1 - 1e-12)
        return -(a * np.log(first) + (na - a) * np.log(1 - first) + b * np.log(second) + (nb - b) * np.log(1 - second))

    ends = (max(0.0, -edge), min(1.0, 1 - edge))
    best = optimize.minimize_scalar(unlikely, bounds=ends, method="bounded", options={"xatol": 1e-10}).x
    ours = float(constrained_rate(*(np.array(float(v)) for v in (a, na, b, nb)), edge))
    assert unlikely(ours) <= unlikely(best) + 1e-6


def test_equivalence_is_shown_with_many_rows_only() -> None:
    p = equivalent_proportions([30, 300, 3000], [100, 1000, 10_000], [31, 310, 3100], [100, 1000, 10_000], margin=0.05)
    assert (np.diff(p) < 0).all()
    assert p[0] > 0.2
    assert p[2] < 1e-6
    assert equivalent_proportions(50, 1000, 120, 1000, margin=0.05) > 0.9, "a gap beyond the margin is never equal"
    assert equivalent_proportions(0, 50, 0, 50, margin=0.05) > 0.02, "no misses in few rows prove little"


@given(st.integers(0, 200), st.integers(0, 200))
def test_equivalence_does_not_care_who_comes_first(a: int, b: int) -> None:
    one, two = (equivalent_proportions(x, 200, y, 200, margin=0.1) for x, y in ((a, b), (b, a)))
    assert float(one) == pytest.approx(float(two), abs=1e-9)


def test_equivalence_keeps_its_level_at_the_margin() -> None:
    rng = np.random.default_rng(0)
    for n, base in ((60, 0.3), (200, 0.5), (400, 0.05)):
        k1, k2 = rng.binomial(n, base + 0.1, 20_000), rng.binomial(n, base, 20_000)
        assert (equivalent_proportions(k1, n, k2, n, margin=0.1) < 0.05).mean() < 0.062


def test_equivalence_of_means_is_two_one_sided_tests() -> None:
    d, s, margin = 0.12, 0.1, 0.3
    expected = max(stats.norm.sf((d + margin) / s), stats.norm.cdf((d - margin) / s))
    assert float(equivalent_means(d, s, margin=margin)) == pytest.approx(expected)
    assert equivalent_means([0.1, 0.5], [0.0, 0.0], margin=0.3).tolist() == [0.0, 1.0]
    with pytest.raises(iso.SpecError, match="margin"):
        equivalent_proportions(1, 2, 1, 2, margin=1.5)
