"""How findings stand beside each other: what each concerns, how severe it is, and in which words it is written.

A check says what it found. What that means is decided here, once for all checks: by the policy where one of its rules
judges the figure, else by the thresholds that the check declares and by the corrected test.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from isonomia.audit.check_registry import CHECKS
from isonomia.audit.multiplicity import ALPHA
from isonomia.evidence import SEVERITIES, Estimate, Finding, Severity, Tier
from isonomia.languages import Message, msg
from isonomia.metrics import METRICS
from isonomia.report import Criterion, Section
from isonomia.subject import Subject

#: Findings that follow from a figure of another name: a rule about selection rates judges them too.
SAME_FACT = {
    "disparate_impact": "selection_rate",
    "statistical_parity": "selection_rate",
    "equal_opportunity": "tpr",
    "equalized_odds": "tpr",
}


def grade(sections: Sequence[Section], subject: Subject, criteria: Sequence[Criterion]) -> list[Section]:
    """The sections with findings that say what they concern, as severe as they may be, in the words of the file."""
    attributes = frozenset(column.name for column in subject.attributes)

    def final(finding: Finding, check: str) -> Finding:
        people = finding.people or Estimate.missing(_uncounted(finding, check, subject), n=finding.n)
        spoken = replace(finding, people=people, message=subject.words.spoken(finding.message))
        return as_judged(grade_finding(spoken, check, attributes, criteria), criteria)

    out = []
    for section in sections:
        if section.result is not None:
            found = tuple(final(finding, section.code) for finding in section.result.findings)
            section = replace(section, result=replace(section.result, findings=found))
        out.append(section)
    return out


def grade_finding(
    finding: Finding, check: str, attributes: Collection[str], criteria: Sequence[Criterion] = ()
) -> Finding:
    """The finding with its tier and severity.

    A rule that judges the same figure of the same groups decides: critical where these people break it, a notice where
    it is met, at most a warning where the data do not settle it. Else the check's own severity stands, up to a ceiling:
    critical is for people; what may be chance after correction, and what would happen to altered rows, is a notice.
    """
    judged = [criterion for criterion in criteria if _judges(criterion, finding)]
    broken = any(criterion.outcome == "exceeds" and _breaks(criterion, finding) for criterion in judged)
    about = bool(set(attributes) & {*finding.who, *finding.columns})
    tier: Tier = "policy" if broken else "people" if about else "slices" if finding.who else "model"
    ceiling = _ceiling(finding, check, about)
    if judged and all(criterion.outcome == "meets" for criterion in judged):
        ceiling = "notice"
    elif judged and not any(criterion.outcome == "exceeds" for criterion in judged):
        ceiling = max(ceiling, "warning", key=SEVERITIES.index)
    severity: Severity = "critical" if broken else max(finding.severity, ceiling, key=SEVERITIES.index)
    return replace(finding, tier=tier, severity=severity)


#: Findings about a measure of the fairness suite, and how a rule says the same measure.
_SAME_MEASURE = {"disparate_impact": "ratio", "statistical_parity": "difference"}


def as_judged(finding: Finding, criteria: Sequence[Criterion]) -> Finding:
    """The finding with the figure, interval and sentence of the rule that judges the very same measure, if one does."""
    for criterion in criteria:
        same = _judges(criterion, finding) and criterion.measure == _SAME_MEASURE.get(finding.metric)
        if same and same_people(criterion, finding) and criterion.sentence is not None:
            return replace(
                finding, message=criterion.sentence, estimate=criterion.estimate, threshold=criterion.threshold
            )
    return finding


def covers(finding: Finding, criterion: Criterion) -> bool:
    """Whether a finding is about the figure and the people of a rule."""
    return _judges(criterion, finding) and same_people(criterion, finding)


def _judges(criterion: Criterion, finding: Finding) -> bool:
    """Whether a rule compares the same figure of the same groups; of several classes rules judge favourable ones."""
    if finding.favourable is False:
        return False
    metric = SAME_FACT.get(finding.metric, finding.metric)
    if not criterion.metric or metric not in METRICS or set(criterion.by) != set(finding.who):
        return False
    return metric in (criterion.metric, *METRICS[criterion.metric].aliases)


def same_people(criterion: Criterion, finding: Finding) -> bool:
    """Whether it is about the group that the rule names, or about the other one compared with it."""
    who, reference = _texts(finding.who), _texts(finding.reference)
    named, other = _texts(criterion.who), _texts(criterion.reference)
    return who == named or (who == other and reference == named)


def _breaks(criterion: Criterion, finding: Finding) -> bool:
    """Whether the people of the finding are among those who are shown to break the rule."""
    return same_people(criterion, finding) or _texts(finding.who) in map(_texts, criterion.also)


def _texts(people: object) -> dict[str, str]:
    return {str(column): str(value) for column, value in dict(people).items()}  # type: ignore[call-overload]


def _ceiling(finding: Finding, check: str, about_people: bool) -> Severity:
    """How severe a finding may be: critical is for people; what may be chance, and what if, is a notice."""
    if finding.p_adjusted is not None and finding.p_adjusted >= ALPHA:
        return "notice"
    if check not in CHECKS or CHECKS[check].family == "people" or about_people:
        return "critical"
    return "notice" if CHECKS[check].what_if else "warning"


_OF_CHANCES = msg("it is about how sure the model is; nobody's decision changes by it")
_OF_DATA = msg("it is about the data, not about decisions on people")
#: Checks that are about something other than decisions on people, and what.
_NOBODY = {
    "calibration": _OF_CHANCES,
    "group_calibration": _OF_CHANCES,
    "conformal": _OF_CHANCES,
    "representation": _OF_DATA,
    "missingness": _OF_DATA,
    "duplicates": _OF_DATA,
    "mitigation": msg("it is about what fixes would do, not about people as they are treated now"),
    "metric_disagreement": msg("it compares what metrics say, not how people are treated"),
}


def _uncounted(finding: Finding, check: str, subject: Subject) -> Message:
    """Why a finding counts no people."""
    if check in _NOBODY:
        return _NOBODY[check]
    if check in CHECKS and CHECKS[check].what_if:
        return msg("it is about altered rows, not about people as they are")
    if subject.task == "regression" and finding.who:
        return msg("a difference of numbers does not count people")
    return msg("it is about the model or its data as a whole, not about a number of people")
