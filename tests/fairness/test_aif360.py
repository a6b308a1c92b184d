"""Weighted differences and rates as AIF360 gives them, written down by benchmarks/peers/aif360_values.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from isonomia.fairness import disparate_impact, equalized_odds, group_metrics

CASES = json.loads(Path(__file__).with_name("aif360_values.json").read_text())["cases"]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_the_same_as_aif360(case: dict[str, Any]) -> None:
    metrics = ["selection_rate", "tpr", "fpr", "fnr", "ppv", "accuracy"]
    result = group_metrics(
        case["y"],
        case["p"],
        sensitive_features={"s": case["s"]},
        weights=case["w"],
        metrics=metrics,
        reference=1,
        n_boot=0,
    )
    gaps = result.comparisons.set_index("metric")
    groups = result.by_group.set_index("s")
    theirs = case["aif360"]
    for metric in ("selection_rate", "tpr", "fpr", "fnr"):
        assert gaps.loc[metric, "difference"] == pytest.approx(theirs[metric], abs=1e-12)
    assert gaps.loc["selection_rate", "ratio"] == pytest.approx(theirs["selection_rate_ratio"], abs=1e-12)
    for metric in ("ppv", "accuracy"):
        assert groups.loc[0, metric] == pytest.approx(theirs[f"{metric}_group"], abs=1e-12)
        assert groups.loc[1, metric] == pytest.approx(theirs[f"{metric}_reference"], abs=1e-12)


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_average_odds_and_disparate_impact_are_the_same_as_aif360(case: dict[str, Any]) -> None:
    options: dict[str, Any] = {
        "sensitive_features": {"s": case["s"]},
        "weights": case["w"],
        "n_boot": 0,
        "min_per_group": 1,
    }
    theirs = case["aif360"]
    odds = equalized_odds(case["y"], case["p"], **options)
    assert odds.mean_difference.value == pytest.approx((abs(theirs["tpr"]) + abs(theirs["fpr"])) / 2, abs=1e-12)
    assert odds.difference.value == pytest.approx(max(abs(theirs["tpr"]), abs(theirs["fpr"])), abs=1e-12)
    ratio = theirs["selection_rate_ratio"]
    assert disparate_impact(case["p"], **options).ratio.value == pytest.approx(min(ratio, 1 / ratio), abs=1e-12)
