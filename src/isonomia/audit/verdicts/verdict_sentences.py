"""A verdict as sentences: the people, the figure, its interval, the limit, and what follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from isonomia.fairness.criteria.phrases import decision_of
from isonomia.fairness.judging.evidence import Evidence
from isonomia.fairness.judging.reasons import amount, style_of
from isonomia.languages import Message, People, msg
from isonomia.languages.words import ARE_SELECTED
from isonomia.metrics import Metric
from isonomia.policies import LimitRule, Rule
from isonomia.report import Criterion, VerdictOutcome, words

#: So many criteria beside the worst are told with their figures.
NAMED = 3


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Two groups and their figures, the subject of the sentence first; None stands for everyone.

    `favourable` is the favourable class of several that the figures are about; empty where they are about none.
    """

    rule: Rule
    metric: Metric
    title: Message
    people: tuple[Mapping[str, str] | None, ...]
    values: tuple[float, ...]
    favourable: str = ""

    @property
    def of_selection(self) -> bool:
        """Whether the figures say who gets the favourable decision, or one of several."""
        return self.metric.id == "selection_rate" and (self.title == self.metric.title or bool(self.favourable))


def compared_sentence(found: Compared, evidence: Evidence) -> Message:
    """Two groups compared, and that the outcomes on record are taken as true where the figure rests on them."""
    statement = _compared(found, evidence)
    if not found.metric.needs_labels:
        return statement
    return msg("{statement} This takes the recorded outcomes as true.", statement=statement)


def _compared(found: Compared, evidence: Evidence) -> Message:
    """Two groups compared: "Of Black people, 59.3% are selected; of White people, 88.5%: ..."."""
    rule, form, style = found.rule, found.metric.format, style_of(found.rule, found.metric)
    who, reference = (People.of(people or {}) for people in found.people)
    one, other = (amount(value, form) for value in found.values)
    facts = {"who": who, "reference": reference, "one": one, "other": other}
    tail = _limits(rule, evidence, style)
    if rule.measure == "ratio":
        ratio = amount(evidence.value, style, limit=rule.limit)
        if found.of_selection:
            return msg(
                "Of {who}, {one} {are_selected}; of {reference}, {other}: a ratio of {ratio}. {tail}",
                are_selected=decision_of(found.favourable, favourable=True) if found.favourable else ARE_SELECTED,
                ratio=ratio,
                tail=tail,
                **facts,
            )
        return msg(
            "{metric:first} is {one} for {who} and {other} for {reference}, a ratio of {ratio}. {tail}",
            metric=found.title,
            ratio=ratio,
            tail=tail,
            **facts,
        )
    return msg(
        "{metric:first} is {one} for {who} and {other} for {reference}, a gap of {gap}. {tail}",
        metric=found.title,
        gap=amount(evidence.value, style, limit=rule.limit),
        tail=tail,
        **facts,
    )


def overall_sentence(
    rule: LimitRule, title: Message | str, form: str, evidence: Evidence, who: Mapping[str, str] | None = None
) -> Message:
    """A figure over everyone, or of some people: "Accuracy is 84.1%. The interval is 82.1% to 85.8%; ..."."""
    facts = {"metric": title, "value": amount(evidence.value, form, limit=rule.limit)}
    facts["tail"] = _limits(rule, evidence, form)
    if who:
        return msg("{metric:first} is {value} for {who}. {tail}", who=People.of(who), **facts)
    return msg("{metric:first} is {value}. {tail}", **facts)


def explained(
    statement: Message, outcome: VerdictOutcome, reason: Message | str | None, set_aside: Message | None = None
) -> Message:
    """A statement and what follows from it for the rule; of one that is met only whom it sets aside."""
    if outcome == "meets":
        met = msg("{statement} The limit is met.", statement=statement)
        return met if set_aside is None else Message("{met} {remark:first}.", {"met": met, "remark": set_aside})
    if outcome == "not_enough_evidence":
        return msg("{statement} Not enough evidence: {reason}.", statement=statement, reason=reason)
    if reason is None:
        return statement
    return Message("{statement} {reason:first}.", {"statement": statement, "reason": reason})


def documented(name: Message | str, by: Sequence[str]) -> Message:
    """That the report holds a figure."""
    return msg("{what:first}: documented.", what=_with_way(name, by))


def _with_way(name: Message | str, by: Sequence[str]) -> Message:
    if not by:
        return Message("{criterion}", {"criterion": name})
    return msg("{criterion} by {by}", criterion=name, by=" x ".join(by))


def without_figure(
    name: Message | str, outcome: VerdictOutcome, reason: Message | str, by: Sequence[str] = ()
) -> Message:
    """A criterion that could not be measured, and why."""
    what = _with_way(name, by)
    if outcome == "not_applicable":
        return msg("{what:first}: not applicable, since {reason}.", what=what, reason=reason)
    if outcome == "incomplete":
        return msg("{what:first}: missing, since {reason}.", what=what, reason=reason)
    return msg("{what:first}: not enough evidence, since {reason}.", what=what, reason=reason)


def verdict_sentence(outcome: VerdictOutcome, criteria: Sequence[Criterion]) -> Message:
    """The verdict: its worst criterion as a sentence, and how many more there are."""
    unexamined = ("not_applicable",) if outcome == "not_enough_evidence" else ()
    same = sorted((one for one in criteria if one.outcome in (outcome, *unexamined)), key=lambda one: one.margin)
    if not same or (outcome == "not_applicable" and same[0].sentence is None):
        return msg("No criterion of the policy applies to this subject.")
    first, more = same[0].sentence or Message.literal(str(same[0].name)), len(same) - 1
    if outcome == "documents":
        return msg(
            "The report documents {n:the figure|the # figures} that this profile asks for.",
            n=len(same),
        )
    if outcome == "incomplete":
        there = sum(one.outcome == "documents" for one in criteria)
        return msg(
            "The report documents {there:int} of {n:# figure|# figures} that this profile asks for. {first}",
            there=there,
            n=there + len(same),
            first=first,
        )
    if outcome == "meets":
        if not more:
            return first
        return msg(
            "All {n:int} criteria that apply are met. {first} No other comes closer to its limit.",
            n=more + 1,
            first=first,
        )
    if outcome == "not_applicable":
        return msg("No criterion of the policy applies to this subject. {first}", first=first)
    if not more:
        return first
    if outcome == "exceeds":
        return Message("{first} {also}", {"first": first, "also": _also_exceeded(same)})
    return msg("{first} {n:One more criterion lacks|# more criteria lack} evidence.", first=first, n=more)


def _also_exceeded(criteria: Sequence[Criterion]) -> Message:
    """All criteria but the first, each with its people and figure; more than `NAMED` as their number.

    Criteria of one rule are told by their people, else each by its name.
    """
    by_people = len({one.rule for one in criteria}) == 1 and all(one.who for one in criteria)
    parts = [_other(one, named=not by_people) for one in criteria[1 : NAMED + 1]]
    if left := len(criteria[NAMED + 1 :]):
        parts.append(msg("{n:one more|# more}", n=left))
    others = parts[0]
    for part in parts[1:]:
        others = Message("{others}, {part}", {"others": others, "part": part})
    if by_people:
        return msg("Also exceeded for {others}.", others=others)
    return msg("Also exceeded: {others}.", others=others)


def _other(criterion: Criterion, *, named: bool) -> Message:
    """A criterion in a list: "Black people (0.60)", "accuracy gap by race (Black people, 28.8 points)"."""
    value = criterion.estimate.value
    facts: dict[str, Message | People] = {
        "name": _with_way(criterion.name, criterion.by),
        "who": People.of(criterion.who),
    }
    if value is None:
        return Message("{name}", facts)
    facts["figure"] = amount(value, _style(criterion), limit=criterion.threshold)
    if not named:
        return Message("{who} ({figure})", facts)
    return Message("{name} ({who}, {figure})" if criterion.who else "{name} ({figure})", facts)


def _style(criterion: Criterion) -> str:
    """How the figure of a criterion stands in a sentence: ratios with two decimals, else as in tables."""
    return "ratio" if criterion.measure == "ratio" else words.style_of(criterion)


def _limits(rule: LimitRule, evidence: Evidence, style: str) -> Message:
    """The interval and the limit: the end of the sentence."""
    limit = amount(rule.limit, style)
    ends = [end for end in (evidence.low, evidence.high) if np.isfinite(end)]
    if len(ends) < 2 or ends[0] == ends[1]:  # a count is a fact
        return msg("The limit is {limit}.", limit=limit)
    low = Message("{x:points}", {"x": ends[0]}) if style == "points" else amount(ends[0], style, limit=rule.limit)
    high = amount(ends[1], style, limit=rule.limit)
    return msg("The interval is {low} to {high}; the limit is {limit}.", low=low, high=high, limit=limit)
