"""A broken rule is always a finding: also where the policy compares other groups than the checks do."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import isonomia as iso
from isonomia.evidence import pair_level, score_difference

RATES = {"White": (500, 1000), "Asian": (320, 400), "Black": (180, 400)}


def audited(policy: Any = "eeoc", **options: Any) -> iso.Report:
    """Approvals by race: checks compare with White people, the four-fifths rule with the best group."""
    rows = [(name, row < hits) for name, (hits, n) in RATES.items() for row in range(n)]
    frame = pd.DataFrame(rows, columns=["race", "loan"])
    frame["loan"] = frame["loan"].map({True: "approved", False: "denied"})
    data = iso.Dataset(frame, prediction="loan", positive="approved", protected=["race"], privileged={"race": "White"})
    return iso.audit(data, policy=policy, n_boot=50, **options)


def test_a_rule_about_groups_that_no_check_compares_has_a_finding() -> None:
    report = audited(checks=["group_fairness"])
    verdict = report.verdict
    assert verdict is not None
    (broken,) = verdict.criteria
    assert (dict(broken.who), dict(broken.reference)) == ({"race": "Black"}, {"race": "Asian"})
    assert not [one for one in report.document["group_fairness"].findings if dict(one.who) == {"race": "Black"}]
    (finding,) = report.document["policy"].findings
    assert (finding.severity, finding.tier, finding.message) == ("critical", "policy", broken.sentence)
    assert report.folds[0].first.tier == "policy"
    assert finding.people is not None
    assert finding.people.value == pytest.approx(400 * (0.80 - 0.45))  # at the rate of Asian people
    low, high = score_difference(180, 400, 320, 400, pair_level(0.95, len(RATES)))  # of the pair that is named
    assert finding.people.low == pytest.approx(-400 * high, abs=0.01)
    assert finding.people.high == pytest.approx(-400 * low, abs=0.01)


def test_every_group_that_breaks_a_rule_is_ranked_with_it() -> None:
    """Most people first: a large group beyond the limit comes before a small one that is further beyond it."""
    counts = {"White": (800, 1000), "Black": (350, 700), "Asian": (20, 60)}
    rows = [(name, int(row < hits)) for name, (hits, n) in counts.items() for row in range(n)]
    frame = pd.DataFrame(rows, columns=["race", "loan"])
    report = iso.audit(
        frame, prediction="loan", protected=["race"], privileged={"race": "White"}, policy="us-lending", n_boot=50
    )
    assert report.verdict is not None
    (broken,) = report.verdict.criteria
    assert dict(broken.who) == {"race": "Asian"}  # 0.42 times as often
    assert [dict(other) for other in broken.also] == [{"race": "Black"}]  # 0.63 times as often
    first, second = [entry.first for entry in report.folds if entry.first.tier == "policy"]
    assert (dict(first.who), dict(second.who)) == ({"race": "Black"}, {"race": "Asian"})
    assert first.severity == second.severity == "critical"
    assert first.people_at_least > 100 > second.people_at_least
    assert iso.Report.from_dict(report.to_dict()).verdict == report.verdict


def test_a_rule_that_a_finding_covers_has_no_second_one() -> None:
    """The fairness suite compares the best with the worst group: its finding has the rule's figure and sentence."""
    report = audited(checks=["fairness_suite"])
    assert "policy" not in report.keys()  # noqa: SIM118
    (same,) = [one for one in report.findings if one.metric == "disparate_impact"]
    assert report.verdict is not None
    (broken,) = report.verdict.criteria
    assert (same.message, same.estimate, same.tier) == (broken.sentence, broken.estimate, "policy")


def test_a_rule_that_is_met_has_none() -> None:
    lenient = {"metric": "selection_rate", "measure": "ratio", "at_least": 0.1, "name": "ratio"}
    report = audited({"id": "own", "title": "own", "rules": [lenient]}, checks=["group_fairness"])
    assert report.verdict is not None
    assert report.verdict.outcome == "meets"
    assert "policy" not in report.keys()  # noqa: SIM118


def test_rules_about_findings_count_what_was_graded() -> None:
    """The rule about the ratio makes a finding critical; the rule about critical findings sees it in the same pass."""
    ratio = {"metric": "selection_rate", "measure": "ratio", "at_least": 0.8, "name": "ratio"}
    none = {"kind": "findings", "severity": "critical", "at_most": 0, "name": "no critical finding"}
    for rules, outcomes in (([ratio, none], ["exceeds", "exceeds"]), ([none], ["meets"])):
        report = audited({"id": "own", "title": "own", "rules": rules}, checks=["representation"])
        assert report.verdict is not None
        assert [one.outcome for one in report.verdict.criteria] == outcomes
