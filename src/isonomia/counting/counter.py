"""What a lattice asks of rows that are elsewhere."""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import NDArray

from isonomia.events import Clock
from isonomia.typing import Floats


class Counter(Protocol):
    """Rows that are elsewhere: sums over them by codes, and by conjunctions of codes.

    Attributes
    ----------
    rows : int
    totals : array
        The size of all rows (their number, or weight), then the sum of every quantity.
    """

    rows: int
    totals: Floats

    def of_codes(self, feature: int) -> Floats:
        """The sizes and sums of each code of a column, a row per code."""

    def count(self, features: NDArray[Any], codes: NDArray[Any], min_size: float, clock: Clock) -> tuple[Floats, int]:
        """The sizes and sums of conjunctions, of which these are the columns and their codes; and how many were done.

        Those with less than `min_size` rows may have any smaller size.
        """
