"""JUnit XML: one case a criterion and a check, well-formed whatever the data say."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import isonomia as iso
from isonomia.cli.output.junit import to_junit
from isonomia.evidence import Estimate, Finding, Result
from isonomia.languages import msg
from isonomia.policies import load_policy
from isonomia.report import Criterion, Document, Section, SectionOutcome, Verdict, VerdictOutcome


def section(code: str, outcome: SectionOutcome, said: str = "too few rows") -> Section:
    finding = Finding("gap", "critical", msg("{who} are selected less", who=said), {"sex": said}, 10, Estimate(0.1))
    result = Result(code, msg("Check"), findings=(finding,)) if outcome == "issue" else None
    return Section(code, msg("Check"), msg("Why"), outcome, result, said, 0.25)


def verdict(*outcomes: VerdictOutcome, said: str = "women") -> Verdict:
    criteria = tuple(
        Criterion(
            "selection rate ratio",
            outcome,
            Estimate(0.7, 0.6, 0.8),
            0.8,
            "at_least",
            who={"sex": said},
            rule="ratio",
            by=("sex",),
            sentence=msg("{who} have 0.70; the limit is 0.80", who=said),
        )
        for outcome in outcomes
    )
    return Verdict("exceeds", "eeoc", "Four-fifths rule", criteria=criteria)


def cases(document: Document, **options: Any) -> dict[str, list[str]]:
    """What became of each case, by the kind of case."""
    root = ET.fromstring(to_junit(document, **options).encode())
    found: dict[str, list[str]] = {}
    for case in root.iter("testcase"):
        found.setdefault(str(case.get("classname")), []).append(
            ",".join(child.tag for child in case if child.tag != "system-out")
        )
    return found


ALL: tuple[SectionOutcome, ...] = ("issue", "passed", "not_applicable", "skipped", "failed")


def test_findings_fail_only_where_they_are_asked_to() -> None:
    """What fails in the file is what ends the command with 1."""
    document = Document("Audit", {}, tuple(section(f"c{i}", outcome) for i, outcome in enumerate(ALL)))
    assert cases(document) == {"isonomia.check": ["", "", "skipped", "skipped", "error"]}
    assert cases(document, fail_on="critical") == {"isonomia.check": ["failure", "", "skipped", "skipped", "error"]}


@pytest.mark.parametrize(("when", "tag"), [("unsure", "error"), ("exceeds", "failure"), ("meets", "")])
def test_not_enough_evidence_is_what_the_policy_makes_of_it(when: str, tag: str) -> None:
    document = Document(
        "Audit",
        {},
        (section("c", "issue"),),
        verdict=verdict("meets", "exceeds", "not_enough_evidence", "not_applicable"),
    )
    policy = load_policy("eeoc").model_copy(update={"when_unsure": when})
    assert cases(document, policy=policy) == {
        "isonomia.policy.eeoc": ["", "failure", tag, "error"],
        "isonomia.check": [""],
    }
    root = ET.fromstring(to_junit(document, policy=policy).encode())
    shown = root.find(".//testcase[@name='c']/system-out")
    assert shown is not None
    assert "selected less" in str(shown.text)
    failure = root.find(".//failure")
    assert failure is not None
    assert failure.get("type") == "exceeds"
    third = root.findall(".//testcase")[2]
    texts = [child.get("message") or str(child.text) for child in third]
    assert texts == ["women have 0.70; the limit is 0.80"], "never silent"


def test_names_are_stable_over_runs_with_different_worst_groups() -> None:
    """The history of a test in continuous integration must not break when another group is worst off."""

    def names(worst: str) -> list[str]:
        selected = {"a": 500, "b": 500, "c": 500} | {worst: 200}
        rows = [(group, int(row < hits)) for group, hits in selected.items() for row in range(1000)]
        data = iso.Dataset(pd.DataFrame(rows, columns=["race", "p"]), prediction="p", protected=["race"])
        report = iso.audit(data, policy="eeoc", checks="representation")
        assert report.verdict is not None
        assert report.verdict.criteria[0].who == {"race": worst}
        root = ET.fromstring(to_junit(report.document).encode())
        failure = root.find(".//failure")
        assert failure is not None
        said = str(failure.get("message"))
        assert said.startswith(f"Of people with race {worst}, 20% are selected; of people with race ")
        assert ", 50%: a ratio of 0.40." in said
        return [f"{case.get('classname')}.{case.get('name')}" for case in root.iter("testcase")]

    assert names("a") == names("b")
    assert "isonomia.policy.eeoc.selection-rate-ratio[race]" in names("a")


@given(st.text())
def test_no_text_breaks_the_file(text: str) -> None:
    document = Document(text, {}, (section("c", "issue", text or "x"),), verdict=verdict("exceeds", said=text))
    assert ET.fromstring(to_junit(document).encode("utf-8")).tag == "testsuites"


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "a\x00b\x1b[31m", "\"&'", "\ud800"])
def test_hostile_names_are_escaped(text: str) -> None:
    document = Document("Audit", {}, (section("c", "issue", text),))
    written = to_junit(document)
    assert "<script" not in written
    ET.fromstring(written.encode("utf-8"))


def test_a_portuguese_file_is_portuguese() -> None:
    frame = {"sexo": ["f", "m"] * 500, "p": [0, 1] * 450 + [1, 0] * 50}
    report = iso.audit(frame, prediction="p", protected=["sexo"], policy="us-lending", checks="group_fairness")
    text = to_junit(report.document, "pt-BR")
    assert "não é um limite da 12 CFR 1002.6(a)" in text
    assert "crítico: " in text
    assert "critical: " not in text
