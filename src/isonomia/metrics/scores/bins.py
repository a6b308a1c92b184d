"""Probabilities against what happened, bin by bin: one tally for all groups, and calibration error from its sums.

With two classes the probability is that of the positive class and the outcome whether it happened. With several it is
that of the most probable class, and the outcome whether that class was right (top-label calibration).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, sum_by, tally
from isonomia.errors import NotApplicable
from isonomia.languages import msg
from isonomia.metrics.counts import CLASSES, NO_ROWS
from isonomia.metrics.registry import METRICS, Metric, Prepared, Shared
from isonomia.metrics.rows_given import rows_given
from isonomia.metrics.scores.calibration_interval import CalibrationEnds
from isonomia.metrics.table_functions import ratio
from isonomia.models import Surface
from isonomia.parameters import Choice, Integer, validated
from isonomia.typing import Floats

Strategy = Literal["uniform", "quantile"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
BINS = 10
MAX_BINS = 1000


@dataclass(frozen=True, eq=False)
class Bins:
    """Sums over groups x bins x outcome (0, 1): arrays of shape (G, B, 2).

    Attributes
    ----------
    edges : (B + 1,) edges of the bins, [a, b) but for the last, which is closed
    n, w, w2 : rows, their weights, their squared weights
    p : sum of weight x probability
    wp, p2 : sums of weight^2 x probability and of weight^2 x probability^2
    extra : sums of weight x value for further row values, by name
    """

    edges: Floats
    n: NDArray[np.int64]
    w: Floats
    w2: Floats
    p: Floats
    wp: Floats
    p2: Floats
    extra: dict[str, Floats]

    @property
    def gaps(self) -> Floats:
        """(G, B): sum of weight x (outcome - probability)."""
        return np.asarray(self.w[..., 1] - self.p.sum(axis=-1))

    def error(self) -> Floats:
        """Expected calibration error of each group: sum over bins of (share of rows) |observed - predicted|."""
        return ratio(np.abs(self.gaps).sum(axis=-1), self.w.sum(axis=(-2, -1)))

    def largest(self) -> Floats:
        """Largest |observed - predicted| of a bin that is not empty, for each group."""
        size = self.w.sum(axis=-1)
        gap = np.abs(ratio(self.gaps, size))
        return np.where((size > 0).any(axis=-1), np.max(np.nan_to_num(gap), axis=-1, initial=0.0), np.nan)

    def overall(self) -> Bins:
        """All groups as one."""

        def fold(array: NDArray[Any]) -> NDArray[Any]:
            return np.asarray(array.sum(axis=0, keepdims=True))

        extra = {name: fold(total) for name, total in self.extra.items()}
        w, w2, p, wp, p2 = map(fold, (self.w, self.w2, self.p, self.wp, self.p2))
        return Bins(self.edges, fold(self.n), w, w2, p, wp, p2, extra)

    def ends(self) -> CalibrationEnds:
        """What the intervals of the groups' calibration errors follow from."""
        return CalibrationEnds.of(self.w.sum(axis=-1), self.w2.sum(axis=-1), self.w[..., 1], self.gaps)


def confidence_and_outcome(truth: NDArray[Any], surface: Surface) -> tuple[Floats, NDArray[np.uint8]]:
    """The probability that is judged and whether what it speaks of happened, row by row."""
    table = surface.probability
    if table is None:
        raise NotApplicable(msg("the predictions have no probabilities"))
    if table.ndim == 1:
        return table, (truth == 1).astype(np.uint8)
    top = table.argmax(axis=1)
    return table[np.arange(len(table)), top], (truth == top).astype(np.uint8)


@validated(bins=Integer(1, MAX_BINS), strategy=Choice(STRATEGIES))
def bin_edges(
    confidence: Floats, bins: int = BINS, strategy: Strategy = "uniform", weights: Floats | None = None
) -> Floats:
    """Edges of bins of equal width over [0, 1], or of equal mass; equal edges are merged.

    >>> bin_edges(np.array([0.1, 0.2, 0.2, 0.2, 0.9]), 3, "quantile").tolist()
    [0.1, 0.2, 0.9]
    """
    if strategy == "uniform" or confidence.size == 0:
        return np.arange(bins + 1) / bins  # the nearest floats to 0.1, 0.2, ..., which a range in steps would miss
    order = np.argsort(confidence, kind="stable")
    mass = np.cumsum(np.ones(confidence.size) if weights is None else weights[order])
    ends = np.searchsorted(mass, np.linspace(0.0, 1.0, bins + 1) * mass[-1])
    edges = np.unique(confidence[order][np.minimum(ends, confidence.size - 1)])
    return edges if edges.size > 1 else np.array([0.0, 1.0])


def binned(
    truth: NDArray[Any],
    surface: Surface,
    *,
    groups: Codes | None = None,
    bins: int = BINS,
    strategy: Strategy = "uniform",
    weights: Floats | None = None,
    values: dict[str, Floats] | None = None,
    counts: NDArray[np.int64] | None = None,
) -> Bins:
    """Tally rows by group, bin and outcome, in one pass."""
    p, outcome = confidence_and_outcome(truth, surface)
    mass = weights if counts is None else np.asarray(counts * (1.0 if weights is None else weights), dtype=float)
    edges = bin_edges(p, bins, strategy, mass)
    group = Codes("group", np.zeros(p.size, dtype=np.uint8), (0,)) if groups is None else groups
    w = 1.0 if weights is None else weights
    wanted = {"p": p, "wp": w * p, "p2": w * p * p} | {f"extra {name}": value for name, value in (values or {}).items()}
    if weights is None:
        del wanted["wp"]
    columns = [group, Codes.cut(p, edges.tolist(), name="bin"), Codes("outcome", outcome, (0, 1))]
    table = tally(columns, weights=weights, values=wanted, counts=counts)
    sums = table.sums
    extra = {name.removeprefix("extra "): total for name, total in sums.items() if name.startswith("extra ")}
    return Bins(
        edges,
        table.n,
        table.w.astype(float),
        table.w2.astype(float),
        sums["p"],
        sums.get("wp", sums["p"]),
        sums["p2"],
        extra,
    )


def expected_calibration_error(
    truth: Any,
    surface: Any = None,
    *,
    bins: int = BINS,
    strategy: Strategy = "uniform",
    weights: Any = None,
    counts: NDArray[np.int64] | None = None,
    positive: Any = None,
    classes: Sequence[Any] | None = None,
) -> float:
    """Expected calibration error: the mean gap between what was predicted and what happened, over bins.

    ECE = sum over bins of (W_b / W) |observed_b - predicted_b|. It can only err upwards: a perfectly calibrated model
    has an ECE above 0 on any sample. `truth`, `surface` and the other options are those of `reliability`.

    References
    ----------
    M. Pakdaman Naeini, G. F. Cooper, M. Hauskrecht (2015), AAAI. C. Guo et al. (2017), ICML (top-label form).

    Examples
    --------
    A model that says 0.9 and is always right is off by 0.1:

    >>> round(expected_calibration_error([1] * 20, [0.9] * 20), 12)
    0.1
    """
    rows, _ = rows_given(truth, surface, weights=weights, counts=counts, positive=positive, classes=classes)
    if rows.surface.probability is None or rows.truth is None:
        raise NotApplicable(msg("it needs true outcomes and probabilities"))
    counted = binned(rows.truth, rows.surface, bins=bins, strategy=strategy, weights=rows.weights, counts=rows.counts)
    value = counted.error()[0]
    if np.isnan(value):
        raise NotApplicable(NO_ROWS.text())
    return float(value)


def _ece(
    truth: NDArray[Any], surface: Surface, weights: Floats | None, counts: NDArray[np.int64] | None = None
) -> tuple[float, float | None]:
    return float(binned(truth, surface, weights=weights, counts=counts).error()[0]), None


def _ece_ends(
    truth: NDArray[Any], surface: Surface, weights: Floats | None, counts: NDArray[np.int64] | None = None
) -> CalibrationEnds:
    return binned(truth, surface, weights=weights, counts=counts).ends()


def _prepared_ece(surface: Surface, shared: Shared) -> Prepared:
    table = surface.probability
    if table is None:
        raise NotApplicable(msg("the predictions have no probabilities"))
    top = np.ones(len(table), dtype=np.uint8) if table.ndim == 1 else table.argmax(axis=1)
    p = table if table.ndim == 1 else table[np.arange(len(table)), top]
    bins = Codes.cut(p, bin_edges(p).tolist(), name="bin")

    def value(truth: NDArray[Any], weights: Floats | None) -> float:
        gap = (truth == top) - p
        total = float(p.size if weights is None else weights.sum())
        if total <= 0:
            return float("nan")
        gaps = sum_by(bins.codes, gap if weights is None else gap * weights, bins.size)
        return float(np.abs(gaps).sum() / total)

    return value


METRICS.add(
    Metric(
        id="ece",
        order=1,
        purpose="mean gap between predicted probability and what happened, over ten bins of equal width",
        title=msg("Expected calibration error"),
        tasks=CLASSES,
        surface=("probability",),
        family="ranks",
        higher_is_better=False,
        range=(0.0, 1.0),
        undefined=NO_ROWS,
        format="num4",
        from_rows=_ece,
        prepared=_prepared_ece,
        ends=_ece_ends,
        interval="folded normal",
        references=("M. Pakdaman Naeini et al. (2015), AAAI", "C. Guo et al. (2017), ICML, 1321"),
    )
)
