"""The share of a domain that is treated differently, estimated by drawing people where nothing is proved.

What is certified needs no guess: only the boxes that are still open are drawn from. With S the certified share, W the
share of the domain that is open, and k of n people drawn there treated differently, the estimate is S + W k / n, and
its interval S + W [l, u] with [l, u] Wilson's interval of k / n: narrower the less is open.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from isonomia.discovery.pairs.exact.branch_and_bound import Certified, Search
from isonomia.evidence import wilson
from isonomia.typing import Floats

#: Maximum of people drawn, of descents of a tree, and of people decided by the model itself.
MAX_DRAWN, WALKS, MAX_QUERIES = 20_000, 2_000_000, 2000


@dataclass(frozen=True, eq=False)
class ShareEstimate:
    """An estimated share with its 95% interval, from `n` people drawn; nothing of it is certified.

    `people` are the people drawn who are treated differently.
    """

    value: float
    low: float
    high: float
    n: int
    people: Floats = field(default_factory=lambda: np.empty((0, 0)))

    def within(self, low: float, high: float) -> ShareEstimate:
        """The same inside bounds that are certain."""
        value, lower, upper = np.clip([self.value, self.low, self.high], low, high).tolist()
        return replace(self, value=value, low=lower, high=upper)


def estimate(
    search: Search, known: Certified, rng: np.random.Generator, *, walks: int = WALKS, rows: int
) -> ShareEstimate:
    """The share of the domain that is treated differently, from people drawn in the open boxes of a search.

    Parameters
    ----------
    walks : int
        Maximum number of descents: trees x variants x people.
    rows : int
        Rows for the model. It decides people too close to a tie; those beyond this number count for the upper end only
        (and half for the estimate).
    """
    if known.finished or known.waiting <= 0.0:
        return ShareEstimate(value=known.share, low=known.share, high=known.share, n=0)
    variants = len(search.descent.variants)
    n = int(np.clip(walks // (len(search.trees.roots) * variants), 100, MAX_DRAWN))
    people = search.descent.draw(known.open, known.open_volume, n, rng)
    verdict = search.people(people)
    close = np.flatnonzero(verdict < 0)[: min(MAX_QUERIES, max(0, rows) // variants)]
    if close.size:
        verdict[close] = search.ask(people[close])
    found, unknown = int((verdict == 1).sum()), int((verdict < 0).sum())
    part = np.array([(found + unknown / 2) / n, wilson(found, n)[0], wilson(found + unknown, n)[1]])
    value, low, high = (known.share + known.waiting * part).tolist()
    return ShareEstimate(value=value, low=low, high=high, n=n, people=people[verdict == 1])
