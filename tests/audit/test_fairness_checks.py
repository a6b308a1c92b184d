"""The checks of the suite, of equivalence and of incompatibility: when they tell something, and when not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import isonomia as iso

CHECKS = ["fairness_suite", "equivalence", "incompatibility"]


def data(n: int, *, gap: float, base: float = 0.0, seed: int = 0, **roles: Any) -> iso.Dataset:
    """Decisions that favour men by `gap`, with base rates apart by `base`."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], n)
    y = (rng.random(n) < 0.5 - base * (sex == "F")).astype(int)
    p = (rng.random(n) < np.where(y == 1, 0.75, 0.25) - gap * (sex == "F")).astype(int)
    frame = pd.DataFrame({"sex": sex, "y": y, "p": p})
    return iso.Dataset(frame, **{"target": "y", "prediction": "p", "protected": ["sex"], **roles})


def test_they_fire() -> None:
    report = iso.audit(data(3000, gap=0.2, base=0.2, privileged={"sex": "M"}), checks=CHECKS, n_boot=100)
    suite = report["fairness_suite"]
    impact = next(f for f in suite.findings if f.code == "fairness_suite.disparate_impact")
    assert (impact.severity, impact.who, impact.reference) == ("critical", {"sex": "F"}, {"sex": "M"})
    assert suite.values["overall_fairness_score"].value < 0.7
    assert {"measures", "score", "tests", "references"} <= set(suite.tables)
    assert [f.severity for f in report["incompatibility"].findings] == ["notice"]
    assert "guide" not in report["incompatibility"].tables  # no use was named
    few = iso.audit(data(200, gap=0.0), checks=["equivalence"], n_boot=100)
    assert [f.code for f in few["equivalence"].findings] == ["equivalence.not_settled"]


def test_they_do_not_fire_on_an_even_model() -> None:
    report = iso.audit(data(40_000, gap=0.0), checks=CHECKS, n_boot=100)
    assert [f for f in report.findings if f.severity != "notice"] == []
    assert report["incompatibility"].findings == ()
    assert report["equivalence"].findings == ()
    assert report["fairness_suite"].values["overall_fairness_score"].value > 0.95


def test_where_they_do_not_apply_they_say_why() -> None:
    rng = np.random.default_rng(0)
    numbers = pd.DataFrame({"sex": rng.choice(["F", "M"], 400), "y": rng.normal(size=400), "p": rng.normal(size=400)})
    roles = {"target": "y", "prediction": "p", "protected": ["sex"]}
    report = iso.audit(iso.Dataset(numbers, **roles), checks=CHECKS, n_boot=50)
    assert report.document["incompatibility"].outcome == "not_applicable"
    assert "two classes" in str(report.document["incompatibility"].reason)
    assert report["fairness_suite"].values["overall_fairness_score"].value is not None
    scores = numbers.assign(y=(numbers["y"] > 0).astype(int), p=numbers["p"])
    only = iso.audit(iso.Dataset(scores, target="y", score="p", protected=["sex"]), checks=CHECKS, n_boot=50)
    assert {only.document[code].outcome for code in CHECKS} == {"not_applicable"}


def test_options_of_the_checks() -> None:
    subject = data(800, gap=0.1)
    report = iso.audit(
        subject,
        checks=CHECKS,
        n_boot=20,
        options={
            "fairness_suite": {"config": "quick"},
            "equivalence": {"margin": 0.2},
            "incompatibility": {"use": "justice"},
        },
    )
    assert len(report["fairness_suite"].tables["measures"]) == 3
    assert set(report["equivalence"].tables["equivalence"]["margin"].values) == {0.2}
    assert len(report["incompatibility"].tables["guide"]) == 3
    bad: tuple[dict[str, dict[str, Any]], ...] = (
        {"incompatibility": {"uze": "justice"}},
        {"fairness_suite": {"config": "quik"}},
        {"fairness_suite": {"konfig": "quick"}},
        {"fairness_suite": {"control": ["nothing"]}},
        {"equivalence": {"margins": 0.1}},
    )
    for options in bad:
        with pytest.raises(iso.SpecError):
            iso.audit(subject, checks=CHECKS, n_boot=20, options=options)


def test_legitimate_factors_by_option() -> None:
    rng = np.random.default_rng(0)
    level = rng.choice(["low", "high"], 1000)
    sex = np.where(rng.random(1000) < np.where(level == "high", 0.7, 0.3), "M", "F")
    p = (rng.random(1000) < np.where(level == "high", 0.7, 0.3)).astype(int)
    frame = pd.DataFrame({"sex": sex, "level": level, "p": p})
    subject = iso.Dataset(frame, prediction="p", protected=["sex"])
    report = iso.audit(
        subject, checks=["fairness_suite"], n_boot=50, options={"fairness_suite": {"control": ["level"]}}
    )
    row = next(report["fairness_suite"].tables["conditional"].rows())
    assert abs(row["difference"]) < 0.08 < 0.12 < abs(row["plain_difference"])


def test_the_report_draws_them_in_both_languages() -> None:
    report = iso.audit(data(600, gap=0.2, base=0.2), checks=CHECKS, n_boot=20)
    for language, words in (("en", "Composition of the score"), ("pt-BR", "Composição da pontuação")):
        assert words in report.to_html(language=language)


@pytest.mark.parametrize(("women", "remedy"), [(0.2, "compare_false_positives"), (0.8, "review_false_positives")])
def test_the_advice_about_wrong_approvals_looks_where_they_are(women: float, remedy: str) -> None:
    """Of women who should be refused fewer, or more, are approved than of men."""
    rng = np.random.default_rng(0)
    sex = np.repeat(["F", "M"], 1000)
    approved = (rng.random(2000) < np.where(sex == "F", women, 0.5)).astype(int)
    truth = np.tile([0, 0, 0, 1], 500)
    frame = {"sex": sex, "y": truth, "p": np.where(truth == 1, 1, approved)}
    roles = {"target": "y", "prediction": "p", "protected": ["sex"], "privileged": {"sex": "M"}}
    report = iso.audit(frame, checks="group_fairness", n_boot=50, **roles)
    (finding,) = [one for one in report.findings if one.code == "group_fairness.fpr"]
    assert finding.remedy == remedy


def test_a_report_of_the_suite_alone_says_where_the_rates_of_groups_are() -> None:
    rows = [(group, value) for group in ("a", "b") for value in [0, 1] * 50]
    frame = {"sex": [group for group, _ in rows], "y": [value for _, value in rows], "p": [value for _, value in rows]}
    data = iso.Dataset(frame, target="y", prediction="p", protected=["sex"])
    found = iso.audit(data, checks=["fairness_suite"], n_boot=20)["fairness_suite"]
    assert "by_group" not in found.tables
    assert any("group_fairness" in str(note) for note in found.notes)
    both = iso.audit(data, checks="group_fairness,fairness_suite", n_boot=20)
    assert "by_group" in both["group_fairness"].tables
