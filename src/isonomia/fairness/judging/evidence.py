"""How sure a comparison is: every pair that a rule looks at, with intervals that hold for all of them together.

A verdict that picks the worst of many pairs must not take the interval of a single pair: of ten groups that are treated
alike some two always seem to differ. The ends here hold together at the level of the audit over all pairs, attributes,
classes and rules of the policy. They come from counts alone: the same data give the same verdict for every seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from isonomia.errors import NotApplicable
from isonomia.evidence.intervals import (
    difference_interval,
    normal_quantile,
    quotient,
    ratio_interval,
)
from isonomia.evidence.score_intervals import agreeing, score_difference, score_ratio
from isonomia.evidence.simultaneous import pair_level, simultaneous_level, stretched, stretched_ratio
from isonomia.fairness.judging.limits import Outcome, outcome_of
from isonomia.fairness.judging.questions import GroupQuestion
from isonomia.languages import msg
from isonomia.metrics import Measured, Rows, evaluate
from isonomia.policies import LimitRule, Rule
from isonomia.subject import Subject
from isonomia.typing import Floats, Indices


@dataclass(frozen=True, eq=False)
class Evidence:
    """The worst of all comparisons that a rule looks at.

    Attributes
    ----------
    value, low, high : float
        The worst figure, and the ends that hold for all comparisons together; NaN where there are none.
    least, most : float
        The ends of one-sided tests: each comparison is shown to keep a limit that lies beyond them.
    who, reference : int
        The two sets of the worst comparison, the worse-off first.
    numerator, denominator : int
        The same two sets in the order of the figure: what is divided by (or less) what.
    metric : str
        The metric of the worst comparison: of several classes, that of the class.
    broken : frozenset of int
        The worse-off sets of all comparisons whose whole interval lies beyond the limit.
    apart : tuple of float
        The ends of the difference of the two sets of the worst comparison, `who` less `reference`, of rates: of this
        pair alone, at the level at which those of all pairs hold together. NaN for other figures.
    beside : mapping
        The figure and the ends of every set against the reference of the worst comparison.
    """

    value: float
    low: float
    high: float
    least: float
    most: float
    who: int = -1
    reference: int = -1
    numerator: int = -1
    denominator: int = -1
    metric: str = ""
    broken: frozenset[int] = frozenset()
    apart: tuple[float, float] = (np.nan, np.nan)
    beside: Mapping[int, tuple[float, float, float]] = field(default_factory=dict)

    def outcome(self, rule: LimitRule) -> Outcome:
        """What it shows about the limit of a rule."""
        return outcome_of(rule.limit, rule.side, self.low, self.high, least=self.least, most=self.most)


def compared_evidence(question: GroupQuestion, level: float, rows: int) -> Evidence:
    """The worst comparison of a question, where `rows` worst ones are picked in the whole policy."""
    rule = question.rule
    found = [_of_metric(question, name, level, rows) for name in question.pairs]
    worst = _worst([one.value for one in found], rule)
    ends = (_worst_end([getattr(one, end) for one in found], rule) for end in ("low", "high", "least", "most"))
    picked = found[worst] if worst is not None else found[0]
    low, high, least, most = ends
    broken = frozenset().union(*(one.broken for one in found))
    return replace(picked, low=low, high=high, least=least, most=most, broken=broken)


def _of_metric(question: GroupQuestion, name: str, level: float, rows: int) -> Evidence:
    rule, base = question.rule, question.base
    part, (first, second) = question.measured.measured[name], question.pairs[name]
    together = simultaneous_level(level, rows)
    sets = np.unique(first[first != base]).size
    each = pair_level(together, sets) if base is None else simultaneous_level(together, sets)
    value, low, high = _ends(part, first, second, rule, each, level)
    _, least, most = _ends(part, first, second, rule, 1 - 2 * (1 - level), level)
    picked = _worst(value, rule)
    bottom, top = _worst_end(low, rule), _worst_end(high, rule)
    if rule.measure == "difference":
        bottom = max(bottom, 0.0)
    elif base is None and rule.at_least is not None:
        top = min(top, 1.0)
    elif base is None:
        bottom = max(bottom, 1.0)
    found = Evidence(value=np.nan, low=bottom, high=top, least=_worst_end(least, rule), most=_worst_end(most, rule))
    if picked is None:
        return found
    one, other = int(first[picked]), int(second[picked])
    who, reference = _worse_first(part, base, one, other)
    broken = [
        pair
        for pair, bottom, top in zip(zip(first.tolist(), second.tolist(), strict=True), low, high, strict=True)
        if outcome_of(rule.limit, rule.side, bottom, top) == "exceeds"
    ]
    fixed, members = (first, second) if reference == one else (second, first)
    beside = np.flatnonzero(fixed == reference)
    return replace(
        found,
        value=float(value[picked]),
        who=who,
        reference=reference,
        numerator=one,
        denominator=other,
        metric=name,
        broken=frozenset(_worse_first(part, base, *pair)[0] for pair in broken),
        apart=_apart(part, who, reference, each),
        beside={int(members[at]): (float(value[at]), float(low[at]), float(high[at])) for at in beside},
    )


def _apart(part: Measured, who: int, reference: int, level: float) -> tuple[float, float]:
    """The ends of the difference between the rates of two sets."""
    if not part.rate:
        return np.nan, np.nan
    sets = np.array([who, reference])
    (one, other), (n1, n2) = part.value[sets], part.size[sets]
    counts = one * n1, n1, other * n2, n2
    low, high = agreeing(score_difference(*counts, level), 0.0, *counts, level)
    return float(low), float(high)


def _worse_first(part: Measured, base: int | None, one: int, other: int) -> tuple[int, int]:
    """Two sets, the worse-off first; the reference, where there is one, comes second."""
    if base is not None:
        better = one == base
    else:
        better = bool(part.value[one] > part.value[other]) == (part.metric.higher_is_better is not False)
    return (other, one) if better else (one, other)


def overall_evidence(rule: Rule, subject: Subject, level: float, rows: int) -> Evidence:
    """One metric over all rows."""

    def at(level: float) -> Any:
        return evaluate(rule.metric, Rows.of(subject), level=level, n_boot=subject.settings.n_boot)

    figure, tests = at(simultaneous_level(level, rows)), at(1 - 2 * (1 - level))
    if figure.value is None:
        raise NotApplicable(figure.note or msg("not available"))
    low, high, least, most = (
        np.nan if end is None else end for end in (figure.low, figure.high, tests.low, tests.high)
    )
    return Evidence(value=figure.value, low=low, high=high, least=least, most=most)


def _ends(
    part: Measured, first: Indices, second: Indices, rule: Rule, each: float, level: float
) -> tuple[Floats, Floats, Floats]:
    """The figures of all pairs and the ends of their intervals at the level `each`."""
    one, other = part.value[first], part.value[second]
    value = one - other if rule.measure == "difference" else quotient(one, other)
    if part.rate:
        n1, n2 = part.size[first], part.size[second]
        counts = one * n1, n1, other * n2, n2
        if rule.measure == "difference":
            return value, *agreeing(score_difference(*counts, each), 0.0, *counts, each)
        return value, *agreeing(score_ratio(*counts, each), 1.0, *counts, each)
    figures = part.figures.take(first), part.figures.take(second)
    factor = normal_quantile(each) / normal_quantile(level)
    if rule.measure == "difference":
        return value, *stretched(value, *difference_interval(*figures, level), factor)
    if part.metric.range[0] < 0:  # no ratio of numbers that can be negative
        return value, np.full(value.shape, np.nan), np.full(value.shape, np.nan)
    return value, *stretched_ratio(value, *ratio_interval(*figures, level), factor)


def _worst(values: Floats | Sequence[float], rule: Rule) -> int | None:
    given = np.asarray(values, dtype=float)
    if np.isnan(given).all():
        return None
    return int(np.nanargmin(given) if rule.at_least is not None else np.nanargmax(given))


def _worst_end(values: Floats | Sequence[float], rule: Rule) -> float:
    """The end on the worse side; a comparison without one leaves none, since it could be the worst."""
    given = np.asarray(values, dtype=float)
    return float(given.min() if rule.at_least is not None else given.max())
