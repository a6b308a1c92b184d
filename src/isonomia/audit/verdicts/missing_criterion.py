"""A criterion that has no figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isonomia.audit.verdicts.policy_texts import policy_text
from isonomia.audit.verdicts.verdict_sentences import without_figure
from isonomia.evidence import Estimate
from isonomia.languages import Message
from isonomia.policies import BaseRule, FindingsRule, LimitRule, Rule
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
) -> Criterion:
    """The criterion of a rule whose figure is missing, and why."""
    name = policy_text(rule.name)
    facts: dict[str, Any] = {}
    if isinstance(rule, LimitRule):
        facts = {"limit": rule.limit, "side": rule.side}
    elif isinstance(rule, FindingsRule):
        facts = {"limit": rule.at_most}
    if isinstance(rule, Rule):
        facts |= {"metric": rule.metric, "measure": rule.measure}
    return Criterion(
        name,
        outcome,
        Estimate.missing(reason, n=n),
        who=who or {},
        reference=reference or {},
        citation=rule.citation,
        reason=reason,
        rule=rule.id,
        by=by,
        sentence=without_figure(name, outcome, reason, by),
        **facts,
    )
