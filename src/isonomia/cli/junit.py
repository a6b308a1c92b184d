"""A report as JUnit XML, which continuous integration shows: a test case for every criterion and every check.

The policy decides where there is one: a check that found issues then reports them without failing. Without a policy a
check that found issues fails. What could not be judged is skipped, with its reason; what broke is an error.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from isonomia.languages import Message

if TYPE_CHECKING:
    from isonomia.report import Criterion, Document, Section, Verdict

#: What XML 1.0 cannot hold, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(document: Document, language: str = "en") -> str:
    """The XML text.

    Examples
    --------
    >>> from isonomia.report import Document, Section
    >>> from isonomia.languages import msg
    >>> section = Section("calibration", msg("Calibration"), msg("purpose"), "skipped", reason="no scores")
    >>> print(to_junit(Document("Audit", {}, (section,))).splitlines()[3].strip())
    <testcase classname="isonomia.check" name="calibration" time="0.000">
    """
    suites: list[ET.Element] = []
    if document.verdict is not None:
        cases = [_criterion(document.verdict, criterion, language) for criterion in document.verdict.criteria]
        suites.append(_suite(f"policy {document.verdict.policy}", cases))
    judged = document.verdict is not None
    suites.append(_suite("checks", [_check(section, language, judged=judged) for section in document.sections]))
    root = ET.Element("testsuites", name=_xml(_text(document.title, language)))
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


def _criterion(verdict: Verdict, criterion: Criterion, language: str) -> ET.Element:
    who = ", ".join(f"{name}={value}" for name, value in criterion.who.items())
    name = _text(criterion.name, language)
    case = _case(f"isonomia.policy.{verdict.policy}", f"{name} [{who}]" if who else name)
    text = _text(criterion.reason, language) or f"{criterion.estimate}"
    if criterion.point is not None and criterion.outcome == "not_enough_evidence":
        text = f"the figure itself {criterion.point} the limit; {text}"
    if criterion.outcome == "exceeds":
        _child(case, "failure", text, body=f"{_threshold(criterion)}\n{criterion.estimate}\n{criterion.citation}")
    elif criterion.outcome != "meets":
        _child(case, "skipped", f"{criterion.outcome.replace('_', ' ')}: {text}")
    return case


def _threshold(criterion: Criterion) -> str:
    if criterion.threshold is None:
        return ""
    if criterion.side == "between":
        return f"between {criterion.threshold:g} and {criterion.upper:g}"
    return f"{criterion.side.replace('_', ' ')} {criterion.threshold:g}"


def _check(section: Section, language: str, *, judged: bool) -> ET.Element:
    case = _case("isonomia.check", section.code, section.seconds)
    reason = _text(section.reason, language)
    findings = () if section.result is None else section.result.findings
    summary = "\n".join(f"{finding.severity}: {finding.message.text(language)}" for finding in findings)
    if section.outcome == "failed":
        _child(case, "error", reason)
    elif section.outcome in ("not_applicable", "skipped"):
        _child(case, "skipped", f"{section.outcome.replace('_', ' ')}: {reason}")
    elif section.outcome == "issue" and not judged:
        _child(case, "failure", f"{len(findings)} finding{'' if len(findings) == 1 else 's'}", body=summary)
    elif summary:
        ET.SubElement(case, "system-out").text = _xml(summary)
    return case


def _case(classname: str, name: str, seconds: float = 0.0) -> ET.Element:
    return ET.Element("testcase", classname=_xml(classname), name=_xml(name), time=f"{seconds:.3f}")


def _child(case: ET.Element, tag: str, message: str, *, body: str = "") -> None:
    child = ET.SubElement(case, tag, message=_xml(message))
    child.text = _xml(body) or None


def _text(message: Message | str | None, language: str) -> str:
    return message.text(language) if isinstance(message, Message) else message or ""


def _xml(text: str) -> str:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
