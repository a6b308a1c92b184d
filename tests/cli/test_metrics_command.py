"""`isonomia metrics`."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from isonomia.cli.app import app
from isonomia.metrics import METRICS

runner = CliRunner()


def test_all_metrics_are_listed_with_their_purpose() -> None:
    shown = runner.invoke(app, ["metrics"])
    assert shown.exit_code == 0
    for metric in METRICS:
        assert metric.id in shown.stdout
        assert metric.purpose.split()[0] in shown.stdout


def test_json_lists_the_same_and_is_strict_json() -> None:
    listed = json.loads(runner.invoke(app, ["metrics", "--json"]).stdout, parse_constant=lambda name: 1 / 0)
    assert [entry["metric"] for entry in listed] == list(METRICS.ids())


def test_only_those_of_a_task() -> None:
    listed = json.loads(runner.invoke(app, ["metrics", "--task", "regression", "--json"]).stdout)
    assert {entry["metric"] for entry in listed} == {m.id for m in METRICS if "regression" in m.tasks}


def test_one_metric_in_full() -> None:
    shown = runner.invoke(app, ["metrics", "auc"])
    assert "DeLong" in shown.stdout
    assert json.loads(runner.invoke(app, ["metrics", "mae", "--json"]).stdout)["better"] == "lower"


def test_quiet_shows_nothing() -> None:
    assert runner.invoke(app, ["metrics", "--quiet"]).output == ""


def test_unknown_names_are_told() -> None:
    assert "Did you mean 'accuracy'" in runner.invoke(app, ["metrics", "acuracy"]).stderr
    wrong = runner.invoke(app, ["metrics", "--task", "bin"])
    assert wrong.exit_code == 2
    assert "Did you mean 'binary'" in wrong.stderr


def test_second_names_are_shown_and_found() -> None:
    listed = {entry["metric"]: entry for entry in json.loads(runner.invoke(app, ["metrics", "--json"]).stdout)}
    assert listed["recall"]["aliases"] == ["tpr"]
    assert "tpr" not in listed
    one = json.loads(runner.invoke(app, ["metrics", "tpr", "--json"]).stdout)
    assert (one["metric"], one["aliases"]) == ("tpr", ["recall"])
