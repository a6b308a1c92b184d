"""What is found on one half and measured on the other: ranges of bins, idle conditions, p-values that are fresh."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from isonomia.counting import Codes
from isonomia.discovery import find_subgroups
from isonomia.discovery.subgroups import held_out
from isonomia.discovery.subgroups._testing import beyond_parent, tail_of_chances, upper_tail
from isonomia.discovery.subgroups.held_out import shares_of_level
from isonomia.discovery.subgroups.mass import Mass
from isonomia.discovery.subgroups.method import Subgroup
from isonomia.discovery.subgroups.nested import without_idle_conditions
from isonomia.discovery.subgroups.problem import Problem
from isonomia.discovery.subgroups.ranges import best_ranges, in_bins_of, wider_bins
from isonomia.discovery.subgroups.rates import quantity
from isonomia.discovery.subgroups.rectangles import log_choices
from isonomia.evidence import Estimate


def of_errors(errors: Any, **columns: Any) -> Problem:
    return Problem(features=tuple(columns.values()), errors=np.asarray(errors, dtype=float), min_support=5)


def test_a_range_across_bins_is_found_by_brute_force_too(rng: np.random.Generator) -> None:
    x = Codes.cut(rng.random(4000), np.linspace(0, 1, 11), name="x")
    errors = rng.random(4000) < np.where((x.codes >= 3) & (x.codes <= 5), 0.5, 0.1)
    problem = of_errors(errors, x=x)
    found = best_ranges(problem, Subgroup({"x": (4,)}, stats={"metric": "error"}))
    assert found.conditions == {"x": (3, 4, 5)}
    gain = errors - errors.mean()
    scores = {
        (i, j): gain[(x.codes >= i) & (x.codes <= j)].sum() / np.sqrt(((x.codes >= i) & (x.codes <= j)).sum())
        for i in range(10)
        for j in range(i, 10)
        if j - i < 9
    }
    assert max(scores, key=lambda key: scores[key]) == (3, 5)


def test_wider_bins_are_the_same_rows() -> None:
    x = Codes.cut([0.5, 1.5, 2.5, 3.5, 4.5, np.nan], range(6), name="x")
    problem = of_errors([0, 0, 0, 0, 0, 0], x=x)
    wide = wider_bins(problem)
    assert wide.features[0].codes.tolist() == [0, 0, 1, 1, 1, 2]
    assert wide.features[0].edges == (0.0, 2.0, 5.0)
    for code in range(3):
        subgroup = Subgroup({"x": (code,)})
        assert (in_bins_of(subgroup, problem).mask(problem.by_name) == subgroup.mask(wide.by_name)).all()


def test_a_condition_that_adds_nothing_is_dropped(rng: np.random.Generator) -> None:
    job, sex = (
        Codes.encode(rng.choice(list("abc"), 3000), name="job"),
        Codes.encode(rng.integers(0, 2, 3000), name="sex"),
    )
    problem = of_errors(rng.random(3000) < np.where(job.codes == 1, 0.4, 0.1), job=job, sex=sex)
    found = without_idle_conditions(problem, Subgroup({"job": (1,), "sex": (0,)}, stats={"metric": "error"}))
    assert set(found.conditions) == {"job"}
    both = of_errors(rng.random(3000) < np.where((job.codes == 1) & (sex.codes == 0), 0.4, 0.1), job=job, sex=sex)
    kept = without_idle_conditions(both, Subgroup({"job": (1,), "sex": (0,)}, stats={"metric": "error"}))
    assert set(kept.conditions) == {"job", "sex"}


def test_tails_are_those_of_scipy(rng: np.random.Generator) -> None:
    assert tail_of_chances(7, np.full(20, 0.2)) == pytest.approx(stats.binom.sf(6, 20, 0.2))
    inside, errors = rng.random(300) < 0.3, rng.random(300) < 0.3
    examined = quantity(of_errors(errors, x=Codes.encode(inside, name="x")), "error")
    table = [[int((errors & inside).sum()), int((~errors & inside).sum())]]
    table.append([int((errors & ~inside).sum()), int((~errors & ~inside).sum())])
    fisher = stats.fisher_exact(table, alternative="greater").pvalue
    mass = Mass(inside.size)
    assert upper_tail(examined, inside, mass) == pytest.approx(fisher)
    everyone = np.ones(300, dtype=bool)
    assert beyond_parent(examined, inside, everyone, mass) == pytest.approx(fisher)


@pytest.mark.parametrize(("size", "low", "high"), [(3, 0.0, 1.0), (10, 0.0, 0.4), (60, 0.3, 0.9), (400, 0.0, 0.3)])
def test_the_tail_of_unequal_chances_is_that_of_their_convolution(size: int, low: float, high: float) -> None:
    chances = np.random.default_rng(size).uniform(low, high, size)
    exact = np.array([1.0])
    for chance in chances:
        exact = np.convolve(exact, [1 - chance, chance])
    tails = exact[::-1].cumsum()[::-1]
    for count in range(1, size + 1):
        if tails[count] > 1e-13:
            assert tail_of_chances(count, chances) == pytest.approx(tails[count], rel=0.01)
    sure = np.concatenate([chances, [1.0, 1.0, 0.0]])
    assert tail_of_chances(2, sure) == 1.0
    assert tail_of_chances(size + 3, sure) == 0.0
    assert tail_of_chances(3, sure) == tail_of_chances(1, chances)


def test_p_values_times_how_many_subgroups_there_were_keep_the_level(rng: np.random.Generator) -> None:
    """The smallest over every range of a number within every category, where nothing is there."""
    n, bins, groups = 3000, 20, 5
    first, last = np.triu_indices(bins)
    first, last = (end[last - first + 1 < bins] for end in (first, last))
    below = 0
    for _ in range(100):
        cell, wrong = rng.integers(bins * groups, size=n), rng.random(n) < 0.2
        rows, hits = (
            np.pad(np.bincount(cell[chosen], minlength=bins * groups).reshape(groups, bins), ((0, 0), (1, 0))).cumsum(1)
            for chosen in (np.ones(n, dtype=bool), wrong)
        )
        size, found = (table[:, last + 1] - table[:, first] for table in (rows, hits))
        large = size >= 32
        p = stats.hypergeom.sf(found[large] - 1, n, wrong.sum(), size[large])
        below += (p * np.exp(log_choices(size[large] / n, 1))).min() < 0.05
    assert below <= 11  # 5 are allowed for; more than 11 have a chance of 0.5%


def test_shares_of_the_level_add_up() -> None:
    for found in (1, 2, 5, 12):
        shares = shares_of_level(found, 2)
        assert sum(shares) <= found + 1e-9
        assert max(shares) <= 2.0
        assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize(("fresh", "whole", "p"), [(0.001, 0.2, 0.002), (0.3, -12.0, np.exp(-12.0)), (0.6, -12.0, 0.6)])
def test_a_p_value_is_that_of_fresh_rows_or_of_all(
    fresh: float, whole: float, p: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows kept out that show nothing, or the opposite, are not overruled by those that the subgroup was picked on."""
    monkeypatch.setattr(held_out, "_hurdles", lambda problem, item: {None: whole})
    monkeypatch.setattr(held_out, "added_by_conditions", lambda problem, item: {})
    item = Subgroup({}, {}, Estimate(0.5), 0.2, p_value=fresh, p_adjusted=None)
    problem = of_errors(np.array([0.0, 1.0]))
    assert held_out._joint_p(problem, problem, item, item) == pytest.approx(p)


def test_pure_chance_gives_no_finding() -> None:
    """Runs with any finding, of data without any subgroup."""
    wrong = 0
    for seed in range(40):
        rng = np.random.default_rng([31, seed])
        columns = {"x": rng.random(1500), "z": rng.random(1500), "g": rng.choice(list("ABC"), 1500)}
        found = find_subgroups(columns, errors=rng.random(1500) < 0.2, holdout=0.4, max_overlap=0.6, alpha=0.99)
        wrong += any(finding.sure for finding in found.findings)
    assert wrong <= 6  # 2 are allowed for; more than 6 have a chance of 1%


def test_a_condition_that_adds_nothing_is_kept_at_the_level_of_its_test(rng: np.random.Generator) -> None:
    """Chances of the parent's rows are all as far from the expected ones; the size of the score test by simulation."""
    expected, inside = rng.beta(1, 3, 400), np.arange(400) < 70
    x = Codes.encode(inside, name="x")
    below = []
    for _ in range(2000):
        errors = rng.random(400) < np.minimum(expected + 0.1, 1.0)
        examined = replace(quantity(of_errors(errors, x=x), "error"), expected=expected)
        below.append(beyond_parent(examined, inside, np.ones(400, dtype=bool), Mass(400)))
    assert np.mean(np.array(below) < 0.05) == pytest.approx(0.05, abs=0.015)
    assert np.mean(np.array(below) < 0.01) < 0.02


def test_a_group_that_rides_along_is_not_named() -> None:
    """Errors depend on x alone: with a holdout no condition on another feature survives."""
    named = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x, group = rng.random(4000), rng.choice(list("ABC"), 4000)
        errors = rng.random(4000) < np.where(x > 0.9, 0.5, 0.1)
        found = find_subgroups({"x": x, "g": group}, method="sliceline", errors=errors, holdout=0.5, max_overlap=0.6)
        assert any(finding.sure and set(finding.who) == {"x"} for finding in found.findings)
        named += any(finding.sure and "g" in finding.who for finding in found.findings)
    assert named <= 1
