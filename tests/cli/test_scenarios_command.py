"""`isonomia scenarios`: the registry on the screen and as JSON."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from isonomia.cli.app import app
from isonomia.robustness import SCENARIOS

runner = CliRunner()


def test_every_scenario_is_listed() -> None:
    listed = json.loads(runner.invoke(app, ["scenarios", "--json"]).stdout)
    assert [entry["scenario"] for entry in listed] == list(SCENARIOS.ids())
    shown = runner.invoke(app, ["scenarios"]).stdout
    assert "label_noise" in shown


def test_one_scenario_is_described_in_full() -> None:
    told = json.loads(runner.invoke(app, ["scenarios", "score_noise", "--json"]).stdout)
    assert told["max_level"] == "infinity"
    assert told["level"] == SCENARIOS["score_noise"].level
    assert "perturber" in runner.invoke(app, ["scenarios", "feature_corruption"]).stdout
