"""What a fix has to reach: criteria with their limits, from a goal, a limit or a policy."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any

from isonomia.errors import SpecError, close_to
from isonomia.evidence import THRESHOLDS
from isonomia.fairness.criteria.named import CRITERIA, criteria_of_metrics, criterion_of
from isonomia.mitigation.judging.paired import BINARY, NUMBERS
from isonomia.policies import BaseRule, Policy, Rule, check_attributes, load_policy

#: The largest difference of rates, and the smallest ratio, unless another limit is given.
LIMIT, RATIO_LIMIT = 0.05, 0.8
#: Every criterion that a fix can be judged by, of classes and of numbers.
GOALS = (
    *(of_classes := criteria_of_metrics(BINARY, numbers=False)),
    *(name for name in criteria_of_metrics(NUMBERS, numbers=True) if name not in of_classes),
)

PolicyLike = str | Path | Mapping[str, Any] | Policy


@dataclass(frozen=True)
class Goal:
    """A criterion and its limit: the largest difference, or the smallest ratio.

    Attributes
    ----------
    attributes : tuple of str
        The protected attributes that it is about; all of them where empty.
    intersections : bool
        Whether it is about intersections of attributes too.
    min_rows, min_share : int, float
        Groups with fewer rows, or a smaller share of them, are not compared; 0 for the setting `min_per_group`.
    deviations : float, optional
        The limit in standard deviations of the true outcomes, where it was set so.
    rule : str
        The id of the policy's rule that it stands for; empty for a goal that was named.
    """

    criterion: str
    limit: float
    attributes: tuple[str, ...] = ()
    intersections: bool = True
    min_rows: int = 0
    min_share: float = 0.0
    deviations: float | None = None
    rule: str = ""

    def covers(self, way: Sequence[str]) -> bool:
        """Whether it is about the groups of these attributes."""
        return (len(way) == 1 or self.intersections) and (not self.attributes or set(way) <= {*self.attributes})

    def least(self, n: int) -> int | None:
        """The rows that a group of n people must have to be compared; None for the setting."""
        return max(self.min_rows, ceil(self.min_share * n)) or None

    @property
    def ratio(self) -> bool:
        """Whether groups are compared by a ratio."""
        return CRITERIA[self.criterion].measure == "ratio"

    @property
    def tol(self) -> float:
        """The tolerance of a method: the limit of a difference, 1 less the smallest ratio."""
        return 1 - self.limit if self.ratio else self.limit

    def metrics(self, task: str) -> tuple[str, ...]:
        """The metrics that groups are compared by."""
        return _criteria(task)[self.criterion]

    def rules_for(self, task: str, ways: Sequence[tuple[str, ...]], number: int = 0) -> list[Rule]:
        """What it asks of the groups of these attributes, as rules that the judge decides."""
        return [
            Rule(
                id=f"{self.criterion}-{metric}-{number}",
                name=self.criterion,
                metric=metric,
                measure="ratio" if self.ratio else "difference",
                by="all" if any(len(way) > 1 for way in ways) else "each",
                attributes=tuple(dict.fromkeys(name for way in ways for name in way)),
                min_share=self.min_share,
                at_least=self.limit if self.ratio else None,
                at_most=None if self.ratio else self.limit,
            )
            for metric in self.metrics(task)
        ]


def read_goals(
    goal: str, limit: float | None, policy: PolicyLike | None, task: str, *, known: Sequence[str], spread: float
) -> tuple[tuple[Goal, ...], tuple[BaseRule, ...]]:
    """The goals, those of a policy instead of `goal` and `limit`; and the policy's rules that are not about metrics.

    `known` are the protected attributes, `spread` the standard deviation of a regression's true outcomes, else 1.
    """
    if policy is None:
        return (read_goal(goal, limit, task, spread=spread),), ()
    goals, ignored = goals_of(policy, task, known=known, spread=spread)
    if not goals:
        raise SpecError(
            f"No rule of the policy compares groups by a figure that a fix can be judged by. Those are: "
            f"{', '.join(_criteria(task))}. Give `goal` and `limit` instead."
        )
    return goals, ignored


def read_goal(goal: str, limit: float | None, task: str, *, spread: float) -> Goal:
    """A criterion with its limit; by default a difference of numbers is measured in standard deviations (`spread`)."""
    known = _criteria(task)
    if goal not in known:
        raise SpecError(f"`goal` must be one of {', '.join(known)}; got {goal!r}.{close_to(goal, known)}")
    ratio = CRITERIA[goal].measure == "ratio"
    if limit is None and task == "regression" and not ratio:
        share = THRESHOLDS["mean_gap"].reported
        return Goal(goal, share * spread, deviations=share)
    value = (RATIO_LIMIT if ratio else LIMIT) if limit is None else float(limit)
    if not value >= 0 or (ratio and value > 1):
        raise SpecError(f"`limit` must be {'a ratio in [0, 1]' if ratio else 'at least 0'}; got {limit!r}.")
    return Goal(goal, value)


def goals_of(
    policy: PolicyLike, task: str, *, known: Sequence[str], spread: float
) -> tuple[tuple[Goal, ...], tuple[BaseRule, ...]]:
    """What the rules of a policy let a fix aim at, and the rules that no fix is judged by: those about checks.

    Raises
    ------
    SpecError
        Where a rule names attributes and none of them is protected.
    """
    read = load_policy(policy)
    check_attributes(read.rules, known)
    found: dict[BaseRule, Goal | None] = {}
    for rule in read.rules:
        goal = _of_rule(rule, _criteria(task), spread)
        there = tuple(name for name in rule.attributes if name in known) if isinstance(rule, Rule) else ()
        found[rule] = goal and replace(goal, min_rows=read.min_per_group, attributes=there, rule=rule.id)
    goals = tuple(one for one in found.values() if one is not None)
    return goals, tuple(rule for rule in found if not isinstance(rule, Rule))


def _criteria(task: str) -> Mapping[str, tuple[str, ...]]:
    """The criteria that fixes are judged by, and their metrics."""
    numbers = task == "regression"
    return criteria_of_metrics(NUMBERS if numbers else BINARY, numbers=numbers)


def _of_rule(rule: BaseRule, known: Container[str], spread: float) -> Goal | None:
    """The goal that a rule sets; None for one that no fix is judged by."""
    if not isinstance(rule, Rule):
        return None
    criterion = criterion_of(rule.metric, rule.measure)
    if criterion not in known or (rule.measure == "difference" and rule.side == "at_least"):
        return None
    deviations = rule.limit if rule.unit == "sd" else None
    limit = rule.limit if deviations is None else deviations * spread
    if rule.measure == "ratio" and rule.side == "at_most":  # largest over smallest; goals are smallest over largest
        if limit < 1:
            return None
        limit = 1 / limit
    return Goal(
        str(criterion),
        limit,
        attributes=rule.attributes,
        intersections=rule.by == "all",
        min_share=rule.min_share,
        deviations=deviations,
    )
