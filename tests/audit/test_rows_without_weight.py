"""Rows of weight 0 are nobody: they are left out and counted, and a check that needs more rows says so."""

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
def test_no_check_fails_for_rows_that_weigh_nothing(task: str) -> None:
    report = iso.audit(few_weighted(task), checks="full", n_boot=20, seed=0)
    assert [section for section in report if section.outcome == "failed"] == []
    assert "| rows without a target or of weight 0, left out | 58 |" in report.to_markdown()
    assert str(report.document["conformal"].reason) == "there are fewer than four rows"


def test_the_worst_rows_are_among_those_that_weigh_something() -> None:
    data = few_weighted("binary")
    for k, shown in ((1, 1), (3, 2)):
        found = failure_modes(data, top_k=k)
        assert set(found.tables["rows"]["row"].values) <= {0, 1}
        assert len(found.tables["rows"]) == shown
        assert "w" not in found.tables["rows"].names


def test_the_function_says_it_too() -> None:
    with pytest.raises(iso.DataError, match="2 rows are too small"):
        conformal(few_weighted("regression"))
