"""People without a value of the attribute, and groups that a rule leaves out, are named; they do not block *meets*.

Of 1,194 applicants 6 have no sex, and women are granted 0.96 times as often as men: the rule is kept, and the page says
who was left out. Where a tenth has no sex they are a group like any other. A group that has too few cases of a rate,
although it is large enough for the rule, still has to be proved.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import isonomia as iso
from isonomia.cli.app import app

FOUR_FIFTHS = ["eeoc", "us-lending"]
LEFT_OUT = {"en": "6 of 1,194 have no sex: left out", "pt-BR": "6 de 1.194 não têm sex: ficaram fora"}


def people(**groups: tuple[int, int]) -> dict[str, Any]:
    """Groups by name, each with (granted, all); "none" stands for people without a value."""
    sex = np.concatenate([np.repeat(np.array([name], dtype=object), n) for name, (_, n) in groups.items()])
    granted = np.concatenate([np.arange(n) < k for k, n in groups.values()]).astype(int)
    sex[sex == "none"] = None
    return {"sex": sex, "granted": granted}


def audited(policy: Any, **groups: tuple[int, int]) -> iso.Report:
    data = iso.Dataset(people(**groups), prediction="granted", protected="sex")
    return iso.audit(data, checks=["representation"], policy=policy)


SIX = {"F": (346, 600), "M": (353, 588), "none": (0, 6)}


@pytest.mark.parametrize("policy", FOUR_FIFTHS)
@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_six_people_without_sex_do_not_block(policy: str, language: str) -> None:
    report = audited(policy, **SIX)
    assert report.verdict is not None
    (criterion,) = report.verdict.criteria
    assert criterion.estimate.value == pytest.approx((346 / 600) / (353 / 588))
    assert (criterion.outcome, report.exit_code) == ("meets", 0)
    assert criterion.reason is not None
    assert LEFT_OUT[language] in criterion.reason.text(language)  # type: ignore[union-attr]
    assert LEFT_OUT[language] in report.to_markdown(language)
    assert LEFT_OUT[language] in report.to_html(language)
    assert report.document.balance_sheet is not None
    counted = next(report.document.balance_sheet.tables["attributes"].rows())
    assert counted["missing"] == 6


def test_the_stored_report_and_the_command_say_the_same(tmp_path: Path) -> None:
    report = audited("eeoc", **SIX)
    report.save(tmp_path / "a", formats=["json"])
    assert LEFT_OUT["en"] in iso.Report.load(tmp_path / "a").to_markdown()
    rows = people(**SIX)
    lines = [f"{'' if sex is None else sex},{p}" for sex, p in zip(rows["sex"], rows["granted"], strict=True)]
    (tmp_path / "a.csv").write_text("\n".join(["sex,granted", *lines]) + "\n")
    words = ["audit", str(tmp_path / "a.csv"), "--prediction", "granted", "--protected", "sex", "--policy", "eeoc"]
    done = CliRunner().invoke(app, [*words, "--checks", "representation"])
    assert done.exit_code == 0, done.output
    assert LEFT_OUT["en"] in " ".join(done.output.split())


@pytest.mark.parametrize("policy", FOUR_FIFTHS)
def test_a_breach_beside_six_people_without_sex_is_a_breach(policy: str) -> None:
    report = audited(policy, F=(250, 600), M=(353, 588), none=(0, 6))
    assert report.verdict is not None
    assert report.verdict.outcome == "exceeds"
    assert report.verdict.criteria[0].who == {"sex": "F"}
    assert LEFT_OUT["en"] in str(report.verdict.criteria[0].reason)


@pytest.mark.parametrize("policy", FOUR_FIFTHS)
def test_a_tenth_without_sex_is_a_group_of_its_own(policy: str) -> None:
    """600 of 6,000 have no sex and are granted half as often: they are the group that the verdict names."""
    report = audited(policy, F=(1620, 2700), M=(1620, 2700), none=(180, 600))
    assert report.verdict is not None
    (criterion,) = report.verdict.criteria
    assert criterion.outcome == "exceeds"
    assert criterion.who == {"sex": "missing"}
    assert "left out" not in str(criterion.reason or "")


@pytest.mark.parametrize("policy", FOUR_FIFTHS)
def test_a_group_below_two_per_cent_is_named_and_does_not_block(policy: str) -> None:
    """One group of 1,876 in 100,000: below the rule's own share."""
    report = audited(policy, a=(30_000, 50_000), b=(28_500, 48_124), c=(300, 1_876))
    assert report.verdict is not None
    (criterion,) = report.verdict.criteria
    assert criterion.outcome == "meets"
    assert "sex c (1,876)" in str(criterion.reason)
    assert "sex c (1,876)" in str(criterion.sentence)


def test_a_group_without_a_share_in_the_rule_still_has_to_be_proved() -> None:
    """The rule leaves nobody out by their share, and 25 people are too few to compare."""
    rule = {"name": "gap", "metric": "selection_rate", "measure": "difference", "at_most": 0.1}
    report = audited({"id": "own", "title": "own", "rules": [rule]}, a=(1500, 2500), b=(1500, 2500), c=(15, 25))
    assert report.verdict is not None
    assert report.verdict.outcome == "not_enough_evidence"
    assert "sex c (25)" in str(report.verdict.criteria[0].reason)


def test_too_few_cases_of_the_rate_still_block() -> None:
    """600 of 6,000 people are c, of whom 9 have a favourable true outcome: large enough, and nothing is shown."""
    sex = np.repeat(["a", "b", "c"], [2700, 2700, 600])
    truth = (np.arange(6000) % 2).astype(int)
    truth[5400:] = 0
    truth[5400:5409] = 1
    granted = truth.copy()
    rule = {"name": "tpr", "metric": "tpr", "measure": "ratio", "at_least": 0.8, "min_share": 0.02}
    data = iso.Dataset({"sex": sex, "y": truth, "p": granted}, target="y", prediction="p", protected="sex")
    report = iso.audit(data, checks=["representation"], policy={"id": "own", "title": "own", "rules": [rule]})
    assert report.verdict is not None
    assert report.verdict.outcome == "not_enough_evidence"
    assert "sex c (9)" in str(report.verdict.criteria[0].reason)


def test_few_without_one_of_two_attributes() -> None:
    """Intersections with a value that few people lack are left out together."""
    rng = np.random.default_rng(0)
    frame = people(F=(1800, 3000), M=(1800, 3000), none=(0, 20))
    frame["race"] = rng.permutation(np.resize(np.array(["x", "y"], dtype=object), 6020))
    rule = {"name": "ratio", "metric": "selection_rate", "measure": "ratio", "at_least": 0.8, "by": "all"}
    data = iso.Dataset(frame, prediction="granted", protected=["sex", "race"])
    report = iso.audit(data, checks=["representation"], policy={"id": "own", "title": "own", "rules": [rule]})
    assert report.verdict is not None
    assert {one.outcome for one in report.verdict.criteria} == {"meets"}
    by = {one.by: str(one.reason or "") for one in report.verdict.criteria}
    assert "20 of 6,020 have no sex: left out" in by["sex",]
    assert "20 of 6,020 have no sex: left out" in by["sex", "race"]
    assert "left out" not in by["race",]


def test_a_fix_leaves_out_the_same_people() -> None:
    """40 of 3,040 have no sex: no group of the verdict on a fix, nor of the gap in its table."""
    rng = np.random.default_rng(0)
    sex = np.repeat(np.array(["F", "M", None], dtype=object), [1500, 1500, 40])
    score = np.clip(rng.normal(0.5 - 0.02 * (sex == "F"), 0.1), 0.01, 0.99)
    score[3000:] = 0.05
    truth = (score + rng.normal(0, 0.1, sex.size) > 0.5).astype(int)
    data = iso.Dataset({"sex": sex, "y": truth, "score": score}, target="y", score="score", protected="sex")
    found = iso.mitigate(data, policy="eeoc", methods=["thresholds"], attribute_at_decision=True, folds=2)
    (said,) = (row for row in found.tables["outcomes"].rows() if row["method"] == "none")
    (shown,) = (row for row in found.tables["methods"].rows() if row["method"] == "none")
    assert said["value"] == pytest.approx(shown["gap"])
    assert said["value"] > 0.5
    assert "40 of 3,040 have no sex: left out" in str(said["reason"])


@pytest.mark.parametrize(("few", "outcome"), [(6, "meets"), (120, "exceeds")])
def test_a_rule_about_a_figure_of_a_check_leaves_them_out_too(few: int, outcome: str) -> None:
    """No group is granted less than 30%: but for the people without a sex, nobody of whom is granted anything."""
    rule = {
        "name": "least rate",
        "kind": "check",
        "check": "group_fairness",
        "figure": "by_group.selection_rate",
        "at_least": 0.3,
    }
    report = audited({"id": "own", "title": "own", "rules": [rule]}, F=(346, 600), M=(353, 588), none=(0, few))
    assert report.verdict is not None
    (criterion,) = report.verdict.criteria
    assert criterion.outcome == outcome
    assert ("have no sex: left out" in str(criterion.reason)) == (outcome == "meets")
    assert ("have no sex: left out" in str(criterion.sentence)) == (outcome == "meets")
