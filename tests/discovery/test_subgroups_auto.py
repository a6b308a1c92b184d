"""`find_subgroups(method="auto")`, metrics that compare outcomes with scores, and random search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from isonomia.data.engines.engine import part_of
from isonomia.discovery import METHODS, find_subgroups
from isonomia.discovery.subgroups._choosing import CHOICES
from isonomia.errors import DataError, SpecError
from isonomia.metrics import expected_favourable
from isonomia.models import Surface


def people(n: int = 4000, *, seed: int = 0) -> tuple[pd.DataFrame, Any, Any]:
    """Women in the north are scored 0.25 below what they deserve."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "region": rng.choice(["north", "south", "west"], n),
            "skill": rng.normal(size=n).round(2),
        }
    )
    deserved = 1 / (1 + np.exp(-1.2 * frame["skill"].to_numpy()))
    wronged = ((frame["sex"] == "F") & (frame["region"] == "north")).to_numpy()
    outcome = (rng.random(n) < deserved).astype(int)
    return frame, outcome, np.clip(deserved - 0.25 * wronged, 0.01, 0.99)


@pytest.mark.parametrize("method", ["auto", "sliceline", "divexplorer", "slicefinder", "random"])
def test_who_is_underrated_is_found(method: str) -> None:
    frame, outcome, score = people()
    options: dict[str, Any] = {} if method == "auto" else {"metric": "underrated"}
    result = find_subgroups(frame, y_true=outcome, y_score=score, method=method, protected=["sex"], k=3, **options)
    first = next(row for row in result.tables["subgroups"].rows() if row["metric"] == "underrated")
    assert {"sex": first["sex"], "region": first["region"]} == {"sex": "F", "region": "north"}
    assert first["p_adjusted"] < 0.05


def test_the_auditor_of_linear_rules_compares_with_the_score() -> None:
    frame, outcome, score = people()
    result = find_subgroups(
        frame, y_true=outcome, y_score=score, method="gerryfair", metric="underrated", protected=["sex", "region"]
    )
    high = next(index for index, item in enumerate(result.subgroups) if item.stats["direction"] == "high")
    inside = result.mask(high)
    women_north = ((frame["sex"] == "F") & (frame["region"] == "north")).to_numpy()
    assert (inside & women_north).sum() == women_north.sum()


def test_nobody_is_underrated_by_a_calibrated_score() -> None:
    """The first search of a family of calibrated scores claims something in at most 5% of runs (here 40)."""
    claims = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        frame, _, _ = people(1000, seed=seed)
        chance = 1 / (1 + np.exp(-frame["skill"].to_numpy()))
        outcome = (rng.random(1000) < chance).astype(int)
        result = find_subgroups(frame, y_true=outcome, y_score=chance, method="sliceline", metric="underrated", k=3)
        claims += any(item.p_adjusted is not None and item.p_adjusted < 0.05 for item in result.subgroups)
    assert claims <= stats.binom.ppf(0.999, 40, 0.05)


def test_overrated_is_the_other_side() -> None:
    frame, outcome, score = people()
    under = find_subgroups(frame, y_true=1 - outcome, y_score=1 - score, method="sliceline", metric="overrated", k=3)
    over = find_subgroups(frame, y_true=outcome, y_score=score, method="sliceline", metric="underrated", k=3)
    assert [item.conditions for item in under.subgroups] == [item.conditions for item in over.subgroups]


def test_expected_favourable_is_an_increasing_step_function() -> None:
    rng = np.random.default_rng(0)
    score = rng.random(500).round(2)
    truth = (rng.random(500) < score**2).astype(int)
    found = expected_favourable(truth, Surface.of_probabilities(score, classes=(0, 1)))
    assert found is not None
    order = np.argsort(score)
    assert (np.diff(found[order]) >= -1e-12).all()
    assert found.mean() == pytest.approx(truth.mean())
    assert expected_favourable(truth, Surface.of_numbers(score)) is None


def test_what_auto_takes_for_what_is_known() -> None:
    frame, outcome, score = people(1500)
    decided = (score > 0.5).astype(int)
    scored = find_subgroups(frame, y_true=outcome, y_score=score, method="auto")
    assert {item.stats["metric"] for item in scored.subgroups} == {"underrated"}
    mirrored = find_subgroups(frame, y_true=1 - outcome, y_score=1 - score, method="auto")
    assert {item.stats["metric"] for item in mirrored.subgroups} == {"overrated"}
    both = find_subgroups(frame, y_true=outcome, y_pred=decided, positive=1, method="auto")
    assert {item.stats["metric"] for item in both.subgroups} == {"fpr", "fnr"}
    errors = find_subgroups(frame, errors=np.abs(outcome - score), method="auto")
    assert {item.stats["metric"] for item in errors.subgroups} == {"error"}
    for result in (scored, both, errors):
        assert result.method == "sliceline"
        assert any("Searched by sliceline" in str(note) for note in result.notes)
        assert any("Found one by one" in str(note) for note in result.notes)
        assert any("measured on the other" in str(note) for note in result.notes)
    alone = find_subgroups(frame, y_pred=decided, method="auto")
    assert {item.stats["metric"] for item in alone.subgroups} == {"selection_rate"}
    assert alone.method == "divexplorer"
    assert max(row["overlap"] for row in alone.tables["subgroups"].rows()) <= 0.6
    assert all(choice.method in METHODS for choice in CHOICES)


def test_what_the_caller_gives_stays() -> None:
    frame, outcome, score = people(600)
    result = find_subgroups(frame, y_true=outcome, y_score=score, method="auto", metric="accuracy", holdout=0.3)
    assert {item.stats["metric"] for item in result.subgroups} <= {"accuracy"}
    parts = part_of(np.arange(600), (0.3, 0.7), seed=0)
    held = int((parts == 2).sum())
    assert any(f"{600 - held} rows and measured on the other {held}" in str(note) for note in result.notes)
    worse = find_subgroups(frame, y_true=outcome, y_score=score, method="auto", metric="accuracy")
    assert worse.subgroups
    assert all((item.estimate.value or 0) <= (item.overall or 0) for item in worse.subgroups)
    plain = find_subgroups(frame, y_true=outcome, y_score=score, method="auto", one_by_one=False)
    assert not any("Found one by one" in str(note) for note in plain.notes)
    with pytest.raises(SpecError, match="penalty"):
        find_subgroups(frame, y_true=outcome, y_score=score, method="auto", penalty=1)


def test_scores_are_needed() -> None:
    frame, outcome, _ = people(300)
    with pytest.raises(DataError, match="'underrated' needs probabilities"):
        find_subgroups(frame, y_true=outcome, y_pred=outcome, method="sliceline", metric="underrated")


def test_random_search_repeats_itself_and_tests_as_fisher() -> None:
    frame, outcome, score = people(800)
    wrong = (outcome != (score > 0.5)).astype(float)
    first, second = (find_subgroups(frame, errors=wrong, method="random", k=4, seed=3) for _ in range(2))
    assert [item.conditions for item in first.subgroups] == [item.conditions for item in second.subgroups]
    for index, item in enumerate(first.subgroups):
        inside = first.mask(index)
        table = [[wrong[inside].sum(), (1 - wrong[inside]).sum()], [wrong[~inside].sum(), (1 - wrong[~inside]).sum()]]
        assert item.p_value == pytest.approx(float(stats.fisher_exact(table, alternative="greater").pvalue))
    assert first.metrics["TSN"] <= 1000
