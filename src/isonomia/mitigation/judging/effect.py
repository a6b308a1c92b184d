"""What a fix did about one gap, as a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isonomia.evidence import Tried
from isonomia.fairness.criteria.named import criterion_of
from isonomia.languages import Message, msg
from isonomia.mitigation.judging.effect_tables import cost_sentence, criterion_titles
from isonomia.mitigation.judging.goals import Goal
from isonomia.mitigation.judging.judge import Judged
from isonomia.mitigation.registry import MITIGATIONS

Key = tuple[str, tuple[str, ...]]


def effect_of(judged: Judged, methods: Sequence[str], metric: str, by: Sequence[str]) -> Tried | None:
    """What one of these methods did about the gap of a metric between the groups of some attributes.

    The best fix if it is among them and narrows the gap, else the one that leaves the smallest gap (and is not worse
    than the same answer for everyone). Where the metric or the groups are not compared, the goal is. None where none of
    the methods was tried, or the gap does not exist.
    """
    comparison = judged.comparison
    fixes = [name for name in comparison.names if name in methods and name not in judged.worthless]
    if not fixes:
        return None
    criterion, way = _figure(judged, metric, by)
    number = comparison.gaps.index(criterion, way)
    before, after = float(comparison.bands.before.value[number]), comparison.bands.after.value[:, number]
    sign = -1 if Goal(criterion, 0.0).ratio else 1

    def narrowed(one: str) -> float:
        by_much = sign * (before - float(after[_at(judged, one)]))
        return by_much if np.isfinite(by_much) else -np.inf

    name, best = max(fixes, key=narrowed), judged.best
    if np.isinf(narrowed(name)):  # one of the groups has no such rate
        return None
    if best is not None and best in fixes and narrowed(best) > 0:
        name = best
    fix = _at(judged, name)
    facts = {
        "method": MITIGATIONS[name].title,
        "criterion": criterion_titles()[criterion],
        "by": " x ".join(way),
        "before": before,
        "after": float(after[fix]),
        "cost": cost_sentence(comparison, fix),
    }
    plain = comparison.subject.task == "regression" or sign < 0
    helps = narrowed(name) > 0 and not np.isclose(before, float(after[fix]))
    message = _sentence(facts, plain=plain) if helps else _no_help(facts, plain=plain)
    return Tried(method=name, message=message, evidence="mitigation/methods")


def _at(judged: Judged, name: str) -> int:
    return judged.comparison.names.index(name)


def _figure(judged: Judged, metric: str, by: Sequence[str]) -> Key:
    """The criterion and the attributes of the gap, as far as they are compared; those of the goal otherwise."""
    goal = judged.of[judged.leading]
    criterion = criterion_of(metric, "difference") or goal.criterion
    way = tuple(name for name in judged.comparison.ways[-1] if name in by) or judged.ways[0]
    keys = judged.comparison.gaps.keys
    wanted = [(criterion, way), (goal.criterion, way), (criterion, judged.ways[0])]
    return next((key for key in wanted if key in keys), (goal.criterion, judged.ways[0]))


def _sentence(facts: dict[str, Any], *, plain: bool) -> Message:
    """What a fix that narrows the gap did: rates in points; ratios and numbers, where `plain`, as they are."""
    if not plain:
        return msg(
            "Tried: {method}. The gap ({criterion} by {by}) falls from {before:points} to {after:points} points; "
            "{cost}.",
            **facts,
        )
    if facts["after"] < facts["before"]:
        return msg("Tried: {method}. {criterion} by {by} falls from {before:num} to {after:num}; {cost}.", **facts)
    return msg("Tried: {method}. {criterion} by {by} rises from {before:num} to {after:num}; {cost}.", **facts)


def _no_help(facts: dict[str, Any], *, plain: bool) -> Message:
    """That no fix narrows the gap, with the one that comes closest."""
    if plain:
        return msg(
            "None of the fixes tried narrows this gap: {criterion} by {by} is {before:num} without and {after:num} "
            "with {method}.",
            **facts,
        )
    return msg(
        "None of the fixes tried narrows this gap ({criterion} by {by}): it has {before:points} points without and "
        "{after:points} with {method}.",
        **facts,
    )
