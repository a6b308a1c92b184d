"""Audits of predictions alone: what needs true outcomes does not apply, and nothing else fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import isonomia as iso
from isonomia.cli.app import app

TASKS = ("binary", "multiclass", "regression")


def decided(task: str, n: int = 240) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    said: dict[str, Any] = {
        "binary": rng.integers(0, 2, n),
        "multiclass": rng.choice(["a", "b", "c"], n),
        "regression": rng.normal(size=n),
    }
    when = [f"2024-{month:02d}-15" for month in rng.integers(1, 5, n)]
    return pd.DataFrame({"x": rng.normal(size=n), "sex": rng.choice(["F", "M"], n), "when": when, "p": said[task]})


def outcomes(report: iso.Report) -> dict[str, str]:
    return {one.code: one.outcome for one in report.document.sections}


@pytest.mark.parametrize("time", [None, "when"])
@pytest.mark.parametrize("task", TASKS)
def test_every_door_examines_predictions_alone(task: str, time: str | None, tmp_path: Path) -> None:
    frame, path = decided(task), tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    metric = "mae" if task == "regression" else "accuracy"
    roles: dict[str, Any] = {"prediction": "p", "protected": ["sex"], "task": task}
    roles |= {} if time is None else {"time": time}
    in_python = outcomes(iso.audit(frame, checks="full", metric=metric, **roles))
    of_a_spec = outcomes(iso.run({"dataset": str(path), "metric": metric, "checks": "full", **roles}))
    assert in_python == of_a_spec
    assert "failed" not in in_python.values()
    assert in_python["group_fairness"] in ("passed", "issue")
    assert in_python["performance"] == "not_applicable"
    assert (in_python["over_time"] == "not_applicable") is (time is None)
    arguments = ["audit", str(path), "--prediction", "p", "--protected", "sex", "--task", task, "--out", str(tmp_path)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code in (0, 1), done.output


@pytest.mark.parametrize("task", ["binary_classification", "multiclass_classification"])
def test_tasks_have_the_names_of_specs(task: str) -> None:
    frame = decided(task.partition("_")[0])
    report = iso.audit(frame, prediction="p", protected=["sex"], task=task, checks=["group_fairness"])
    assert report.document.subject["task"] == task.partition("_")[0]
