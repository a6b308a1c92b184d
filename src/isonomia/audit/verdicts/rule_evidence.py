"""What a rule of a policy looks at: every comparison of groups, with intervals that hold for all of them together.

A verdict that picks the worst of many pairs must not take the interval of a single pair: of ten groups that are treated
alike some two always seem to differ. The ends here hold together at the level of the audit over all pairs, attributes,
classes and rules of the policy. They come from counts alone: the same data give the same verdict for every seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.audit.measurements import measured_groups
from isonomia.errors import NotApplicable, SpecError
from isonomia.evidence.intervals import (
    Figures,
    difference_interval,
    normal_quantile,
    quotient,
    ratio_interval,
)
from isonomia.evidence.score_intervals import agreeing, score_difference, score_ratio
from isonomia.evidence.simultaneous import pair_level, simultaneous_level
from isonomia.fairness import Group, GroupMetrics, group_metrics
from isonomia.fairness.groups.comparisons import strata_of
from isonomia.languages import error_message, msg
from isonomia.metrics import METRICS, Measured, Rows, evaluate
from isonomia.metrics.applicable import TASKS
from isonomia.policies import Policy, Rule
from isonomia.subject import Subject
from isonomia.typing import Bools, Floats

Indices = NDArray[np.intp]


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


@dataclass(frozen=True, eq=False)
class GroupQuestion:
    """A rule about the groups of one way of grouping: who is compared with whom, and who was left out.

    `pairs` are the sets compared, by the name of the metric (one for each class of several): all pairs in both
    directions, or each group with the reference. A group needs `minimum` rows, and of a rate `cases` of its own.
    """

    rule: Rule
    by: tuple[str, ...]
    measured: GroupMetrics
    pairs: dict[str, tuple[Indices, Indices]]
    base: int | None
    left_out: tuple[int, ...]
    minimum: int
    cases: int

    def few_cases(self, index: int) -> int | None:
        """The cases of a group that has enough rows, where these are too few for the rate; else None."""
        if self.measured.sizes[index] < self.minimum:
            return None
        names = self.measured.judged([METRICS[self.rule.metric].id])
        fewest = min((self.measured.measured[name] for name in names), key=lambda part: part.n[index])
        return int(fewest.n[index]) if fewest.rate and fewest.n[index] < self.cases else None

    @property
    def rows(self) -> int:
        """How many times a worst comparison is picked."""
        return len(self.pairs)

    def group(self, index: int) -> Group | None:
        """One of the sets; None for a reference that is not a group."""
        groups = self.groups
        return groups[index] if 0 <= index < len(groups) else None

    @property
    def groups(self) -> Sequence[Group]:
        """All groups."""
        assert self.measured.groups is not None
        return self.measured.groups.groups

    def evidence(self, level: float, rows: int) -> Evidence:
        """The worst comparison, where `rows` worst ones are picked in the whole policy."""
        found = [self._of_metric(name, level, rows) for name in self.pairs]
        worst = _worst([one.value for one in found], self.rule)
        ends = (_worst_end([getattr(one, end) for one in found], self.rule) for end in ("low", "high", "least", "most"))
        picked = found[worst] if worst is not None else found[0]
        low, high, least, most = ends
        broken = frozenset().union(*(one.broken for one in found))
        return replace(picked, low=low, high=high, least=least, most=most, broken=broken)

    def _of_metric(self, name: str, level: float, rows: int) -> Evidence:
        part, (first, second) = self.measured.measured[name], self.pairs[name]
        together = simultaneous_level(level, rows)
        sets = np.unique(first[first != self.base]).size
        each = pair_level(together, sets) if self.base is None else simultaneous_level(together, sets)
        value, low, high = _ends(part, first, second, self.rule, each, level)
        _, least, most = _ends(part, first, second, self.rule, 1 - 2 * (1 - level), level)
        picked = _worst(value, self.rule)
        bottom, top = _worst_end(low, self.rule), _worst_end(high, self.rule)
        if self.rule.measure == "difference":
            bottom = max(bottom, 0.0)
        elif self.base is None and self.rule.at_least is not None:
            top = min(top, 1.0)
        elif self.base is None:
            bottom = max(bottom, 1.0)
        found = Evidence(
            value=np.nan,
            low=bottom,
            high=top,
            least=_worst_end(least, self.rule),
            most=_worst_end(most, self.rule),
        )
        if picked is None:
            return found
        one, other = int(first[picked]), int(second[picked])
        who, reference = self._worse_first(part, one, other)
        beyond = high < self.rule.limit if self.rule.at_least is not None else low > self.rule.limit
        compared = zip(first[beyond].tolist(), second[beyond].tolist(), strict=True)
        return replace(
            found,
            value=float(value[picked]),
            who=who,
            reference=reference,
            numerator=one,
            denominator=other,
            metric=name,
            broken=frozenset(self._worse_first(part, *pair)[0] for pair in compared),
        )

    def _worse_first(self, part: Measured, one: int, other: int) -> tuple[int, int]:
        """Two sets, the worse-off first; the reference, where there is one, comes second."""
        if self.base is not None:
            better = one == self.base
        else:
            better = bool(part.value[one] > part.value[other]) == (part.metric.higher_is_better is not False)
        return (other, one) if better else (one, other)


def group_questions(rule: Rule, policy: Policy, subject: Subject) -> list[GroupQuestion]:
    """One question for each way of grouping that the rule names.

    Raises
    ------
    NotApplicable
        Where the metric or the groups do not exist for this subject.
    """
    measured = _measured(rule, subject)
    assert measured.groups is not None
    minimum = max(policy.min_per_group, int(np.ceil(rule.min_share * len(subject))))
    names = measured.judged([METRICS[rule.metric].id])
    reference = "best" if rule.against == "best" else subject.settings.reference
    try:
        strata = strata_of(measured.groups, measured.sizes, reference)[0]
    except SpecError as error:
        raise NotApplicable(error_message(error)) from error
    questions = []
    for stratum in strata:
        if (rule.by == "each" and len(stratum.by) > 1) or (
            rule.attributes and not set(stratum.by) <= {*rule.attributes}
        ):
            continue
        base = stratum.reference if _names_reference(reference, stratum.by) and not stratum.absent else None
        index = np.array(stratum.members, dtype=np.intp)
        rows = measured.sizes[index] >= minimum
        enough = {name: rows & _judged(measured, name, policy.min_per_group)[index] for name in names}
        left_out = index[~np.all(list(enough.values()), axis=0)]
        pairs = {
            name: pair
            for name, known in enough.items()
            if (pair := _pairs(index[known], base, rule, len(measured.sizes)))[0].size
        }
        questions.append(
            GroupQuestion(
                rule=rule,
                by=stratum.by,
                measured=measured,
                pairs=pairs,
                base=base,
                left_out=tuple(left_out.tolist()),
                minimum=minimum,
                cases=policy.min_per_group,
            )
        )
    return questions


def _judged(measured: GroupMetrics, name: str, least: int) -> Bools:
    """The groups whose value rests on enough rows and cases."""
    part = measured.measured[name]
    sizes = measured.sizes
    return part.enough(sizes, least) & ~np.isnan(part.value[: len(sizes)])


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


def _measured(rule: Rule, subject: Subject) -> GroupMetrics:
    subject.needs_attributes()
    metric = METRICS[rule.metric]
    of_classes = subject.task == "multiclass" and "binary" in metric.tasks and metric.of_decisions
    if subject.task not in metric.tasks and not of_classes:
        raise NotApplicable(
            msg("{metric} is not defined for this task ({task})", metric=metric.title, task=TASKS[subject.task])
        )
    if metric.needs_labels and subject.outcome.truth is None:
        raise NotApplicable(msg("the data have no target, so there are no true outcomes to compare with"))
    if subject.task != "regression" and subject.surface.label is None:
        raise NotApplicable(msg("there are scores but no decisions"))
    if metric.rate is not None:
        return measured_groups(subject, [rule.metric], rule.by)
    # replicates have a seed: the verdict's own, whatever the audit's is
    fixed = replace(subject, settings=subject.settings | {"seed": 0})
    return group_metrics(fixed, metrics=[rule.metric], by=rule.by)


def _names_reference(reference: Any, by: tuple[str, ...]) -> bool:
    """Whether someone named the group of comparison; a rule such as the largest group has no better-off side."""
    if isinstance(reference, dict):
        return any(name in reference for name in by)
    return reference not in ("best", "largest")


def _pairs(used: Indices, base: int | None, rule: Rule, groups: int) -> tuple[Indices, Indices]:
    if base is None:
        first, second = (part.ravel() for part in np.meshgrid(used, used, indexing="ij"))
        return first[first != second], second[first != second]
    others = used[used != base]
    if base < groups and others.size == used.size:  # the reference itself was left out
        others = others[:0]
    against = np.full(others.size, base, dtype=np.intp)
    if rule.measure == "ratio":
        return others, against
    return np.concatenate([others, against]), np.concatenate([against, others])


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
        low, high = difference_interval(*figures, level)
        return value, value - factor * (value - low), value + factor * (high - value)
    return value, *_stretched_ratio(figures, value, factor, level, negative=part.metric.range[0] < 0)


def _stretched_ratio(
    figures: tuple[Figures, Figures], value: Floats, factor: float, level: float, *, negative: bool
) -> tuple[Floats, Floats]:
    """Ends of ratios at another level, on the scale of the logarithm."""
    if negative:  # no ratio of numbers that can be negative
        return np.full(value.shape, np.nan), np.full(value.shape, np.nan)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        centre = np.log(value)
        low, high = (np.log(end) for end in ratio_interval(*figures, level))
        return np.exp(centre - factor * (centre - low)), np.exp(centre + factor * (high - centre))


def _worst(values: Floats | Sequence[float], rule: Rule) -> int | None:
    given = np.asarray(values, dtype=float)
    if np.isnan(given).all():
        return None
    return int(np.nanargmin(given) if rule.at_least is not None else np.nanargmax(given))


def _worst_end(values: Floats | Sequence[float], rule: Rule) -> float:
    """The end on the worse side; a comparison without one leaves none, since it could be the worst."""
    given = np.asarray(values, dtype=float)
    return float(given.min() if rule.at_least is not None else given.max())
