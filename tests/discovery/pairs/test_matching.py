"""Least-cost matching: against scipy from nothing, against its own proof, POT against both."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment, linprog

from isonomia.discovery.pairs.searches import matching
from isonomia.discovery.pairs.searches.matching import assignment, prices, squared_l1, transport


def groups(n: int, m: int, seed: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    if kind == "repeated":  # many people alike: many matches are equally good
        return rng.integers(0, 3, (n, 4)).astype(float), rng.integers(0, 4, (m, 4)).astype(float)
    return rng.normal(0.4, 1, (n, 4)), rng.standard_t(3, (m, 4))


@pytest.mark.parametrize("kind", ["continuous", "repeated"])
@pytest.mark.parametrize("seed", range(3))
def test_the_quick_start_keeps_the_best(monkeypatch: pytest.MonkeyPatch, kind: str, seed: int) -> None:
    monkeypatch.setattr(matching, "SMALL", 10)
    cost = squared_l1(*groups(230 + seed, 230 + seed, seed, kind))
    column = assignment(cost)
    assert sorted(column) == list(range(len(cost)))
    total = cost[np.arange(len(cost)), column].sum()
    assert total == pytest.approx(cost[linear_sum_assignment(cost)].sum(), rel=1e-12)
    # the proof: prices that no pair can undercut, and whose total is that of the match
    of_column = prices(cost, column)
    of_row = cost[np.arange(len(cost)), column] - of_column[column]
    assert (of_row[:, None] + of_column <= cost + 1e-9).all()
    assert of_row.sum() + of_column.sum() == pytest.approx(total, rel=1e-9)


def test_prices_do_not_settle_for_a_match_that_is_not_the_best() -> None:
    cost = np.array([[0.0, 1.0], [1.0, 0.0]])
    wrong = np.array([1, 0])
    of_column = prices(cost, wrong)
    of_row = cost[[0, 1], wrong] - of_column[wrong]
    assert not (of_row[:, None] + of_column <= cost + 1e-9).all()


@pytest.mark.parametrize("kind", ["continuous", "repeated"])
@pytest.mark.parametrize("seed", range(3))
def test_pot_finds_the_same_cost_as_scipy(kind: str, seed: int) -> None:
    pytest.importorskip("ot")
    cost = squared_l1(*groups(60, 60, seed, kind))
    column = transport(cost)
    assert cost[np.arange(60), column].sum() == pytest.approx(cost[linear_sum_assignment(cost)].sum(), rel=1e-9)


@pytest.mark.parametrize(("n", "m"), [(6, 9), (9, 6), (4, 12)])
def test_pot_matches_groups_of_unequal_size_as_a_linear_programme_does(n: int, m: int) -> None:
    ot = pytest.importorskip("ot")
    cost = squared_l1(*groups(n, m, 1, "continuous"))
    rows, columns = np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))
    sides = np.concatenate([np.full(n, 1 / n), np.full(m, 1 / m)])
    best = linprog(cost.ravel(), A_eq=np.concatenate([rows, columns]), b_eq=sides)
    assert ot.emd2(sides[:n], sides[n:], cost) == pytest.approx(best.fun)
    plan = best.x.reshape(n, m)
    chosen = transport(cost)
    assert (plan[np.arange(n), chosen] >= plan.max(axis=1) - 1e-9).all()
