"""Broken rules that no check has a finding about: a policy may compare other groups than the checks do."""

from __future__ import annotations

from collections.abc import Sequence

from isonomia.audit.grading import covers
from isonomia.evidence import Estimate, Finding, Result
from isonomia.evidence.column import Format
from isonomia.languages import msg
from isonomia.metrics import METRICS
from isonomia.report import Criterion, Section

CODE = "policy"
_UNCOUNTED = msg("the rule compares figures; it does not count people")


def with_broken_rules(sections: Sequence[Section], criteria: Sequence[Criterion]) -> list[Section]:
    """The sections, and one more with a finding for each broken rule about groups that no finding covers."""
    found = [finding for section in sections for finding in section.findings]
    lacking = [
        criterion
        for criterion in criteria
        if criterion.outcome == "exceeds"
        and criterion.metric
        and criterion.who
        and not any(covers(finding, criterion) for finding in found)
    ]
    if not lacking:
        return list(sections)
    result = Result(CODE, msg("Rules of the policy"), findings=tuple(_finding(criterion) for criterion in lacking))
    question = msg("Which groups break a rule of the policy, beside those that the checks compare?")
    return [*sections, Section(CODE, result.title, question, "issue", result)]


def _finding(criterion: Criterion) -> Finding:
    metric = METRICS[criterion.metric]
    style: Format = "num"
    if metric.format == "pct" and criterion.measure != "ratio":
        style = "points" if criterion.measure == "difference" else "pct"
    assert criterion.sentence is not None
    return Finding(
        f"{CODE}.{metric.id}",
        "critical",
        criterion.sentence,
        criterion.estimate,
        who=criterion.who,
        reference=criterion.reference,
        n=criterion.estimate.n,
        magnitude=_times(criterion),
        threshold=criterion.threshold,
        remedy="check_base_rates" if metric.id == "selection_rate" else "check_representation",
        format=style,
        people=criterion.people or Estimate.missing(_UNCOUNTED, n=criterion.estimate.n),
        tier="policy",
    )


def _times(criterion: Criterion) -> float:
    """How far the figure lies beyond the limit: 1 at the limit, 2 at twice it (of a ratio, at half of it)."""
    value, limit = criterion.estimate.value, criterion.threshold
    if not value or not limit:
        return 1.0
    return limit / value if criterion.side == "at_least" else value / limit
