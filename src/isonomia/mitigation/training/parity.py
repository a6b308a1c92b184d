"""Parity as costs: rates by group among the people that a goal compares, and the search for one price.

A price s on the positive decisions of one group, and -s on those of the other, turns a constraint on their rates into a
weighted fit: the cost of a positive decision about row i is w_i (1 - 2 y_i) / W + s_i w_i / W_g, with W_g the weight of
the people compared in its group. For a linear model the gap moves smoothly with s, so that a secant finds the price at
which the gap is just within the limit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from isonomia.counting import Codes, count_by, sum_by
from isonomia.errors import DataError
from isonomia.typing import Bools, Floats, Indices

#: Shifts along the direction between the groups that are tried at each of three widths.
SHIFTS = 9
#: Whom each goal compares: people of which outcomes (everyone where there is no entry).
OUTCOMES: dict[str, tuple[bool | None, ...]] = {
    "demographic_parity": (None,),
    "equalized_odds": (False, True),
    "equal_opportunity": (True,),
    "predictive_equality": (False,),
}


@dataclass(frozen=True, kw_only=True)
class Parity:
    """What is compared: the outcomes and weights of the rows (summing to 1), their groups, and the goal."""

    positive: Bools
    weights: Floats
    groups: Codes
    goal: str

    def __post_init__(self) -> None:
        for inside in self.compared():
            mass = sum_by(self.groups.codes, self.weights * inside, self.groups.size)
            if not mass.all():
                named = " x ".join(map(str, self.groups.labels[int(np.argmin(mass))]))
                raise DataError(
                    f"The goal '{self.goal}' compares people of one outcome, and the group {named} has none of them. "
                    "Merge groups, or choose goal='demographic_parity'."
                )

    def take(self, rows: Indices) -> Parity:
        """The same goal for some of the rows."""
        weights = self.weights[rows]
        return Parity(
            positive=self.positive[rows], weights=weights / weights.sum(), groups=self.groups.take(rows), goal=self.goal
        )

    def smallest(self) -> int:
        """Rows in the smallest group that is compared."""
        return min(int(count_by(self.groups.codes[inside], self.groups.size).min()) for inside in self.compared())

    def compared(self) -> list[Bools]:
        """The people whose rates are compared, once or per outcome."""
        everyone = np.ones(len(self.positive), dtype=bool)
        return [everyone if label is None else self.positive == label for label in OUTCOMES[self.goal]]

    def rates(self, decisions: Bools | Floats) -> Floats:
        """Rates of positive decisions: (comparisons, groups)."""
        codes, size = self.groups.codes, self.groups.size
        weights = [self.weights * inside for inside in self.compared()]
        return np.stack([sum_by(codes, one * decisions, size) / sum_by(codes, one, size) for one in weights])

    def gap(self, decisions: Bools) -> float:
        """The largest difference between groups."""
        return float(np.ptp(self.rates(decisions), axis=1).max())

    def error(self, decisions: Bools) -> float:
        """The share of wrong decisions."""
        return float(self.weights @ (decisions != self.positive))

    def costs(self, price: float) -> Floats:
        """What a positive decision about each row costs more than a negative one, for two groups."""
        compared = self.compared()[0] * self.weights
        signs = np.where(self.groups.codes == 1, price, -price)
        extra = signs * compared / sum_by(self.groups.codes, compared, 2)[self.groups.codes]
        return np.asarray(self.weights * (1.0 - 2.0 * self.positive) + extra)

    def contrast(self) -> Floats:
        """What each row adds to the difference of two groups' rates where it is accepted."""
        compared = self.compared()[0] * self.weights
        share = compared / sum_by(self.groups.codes, compared, 2)[self.groups.codes]
        return np.where(self.groups.codes == 1, share, -share)


def sharpened(score: Floats, direction: Floats, parity: Parity, eps: float) -> tuple[float, float] | None:
    """The shift d and the cut c with the fewest errors of score + d direction > c and the gap of two groups within eps.

    A fit under costs minimises a smooth loss, not errors: along the direction that tells the groups apart, and over all
    cuts, errors are counted exactly. None where no cut is within the limit.
    """
    scale = float(score.std() / direction.std()) if direction.std() > 0 else 0.0
    costs, contrast = parity.weights * (1.0 - 2.0 * parity.positive), parity.contrast()
    centre, best = 0.0, None
    for width in (0.3, 0.04, 0.006):
        for step in np.linspace(-width, width, SHIFTS) * scale:
            found = _best_cut(score + (centre + step) * direction, costs, contrast, eps)
            if found is not None and (best is None or found[0] < best[0] - 1e-12):
                best = (found[0], centre + step, found[1])
        centre = centre if best is None else best[1]
    return None if best is None else (float(best[1]), float(best[2]))


def _best_cut(score: Floats, costs: Floats, contrast: Floats, eps: float) -> tuple[float, float] | None:
    """The smallest cost of any cut whose gap is within eps, and that cut."""
    order = np.argsort(-score)
    s = score[order]
    error, gap = np.cumsum(costs[order]), np.cumsum(contrast[order])
    usable = np.append(s[1:] < s[:-1], True) & (np.abs(gap) <= eps - 1e-9)  # sums are rounded
    if not usable.any():
        return None
    at = int(np.argmin(np.where(usable, error, np.inf)))
    below = s[at + 1] if at + 1 < s.size else s[at] - 1.0
    return float(error[at]), float((s[at] + below) / 2)


@dataclass(frozen=True, kw_only=True)
class Found:
    """The model at a price, how many fits it took, and how the signed gap moves with the price around it."""

    model: Any
    fits: int
    price: float
    slope: float
    side: float


def within_limit(
    fit: Callable[[float], tuple[Any, Bools]], parity: Parity, eps: float, rounds: int, near: Found | None = None
) -> Found:
    """The model at the price where the gap of two groups is just within `eps`.

    `fit` trains at a price and returns the model and its decisions on the rows of `parity`. The search starts without a
    price, or `near` what was found on some of the rows. Where no price reaches the limit within the rounds, the model
    with the smallest gap is returned.
    """
    tried: list[tuple[float, float, Any]] = []  # price, signed gap, model

    def try_price(price: float) -> float:
        model, decisions = fit(price)
        rates = parity.rates(decisions)[0]
        tried.append((price, float(rates[1] - rates[0]), model))
        return tried[-1][1]

    if near is None or near.price == 0:
        gap = try_price(0.0)
        side = float(np.sign(gap))
        price = 2 * float(sum_by(parity.groups.codes, parity.weights, 2).min()) * gap
    else:
        gap, side = try_price(near.price), near.side
        price = near.price + (side * 0.8 * eps - gap) / near.slope if near.slope else 2 * near.price
    unneeded = tried[0][0] == 0 and abs(gap) <= eps
    while not unneeded and len(tried) < rounds and not 0.55 * eps <= abs(tried[-1][1]) <= eps:
        try_price(price)
        price = _next_price([(one, found - side * 0.8 * eps) for one, found, _ in tried])
    inside = [one for one in tried if abs(one[1]) <= eps]
    best = max(inside, key=lambda one: abs(one[1])) if inside else min(tried, key=lambda one: abs(one[1]))
    ends = sorted(tried, key=lambda one: abs(one[0] - best[0]))[:2]
    moved = ends[-1][0] - ends[0][0]
    slope = (ends[-1][1] - ends[0][1]) / moved if moved else 0.0
    return Found(model=best[2], fits=len(tried), price=best[0], slope=slope, side=side)


def _next_price(points: list[tuple[float, float]]) -> float:
    """Where the line through the two nearest points crosses zero; their middle where that is outside the bracket."""
    last = sorted(points[-2:] if len(points) < 3 else sorted(points, key=lambda p: abs(p[1]))[:2])
    (a, f_a), (b, f_b) = last
    crossing = (a * f_b - b * f_a) / (f_b - f_a) if f_a != f_b else 2 * b
    below, above = [p for p, f in points if f < 0], [p for p, f in points if f > 0]
    if not below or not above:
        widest = max(abs(p) for p, _ in points)
        return float(np.clip(crossing, -3 * widest, 3 * widest)) if widest else crossing
    ends = min(((x, y) for x in below for y in above), key=lambda pair: abs(pair[0] - pair[1]))
    low, high = min(ends), max(ends)
    margin = 0.05 * (high - low)
    return float(crossing if low + margin < crossing < high - margin else (low + high) / 2)
