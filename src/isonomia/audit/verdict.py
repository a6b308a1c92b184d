"""One function decides a verdict; Python, command line and web only show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from isonomia.audit.rule_evidence import Evidence, GroupQuestion, group_questions, overall_evidence
from isonomia.errors import NotApplicable
from isonomia.evidence import Estimate
from isonomia.languages import Message, msg
from isonomia.policies import Policy, Rule
from isonomia.report import Criterion, Document, Point, Verdict, VerdictOutcome
from isonomia.subject import Subject

#: Groups that were left out are named up to this many.
NAMED = 6


def judge(policy: Policy, subject: Subject) -> Verdict:
    """Every rule of a policy applied to the subject, and what follows from them together.

    *Exceeds* needs an interval beyond the limit that holds for all pairs of groups, attributes and rules of the policy
    together: on fair data some limit is exceeded in at most (1 - level) of the cases. *Meets* needs every comparison to
    be shown to keep the limit (one-sided tests; all of them must reject, so none needs a correction) and nobody left
    out. Everything else is *not enough evidence*.
    """
    asked = [(rule, question) for rule in policy.rules for question in _questions(rule, policy, subject)]
    picked = sum(question.rows if isinstance(question, GroupQuestion) else 1 for _, question in asked)
    criteria = tuple(_criterion(rule, question, subject, max(picked, 1)) for rule, question in asked)
    outcome = worst([criterion.outcome for criterion in criteria])
    return Verdict(outcome, policy.id, _message(policy.title), policy.source, criteria, _SENTENCES[outcome])


_WORST_FIRST: tuple[VerdictOutcome, ...] = ("exceeds", "not_enough_evidence", "meets")
_SENTENCES: dict[VerdictOutcome, Message] = {
    "exceeds": msg("At least one criterion is exceeded."),
    "not_enough_evidence": msg("No criterion is shown to be exceeded, but not all are shown to be met."),
    "meets": msg("Every criterion that applies is met."),
    "not_applicable": msg("No criterion of the policy applies to this subject."),
}


def exit_code(document: Document, policy: Policy | None = None) -> int:
    """The exit code of every door: 0 meets, 1 exceeds, 3 not enough evidence, 4 nothing evaluated, 5 a check failed.

    Bad input (2) never gets this far: it raises.
    """
    counts = document.counts
    if counts["failed"]:
        return 5
    if not counts["issue"] and not counts["passed"]:
        return 4
    if document.verdict is None:
        return 0
    if document.verdict.outcome == "not_enough_evidence" and policy is not None:
        return {"unsure": 3, "meets": 0, "exceeds": 1}[policy.when_unsure]
    return {"meets": 0, "exceeds": 1, "not_enough_evidence": 3, "not_applicable": 4}[document.verdict.outcome]


def _questions(rule: Rule, policy: Policy, subject: Subject) -> Sequence[GroupQuestion | NotApplicable | None]:
    """What a rule asks: one question for each way of grouping, None for all rows, or why it does not apply."""
    if rule.measure == "value":
        return [None]
    try:
        return group_questions(rule, policy, subject)
    except NotApplicable as reason:
        return [reason]


def _criterion(rule: Rule, question: GroupQuestion | NotApplicable | None, subject: Subject, picked: int) -> Criterion:
    level = subject.settings.level
    try:
        if isinstance(question, NotApplicable):
            raise question
        if question is None:
            return _decided(rule, overall_evidence(rule, subject, level, picked), n=len(subject), level=level)
        if question.pairs:
            return _of_groups(question, question.evidence(level, picked), level)
    except NotApplicable as reason:
        return _without(rule, "not_applicable", reason.message, len(subject))
    reason_ = msg(
        "fewer than two groups by {way} have {least:int} rows and a value",
        way=" x ".join(question.by),
        least=question.minimum,
    )
    named = _joined(reason_, _left_out(question))
    return _without(rule, "not_enough_evidence", named, len(subject), {"by": " x ".join(question.by)})


def _of_groups(question: GroupQuestion, evidence: Evidence, level: float) -> Criterion:
    """The criterion for one way of grouping, from its worst comparison."""
    rule, left_out = question.rule, _left_out(question)
    who, reference = question.group(evidence.who), question.group(evidence.reference)
    people = {
        "who": {"by": " x ".join(question.by)} if who is None else dict(who.texts),
        "reference": {} if reference is None else dict(reference.texts),
    }
    if np.isnan(evidence.value):
        reason = _joined(msg("no ratio: the rate of every group, or of the reference, is 0"), left_out)
        return _without(rule, "not_enough_evidence", reason, int(question.measured.sizes.sum()), **people)
    n = int(question.measured.sizes[evidence.who])
    return _decided(rule, evidence, n=n, level=level, left_out=left_out, **people)


def _decided(
    rule: Rule,
    evidence: Evidence,
    *,
    n: int,
    level: float,
    left_out: Message | None = None,
    who: Mapping[str, str] | None = None,
    reference: Mapping[str, str] | None = None,
) -> Criterion:
    """The outcome: what the ends of the intervals show, and nothing that they do not."""
    limit, sign = rule.limit, rule.sign
    keeps = sign * (evidence.value - limit) >= 0
    low, high = (end if np.isfinite(end) else None for end in (evidence.low, evidence.high))
    bound = evidence.high if sign > 0 else evidence.low  # where even the better end breaks the limit
    shown = evidence.least if sign > 0 else evidence.most  # where every comparison keeps it
    outcome: VerdictOutcome = "not_enough_evidence"
    reason: Message | None = None
    if sign * (bound - limit) < 0:
        outcome, reason = "exceeds", left_out
    elif sign * (shown - limit) >= 0:
        outcome, reason = ("meets", _by_tests(rule, evidence, level)) if left_out is None else (outcome, left_out)
    else:
        reason = _joined(_unsure(rule, evidence, keeps), left_out)
    point: Point | None = None if rule.decides == "interval" else "keeps" if keeps else "breaks"
    return Criterion(
        _message(rule.name),
        outcome,
        Estimate(evidence.value, low, high, n=n, level=level, method="simultaneous"),
        limit,
        rule.side,
        who=who or {},
        reference=reference or {},
        citation=rule.citation,
        reason=reason,
        point=point,
    )


def _unsure(rule: Rule, evidence: Evidence, keeps: bool) -> Message:
    """Why the data do not settle it: how large a breach they could have missed, or that the breach could be chance."""
    missed = evidence.low if rule.sign > 0 else evidence.high
    if not np.isfinite(missed):
        return msg("there is no interval, so nothing can be concluded")
    if not keeps:
        return msg("the figure exceeds the limit, but the interval contains it: this may be due to chance")
    if rule.sign > 0:
        return msg("the figure meets the limit, but a value as low as {missed:num} cannot be ruled out", missed=missed)
    return msg("the figure meets the limit, but a value as high as {missed:num} cannot be ruled out", missed=missed)


def _by_tests(rule: Rule, evidence: Evidence, level: float) -> Message | None:
    """Where one-sided tests show what the interval over all comparisons does not."""
    end = evidence.low if rule.sign > 0 else evidence.high
    if rule.sign * (end - rule.limit) >= 0:
        return None
    return msg("each comparison meets the limit in a one-sided test at {alpha:pct}", alpha=1 - level)


def _left_out(question: GroupQuestion) -> Message | None:
    """Who was left out of the comparison, by name."""
    if not question.left_out:
        return None
    sizes = question.measured.sizes
    names = ", ".join(f"{question.groups[index].name} ({sizes[index]})" for index in question.left_out[:NAMED])
    more = len(question.left_out) - NAMED
    if more > 0:
        return msg("groups too small to compare: {groups} and {more:int} more", groups=names, more=more)
    return msg("groups too small to compare: {groups}", groups=names)


def _joined(first: Message, second: Message | None) -> Message:
    return first if second is None else Message("{before}; {remark}", {"before": first, "remark": second})


def _without(
    rule: Rule,
    outcome: VerdictOutcome,
    reason: Message | str,
    n: int,
    who: Mapping[str, str] | None = None,
    reference: Mapping[str, str] | None = None,
) -> Criterion:
    """A criterion without a figure, and why."""
    return Criterion(
        _message(rule.name),
        outcome,
        Estimate.missing(reason, n=n),
        rule.limit,
        rule.side,
        who=who or {},
        reference=reference or {},
        citation=rule.citation,
        reason=reason,
    )


def _message(text: str) -> Message:
    """A text of a policy as a message: shipped ones are translated, braces in a user's own mean nothing."""
    return Message(text.replace("{", "{{").replace("}", "}}"))


def worst(outcomes: Sequence[VerdictOutcome]) -> VerdictOutcome:
    """The outcome that summarises several.

    >>> worst(["meets", "not_enough_evidence"])
    'not_enough_evidence'
    """
    return next((kind for kind in _WORST_FIRST if kind in outcomes), "not_applicable")
