"""The rows behind slices, in memory or counted by an engine: sums over slices, and what weak spots have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from isonomia.counting import Codes
from isonomia.counting.threads import in_threads
from isonomia.evidence import normal_p
from isonomia.metrics import ERROR_RATE, RowSums, Sums, expected_error
from isonomia.robustness.slices.spot_merging import Spot
from isonomia.typing import Bools, Floats

#: Rows on which overlaps of spots are measured.
SAMPLE = 100_000


class Excess(NamedTuple):
    """The error rate that the scores of a spot's rows let expect, and the p-value that it is not exceeded."""

    expected: float
    p_value: float


class SliceRows(Protocol):
    """What a search for weak spots asks of the rows.

    Attributes
    ----------
    parts : RowSums
        The metric.
    columns : mapping of Codes
        The slices of every feature.
    scored : bool
        Whether scores let expect some errors, so that there is an `excess`.
    """

    parts: RowSums
    columns: Mapping[str, Codes]

    @property
    def scored(self) -> bool:
        """Whether there is an `excess`."""

    def sums(self, sets: Sequence[tuple[str, ...]]) -> list[Sums]:
        """The sums of every cell of these features, set by set."""

    def overlap(self, spots: Sequence[Spot]) -> Callable[[int, int], float]:
        """How much two of the spots have in common: their common rows over the rows of either."""

    def excess(self, spot: Spot) -> Excess:
        """What scores let expect of a spot."""


class RowsInMemory:
    """Rows that are in memory, each in one slice of every feature."""

    def __init__(self, parts: RowSums, columns: Mapping[str, Codes]) -> None:
        self.parts, self.columns = parts, columns

    def sums(self, sets: Sequence[tuple[str, ...]]) -> list[Sums]:
        """The sums of every cell of these features, set by set."""

        def over(names: tuple[str, ...]) -> Sums:
            return self.parts.over([self.columns[name] for name in names])

        return in_threads(over, sets, len(self.parts.rows))

    def overlap(self, spots: Sequence[Spot]) -> Callable[[int, int], float]:
        """How much two of the spots have in common; of many rows, on a part of them."""
        size = len(next(iter(self.columns.values()))) if self.columns else 0
        rows = slice(None, None, max(1, size // SAMPLE))
        masks = [spot.mask(self.columns, rows) for spot in spots]

        def share(one: int, two: int) -> float:
            either = int((masks[one] | masks[two]).sum())
            return int((masks[one] & masks[two]).sum()) / either if either else 0.0

        return share

    @cached_property
    def _expected(self) -> Floats | None:
        rows = self.parts.rows
        if not compares_errors(self.parts) or rows.truth is None:
            return None
        return expected_error(rows.truth, rows.surface, rows.weights)

    @property
    def scored(self) -> bool:
        """Whether scores let expect some errors."""
        return self._expected is not None

    def excess(self, spot: Spot) -> Excess:
        """What scores let expect of a spot."""
        rows = self.parts.rows
        inside = np.flatnonzero(spot.mask(self.columns))
        w = np.ones(inside.size) if rows.weights is None else rows.weights[inside]
        assert self._expected is not None  # the caller has looked
        assert rows.truth is not None
        assert rows.surface.label is not None
        return excess_of(self._expected[inside], rows.surface.label[inside] != rows.truth[inside], w, np.ones(w.size))


def compares_errors(parts: RowSums) -> bool:
    """Whether a metric is about wrong decisions, which scores let expect."""
    return parts.metric.id in (ERROR_RATE.id, "accuracy")


def excess_of(expected: Floats, wrong: Bools, w: Floats, n: Floats) -> Excess:
    """The errors beyond those expected of rows with these weights, each of which stands for `n`."""
    spread = float(np.sqrt((n * w * w) @ (expected * (1 - expected))))
    z = float((n * w) @ (wrong - expected)) / spread if spread > 0 else 0.0
    return Excess(float((n * w) @ expected / (n * w).sum()), float(normal_p(z)) / 2 if z > 0 else 1.0)
