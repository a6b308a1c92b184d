"""An interval beside a limit: the one place that says *meets*, *exceeds* or *not enough evidence*."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from isonomia.policies import RuleSide

#: What the ends of an interval show about a limit.
Outcome = Literal["meets", "exceeds", "not_enough_evidence"]
#: The worst first.
WORST_FIRST = ("exceeds", "not_enough_evidence", "incomplete", "meets", "documents")


def outcome_of(
    limit: float,
    side: RuleSide,
    low: float | None,
    high: float | None,
    *,
    least: float | None = None,
    most: float | None = None,
) -> Outcome:
    """What the ends show: beyond the limit, shown to keep it, or neither. An end that is missing shows nothing.

    Parameters
    ----------
    limit, side
        The smallest (`at_least`) or largest (`at_most`) figure that keeps the rule.
    low, high : float, optional
        The interval, None or NaN where it has no end.
    least, most : float, optional
        The ends of one-sided tests, where keeping the limit is shown by these.

    Examples
    --------
    >>> outcome_of(0.8, "at_least", 0.83, 0.97), outcome_of(0.8, "at_least", 0.6, 0.79)
    ('meets', 'exceeds')
    >>> outcome_of(0.1, "at_most", 0.08, 0.12), outcome_of(0.1, "at_most", 0.02, 0.12, most=0.1)
    ('not_enough_evidence', 'meets')
    """
    if side == "at_least":
        shown = low if least is None else least
        if high is not None and high < limit:
            return "exceeds"
        return "meets" if shown is not None and shown >= limit else "not_enough_evidence"
    shown = high if most is None else most
    if low is not None and low > limit:
        return "exceeds"
    return "meets" if shown is not None and shown <= limit else "not_enough_evidence"


def worst_of(outcomes: Iterable[str]) -> str:
    """The outcome that summarises several; a rule that does not apply leaves the others without a "meets".

    >>> worst_of(["meets", "not_enough_evidence"])
    'not_enough_evidence'
    >>> worst_of(["meets", "not_applicable"]), worst_of(["not_applicable"])
    ('not_enough_evidence', 'not_applicable')
    """
    there = {*outcomes}
    found = next((kind for kind in WORST_FIRST if kind in there), "not_applicable")
    return "not_enough_evidence" if found == "meets" and "not_applicable" in there else found
