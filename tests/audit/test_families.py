"""Families of tests: a correction within each question, every test made, each test once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import isonomia as iso
from isonomia.audit.check_registry import CHECKS
from isonomia.audit.grading import grade_finding
from isonomia.audit.multiplicity import adjust_families
from isonomia.evidence import Column, Estimate, Finding, Result, Table
from isonomia.languages import msg


def table(p_values: list[float], **columns: Any) -> Table:
    values = {**columns, "p_value": np.array(p_values), "p_adjusted": np.full(len(p_values), np.nan)}
    return Table.of(values)


def result(code: str, tables: dict[str, Table], findings: tuple[Finding, ...] = ()) -> Result:
    return Result(code, msg("Result"), tables, findings=findings)


def finding(code: str, p_value: float, **facts: Any) -> Finding:
    return Finding(code, "warning", msg("Result"), Estimate(0.2), p_value=p_value, **facts)


def adjusted(results: list[Result], code: str, name: str) -> list[float]:
    return next(list(r.tables[name]["p_adjusted"].values) for r in results if r.code == code)


def test_rejections_elsewhere_do_not_help_a_test_about_people() -> None:
    """Thirty true rejections of slices: with one pool p = 0.03 about a group would have passed."""
    slices = result("weak_spots", {"slices": table([1e-9] * 30, feature=["x"] * 30)})
    people = result("missingness", {"missing": table([0.03, 0.5])})
    fresh, families = adjust_families([slices, people], ["sex"])
    assert adjusted(fresh, "missingness", "missing") == pytest.approx([0.06, 0.5])
    assert families.sizes == {"people": 2, "errors": 30, "robustness": 0}


def test_people_are_corrected_after_holm_and_the_rest_after_benjamini_hochberg() -> None:
    from scipy.stats import false_discovery_control

    p = [0.001, 0.012, 0.03, 0.2]
    fresh, _ = adjust_families([result("missingness", {"t": table(p)}), result("perturb", {"t": table(p)})], [])
    np.testing.assert_allclose(adjusted(fresh, "missingness", "t"), [0.004, 0.036, 0.06, 0.2])  # 4 p, 3 p, 2 p, p
    np.testing.assert_allclose(adjusted(fresh, "perturb", "t"), false_discovery_control(p))


def test_slices_by_protected_attributes_are_about_people() -> None:
    spots = result("weak_spots", {"slices": table([0.01, 0.02, 0.03], feature=["x", "sex", "x"])})
    found = result("hidden_subgroups", {"sliceline": table([0.01, 0.02], x=["low", "low"], sex=[None, "F"])})
    drifted = result("conformal", {"coverage": table([0.01, 0.04], attribute=[None, "sex"])})
    _, families = adjust_families([spots, found, drifted], ["sex"])
    assert families.sizes == {"people": 3, "errors": 3, "robustness": 1}


def test_a_test_that_two_checks_show_counts_once() -> None:
    keys = [("group_metrics", "tpr", "F"), ("group_metrics", "fpr", "F")]
    shown = Table((Column("p_value", [0.01, 0.04], keys=keys), Column("p_adjusted", [None, None])))
    one = result("group_fairness", {"comparisons": shown}, (finding("group_fairness.tpr", 0.01, test=keys[0]),))
    two = result("fairness_suite", {"comparisons": shown.take([1])}, (finding("fairness_suite.x", 0.03),))
    fresh, families = adjust_families([one, two], ["sex"])
    assert families.sizes["people"] == 3, "two tests of the tables and the one that stands in none"
    assert fresh[0].findings[0].p_adjusted == pytest.approx(0.03)
    assert fresh[1].findings[0].p_adjusted == pytest.approx(0.06)
    graded = [grade_finding(f, r.code, ["sex"]).severity for r in fresh for f in r.findings]
    assert graded == ["warning", "notice"]


def test_missing_p_values_do_not_count() -> None:
    fresh, families = adjust_families([result("missingness", {"t": table([np.nan, 0.04])})], [])
    assert families.sizes["people"] == 1
    np.testing.assert_allclose(adjusted(fresh, "missingness", "t"), [np.nan, 0.04])


@pytest.fixture(scope="module")
def report() -> Any:
    rng = np.random.default_rng(0)
    n = 1200
    frame = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "x": rng.normal(size=n), "y": rng.integers(0, 2, n)})
    frame["score"] = np.clip(0.5 + 0.2 * rng.normal(size=n) + 0.1 * (frame["sex"] == "M"), 0, 1)
    data = iso.Dataset(frame, target="y", protected=["sex"], score="score")
    return iso.audit(data, checks="performance,group_fairness,fairness_suite,calibration,label_bias,weak_spots")


def test_the_report_states_its_families(report: Any) -> None:
    stated = report.document.balance_sheet.to_frame("tests", "pandas")
    assert stated["correction"].tolist() == ["Holm", "Benjamini-Hochberg"]
    assert report.document.fingerprint["tests"] == stated["tests"].sum()
    assert "Benjamini-Hochberg" in report.to_markdown("pt-BR")


def test_every_test_of_a_check_stands_in_a_table(report: Any) -> None:
    """Also those whose gap is too small for a finding: the family does not depend on the effects found."""
    assert {"p_value", "p_adjusted"} <= set(report["calibration"].tables["by_group_sex"].names)
    extra = set(report["fairness_suite"].tables["comparisons"]["metric"].values)
    assert "fn_fp_ratio" in extra
    assert not extra & set(report["group_fairness"].tables["comparisons"]["metric"].values)


def test_labels_and_decisions_are_different_tests(report: Any) -> None:
    """The base rates of labels share their keys with those of group fairness, and not with selection rates."""
    labels, groups = report["label_bias"].tables["base_rates"], report["group_fairness"].tables["comparisons"]
    (key,) = labels["p_value"].keys
    row = list(groups["p_value"].keys).index(key)
    assert groups["metric"].values[row] == "base_rate"
    assert labels["p_adjusted"].values[0] == groups["p_adjusted"].values[row]


def test_checks_about_people_declare_it() -> None:
    people = {entry.id for entry in CHECKS if entry.family == "people"}
    assert {"group_fairness", "fairness_suite", "pairs", "counterfactual", "label_bias", "calibration"} <= people
    assert {CHECKS[code].family for code in ("drift", "perturb", "scenarios")} == {"robustness"}
    assert {CHECKS[code].family for code in ("weak_spots", "performance", "failure_modes")} == {"errors"}


def severities(code: str, **facts: Any) -> list[str]:
    given = replace(finding(f"{code}.x", 1e-9, **facts), severity="critical")
    fresh, _ = adjust_families([result(code, {}, (given,))], ["sex"])
    return [grade_finding(f, code, ["sex"]).severity for f in fresh[0].findings]


def test_critical_is_for_people_and_what_ifs_are_notices() -> None:
    assert severities("group_fairness") == ["critical"]
    assert severities("weak_spots", who={"sex": "F"}) == ["critical"]
    assert severities("weak_spots", who={"x": "low"}) == ["warning"]
    assert severities("drift", columns=("x",)) == ["warning"]
    assert severities("perturb", columns=("x",)) == severities("scenarios") == ["notice"]
    assert severities("local_robustness", who={"sex": "F"}) == ["critical"]
