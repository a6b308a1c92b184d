"""Rules about checks, findings and figures; rules of one attribute; one rule for "exceeds"; exit codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import isonomia as iso
from isonomia.audit import exit_code
from isonomia.evidence import Estimate
from isonomia.evidence.intervals import normal_quantile
from isonomia.evidence.simultaneous import simultaneous_level
from isonomia.languages import People

RATIO = {"name": "ratio", "metric": "selection_rate", "measure": "ratio", "at_least": 0.8}
NO_CRITICAL = {"kind": "findings", "name": "no critical finding"}


def own(*rules: dict[str, Any], **facts: Any) -> dict[str, Any]:
    return {"id": "own", "title": "own", "rules": list(rules), **facts}


def people(gap: float = 0.3, n: int = 2000) -> iso.Dataset:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"sex": rng.choice(["women", "men"], n), "race": rng.choice(["Black", "White"], n)})
    frame["pay"] = rng.normal(50, 9, n)
    frame["y"] = (rng.random(n) < 0.5).astype(int)
    noise = rng.normal(0, 0.15, n)
    frame["score"] = np.clip(0.5 + 0.3 * (frame["y"] - 0.5) + gap * (frame["sex"] == "men") + noise, 0.01, 0.99)
    return iso.Dataset(frame, target="y", score="score", protected=["sex", "race"])


def criteria(policy: Any, data: Any = None, checks: Any = "group_fairness", **options: Any) -> dict[str, Any]:
    report = iso.audit(people() if data is None else data, policy=policy, checks=checks, n_boot=100, **options)
    assert report.verdict is not None
    return {criterion.key: criterion for criterion in report.verdict.criteria}


def test_a_rule_of_one_attribute_leaves_the_others_alone() -> None:
    both = criteria(own(RATIO))
    one = criteria(own({**RATIO, "attributes": ["sex"]}))
    assert set(both) == {"ratio[sex]", "ratio[race]"}
    assert set(one) == {"ratio[sex]"}
    width = [found["ratio[sex]"].estimate.high - found["ratio[sex]"].estimate.low for found in (both, one)]
    assert width[1] < width[0], "fewer comparisons, narrower intervals"


def test_the_policy_brings_the_checks_that_its_rules_are_about() -> None:
    rule = {"kind": "check", "name": "weak spots", "check": "weak_spots", "figure": "critical_spots", "at_most": 0}
    report = iso.audit(people(), policy=own(rule), checks="representation", n_boot=50)
    assert [section.code for section in report.document.sections] == ["representation", "weak_spots"]
    with pytest.raises(iso.SpecError, match="Did you mean 'weak_spots'"):
        iso.audit(people(), policy=own({**rule, "check": "weak_spot"}))


@pytest.mark.parametrize(("limit", "outcome"), [(0.0, "exceeds"), (10.0, "meets")])
def test_a_count_of_a_check_is_a_fact(limit: float, outcome: str) -> None:
    rule = {"kind": "check", "name": "groups", "check": "representation", "figure": "groups", "at_most": limit}
    found = criteria(own(rule), checks="representation")["groups"]
    assert (found.outcome, found.estimate.value, found.estimate.low) == (outcome, 4, None)
    assert str(found.sentence).startswith(f"Groups is 4. The limit is {limit:.0f}.")


def test_a_figure_of_a_check_is_decided_by_an_interval_for_all_rules() -> None:
    """Recomputed by hand: the interval of the check, stretched to the level that the criteria share."""
    rule = {"kind": "check", "name": "ece", "check": "calibration", "figure": "slope", "at_most": 1.0}
    report = iso.audit(
        people(), policy=own(rule, {**rule, "name": "again", "at_most": 99}), checks="calibration", n_boot=100
    )
    assert report.verdict is not None
    plain = report["calibration"].values["slope"]
    assert isinstance(plain, Estimate)
    found = report.verdict.criteria[0].estimate
    factor = normal_quantile(simultaneous_level(0.95, 2)) / normal_quantile(0.95)
    assert found.high - found.value == pytest.approx(factor * (plain.high - plain.value))  # type: ignore[operator]
    assert report.verdict.criteria[1].outcome == "meets"


def test_of_a_table_the_worst_row_counts() -> None:
    rule = {
        "kind": "check",
        "name": "ece of groups",
        "check": "group_calibration",
        "figure": "by_group.ece",
        "at_most": 0.05,
    }
    found = criteria(own(rule), checks="representation")["ece-of-groups"]
    assert found.outcome == "exceeds"
    report = iso.audit(people(), checks="group_calibration", n_boot=100)
    assert found.estimate.value == pytest.approx(
        np.nanmax(report["group_calibration"].tables["by_group"]["ece"].values)
    )
    assert found.who
    assert str(People.of(found.who).message) in str(found.sentence)
    assert found.key == "ece-of-groups", "whoever is worst off"
    women = criteria(own({**rule, "where": {"group": "sex=women"}}), checks="representation")["ece-of-groups"]
    assert women.estimate.value < found.estimate.value


@pytest.mark.parametrize("figure", ["by_group.nothing", "nothing", "nothing.ece"])
def test_a_figure_that_a_check_does_not_report_is_an_error(figure: str) -> None:
    rule = {"kind": "check", "name": "ece", "check": "calibration", "figure": figure, "at_most": 0.05}
    with pytest.raises(iso.SpecError, match="reports no figure"):
        criteria(own(rule), checks="representation")


def test_a_search_that_ended_early_is_not_enough_evidence() -> None:
    """The share of all possible people has no estimate where the time limit ends the search."""
    rule = {"kind": "check", "name": "pairs", "check": "pairs", "figure": "share", "at_most": 0.05}
    data = people()
    report = iso.audit(
        data,
        lambda frame: (frame["pay"] > 50).astype(int),
        policy=own(rule),
        checks="pairs",
        options={"pairs": {"max_seconds": 1e-6}},
    )
    assert report.verdict is not None
    assert report.verdict.outcome == "not_enough_evidence"


def test_a_check_without_a_result_is_not_enough_evidence() -> None:
    rule = {"kind": "check", "name": "drift", "check": "drift", "figure": "drifted", "at_most": 0}
    found = criteria(own(rule), checks="representation")["drift"]
    assert found.outcome == "not_enough_evidence"
    assert "no reference data were given" in str(found.sentence)


def test_findings_are_counted_after_they_were_graded() -> None:
    """A gap that breaks the policy is critical because it does: the rule about findings has to see it."""
    found = criteria(own(RATIO, NO_CRITICAL))
    assert found["ratio[sex]"].outcome == "exceeds"
    assert found["no-critical-finding"].outcome == "exceeds"
    assert "critical finding" in str(found["no-critical-finding"].sentence)
    alone = criteria(own(NO_CRITICAL), data=people(gap=0.0))["no-critical-finding"]
    assert (alone.outcome, alone.estimate.value) == ("meets", 0)
    of_sex, of_race = (
        criteria(own({**RATIO, "attributes": ["sex"]}, {**NO_CRITICAL, "attributes": [name]}))["no-critical-finding"]
        for name in ("sex", "race")
    )
    assert of_sex.outcome == "exceeds"
    assert of_race.estimate.value < of_sex.estimate.value


def test_a_missing_check_leaves_a_rule_about_findings_open() -> None:
    found = criteria(own({**NO_CRITICAL, "of": ["drift"]}), checks="representation")["no-critical-finding"]
    assert found.outcome == "not_enough_evidence"
    assert "Drift has no result" in str(found.sentence)


def test_a_documentation_profile_documents_or_says_what_is_missing() -> None:
    rules = [
        {"kind": "figure", "name": "selection rates", "metric": "selection_rate", "by": "all"},
        {"kind": "figure", "name": "accuracy", "metric": "accuracy", "by": "everyone"},
        {"kind": "figure", "name": "errors", "metric": "mae"},
    ]
    found = criteria(own(*rules, kind="documentation"), checks="representation")
    assert {key: one.outcome for key, one in found.items()} == {
        "selection-rates[sex]": "documents",
        "selection-rates[race]": "documents",
        "selection-rates[sex x race]": "documents",
        "accuracy": "documents",
        "errors": "incomplete",
    }
    report = iso.audit(people(), policy=own(*rules, kind="documentation"), checks="representation", n_boot=50)
    assert report.exit_code == 3
    for text in (report.to_markdown(), report.to_html(), report.to_html("pt-BR")):
        assert "complies" not in text
        assert "cumpre" not in text


def test_the_suite_and_the_policy_give_one_answer_about_one_number() -> None:
    report = iso.audit(people(gap=0.09, n=400), policy="engineering", checks="fairness_suite", n_boot=100)
    assert report.verdict is not None
    rows = {
        (row["by"], str(row["measure"])): (row["outcome"], table["value"].estimate(at), row["threshold"])
        for table in [report["fairness_suite"].tables["measures"]]
        for at, row in enumerate(table.rows())
    }
    titles = {"selection_rate": "Demographic parity", "tpr": "Equal opportunity", "fpr": "Predictive equality"}
    compared = [one for one in report.verdict.criteria if one.metric in titles]
    assert len(compared) == 6
    for one in compared:
        outcome, figure, threshold = rows[one.by[0], titles[one.metric]]
        assert str(outcome) == one.outcome.replace("_", " ")
        assert (figure.value, figure.low, figure.high) == (one.estimate.value, one.estimate.low, one.estimate.high)
        assert threshold == one.threshold


@pytest.mark.parametrize(
    ("gap", "policy", "fail_on", "code"),
    [
        (0.3, None, "verdict", 0),
        (0.3, None, "critical", 1),
        (0.3, None, "warning", 1),
        (0.0, None, "warning", 0),
        (0.3, "eeoc", "verdict", 1),
        (0.3, "br-lgpd-20", "verdict", 0),
        (0.3, "br-lgpd-20", "critical", 1),
        (0.0, "engineering-regression", "verdict", 4),
        (0.3, "engineering-regression", "critical", 1),
    ],
)
def test_one_function_decides_the_exit_code(gap: float, policy: str | None, fail_on: Any, code: int) -> None:
    report = iso.audit(people(gap), policy=policy, checks="group_fairness", n_boot=50)
    assert exit_code(report.document, report.policy, fail_on) == code
    if policy is None and fail_on == "verdict":
        with pytest.raises(iso.SpecError, match="audit with a policy"):
            report.check(fail_on)
    elif code:
        with pytest.raises(iso.AuditFailed, match=f"exit code {code}"):
            report.check(fail_on)
    else:
        report.check(fail_on)
