"""Calibrated equalized odds: how many of each group get the group's base rate instead of their score."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import mean_by, sum_by
from isonomia.typing import Floats, Indices

#: Which error the groups are to share: of negatives, of positives, or both weighted by their rows.
CostConstraint = Literal["fnr", "fpr", "weighted"]


def mixing_rates(
    score: Floats,
    truth: NDArray[Any],
    group: Indices,
    n_groups: int,
    constraint: CostConstraint = "weighted",
    weights: Floats | None = None,
) -> tuple[Floats, Floats]:
    """The share of each group that gets its base rate, and the base rates.

    With the generalised false positive rate f = mean score of negatives, false negative rate h = mean (1 - score) of
    positives and cost c = f ("fpr"), h ("fnr") or ((1 - base) f + base h) / 2 ("weighted"): every group is mixed up to
    the cost of the worst, alpha_g = (c_worst - c_g) / (c_trivial,g - c_g), where the trivial predictor gives everyone
    the base rate; at most 1, where even that costs less than the worst group. Calibration of each group is kept.

    References
    ----------
    G. Pleiss et al. (2017), On fairness and calibration, NeurIPS.
    """
    w = np.ones(score.size) if weights is None else weights
    base = mean_by(group, truth == 1, n_groups, w)
    cell = group * 2 + (truth == 1)
    total = sum_by(cell, w, 2 * n_groups).reshape(n_groups, 2)
    scores = sum_by(cell, w * score, 2 * n_groups).reshape(n_groups, 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = scores / total
    fpr, fnr = mean[:, 0], 1 - mean[:, 1]
    cost, trivial = {
        "fpr": (fpr, base),
        "fnr": (fnr, 1 - base),
        "weighted": (0.5 * (fpr * (1 - base) + fnr * base), base * (1 - base)),
    }[constraint]
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = (np.nanmax(cost) - cost) / (trivial - cost)
    return np.clip(np.nan_to_num(rate), 0.0, 1.0) + 0.0, base
