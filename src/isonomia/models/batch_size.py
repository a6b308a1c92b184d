"""How many rows to hand to a model at once."""

from __future__ import annotations

#: Model rows of the first call, and the largest growth from one call to the next.
FIRST_CALL, GROWTH = 1_024, 4
#: Target duration of a call.
CALL_SECONDS = 0.5
#: The cost per row is estimated from two calls whose sizes differ by this factor.
UNLIKE = 1.5


class Pace:
    """The size of the next call, from how long the last ones took.

    A call is taken to last a + b x rows seconds. It should last half a second, or twice its fixed part a where that is
    more: smaller calls to a model far away, or one whose threads wait for each other, would only be more calls.

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

    def learn(self, rows: int, seconds: float) -> None:
        """Learn from a call; one much smaller than the allowed size says nothing about large ones."""
        if rows < self.rows // 2:
            return
        earlier, took = self._before
        if not rows / UNLIKE < earlier < rows * UNLIKE:  # the first call is compared with none, which took no time
            self._each = max((seconds - took) / (rows - earlier), 0.0)
            self._before = rows, seconds
        each = min(self._each, seconds / rows)
        fixed = seconds - each * rows
        goal = GROWTH * self.rows
        if each > 0:
            goal = int(min(goal, (max(CALL_SECONDS, 2 * fixed) - fixed) / each))
        self.rows = max(self.minimum, min(goal, self.maximum))
