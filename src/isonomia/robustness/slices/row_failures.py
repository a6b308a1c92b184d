"""How badly each row is served and in what way, and the slices where rows are served badly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, sum_by
from isonomia.evidence import benjamini_hochberg, two_proportions, welch
from isonomia.metrics.means import probability_of_truth
from isonomia.subject import Outcome
from isonomia.typing import Floats


@dataclass(frozen=True, eq=False)
class Harm:
    """How badly each row is served: `size` (0 is best), the `kind` of each row, and how sure the model was.

    `confidence` is the probability of what was decided (NaN where there is none).
    """

    size: Floats
    kind: NDArray[Any]
    confidence: Floats


def harm_of(outcome: Outcome, confident: float) -> Harm:
    """How badly each row is served.

    Probabilities: 1 - the probability of what happened, and 1 more where the decision is wrong. Decisions: 1 where
    wrong. Scores: the share of the rows of the other class on the wrong side of it (and 1 more where wrong). Numbers:
    the size of the error.

    >>> from isonomia.subject import Subject
    >>> harm_of(Subject.of([1, 0, 1], y_score=[0.9, 0.95, 0.4]).outcome, 0.9).size.round(2).tolist()
    [0.1, 1.95, 1.6]
    """
    truth, surface = outcome.truth, outcome.surface
    assert truth is not None
    n = len(outcome)
    nothing = np.full(n, np.nan)
    if surface.continuous is not None:
        error = surface.continuous - truth
        return Harm(np.abs(error), np.where(error > 0, "too_high", np.where(error < 0, "too_low", "right")), nothing)
    wrong = np.zeros(n, dtype=bool) if surface.label is None else surface.label != truth
    size, confidence = wrong.astype(float), nothing
    if surface.probability is not None:
        table = surface.probability
        size = size + 1 - probability_of_truth(truth, surface)
        confidence = np.maximum(table, 1 - table) if table.ndim == 1 else table.max(axis=1)
        if surface.label is not None:
            own = np.stack([1 - table, table], axis=1) if table.ndim == 1 else table
            confidence = np.take_along_axis(own, surface.label[:, None].astype(np.int64), axis=1)[:, 0]
    elif surface.score is not None:
        size = size + _misplaced(truth == 1, surface.score)
    kind = np.where(wrong, "wrong", "right").astype(object)
    with np.errstate(invalid="ignore"):
        kind[wrong & (confidence >= confident)] = "wrong_confident"
        kind[~wrong & (size > 0.5) | (~wrong & (confidence < confident) & (size > 1 - confident))] = "right_unsure"
    if surface.label is None:
        kind[:] = np.where(size > 0.5, "misranked", "right")
    return Harm(np.asarray(size, dtype=float), kind, confidence)


def _misplaced(positive: NDArray[np.bool_], score: Floats) -> Floats:
    """Of each row the share of the other class that is on the wrong side of it; ties count one half."""
    out = np.zeros(score.size)
    for own, sign in ((positive, 1.0), (~positive, -1.0)):
        other = np.sort(sign * score[~own])
        if other.size and own.any():
            below, up_to = (np.searchsorted(other, sign * score[own], side=side) for side in ("left", "right"))
            out[own] = 1 - (below + up_to) / (2 * other.size)
    return out


def worst_rows(size: Floats, share: float) -> NDArray[np.bool_]:
    """The rows served worst: this share of them, with all that are served as badly as the last; none without harm.

    >>> worst_rows(np.array([0.0, 1.0, 1.0, 0.2]), 0.25).tolist()
    [False, True, True, False]
    """
    k = max(1, int(np.ceil(share * size.size)))
    border = float(np.partition(size, size.size - k)[size.size - k])
    return (size >= border) & (size > 0)


@dataclass(frozen=True, eq=False)
class Pattern:
    """A slice that has more than its share of the worst rows, or a higher error than the rest."""

    feature: str
    text: str
    n: int
    n_worst: int
    share: float
    share_of_worst: float
    error: float
    p_value: float
    p_adjusted: float
    p_error: float

    @property
    def lift(self) -> float:
        """How many times its share."""
        return self.share_of_worst / self.share if self.share else float("nan")


def rounded(value: float) -> float:
    """A figure to rank by: of slices of the same rows, the first stays the first, in whatever order rows are summed.

    >>> rounded(0.1 + 0.2) == rounded(0.3)
    True
    """
    return float(f"{value:.9g}")


@dataclass(frozen=True, eq=False, kw_only=True)
class SliceSums:
    """Sums over the slices of one feature, by slice.

    Attributes
    ----------
    name, texts
        The feature, and what its slices are called.
    n, n_worst : arrays
        Rows, and those of them that are served worst.
    mass, worst, harm, squares : arrays
        The weights of the rows, of the worst ones, times how badly they are served, and times the square of that.
    """

    name: str
    texts: tuple[str, ...]
    n: Floats
    n_worst: Floats
    mass: Floats
    worst: Floats
    harm: Floats
    squares: Floats

    @classmethod
    def of(
        cls,
        column: Codes,
        size: Floats,
        squares: Floats,
        worst: NDArray[np.bool_],
        weights: Floats | None,
        counts: NDArray[np.int64] | None = None,
    ) -> SliceSums:
        """Those of rows, or of cells that stand for several: `size` and `squares` are their means then."""
        n = np.ones(size.size) if counts is None else counts.astype(float)
        w = n if weights is None else n * weights
        parts = {
            "n": n,
            "n_worst": n * worst,
            "mass": w,
            "worst": w * worst,
            "harm": w * size,
            "squares": w * squares,
        }
        sums = {name: sum_by(column.codes, values, column.size) for name, values in parts.items()}
        return cls(name=column.name, texts=column.texts, **sums)


def patterns(slices: Sequence[SliceSums], minimum: int) -> list[Pattern]:
    """Every slice with enough rows: its share of all rows and of the worst ones, its mean error, tests of both.

    The share is tested by two proportions against all other rows, the mean error by Welch's test; p-values of shares
    are adjusted (Benjamini-Hochberg) over all slices, those of errors likewise.
    """
    found: list[dict[str, Any]] = []
    total, all_worst = (int(slices[0].n.sum()), int(slices[0].n_worst.sum())) if slices else (0, 0)
    for own in slices:
        mass, harm, squares = own.mass.sum(), own.harm.sum(), own.squares.sum()
        for code in np.flatnonzero((own.n >= minimum) & (own.n < total) & (own.mass > 0)):
            rest = mass - own.mass[code]
            found.append(
                {
                    "feature": own.name,
                    "text": own.texts[code],
                    "n": int(own.n[code]),
                    "n_worst": int(own.n_worst[code]),
                    "share": own.mass[code] / mass,
                    "share_of_worst": own.worst[code] / max(own.worst.sum(), 1e-300),
                    "error": own.harm[code] / own.mass[code],
                    "rest": (harm - own.harm[code]) / max(rest, 1e-300),
                    "spread": _spread(own.squares[code], own.harm[code], own.mass[code]),
                    "spread_rest": _spread(squares - own.squares[code], harm - own.harm[code], rest),
                }
            )
    if not found:
        return []
    column_of = {name: np.array([row[name] for row in found], dtype=float) for name in found[0] if name not in _TEXTS}
    n, bad = column_of["n"], column_of["n_worst"]
    p = two_proportions(bad, n, all_worst - bad, total - n)
    rest = total - n
    p_error = welch(
        column_of["error"],
        column_of["spread"] / np.sqrt(n),
        n - 1,
        column_of["rest"],
        column_of["spread_rest"] / np.sqrt(rest),
        np.maximum(rest - 1, 1),
    )
    p_error = benjamini_hochberg(np.where(column_of["error"] > column_of["rest"], p_error, 1.0))
    adjusted = benjamini_hochberg(p)
    return [
        Pattern(
            row["feature"],
            row["text"],
            row["n"],
            row["n_worst"],
            float(row["share"]),
            float(row["share_of_worst"]),
            float(row["error"]),
            float(p[i]),
            float(adjusted[i]),
            float(p_error[i]),
        )
        for i, row in enumerate(found)
    ]


_TEXTS = ("feature", "text")


def _spread(second: float, first: float, mass: float) -> float:
    return float(np.sqrt(max(second / mass - (first / mass) ** 2, 0.0))) if mass > 0 else float("nan")
