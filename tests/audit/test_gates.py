"""A gate never passes because something could not be examined: every kind of rule in every such situation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
import yaml
from typer.testing import CliRunner

import isonomia as iso
from isonomia.audit import CHECKS, compare
from isonomia.cli.app import app
from isonomia.cli.output.junit import to_junit
from isonomia.errors import DataError, MissingExtraError
from isonomia.report import content_hash

EASY = {"name": "accuracy", "metric": "accuracy", "measure": "value", "at_least": 0.01}
METRIC = {"name": "ratio", "metric": "selection_rate", "measure": "ratio", "at_least": 0.2}
FINDINGS = {"name": "calm", "kind": "findings", "severity": "critical", "at_most": 100}
FIGURE = {"name": "rates", "kind": "figure", "metric": "selection_rate"}
DATA_SHEET = {"name": "sheet", "kind": "figure", "check": "representation"}
OF_CHECK = {"name": "slope", "kind": "check", "check": "calibration", "figure": "slope", "at_most": 99.0}
#: Kinds of rules that name attributes.
NAMING = {"metric": METRIC, "findings": FINDINGS, "figure": FIGURE}


def people(n: int = 600) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, n)
    return pd.DataFrame(
        {
            "ethnicity": rng.choice(["a", "b"], n),
            "one": "only",
            "pay": rng.normal(50, 9, n),
            "worth": np.arange(n) + rng.normal(0, 1, n),
            "y": y,
            "p": np.where(rng.random(n) < 0.9, y, 1 - y),
            "score": np.clip(0.25 + 0.5 * y + rng.normal(0, 0.1, n), 0.01, 0.99),
        }
    )


def policy(*rules: dict[str, Any], **facts: Any) -> dict[str, Any]:
    documentation = {"kind": "documentation"} if any(rule.get("kind") == "figure" for rule in rules) else {}
    return {"id": "own", "title": "own", "rules": list(rules), **documentation, **facts}


def besides(rule: dict[str, Any]) -> dict[str, Any]:
    """A rule that is kept whatever becomes of the other."""
    return DATA_SHEET if rule.get("kind") == "figure" else EASY


def judged(given: dict[str, Any], **options: Any) -> iso.Report:
    roles = {"target": "y", "prediction": "p", "protected": ["ethnicity"], "checks": "representation,group_fairness"}
    return iso.audit(people(), policy=given, n_boot=50, **{**roles, **options})


def in_the_shell(given: dict[str, Any], folder: Path, **options: str) -> int:
    people().to_csv(folder / "people.csv", index=False)
    (folder / "policy.yaml").write_text(yaml.safe_dump(given), encoding="utf-8")
    named = {"target": "y", "prediction": "p", "protected": "ethnicity", "checks": "representation,group_fairness"}
    words = [f"--{name}={value}" for name, value in {**named, **options}.items() if value]
    folders = [f"--policy={folder / 'policy.yaml'}", f"--out={folder / 'out'}"]
    return CliRunner().invoke(app, ["audit", str(folder / "people.csv"), *words, *folders]).exit_code


def junit_tags(report: iso.Report) -> set[str]:
    """What became of the criteria in the file for continuous integration."""
    root = ET.fromstring(to_junit(report.document, policy=report.policy).encode())
    cases = [case for case in root.iter("testcase") if str(case.get("classname")).startswith("isonomia.policy")]
    return {child.tag for case in cases for child in case}


def refuses(report: iso.Report) -> None:
    """No door passes."""
    assert report.verdict is not None
    assert report.verdict.outcome not in ("meets", "documents")
    assert report.exit_code != 0
    with pytest.raises(AssertionError):
        report.check()
    again = iso.Report.from_dict(report.to_dict())
    assert again.exit_code == report.exit_code, "a stored report says the same"
    assert junit_tags(report) & {"error", "failure"}


@pytest.mark.parametrize("kind", NAMING)
@pytest.mark.parametrize("others", [True, False])
def test_a_rule_of_attributes_that_are_not_protected_is_an_error(kind: str, others: bool, tmp_path: Path) -> None:
    rule = {**NAMING[kind], "attributes": ["etnicity", "pay"]}
    given = policy(rule, besides(rule)) if others else policy(rule)
    asked: list[int] = []

    def model(frame: Any) -> Any:
        asked.append(len(frame))
        return np.ones(len(frame))

    with pytest.raises(iso.SpecError, match=r"'etnicity'.*Did you mean 'ethnicity'\?") as caught:
        iso.audit(people(), model, target="y", protected=["ethnicity"], features=["pay"], policy=given)
    assert "'pay'" in str(caught.value), "a column of the data, and not protected"
    assert not asked, "before any work"
    with pytest.raises(iso.SpecError, match="not a protected attribute"):
        judged(given, protected=None)
    assert in_the_shell(given, tmp_path) == 2


@pytest.mark.parametrize("when", ["unsure", "meets"])
@pytest.mark.parametrize("kind", NAMING)
def test_a_rule_is_applied_to_the_attributes_that_are_there_and_names_the_others(
    kind: str, when: str, tmp_path: Path
) -> None:
    rule = {**NAMING[kind], "attributes": ["ethnicity", "race"]}
    given = policy(rule, besides(rule), when_unsure=when)
    report = judged(given)
    refuses(report)
    assert report.verdict is not None
    assert report.exit_code == 3, "whatever the policy makes of evidence that is too weak"
    assert report.verdict.outcome == ("incomplete" if kind == "figure" else "not_enough_evidence")
    assert "race is not a protected attribute of the data (ethnicity)" in str(report.verdict.reason)
    found = {one.key: one.outcome for one in report.verdict.criteria}
    if kind == "metric":
        assert found == {"ratio[ethnicity]": "meets", "ratio[race]": "not_enough_evidence", "accuracy": "meets"}
    if kind == "figure":
        assert found == {"rates[ethnicity]": "documents", "rates[race]": "incomplete", "sheet": "documents"}
    assert in_the_shell(given, tmp_path) == 3


def test_a_breach_of_an_attribute_that_is_there_stays_a_breach() -> None:
    rule = {**METRIC, "attributes": ["ethnicity", "race"], "at_least": 5.0, "against": "best"}
    report = judged(policy(rule, EASY))
    assert report.exit_code == 1
    assert {one.key: one.outcome for one in report.verdict.criteria}["ratio[race]"] == "not_enough_evidence"


def test_all_problems_of_a_policy_are_raised_together() -> None:
    rules = [{**METRIC, "attributes": ["sex"]}, {**FINDINGS, "attributes": ["race"]}]
    with pytest.raises(iso.SpecError) as caught:
        judged(policy(*rules))
    assert len(caught.value.problems) == 2


def test_a_figure_of_a_check_takes_no_attributes() -> None:
    """They would be ignored."""
    for shape in ({"check": "representation", "metric": ""}, {"by": "everyone"}):
        with pytest.raises(iso.SpecError, match="attributes"):
            judged(policy({**FIGURE, **shape, "attributes": ["ethnicity"]}))


def test_the_shipped_template_does_not_pass_on_other_data() -> None:
    given = yaml.safe_load(iso.policies.policy_template())
    with pytest.raises(iso.SpecError, match="'approval-ratio'"):
        judged(given)


@dataclass(frozen=True)
class Situation:
    """Rules in a situation where one cannot be examined, and what has to come out."""

    rule: dict[str, Any]
    outcome: str
    code: int
    roles: dict[str, Any]
    broken: Callable[..., Any] | None = None
    alone: int | None = None
    """The exit code of a policy of this rule alone; the same where it is None."""
    when_unsure: int = 3
    """The exit code where the policy takes evidence that is too weak as met."""


def _fails(*args: Any, **options: Any) -> Any:
    raise DataError("planted")


def _lacks(*args: Any, **options: Any) -> Any:
    raise MissingExtraError("planted", "extra")


ONE_GROUP = {"protected": ["one"]}
REGRESSION = {"prediction": "pay", "target": "worth", "task": "regression"}
SITUATIONS = {
    # a rule about a metric
    "metric, one group": Situation(METRIC, "not_enough_evidence", 3, ONE_GROUP, when_unsure=0),
    "metric, nothing protected": Situation(
        METRIC, "not_enough_evidence", 3, {"protected": None, "checks": "performance"}, alone=4
    ),
    "metric, no target": Situation({**METRIC, "metric": "tpr"}, "not_enough_evidence", 3, {"target": None}, alone=4),
    "metric, other task": Situation({**METRIC, "metric": "tpr"}, "not_enough_evidence", 3, REGRESSION, alone=4),
    "value, other task": Situation(
        {**EASY, "name": "auc", "metric": "auc"}, "not_enough_evidence", 3, REGRESSION, alone=4
    ),
    "value, no score": Situation({**EASY, "name": "auc", "metric": "auc"}, "not_enough_evidence", 3, {}, alone=4),
    # a rule about a check
    "check, no scores": Situation(OF_CHECK, "not_enough_evidence", 3, {}),
    "check, failed": Situation(OF_CHECK, "not_enough_evidence", 5, {"score": "score"}, _fails, when_unsure=5),
    "check, skipped": Situation(OF_CHECK, "not_enough_evidence", 3, {"score": "score"}, _lacks),
    # a rule about findings
    "findings, no scores": Situation({**FINDINGS, "of": ["calibration"]}, "not_enough_evidence", 3, {}),
    "findings, failed": Situation(
        {**FINDINGS, "of": ["calibration"]}, "not_enough_evidence", 5, {"score": "score"}, _fails, when_unsure=5
    ),
    "findings, skipped": Situation(
        {**FINDINGS, "of": ["calibration"]}, "not_enough_evidence", 3, {"score": "score"}, _lacks
    ),
    "any findings, failed": Situation(
        FINDINGS,
        "not_enough_evidence",
        5,
        {"score": "score", "checks": "performance,calibration"},
        _fails,
        when_unsure=5,
    ),
    "any findings, skipped": Situation(
        FINDINGS, "not_enough_evidence", 3, {"score": "score", "checks": "performance,calibration"}, _lacks
    ),
    # a figure of a documentation profile
    "figure, one group": Situation({**FIGURE, "metric": "tpr"}, "incomplete", 3, {"target": None}),
    "figure, nothing protected": Situation(FIGURE, "incomplete", 3, {"protected": None}, alone=4),
    "figure, check without scores": Situation({**DATA_SHEET, "name": "c", "check": "calibration"}, "incomplete", 3, {}),
    "figure, check failed": Situation(
        {**DATA_SHEET, "name": "c", "check": "calibration"},
        "incomplete",
        5,
        {"score": "score"},
        _fails,
        when_unsure=5,
    ),
    "figure, check skipped": Situation(
        {**DATA_SHEET, "name": "c", "check": "calibration"}, "incomplete", 3, {"score": "score"}, _lacks
    ),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_what_could_not_be_examined_is_not_met(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    situation = SITUATIONS[name]
    if situation.broken is not None:
        entries = CHECKS._entries  # the registry itself has no way to replace an entry
        monkeypatch.setitem(entries, "calibration", replace(CHECKS["calibration"], run=situation.broken))
    other = besides(situation.rule)
    if situation.roles is REGRESSION:
        other = {"name": "r2", "metric": "r2", "measure": "value", "at_least": -99.0}
    elif situation.roles.get("target", "y") is None and other is EASY:
        other = {"name": "rate", "metric": "selection_rate", "measure": "value", "at_most": 1.0}
    elif situation.roles.get("protected", "") is None and other is DATA_SHEET:
        other = {**DATA_SHEET, "check": "performance"}
    for when, code in (("unsure", situation.code), ("meets", situation.when_unsure)):
        report = judged(policy(situation.rule, other, when_unsure=when), **situation.roles)
        assert report.verdict is not None
        assert report.verdict.outcome == situation.outcome
        assert report.exit_code == code
        if code:
            refuses(report)
        kept = report.verdict.criteria[-1]
        assert kept.outcome in ("meets", "documents"), "the other rule is not touched"
    alone = judged(policy(situation.rule), **situation.roles)
    assert alone.exit_code == (situation.code if situation.alone is None else situation.alone)
    with pytest.raises(AssertionError):
        alone.check()
    roles = {**situation.roles}
    shell = {key: ",".join(value) if isinstance(value, list) else value or "" for key, value in roles.items()}
    assert in_the_shell(policy(situation.rule, other), tmp_path, **shell) == situation.code


def test_a_stored_verdict_that_dropped_a_criterion_does_not_pass() -> None:
    """Met, although a criterion is said not to apply: whoever loads it is warned, and it does not pass."""
    record = judged(policy(METRIC, EASY)).to_dict()
    assert iso.Report.from_dict(record).exit_code == 0
    record["verdict"]["criteria"][0]["outcome"] = "not_applicable"
    with pytest.warns(UserWarning, match="does not follow from its figures"):
        changed = iso.Report.from_dict({**record, "sha256": content_hash(record)})
    assert changed.exit_code == 3
    with pytest.raises(AssertionError):
        changed.check()


def test_a_criterion_that_is_not_examined_again_is_not_silently_fine() -> None:
    before = judged(policy(METRIC, EASY, FINDINGS))
    gone = judged(policy(METRIC, EASY, FINDINGS), protected=None, checks="performance")
    absent = judged(policy({**METRIC, "attributes": ["one", "ethnicity"]}, EASY, FINDINGS), protected=["one"])
    for after in (gone, absent):
        found = compare(before, after, fail_on="criteria")
        assert "unexamined" in found.tables["criteria"]["step"].values
        assert found.exit_code == 3
        assert "Nothing got worse" not in str(found.headline)
        assert "not examined" in str(found.headline)
    assert compare(before, before, fail_on="criteria").exit_code == 0


def test_a_group_without_the_figure_of_a_check_leaves_the_rule_open() -> None:
    """Three people have no calibration slope; the others' slopes keep the limit."""
    frame = people(2000)
    frame.loc[:2, "ethnicity"] = "few"
    rule = {
        "name": "slopes",
        "kind": "check",
        "check": "group_calibration",
        "figure": "by_group.slope",
        "at_most": 99.0,
    }
    data = iso.Dataset(frame, target="y", score="score", protected=["ethnicity"])
    report = iso.audit(data, policy=policy(rule), checks="group_calibration", n_boot=20)
    assert report.verdict is not None
    assert report.verdict.outcome == "not_enough_evidence"
    assert "no figure for few people" in str(report.verdict.reason)
    whole = iso.audit(
        iso.Dataset(frame[3:], target="y", score="score", protected=["ethnicity"]),
        policy=policy(rule),
        checks="group_calibration",
        n_boot=20,
    )
    assert whole.verdict is not None
    assert whole.verdict.outcome == "meets"
