"""Scenarios of labels, predictions and the threshold between them: no model is needed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import count_by
from isonomia.errors import NotApplicable, SpecError
from isonomia.languages import msg
from isonomia.metrics import METRIC_NAME, METRICS, Metric
from isonomia.metrics.ranks import ordered
from isonomia.parameters import validated
from isonomia.robustness.stress.decisions import with_probability, with_score
from isonomia.robustness.stress.scenario import scenario
from isonomia.robustness.stress.situation import Situation
from isonomia.typing import Floats

#: Thresholds tried when one metric is made to look best.
CANDIDATES = 256


@scenario(
    "label_noise",
    purpose="true labels are replaced by another class at random; numbers get noise",
    title=msg("Wrong labels"),
    unit=msg("chance that a label is replaced, or standard deviations of a number"),
    other_names=("noise_rate", "rate"),
)
def label_noise(now: Situation, rng: np.random.Generator, level: float) -> Situation:
    """Each label becomes one of the other classes with chance `level`; a number moves by level x sd x N(0, 1).

    An accuracy of a becomes a (1 - level) + (1 - a) level / (K - 1) on average.
    """
    n = len(now)
    if now.task == "regression":
        spread = _deviation(now.truth)
        return now.with_labels(now.truth + level * spread * rng.standard_normal(n)) if level else now
    classes = len(now.surface.classes)
    hit = rng.random(n) < level
    if not hit.any():
        return now
    step = 1 if classes == 2 else rng.integers(1, classes, n)
    other = (now.truth.astype(np.int64) + step) % classes
    return now.with_labels(np.where(hit, other, now.truth).astype(now.truth.dtype))


@scenario(
    "score_noise",
    purpose="probabilities, scores, predicted numbers or decisions get noise",
    title=msg("Noisy predictions"),
    level=0.05,
    max_level=float("inf"),
    unit=msg(
        "standard deviation of the noise: as it is for probabilities, in standard deviations of the values "
        "for scores and numbers"
    ),
    other_names=("noise_level", "sigma"),
)
def score_noise(now: Situation, rng: np.random.Generator, level: float) -> Situation:
    """Normal noise on what is predicted; decisions change where they cross the threshold.

    Probabilities that leave [0, 1] are reflected at its ends (cutting them would pile them up at 0 and 1); those of
    several classes are made to sum to 1 again. Where there are decisions alone, each is replaced by another class with
    chance `level` (at most 1).
    """
    surface = now.surface
    if level == 0:
        return now
    if surface.continuous is not None:
        noise = level * _deviation(surface.continuous) * rng.standard_normal(len(now))
        return now.with_surface(replace(surface, continuous=surface.continuous + noise))
    changed = surface
    if surface.probability is not None:
        table = surface.probability
        changed = with_probability(changed, _reflected(table + level * rng.standard_normal(table.shape)))
    if surface.score is not None:
        noise = level * _deviation(surface.score) * rng.standard_normal(len(now))
        changed = with_score(changed, surface.score + noise)
    if changed is not surface:
        return now.with_surface(changed)
    assert surface.label is not None
    classes = len(surface.classes)
    other = (surface.label.astype(np.int64) + rng.integers(1, classes, len(now))) % classes
    label = np.where(rng.random(len(now)) < level, other, surface.label).astype(surface.label.dtype)
    return now.with_surface(replace(surface, label=label))


def _reflected(table: Floats) -> Floats:
    """Values folded back into [0, 1]; rows of several classes made to sum to 1."""
    folded = np.abs((table + 1.0) % 2.0 - 1.0)
    if table.ndim == 1:
        return folded
    total = folded.sum(axis=1, keepdims=True)
    return np.where(total > 0, folded / np.where(total > 0, total, 1.0), 1.0 / table.shape[1])


@scenario(
    "threshold_gaming",
    purpose="the threshold is moved to make one metric look best on a sample; all others pay",
    title=msg("Threshold tuned to one metric"),
    level=0.2,
    max_level=float("inf"),
    unit=msg("how far the threshold may move: as it is for probabilities, in standard deviations for scores"),
    tasks=("binary",),
    needs=("ranking", "decisions"),
)
@validated(target=METRIC_NAME)
def threshold_gaming(now: Situation, rng: np.random.Generator, level: float, target: str = "accuracy") -> Situation:
    """Somebody picks, within `level` of the threshold, the one that is best for `target` on a bootstrap sample.

    Of thresholds that are equally good the one nearest to the old one is taken, so that nothing moves without gain.

    Parameters
    ----------
    target
        Metric that the threshold is chosen for.
    """
    metric = _gamed(target)
    ranking = now.surface.ranking
    assert ranking is not None
    if level == 0:
        return now
    order = now.once("order", lambda: ordered(now.surface))
    reach = level if now.surface.probability is not None else level * _deviation(ranking)
    cut = now.surface.single_threshold
    values = order.score[order.starts]
    near = np.flatnonzero(np.abs(values - cut) <= reach)
    if near.size == 0:
        return now
    near = near[np.unique(np.linspace(0, near.size - 1, min(near.size, CANDIDATES)).astype(np.intp))]
    drawn = count_by(rng.integers(0, len(now), len(now)), len(now)).astype(float)
    weights = drawn if now.weights is None else drawn * now.weights
    positive, negative = order.split(now.truth, weights)
    value = _at_thresholds(metric, positive, negative, near)
    stay = int(np.searchsorted(-values, -cut, side="right")) - 1  # the lowest score that is still positive
    current = _at_thresholds(metric, positive, negative, np.array([stay]))[0]
    better = value if metric.higher_is_better else -value
    if np.isnan(better).all():
        return now
    best = np.nanmax(better)
    if not best > (current if metric.higher_is_better else -current) and not np.isnan(current):
        return now
    equal = near[better >= best]
    chosen = float(values[equal[np.argmin(np.abs(values[equal] - cut))]])
    return now.with_surface(now.surface.with_threshold(chosen))


def _gamed(target: Any) -> Metric:
    metric = METRICS[target]
    if not metric.of_decisions or "binary" not in metric.tasks or metric.higher_is_better is None:
        raise SpecError(f"A threshold can be tuned to a metric of decisions such as accuracy or f1; got '{target}'.")
    return metric


def _at_thresholds(metric: Metric, positive: Floats, negative: Floats, indices: NDArray[Any]) -> Floats:
    """The metric where all scores up to each index (highest first) are decided positive; index -1: none."""
    if positive.sum() + negative.sum() <= 0:
        raise NotApplicable(msg("there are no rows"))
    up, down = (np.concatenate([[0.0], np.cumsum(part)])[indices + 1] for part in (positive, negative))
    tables = np.stack([negative.sum() - down, down, positive.sum() - up, up], axis=-1).reshape(-1, 2, 2)
    assert metric.from_counts is not None
    return metric.from_counts(tables)


def _deviation(values: Floats) -> float:
    """The standard deviation that noise is a multiple of."""
    with np.errstate(over="ignore", invalid="ignore"):
        deviation = float(np.std(values))
    if not np.isfinite(deviation):
        raise NotApplicable(msg("the numbers are too large for a standard deviation"))
    return deviation
