"""How far off metrics can be where scores were counted in bins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from isonomia.counting import sum_by
from isonomia.evidence import Estimate
from isonomia.languages import Message, Name, msg
from isonomia.metrics.rows import Rows
from isonomia.typing import Floats


def with_bin_bounds(figures: Mapping[str, Estimate], rows: Rows, edges: Floats) -> dict[str, Estimate]:
    """Estimates from scores that were counted in bins, with notes that state how far off areas and losses can be.

    A group of rows with the same outcome, decision and bin is known by its mean score. Sums of scores are exact, so
    calibration is. A squared error is too small by at most a quarter of the squared width of a bin.
    """
    found = dict(figures)
    bounds = {"auc": area_bound(rows, edges), "brier_score": float(np.diff(edges).max() ** 2 / 4)}
    for name, bound in bounds.items():
        figure = figures.get(name)
        if figure is not None and figure.value is not None:
            exactness = msg(
                "scores were counted in {bins:int} bins: exact to {bound:num}", bins=edges.size - 1, bound=bound
            )
            note = (
                exactness
                if figure.note is None
                else Message("{note}; {said}", {"note": figure.note, "said": exactness})
            )
            found[name] = replace(figure, note=Name(note))
    return found


def area_bound(rows: Rows, edges: Floats) -> float:
    """By how much an area under the ROC curve can differ from that of the scores themselves.

    The order of a positive and a negative row of one bin is not known: the area is off by at most the share of such
    pairs, the sum over bins of P_b N_b / (P N).
    """
    surface, truth = rows.surface, rows.truth
    scores = surface.probability if surface.probability is not None else surface.score
    if truth is None or scores is None or scores.ndim != 1:
        return 0.0
    w = np.ones(scores.size) if rows.weights is None else rows.weights
    w = w if rows.counts is None else w * rows.counts
    bins = np.clip(np.searchsorted(edges, scores, side="right") - 1, 0, edges.size - 2)
    positive, negative = (
        sum_by(bins, np.where((truth == 1) == is_positive, w, 0.0), edges.size - 1) for is_positive in (True, False)
    )
    pairs = float(positive.sum() * negative.sum())
    return float(positive @ negative / pairs) if pairs > 0 else 0.0
