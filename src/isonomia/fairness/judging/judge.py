"""The rules of a policy about metrics, decided: what the ends of the intervals show, and nothing that they do not.

Everything that speaks of *meets* and *exceeds* asks here: an audit, a fix that is judged by a policy, a stored run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from isonomia.errors import FAULTS, NotApplicable, SpecError
from isonomia.fairness.judging.evidence import Evidence, compared_evidence, overall_evidence
from isonomia.fairness.judging.limits import Outcome
from isonomia.fairness.judging.questions import GroupQuestion, group_questions
from isonomia.fairness.judging.reasons import (
    absent_reason,
    by_tests,
    joined,
    no_ratio,
    set_aside,
    style_of,
    too_few,
    unproved,
    unsure,
)
from isonomia.languages import Message
from isonomia.metrics import METRICS
from isonomia.policies import CheckRule, Policy, Rule, absent_attributes
from isonomia.subject import Subject

#: What a rule asks: groups compared in one way, all rows (None), why it does not apply, or what went wrong.
Question = GroupQuestion | BaseException | None


@dataclass(frozen=True, eq=False, kw_only=True)
class Judgement:
    """What was found about a rule, for one way of grouping.

    Attributes
    ----------
    rule : Rule
        With its limit in the unit of the metric.
    outcome : "meets", "exceeds", "not_enough_evidence" or "not_applicable"
    by : tuple of str
        The attributes of the groups; empty for a figure over everyone.
    evidence : Evidence or None
        The worst comparison and its ends; None where there is no figure.
    question : GroupQuestion or None
        Who was compared.
    reason : Message or None
        Why it is not settled, does not apply or was decided by tests; and of whom nothing is shown.
    set_aside : Message or None
        Whom the rule need not prove anything of: groups below its share, few people without a value.
    n : int
        The people behind the figure.
    examined : bool
        Whether there was anything to look at.
    fault : BaseException or None
        What went wrong; the outcome is then "not_enough_evidence".
    """

    rule: Rule
    outcome: Outcome | Literal["not_applicable"]
    by: tuple[str, ...] = ()
    evidence: Evidence | None = None
    question: GroupQuestion | None = None
    reason: Message | None = None
    set_aside: Message | None = None
    n: int = 0
    examined: bool = True
    fault: BaseException | None = None


def judge_metrics(policy: Policy, subject: Subject) -> dict[str, list[Judgement]]:
    """What was found about every rule on metrics, by its id: one judgement for each way of grouping.

    *Exceeds* needs an interval beyond the limit that holds for all pairs of groups, attributes, classes and limits of
    the policy together. *Meets* needs every comparison to be shown to keep the limit by a one-sided test, and figures
    of all groups but those that the rule sets aside: below its share of the people (`min_share`), and people without
    a value of the attribute where these are few (below that share, or 2%).

    Raises
    ------
    SpecError
        Where a rule asks for what the data cannot have.

    Examples
    --------
    >>> from isonomia.policies import load_policy
    >>> granted, group = [1, 0] * 500 + [1, 1, 0, 1] * 250, ["a"] * 1000 + ["b"] * 1000
    >>> people = Subject.of_predictions(granted, sensitive_features={"group": group})
    >>> found = judge_metrics(load_policy("eeoc"), people)["selection-rate-ratio"]
    >>> [(one.outcome, one.by, round(one.evidence.value, 2)) for one in found]
    [('exceeds', ('group',), 0.67)]
    """
    rules = [rule for rule in policy.rules if isinstance(rule, Rule)]
    besides = sum(isinstance(rule, CheckRule) for rule in policy.rules)
    scaled = [_in_own_unit(rule, subject) for rule in rules]
    questions = [(rule, question) for rule in scaled for question in _questions(rule, policy, subject)]
    n_picks = sum(question.rows if isinstance(question, GroupQuestion) else 1 for _, question in questions) + besides
    found: dict[str, list[Judgement]] = {rule.id: [] for rule in rules}
    for rule, question in questions:
        try:
            found[rule.id].append(_judgement(rule, question, subject, max(n_picks, 1)))
        except SpecError:
            raise
        except FAULTS as error:
            found[rule.id].append(Judgement(rule=rule, outcome="not_enough_evidence", examined=False, fault=error))
    for rule in rules:
        found[rule.id] += _absent(rule, subject)
    return found


def _absent(rule: Rule, subject: Subject) -> list[Judgement]:
    """One for each attribute that the rule names and that is not protected: nobody compared its groups."""
    known = [column.name for column in subject.attributes]
    return [
        Judgement(
            rule=rule,
            outcome="not_enough_evidence",
            by=(name,),
            reason=absent_reason(name, known),
            n=len(subject),
            examined=False,
        )
        for name in absent_attributes(rule, known)
    ]


def _in_own_unit(rule: Rule, subject: Subject) -> Rule:
    """The rule with its limit in the unit of the metric: standard deviations of the true outcomes become numbers."""
    if rule.unit == "own" or subject.task != "regression":
        return rule
    truth = subject.outcome.truth
    spread = float(np.std(truth if truth is not None else np.asarray(subject.surface.continuous)))
    return rule.model_copy(update={rule.side: rule.limit * spread})


def _questions(rule: Rule, policy: Policy, subject: Subject) -> Sequence[Question]:
    if rule.measure == "value":
        return [None]
    try:
        return group_questions(rule, policy, subject)
    except SpecError:
        raise
    except FAULTS as reason:  # that it does not apply, or what went wrong
        return [reason]


def _judgement(rule: Rule, question: Question, subject: Subject, n_picks: int) -> Judgement:
    level = subject.settings.level
    try:
        if isinstance(question, BaseException):
            raise question
        if question is None:
            evidence = overall_evidence(rule, subject, level, n_picks)
            return _decided(rule, evidence, level, n=len(subject))
        if question.pairs:
            return _of_groups(question, compared_evidence(question, level, n_picks), level)
    except NotApplicable as reason:
        return Judgement(rule=rule, outcome="not_applicable", reason=reason.message, n=len(subject), examined=False)
    return Judgement(
        rule=rule,
        outcome="not_enough_evidence",
        by=question.by,
        question=question,
        reason=joined(too_few(question), unproved(question)),
        set_aside=set_aside(question),
        n=len(subject),
    )


def _of_groups(question: GroupQuestion, evidence: Evidence, level: float) -> Judgement:
    """What was found for one way of grouping, from its worst comparison."""
    if np.isnan(evidence.value):
        return Judgement(
            rule=question.rule,
            outcome="not_enough_evidence",
            by=question.by,
            evidence=evidence,
            question=question,
            reason=joined(no_ratio(), unproved(question)),
            set_aside=set_aside(question),
            n=int(question.measured.sizes.sum()),
        )
    return _decided(question.rule, evidence, level, n=int(question.measured.sizes[evidence.who]), question=question)


def _decided(
    rule: Rule, evidence: Evidence, level: float, *, n: int, question: GroupQuestion | None = None
) -> Judgement:
    outcome, reason = evidence.outcome(rule), None
    lacking = None if question is None else unproved(question)
    if outcome == "meets" and lacking is not None:
        outcome = "not_enough_evidence"
    elif outcome == "meets":
        reason = by_tests(rule, evidence, level)
    elif outcome == "not_enough_evidence":
        reason = unsure(rule, evidence, style_of(rule, METRICS[rule.metric]))
    return Judgement(
        rule=rule,
        outcome=outcome,
        by=() if question is None else question.by,
        evidence=evidence,
        question=question,
        reason=joined(reason, lacking),
        set_aside=None if question is None else set_aside(question),
        n=n,
    )
