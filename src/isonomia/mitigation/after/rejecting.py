"""Reject option: the grid of thresholds and margins, judged from prefix counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.typing import Bools, Floats, Indices

#: The gap that the grid is judged by.
RejectMetric = Literal["demographic_parity", "equal_opportunity", "average_odds"]


@dataclass(frozen=True, eq=False)
class RejectGrid:
    """Every threshold t and margin m of the grid with what they lead to.

    Attributes
    ----------
    threshold, margin : (T, M) arrays
    balanced_accuracy, gap : (T, M) arrays
        `gap` is the widest difference of a group to the reference, unprivileged - privileged.
    best : (int, int)
        The pair of highest balanced accuracy with a gap within the limit; the smallest gap where there is none.
    met : bool
        Whether the gap is within the limit there.
    """

    threshold: Floats
    margin: Floats
    balanced_accuracy: Floats
    gap: Floats
    best: tuple[int, int]
    met: bool

    def cuts(self) -> tuple[float, float]:
        """The smallest score that is accepted: of the unprivileged, and of the privileged (more than t + m)."""
        t, m = float(self.threshold[self.best]), float(self.margin[self.best])
        return float(np.nextafter(t - m, np.inf)), float(np.nextafter(t + m, np.inf))


def reject_grid(
    score: Floats,
    truth: NDArray[Any],
    group: Indices,
    privileged: Bools,
    *,
    limit: float = 0.05,
    metric: RejectMetric = "demographic_parity",
    n_thresholds: int = 100,
    n_margins: int = 50,
    weights: Floats | None = None,
) -> RejectGrid:
    """Judge t in [.01, .99] and m in [0, min(t, 1 - t)]: within m of t the unprivileged win, the privileged lose.

    So an unprivileged row is accepted beyond t - m, a privileged one beyond t + m: a lookup in each group's sorted
    scores with its prefix counts, instead of a pass over the rows per pair.

    References
    ----------
    F. Kamiran, A. Karim, X. Zhang (2012), Decision theory for discrimination-aware classification, ICDM.
    """
    t = np.linspace(0.01, 0.99, n_thresholds)
    margins = np.stack([np.linspace(0.0, high, n_margins) for high in np.minimum(t, 1 - t)])
    middle = np.repeat(t[:, None], n_margins, axis=1)
    tables = []
    for g, favoured in enumerate(~privileged):
        rows = np.flatnonzero(group == g)
        rows = rows[np.argsort(score[rows])]
        w = np.ones(rows.size) if weights is None else weights[rows]
        positive = np.concatenate(([0.0], np.cumsum(w * (truth[rows] == 1))))
        total = np.concatenate(([0.0], np.cumsum(w)))
        if favoured:
            below = np.searchsorted(score[rows], middle - margins, side="right")
        else:
            below = np.searchsorted(score[rows], middle + margins, side="right")
        tp = positive[-1] - positive[below]
        accepted = total[-1] - total[below]
        tables.append((tp, accepted - tp, positive[-1], total[-1] - positive[-1]))
    tp, fp = (np.stack([one[part] for one in tables]) for part in (0, 1))
    p, n = (np.array([one[part] for one in tables]) for part in (2, 3))
    with np.errstate(invalid="ignore", divide="ignore"):
        accuracy = 0.5 * (tp.sum(0) / p.sum() + 1 - fp.sum(0) / n.sum())
        gaps = np.mean([_to_reference(*part, privileged) for part in _parts(metric, tp, fp, p, n)], axis=0)
    worst = np.take_along_axis(gaps, np.nanargmax(np.abs(gaps), axis=0)[None], axis=0)[0]
    within = np.abs(worst) <= limit
    chosen = np.where(within, accuracy, -np.inf) if within.any() else -np.abs(worst)
    at = np.unravel_index(int(np.nanargmax(chosen)), chosen.shape)
    return RejectGrid(
        threshold=middle,
        margin=margins,
        balanced_accuracy=accuracy,
        gap=worst,
        best=(int(at[0]), int(at[1])),
        met=bool(within.any()),
    )


def _parts(metric: RejectMetric, tp: Floats, fp: Floats, p: Floats, n: Floats) -> list[tuple[Floats, Floats]]:
    """Numerators (G, T, M) and denominators (G,) of the rates that are compared."""
    if metric == "demographic_parity":
        return [(tp + fp, p + n)]
    return [(tp, p)] if metric == "equal_opportunity" else [(tp, p), (fp, n)]


def _to_reference(top: Floats, bottom: Floats, privileged: Bools) -> Floats:
    """Each unprivileged group's rate less that of all privileged rows: (groups, T, M)."""
    reference = top[privileged].sum(axis=0) / bottom[privileged].sum()
    out: Floats = top[~privileged] / bottom[~privileged][:, None, None] - reference
    return out
