"""A criterion that has no figure."""

from __future__ import annotations

from collections.abc import Mapping

from isonomia.audit.verdicts.verdict_sentences import without_figure
from isonomia.evidence import Estimate
from isonomia.languages import Message
from isonomia.policies import BaseRule, FigureRule, FindingsRule, LimitRule, Rule, policy_text
from isonomia.report import Criterion, VerdictOutcome


def missing_criterion(
    rule: BaseRule,
    outcome: VerdictOutcome,
    reason: Message | str,
    *,
    n: int = 0,
    by: tuple[str, ...] = (),
    who: Mapping[str, str] | None = None,
    reference: Mapping[str, str] | None = None,
    examined: bool = True,
) -> Criterion:
    """The criterion of a rule whose figure is missing, and why; not `examined` where there was nothing to look at."""
    name = policy_text(rule.name)
    limit = rule.limit if isinstance(rule, LimitRule) else rule.at_most if isinstance(rule, FindingsRule) else None
    return Criterion(
        name,
        outcome,
        Estimate.missing(reason, n=n),
        limit,
        rule.side if isinstance(rule, LimitRule) else "at_most",
        who=who or {},
        reference=reference or {},
        citation=rule.citation,
        reason=reason,
        rule=rule.id,
        by=by,
        sentence=without_figure(name, outcome, reason, by),
        metric=rule.metric if isinstance(rule, Rule) else "",
        measure=rule.measure if isinstance(rule, Rule) else "",
        examined=examined,
    )


def undecided(rule: BaseRule, reason: Message) -> Criterion:
    """The criterion of a rule that could not be decided since something went wrong: never one that is met."""
    outcome: VerdictOutcome = "incomplete" if isinstance(rule, FigureRule) else "not_enough_evidence"
    return missing_criterion(rule, outcome, reason, examined=False)
