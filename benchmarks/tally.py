"""Counting from ready codes, against merely reading the bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.bench import Row, Scale, Target, benchmark, best_of, peak_megabytes

if TYPE_CHECKING:
    from isonomia.counting import Codes

ROWS = 10_000_000


@benchmark("tally")
def tally_rows(scale: Scale) -> Iterator[Row]:
    """10,000,000 rows of codes cross-tabulated, against NumPy summing the same bytes."""
    from isonomia.counting import Codes, tally

    rows = scale.rows(ROWS)
    rng = np.random.default_rng(0)
    sizes = {"sex": 2, "race": 5, "label": 2, "prediction": 2}
    columns = [
        Codes(name, rng.integers(0, size, rows, dtype=np.uint8), tuple(range(size))) for name, size in sizes.items()
    ]
    for width in (1, 2, 4):
        used = columns[:width]
        theirs, _ = best_of(partial(_summed, used), scale.repeats(7))
        ours, counted = best_of(partial(tally, used), scale.repeats(7))
        expected = _by_hand(used)
        difference = float(np.abs(counted.n.ravel() - expected).max())
        case = f"{width} column{'s' if width > 1 else ''} of one byte"
        yield Row(
            case,
            rows,
            ours,
            "numpy sum",
            theirs,
            "times as long",
            ours / theirs,
            Target("at most", 3),
            difference,
            expected.size,
            "counts compared with numpy.unique",
        )
        peak = peak_megabytes(partial(tally, used))
        yield Row(case, rows, ours, measure="MB at peak", value=peak, target=Target("at most", 100))


def _summed(columns: Sequence[Codes]) -> list[int]:
    return [int(column.codes.sum()) for column in columns]


def _by_hand(columns: Sequence[Codes]) -> NDArray[Any]:
    """The same counts by sorting."""
    wide = np.zeros(len(columns[0].codes), dtype=np.int64)
    for column in columns:
        wide = wide * column.size + column.codes
    cells, counts = np.unique(wide, return_counts=True)
    expected = np.zeros(int(np.prod([column.size for column in columns])), dtype=np.int64)
    expected[cells] = counts
    return expected
