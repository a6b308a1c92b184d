"""The audit's checks of scenarios and what reads them: they run on every task, and their pages can be drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import isonomia as iso
from isonomia.audit.checks.robustness import scenarios as scenario_checks
from isonomia.report.figures import draw
from isonomia.robustness import (
    dashboard,
    failure_modes,
    metric_disagreement,
    scenarios,
    sensitivity,
    subgroup_diagnostics,
    threshold_sweep,
)

MakePeople = Callable[..., tuple[iso.Dataset, Any]]
CHECKS = "failure_modes,subgroup_diagnostics,threshold_sweep,metric_disagreement,scenarios,dashboard,sensitivity"
QUICK: dict[str, Any] = {"scenarios": {"n_trials": 2}, "sensitivity": {"n_trials": 2, "levels": [0.1]}}


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_every_check_runs_or_says_why_not(task: str, people: MakePeople) -> None:
    data, model = people(300, task)
    report = iso.audit(data, model, checks=CHECKS, n_boot=50, options=QUICK)
    outcomes = {section.code: section.outcome for section in report.document.sections}
    expected = "not_applicable" if task != "binary" else outcomes["threshold_sweep"]
    assert outcomes.pop("threshold_sweep") == expected
    assert set(outcomes.values()) <= {"passed", "issue"}, outcomes
    assert len(outcomes) == 6


def test_predictions_alone_can_be_checked(make_broken: Any) -> None:
    report = iso.audit(make_broken(n=800, protected=["city"]), checks=CHECKS, n_boot=50, options=QUICK)
    assert {section.outcome for section in report.document.sections} <= {"passed", "issue"}
    assert report["scenarios"].absent["feature_corruption"]


def test_two_checks_share_what_was_played(people: MakePeople, monkeypatch: pytest.MonkeyPatch) -> None:
    data, model = people(200)
    calls = []

    def counted(*args: Any, **options: Any) -> Any:
        calls.append(options["n_trials"])
        return scenarios(*args, **options)

    monkeypatch.setattr(scenario_checks, "play", counted)
    report = iso.audit(data, model, checks="scenarios,dashboard", n_boot=20, options={"scenarios": {"n_trials": 2}})
    assert calls == [2]
    assert report["dashboard"].scenarios.runs is report["scenarios"].runs
    iso.audit(
        data,
        model,
        checks="scenarios,dashboard",
        n_boot=20,
        options={"scenarios": {"n_trials": 2}, "dashboard": {"n_trials": 3}},
    )
    assert calls == [2, 2, 3]


@pytest.mark.parametrize("code", CHECKS.split(","))
def test_an_unknown_option_is_named(code: str, people: MakePeople) -> None:
    data, model = people(100)
    with pytest.raises(iso.SpecError, match="has no option 'wrong'"):
        iso.audit(data, model, checks=code, options={code: {"wrong": 1}})


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_every_picture_can_be_drawn_in_both_languages(task: str, people: MakePeople) -> None:
    data, model = people(600, task)
    columns = {name: data.column(name).to_numpy() for name in data.columns}
    rng = np.random.default_rng(0)
    bad = columns["sex"] == 1
    columns["y"] = np.where(bad, rng.permutation(columns["y"]), columns["y"])
    data = data.replace(columns)
    played = scenarios(data, model, n_trials=3)
    results = [
        played,
        dashboard(played),
        sensitivity(data, model, "label_noise", n_trials=2, levels=[0.3]),
        metric_disagreement(data, model, features=["x", "sex"]),
        failure_modes(data, model),
        subgroup_diagnostics(data, model),
    ]
    if task == "binary":
        results.append(threshold_sweep(data, model, limits={"equalized_odds_difference": 0.001}))
    for result in results:
        assert result.pictures, result.code
        for picture in result.pictures:
            for language in ("en", "pt-BR"):
                figure = draw(picture, result.tables[picture.table], language)
                assert len(figure.data) > 0
        for finding in result.findings:
            assert finding.message.text("pt-BR") != finding.message.text("en")
            assert finding.evidence.split("/")[0] == result.code
            assert finding.evidence.split("/")[1] in result.tables
        for name in result.values:
            assert result.heading(name, "pt-BR")
        assert result.to_dict()["tables"]


def test_scenarios_keep_to_a_budget_of_rows_and_state_it(people: MakePeople) -> None:
    data, model = people(300)
    options = {"scenarios": {"n_trials": 2, "max_rows": 120}}
    report = iso.audit(data, model, checks="scenarios,dashboard", n_boot=20, options=options)
    assert any("120 of 300 rows were sampled" in str(note) for note in report["scenarios"].notes)
    assert any("sorteados 120 de 300 registros" in note.text("pt-BR") for note in report["scenarios"].notes)
    assert report["scenarios"].n_rows == 120
    assert report["dashboard"].scenarios.runs is report["scenarios"].runs
    whole = iso.audit(data, model, checks="scenarios", n_boot=20, options={"scenarios": {"n_trials": 2}})
    assert not any("sampled" in str(note) for note in whole["scenarios"].notes)
