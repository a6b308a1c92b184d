"""Where the recorded outcomes may be what is biased, that is said before the error rates that take them as true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from isonomia.audit.grading import SAME_FACT
from isonomia.evidence import LABELS, SEVERITIES, TIERS, Finding
from isonomia.metrics import METRICS
from isonomia.report import Section


def with_labels_first(sections: Sequence[Section]) -> list[Section]:
    """The sections; a finding about the labels of a group is as severe as what is said of its error rates, and leads.

    Only where both stand: labels that differ between similar people, and an error rate that differs between the same
    groups, neither of them by chance.
    """
    errors = [one for section in sections for one in section.findings if _of_errors(one)]
    return [section if section.result is None else _section(section, errors) for section in sections]


def _section(section: Section, errors: Sequence[Finding]) -> Section:
    if section.result is None or section.code != "label_bias":
        return section
    found = tuple(_raised(one, errors) for one in section.result.findings)
    return replace(section, result=replace(section.result, findings=found))


def _raised(finding: Finding, errors: Sequence[Finding]) -> Finding:
    same = [one for one in errors if finding.who in (one.who, one.reference)]
    if not same or finding.severity == "notice":
        return finding
    severity = min((one.severity for one in (finding, *same)), key=SEVERITIES.index)
    tier = min((one.tier for one in (finding, *same)), key=TIERS.index)
    return replace(finding, severity=severity, tier=tier, topic=LABELS)


def _of_errors(finding: Finding) -> bool:
    """Whether it compares how often decisions about two groups are right, by the outcomes on record."""
    metric = SAME_FACT.get(finding.metric, finding.metric)
    if finding.severity == "notice" or not finding.reference or metric not in METRICS:
        return False
    return METRICS[metric].needs_labels and METRICS[metric].id != "base_rate"
