"""Remedies that were tried: findings whose remedy is a fix state what that fix did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from isonomia.evidence import FIXES, Finding, Result
from isonomia.mitigation import Mitigated
from isonomia.report import Section


def with_tried(sections: Sequence[Section]) -> list[Section]:
    """The sections; each finding whose remedy has a fix among those tried says what it did."""
    found = next((section.result for section in sections if isinstance(section.result, Mitigated)), None)
    if found is None:
        return list(sections)
    return [section if section.result is None else _section(section, section.result, found) for section in sections]


def _section(section: Section, result: Result, fixes: Mitigated) -> Section:
    findings = tuple(_linked(finding, fixes) for finding in result.findings)
    return replace(section, result=replace(result, findings=findings))


def _linked(finding: Finding, fixes: Mitigated) -> Finding:
    if finding.remedy is None or finding.remedy not in FIXES:
        return finding
    metric = finding.code.partition(".")[2].partition("[")[0]
    about = (*finding.who, *finding.columns)
    return replace(finding, tried=fixes.effect(FIXES[finding.remedy], metric=metric, by=about))
