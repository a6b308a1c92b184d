"""What a fix did about one gap, as a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isonomia.evidence import Tried
from isonomia.languages import Message, msg
from isonomia.mitigation.judging.effect_tables import cost_sentence, criterion_titles
from isonomia.mitigation.judging.goals import CRITERION_OF, Goal
from isonomia.mitigation.judging.judge import Judged
from isonomia.mitigation.registry import MITIGATIONS

Key = tuple[str, tuple[str, ...]]


def effect_of(judged: Judged, methods: Sequence[str], metric: str, by: Sequence[str]) -> Tried | None:
    """What one of these methods did about the gap of a metric between the groups of some attributes.

    The best fix if it is among them, else the one that leaves the smallest gap. Where the metric or the groups are not
    compared, the goal is. None where none of the methods was tried.
    """
    comparison = judged.comparison
    tried = [name for name in comparison.names if name in methods]
    if not tried:
        return None
    criterion, way = _figure(judged, metric, by)
    number = comparison.gaps.index(criterion, way)
    after = comparison.bands.after.value[:, number]
    sign = -1 if Goal(criterion, 0.0).ratio else 1
    name = str(judged.best) if judged.best in tried else min(tried, key=lambda one: sign * after[_at(judged, one)])
    fix = _at(judged, name)
    before, now = float(comparison.bands.before.value[number]), float(after[fix])
    facts = {
        "method": MITIGATIONS[name].title,
        "criterion": criterion_titles()[criterion],
        "by": " x ".join(way),
        "before": before,
        "after": now,
        "cost": cost_sentence(comparison, fix),
    }
    message = _sentence(facts, plain=comparison.subject.task == "regression" or sign < 0)
    return Tried(method=name, message=message, evidence="mitigation/methods")


def _at(judged: Judged, name: str) -> int:
    return judged.comparison.names.index(name)


def _figure(judged: Judged, metric: str, by: Sequence[str]) -> Key:
    """The criterion and the attributes of the gap, as far as they are compared; those of the goal otherwise."""
    goal = judged.of[judged.leading]
    criterion = CRITERION_OF.get((metric, "difference"), goal.criterion)
    way = tuple(name for name in judged.comparison.ways[-1] if name in by) or judged.ways[0]
    keys = judged.comparison.gaps.keys
    wanted = [(criterion, way), (goal.criterion, way), (criterion, judged.ways[0])]
    return next((key for key in wanted if key in keys), (goal.criterion, judged.ways[0]))


def _sentence(facts: dict[str, Any], *, plain: bool) -> Message:
    """Rates in points; ratios and numbers, where `plain`, as they are."""
    if np.isclose(facts["before"], facts["after"]):
        return msg("Tried: {method}. The gap ({criterion} by {by}) stays the same; {cost}.", **facts)
    falls = facts["after"] < facts["before"]
    if plain and falls:
        return msg("Tried: {method}. {criterion} by {by} falls from {before:num} to {after:num}; {cost}.", **facts)
    if plain:
        return msg("Tried: {method}. {criterion} by {by} rises from {before:num} to {after:num}; {cost}.", **facts)
    if falls:
        return msg(
            "Tried: {method}. The gap ({criterion} by {by}) falls from {before:points} to {after:points} points; "
            "{cost}.",
            **facts,
        )
    return msg(
        "Tried: {method}. The gap ({criterion} by {by}) rises from {before:points} to {after:points} points; {cost}.",
        **facts,
    )
