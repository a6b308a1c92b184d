"""Metrics that need the rows in order: areas under curves, and the largest error. O(n log n), ties exact."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import sum_by
from isonomia.errors import NotApplicable
from isonomia.evidence.mean_intervals import area_variance
from isonomia.languages import msg
from isonomia.metrics.registry import METRICS, Metric, Prepared, Shared
from isonomia.models import Surface
from isonomia.typing import Floats

#: Of the variance of a proportion of m positives the share 5 / m is added to that of an average precision.
FEW_POSITIVES = 5.0
NO_CONTRAST = msg("the labels are all of one class")


def auc_parts(
    positive: NDArray[np.bool_],
    score: Floats,
    weights: Floats | None = None,
    counts: NDArray[np.int64] | None = None,
) -> tuple[float, Floats]:
    """The area under the ROC curve and each row's influence on it.

    The area is the chance that a positive row scores above a negative one, ties counting one half:
    A = sum over positives i and negatives j of w_i w_j (s_i > s_j) + (s_i = s_j) / 2, over the sum of w_i w_j.
    The influence of a row is w (V - A) / W with V its placement among the rows of the other class and W the weight of
    its own class, scaled by sqrt(m / (m - 1)) for m (effective) rows of its class; the sum of their squares is DeLong's
    variance. With `counts` it is the influence of each of the rows that an entry stands for.

    Raises
    ------
    NotApplicable
        Where a class has no rows, or no weight.

    References
    ----------
    E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson (1988), Biometrics 44:837.

    Examples
    --------
    >>> area, pull = auc_parts(np.array([False, True, False, True]), np.array([0.1, 0.4, 0.4, 0.8]))
    >>> area, round(float((pull**2).sum() ** 0.5), 4)
    (0.875, 0.1768)
    """
    w = np.ones(score.size) if weights is None else weights
    times = np.ones(score.size) if counts is None else counts
    total = w * times
    w_positive, w_negative = np.where(positive, total, 0.0), np.where(positive, 0.0, total)
    total_positive, total_negative = float(w_positive.sum()), float(w_negative.sum())
    if total_positive <= 0 or total_negative <= 0:
        raise NotApplicable(NO_CONTRAST.text())
    values, index = np.unique(score, return_inverse=True)
    at_positive = sum_by(index, w_positive, values.size)
    at_negative = sum_by(index, w_negative, values.size)
    below = (np.cumsum(at_negative) - at_negative / 2) / total_negative
    above = (total_positive - np.cumsum(at_positive) + at_positive / 2) / total_positive
    area = float(at_positive @ below / total_positive)
    placement = np.where(positive, below[index], above[index])
    scale = np.where(positive, _scale(w_positive, w), _scale(w_negative, w))
    return area, w * (placement - area) * scale


def _scale(w: Floats, each: Floats) -> float:
    """sqrt(m / (m - 1)) / W, infinite where a class has one (effective) row: its spread cannot be known.

    `w` is the weight of all rows that an entry stands for, `each` that of one of them.
    """
    total = float(w.sum())
    size = total * total / float(w @ each)
    return float(np.sqrt(size / (size - 1)) / total) if size > 1 + 1e-9 else float("inf")


def _error_of(pull: Floats, counts: NDArray[np.int64] | None) -> float | None:
    """The standard error; None where it cannot be known, or where all placements are equal (perfect separation)."""
    if not np.isfinite(pull).all():
        return None
    error = float(np.sqrt(pull @ (pull if counts is None else pull * counts)))
    return error if error > 1e-12 else None


def _ranking(surface: Surface) -> Floats:
    for values in (surface.probability, surface.score):
        if values is not None and values.ndim == 1:
            return values
    raise NotApplicable(msg("the predictions have neither probabilities nor scores"))


def auc_influence(
    truth: NDArray[Any], surface: Surface, weights: Floats | None, counts: NDArray[np.int64] | None = None
) -> tuple[float, Floats]:
    """The area under the ROC curve and each row's influence on it."""
    with np.errstate(invalid="ignore"):
        return auc_parts(truth == 1, _ranking(surface), weights, counts)


def auc(
    truth: NDArray[Any], surface: Surface, weights: Floats | None, counts: NDArray[np.int64] | None = None
) -> tuple[float, float | None]:
    """The area under the ROC curve with DeLong's standard error."""
    area, pull = auc_influence(truth, surface, weights, counts)
    return area, _error_of(pull, counts)


def macro_auc(
    truth: NDArray[Any], surface: Surface, weights: Floats | None, counts: NDArray[np.int64] | None = None
) -> tuple[float, float | None]:
    """The mean over classes of the area under the ROC curve of that class against the rest.

    The standard error is DeLong's, a row's influences added up over the classes before they are squared, so that the
    classes' dependence counts; or, where that is larger, the root of the sum of Newcombe's variances over the number of
    classes. With few rows of a class DeLong's is too small. For the second the areas are (A m + 1/2) / (m + 1), m the
    rows of the class or of the others, whichever are fewer.
    """
    areas, pull = _areas_of_classes(truth, surface, weights, counts)
    w = np.ones(truth.size) if weights is None else weights
    times = 1 if counts is None else counts
    total, squares = (sum_by(truth, part * times, areas.size) for part in (w, w * w))
    m, n = total**2 / squares, (total.sum() - total) ** 2 / (squares.sum() - squares)
    fewer = np.minimum(m, n)
    variance = area_variance((areas * fewer + 0.5) / (fewer + 1), m, n).sum()
    return float(areas.mean()), max(_error_of(pull, counts) or 0.0, float(np.sqrt(variance)) / areas.size)


def macro_auc_influence(truth: NDArray[Any], surface: Surface, weights: Floats | None) -> tuple[float, Floats]:
    """The mean area over classes and each row's influence on it."""
    areas, pull = _areas_of_classes(truth, surface, weights)
    return float(areas.mean()), pull


def _areas_of_classes(
    truth: NDArray[Any], surface: Surface, weights: Floats | None, counts: NDArray[np.int64] | None = None
) -> tuple[Floats, Floats]:
    """The area of each class against the rest (K,), and each row's influence on their mean (n,)."""
    table = surface.probability
    if table is None or table.ndim != 2:
        raise NotApplicable(msg("the predictions have no probabilities of several classes"))
    areas: list[float] = []
    pulls = np.zeros(truth.size)
    with np.errstate(invalid="ignore"):
        for code, label in enumerate(surface.classes):
            try:
                area, pull = auc_parts(truth == code, table[:, code], weights, counts)
            except NotApplicable:
                raise NotApplicable(msg("the class {label} has no rows, or all of them", label=repr(label))) from None
            areas.append(area)
            pulls += pull
        return np.array(areas), pulls / len(areas)


def average_precision(
    truth: NDArray[Any], surface: Surface, weights: Floats | None, counts: NDArray[np.int64] | None = None
) -> tuple[float, float | None]:
    """Average precision: the sum over thresholds of (R_k - R_{k-1}) P_k, with recall R and precision P.

    A row of score s adds w (y (P(s) - A + B(s)) - C(s)) / W to the area A, to first order, where y is 1 for a positive,
    W the weight of all positives, and B and C are the sums over positives with scores up to s of v / V and of P v / V,
    v being the weight of such a positive and V that of all rows from its score upwards: a positive counts itself and
    raises the precision at every score below its own, a negative lowers it. The standard error is the root of the sum
    of squares of what rows add. With few positives that is too small: of a proportion's variance A (1 - A) / m, m the
    (effective) number of positives, the share 5 / m is added. It is used on the logit scale.

    References
    ----------
    K. Boyd, K. H. Eng, C. D. Page (2013), ECML PKDD, 451 (intervals on the logit scale).
    """
    score = _ranking(surface)
    each = np.ones(score.size) if weights is None else weights
    w = each if counts is None else each * counts
    w_positive = np.where(truth == 1, w, 0.0)
    total = float(w_positive.sum())
    if total <= 0:
        raise NotApplicable(msg("there are no positive labels"))
    values, index = np.unique(-score, return_inverse=True)
    at_positive = sum_by(index, w_positive, values.size)
    all_above = np.cumsum(sum_by(index, w, values.size))
    precision = np.divide(np.cumsum(at_positive), all_above, out=np.zeros(values.size), where=all_above > 0)
    area = float(at_positive @ precision / total)
    if area >= 1 - 1e-12:
        return area, None
    raised = np.divide(at_positive, all_above, out=np.zeros(values.size), where=all_above > 0)
    raised, lowered = (np.cumsum(part[::-1])[::-1] for part in (raised, raised * precision))
    pull = each * (np.where(truth == 1, (precision - area + raised)[index], 0.0) - lowered[index]) / total
    size = total * total / float(w_positive @ each)
    few = area * (1 - area) / size * min(FEW_POSITIVES / size, 1.0)
    return area, float(np.sqrt(pull @ (pull if counts is None else pull * counts) + few))


def max_error(
    truth: NDArray[Any], surface: Surface, weights: Floats | None, counts: NDArray[np.int64] | None = None
) -> tuple[float, float | None]:
    """The largest size of an error among rows of positive weight; an extreme has no useful bootstrap interval."""
    if surface.continuous is None:
        raise NotApplicable(msg("the predictions have no numbers"))
    size = np.abs(surface.continuous - truth)
    kept = size if weights is None else size[weights > 0]
    if kept.size == 0:
        raise NotApplicable(msg("there are no rows"))
    return float(kept.max()), None


class Ordered:
    """Rows in falling order of a score, equal scores together: areas under curves for many labels and weights.

    Examples
    --------
    >>> order = Ordered(np.array([0.1, 0.4, 0.4, 0.8]))
    >>> truth = np.array([0, 1, 0, 1])
    >>> order.auc(truth), round(order.average_precision(truth), 4)
    (0.875, 0.8333)
    """

    def __init__(self, score: Floats) -> None:
        self.order = np.argsort(-score)
        self.score = score[self.order]
        self.starts = np.flatnonzero(np.concatenate([[True], self.score[1:] != self.score[:-1]]))
        self._sizes = np.diff(np.append(self.starts, score.size)).astype(float)
        self._last: tuple[Any, ...] = ()

    def sums(self, ordered: NDArray[Any]) -> Floats:
        """Values of rows in this order, summed at each distinct score, the highest first."""
        values = ordered.astype(float, copy=False)
        return values if self.starts.size == values.size else np.asarray(np.add.reduceat(values, self.starts))

    def split(self, truth: NDArray[Any], weights: Floats | None = None, code: int = 1) -> tuple[Floats, Floats]:
        """The weight of a class, and of all others, at each distinct score, the highest first.

        What was asked last is kept: several areas of the same labels and weights are worked out from it.
        """
        if not (self._last and self._last[0] is truth and self._last[1] is weights and self._last[2] == code):
            own = (truth == code)[self.order]
            if weights is None:
                up = self.sums(own)
                self._last = (truth, weights, code, up, self._sizes - up)
            else:
                ordered = weights[self.order]
                self._last = (truth, weights, code, self.sums(ordered * own), self.sums(ordered * ~own))
        return self._last[3], self._last[4]

    def auc(self, truth: NDArray[Any], weights: Floats | None = None, code: int = 1) -> float:
        """The area under the ROC curve of a class against the rest; NaN where either has no weight."""
        up, down = self.split(truth, weights, code)
        total = float(up.sum()) * float(down.sum())
        below = down.sum() - np.cumsum(down) + down / 2
        return float((up * below).sum() / total) if total > 0 else float("nan")

    def average_precision(self, truth: NDArray[Any], weights: Floats | None = None, code: int = 1) -> float:
        """The area under the precision-recall curve; NaN where either side has no weight."""
        up, down = self.split(truth, weights, code)
        total, above = float(up.sum()), np.cumsum(up + down)
        if total <= 0 or float(down.sum()) <= 0:
            return float("nan")
        precision = np.divide(np.cumsum(up), above, out=np.zeros(up.size), where=above > 0)
        return float((up * precision).sum() / total)


def ordered(surface: Surface) -> Ordered:
    """The rows of a two-class surface in falling order of their probability (or score)."""
    return Ordered(_ranking(surface))


def _shared_order(surface: Surface, shared: Shared) -> Ordered:
    if "order" not in shared:
        shared["order"] = ordered(surface)
    order: Ordered = shared["order"]
    return order


def _prepared_auc(surface: Surface, shared: Shared) -> Prepared:
    return _shared_order(surface, shared).auc


def _prepared_precision(surface: Surface, shared: Shared) -> Prepared:
    return _shared_order(surface, shared).average_precision


def _prepared_macro(surface: Surface, shared: Shared) -> Prepared:
    table = surface.probability
    if table is None or table.ndim != 2:
        raise NotApplicable(msg("the predictions have no probabilities of several classes"))
    orders = [Ordered(table[:, code]) for code in range(table.shape[1])]
    return lambda truth, weights: float(np.mean([order.auc(truth, weights, code) for code, order in enumerate(orders)]))


METRICS.add(
    Metric(
        id="auc",
        purpose="chance that a positive row is ranked above a negative one",
        title=msg("Area under the ROC curve"),
        tasks=("binary",),
        surface=("probability", "score"),
        family="ranks",
        higher_is_better=True,
        range=(0.0, 1.0),
        undefined=NO_CONTRAST,
        format="num4",
        min_samples=2,
        both_classes=True,
        from_rows=auc,
        influence=auc_influence,
        prepared=_prepared_auc,
        interval="newcombe",
        references=(
            "R. G. Newcombe (2006), Stat. Med. 25:559",
            "E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson (1988), Biometrics 44:837",
        ),
    ),
    Metric(
        id="macro_auc",
        purpose="mean over classes of the area under the ROC curve of one class against the rest",
        title=msg("Area under the ROC curve, mean over classes"),
        tasks=("multiclass",),
        surface=("probability",),
        family="ranks",
        higher_is_better=True,
        range=(0.0, 1.0),
        undefined=msg("a class has no rows"),
        format="num4",
        min_samples=2,
        both_classes=True,
        from_rows=macro_auc,
        influence=macro_auc_influence,
        prepared=_prepared_macro,
        interval="delong",
        references=("F. Provost, P. Domingos (2000), CeDER IS-00-04",),
    ),
    Metric(
        id="pr_auc",
        purpose="average precision: the area under the precision-recall curve",
        title=msg("Average precision"),
        tasks=("binary",),
        surface=("probability", "score"),
        family="ranks",
        higher_is_better=True,
        range=(0.0, 1.0),
        undefined=msg("there are no positive labels"),
        format="num4",
        min_samples=2,
        both_classes=True,
        from_rows=average_precision,
        prepared=_prepared_precision,
        interval="logit",
        references=("K. Boyd, K. H. Eng, C. D. Page (2013), ECML PKDD, 451",),
    ),
    Metric(
        id="max_error",
        purpose="size of the largest error",
        title=msg("Largest error"),
        tasks=("regression",),
        surface=("continuous",),
        family="ranks",
        higher_is_better=False,
        range=(0.0, float("inf")),
        undefined=msg("there are no rows"),
        format="num",
        from_rows=max_error,
    ),
)
