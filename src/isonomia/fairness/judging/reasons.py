"""Why an outcome is what it is, and who was left out, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isonomia.fairness.judging.evidence import Evidence
from isonomia.fairness.judging.limits import outcome_of
from isonomia.fairness.judging.questions import GroupQuestion
from isonomia.languages import ColumnName, Message, People, msg
from isonomia.languages.message import write_number
from isonomia.metrics import Metric
from isonomia.policies import LimitRule, Rule

#: Groups that were left out are named up to this many.
NAMED = 3


def amount(value: float, style: str, limit: float | None = None) -> Message:
    """A number in its unit; with as many digits as tell it from the limit."""
    if style in ("pct", "points"):
        exact = limit is not None and value != limit and _shown(value, style) == _shown(limit, style)
        if exact:  # as in a table
            return msg("{x:points3} points", x=value) if style == "points" else Message("{x:pct3}", {"x": value})
        return msg("{x:points} points", x=value) if style == "points" else Message("{x:pct}", {"x": value})
    if style == "ratio":
        same = limit is not None and value != limit and f"{value:.2f}" == f"{limit:.2f}"
        return Message("{x:.3f}" if same else "{x:.2f}", {"x": value})
    if style == "int":
        return Message("{x:int}", {"x": value})
    return Message("{x:num}", {"x": value})


def _shown(value: float, style: str) -> str:
    return write_number(value, style, brief=True)


def style_of(rule: Rule, metric: Metric) -> str:
    """How the figure of a rule is written: ratios with two decimals, differences of rates in points."""
    if rule.measure == "ratio":
        return "ratio"
    return "points" if rule.measure == "difference" and metric.format == "pct" else metric.format


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


def by_tests(rule: Rule, evidence: Evidence, level: float) -> Message | None:
    """Where one-sided tests show what the interval over all comparisons does not."""
    if outcome_of(rule.limit, rule.side, evidence.low, evidence.high) == "meets":
        return None
    return msg("each comparison meets the limit in a one-sided test at {alpha:pct}", alpha=1 - level)


def no_ratio() -> Message:
    """That rates of 0 have no ratio."""
    return msg("no ratio: the rate of every group, or of the reference, is 0")


def absent_reason(name: str, known: Sequence[str]) -> Message:
    """That a rule names what is not a protected attribute of the data."""
    if not known:
        return msg("{name} is not a protected attribute of the data, which have none", name=name)
    return msg("{name} is not a protected attribute of the data ({known})", name=name, known=", ".join(known))


def too_few(question: GroupQuestion) -> Message:
    """That no two groups can be compared, and what there is too little of."""
    way = " x ".join(question.by)
    if any(question.few_cases(index) is not None for index in question.unproved):
        return msg(
            "fewer than two groups by {way} have {least:int} cases of this rate", way=way, least=question.minimum
        )
    return msg("fewer than two groups by {way} have {least:int} rows and a value", way=way, least=question.minimum)


def unproved(question: GroupQuestion) -> Message | None:
    """Of whom nothing is shown, by name: those with few rows, and those with few cases of the rate."""
    few = {index: question.few_cases(index) for index in question.unproved}
    small = [(index, int(question.measured.sizes[index])) for index, cases in few.items() if cases is None]
    thin = [(index, cases) for index, cases in few.items() if cases is not None]
    found: Message | None = None
    if small:
        found = msg("groups too small to compare: {groups}", groups=_named(question, small))
    if thin:
        of_cases = msg(
            "groups with fewer than {least:int} cases of this rate: {groups}",
            least=question.minimum,
            groups=_named(question, thin),
        )
        found = joined(found, of_cases)
    return found


def set_aside(question: GroupQuestion) -> Message | None:
    """Whom the rule need not prove anything of: groups below its share, and few people without a value."""
    found: Message | None = None
    if question.small:
        sizes = [(index, int(question.measured.sizes[index])) for index in question.small]
        found = msg(
            "left out below {share:pct} of the people: {groups}",
            share=question.rule.min_share,
            groups=_named(question, sizes),
        )
    for name, n in question.unknown.items():
        found = joined(found, no_value(name, n, question.total))
    return found


def no_value(name: str, n: int, total: int) -> Message:
    """That few people have no value of an attribute."""
    return msg("{n:int} of {total:int} have no {attribute}: left out", n=n, total=total, attribute=ColumnName(name))


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


def joined(first: Message | None, second: Message | None) -> Message | None:
    """Two remarks as one; either may be missing."""
    if first is None or second is None:
        return second if first is None else first
    return Message("{before}. {remark:first}", {"before": first, "remark": second})
