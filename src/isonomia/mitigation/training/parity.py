"""Parity as costs: rates by group among the people that a goal compares, and what a price on each of them adds.

A price p_cg on the positive decisions about group g in comparison c turns a constraint on rates into a weighted fit:
the cost of a positive decision about row i is w_i (1 - 2 y_i) + sum_c p_cg w_i / W_cg, with W_cg the weight of the
people of group g who are compared.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isonomia.counting import Codes, count_by, sum_by
from isonomia.errors import DataError
from isonomia.typing import Bools, Floats, Indices

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
        mass = self.mass()
        if not mass.all():
            named = " x ".join(map(str, self.groups.labels[int(np.argmin(mass)) % self.groups.size]))
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

    def mass(self) -> Floats:
        """The weight of the people compared: (comparisons, groups)."""
        codes, size = self.groups.codes, self.groups.size
        return np.stack([sum_by(codes, self.weights * inside, size) for inside in self.compared()])

    def shares(self) -> Floats:
        """What each row adds to the rate of its group where it is accepted: (comparisons, rows)."""
        inside = np.stack(self.compared()) * self.weights
        return np.asarray(inside / self.mass()[:, self.groups.codes])

    def rates(self, decisions: Bools | Floats) -> Floats:
        """Rates of positive decisions: (comparisons, groups)."""
        codes, size = self.groups.codes, self.groups.size
        return np.stack([sum_by(codes, one * decisions, size) for one in self.shares()])

    def gap(self, decisions: Bools) -> float:
        """The largest difference between groups."""
        return float(np.ptp(self.rates(decisions), axis=1).max())

    def error(self, decisions: Bools) -> float:
        """The share of wrong decisions."""
        return float(self.weights @ (decisions != self.positive))

    def costs(self, prices: Floats) -> Floats:
        """What a positive decision about each row costs more than a negative one; prices (comparisons, groups)."""
        extra = (self.shares() * prices[:, self.groups.codes]).sum(axis=0)
        return np.asarray(self.weights * (1.0 - 2.0 * self.positive) + extra)
