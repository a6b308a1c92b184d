"""Verdicts of fixes: which meet the goals by their intervals, which no other one beats, and which is cheapest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np

from isonomia.counting import sum_by
from isonomia.data import listed
from isonomia.errors import NotApplicable, SpecError
from isonomia.evidence.intervals import extremes, spread_of
from isonomia.fairness.judging.judge import Judgement, judge_metrics
from isonomia.fairness.judging.limits import Outcome, worst_of
from isonomia.mitigation.judging.bands import criteria_of
from isonomia.mitigation.judging.comparison import Comparison
from isonomia.mitigation.judging.goals import Goal
from isonomia.policies import Policy, Rule
from isonomia.subject import Subject
from isonomia.typing import Floats


@dataclass(frozen=True, eq=False)
class Reached:
    """What the judge says of one limit and one way of grouping after a fix, and where it stands among the gaps.

    `goal` and `figure` are None for a rule that groups are not compared by, or whose groups cannot be compared.
    """

    judgement: Judgement
    goal: Goal | None
    figure: int | None

    @property
    def outcome(self) -> Outcome | Literal["not_applicable"]:
        """What the judge says."""
        return self.judgement.outcome

    @property
    def value(self) -> float | None:
        """The figure, None where there is none."""
        evidence = self.judgement.evidence
        return None if evidence is None or np.isnan(evidence.value) else evidence.value

    @property
    def excess(self) -> float:
        """By which share of its limit it is missed, so that other units compare; negative where it is kept."""
        rule = self.judgement.rule
        if self.value is None:
            return -np.inf
        return rule.sign * (rule.limit - self.value) / max(abs(rule.limit), 1e-12)


@dataclass(frozen=True, eq=False)
class Judged:
    """What is known about every fix, the first of which ("none") changes nothing.

    Attributes
    ----------
    figures : mapping of int
        For each fix the index of the gap that misses its limit most (of the goals and ways of grouping); where none
        does, of the one that did before.
    verdicts : mapping
        For each fix the worst outcome over everything that is asked of it.
    each : mapping
        For each fix what the judge says of every limit and way of grouping: what an audit of its decisions says.
    chances : mapping of float
        The share of decisions left to chance.
    features : tuple of str
        The protected attributes among the features of the model: every fix of it reads them when it decides.
    constant : float
        What the same answer for everyone reaches in the objective: the commonest class, or the median number.
    worthless : tuple of str
        Fixes that are worse than that answer, although the unchanged model is not: none of them is the best.
    """

    comparison: Comparison
    goals: tuple[Goal, ...]
    policy: Policy | None
    ways: tuple[tuple[str, ...], ...]
    figures: Mapping[str, int]
    of: Mapping[str, Goal]
    verdicts: Mapping[str, Outcome]
    each: Mapping[str, tuple[Reached, ...]]
    chances: Mapping[str, float]
    features: tuple[str, ...]
    objective: str
    constant: float
    worthless: tuple[str, ...]
    front: tuple[str, ...]
    best: str | None
    verdict: Outcome

    @property
    def not_applicable(self) -> tuple[Rule, ...]:
        """The rules on metrics that say nothing about decisions like these."""
        return tuple(one.judgement.rule for one in self.each["none"] if one.outcome == "not_applicable")

    def loss(self, name: str) -> float:
        """How much of the objective a fix costs."""
        return loss_of(self.comparison, self.comparison.names.index(name), self.objective)[0]

    @property
    def leading(self) -> str:
        """The fix that is shown in detail: the best, or else the closest to its limit; "none" where none was tried."""
        if self.best not in (None, "none"):
            return str(self.best)
        fixes = [name for name in self.comparison.names if name != "none"]
        return min(fixes, key=lambda name: (name in self.worthless, self.excess(name)), default="none")

    def excesses(self, name: str) -> list[tuple[float, tuple[str, ...]]]:
        """By which share of its limit a fix misses each goal, and the attributes whose groups that is about."""
        return [(one.excess, one.judgement.by) for one in self.each[name] if one.figure is not None]

    def excess(self, name: str) -> float:
        """By which share of its limit a fix misses what it misses most; negative where it keeps all."""
        return max(excess for excess, _ in self.excesses(name))


def judge(
    comparison: Comparison,
    goals: Sequence[Goal],
    ways: Sequence[tuple[str, ...]],
    chances: Mapping[str, float],
    objective: str,
    features: Sequence[str] = (),
    *,
    policy: Policy | None = None,
) -> Judged:
    """The verdict of every fix, the front and the best.

    With a `policy`, which the goals come from, everything that it asks of metrics is judged; without one the goals are,
    by `ways`, and ways of grouping that cannot be compared are an error.
    """
    names, ways = comparison.names, [tuple(way) for way in ways]
    asked = policy or _policy_of(goals, ways, comparison.subject)
    goal_of = {goal.rule: goal for goal in goals} if policy else _goal_of(goals, ways, comparison.subject)
    find = comparison.gaps.find if policy else comparison.gaps.index
    n = len(comparison.subject)

    def reached(name: str) -> tuple[Reached, ...]:
        said = judge_metrics(asked, comparison.decided(name))
        found = []
        for one in (one for judgements in said.values() for one in judgements):
            if one.fault is not None:
                raise one.fault
            goal = goal_of.get(one.rule.id)
            if policy or one.by in ways:
                compared = goal is not None and one.by and one.examined
                figure = find(goal.criterion, one.by, goal.least(n)) if goal is not None and compared else None
                found.append(Reached(one, goal, figure))
        return tuple(found)

    each = {name: reached(name) for name in names}
    wanted = [(one.goal, one.figure) for one in each["none"] if one.goal is not None and one.figure is not None]
    if not wanted:
        reasons = [one.judgement.reason for one in each["none"] if one.goal is not None and one.judgement.reason]
        raise NotApplicable(reasons[0]) if reasons else no_rule_about(ways)
    verdicts: dict[str, Outcome] = {}
    figures, of = {}, {}
    for name in names:
        said = worst_of(one.outcome for one in each[name] if one.outcome != "not_applicable")
        verdicts[name] = cast(Outcome, said)
        shown = [one for one in each[name] if one.figure is not None]
        if max(one.excess for one in shown) <= 0:  # nothing is missed: the figure that was furthest before
            shown = [one for one in each["none"] if one.figure is not None]
        worst = max(shown, key=lambda one: one.excess)
        assert worst.goal is not None
        assert worst.figure is not None
        of[name], figures[name] = worst.goal, worst.figure
    cost = {name: loss_of(comparison, comparison.names.index(name), objective)[0] for name in comparison.names}
    constant, loss = _same_for_everyone(comparison, objective)
    worthless = tuple(name for name in cost if cost[name] > loss + 1e-9) if loss >= 0 else ()
    meeting = [name for name, verdict in verdicts.items() if verdict == "meets" and name not in worthless]
    best = min(
        ["none"] if "none" in meeting else meeting,  # what meets the goal needs no fix
        key=lambda name: (round(cost[name], 9), comparison.share_changed(comparison.names.index(name))),
        default=None,
    )
    fixes = [name for name in comparison.names if name != "none"] or ["none"]
    failed = all(verdicts[name] == "exceeds" or name in worthless for name in fixes)
    overall: Outcome = "exceeds" if failed else "not_enough_evidence"
    return Judged(
        comparison=comparison,
        goals=tuple(goals),
        policy=policy,
        ways=tuple(ways),
        figures=figures,
        of=of,
        verdicts=verdicts,
        each=each,
        chances=chances,
        features=tuple(features),
        objective=objective,
        constant=constant,
        worthless=worthless,
        front=_front(comparison, wanted[0], objective),
        best=best,
        verdict="meets" if best is not None else overall,
    )


def no_rule_about(ways: Sequence[tuple[str, ...]]) -> SpecError:
    """The error where a policy asks nothing about the groups of these attributes."""
    named = listed([" x ".join(way) for way in ways])
    return SpecError(f"No rule of the policy is about {named}. Name other `attributes`, or give `goal` and `limit`.")


def _policy_of(goals: Sequence[Goal], ways: Sequence[tuple[str, ...]], subject: Subject) -> Policy:
    """The goals as a policy, so that one judge decides."""
    rules = [rule for number, goal in enumerate(goals) for rule in goal.rules_for(subject.task, ways, number)]
    least = max((goal.min_rows for goal in goals), default=0) or subject.settings.min_per_group
    return Policy(id="goals", title="goals", min_per_group=least, rules=tuple(rules))


def _goal_of(goals: Sequence[Goal], ways: Sequence[tuple[str, ...]], subject: Subject) -> dict[str, Goal]:
    """The goal behind each rule of `_policy_of`."""
    return {rule.id: goal for number, goal in enumerate(goals) for rule in goal.rules_for(subject.task, ways, number)}


def loss_of(comparison: Comparison, fix: int, objective: str) -> tuple[float, Floats]:
    """What a fix costs over everyone, and its replicates: accuracy or balanced accuracy lost, or error gained."""
    measures = comparison.measures
    moved, drawn = (
        sum(sign * (after[fix, q, -1] - before[q, -1]) for q, sign in _parts(comparison, objective))
        for after, before in ((measures.after, measures.before), (measures.after_draws, measures.before_draws))
    )
    return float(moved), np.asarray(drawn)


def _parts(comparison: Comparison, objective: str) -> list[tuple[int, float]]:
    """The metrics that a cost is the sum of, each with its factor."""
    names = [metric.base_id for metric in comparison.measures.metrics]
    if "mae" in names:
        return [(names.index("mae"), 1.0)]
    if objective == "accuracy":
        return [(names.index("accuracy"), -1.0)]
    if names.count("tpr") == 1:
        return [(names.index("tpr"), -0.5), (names.index("fpr"), 0.5)]
    recalls = [number for number, name in enumerate(names) if name == "tpr"]  # of several classes, their mean
    return [(number, -1.0 / len(recalls)) for number in recalls]


def _same_for_everyone(comparison: Comparison, objective: str) -> tuple[float, float]:
    """What one answer for everyone reaches in the objective, and how much more it costs than the unchanged model."""
    subject, parts = comparison.subject, _parts(comparison, objective)
    weights = np.ones(len(subject)) if subject.weights is None else subject.weights
    before = float(sum(sign * comparison.measures.before[q, -1] for q, sign in parts))
    if subject.task == "regression":
        order = np.argsort(subject.truth, kind="stable")
        mass = np.cumsum(weights[order])
        median = subject.truth[order][np.searchsorted(mass, mass[-1] / 2)]
        error = float(np.average(np.abs(subject.truth - median), weights=weights))
        return error, error - before
    sizes = sum_by(subject.truth, weights, len(subject.surface.classes))
    if objective == "accuracy":
        share = float(sizes.max() / sizes.sum())
        return share, -share - before
    # one answer has a recall of 1 for its class and of 0 for the others; of two classes, as many hits as false alarms
    return 1 / sizes.size, (0.0 if sizes.size == 2 else -1 / sizes.size) - before


def _front(comparison: Comparison, wanted: tuple[Goal, int], objective: str) -> tuple[str, ...]:
    """Fixes that no other one beats.

    A fix is beaten where another is better in gap or cost by more than the simultaneous interval of their difference,
    and not worse in the other.
    """
    goal, figure = wanted
    criterion, by = comparison.gaps.keys[figure]
    gap, gap_draws = _gap_draws(comparison, criterion, by)
    if goal.ratio:
        gap, gap_draws = -gap, -gap_draws
    costs = [loss_of(comparison, fix, objective) for fix in range(len(comparison.names))]
    cost, cost_draws = np.array([one[0] for one in costs]), np.stack([one[1] for one in costs])
    kept = []
    for a, name in enumerate(comparison.names):
        beaten = False
        for b in range(len(comparison.names)):
            less = [
                (float(value[a] - value[b]), float(spread_of((draws[a] - draws[b])[None])[0]))
                for value, draws in ((gap, gap_draws), (cost, cost_draws))
            ]
            clear = any(d - comparison.bands.critical * se > 0 for d, se in less)
            beaten |= clear and all(d >= 0 for d, _ in less)
        if not beaten:
            kept.append(name)
    return tuple(kept)


def _gap_draws(comparison: Comparison, criterion: str, by: tuple[str, ...]) -> tuple[Floats, Floats]:
    measures, members = comparison.measures, np.array(comparison.members(by))
    indices, how = criteria_of(measures)[criterion]
    which = 0 if how == "difference" else 1
    pick = np.maximum.reduce if how == "difference" else np.minimum.reduce
    values: list[Floats] = []
    drawn: list[Floats] = []
    for q in indices:
        enough = measures.size[q, members] >= comparison.subject.settings.min_per_group
        value = measures.after[:, q, members[enough]]
        values.append(extremes(value)[which])
        # a replicate in which a group that has a value is undefined has no gap
        draws = np.moveaxis(measures.after_draws[:, q, members[enough]], -1, -2)
        undefined = (np.isnan(draws) & ~np.isnan(value)[..., None, :]).any(axis=-1)
        drawn.append(np.where(undefined, np.nan, extremes(draws)[which]))
    return pick(values), pick(drawn)
