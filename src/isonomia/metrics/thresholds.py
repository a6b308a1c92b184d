"""Sets of rows at every threshold: confusion tables for everyone and for groups, from one pass over the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, smallest, tally
from isonomia.metrics.row_sets import RowSets
from isonomia.metrics.rows import Rows
from isonomia.models import Surface
from isonomia.typing import Bools, Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class ThresholdSets(RowSets):
    """T x G sets: each of G groups as it is decided at each of T rising thresholds.

    A score of at least the threshold is a positive decision. Each row falls between two thresholds; rows are counted
    there, by group and truth (the cells), and the counts are added up from the top. So the cost is one pass over the
    rows however many thresholds there are, and a bootstrap draws the cells once for all thresholds.

    >>> groups = Codes("g", np.zeros(4, dtype=np.uint8), ("all",))
    >>> truth = np.array([False, True, False, True])
    >>> sets = ThresholdSets.cut(np.array([0.1, 0.4, 0.4, 0.8]), truth, np.array([0.4, 0.5]), groups)
    >>> sets.tables(sets.counts.w).tolist()
    [[[1.0, 1.0], [0.0, 2.0]], [[2.0, 0.0], [1.0, 1.0]]]
    """

    thresholds: Floats

    @classmethod
    def cut(
        cls,
        score: Floats,
        positive: Bools,
        thresholds: Floats,
        groups: Codes,
        weights: Floats | None = None,
        counts: NDArray[np.int64] | None = None,
    ) -> ThresholdSets:
        """Cut the scores at every threshold at once; `counts` says how many rows each row stands for."""
        size = thresholds.size + 1
        between = np.searchsorted(thresholds, score, side="right").astype(smallest(size))
        truth = positive.astype(np.uint8)
        axes = [groups, Codes("between", between, tuple(range(size))), Codes("true", truth, (0, 1))]
        rows = Rows(truth, Surface(task="binary", classes=(0, 1), score=score), weights, counts)
        table = tally(axes, weights=weights, counts=counts)
        return cls(rows=rows, columns=(groups,), counts=table, thresholds=thresholds)

    def __len__(self) -> int:
        return self.thresholds.size * self.columns[0].size

    def tables(self, of_cells: NDArray[Any]) -> Floats:
        """The confusion tables (T x G, 2, 2) from cells (G, T + 1, 2)."""
        above = np.cumsum(np.asarray(of_cells)[:, ::-1], axis=1, dtype=float)[:, ::-1]
        selected = above[:, 1:]
        both = np.stack([above[:, :1] - selected, selected], axis=-1)  # group, threshold, truth, decided
        tables: Floats = np.maximum(np.moveaxis(both, 1, 0), 0.0)
        return tables.reshape(len(self), 2, 2)
