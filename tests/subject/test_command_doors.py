"""The commands leave out the same rows, match the same labels and give the same figures as the functions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

import isonomia as iso
from isonomia import Dataset, fairness
from isonomia.cli.app import app
from isonomia.discovery import find_subgroups

from .test_subject import LOST, TASKS, N, columns, positive

LEFT_OUT = f"{LOST} rows without a target are left out."


def command(path: Path, *words: str, task: str) -> Any:
    chosen = [part for name, value in positive(task).items() for part in (f"--{name}", value)]
    ended = CliRunner().invoke(
        app,
        [*words, str(path), "--target", "y", "--prediction", "p", "--protected", "sex", *chosen, "--json", "--quiet"],
    )
    assert ended.exit_code == 0, ended.output
    return json.loads(ended.stdout)


@pytest.mark.parametrize("task", TASKS)
def test_commands_and_functions_read_alike(task: Any, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    pd.DataFrame(columns(task)).to_csv(path, index=False)
    data = Dataset(pd.read_csv(path), target="y", prediction="p", protected=["sex"], task=task, **positive(task))
    known = N - LOST

    by_command = command(path, "audit", "--checks", "performance", task=task)["checks"]["performance"]["result"]
    report = iso.audit(data, checks=["performance"])
    by_function = json.loads(json.dumps(report.to_dict()))["checks"]["performance"]["result"]
    assert by_command["values"] == by_function["values"]
    assert by_command["tables"] == by_function["tables"]

    suite = command(path, "fairness", task=task)["suite"]
    frame = pd.read_csv(path)
    same = fairness.suite(frame["y"], frame["p"], sensitive_features=frame[["sex"]], task=task, **positive(task))
    assert suite["values"]["overall_fairness_score"]["n"] == known
    assert suite["values"] == json.loads(json.dumps(same.to_dict()))["values"]
    for notes in (suite["notes"], same.to_dict()["notes"]):
        assert LEFT_OUT in [note["text"] for note in notes]

    found = command(path, "discover", "subgroups", task=task)
    again = json.loads(json.dumps(find_subgroups(data).to_dict()))
    assert LEFT_OUT in [note["text"] for note in found["notes"]]
    assert found["tables"]["subgroups"]["columns"] == again["tables"]["subgroups"]["columns"]
