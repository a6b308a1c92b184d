"""How many rows to hand to a model at once."""

from __future__ import annotations

import time
from collections.abc import Iterator

#: Model rows of the first call, and the growth from one call to the next.
FIRST_CALL, GROWTH = 1_024, 4
#: The longest that a call should last.
CALL_SECONDS = 0.5
#: The cost per row is estimated from two calls whose sizes differ by this factor.
UNLIKE = 1.5
#: Larger calls must save at least this share of the time per row.
SAVING = 0.1


class Pace:
    """The size of the next call, from how long the last ones took.

    Calls grow while larger ones are cheaper per row. Past that size they only fall out of the processor's cache: a
    boosted model of a hundred columns takes twice as long per row in calls of 32,000 rows as in calls of 4,000.

    A call is taken to last a + b x rows seconds. It should last at most half a second, or twice its fixed part a where
    that is more: smaller calls to a model far away, or one whose threads wait for each other, would only be more calls.

    Parameters
    ----------
    minimum, maximum : int
        Bounds of the size.

    Examples
    --------
    >>> pace = Pace(1, 100_000)
    >>> pace.learn(1024, 1.024)                                            # a millisecond per row
    >>> pace.rows
    500
    >>> far = Pace(1, 100_000)
    >>> for _ in range(5):
    ...     far.learn(far.rows, 1.0 + far.rows / 1e6)                      # a second, even for a few rows
    >>> far.rows
    100000
    """

    def __init__(self, minimum: int, maximum: int) -> None:
        self.minimum, self.maximum = minimum, maximum
        self.rows = max(minimum, min(FIRST_CALL, maximum))
        self._before = 0, 0.0  # rows and seconds of a call of another size
        self._each = 0.0
        self._quickest: dict[int, tuple[float, int]] = {}  # seconds per row and rows, by the binary digits of the size

    def portions(self, n: int) -> Iterator[slice]:
        """Slices of n rows, one per call: what is done with a slice before the next is taken is its call."""
        start = 0
        while start < n or not start:
            size = min(self.rows, n - start)
            began = time.perf_counter()
            yield slice(start, start + size)
            self.learn(size, time.perf_counter() - began)
            start += max(size, 1)

    def learn(self, rows: int, seconds: float) -> None:
        """Learn from a call; one much smaller than the allowed size says nothing about large ones."""
        if rows < max(1, self.rows // 2):
            return
        self.rows = max(self.minimum, min(self._cheapest(rows, seconds), self._longest(rows, seconds), self.maximum))

    def _cheapest(self, rows: int, seconds: float) -> int:
        """The size with the least time per row, or a larger one where growing has paid so far."""
        digits, here = rows.bit_length(), (seconds / rows, rows)
        self._quickest[digits] = min(here, self._quickest.get(digits, here))
        size, (rate, _) = max(self._quickest.items())
        smaller = [quick for other, (quick, _) in self._quickest.items() if other < size]
        if not smaller or rate <= (1 - SAVING) * min(smaller):
            return GROWTH * self._quickest[size][1]
        return min(self._quickest.values())[1]

    def _longest(self, rows: int, seconds: float) -> int:
        """The size of a call that lasts half a second, or twice its fixed part."""
        earlier, took = self._before
        if not rows / UNLIKE < earlier < rows * UNLIKE:  # the first call is compared with none, which took no time
            self._each = max((seconds - took) / (rows - earlier), 0.0)
            self._before = rows, seconds
        each = min(self._each, seconds / rows)
        fixed = seconds - each * rows
        return int(min((max(CALL_SECONDS, 2 * fixed) - fixed) / each, self.maximum)) if each > 0 else self.maximum
