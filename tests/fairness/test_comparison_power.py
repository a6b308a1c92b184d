"""Detectable gaps of comparisons: at the level of the first step of the correction, per direction, with a reason."""

from __future__ import annotations

import numpy as np
import pytest

import isonomia as iso
from isonomia.evidence import detectable_rates
from isonomia.fairness import group_metrics
from isonomia.fairness.groups.detectable import detectable_at


def groups(n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    sex = np.repeat(["F", "M", "X"], [n, 2 * n, 20])
    selected = np.concatenate([np.arange(n) % 10 < 3, np.arange(2 * n) % 10 < 4, np.arange(20) < 1]).astype(int)
    return sex, selected


def test_gaps_are_those_of_the_first_step_of_the_correction() -> None:
    sex, selected = groups()
    table = group_metrics(None, selected, sensitive_features=sex, metrics=["selection_rate"]).tables["comparisons"]
    below, above = detectable_rates(0.4, 800, 400, alpha=0.05 / 2)
    either = 1 - np.sqrt(1 - 0.05 / 2)  # either of the two large groups could have been the best-off one
    few_below, few_above = detectable_rates(0.4, 800, 20, alpha=either)
    below, above = np.array([below, few_below]), np.array([above, few_above])
    np.testing.assert_allclose(table["detectable_below"].values, below)
    np.testing.assert_allclose(table["detectable_above"].values, above)
    assert 0.4 - below[0] > 0


def test_a_direction_without_a_detectable_gap_says_why() -> None:
    sex, _ = groups()
    selected = np.concatenate([np.arange(400) % 50 < 1, np.arange(800) % 50 < 1, np.arange(20) < 1]).astype(int)
    table = group_metrics(None, selected, sensitive_features=sex, metrics=["selection_rate"]).tables["comparisons"]
    assert table["detectable_below"].estimate(1).value is None
    assert "no gap below the reference is detectable" in str(table["detectable_below"].reason[1])
    assert table["detectable_above"].estimate(1).value is not None


def test_a_stricter_level_needs_larger_gaps_and_is_lossless() -> None:
    sex, selected = groups()
    y = np.resize([0, 1, 1], sex.size)
    names = ["selection_rate", "f1"]
    table = group_metrics(y, selected, sensitive_features=sex, metrics=names, n_boot=50).tables["comparisons"]
    stored = type(table).from_dict(table.to_dict())
    strict = detectable_at(stored, 0.0001)
    for name in ("detectable_below", "detectable_above"):
        assert (np.nan_to_num(strict[name].values, nan=9) > np.nan_to_num(table[name].values, nan=8)).all()


def test_an_audit_states_them_at_the_level_of_its_family() -> None:
    sex, selected = groups()
    report = iso.audit(
        iso.Dataset({"sex": sex, "p": selected}, prediction="p", protected=["sex"]), checks="group_fairness"
    )
    result = report["group_fairness"]
    tests = report.document.balance_sheet.tables["tests"]["tests"].values[0]
    below, _ = detectable_rates(0.4, 800, 400, alpha=0.05 / tests)
    assert result.tables["comparisons"]["detectable_below"].values[0] == pytest.approx(float(below))
    assert "A gap of at least 10 points is a finding" in report.to_markdown()
    assert "Uma diferença de pelo menos 10 pontos percentuais vira achado" in report.to_markdown("pt-BR")
