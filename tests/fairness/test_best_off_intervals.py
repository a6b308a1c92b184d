"""The best-off group was picked by looking: comparisons with it allow for that, comparisons with a named one do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from isonomia.evidence import score_difference, score_ratio
from isonomia.evidence.significance import two_proportions
from isonomia.evidence.simultaneous import pair_level
from isonomia.fairness import group_metrics
from isonomia.subject import Subject

GRANTED = {"a": 50, "b": 42, "c": 40, "d": 38, "e": 30}


def compared(granted: dict[str, int], n: int = 100, **options: Any) -> dict[str, dict[str, Any]]:
    """The comparisons of selection rates by group."""
    group = np.repeat(list(granted), n)
    decided = np.concatenate([np.arange(n) < k for k in granted.values()]).astype(int)
    people = Subject.of_predictions(decided, sensitive_features={"g": group}, **options)
    found = group_metrics(people, metrics=["selection_rate"])
    table = found.tables["comparisons"]
    keys = [dict(key)["g"] for key in table["group"].keys or ()]
    rows = {}
    for row, key in enumerate(keys):
        figures = {name: table[name].estimate(row) for name in ("difference", "ratio")}
        rows[key] = {**figures, "p": table["p_value"].values[row], "below": table["detectable_below"].values[row]}
    return rows


def test_intervals_hold_for_whichever_group_was_picked() -> None:
    """The intervals of all pairs of five groups hold together; four others could have been each group's reference."""
    level = pair_level(0.95, 5)
    rows = compared(GRANTED)
    assert set(rows) == set("bcde")
    for name, one in rows.items():
        counts = GRANTED[name], 100, GRANTED["a"], 100
        low, high = score_difference(*counts, level)
        assert (one["difference"].low, one["difference"].high) == pytest.approx((float(low), float(high)), abs=1e-9)
        low, high = score_ratio(*counts, level)
        assert (one["ratio"].low, one["ratio"].high) == pytest.approx((float(low), float(high)), abs=1e-9)
        plain = float(two_proportions(*map(np.asarray, counts)))
        assert one["p"] == pytest.approx(1 - (1 - plain) ** 4)
        assert one["p"] < 0.05 or one["difference"].high >= 0


def test_a_group_that_was_named_is_compared_as_it_is() -> None:
    named, picked = compared(GRANTED, reference="a"), compared(GRANTED)
    for name, one in named.items():
        low, high = score_difference(GRANTED[name], 100, 50, 100, 0.95)
        assert (one["difference"].low, one["difference"].high) == pytest.approx((float(low), float(high)), abs=1e-9)
        assert one["difference"].value == picked[name]["difference"].value
        assert one["p"] < picked[name]["p"]
        assert abs(one["below"]) < abs(picked[name]["below"]), "what is allowed for costs power, and it is said"


def test_of_two_groups_nothing_is_picked() -> None:
    two = {"a": 50, "b": 30}
    assert compared(two)["b"]["difference"] == compared(two, reference="a")["b"]["difference"]
    assert compared(two)["b"]["p"] == compared(two, reference="a")["b"]["p"]


def test_few_people_without_a_value_widen_nothing() -> None:
    """Six people of unknown group beside two groups: nobody could have been picked but these two."""
    two = compared({"a": 50, "b": 30})["b"]
    group = np.array([*["a"] * 100, *["b"] * 100, *[None] * 6], dtype=object)
    decided = np.concatenate([np.arange(100) < 50, np.arange(100) < 30, np.arange(6) < 6]).astype(int)
    people = Subject.of_predictions(decided, sensitive_features={"g": group})
    table = group_metrics(people, metrics=["selection_rate"]).tables["comparisons"]
    (row,) = (row for row, key in enumerate(table["group"].keys or ()) if dict(key)["g"] == "b")
    assert table["difference"].estimate(row).low == two["difference"].low


def test_the_widest_gap_has_one_interval() -> None:
    """The lowest group beside the best-off one is the gap between the extremes: one figure, one interval."""
    group = np.repeat(list(GRANTED), 100)
    decided = np.concatenate([np.arange(100) < k for k in GRANTED.values()]).astype(int)
    people = Subject.of_predictions(decided, sensitive_features={"g": group})
    found = group_metrics(people, metrics=["selection_rate"])
    gap = found.disparity("selection_rate")[0]
    row = compared(GRANTED)["e"]["difference"]
    assert (gap.value, gap.low, gap.high) == pytest.approx((-row.value, -row.high, -row.low))


def test_a_group_too_small_to_be_picked_is_compared_with_any_of_the_others() -> None:
    """15 of 415 people are never the reference: all four others could have been theirs."""
    group = np.repeat(["a", "b", "c", "d", "few"], [100, 100, 100, 100, 15])
    decided = np.concatenate([np.arange(n) < k for k, n in ((50, 100), (42, 100), (40, 100), (38, 100), (14, 15))])
    people = Subject.of_predictions(decided.astype(int), sensitive_features={"g": group})
    found = group_metrics(people, metrics=["selection_rate"])
    table = found.tables["comparisons"]
    rows = {dict(key)["g"]: table["p_value"].values[row] for row, key in enumerate(table["group"].keys or ())}
    assert "a" not in rows
    for name, counts, looks in (("b", (42, 100, 50, 100), 3), ("few", (14, 15, 50, 100), 4)):
        plain = float(two_proportions(*map(np.asarray, counts)))
        assert rows[name] == pytest.approx(1 - (1 - plain) ** looks)


@pytest.mark.parametrize("metric", ["f1", "mae"])
def test_other_figures_are_stretched(metric: str) -> None:
    rng = np.random.default_rng(0)
    group = np.repeat(list("abcd"), 200)
    truth, said = rng.integers(0, 2, 800), rng.integers(0, 2, 800)
    options: dict[str, Any] = {"metrics": [metric], "sensitive_features": {"g": group}}
    if metric == "mae":
        truth, said = truth + rng.normal(size=800), said + rng.normal(size=800)
        options["task"] = "regression"
    picked = group_metrics(truth, said, **options).tables["comparisons"]
    best = str(picked["reference"].values[0]).removeprefix("g=")
    named = group_metrics(truth, said, reference=best, **options).tables["comparisons"]
    for one, other in zip(picked.rows(), named.rows(), strict=True):
        assert one["difference"] == other["difference"]
        assert one["difference_low"] < other["difference_low"]
        assert one["difference_high"] > other["difference_high"]
        assert one["p_value"] == pytest.approx(1 - (1 - other["p_value"]) ** 3)
