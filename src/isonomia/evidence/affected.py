"""How many people a gap affects: a gap of rates times the people it is about."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from isonomia.evidence.estimate import Estimate
from isonomia.languages import msg
from isonomia.languages.naming import as_text

#: A rate that a group lacks ("approved less often") or has in excess ("wrong more often").
Harm = Literal["lack", "excess"]

WEIGHTED = msg("rows, times a weighted rate")
#: Why a finding counts nobody.
NO_COUNT = msg("a difference of numbers does not count people")
NO_INTERVAL = msg("the gap has no interval")


def affected(gap: Estimate, count: float | None, *, harm: Harm = "excess", weighted: bool = False) -> Estimate:
    """The people affected beyond what the reference would have had: gap x count, with the gap's interval.

    The count is given, not estimated: with m people of whom a share r has the outcome and a reference share r0, the
    figure is ``m (r0 - r)`` for an outcome that the group lacks (its *shortfall*) and ``m (r - r0)`` for one it has in
    excess. Positive: so many people are worse off; negative: better off.

    Parameters
    ----------
    gap : Estimate
        Group minus reference, as a share of `count`.
    count : float or None
        The people the rates are about: the rows of the group, of its positives, of its negatives. Rows are counted also
        where they are weighted: the scale of sample weights says nothing about people.
    harm : "lack" or "excess"
        Whether a lower or a higher rate is worse for the group.
    weighted : bool
        Whether the rates are weighted: the figure is then what so many rows would have at these rates.

    References
    ----------
    Shortfall analysis: Federal Judicial Center, Reference Manual on Scientific Evidence (3rd ed., 2011), pages 303-357.

    Examples
    --------
    >>> affected(Estimate(-0.292, -0.346, -0.238, n=339), 339, harm="lack")
    98.99 [80.68, 117.3] (n=339)
    """
    if gap.value is None or count is None:
        return Estimate.missing(gap.note or NO_COUNT, n=gap.n)
    times = count if harm == "excess" else -count
    ends = sorted(times * end for end in (gap.low, gap.high) if end is not None)
    low, high = ends if len(ends) == 2 else (None, None)
    note = as_text(WEIGHTED) if weighted else None if low is not None else as_text(NO_INTERVAL)
    return replace(gap, value=times * gap.value, low=low, high=high, note=note)


def beyond(rate: Estimate, expected: float, count: float | None, *, weighted: bool = False) -> Estimate:
    """The people beyond what an expected rate would make, from a rate with its interval: the expected one is given.

    >>> beyond(Estimate(0.42, 0.36, 0.48, n=245), 0.15, 245)
    66.15 [51.45, 80.85] (n=245)
    """

    def less(value: float | None) -> float | None:
        return None if value is None else value - expected

    gap = replace(rate, value=less(rate.value), low=less(rate.low), high=less(rate.high))
    return affected(gap, count, weighted=weighted)


def at_least(people: Estimate | None) -> float:
    """The lower bound of the people affected: 0 where the interval contains 0, or where there is none.

    >>> at_least(Estimate(-9.0, -12.0, -4.0)), at_least(Estimate(9.0, -1.0, 19.0)), at_least(None)
    (4.0, 0.0, 0.0)
    """
    if people is None or people.low is None or people.high is None or people.low <= 0 <= people.high:
        return 0.0
    return min(abs(people.low), abs(people.high))
