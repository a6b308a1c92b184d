"""How badly each row is served, in what way, and what is unusual about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, sum_by
from isonomia.counting.cuts import as_floats
from isonomia.data import Dataset
from isonomia.evidence import benjamini_hochberg, two_proportions, welch
from isonomia.languages.naming import number
from isonomia.metrics.means import probability_of_truth
from isonomia.subject import Outcome
from isonomia.typing import Floats

Kind = Literal["wrong_confident", "wrong", "right_unsure", "right", "too_high", "too_low", "misranked"]
#: Spread of a normal distribution over its median absolute deviation.
NORMAL = 1.4826


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
    code: int
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


def patterns(
    columns: Sequence[Codes], size: Floats, worst: NDArray[np.bool_], weights: Floats | None, minimum: int
) -> list[Pattern]:
    """Every slice with enough rows: its share of all rows and of the worst ones, its mean error, tests of both.

    The share is tested by two proportions against all other rows, the mean error by Welch's test; p-values of shares
    are adjusted (Benjamini-Hochberg) over all slices, those of errors likewise.
    """
    w = np.ones(size.size) if weights is None else weights
    found: list[dict[str, Any]] = []
    for column in columns:
        n = column.counts()
        mass, bad, first, second = (
            sum_by(column.codes, part, column.size) for part in (w, w * worst, w * size, w * size * size)
        )
        n_worst = sum_by(column.codes, worst, column.size)
        for code in np.flatnonzero((n >= minimum) & (n < size.size) & (mass > 0)):
            found.append(
                {
                    "feature": column.name,
                    "code": int(code),
                    "text": column.text(int(code)),
                    "n": int(n[code]),
                    "n_worst": int(n_worst[code]),
                    "share": mass[code] / w.sum(),
                    "share_of_worst": bad[code] / max((w * worst).sum(), 1e-300),
                    "error": first[code] / mass[code],
                    "rest": (first.sum() - first[code]) / max(mass.sum() - mass[code], 1e-300),
                    "spread": _spread(second[code], first[code], mass[code]),
                    "spread_rest": _spread(
                        second.sum() - second[code], first.sum() - first[code], mass.sum() - mass[code]
                    ),
                }
            )
    if not found:
        return []
    column_of = {name: np.array([row[name] for row in found], dtype=float) for name in found[0] if name not in _TEXTS}
    n, bad = column_of["n"], column_of["n_worst"]
    total, all_bad = size.size, int(worst.sum())
    p = two_proportions(bad, n, all_bad - bad, total - n)
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
            row["code"],
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


def unusual_values(
    data: Dataset, names: Sequence[str], rows: NDArray[np.intp], *, far: float, rare: float
) -> list[list[tuple[str, str, float | None]]]:
    """For each row the features that are unusual: name, value and how far out (spreads), how rare (share) or missing.

    A number is unusual where it lies more than `far` spreads (1.4826 median absolute deviations, or the standard
    deviation where that is 0) from the median; a category where less than a share `rare` of the rows has it.
    """
    out: list[list[tuple[str, str, float | None]]] = [[] for _ in rows]
    for name in names:
        if data.kinds[name] in ("category", "boolean"):
            column = Codes.encode(data.column(name), name=name)
            share = column.counts() / len(column)
            for index, code in enumerate(column.codes[rows].tolist()):
                if code == column.missing:
                    out[index].append((name, "", None))
                elif share[code] < rare:
                    out[index].append((name, column.text(code), float(share[code])))
            continue
        values = as_floats(data, name)
        known = values[np.isfinite(values)]
        if known.size == 0:
            continue
        middle = float(np.median(known))
        spread = NORMAL * float(np.median(np.abs(known - middle))) or float(known.std())
        for index, value in enumerate(values[rows].tolist()):
            if not np.isfinite(value):
                out[index].append((name, "", None))
            elif spread > 0 and abs(value - middle) > far * spread:
                out[index].append((name, number(value), (value - middle) / spread))
    return out
