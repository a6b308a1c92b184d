"""Every example runs as its README says: the script makes data and a model, `isonomia run` examines them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from isonomia.cli.app import app

EXAMPLES = Path(__file__).parents[1] / "examples"
#: What each must find, and how it must end.
EXPECTED = {
    "loans": ("binary", 1, {"group_fairness", "fairness_suite"}),
    "triage": ("multiclass", 0, {"fairness_suite"}),
    "pay": ("regression", 0, {"drift", "weak_spots"}),
}


def test_there_is_one_for_every_task() -> None:
    assert {path.parent.name for path in EXAMPLES.glob("*/spec.yaml")} == set(EXPECTED)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_example_runs(name: str, tmp_path: Path) -> None:
    place = tmp_path / name
    shutil.copytree(EXAMPLES / name, place, ignore=shutil.ignore_patterns("out"))
    source = str(Path(__file__).parents[1] / "src")
    told = subprocess.run(
        [sys.executable, "-W", "error", str(place / "make.py")],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    ended = CliRunner().invoke(app, ["run", str(place / "spec.yaml"), "--out", str(tmp_path / "report")])
    task, code, wanted = EXPECTED[name]
    assert ended.exit_code == code, ended.output
    record = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    assert record["subject"]["task"] == task
    outcomes = {code: section["outcome"] for code, section in record["checks"].items()}
    assert {found for found, outcome in outcomes.items() if outcome == "issue"} >= wanted
    assert outcomes["scenarios"] in ("issue", "passed")
    assert outcomes["overfit"] in ("issue", "passed")
    assert "failed" not in outcomes.values()
