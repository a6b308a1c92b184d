"""The named criteria against Fairlearn, and the real figures of COMPAS."""

from __future__ import annotations

from pathlib import Path

import fairlearn.metrics as fl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import isonomia as iso
from isonomia import fairness


@settings(max_examples=8)
@given(st.integers(0, 10_000), st.integers(60, 300))
def test_differences_and_ratios_equal_fairlearn(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    y, p, s = rng.integers(0, 2, n), rng.integers(0, 2, n), rng.choice(["a", "b", "c"], n)
    options = {"sensitive_features": s, "min_per_group": 1, "n_boot": 0}
    parity = fairness.demographic_parity(p, **options)
    assert parity.difference.value == pytest.approx(fl.demographic_parity_difference(y, p, sensitive_features=s))
    assert parity.ratio.value == pytest.approx(fl.demographic_parity_ratio(y, p, sensitive_features=s))
    odds = fairness.equalized_odds(y, p, **options)
    assert odds.difference.value == pytest.approx(fl.equalized_odds_difference(y, p, sensitive_features=s))
    assert odds.ratio.value == pytest.approx(fl.equalized_odds_ratio(y, p, sensitive_features=s))
    chance = fairness.equal_opportunity(y, p, **options)
    assert chance.difference.value == pytest.approx(fl.equal_opportunity_difference(y, p, sensitive_features=s))


def test_passes_and_interpretations() -> None:
    p, s = [1] * 40 + [0] * 60 + [1] * 20 + [0] * 80, ["men"] * 100 + ["women"] * 100
    parity = fairness.demographic_parity(p, sensitive_features=s)
    assert parity.passes is False
    assert parity.difference.value == pytest.approx(0.2)
    assert "40%" in parity.interpretation()
    assert "40%" in parity.interpretation("pt-BR")
    assert "recebem a decisão favorável" in parity.interpretation("pt-BR")
    assert fairness.demographic_parity(p, sensitive_features=s, threshold=0.25).passes is True
    impact = fairness.disparate_impact(p, sensitive_features=s)
    assert (impact.ratio.value, impact.passes) == (0.5, False)
    assert "four-fifths" in impact.interpretation()
    assert impact.to_dict()["passes"] is False


def test_small_groups_do_not_decide() -> None:
    p, s = [1] * 50 + [0] * 50 + [1] * 45 + [0] * 55 + [0] * 5, ["a"] * 100 + ["b"] * 100 + ["c"] * 5
    parity = fairness.demographic_parity(p, sensitive_features=s)
    assert parity.difference.value == pytest.approx(0.05)
    assert len(parity.by_group) == 3, "a small group is shown"
    assert parity.notes
    alone = fairness.demographic_parity([1, 0, 1], sensitive_features=["a", "a", "b"])
    assert alone.passes is None
    assert "cannot be judged" in alone.interpretation()


def test_regression_and_multiclass() -> None:
    rng = np.random.default_rng(0)
    s = rng.choice(["a", "b"], 400)
    numbers = rng.normal(size=400) + (s == "a")
    parity = fairness.demographic_parity(numbers, sensitive_features=s)
    gap = abs(numbers[s == "a"].mean() - numbers[s == "b"].mean()) / numbers.std()
    assert parity.difference.value == pytest.approx(gap)
    with pytest.raises(iso.NotApplicable, match="a regression predicts numbers"):
        fairness.equalized_odds(numbers, numbers, sensitive_features=s)
    labels = rng.choice(["x", "y", "z"], 400)
    worst = max(abs((labels[s == "a"] == k).mean() - (labels[s == "b"] == k).mean()) for k in "xyz")
    assert fairness.demographic_parity(labels, sensitive_features=s).difference.value == pytest.approx(worst)


def test_compas_false_positive_rates(shared_data: Path) -> None:
    frame = pd.read_csv(shared_data / "compas.csv.gz")
    frame = frame[frame["race"].isin(["African-American", "Caucasian"])]
    result = fairness.group_metrics(
        frame["two_year_recid"],
        (frame["decile_score"] >= 5).astype(int),
        sensitive_features=frame["race"],
        metrics=["fpr", "fnr"],
        reference="Caucasian",
    )
    table = result.by_group.set_index("race")
    assert table.loc["African-American", "fpr"] == pytest.approx(0.4485, abs=5e-5)
    assert table.loc["Caucasian", "fpr"] == pytest.approx(0.2345, abs=5e-5)
    assert table.loc["African-American", "fnr"] == pytest.approx(0.2799, abs=5e-5)
    assert table.loc["Caucasian", "fnr"] == pytest.approx(0.4772, abs=5e-5)
    assert (result.comparisons["p_adjusted"] < 1e-10).all()


def test_sentences_about_several_classes_name_the_class() -> None:
    truth = ["now", "soon", "wait"] * 80
    said = ["now", "soon", "wait"] * 40 + ["wait", "soon", "wait"] * 40
    sex = {"sex": ["m"] * 120 + ["f"] * 120}
    told = {
        name: getattr(fairness, name)(truth, said, sensitive_features=sex, n_boot=20)
        for name in ("equal_opportunity", "predictive_parity", "negative_predictive_parity")
    }
    for found in told.values():
        label = found.worst["metric"].partition("[")[2].removesuffix("]")
        assert f'"{label}"' in found.interpretation()
        assert f'"{label}"' in found.interpretation("pt-BR")
        assert "favourable" not in found.interpretation()
    assert (
        told["equal_opportunity"]
        .interpretation()
        .startswith('Of people whose true outcome is "now", 0.0% of women and 100% of men get the decision "now".')
    )
