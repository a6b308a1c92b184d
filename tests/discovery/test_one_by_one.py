"""Subgroups found one after another: what those before explain is not found again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize, special, stats

from isonomia.discovery import find_subgroups
from isonomia.discovery.subgroups.explained import explained
from isonomia.errors import SpecError

METHODS = ("sliceline", "divexplorer", "random", "slicefinder")


def people(rng: np.random.Generator, n: int, *planted: dict[str, str], extra: float = 0.3) -> tuple[Any, Any]:
    """Ten percent of errors, and so many more among the people of each planted subgroup."""
    frame = {name: rng.choice(list(values), n) for name, values in {"a": "xyz", "b": "uvw", "c": "rst"}.items()}
    frame["d"] = rng.choice(list("klmnop"), n)
    chance = np.full(n, 0.1)
    for conditions in planted:
        chance += extra * np.all([frame[name] == value for name, value in conditions.items()], axis=0)
    return frame, (rng.random(n) < chance).astype(float)


BOTH = {"a": "x", "b": "u"}, {"b": "v", "c": "r"}


def slices(result: Any) -> list[str]:
    return [row["slice"] for row in result.tables["subgroups"].rows()]


def sure(result: Any) -> list[str]:
    return [row["slice"] for row in result.tables["subgroups"].rows() if (row["p_adjusted"] or 0.0) < 0.05]


def test_chances_that_agree_with_overlapping_subgroups_are_those_of_a_logistic_regression(
    rng: np.random.Generator,
) -> None:
    """By another route: with the former log odds as offset and one column per subgroup, by maximum likelihood."""
    chance, inside = rng.uniform(0.05, 0.9, 400), rng.random((3, 400)) < 0.4
    weights = rng.uniform(0.5, 2.0, 400)
    values = (rng.random(400) < chance).astype(float)
    offset = special.logit(chance)

    def loss(slopes: Any) -> float:
        at = offset + slopes @ inside
        return float(weights @ (np.logaddexp(0, at) - values * at))

    slopes = optimize.minimize(loss, np.zeros(3), tol=1e-12).x
    found = explained(values, chance, list(inside), weights, binary=True)
    np.testing.assert_allclose(found, special.expit(offset + slopes @ inside), atol=1e-4)
    np.testing.assert_allclose(inside @ (found * weights), inside @ (values * weights), rtol=1e-5)


def test_where_everybody_was_observed_alike_chances_are_certain_and_the_others_still_agree() -> None:
    """Nobody in the first subgroup: no finite odds. The second is the first and four more, the third is the second."""
    values = np.array([0.0, 0, 0, 0, 1, 1, 0, 0, 1, 0])
    first, second = np.arange(10) < 3, np.arange(10) < 7
    found = explained(values, np.full(10, 0.3), [first, second, second], None, binary=True)
    np.testing.assert_allclose(found, [1e-9] * 3 + [0.5] * 4 + [0.3] * 3, atol=1e-8)
    chained = explained(values[:4], np.full(4, 0.3), [np.arange(4) < 2, np.arange(4) < 4], None, binary=True)
    np.testing.assert_allclose(chained, 1e-9, atol=1e-12)


def test_numbers_that_agree_with_overlapping_subgroups_are_those_of_least_squares(rng: np.random.Generator) -> None:
    before, inside, values = rng.normal(size=300), rng.random((2, 300)) < 0.5, rng.normal(size=300)
    slopes = np.linalg.lstsq(inside.T.astype(float), values - before, rcond=None)[0]
    found = explained(values, before, list(inside), None, binary=False)
    np.testing.assert_allclose(found, before + slopes @ inside, atol=1e-4)


@pytest.mark.parametrize("holdout", [None, 0.5])
@pytest.mark.parametrize("method", METHODS)
def test_two_problems_are_two_subgroups(method: str, holdout: float | None) -> None:
    frame, wrong = people(np.random.default_rng(1), 6000, *BOTH)
    options: dict[str, Any] = {"epsilon": 0.5, "min_effect_size": 0.5} if method == "slicefinder" else {}
    result = find_subgroups(frame, errors=wrong, method=method, k=2, one_by_one=True, holdout=holdout, **options)
    assert set(slices(result)[:2]) == {"a = x, b = u", "b = v, c = r"}
    assert set(slices(result)[:2]) <= set(sure(result))


def test_without_it_variants_are_listed_too() -> None:
    frame, wrong = people(np.random.default_rng(1), 6000, *BOTH)
    options: dict[str, Any] = {"errors": wrong, "method": "divexplorer", "rank_by": "t", "k": 5}
    plain, found = find_subgroups(frame, **options), find_subgroups(frame, one_by_one=True, **options)
    assert len(sure(plain)) == 5
    assert set(sure(found)) == {"a = x, b = u", "b = v, c = r"}


def test_the_first_is_that_of_the_plain_search_and_figures_are_those_of_all_rows() -> None:
    frame, wrong = people(np.random.default_rng(2), 2000, *BOTH)
    for method in METHODS:
        options: dict[str, Any] = {"draws": 100} if method == "random" else {}
        plain = find_subgroups(frame, errors=wrong, method=method, k=1, **options)
        found = find_subgroups(frame, errors=wrong, method=method, k=3, one_by_one=True, **options)
        first, same = next(found.tables["subgroups"].rows()), next(plain.tables["subgroups"].rows())
        for name, value in same.items():
            assert first[name] == (pytest.approx(value) if isinstance(value, float) else value), (method, name)
        for index, item in enumerate(found.subgroups):
            assert item.estimate.value == pytest.approx(wrong[found.mask(index)].mean())


def test_the_second_p_value_is_given_the_first() -> None:
    """By another route: chances of the rows after the first subgroup, and the tail of their sum by convolution."""
    frame, wrong = people(np.random.default_rng(3), 1500, *BOTH)
    result = find_subgroups(frame, errors=wrong, method="random", draws=4000, k=2, one_by_one=True)
    first, second = result.mask(0), result.mask(1)
    chance = np.where(first, wrong[first].mean(), wrong[~first].mean())
    counts = np.array([1.0])
    for one in chance[second]:
        counts = np.convolve(counts, [1 - one, one])
    tail = counts[int(wrong[second].sum()) :].sum()
    assert result.subgroups[1].p_value == pytest.approx(tail, rel=0.02)
    beyond = wrong[second].mean() - chance[second].mean()
    assert result.subgroups[1].stats["beyond_previous"] == pytest.approx(beyond, abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_it_ends_where_nothing_is_left(method: str) -> None:
    frame = {"sex": ["F", "M"] * 100, "city": ["x", "x", "y", "y"] * 50}
    result = find_subgroups(frame, errors=[1, 0, 0, 0] * 50, method=method, k=5, one_by_one=True)
    rows = [result.mask(index).tobytes() for index in range(len(result.subgroups))]
    assert len(set(rows)) == len(rows) or method == "slicefinder"  # which lists those of a tree apart
    assert len(rows) < 5


@pytest.mark.parametrize("method", ["sliceline", "divexplorer"])
def test_chance_is_not_claimed(method: str) -> None:
    """Without any problem, and after the only one: a further claim in at most 5% of runs (40, by the binomial)."""
    options: dict[str, Any] = {"rank_by": "t"} if method == "divexplorer" else {}
    nothing = one = 0
    for seed in range(40):
        rng = np.random.default_rng([seed, 5])
        for planted in ((), BOTH[:1]):
            frame, wrong = people(rng, 1000, *planted)
            result = find_subgroups(frame, errors=wrong, method=method, k=3, one_by_one=True, **options)
            others = [text for text in sure(result) if text != "a = x, b = u"]
            nothing += bool(others) and not planted
            one += bool(others) and bool(planted)
    assert max(nothing, one) <= stats.binom.ppf(0.999, 40, 0.05)


def test_metrics_do_not_explain_one_another(rng: np.random.Generator) -> None:
    frame, wrong = people(rng, 3000, BOTH[0])
    truth = rng.integers(0, 2, 3000)
    pred = np.where(wrong == 1, 1 - truth, truth)
    result = find_subgroups(
        frame, y_true=truth, y_pred=pred, positive=1, method="divexplorer", rank_by="t", k=2, one_by_one=True
    )
    assert [item.stats["metric"] for item in result.subgroups] == ["fpr", "fpr", "fnr", "fnr"]
    assert [slices(result)[index] for index in (0, 2)] == ["a = x, b = u"] * 2


def test_other_methods_are_refused(rng: np.random.Generator) -> None:
    frame, wrong = people(rng, 300)
    with pytest.raises(SpecError, match="'gerryfair' does not compare averages of conjunctions"):
        find_subgroups(frame, errors=wrong, method="gerryfair", protected=["a"], one_by_one=True)
