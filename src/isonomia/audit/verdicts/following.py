"""Whether a stored verdict follows from the figures beside it: every outcome is decided again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import cast

import numpy as np

from isonomia.audit.verdicts.check_criteria import figure_criteria, findings_criterion
from isonomia.audit.verdicts.verdict_sentences import verdict_sentence
from isonomia.errors import IsonomiaError
from isonomia.fairness.judging.evidence import Evidence
from isonomia.fairness.judging.limits import worst_of
from isonomia.policies import BaseRule, FigureRule, FindingsRule, LimitRule, Policy, Rule
from isonomia.report import Criterion, Document, Section, Verdict, VerdictOutcome

#: Outcomes of a criterion that has no figure.
_WITHOUT: tuple[VerdictOutcome, ...] = ("not_enough_evidence", "not_applicable", "incomplete")


def unfounded(document: Document, policy: Policy | None) -> tuple[str, ...]:
    """The keys of criteria, and "verdict", whose outcome does not follow from the figures and the policy; each once.

    A limit is compared with the interval and the one-sided ends that are stored; findings are counted and documented
    figures looked for again. The verdict has to be the worst outcome, told in the sentence that belongs to it.
    """
    verdict = document.verdict
    if verdict is None or policy is None:
        return () if verdict is None and policy is None else ("verdict",)
    doubted = [*_criteria(document, verdict, policy)]
    outcome = cast(VerdictOutcome, worst_of(one.outcome for one in verdict.criteria))
    told = verdict.reason is None or verdict.reason == verdict_sentence(outcome, verdict.criteria)
    if verdict.policy != policy.id or verdict.outcome != outcome or not told:
        doubted.append("verdict")
    return tuple(dict.fromkeys(doubted))


def _criteria(document: Document, verdict: Verdict, policy: Policy) -> Iterator[str]:
    rules = {rule.id: rule for rule in policy.rules}
    known = [str(name) for name in document.subject.get("protected", ())]
    yield from (one.key for one in verdict.criteria if one.rule not in rules)
    for rule in policy.rules:
        own = [one for one in verdict.criteria if one.rule == rule.id]
        yield from _absent(rule, own, known)
        again = _decided_again(rule, document, policy, known)
        for one in own:
            if not (_has_limit(rule, one) and _follows(one, again, failed=bool(document.counts["failed"]))):
                yield one.key


def _absent(rule: BaseRule, own: Sequence[Criterion], known: Sequence[str]) -> Iterator[str]:
    """What a rule asks about and no criterion answers: a criterion was taken out."""
    if not own:
        yield rule.id
    elif isinstance(rule, Rule) and any(one.by for one in own):
        there = {one.by for one in own}
        yield from (f"{rule.id}[{name}]" for name in rule.attributes or known if (name,) not in there)


def _has_limit(rule: BaseRule, criterion: Criterion) -> bool:
    """Whether the criterion has the limit of its rule; one in standard deviations stands there as a number."""
    if not isinstance(rule, LimitRule) or (isinstance(rule, Rule) and rule.unit == "sd"):
        return True
    return (criterion.threshold, criterion.side) == (rule.limit, rule.side)


#: From a criterion to the outcome that its figures give; None where they give no answer.
Again = Callable[[Criterion], VerdictOutcome | None]


def _decided_again(rule: BaseRule, document: Document, policy: Policy, known: Sequence[str]) -> Again:
    if isinstance(rule, LimitRule):
        return lambda criterion: _by_limit(rule, criterion)
    sections = [section for section in document.sections if not section.code.startswith("step_")]
    try:
        found = _without_limit(rule, sections, policy, known)
    except IsonomiaError:  # what the rule asks for is not in the record
        found = {}
    return lambda criterion: found.get(criterion.key)


def _without_limit(
    rule: BaseRule, sections: Sequence[Section], policy: Policy, known: Sequence[str]
) -> dict[str, VerdictOutcome]:
    if isinstance(rule, FindingsRule):
        criteria = [findings_criterion(rule, sections, known)]
    else:
        assert isinstance(rule, FigureRule)
        criteria = figure_criteria(rule, sections, policy.min_per_group, known)
    return {one.key: one.outcome for one in criteria}


def _by_limit(rule: LimitRule, criterion: Criterion) -> VerdictOutcome | None:
    figure = criterion.estimate
    if figure.value is None or criterion.threshold is None:
        return criterion.outcome if criterion.outcome in _WITHOUT else None
    ends = (figure.low, figure.high, criterion.least, criterion.most)
    whole = figure.method == "count"  # a fact, which needs no interval
    low, high, least, most = (figure.value if whole else np.nan if end is None else end for end in ends)
    evidence = Evidence(value=figure.value, low=low, high=high, least=least, most=most)
    outcome = evidence.outcome(rule.model_copy(update={rule.side: criterion.threshold}))
    return "not_enough_evidence" if outcome == "meets" and not criterion.complete else outcome


def _follows(criterion: Criterion, again: Again, *, failed: bool) -> bool:
    """Whether the outcome is the one decided again; where a step failed it may be that nothing was known."""
    return criterion.outcome == again(criterion) or (failed and criterion.outcome in _WITHOUT)
