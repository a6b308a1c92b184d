"""Groups, intersections and tests are known by keys, whatever they are called."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import isonomia as iso
from isonomia.audit.multiplicity import adjust_families
from isonomia.evidence import Column, Estimate, Finding, Result, Table
from isonomia.languages import msg


def data(*names: str, n: int = 600) -> iso.Dataset:
    """Each attribute has two groups; the second of the first attribute is seldom selected."""
    rng = np.random.default_rng(1)
    columns = {name: rng.integers(0, 2, n) for name in names}
    truth = (rng.random(n) < 0.5).astype(int)
    said = np.where(columns[names[0]] == 1, rng.random(n) < 0.1, rng.random(n) < 0.8).astype(int)
    return iso.Dataset({**columns, "y": truth, "p": said}, target="y", protected=list(names), prediction="p")


def test_a_column_called_like_an_intersection_is_one_attribute() -> None:
    plain = iso.audit(data("sex", "b"), checks="entropy,group_fairness,fairness_suite,incompatibility", n_boot=20)
    odd = iso.audit(data("a x b", "b"), checks="entropy,group_fairness,fairness_suite,incompatibility", n_boot=20)
    assert "entropy.between" in {finding.code for finding in plain.findings}
    assert [f.code for f in odd.findings] == [f.code for f in plain.findings]
    renamed = [{("sex" if k == "a x b" else k): v for k, v in f.who.items()} for f in odd.findings]
    assert renamed == [dict(f.who) for f in plain.findings]
    (between,) = [f for f in odd.findings if f.code == "entropy.between"]
    assert between.columns == ("a x b",)


def test_a_column_called_like_the_intersection_beside_it_keeps_its_own_pictures() -> None:
    report = iso.audit(data("a", "b", "a x b"), checks="group_fairness", n_boot=20)
    table = report["group_fairness"].tables["by_group"]
    ways = dict.fromkeys(table["by"].keys or ())
    assert [way for way in ways if " x ".join(way) == "a x b"] == [("a x b",), ("a", "b")]
    page = report.to_html()
    assert iso.Report.from_dict(report.to_dict()).to_html() == page
    crossed = [p for p in report["group_fairness"].pictures if p.options.get("where") == {"by": [("a", "b")]}]
    assert len(crossed) == 1


def result(code: str, p: list[float], *findings: Finding, keys: list[tuple[str, ...]] | None = None) -> Result:
    table = Table((Column("p_value", p, keys=keys), Column("p_adjusted", [None] * len(p))))
    return Result(code, msg("{x}", x=code), {"t": table}, findings=findings)


def found(p: float, test: tuple[object, ...] | None) -> Finding:
    return Finding("c.x", "warning", msg("yes"), Estimate(0.1), p_value=p, test=test)


def test_equal_p_values_are_not_the_same_test() -> None:
    """Two tests with p = 0.03 are two; a finding that rests on a row of a table is that row's test."""
    listed, alone = found(0.03, ("one", "t", 0)), found(0.03, None)
    (one, two), families = adjust_families([result("one", [0.03, 0.2], listed), result("two", [0.5], alone)], [])
    assert families.sizes["errors"] == 4
    expected = stats.false_discovery_control([0.03, 0.2, 0.5, 0.03])
    assert one.tables["t"]["p_adjusted"].values.tolist() == pytest.approx(expected[:2].tolist())  # type: ignore[union-attr]
    assert one.findings[0].p_adjusted == pytest.approx(expected[0])
    assert two.findings[0].p_adjusted == pytest.approx(expected[3])


def test_a_test_that_two_checks_share_counts_once() -> None:
    key = ("group_metrics", "tpr")
    shared = found(0.001, key)
    results = [result("one", [0.001], keys=[key]), replace(result("two", []), findings=(shared,))]
    (_, two), families = adjust_families(results, [])
    assert (families.sizes["errors"], two.findings[0].p_adjusted, two.findings[0].severity) == (1, 0.001, "warning")


def test_every_finding_with_a_p_value_of_a_table_names_its_row() -> None:
    """Across the checks of an audit: the test of a finding has the p-value of the finding."""
    report = iso.audit(data("sex", "b"), checks="standard", n_boot=20)
    tests = {}
    for section in report.document.sections:
        for name, table in {} if section.result is None else section.result.tables.items():
            if {"p_value", "p_adjusted"} <= set(table.names):
                p = table["p_value"]
                for row in range(len(table)):
                    key = p.keys[row] if p.keys is not None else (section.code, name, row)
                    tests.setdefault(key, (p.estimate(row).value, table["p_adjusted"].estimate(row).value))
    with_test = [finding for finding in report.findings if finding.test is not None]
    assert len(with_test) > 3
    for finding in with_test:
        if finding.test in tests:
            assert tests[finding.test] == (finding.p_value, finding.p_adjusted), finding.code
        else:  # a metric of the suite that the table of group fairness does not list
            assert finding.code.startswith("fairness_suite."), finding.code


@pytest.mark.parametrize(("checks", "calls"), [("group_fairness", 1), ("representation", 1)])
def test_the_verdict_uses_what_the_checks_measured(checks: str, calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every rule of the policy together measures groups at most once, and not at all where the check did."""
    from isonomia.fairness.groups import measured_groups as measurements

    measured = []
    real = measurements.group_metrics

    def counted(*args: object, **options: object) -> object:
        measured.append(options["metrics"])
        return real(*args, **options)  # type: ignore[arg-type]

    policy = {
        "id": "two",
        "title": "Two rules",
        "rules": [
            {"name": "a", "metric": "selection_rate", "measure": "ratio", "at_least": 0.8},
            {"name": "b", "metric": "selection_rate", "measure": "difference", "at_most": 0.1, "against": "reference"},
        ],
    }
    before = iso.audit(data("sex", "b"), checks="representation", policy=policy, n_boot=50)
    monkeypatch.setattr(measurements, "group_metrics", counted)
    report = iso.audit(data("sex", "b"), checks=checks, policy=policy, n_boot=50)
    assert len(measured) == calls
    assert report.verdict == before.verdict
    assert report.verdict is not None
    assert report.verdict.outcome == "exceeds"
