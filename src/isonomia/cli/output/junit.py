"""A report as JUnit XML, which continuous integration shows: a test case for every criterion and every check.

Names are stable over runs: a criterion is called after its rule and attributes, a check after its code. What fails is
what ends the command with 1: a criterion that is exceeded, and checks with findings of the severity that `fail_on`
names. "Not enough evidence" is an error, a failure or a pass, as the policy's `when_unsure` says, and always visible;
what could not be examined never passes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from isonomia.languages import Message, msg, translate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isonomia.audit import Comparison, FailOn
    from isonomia.evidence import Table
    from isonomia.policies import Policy
    from isonomia.report import Criterion, Document, Section, Verdict

#: What XML 1.0 cannot hold, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: How a criterion without enough evidence stands, by the policy's `when_unsure`; None passes.
_UNSURE = {"unsure": "error", "exceeds": "failure", "meets": None}


def to_junit(
    document: Document, language: str = "en", *, policy: Policy | None = None, fail_on: FailOn = "verdict"
) -> str:
    """The XML text.

    Examples
    --------
    >>> from isonomia.report import Document, Section
    >>> from isonomia.languages import msg
    >>> section = Section("calibration", msg("Calibration"), msg("purpose"), "skipped", reason="no scores")
    >>> print(to_junit(Document("Audit", {}, (section,))).splitlines()[3].strip())
    <testcase classname="isonomia.check" name="calibration" time="0.000">
    """
    from isonomia.audit.exit_codes import failing

    suites: list[ET.Element] = []
    if document.verdict is not None:
        when = "unsure" if policy is None else policy.when_unsure
        cases = [_criterion(document.verdict, one, language, _UNSURE[when]) for one in document.verdict.criteria]
        suites.append(_suite(f"policy {document.verdict.policy}", cases))
    severe = failing(fail_on)
    suites.append(_suite("checks", [_check(section, language, severe) for section in document.sections]))
    return _whole(suites, _text(document.title, language))


def comparison_junit(comparison: Comparison, language: str = "en") -> str:
    """A comparison as test cases: every criterion and every gap, failed where it got worse and that counts."""
    suites = []
    for name, key, change in (("criteria", "criterion", "step"), ("gaps", "code", "trend")):
        table = comparison.tables[name]
        counts = name == "criteria" or comparison.fail_on != "criteria"
        cases = [
            _compared(f"isonomia.compare.{name}", table, row, (key, change), language, counts=counts)
            for row in range(len(table))
        ]
        suites.append(_suite(name, cases))
    return _whole(suites, _text(comparison.title, language))


def _compared(
    classname: str, table: Table, row: int, columns: tuple[str, str], language: str, *, counts: bool
) -> ET.Element:
    """A figure before and after; failed where it got worse and that counts, an error where it was not examined."""
    from isonomia.report.texts import figure

    name, change = (str(table[column].values[row]) for column in columns)
    case = _case(classname, name)
    before, after = (figure(table[side].estimate(row), language) for side in ("before", "after"))
    text = msg("{name}: {before} before, {after} now.", name=name, before=before, after=after).text(language)
    if change == "worse" and counts:
        _child(case, "failure", text, kind="worse")
    elif change == "unexamined":
        _child(case, "error", text, kind="unexamined")
    else:
        ET.SubElement(case, "system-out").text = _xml(text)
    return case


def _whole(suites: Sequence[ET.Element], title: str) -> str:
    """Suites of test cases as a whole file."""
    root = ET.Element("testsuites", name=_xml(title))
    root.extend(suites)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(name: str, cases: list[ET.Element]) -> ET.Element:
    counts = {
        kind: str(sum(case.find(tag) is not None for case in cases))
        for kind, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
    }
    suite = ET.Element("testsuite", {"name": _xml(name), "tests": str(len(cases)), **counts})
    suite.extend(cases)
    return suite


def _criterion(verdict: Verdict, criterion: Criterion, language: str, unsure: str | None) -> ET.Element:
    name = criterion.key or _text(criterion.name, language)
    case = _case(f"isonomia.policy.{verdict.policy}", name)
    text = _text(criterion.sentence or criterion.reason, language) or f"{criterion.estimate}"
    unsure = unsure if criterion.examined else unsure or "error"
    tags = {"exceeds": "failure", "not_enough_evidence": unsure, "incomplete": unsure, "not_applicable": "error"}
    tag = tags.get(criterion.outcome)
    if tag is None:
        ET.SubElement(case, "system-out").text = _xml(text)
    else:
        _child(
            case,
            tag,
            text,
            kind=criterion.outcome,
            body="\n".join(filter(None, (text, translate(criterion.citation, language)))),
        )
    return case


def _check(section: Section, language: str, failing: Sequence[str]) -> ET.Element:
    from isonomia.report.words import SEVERITY

    case = _case("isonomia.check", section.code, section.seconds)
    reason = _text(section.reason, language)
    findings = section.findings
    summary = "\n".join(f"{SEVERITY[one.severity].text(language)}: {one.message.text(language)}" for one in findings)
    severe = [finding for finding in findings if finding.severity in failing]
    if section.outcome == "failed":
        _child(case, "error", reason, kind="failed")
    elif section.outcome in ("not_applicable", "skipped"):
        _child(case, "skipped", reason, kind=section.outcome)
    elif severe:
        more = msg("{first} {n:One more finding|# more findings}.", first=severe[0].message, n=len(severe) - 1)
        first = severe[0].message if len(severe) == 1 else more
        _child(case, "failure", _text(first, language), kind=severe[0].severity, body=summary)
    elif summary:
        ET.SubElement(case, "system-out").text = _xml(summary)
    return case


def _case(classname: str, name: str, seconds: float = 0.0) -> ET.Element:
    return ET.Element("testcase", classname=_xml(classname), name=_xml(name), time=f"{seconds:.3f}")


def _child(case: ET.Element, tag: str, message: str, *, kind: str, body: str = "") -> None:
    """What became of a case; `skipped` has a message and no type."""
    typed = {} if tag == "skipped" else {"type": kind}
    child = ET.SubElement(case, tag, {"message": _xml(message), **typed})
    child.text = _xml(body) or None


def _text(message: Message | str | None, language: str) -> str:
    return message.text(language) if isinstance(message, Message) else message or ""


def _xml(text: str) -> str:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
