"""Verdicts of fixes: which meet the goals by their intervals, which no other one beats, and which is cheapest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from isonomia.counting import sum_by
from isonomia.data import listed
from isonomia.errors import SpecError
from isonomia.evidence.intervals import extremes, spread_of
from isonomia.mitigation.judging.bands import criteria_of
from isonomia.mitigation.judging.comparison import Comparison
from isonomia.mitigation.judging.goals import Goal, Verdict
from isonomia.typing import Floats


@dataclass(frozen=True, eq=False)
class Judged:
    """What is known about every fix, the first of which ("none") changes nothing.

    Attributes
    ----------
    figures : mapping of int
        For each fix the index of the gap that misses its limit most (of the goals and ways of grouping); where none
        does, of the one that did before.
    verdicts : mapping
        For each fix the worst verdict over goals and ways of grouping.
    chances : mapping of float
        The share of decisions left to chance.
    each : mapping
        For each fix its verdict by each goal and way of grouping, with the index of the gap.
    open : tuple
        Goals and ways of grouping whose groups cannot be compared: no fix is shown to meet them.
    left_out : tuple of int
        Groups that the goals are about and that are too small to be compared: no fix is shown to meet them.
    features : tuple of str
        The protected attributes among the features of the model: every fix of it reads them when it decides.
    constant : float
        What the same answer for everyone reaches in the objective: the commonest class, or the median number.
    worthless : tuple of str
        Fixes that are worse than that answer, although the unchanged model is not: none of them is the best.
    """

    comparison: Comparison
    goals: tuple[Goal, ...]
    ways: tuple[tuple[str, ...], ...]
    figures: Mapping[str, int]
    of: Mapping[str, Goal]
    verdicts: Mapping[str, Verdict]
    each: Mapping[str, tuple[tuple[Goal, int, Verdict], ...]]
    open: tuple[tuple[Goal, tuple[str, ...]], ...]
    chances: Mapping[str, float]
    left_out: tuple[int, ...]
    features: tuple[str, ...]
    objective: str
    constant: float
    worthless: tuple[str, ...]
    front: tuple[str, ...]
    best: str | None
    verdict: Verdict

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
        fix, after = self.comparison.names.index(name), self.comparison.bands.after
        keys = self.comparison.gaps.keys
        return [(_excess(goal, float(after.value[fix, index])), keys[index][1]) for goal, index, _ in self.each[name]]

    def excess(self, name: str) -> float:
        """By which share of its limit a fix misses it; negative where it keeps it."""
        fix, goal = self.comparison.names.index(name), self.of[name]
        return _excess(goal, float(self.comparison.bands.after.value[fix, self.figures[name]]))


def judge(
    comparison: Comparison,
    goals: Sequence[Goal],
    ways: Sequence[tuple[str, ...]],
    chances: Mapping[str, float],
    objective: str,
    features: Sequence[str] = (),
    *,
    whole: bool = False,
) -> Judged:
    """The verdict of every fix, the front and the best.

    `whole` says that the goals are a policy's and `ways` all that it covers: one whose groups cannot be compared leaves
    the verdict open. Otherwise that is an error.
    """
    n = len(comparison.subject)
    asked = [(goal, tuple(way)) for goal in goals for way in ways if goal.covers(way)]
    find = comparison.gaps.find if whole else comparison.gaps.index
    found = [(goal, way, find(goal.criterion, way, goal.least(n))) for goal, way in asked]
    wanted = [(goal, index) for goal, _, index in found if index is not None]
    unclear = tuple((goal, way) for goal, way, index in found if index is None)
    if not wanted:
        raise no_rule_about(ways)
    left_out = tuple(sorted(set().union(*(comparison.gaps.left_out[figure] for _, figure in wanted))))
    unseen = left_out or unclear or any(goal.absent for goal in goals)
    verdicts: dict[str, Verdict] = {}
    each: dict[str, tuple[tuple[Goal, int, Verdict], ...]] = {}
    figures, of = {}, {}
    for fix, name in enumerate(comparison.names):
        after = comparison.bands.after
        ends = [(goal, i, float(after.low[fix, i]), float(after.high[fix, i])) for goal, i in wanted]
        each[name] = tuple((goal, i, goal.verdict(low, high)) for goal, i, low, high in ends)
        said = [one for *_, one in each[name]]
        verdicts[name] = _worst([*said, "not_enough_evidence"] if unseen else said)
        far = [_excess(goal, float(after.value[fix, i])) for goal, i in wanted]
        if max(far) <= 0:  # nothing is missed: the figure that was furthest before
            far = [_excess(goal, float(comparison.bands.before.value[i])) for goal, i in wanted]
        of[name], figures[name] = wanted[int(np.argmax(far))]
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
    overall: Verdict = "exceeds" if failed else "not_enough_evidence"
    return Judged(
        comparison=comparison,
        goals=tuple(goals),
        ways=tuple(tuple(way) for way in ways),
        figures=figures,
        of=of,
        verdicts=verdicts,
        each=each,
        open=unclear,
        chances=chances,
        left_out=left_out,
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


def _worst(verdicts: Sequence[Verdict]) -> Verdict:
    order: tuple[Verdict, ...] = ("exceeds", "not_enough_evidence", "meets")
    return next(one for one in order if one in verdicts)


def _excess(goal: Goal, value: float) -> float:
    """By which share of its limit a figure misses it, so that goals of other units can be compared."""
    return (goal.limit - value if goal.ratio else value - goal.limit) / max(goal.limit, 1e-12)


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
