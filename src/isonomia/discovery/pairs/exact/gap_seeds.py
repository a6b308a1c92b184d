"""People whose variants are treated far apart, found by looking: where the search for the widest gap begins."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.pairs.exact.box_descent import BoxDescent
from isonomia.models import Link, apply_link
from isonomia.typing import Floats

#: Nodes per evaluation, people to start from, values tried per feature, rounds.
NODES, CLIMBERS, VALUES, ROUNDS = 1_000_000, 8, 24, 4
#: Default limit on descents of a tree.
WALKS = 50_000_000


def gaps_of(descent: BoxDescent, lines: list[NDArray[np.intp]], rows: Floats, link: Link) -> Floats:
    """The largest difference between the predictions of each person's variants."""
    predicted = apply_link(link, descent.raw(rows))
    widest = np.zeros(len(rows))
    for line in lines:
        widest = np.maximum(widest, np.ptp(predicted[:, line], axis=1).max(axis=1))
    return widest


def climb(
    descent: BoxDescent, lines: list[NDArray[np.intp]], link: Link, stop: Callable[[], bool], *, walks: int = WALKS
) -> tuple[float, Floats]:
    """The widest gap found by changing one feature at a time of the best of people drawn at random, and the person.

    It ends after about `walks` descents of a tree, a measure of work that is the same on every machine.
    """
    rng = np.random.default_rng(0)
    person = len(descent.trees.roots) * len(descent.variants)
    count = int(np.clip(min(NODES, walks // 4) // person, 16, 4000))
    left = walks // person - count
    rows = descent.domain.sample(count, rng)
    rows[:, descent.protected] = descent.variants[0]
    gap = gaps_of(descent, lines, rows, link)
    top = np.argsort(-gap, kind="stable")[: min(CLIMBERS, count)]
    best, height = rows[top], gap[top]
    free = descent.free[descent.domain.high[descent.free] > descent.domain.low[descent.free]]
    for _ in range(ROUNDS):
        before = height.max()
        for feature in free:
            if left <= 0 or stop():
                break
            values = _values(descent, int(feature), max(2, min(VALUES, count // len(best))), rng)
            left -= len(values) * len(best)
            candidates = np.repeat(best, len(values), axis=0)
            candidates[:, feature] = np.tile(values, len(best))
            heights = gaps_of(descent, lines, candidates, link).reshape(len(best), -1)
            higher = heights.max(axis=1) > height
            pick = heights.argmax(axis=1)
            best[higher, feature] = values[pick[higher]]
            height = np.where(higher, heights.max(axis=1), height)
        if height.max() <= before:
            break
    peak = int(height.argmax())
    return float(height[peak]), best[peak]


def _values(descent: BoxDescent, feature: int, count: int, rng: np.random.Generator) -> Floats:
    """Values of a feature on both sides of its cuts, or all values where there are few."""
    domain, trees = descent.domain, descent.trees
    size = domain.features[feature].size
    if size is not None and size <= count:
        return np.arange(domain.low[feature], domain.high[feature] + 1)
    cuts = np.unique(trees.cut[(trees.feature == feature) & (trees.group < 0)])
    if len(cuts) == 0:
        return np.asarray(domain.sample(count, rng)[:, feature])
    at = np.clip(np.floor(cuts) if domain.whole[feature] else cuts, domain.low[feature], domain.high[feature])
    points = np.unique(np.append(at, domain.high[feature]))
    return np.asarray(points if len(points) <= count else np.sort(rng.choice(points, count, replace=False)))
