"""JUnit XML: one case a criterion and a check, well-formed whatever the data say."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isonomia.cli.junit import to_junit
from isonomia.evidence import Estimate, Finding, Result
from isonomia.languages import msg
from isonomia.report import Criterion, Document, Section, SectionOutcome, Verdict, VerdictOutcome


def section(code: str, outcome: SectionOutcome, said: str = "too few rows") -> Section:
    finding = Finding("gap", "critical", msg("{who} are selected less", who=said), {"sex": said}, 10, Estimate(0.1))
    result = Result(code, msg("Check"), findings=(finding,)) if outcome == "issue" else None
    return Section(code, msg("Check"), msg("Why"), outcome, result, said, 0.25)


def verdict(*outcomes: VerdictOutcome, said: str = "women") -> Verdict:
    criteria = tuple(
        Criterion("selection rate ratio", outcome, Estimate(0.7, 0.6, 0.8), 0.8, "at_least", who={"sex": said})
        for outcome in outcomes
    )
    return Verdict("exceeds", "eeoc", "Four-fifths rule", criteria=criteria)


def cases(document: Document) -> dict[str, list[str]]:
    """What became of each case, by the kind of case."""
    root = ET.fromstring(to_junit(document).encode())
    found: dict[str, list[str]] = {}
    for case in root.iter("testcase"):
        found.setdefault(str(case.get("classname")), []).append(
            ",".join(child.tag for child in case if child.tag != "system-out")
        )
    return found


ALL: tuple[SectionOutcome, ...] = ("issue", "passed", "not_applicable", "skipped", "failed")


def test_without_a_policy_checks_with_issues_fail() -> None:
    document = Document("Audit", {}, tuple(section(f"c{i}", outcome) for i, outcome in enumerate(ALL)))
    assert cases(document) == {"isonomia.check": ["failure", "", "skipped", "skipped", "error"]}


def test_with_a_policy_its_criteria_decide() -> None:
    document = Document(
        "Audit",
        {},
        (section("c", "issue"),),
        verdict=verdict("meets", "exceeds", "not_enough_evidence", "not_applicable"),
    )
    assert cases(document) == {
        "isonomia.policy.eeoc": ["", "failure", "skipped", "skipped"],
        "isonomia.check": [""],
    }
    root = ET.fromstring(to_junit(document).encode())
    suite = root.find("testsuite")
    assert suite is not None
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["4", "1", "0", "2"]
    told = root.find(".//testcase[@name='c']/system-out")
    assert told is not None
    assert "selected less" in str(told.text)
    failure = root.find(".//failure")
    assert failure is not None
    assert "at least 0.8" in str(failure.text)


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
