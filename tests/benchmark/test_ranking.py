"""Ranks and tests: against published figures, scipy, and laws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from isonomia.benchmark.ranking import cliques, critical_difference, friedman, mean_ranks, pairwise_p, wins


def test_ranks_by_counting() -> None:
    """A rank is one more than those who are better, and half of those who are equal."""
    scores = np.round(np.random.default_rng(5).random((12, 6)), 1)
    for row, found in zip(scores, [mean_ranks(row[None]) for row in scores], strict=True):
        assert found == pytest.approx([1 + (row > own).sum() + ((row == own).sum() - 1) / 2 for own in row])
    assert mean_ranks(scores).sum() == pytest.approx(21)


@pytest.mark.parametrize(
    ("k", "n", "expected"), [(4, 14, 1.25), (7, 60, 1.16), (11, 60, 1.95), (7, 36, 1.50), (11, 36, 2.52)]
)
def test_critical_differences(k: int, n: int, expected: float) -> None:
    assert critical_difference(k, n) == pytest.approx(expected, abs=0.005)


def test_friedman_without_ties_is_the_published_statistic() -> None:
    """Iman and Davenport's F from Friedman's chi-square by hand, and Demsar's 9.28 and 3.69 from his rounded ranks."""
    ranks = np.array([3.143, 2.000, 2.893, 1.964])
    chi2 = 12 * 14 / (4 * 5) * ((ranks**2).sum() - 4 * 25 / 4)
    assert chi2 == pytest.approx(9.28, abs=0.02)
    assert 13 * chi2 / (14 * 3 - chi2) == pytest.approx(3.69, abs=0.02)
    scores = np.random.default_rng(0).normal(size=(20, 5)) + np.arange(5) * 0.3
    found = friedman(scores)
    assert found is not None
    plain = mean_ranks(scores)
    by_hand = 12 * 20 / (5 * 6) * ((plain**2).sum() - 5 * 36 / 4)
    assert found.chi2 == pytest.approx(by_hand)
    assert found.f == pytest.approx(19 * by_hand / (20 * 4 - by_hand))
    assert found.p_value == pytest.approx(float(stats.f.sf(found.f, 4, 76)))


def test_friedman_has_no_answer_without_differences() -> None:
    assert friedman(np.ones((6, 3))) is None
    assert friedman(np.random.default_rng(0).random((6, 2))) is None
    one_order = np.tile([3.0, 2.0, 1.0], (8, 1))
    found = friedman(one_order)
    assert found is not None
    assert found.p_value == 0


def test_pairs_as_scipy_and_holm() -> None:
    scores = np.random.default_rng(1).normal(size=(15, 4)) + np.array([0, 0.2, 1.0, 1.1])
    found = pairwise_p(scores)
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    raw = [float(stats.wilcoxon(scores[:, i], scores[:, j]).pvalue) for i, j in pairs]
    order = np.argsort(raw)
    running, adjusted = 0.0, {}
    for place, index in enumerate(order):
        running = max(running, min(1.0, (6 - place) * raw[index]))
        adjusted[pairs[index]] = running
    for (i, j), p in adjusted.items():
        assert found[i, j] == found[j, i] == pytest.approx(p)
    assert pairwise_p(np.ones((5, 3))).min() == 1
    with_ties = pairwise_p(np.round(scores, 0))
    assert ((with_ties >= 0) & (with_ties <= 1)).all()


def test_a_third_method_changes_no_other_comparison_but_its_adjustment() -> None:
    scores = np.random.default_rng(2).normal(size=(12, 3)) + np.array([0, 1.5, 0.1])
    two = pairwise_p(scores[:, :2])[0, 1]
    three = pairwise_p(scores)[0, 1]
    assert two == pytest.approx(float(stats.wilcoxon(scores[:, 0], scores[:, 1]).pvalue))
    assert two <= three <= 3 * two + 1e-12


def test_bars_are_the_largest_runs() -> None:
    ranks = np.array([4.0, 1.0, 2.0, 3.0, 5.0])
    differs = {(1, 3), (1, 0), (1, 4), (2, 0), (2, 4), (3, 4)}
    alike = np.array([[(i, j) not in differs and (j, i) not in differs for j in range(5)] for i in range(5)])
    assert cliques(ranks, alike) == [(1, 2), (2, 3), (3, 0), (0, 4)]
    assert cliques(ranks, np.ones((5, 5), dtype=bool)) == [(1, 2, 3, 0, 4)]
    assert cliques(ranks, np.eye(5, dtype=bool)) == []


def test_wins_ties_and_losses_add_up() -> None:
    scores = np.round(np.random.default_rng(3).random((30, 4)), 1)
    won, tied = wins(scores)
    assert (won + won.T + tied == 30).all()
    assert won[0, 1] == sum(a > b for a, b in zip(scores[:, 0], scores[:, 1], strict=True))
