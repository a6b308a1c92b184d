"""One function decides a verdict; Python, command line and web only show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime

from isonomia.audit.check_criteria import check_criterion, figure_criteria, findings_criterion
from isonomia.audit.metric_criteria import metric_criteria
from isonomia.audit.policy_texts import basis_of, policy_text, standing_of
from isonomia.audit.verdict_sentences import verdict_sentence
from isonomia.languages import Message, Words
from isonomia.policies import BaseRule, CheckRule, FigureRule, FindingsRule, Policy, Rule
from isonomia.report import Criterion, Section, Verdict, VerdictOutcome
from isonomia.subject import Subject


def judge(policy: Policy, subject: Subject, sections: Sequence[Section] = (), *, on: date | None = None) -> Verdict:
    """Every rule of a policy applied to the subject, and what follows from them together.

    *Exceeds* needs an interval beyond the limit that holds for all pairs of groups, attributes and rules of the policy
    together: on fair data some limit is exceeded in at most (1 - level) of the cases. *Meets* needs every comparison to
    be shown to keep the limit (one-sided tests; all of them must reject, so none needs a correction) and nobody left
    out. Everything else is *not enough evidence*. A documentation profile has no limits: it *documents* the figures it
    asks for, or is *incomplete*.

    Parameters
    ----------
    policy, subject
    sections
        The checks of the audit, for rules about them.
    on
        The day of the audit, today by default: outside the policy's dates the verdict says so.
    """
    criteria = tuple(_spoken(criterion, subject.words) for criterion in _criteria(policy, subject, sections))
    outcome = worst([criterion.outcome for criterion in criteria])
    return Verdict(
        outcome,
        policy.id,
        policy_text(policy.title),
        policy.source,
        criteria,
        verdict_sentence(outcome, criteria),
        about=policy_text(policy.about) if policy.about else None,
        basis=basis_of(policy),
        notes=standing_of(policy, on or datetime.now(UTC).date()),
    )


def recount(verdict: Verdict, policy: Policy, sections: Sequence[Section]) -> Verdict:
    """The verdict with rules about findings decided on these sections.

    How severe a finding is follows from the verdict on the figures, so findings are counted after they were graded.
    """
    counted = {rule.id: findings_criterion(rule, sections) for rule in policy.rules if isinstance(rule, FindingsRule)}
    if not counted:
        return verdict
    criteria = tuple(counted.get(criterion.rule, criterion) for criterion in verdict.criteria)
    outcome = worst([criterion.outcome for criterion in criteria])
    return replace(verdict, outcome=outcome, criteria=criteria, reason=verdict_sentence(outcome, criteria))


def _spoken(criterion: Criterion, words: Words) -> Criterion:
    """The criterion in the words of the file."""
    sentence, reason = criterion.sentence, criterion.reason
    return replace(
        criterion,
        sentence=None if sentence is None else words.spoken(sentence),
        reason=words.spoken(reason) if isinstance(reason, Message) else reason,
    )


def _criteria(policy: Policy, subject: Subject, sections: Sequence[Section]) -> tuple[Criterion, ...]:
    """The criteria in the order of the rules; intervals of all limits hold together."""
    metrics = [rule for rule in policy.rules if isinstance(rule, Rule)]
    others = sum(isinstance(rule, CheckRule) for rule in policy.rules)
    found = metric_criteria(metrics, policy, subject, besides=others)
    picked = max(sum(map(len, found.values())) + others, 1)

    def of(rule: BaseRule) -> Sequence[Criterion]:
        if isinstance(rule, CheckRule):
            return [check_criterion(rule, sections, subject.settings.level, picked)]
        if isinstance(rule, FindingsRule):
            return [findings_criterion(rule, sections)]
        if isinstance(rule, FigureRule):
            return figure_criteria(rule, sections, policy.min_per_group)
        return found[rule.id]

    return tuple(criterion for rule in policy.rules for criterion in of(rule))


#: The worst first; the first that occurs is that of all together.
_WORST_FIRST: tuple[VerdictOutcome, ...] = ("exceeds", "not_enough_evidence", "incomplete", "meets", "documents")


def worst(outcomes: Sequence[VerdictOutcome]) -> VerdictOutcome:
    """The outcome that summarises several.

    >>> worst(["meets", "not_enough_evidence"])
    'not_enough_evidence'
    """
    return next((kind for kind in _WORST_FIRST if kind in outcomes), "not_applicable")
