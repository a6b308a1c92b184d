"""One function decides a verdict; Python, command line and web only show it.

Rules about figures come first (`decide_figures`). How severe a finding is follows from them (`grading`), and rules
about findings follow from that (`conclude`): nothing is decided twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import cast

from isonomia.audit.finishing import Faults
from isonomia.audit.verdicts.check_criteria import check_criterion, figure_criteria, findings_criterion
from isonomia.audit.verdicts.metric_criteria import metric_criteria
from isonomia.audit.verdicts.missing_criterion import undecided
from isonomia.audit.verdicts.policy_texts import basis_of, standing_of
from isonomia.audit.verdicts.verdict_sentences import verdict_sentence
from isonomia.errors import FAULTS, SpecError
from isonomia.fairness.judging.limits import worst_of
from isonomia.languages import Message, Words, msg
from isonomia.policies import (
    BaseRule,
    CheckRule,
    FigureRule,
    FindingsRule,
    Policy,
    Rule,
    check_attributes,
    policy_text,
)
from isonomia.report import Criterion, Section, Verdict, VerdictOutcome
from isonomia.subject import Subject


def judge(policy: Policy, subject: Subject, sections: Sequence[Section] = (), *, on: date | None = None) -> Verdict:
    """Every rule of a policy applied to the subject, and what follows from them together.

    *Exceeds* needs an interval beyond the limit that holds for all pairs of groups, attributes and rules of the policy
    together: on fair data some limit is exceeded in at most (1 - level) of the cases. *Meets* needs every comparison to
    be shown to keep the limit (one-sided tests; all of them must reject, so none needs a correction), nobody left out,
    and no rule that could not be examined. Everything else is *not enough evidence*, or *not applicable* where no rule
    at all could be asked. A documentation profile has no limits: it *documents* the figures it asks for, or is
    *incomplete*.

    Parameters
    ----------
    policy, subject
    sections
        The checks of the audit, for rules about them.
    on
        The day of the audit, today by default: outside the policy's dates the verdict says so.

    Raises
    ------
    SpecError
        Where a rule names attributes and none of them is protected.
    """
    faults = Faults()
    return conclude(policy, decide_figures(policy, subject, sections, faults), sections, subject, faults, on=on)


#: The criteria of each rule, by its id.
Decided = Mapping[str, Sequence[Criterion]]


def conclude(
    policy: Policy,
    decided: Decided,
    sections: Sequence[Section],
    subject: Subject,
    faults: Faults,
    *,
    on: date | None = None,
) -> Verdict:
    """The verdict from what was decided about figures, and from the findings of these sections."""
    known = _known(subject)

    def of(rule: BaseRule) -> Sequence[Criterion]:
        return [findings_criterion(rule, sections, known)] if isinstance(rule, FindingsRule) else decided[rule.id]

    criteria = tuple(criterion for rule in policy.rules for criterion in _decided(rule, of, faults))
    outcome = cast(VerdictOutcome, worst_of(criterion.outcome for criterion in criteria))
    reason: Message | None = None
    with faults.of("verdict", TITLE):
        reason = verdict_sentence(outcome, criteria)
    return Verdict(
        outcome,
        policy.id,
        policy_text(policy.title),
        policy.source,
        criteria,
        reason,
        about=policy_text(policy.about) if policy.about else None,
        basis=basis_of(policy),
        notes=standing_of(policy, on or datetime.now(UTC).date()),
    )


#: What the step is called where it fails.
TITLE = msg("Verdict")


def _decided(rule: BaseRule, of: Callable[[BaseRule], Sequence[Criterion]], faults: Faults) -> Sequence[Criterion]:
    """The criteria of a rule; where deciding it fails nothing is known of it."""
    try:
        return of(rule)
    except SpecError:
        raise
    except FAULTS as error:
        return [undecided(rule, faults.add("verdict", TITLE, error))]


def _spoken(criterion: Criterion, words: Words) -> Criterion:
    """The criterion in the words of the file."""
    sentence, reason = criterion.sentence, criterion.reason
    return replace(
        criterion,
        sentence=None if sentence is None else words.spoken(sentence),
        reason=words.spoken(reason) if isinstance(reason, Message) else reason,
    )


def decide_figures(policy: Policy, subject: Subject, sections: Sequence[Section], faults: Faults) -> Decided:
    """The criteria of every rule about figures, in the words of the file; intervals of all limits hold together."""
    known = _known(subject)
    check_attributes(policy.rules, known)
    others = sum(isinstance(rule, CheckRule) for rule in policy.rules)

    def undecided_metric(rule: Rule, error: BaseException) -> Criterion:
        return undecided(rule, faults.add("verdict", TITLE, error))

    found = metric_criteria(policy, subject, undecided_metric)
    n_picks = max(sum(map(len, found.values())) + others, 1)

    def of(rule: BaseRule) -> Sequence[Criterion]:
        if isinstance(rule, CheckRule):
            return [check_criterion(rule, sections, subject, n_picks)]
        if isinstance(rule, FigureRule):
            return figure_criteria(rule, sections, policy.min_per_group, known)
        return found[rule.id]

    about_figures = [rule for rule in policy.rules if not isinstance(rule, FindingsRule)]
    return {
        rule.id: [_spoken(criterion, subject.words) for criterion in _decided(rule, of, faults)]
        for rule in about_figures
    }


def _known(subject: Subject) -> list[str]:
    """The protected attributes of the data."""
    return [column.name for column in subject.attributes]
