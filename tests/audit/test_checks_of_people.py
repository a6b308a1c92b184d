"""The checks of individuals, counterfactuals, the data and time: each fires where it should, and only there."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import isonomia as iso

NEW = (
    "missingness",
    "label_bias",
    "duplicates",
    "proxies",
    "group_calibration",
    "consistency",
    "awareness",
    "entropy",
    "counterfactual",
    "over_time",
)


def people(n: int = 1500, unfair: bool = True, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sex, month = rng.choice(["F", "M"], n), rng.integers(0, 6, n)
    skill = rng.normal(size=n).round(1)
    edge = 0.35 * unfair
    chance = 0.5 + 0.25 * np.tanh(skill) - edge * (sex == "F")
    height = 165 + 13 * unfair * (sex == "M") + rng.normal(scale=6, size=n)
    club = pd.Series(rng.choice(["x", "y"], n), dtype=object)
    club[(sex == "F") & (rng.random(n) < 0.3 * unfair)] = None
    return pd.DataFrame(
        {
            "sex": sex,
            "skill": skill,
            "height": height.round(),
            "club": club,
            "month": month,
            "y": (rng.random(n) < chance).astype(int),
        }
    )


def report(frame: pd.DataFrame, checks: Any, options: Any = None, aware: bool = True) -> Any:
    encoded = make_column_transformer((OneHotEncoder(drop="first"), ["sex"]), ("passthrough", ["skill", "height"]))
    encoded = encoded if aware else make_column_transformer(("passthrough", ["skill"]))
    X = frame[["sex", "skill", "height"]]
    fitted = make_pipeline(encoded, LogisticRegression(max_iter=2000)).fit(X, frame["y"])
    data = iso.Dataset(frame, target="y", protected=["sex"], privileged={"sex": "M"}, time="month")
    return iso.audit(data, iso.Model.of(fitted), checks=checks, n_boot=100, options=options)


def codes(found: Any) -> set[str]:
    return {finding.code for finding in found.findings}


def test_an_unfair_subject_is_found_out() -> None:
    found = report(people(), NEW)
    fired = codes(found)
    assert {"counterfactual.flip", "label_bias.similar_people", "missingness.group", "proxies.predictable"} <= fired
    flip = next(finding for finding in found.findings if finding.code == "counterfactual.flip")
    assert flip.severity == "critical"
    outcomes = {section.code: section.outcome for section in found.document.sections}
    assert set(outcomes) == set(NEW)
    assert set(outcomes.values()) <= {"issue", "passed"}
    assert "Equidade contrafactual" in found.to_html("pt-BR")
    assert "Counterfactual fairness" in found.to_html("en")
    json.dumps(found.to_dict())


def test_an_even_subject_is_left_alone() -> None:
    found = report(
        people(3000, unfair=False, seed=3), [n for n in NEW if n not in ("duplicates", "awareness")], aware=False
    )
    told = {finding.code for finding in found.findings if finding.severity != "notice"}
    assert not told & {
        "counterfactual.flip",
        "label_bias.similar_people",
        "missingness.group",
        "proxies.predictable",
        "over_time.change",
        "consistency.group",
        "group_calibration.slope",
    }


def test_a_graph_and_a_population_in_the_options() -> None:
    options = {
        "counterfactual": {"graph": [["sex", "height"]]},
        "representation": {"population": {"sex": {"F": 0.8, "M": 0.2}}},
    }
    found = report(people(), ["counterfactual", "representation"], options)
    assert "compared" in found["counterfactual"].tables
    assert "representation.under_represented" in codes(found)
    with pytest.raises(iso.errors.SpecError, match="cycle"):
        report(people(200), ["counterfactual"], {"counterfactual": {"graph": [["sex", "height"], ["height", "sex"]]}})


def test_what_does_not_apply_says_why() -> None:
    frame = people(300).assign(p=1)
    data = iso.Dataset(frame, target="y", prediction="p", protected=["sex"])
    found = iso.audit(data, checks=["counterfactual", "over_time", "group_calibration"], n_boot=50)
    reasons = {section.code: str(section.reason) for section in found.document.sections}
    assert "exige o modelo" in found.to_markdown("pt-BR")
    assert "needs the model" in reasons["counterfactual"]
    assert "no time column" in reasons["over_time"]
    assert "no probabilities" in reasons["group_calibration"]
    once = iso.Dataset(frame.assign(month=1), target="y", prediction="p", protected=["sex"], time="month")
    section = iso.audit(once, checks=["over_time"], n_boot=50).document.sections[0]
    assert section.outcome == "not_applicable"
    assert "one period" in str(section.reason)


@pytest.mark.parametrize(("shift", "told"), [(0.02, False), (1.0, True)])
def test_a_predicted_number_that_hardly_moves_is_left_alone(shift: float, told: bool) -> None:
    frame = people(400)
    frame["y"] = frame["skill"]
    data = iso.Dataset(frame, target="y", protected=["sex"], features=["sex", "skill"], task="regression")
    found = iso.audit(data, lambda table: table["skill"] + shift * (table["sex"] == "M"), checks=["counterfactual"])
    sentences = [finding.message.text() for finding in found.findings if finding.code == "counterfactual.flip"]
    assert bool(sentences) == told
    assert not told or sentences[0].startswith("For 100% of people the predicted y changes by more than")


@pytest.mark.parametrize("task", ["multiclass", "regression"])
def test_every_check_on_other_tasks(task: str, tmp_path: Any) -> None:
    frame = people(400)
    rng = np.random.default_rng(0)
    frame["y"] = rng.choice(["a", "b", "c"], 400) if task == "multiclass" else frame["skill"] + 5
    data = iso.Dataset(frame, target="y", protected=["sex"], time="month", features=["sex", "skill", "height", "club"])

    def model(table: pd.DataFrame) -> Any:
        if task == "regression":
            return table["skill"] + 5 + (table["sex"] == "M")
        return np.where(table["skill"] > 0.5, "a", np.where(table["sex"] == "M", "b", "c"))

    found = iso.audit(data, model, checks=NEW, n_boot=50)
    outcomes = {section.code: section.outcome for section in found.document.sections}
    assert "failed" not in outcomes.values(), outcomes
    found.save(tmp_path)
    assert (tmp_path / "report.html").stat().st_size > 1000


def test_a_change_over_time_is_told() -> None:
    frame = people(6000, unfair=False)
    rng = np.random.default_rng(1)
    frame["p"] = (rng.random(6000) < 0.6 - 0.3 * ((frame["sex"] == "F") & (frame["month"] >= 4))).astype(int)
    data = iso.Dataset(frame, target="y", prediction="p", protected=["sex"], privileged={"sex": "M"}, time="month")
    found = iso.audit(data, checks=["over_time"], n_boot=100)
    change = next(f for f in found.findings if f.code == "over_time.change" and "selection rate" in f.message.text())
    assert change.estimate.value == pytest.approx(-0.3, abs=0.06)
    assert re.match(
        r"Since 4, the gap in selection rate between .* is -\d\d points; before it was", change.message.text()
    )


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_labels_that_differ_between_equals_are_told_for_every_task(task: str) -> None:
    rng = np.random.default_rng(0)
    n = 2000
    sex, job = rng.choice(["F", "M"], n), rng.choice(list("abcde"), n)
    for gap in (0.0, 0.8):
        s = rng.normal(size=n) + gap * (sex == "M")
        y: Any = {
            "binary": (s > 0).astype(int),
            "multiclass": np.digitize(s, [-0.5, 0.5]).astype(str),
            "regression": s.round(1),
        }[task]
        frame = pd.DataFrame({"sex": sex, "job": job, "y": y, "p": y})
        data = iso.Dataset(frame, target="y", prediction="p", task=task, protected=["sex"], privileged={"sex": "M"})
        found = iso.audit(data, checks=["duplicates", "label_bias"], n_boot=50)
        told = {finding.code for finding in found.findings if finding.severity == "warning"}
        assert told == ({"duplicates.group", "label_bias.similar_people"} if gap else set())
        if gap and task == "multiclass":
            first = next(finding for finding in found.findings if finding.code == "duplicates.group")
            assert "have the label" in first.message.text()
            assert "têm o rótulo" in first.message.text("pt-BR")


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_a_handful_of_people_ends_no_audit(n: int) -> None:
    frame = people(n).assign(p=1)
    told = iso.audit(
        iso.Dataset(frame, target="y", prediction="p", protected=["sex"], positive=1, task="binary"), checks="full"
    )
    outcomes = {section.code: section.outcome for section in told.document.sections}
    assert (outcomes["consistency"] == "not_applicable") == (n < 5)
    assert "failed" not in outcomes.values()
    assert told.to_html()


def test_many_thin_groups_are_one_finding() -> None:
    """A date of birth as it stands in a file: hundreds of groups, one sentence, one step."""
    frame = {"born": [f"{1950 + k % 50}-01-01" for k in range(500)], "sex": ["F", "M"] * 250, "p": [0, 1] * 250}
    report = iso.audit(frame, prediction="p", protected=["born", "sex"], checks="representation")
    (finding,) = report.findings
    assert str(finding.message) == (
        "By born, 50 groups have fewer than 30 records each, 500 in all (100%): figures about them are uncertain."
    )
    assert finding.columns == ("born",)
