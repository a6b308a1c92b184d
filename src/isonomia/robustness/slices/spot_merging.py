"""Weak slices joined into weak spots: neighbours merged, pairs that say more than their parts, repeats folded in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.languages.naming import among, between, is_in, is_value, members, span_of, together
from isonomia.metrics import Sums

#: Above this share of common rows (intersection over union) two spots are the same people.
SAME_ROWS = 0.5
#: Maximum number of spots reported.
MOST_SPOTS = 50


@dataclass(frozen=True, eq=False)
class Spot:
    """Rows where the model is worse: for each feature the slices taken together, and the sums over these rows."""

    slices: Mapping[str, tuple[int, ...]]
    cells: Sums
    p_value: float
    p_adjusted: float
    severity: float
    severity_low: float
    also: tuple[str, ...] = field(default=())

    def texts(self, columns: Mapping[str, Codes]) -> dict[str, str]:
        """The values of each feature, as a person reads them."""
        return {name: run_text(columns[name], codes) for name, codes in self.slices.items()}

    def text(self, columns: Mapping[str, Codes]) -> str:
        """The spot in one line: "age in [30, 45), sex = F"."""
        return together(condition_text(name, text) for name, text in self.texts(columns).items())

    def mask(self, columns: Mapping[str, Codes], rows: slice = slice(None)) -> NDArray[np.bool_]:
        """Which of these rows belong to it."""
        inside = []
        for name, codes in self.slices.items():
            belongs = np.zeros(columns[name].size, dtype=bool)
            belongs[list(codes)] = True
            inside.append(belongs.take(columns[name].codes[rows]))
        return np.asarray(np.logical_and.reduce(inside))


def run_text(column: Codes, codes: Sequence[int]) -> str:
    """Neighbouring slices as one: [30, 40) and [40, 50) are [30, 50).

    >>> run_text(Codes.cut([1, 5, 9], [0, 4, 8, 12]), (0, 1))
    '[0, 8)'
    """
    if column.edges is not None and all(column.labels[code] is not None for code in codes):
        low, high = column.edges[codes[0]], column.edges[codes[-1] + 1]
        return between(low, high, closed=codes[-1] == len(column.edges) - 2)
    texts = [column.text(code) for code in codes]
    return texts[0] if len(texts) == 1 else among(texts)


def condition_text(name: str, text: str) -> str:
    """A feature and its slice: "age in [30, 45)", "sex = F"."""
    several = span_of(text) is not None or members(text) is not None
    return is_in(name, text) if several else is_value(name, text, " = ")


def runs(weak: NDArray[np.bool_], joined: bool) -> list[tuple[int, ...]]:
    """Weak slices that stand side by side, together; each on its own where slices have no order.

    >>> runs(np.array([True, True, False, True]), True)
    [(0, 1), (3,)]
    """
    indices = np.flatnonzero(weak)
    if not joined:
        return [(int(index),) for index in indices]
    parts = np.split(indices, np.flatnonzero(np.diff(indices) > 1) + 1)
    return [tuple(int(index) for index in part) for part in parts if part.size]


def rectangles(weak: NDArray[np.bool_], ordered: tuple[bool, bool]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Weak cells of a pair of features as boxes: runs along a row, joined with equal runs of the next row.

    >>> rectangles(np.array([[False, True, True], [False, True, True], [True, False, False]]), (True, True))
    [((0, 1), (1, 2)), ((2,), (0,))]
    """
    boxes: list[tuple[list[int], tuple[int, ...]]] = []
    for row in range(weak.shape[0]):
        for run in runs(weak[row], ordered[1]):
            above = next((box for box in boxes if ordered[0] and box[1] == run and box[0][-1] == row - 1), None)
            if above is None:
                boxes.append(([row], run))
            else:
                above[0].append(row)
    return [(tuple(rows), run) for rows, run in boxes]


def fold(
    spots: Sequence[Spot],
    columns: Mapping[str, Codes],
    overlap: Callable[[Sequence[Spot]], Callable[[int, int], float]],
) -> list[Spot]:
    """The spots, worst first, those that are mostly the rows of a worse one named there under `also`.

    ``overlap(spots)(i, j)`` is the share of common rows of two of them (intersection over union).
    """
    ordered = sorted(spots, key=lambda spot: (-spot.severity_low, -spot.severity))[: 4 * MOST_SPOTS]
    share = overlap(ordered)
    kept: list[Spot] = []
    kept_indices: list[int] = []
    for position, spot in enumerate(ordered):
        for index, other in enumerate(kept_indices):
            if share(other, position) >= SAME_ROWS:
                kept[index] = replace(kept[index], also=(*kept[index].also, spot.text(columns)))
                break
        else:
            if len(kept) < MOST_SPOTS:
                kept.append(spot)
                kept_indices.append(position)
    return kept


def explained(single: Spot, pairs: Sequence[Spot], weak: Callable[[Sums], bool]) -> bool:
    """Whether a weak slice of one feature is weak only because of a pair that lies in it.

    `weak(cells)` says whether rows are still weak; what is left of the slice without the pair is asked.
    """
    ((name, codes),) = single.slices.items()
    for pair in pairs:
        inside = pair.slices.get(name)
        if inside is None or not set(inside) <= set(codes) or pair.severity_low <= single.severity:
            continue
        if not weak(single.cells - pair.cells):
            return True
    return False
