"""What the judge found about rules on metrics, as criteria with their people and sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from isonomia.audit.naming import class_of, metric_title
from isonomia.audit.verdicts.compared_groups import compared_groups
from isonomia.audit.verdicts.missing_criterion import missing_criterion
from isonomia.audit.verdicts.verdict_sentences import Compared, compared_sentence, explained, overall_sentence
from isonomia.evidence import Estimate, affected
from isonomia.fairness.judging.evidence import Evidence
from isonomia.fairness.judging.judge import Judgement, judge_metrics
from isonomia.fairness.judging.questions import GroupQuestion
from isonomia.fairness.judging.reasons import joined, unproved
from isonomia.languages import Message, OutcomeName
from isonomia.metrics import METRICS
from isonomia.policies import Policy, Rule, policy_text
from isonomia.report import Criterion, Point
from isonomia.subject import Subject


def metric_criteria(
    policy: Policy, subject: Subject, undecided: Callable[[Rule, BaseException], Criterion]
) -> dict[str, list[Criterion]]:
    """The criteria of each rule, by its id; `undecided` gives that of a rule whose figures failed."""

    def of(one: Judgement) -> Criterion:
        return _criterion(one, subject.settings.level) if one.fault is None else undecided(one.rule, one.fault)

    return {name: [of(one) for one in found] for name, found in judge_metrics(policy, subject).items()}


def _criterion(found: Judgement, level: float) -> Criterion:
    rule, evidence, question = found.rule, found.evidence, found.question
    people: dict[str, Any] = {"by": found.by}
    if evidence is not None and question is not None:
        who, reference = question.group(evidence.who), question.group(evidence.reference)
        people["who"] = {} if who is None else dict(who.texts)
        people["reference"] = {} if reference is None else dict(reference.texts)
    if evidence is None or np.isnan(evidence.value):
        reason = joined(found.reason, found.set_aside)
        assert reason is not None
        return missing_criterion(rule, found.outcome, reason, n=found.n, examined=found.examined, **people)
    name = policy_text(rule.name)
    if question is None:
        metric = METRICS[rule.metric]
        statement = overall_sentence(rule, metric.title, metric.format, evidence)
    else:
        compared = _compared(question, evidence)
        if compared.favourable:
            about = {"criterion": name, "label": OutcomeName(compared.favourable)}
            name = Message('{criterion} ("{label}")', about)
        people["people"] = _shortfall(compared, evidence, found.n, level)
        others = (question.group(index) for index in sorted(evidence.broken - {evidence.who}))
        people["also"] = tuple(dict(other.texts) for other in others if other is not None)
        people["groups"] = compared_groups(question, evidence, level)
        statement = compared_sentence(compared, evidence)
    low, high, least, most = (
        end if np.isfinite(end) else None for end in (evidence.low, evidence.high, evidence.least, evidence.most)
    )
    keeps = rule.sign * (evidence.value - rule.limit) >= 0
    point: Point | None = None if rule.decides == "interval" else "keeps" if keeps else "breaks"
    reason = joined(found.reason, found.set_aside)
    return Criterion(
        name,
        found.outcome,
        Estimate(evidence.value, low, high, n=found.n, level=level, method="simultaneous"),
        rule.limit,
        rule.side,
        citation=rule.citation,
        reason=reason,
        point=point,
        rule=rule.id,
        metric=rule.metric,
        measure=rule.measure,
        sentence=explained(statement, found.outcome, reason, found.set_aside),
        least=least,
        most=most,
        complete=question is None or unproved(question) is None,
        **people,
    )


def _shortfall(compared: Compared, evidence: Evidence, n: int, level: float) -> Estimate | None:
    """The people that the group lacks at the rate of the other one; None for other figures.

    The rows of the group times the difference of the two rates, with the ends of this pair's own difference.
    """
    own, other = compared.values
    ratio = compared.rule.measure == "ratio"
    if not compared.of_selection or not own < other or (ratio and evidence.numerator != evidence.who):
        return None
    if not np.isfinite(evidence.apart).all():
        return None
    return affected(Estimate(own - other, *evidence.apart, n=n, level=level, method="simultaneous"), n, harm="lack")


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
