"""Rules about metrics, decided: what the ends of the intervals show, and nothing that they do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from isonomia.audit.naming import class_of, metric_title
from isonomia.audit.verdicts.missing_criterion import absent_reason, missing_criterion
from isonomia.audit.verdicts.rule_evidence import Evidence, GroupQuestion, group_questions, overall_evidence
from isonomia.audit.verdicts.verdict_sentences import (
    Compared,
    amount,
    compared_sentence,
    explained,
    overall_sentence,
    style_of,
)
from isonomia.errors import FAULTS, NotApplicable, SpecError
from isonomia.evidence import Estimate, affected
from isonomia.languages import Message, OutcomeName, People, msg
from isonomia.metrics import METRICS
from isonomia.policies import LimitRule, Policy, Rule, absent_attributes, policy_text
from isonomia.report import Criterion, Point, VerdictOutcome
from isonomia.subject import Subject

#: Groups that were left out are named up to this many.
NAMED = 3

#: What a rule asks: groups compared in one way, all rows (None), why it does not apply, or what went wrong.
Question = GroupQuestion | BaseException | None


def metric_criteria(
    rules: Sequence[Rule],
    policy: Policy,
    subject: Subject,
    undecided: Callable[[Rule, BaseException], Criterion],
    *,
    besides: int = 0,
) -> dict[str, list[Criterion]]:
    """The criteria of each rule, by its id.

    `undecided` gives that of a rule whose figures failed; `besides` counts further figures that the policy picks a
    worst of.
    """
    scaled = [_in_own_unit(rule, subject) for rule in rules]
    questions = [(rule, question) for rule in scaled for question in _questions(rule, policy, subject)]
    n_picks = sum(question.rows if isinstance(question, GroupQuestion) else 1 for _, question in questions) + besides
    found: dict[str, list[Criterion]] = {rule.id: [] for rule in rules}
    for rule, question in questions:
        try:
            found[rule.id].append(_criterion(rule, question, subject, max(n_picks, 1)))
        except SpecError:
            raise
        except FAULTS as error:
            found[rule.id].append(undecided(rule, error))
    for rule in rules:
        found[rule.id] += _absent(rule, subject)
    return found


def _absent(rule: Rule, subject: Subject) -> list[Criterion]:
    """A criterion for each attribute that the rule names and that is not protected: nobody compared its groups."""
    known = [column.name for column in subject.attributes]
    return [
        missing_criterion(
            rule, "not_enough_evidence", absent_reason(name, known), n=len(subject), by=(name,), examined=False
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


def decide(rule: LimitRule, evidence: Evidence) -> VerdictOutcome:
    """What the ends of the intervals show: beyond the limit, shown to keep it, or neither."""
    bound = evidence.high if rule.sign > 0 else evidence.low  # where even the better end breaks the limit
    shown = evidence.least if rule.sign > 0 else evidence.most  # where every comparison keeps it
    if rule.sign * (bound - rule.limit) < 0:
        return "exceeds"
    return "meets" if rule.sign * (shown - rule.limit) >= 0 else "not_enough_evidence"


def unsure(rule: LimitRule, evidence: Evidence, style: str) -> Message:
    """Why the data do not settle it: how large a breach they could have missed, or that the breach could be chance."""
    missed = evidence.low if rule.sign > 0 else evidence.high
    if not np.isfinite(missed):
        return msg("there is no interval, so nothing can be concluded")
    if rule.sign * (evidence.value - rule.limit) < 0:
        return msg("the figure exceeds the limit, but the interval contains it, so this may be due to chance")
    end = amount(missed, style, limit=rule.limit)
    if rule.sign > 0:
        return msg("the figure meets the limit, but a value as low as {missed} cannot be ruled out", missed=end)
    return msg("the figure meets the limit, but a value as high as {missed} cannot be ruled out", missed=end)


def _questions(rule: Rule, policy: Policy, subject: Subject) -> Sequence[Question]:
    if rule.measure == "value":
        return [None]
    try:
        return group_questions(rule, policy, subject)
    except SpecError:
        raise
    except FAULTS as reason:  # that it does not apply, or what went wrong
        return [reason]


def _criterion(rule: Rule, question: Question, subject: Subject, n_picks: int) -> Criterion:
    level = subject.settings.level
    try:
        if isinstance(question, BaseException):
            raise question
        if question is None:
            evidence = overall_evidence(rule, subject, level, n_picks)
            metric = METRICS[rule.metric]
            statement = overall_sentence(rule, metric.title, metric.format, evidence)
            return _decided(rule, evidence, statement, n=len(subject), level=level)
        if question.pairs:
            return _of_groups(question, question.evidence(level, n_picks), level)
    except NotApplicable as reason:
        return missing_criterion(rule, "not_applicable", reason.message, n=len(subject), examined=False)
    named = _joined(_too_few(question), _left_out(question))
    return missing_criterion(rule, "not_enough_evidence", named, n=len(subject), by=question.by)


def _too_few(question: GroupQuestion) -> Message:
    """That no two groups can be compared, and what there is too little of."""
    way = " x ".join(question.by)
    if any(question.few_cases(index) is not None for index in question.left_out):
        return msg("fewer than two groups by {way} have {least:int} cases of this rate", way=way, least=question.cases)
    return msg("fewer than two groups by {way} have {least:int} rows and a value", way=way, least=question.minimum)


def _of_groups(question: GroupQuestion, evidence: Evidence, level: float) -> Criterion:
    """The criterion for one way of grouping, from its worst comparison."""
    rule, left_out = question.rule, _left_out(question)
    who, reference = question.group(evidence.who), question.group(evidence.reference)
    people: dict[str, Any] = {
        "by": question.by,
        "who": {} if who is None else dict(who.texts),
        "reference": {} if reference is None else dict(reference.texts),
    }
    if np.isnan(evidence.value):
        reason = _joined(msg("no ratio: the rate of every group, or of the reference, is 0"), left_out)
        return missing_criterion(rule, "not_enough_evidence", reason, n=int(question.measured.sizes.sum()), **people)
    n = int(question.measured.sizes[evidence.who])
    compared = _compared(question, evidence)
    if compared.favourable:
        about = {"criterion": policy_text(rule.name), "label": OutcomeName(compared.favourable)}
        people["name"] = Message('{criterion} ("{label}")', about)
    people["people"] = _shortfall(compared, evidence, n, level)
    others = (question.group(index) for index in sorted(evidence.broken - {evidence.who}))
    people["also"] = tuple(dict(other.texts) for other in others if other is not None)
    statement = compared_sentence(compared, evidence)
    return _decided(rule, evidence, statement, n=n, level=level, left_out=left_out, **people)


def _shortfall(compared: Compared, evidence: Evidence, n: int, level: float) -> Estimate | None:
    """The people that the group lacks at the rate of the other one, which is taken as given; None for other figures."""
    own, other = compared.values
    ratio = compared.rule.measure == "ratio"
    if not compared.of_selection or not own < other or (ratio and evidence.numerator != evidence.who):
        return None
    ends = [evidence.value, evidence.low, evidence.high]
    value, *around = [other * (1 - end) for end in ends] if ratio else ends
    if not np.isfinite(around).all():
        return None
    return affected(Estimate(value, min(around), max(around), n=n, level=level, method="simultaneous"), n)


def _compared(question: GroupQuestion, evidence: Evidence) -> Compared:
    """The two groups of a comparison with their figures, in the order of the sentence."""
    ratio = question.rule.measure == "ratio"
    order = (evidence.numerator, evidence.denominator) if ratio else (evidence.who, evidence.reference)
    groups = [question.group(index) for index in order]
    part = question.measured.measured[evidence.metric]
    return Compared(
        rule=question.rule,
        metric=METRICS[question.rule.metric],
        title=metric_title(evidence.metric) or METRICS[question.rule.metric].title,
        people=tuple(None if group is None else group.texts for group in groups),
        values=tuple(float(part.value[index]) for index in order),
        favourable=class_of(evidence.metric) if part.metric.favourable else "",
    )


def _decided(
    rule: Rule,
    evidence: Evidence,
    statement: Message,
    *,
    n: int,
    level: float,
    left_out: Message | None = None,
    name: Message | None = None,
    **facts: Any,
) -> Criterion:
    keeps = rule.sign * (evidence.value - rule.limit) >= 0
    low, high = (end if np.isfinite(end) else None for end in (evidence.low, evidence.high))
    outcome = decide(rule, evidence)
    reason = left_out
    if outcome == "meets" and left_out is None:
        reason = _by_tests(rule, evidence, level)
    elif outcome == "meets":
        outcome = "not_enough_evidence"
    elif outcome == "not_enough_evidence":
        reason = _joined(unsure(rule, evidence, style_of(rule, METRICS[rule.metric])), left_out)
    point: Point | None = None if rule.decides == "interval" else "keeps" if keeps else "breaks"
    return Criterion(
        policy_text(rule.name) if name is None else name,
        outcome,
        Estimate(evidence.value, low, high, n=n, level=level, method="simultaneous"),
        rule.limit,
        rule.side,
        citation=rule.citation,
        reason=reason,
        point=point,
        rule=rule.id,
        metric=rule.metric,
        measure=rule.measure,
        sentence=explained(statement, outcome, reason),
        **facts,
    )


def _by_tests(rule: Rule, evidence: Evidence, level: float) -> Message | None:
    """Where one-sided tests show what the interval over all comparisons does not."""
    end = evidence.low if rule.sign > 0 else evidence.high
    if rule.sign * (end - rule.limit) >= 0:
        return None
    return msg("each comparison meets the limit in a one-sided test at {alpha:pct}", alpha=1 - level)


def _left_out(question: GroupQuestion) -> Message | None:
    """Who was left out of the comparison, by name: those with few rows, and those with few cases of the rate."""
    few = {index: question.few_cases(index) for index in question.left_out}
    small = [(index, int(question.measured.sizes[index])) for index, cases in few.items() if cases is None]
    thin = [(index, cases) for index, cases in few.items() if cases is not None]
    found: Message | None = None
    if small:
        found = msg("groups too small to compare: {groups}", groups=_named(question, small))
    if thin:
        of_cases = msg(
            "groups with fewer than {least:int} cases of this rate: {groups}",
            least=question.cases,
            groups=_named(question, thin),
        )
        found = of_cases if found is None else _joined(found, of_cases)
    return found


def _named(question: GroupQuestion, groups: Sequence[tuple[int, int]]) -> Message:
    """The first groups by name, each with a number."""
    named = [
        Message("{group} ({n:int})", {"group": People.of(question.groups[index].texts), "n": n})
        for index, n in groups[:NAMED]
    ]
    names = named[0]
    for one in named[1:]:
        names = Message("{names}, {one}", {"names": names, "one": one})
    more = len(groups) - NAMED
    return msg("{groups} and {more:int} more", groups=names, more=more) if more > 0 else names


def _joined(first: Message, second: Message | None) -> Message:
    return first if second is None else Message("{before}. {remark:first}", {"before": first, "remark": second})
