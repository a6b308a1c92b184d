"""People whose variants are treated far apart, found by looking: where the search for the widest gap begins."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.pairs.exact.box_descent import Lanes
from isonomia.models import Link, apply_link
from isonomia.typing import Floats

#: Nodes visited in one look, people climbed from, values of a feature tried, rounds of climbing.
NODES, CLIMBERS, VALUES, ROUNDS = 1_000_000, 8, 24, 4
#: Trees walked down in all, unless told otherwise.
WALKS = 50_000_000


def gaps_of(lanes: Lanes, lines: list[NDArray[np.intp]], rows: Floats, link: Link) -> Floats:
    """How far the variants of each person are apart in what is said."""
    said = apply_link(link, lanes.raw(rows))
    widest = np.zeros(len(rows))
    for line in lines:
        widest = np.maximum(widest, np.ptp(said[:, line], axis=1).max(axis=1))
    return widest


def climb(
    lanes: Lanes, lines: list[NDArray[np.intp]], link: Link, stop: Callable[[], bool], *, walks: int = WALKS
) -> tuple[float, Floats]:
    """The widest gap found by changing one feature at a time of the best of people drawn at random, and the person.

    It ends after about `walks` down a tree: a measure of work that is the same on every machine.
    """
    rng = np.random.default_rng(0)
    person = len(lanes.trees.roots) * len(lanes.variants)
    most = int(np.clip(min(NODES, walks // 4) // person, 16, 4000))
    left = walks // person - most
    rows = lanes.domain.sample(most, rng)
    rows[:, lanes.protected] = lanes.variants[0]
    gap = gaps_of(lanes, lines, rows, link)
    top = np.argsort(-gap, kind="stable")[: min(CLIMBERS, most)]
    best, height = rows[top], gap[top]
    free = lanes.free[lanes.domain.high[lanes.free] > lanes.domain.low[lanes.free]]
    for _ in range(ROUNDS):
        before = height.max()
        for feature in free:
            if left <= 0 or stop():
                break
            values = _values(lanes, int(feature), max(2, min(VALUES, most // len(best))), rng)
            left -= len(values) * len(best)
            tried = np.repeat(best, len(values), axis=0)
            tried[:, feature] = np.tile(values, len(best))
            heights = gaps_of(lanes, lines, tried, link).reshape(len(best), -1)
            higher = heights.max(axis=1) > height
            pick = heights.argmax(axis=1)
            best[higher, feature] = values[pick[higher]]
            height = np.where(higher, heights.max(axis=1), height)
        if height.max() <= before:
            break
    peak = int(height.argmax())
    return float(height[peak]), best[peak]


def _values(lanes: Lanes, feature: int, most: int, rng: np.random.Generator) -> Floats:
    """Values of a feature on both sides of cuts, or any where it has few."""
    domain, trees = lanes.domain, lanes.trees
    size = domain.features[feature].size
    if size is not None and size <= most:
        return np.arange(domain.low[feature], domain.high[feature] + 1)
    cuts = np.unique(trees.cut[(trees.feature == feature) & (trees.group < 0)])
    if len(cuts) == 0:
        return np.asarray(domain.sample(most, rng)[:, feature])
    at = np.clip(np.floor(cuts) if domain.whole[feature] else cuts, domain.low[feature], domain.high[feature])
    points = np.unique(np.append(at, domain.high[feature]))
    return np.asarray(points if len(points) <= most else np.sort(rng.choice(points, most, replace=False)))
