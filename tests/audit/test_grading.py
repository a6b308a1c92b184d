"""Severity and tier: what the policy says, else thresholds and the corrected test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import isonomia as iso
from isonomia.audit.grading import grade_finding
from isonomia.evidence import THRESHOLDS, Estimate, Finding
from isonomia.languages import msg
from isonomia.report import Criterion

WOMEN, MEN = {"sex": "F"}, {"sex": "M"}


def finding(code: str = "group_fairness.selection_rate", severity: Any = "warning", **facts: Any) -> Finding:
    given = {"who": WOMEN, "reference": MEN, **facts}
    return Finding(code, severity, msg("Result"), Estimate(0.2), **given)


def rule(outcome: Any, metric: str = "selection_rate", **facts: Any) -> Criterion:
    given: dict[str, Any] = {"who": WOMEN, "reference": MEN, "by": ("sex",), **facts}
    return Criterion("a rule", outcome, Estimate(0.7), 0.8, "at_least", metric=metric, **given)


def graded(one: Finding, *criteria: Criterion) -> tuple[str, str]:
    found = grade_finding(one, one.check, ["sex", "race"], criteria)
    return found.tier, found.severity


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ("exceeds", ("policy", "critical")),
        ("meets", ("people", "notice")),
        ("not_enough_evidence", ("people", "warning")),
    ],
)
@pytest.mark.parametrize("code", ["group_fairness.selection_rate", "fairness_suite.disparate_impact"])
def test_a_rule_about_the_same_figure_decides(code: str, outcome: str, expected: tuple[str, str]) -> None:
    assert graded(finding(code, "critical"), rule(outcome)) == expected
    swapped = rule(outcome, who=MEN, reference=WOMEN)
    assert graded(finding(code, "critical"), swapped) == expected


def test_aliases_of_a_metric_are_the_same_figure() -> None:
    assert graded(finding("group_fairness.ppv"), rule("exceeds", "precision")) == ("policy", "critical")


@pytest.mark.parametrize(
    "criterion",
    [
        rule("exceeds", "tpr"),
        rule("exceeds", by=("race",), who={"race": "a"}, reference={"race": "b"}),
        rule("exceeds", by=("sex", "race"), who={"sex": "F", "race": "a"}, reference={"sex": "M", "race": "a"}),
        rule("exceeds", by=(), who={}, reference={}),
    ],
)
def test_a_rule_about_another_figure_or_other_people_does_not(criterion: Criterion) -> None:
    assert graded(finding(), criterion) == ("people", "warning")


def test_other_groups_of_a_broken_rule_keep_their_own_severity() -> None:
    other = finding(who={"sex": "X"})
    assert graded(other, rule("exceeds")) == ("people", "warning")


def test_what_may_be_chance_is_a_notice_unless_the_policy_is_broken() -> None:
    doubtful = finding(severity="critical", p_value=0.01, p_adjusted=0.2)
    assert graded(doubtful) == ("people", "notice")
    assert graded(doubtful, rule("exceeds")) == ("policy", "critical")


def test_what_a_finding_concerns() -> None:
    assert graded(finding("weak_spots.slice", who={"sex": "F", "x": "low"}))[0] == "people"
    assert graded(finding("weak_spots.slice", who={"x": "low"}))[0] == "slices"
    assert graded(finding("counterfactual.flip", who={}, columns=("race",)))[0] == "people"
    assert graded(finding("drift.feature", who={}, columns=("x",)))[0] == "model"


def test_thresholds_rise() -> None:
    """What is critical is a warning at a smaller size, and is reported at one that is smaller still."""
    for name, one in THRESHOLDS.items():
        sizes = [size for size in (one.reported, one.warning, one.critical) if size is not None]
        assert sizes == sorted(sizes, reverse=one.lower), name
        for size, severity in ((one.warning, "warning"), (one.critical, "critical")):
            if size is not None:
                worse = {"warning": ("warning", "critical"), "critical": ("critical",)}[severity]
                assert one.severity(size) in worse, name
        assert one.severity(one.reported + (1 if one.lower else -1)) == "notice", name


def test_a_threshold_is_in_the_unit_of_its_figure() -> None:
    """A page shows both side by side: "Figure: 27% · Threshold: 16%", not the 10% by which errors may be more."""
    rng = np.random.default_rng(0)
    n = 2000
    sex, x, region = rng.choice(["F", "M"], n), rng.normal(size=n), rng.choice(list("abcd"), n)
    truth = (x > 0).astype(int)
    wrong = rng.random(n) < np.where(region == "a", 0.5, 0.1)
    frame = {
        "sex": sex,
        "x": x,
        "region": region,
        "height": rng.normal(size=n) + 2.5 * (sex == "M"),
        "income": np.where(rng.random(n) < np.where(sex == "F", 0.35, 0.08), np.nan, rng.normal(size=n)),
        "y": truth,
        "p": np.where(wrong, 1 - truth, truth),
    }
    checks = ["missingness", "proxies", "weak_spots", "subgroup_diagnostics", "consistency", "representation"]
    report = iso.audit(frame, target="y", prediction="p", protected=["sex", "region"], checks=checks, n_boot=50)
    lower_is_worse = {"subgroup_diagnostics.worse", "consistency.group", "consistency.low"}
    found = [one for one in report.findings if one.threshold is not None and one.estimate.value is not None]
    assert {"missingness.group", "proxies.predictable", "weak_spots.slice", "consistency.group"} <= {
        one.code for one in found
    }
    for one in found:
        sign = -1 if one.code in lower_is_worse else 1
        assert sign * (one.estimate.value - one.threshold) >= 0, one.code
        assert abs(one.threshold) > 0.1, one.code
