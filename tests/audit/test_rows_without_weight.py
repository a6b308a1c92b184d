"""Parts of the rows that a check drew itself and that nobody counts: it does not apply, and says why."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import isonomia as iso
from isonomia.robustness import conformal, failure_modes


def few_weighted(task: str, n: int = 60) -> iso.Dataset:
    """People of whom two alone have a weight."""
    rng = np.random.default_rng(0)
    weights = np.zeros(n)
    weights[:2] = 1.0
    truth = rng.integers(0, 2, n) if task == "binary" else rng.normal(size=n)
    frame = {"sex": ["F", "M"] * (n // 2), "x": rng.normal(size=n), "y": truth, "s": rng.random(n), "w": weights}
    said: dict[str, Any] = {"score": "s"} if task == "binary" else {"prediction": "s"}
    return iso.Dataset(frame, target="y", protected=["sex"], weight="w", task=task, features=["x"], **said)


@pytest.mark.parametrize("task", ["binary", "regression"])
def test_no_check_fails_for_the_weights_of_a_part(task: str) -> None:
    reasons = []
    for seed in range(4):
        report = iso.audit(few_weighted(task), checks="full", n_boot=20, seed=seed)
        assert [section for section in report if section.outcome == "failed"] == []
        reasons += [str(section.reason) for section in report if section.code == "conformal" and section.reason]
    assert any("all rows of a part have the weight 0" in reason for reason in reasons), reasons


def test_the_worst_rows_are_shown_whatever_they_weigh() -> None:
    data = few_weighted("binary")
    for k in (1, 3):
        found = failure_modes(data, top_k=k)
        assert len(found.tables["rows"]) == k
        assert "w" not in found.tables["rows"].names


def test_the_function_says_it_too() -> None:
    reasons = set()
    for seed in range(6):
        try:
            conformal(few_weighted("regression"), seed=seed)
        except iso.errors.NotApplicable as error:
            reasons.add(str(error))
    assert reasons == {"the rows were split or sampled, and all rows of a part have the weight 0"}
