"""Intervals, tests, multiplicity and power against scipy."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from isonomia.errors import SpecError
from isonomia.evidence import (
    Column,
    Estimate,
    Result,
    Table,
    benjamini_hochberg,
    detectable_rates,
    holm,
    percentile,
    two_proportions,
    welch,
    wilson,
)
from isonomia.evidence.significance import fisher, likelihood_root
from isonomia.languages import msg


@given(st.integers(1, 500), st.data())
def test_ends_of_a_rate_are_where_the_corrected_score_test_or_the_exact_one_begins_to_reject(
    n: int, data: st.DataObject
) -> None:
    k = data.draw(st.integers(0, n))
    exact = [
        stats.binomtest(k, n, alternative=side).proportion_ci(0.95, method="exact") for side in ("greater", "less")
    ]
    low, high = (float(end) for end in wilson(k, n))

    def statistic(p: float, moved: float) -> float:
        return (moved - n * p) / np.sqrt(n * p * (1 - p))

    z = stats.norm.ppf(0.975)
    if k == 0:
        assert low == 0.0
    else:
        first = optimize.brentq(lambda p: statistic(p, k - 0.15) - z, 1e-12, (k - 0.15) / n)
        assert low == pytest.approx(min(first, exact[0].low), abs=1e-9)
    if k == n:
        assert high == 1.0
    else:
        last = optimize.brentq(lambda p: statistic(p, k + 0.15) + z, (k + 0.15) / n, 1 - 1e-12)
        assert high == pytest.approx(max(last, exact[1].high), abs=1e-9)


@pytest.mark.parametrize("n", [30, 50, 100, 300, 1000])
def test_intervals_of_rates_cover_summed_over_all_counts_at_every_rate(n: int) -> None:
    k = np.arange(n + 1)
    low, high = wilson(k, n)
    jumps = np.concatenate([low[low > 0], high[high < 1]])  # coverage changes at the ends: the extremes lie beside them
    rates = np.concatenate([np.linspace(0.02 / n, 0.5, 2001), jumps - 1e-10, jumps + 1e-10])
    rates = rates[rates <= 0.5]
    covered = np.array([stats.binom.pmf(k, n, p)[(low <= p) & (p <= high)].sum() for p in rates])
    assert covered.min() >= 0.935
    assert covered[:2001].mean() == pytest.approx(0.9565, abs=0.006)
    assert covered[rates * n > 7].max() <= 0.975  # above that only where about five cases or fewer are expected


def test_wilson_of_nothing_is_nothing() -> None:
    low, high = wilson([0, 3], [0, 3])
    assert np.isnan(low[0])
    assert np.isnan(high[0])
    assert high[1] == 1.0


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_fisher_is_scipys(n1: int, n2: int, data: st.DataObject) -> None:
    k1, k2 = data.draw(st.integers(0, n1)), data.draw(st.integers(0, n2))
    expected = stats.fisher_exact([[k1, n1 - k1], [k2, n2 - k2]]).pvalue
    assert fisher(k1, n1, k2, n2) == pytest.approx(expected, abs=1e-9)


def test_two_proportions_is_the_chi_square_of_pearson() -> None:
    p = two_proportions([30, 0, 5], [100, 0, 50], [45, 3, 10], [100, 10, 50])
    table = stats.chi2_contingency([[30, 70], [45, 55]], correction=False)
    assert p[0] == pytest.approx(stats.chi2.sf(table.statistic * 199 / 200, 1))
    assert np.isnan(p[1]), "an empty group has no test"
    assert two_proportions(0, 10, 0, 20) == 1.0


@pytest.mark.parametrize(("k1", "n1", "k2", "n2"), [(26, 240, 124, 2760), (4, 240, 146, 2760), (30, 100, 12, 110)])
def test_tails_of_two_proportions_are_those_of_the_exact_distribution(k1: int, n1: int, k2: int, n2: int) -> None:
    """The score test alone is out by half in such tails; one half of the table itself counts (mid-p)."""
    exact = stats.hypergeom(n1 + n2, k1 + k2, n1)
    tail = min(exact.sf(k1), exact.cdf(k1 - 1)) + exact.pmf(k1) / 2
    assert float(likelihood_root(k1, n1, k2, n2)) == pytest.approx(2 * tail, rel=0.12)
    assert float(two_proportions(k1, n1, k2, n2)) >= float(likelihood_root(k1, n1, k2, n2))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_benjamini_hochberg_is_scipys(values: list[float]) -> None:
    np.testing.assert_allclose(benjamini_hochberg(values), stats.false_discovery_control(values), atol=1e-12)
    assert (holm(values) >= benjamini_hochberg(values) - 1e-12).all()


def test_welch_is_scipys() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 1, 30), rng.normal(0.4, 3, 50)
    expected = stats.ttest_ind(a, b, equal_var=False).pvalue
    parts = [(x.mean(), x.std(ddof=1) / np.sqrt(x.size), x.size - 1) for x in (a, b)]
    assert float(welch(*parts[0], *parts[1])) == pytest.approx(expected)


def test_percentile_leaves_out_undefined_draws() -> None:
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(1000, 3))
    draws[::10, 1] = np.nan
    draws[:600, 2] = np.nan
    low, high = percentile(draws, 0.9)
    np.testing.assert_allclose(low[:2], np.nanquantile(draws[:, :2], 0.05, axis=0))
    np.testing.assert_allclose(high[:2], np.nanquantile(draws[:, :2], 0.95, axis=0))
    assert np.isnan(low[2]), "fewer than half of the draws are defined"


def test_a_gap_as_large_as_detectable_is_found_four_times_in_five() -> None:
    rng = np.random.default_rng(0)
    n, base = 400, 0.3
    below, above = (float(gap) for gap in detectable_rates(base, n, n))
    for rate in (base - below, base + above):
        a, b = rng.binomial(n, base, 4000), rng.binomial(n, rate, 4000)
        found = (two_proportions(a, np.full(4000, n), b, np.full(4000, n)) < 0.05).mean()
        assert 0.79 < found < 0.85


def test_detectable_rates_stay_within_zero_and_one() -> None:
    rate = np.array([0.05, 0.05, 0.95, 0.0, 1.0, 0.5, np.nan])
    size = np.array([30, 5000, 30, 200, 200, 2, 100])
    below, above = detectable_rates(rate, 1000, size)
    known = ~np.isnan(below)
    assert known.tolist() == [False, True, True, False, True, False, False]
    assert (rate[known] - below[known] >= 0).all()
    known = ~np.isnan(above)
    assert known.tolist() == [True, True, False, True, False, False, False]
    assert (rate[known] + above[known] <= 1).all()


@given(st.floats(0.05, 0.95), st.integers(20, 5000), st.integers(20, 5000))
def test_laws_of_detectable_rates(rate: float, m: int, n: int) -> None:
    below, above = detectable_rates(rate, m, n)
    mirrored = detectable_rates(1 - rate, m, n)
    np.testing.assert_allclose([below, above], mirrored[::-1], atol=2e-4)
    more = detectable_rates(rate, 2 * m, 2 * n)
    strict = detectable_rates(rate, m, n, alpha=0.0005)
    for gap, narrower, wider in zip((below, above), more, strict, strict=True):
        assert np.isnan(gap) or narrower <= gap
        assert np.isnan(wider) or wider > gap


def test_an_estimate_without_a_value_says_why() -> None:
    with pytest.raises(ValueError, match="needs a note"):
        Estimate(None)
    assert Estimate.missing("no rows").to_dict()["value"] is None
    with pytest.raises(ValueError, match="no rows"):
        float(Estimate.missing("no rows"))


def test_headline_figures_are_written_as_their_column_and_points_are_named() -> None:
    from isonomia.evidence import Result, Table
    from isonomia.languages import msg
    from isonomia.report.texts import headline

    table = Table.of(
        {"rate": [0.25], "gap": [-0.1]},
        [Column("rate", format="pct"), Column("gap", format="points", title=msg("Gap"))],
    )
    result = Result("x", msg("X"), {"t": table}, {"rate": 0.25, "gap": -0.1, "other": 2.0}, formats={"other": "int"})
    assert [result.style(name) for name in ("rate", "gap", "other", "none")] == ["pct", "points", "int", "num"]
    assert table["gap"].heading() == "Gap (points)"
    assert table["gap"].heading("pt-BR") == "Diferença (p.p.)"
    assert result.heading("gap") == "Gap"  # the unit stands with the number
    assert headline(result, "gap", "en") == "-10.0 points"
    assert headline(result, "rate", "pt-BR") == "25,0%"


def test_a_column_brings_its_interval_and_reasons_into_a_flat_frame() -> None:
    from isonomia.evidence import Column, Table
    from isonomia.languages import msg

    rate = Column("rate", [0.5, None], [0.4, None], [0.6, None])
    table = Table.of(
        {"rate": rate, "gap": [0.1, msg("one group only")], "low": [1.0, 2.0]}, [Column("gap", format="points")]
    )
    assert table.names == ("rate", "gap", "low"), "a column called low is nobody's end"
    assert list(table.flat()) == ["rate", "rate_low", "rate_high", "gap", "low", "note"]
    assert [None if note is None else str(note) for note in table.flat()["note"]] == [None, "one group only"]


def test_weighted_holm_is_the_closed_test_of_weighted_bonferroni(rng):
    """By brute force over all intersections; NaN is not tested, equal weights are Holm's own procedure."""
    p, weights = rng.random(5) ** 3, np.array([5.0, 1.0, 2.0, 0.5, 1.0])
    sets = [np.array(chosen) for size in range(1, 6) for chosen in combinations(range(5), size)]
    closed = [
        max(min(1.0, (p[own] * weights[own].sum() / weights[own]).min()) for own in sets if index in own)
        for index in range(5)
    ]
    np.testing.assert_allclose(holm(p, weights), closed)
    np.testing.assert_allclose(holm(p, np.full(5, 3.0)), holm(p))
    with_gap = holm([*p, np.nan], [*weights, 9.0])
    np.testing.assert_allclose(with_gap[:-1], closed)
    assert np.isnan(with_gap[-1])


def test_results_are_short_in_a_terminal() -> None:
    """Also those of subclasses, for which @dataclass would spell out every table."""

    @dataclass(frozen=True)
    class Ranking(Result):
        extra: tuple[float, ...] = ()

    table = Table.of({"group": ["F", "M"], "rate": [0.25, 0.5]})
    ranked = Ranking("ranking", msg("Who is first"), {"ranks": table}, extra=(1.0,) * 1000)
    assert repr(ranked) == "Ranking(Who is first: tables ranks; 0 findings)"
    assert str(ranked) == "Who is first\n\ngroup   rate\nF      0.250\nM      0.500"
    assert repr(table) == "Table(2 rows: group, rate)"
    assert str(Result("empty", msg("Nothing"))) == "Nothing"
    told = Result("empty", msg("Nothing"), notes=(msg("the model takes no such column"),))
    assert str(told) == "Nothing\n\nthe model takes no such column"
    with pytest.raises(SpecError, match=r"The result .empty. has no tables\. the model takes no such column"):
        _ = told.table
