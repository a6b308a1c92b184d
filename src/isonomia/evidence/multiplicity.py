"""Many tests at once: which of them still count."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isonomia.parameters import ALPHA, Choice


def benjamini_hochberg(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjusted p-values that control the false discovery rate.

    With p(1) <= ... <= p(m): adjusted p(i) = min over j >= i of m p(j) / j, at most 1. NaN (no test) stays NaN and
    does not count towards m.

    References
    ----------
    Y. Benjamini, Y. Hochberg (1995), J. R. Stat. Soc. B 57:289.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03, float("nan")]).tolist()
    [0.03, 0.04, 0.04, nan]
    """
    return _adjust(p_values, "bh")


def benjamini_hochberg_among(p_values: ArrayLike, among: ArrayLike) -> NDArray[np.float64]:
    """`benjamini_hochberg` of a few tests that were picked from many, without ordering all of the many.

    `among` holds the p-values of every test made, these included.

    >>> benjamini_hochberg_among([0.03], [0.01, 0.04, 0.03, float("nan")]).tolist()
    [0.04]
    """
    p, all_p = np.asarray(p_values, dtype=float), np.asarray(among, dtype=float).ravel()
    ordered = np.sort(all_p[~np.isnan(all_p)])
    if not ordered.size:
        return np.full(p.shape, np.nan)
    steps = ordered * (ordered.size / np.arange(1, ordered.size + 1))
    adjusted = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    index = np.minimum(np.searchsorted(ordered, p), ordered.size - 1)
    return np.where(np.isnan(p), np.nan, adjusted[index])


def holm(p_values: ArrayLike, weights: ArrayLike | None = None) -> NDArray[np.float64]:
    """Adjusted p-values that control the chance of any false rejection (Holm 1979).

    With weights, which must not come from the data tested, hypotheses of more weight need less evidence: of those left,
    the one with the smallest p / w is rejected where its p is at most alpha w over the sum of the weights left.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    >>> holm([0.02, 0.04], weights=[3, 1]).round(4).tolist()
    [0.0267, 0.04]
    """
    if weights is None:
        return _adjust(p_values, "holm")
    p, weight = np.asarray(p_values, dtype=float), np.asarray(weights, dtype=float)
    out = np.full(p.shape, np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known] / weight[known], kind="stable")]
    left = np.cumsum(weight[order][::-1])[::-1]
    out[order] = np.minimum(np.maximum.accumulate(p[order] / weight[order] * left), 1.0)
    return out


Policy = Literal["spend", "bff"]


class AlphaInvesting:
    """Tests one after the other under a budget that a discovery refills.

    The wealth W starts at alpha. A test at level a that rejects adds `payout` to W, one that does not costs
    a / (1 - a). Policy "bff" (best foot forward) stakes all: a = W / (1 + W), so the first failure ends it. "spend"
    stakes half as much, a = W / (2 (1 + W)), and can go on.

    References
    ----------
    D. P. Foster, R. A. Stine (2008), J. R. Stat. Soc. B 70:429.

    Examples
    --------
    >>> investing = AlphaInvesting(0.05)
    >>> [investing.test(p) for p in (0.001, 0.2, 0.02)], round(investing.wealth, 4)
    ([True, False, True], 0.1024)
    >>> best_foot = AlphaInvesting(0.05, policy="bff")
    >>> [best_foot.test(p) for p in (0.2, 0.0001)], best_foot.wealth
    ([False, False], 0.0)
    """

    def __init__(self, alpha: float = 0.05, *, policy: Policy = "spend", payout: float | None = None) -> None:
        self.wealth = ALPHA.check("alpha", alpha)
        Choice(get_args(Policy)).check("policy", policy)
        self.payout = alpha if payout is None else payout
        self._stake = 1.0 if policy == "bff" else 0.5

    @property
    def level(self) -> float:
        """The level of the next test; 0 when the budget is spent."""
        return self._stake * self.wealth / (1 + self.wealth)

    def test(self, p_value: float) -> bool:
        """Whether the test rejects; the budget is paid from or refilled."""
        level = self.level
        if level > 0 and p_value <= level:
            self.wealth += self.payout
            return True
        self.wealth = max(0.0, self.wealth - level / (1 - level))
        if self.wealth < 1e-15:  # what rounding leaves of a stake of everything
            self.wealth = 0.0
        return False


def _adjust(p_values: ArrayLike, method: str) -> NDArray[np.float64]:
    p = np.asarray(p_values, dtype=float)
    flat = p.ravel()
    known = np.flatnonzero(~np.isnan(flat))
    out = np.full(flat.size, np.nan)
    m = known.size
    if m:
        order = known[np.argsort(flat[known], kind="stable")]
        if method == "bh":
            steps = flat[order] * m / np.arange(1, m + 1)
            adjusted = np.minimum.accumulate(steps[::-1])[::-1]
        else:
            adjusted = np.maximum.accumulate(flat[order] * np.arange(m, 0, -1))
        out[order] = np.minimum(adjusted, 1.0)
    return out.reshape(p.shape)
