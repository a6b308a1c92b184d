"""Slices of rows that an engine counts: edges by counting, one `GROUP BY` per feature or pair, nothing sampled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import Kind
from isonomia.data.engines.engine import Key
from isonomia.metrics import Metric, Rows, RowSums, ScoreLevels, Sums
from isonomia.robustness.slices.slice_rows import Excess, compares_errors, excess_of
from isonomia.robustness.slices.slicing import FEW_VALUES, Slicing, common_labels
from isonomia.robustness.slices.spot_merging import SAME_ROWS, Spot
from isonomia.subject import Subject
from isonomia.subject.counted_columns import CountedColumns, Cutting, Names
from isonomia.typing import Bools


class CountedSlices(CountedColumns):
    """The slices of features of rows that an engine counts.

    Parameters
    ----------
    subject : Subject
        In counts; rows without a target are left out.
    names : sequence of str
        The features.
    slicing : "quantile" or "uniform"
    bins, min_samples : int
        At most so many slices of numbers; categories with fewer rows share one slice.
    also, means
        As in `Dataset.beside`.
    """

    def __init__(
        self,
        subject: Subject,
        names: Sequence[str],
        *,
        slicing: Slicing,
        bins: int,
        min_samples: int,
        also: Sequence[Key] = (),
        means: Sequence[str] = (),
    ) -> None:
        assert slicing in ("quantile", "uniform")  # others look at rows
        few = {"integer": FEW_VALUES, "numeric": min(bins, FEW_VALUES)} if slicing == "quantile" else {}

        def labels(kind: Kind, column: Codes, rows: NDArray[Any]) -> tuple[Any, ...]:
            return common_labels(column, rows, min_samples if kind in ("category", "boolean") else 1)

        cutting = Cutting(
            binning=slicing, bins=lambda name: bins, few=lambda kind, bins: few.get(kind, 0), labels=labels
        )
        super().__init__(subject, names, cutting, also=also, means=means)


class RowsInCounts:
    """`SliceRows` of rows that an engine counts; the metric is one of decisions."""

    def __init__(self, slices: CountedSlices, metric: Metric) -> None:
        self._slices = slices
        self.parts = RowSums(metric, Rows.of(slices.subject))
        self.columns: Mapping[str, Codes] = {
            cut.name: cut.codes(slices.parts([(cut.name,)])[0].known) for cut in slices.cuts
        }

    def sums(self, sets: Sequence[Names]) -> list[Sums]:
        """The sums of every cell of these features, set by set."""
        found = []
        for names, part in zip(sets, self._slices.parts(sets), strict=True):
            codes = self._slices.codes(part.known, names)
            found.append(RowSums(self.parts.metric, Rows.of(part)).over([codes[name] for name in names]))
        return found

    def overlap(self, spots: Sequence[Spot]) -> Callable[[int, int], float]:
        """How much two of the spots have in common. Spots of very different sizes are not asked about."""
        size = [int(spot.cells.n) for spot in spots]
        alike = {
            (one, two): tuple(dict.fromkeys([*spots[one].slices, *spots[two].slices]))
            for one, two in combinations(range(len(spots)), 2)
            if min(size[one], size[two]) >= SAME_ROWS * max(size[one], size[two])
        }
        self._slices.parts(list(alike.values()))

        def share(one: int, two: int) -> float:
            names = alike.get((min(one, two), max(one, two)))
            if names is None:
                return 0.0
            (part,) = self._slices.parts([names])
            first, second = (self._inside(spots[index], part) for index in (one, two))
            assert part.counts is not None
            either = int(part.counts[first | second].sum())
            return int(part.counts[first & second].sum()) / either if either else 0.0

        return share

    @cached_property
    def _levels(self) -> ScoreLevels | None:
        if not compares_errors(self.parts):
            return None
        return ScoreLevels.of(self._slices.subject)

    @property
    def scored(self) -> bool:
        """Whether scores let expect some errors."""
        return self._levels is not None

    def excess(self, spot: Spot) -> Excess:
        """What scores let expect of a spot."""
        assert self._levels is not None  # the caller has looked
        (part,) = self._slices.with_scores([tuple(spot.slices)])
        inside = self._inside(spot, part)
        counts, label = part.counts, part.surface.label
        assert counts is not None
        assert label is not None
        w = np.ones(counts.size) if part.weights is None else part.weights
        expected = self._levels.expected(part)
        return excess_of(expected[inside], (label != part.truth)[inside], w[inside], counts[inside].astype(float))

    def _inside(self, spot: Spot, part: Subject) -> Bools:
        return spot.mask(self._slices.codes(part.known, tuple(spot.slices)))
