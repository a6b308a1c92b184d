"""The search: attribute by attribute the exactly best set of values, from many starts at once.

For one attribute, with the others fixed, each value contributes a concave function of x (see `families`), which exceeds
the penalty between two points. These points of all values cut the line into pieces; on each piece the best set is the
set of values that exceed the penalty there (the additive linear-time property). All starts are worked on together: a
step is a product of "which cells are open to which start" with the cells' coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import sum_by
from isonomia.discovery.subgroups.scan.families import Family
from isonomia.events import Clock
from isonomia.typing import Bools, Floats

Ints = NDArray[np.int64]

#: A feature with more values is cut at the points of a grid instead of at its own.
_EXACT = 64
#: Numbers that one step holds at a time, about.
_MAX_CELLS = 1 << 23
#: A round must bring more than this.
_GAIN = 1e-9
_ROUNDS = 50
#: Coefficients of a cell may change by this much where fewer functions stand for all of them.
_SAME = 1e-12


class _Sorted(NamedTuple):
    """The cells in the order of their values of a feature, and where each value begins.

    Columns are the coefficients, the rows, and one for outcomes that all starts share.
    """

    order: Ints
    bounds: Ints
    columns: Floats


class Best(NamedTuple):
    """The best set a start has led to: its penalised score, and which values of which feature are in it."""

    score: float
    chosen: Bools


@dataclass(eq=False)
class Ascent:
    """Cells of rows that agree in all features, and the search over sets of values.

    Attributes
    ----------
    codes : tuple of arrays
        For each feature, the code of each cell.
    sizes : tuple of int
        For each feature, how many values it has.
    family : Family
        The score.
    fixed : array
        Coefficients of each cell without the observed outcomes; where `kinds` are given, of each kind of row.
    kinds : array or None
        The kind of each cell's rows: those of whom the same is expected. Few kinds are counted instead of added up.
    rows : array
        Rows (weights) of each cell.
    penalty : float
        Taken off the score for each value listed; features with all their values list none.
    max_l, min_rows
        How many features may be limited; what a subgroup must hold.
    """

    codes: tuple[Ints, ...]
    sizes: tuple[int, ...]
    family: Family
    fixed: Floats
    rows: Floats
    penalty: float
    max_l: int
    min_rows: float
    clock: Clock
    kinds: Ints | None = None
    complete: bool = True
    looked_at: int = 0

    def __post_init__(self) -> None:
        self._offsets = np.concatenate([[0], np.cumsum(self.sizes)]).astype(int)
        self._sorted: dict[int, _Sorted] = {}
        if self.kinds is None:
            self._few, self._back = _fewer(self.fixed)

    @property
    def width(self) -> int:
        """Values of all features together."""
        return int(self._offsets[-1])

    def starts(self, n: int, rng: np.random.Generator) -> Bools:
        """Everything, and n - 1 random sets: some features limited to a random half of their values."""
        chosen = np.ones((n, self.width), dtype=bool)
        for start in range(1, n):
            wanted = np.flatnonzero(rng.random(len(self.sizes)) < rng.random())
            for j in rng.permutation(wanted)[: self.max_l].tolist():
                values = rng.random(self.sizes[j]) < 0.5
                values[rng.integers(self.sizes[j])] = True
                chosen[start, self._offsets[j] : self._offsets[j + 1]] = values
        return chosen

    def climb(self, chosen: Bools, observed: Floats, rng: np.random.Generator) -> tuple[Floats, Bools]:
        """Improve every start until no feature improves it further.

        Parameters
        ----------
        chosen : array (starts, values)
            Where to start.
        observed : array (cells,) or (starts, cells)
            Observed outcomes summed by cell; one row per start where they differ.
        """
        chosen = chosen.copy()
        scores = np.full(len(chosen), -np.inf)
        active = np.arange(len(chosen))
        few = np.uint8 if len(self.sizes) < 256 else np.uint32
        broken = np.zeros((len(chosen), len(self.rows)), dtype=few)  # conditions that a cell does not meet
        for j in range(len(self.sizes)):
            broken += self._breaks(chosen, j)
        changes = np.zeros(len(chosen), dtype=np.int64)  # of each start's values so far,
        best_at = np.full((len(chosen), len(self.sizes)), -1)  # and when each feature was last made the best
        for _ in range(_ROUNDS):
            before = scores[active].copy()
            for j in rng.permutation([j for j, size in enumerate(self.sizes) if size > 1]).tolist():
                for part in self._parts(active[best_at[active, j] < changes[active]], j):
                    if self.clock.over:
                        self.complete = False
                        return scores, chosen
                    mine = observed if observed.ndim == 1 else observed[part]
                    others = broken[part] - self._breaks(chosen[part], j)
                    scores[part], values = self._step(chosen[part], others == 0, mine, j)
                    changes[part] += (chosen[part, self._offsets[j] : self._offsets[j + 1]] != values).any(axis=1)
                    best_at[part, j] = changes[part]
                    chosen[part, self._offsets[j] : self._offsets[j + 1]] = values
                    broken[part] = others + self._breaks(chosen[part], j)
            with np.errstate(invalid="ignore"):
                active = active[scores[active] - before > _GAIN]
            if observed.ndim == 1 and active.size:  # starts that have met go on as one
                _, first = np.unique(np.packbits(chosen[active], axis=1), axis=0, return_index=True)
                active = active[np.sort(first)]
            if not active.size:
                break
        return scores, chosen

    def _parts(self, active: Ints, j: int) -> list[Ints]:
        """The starts in batches that fit the buffer of a step."""
        if not active.size:
            return []
        kinds = 0 if self.kinds is None else len(self.fixed)
        width = max(len(self.rows), self.sizes[j] * (self.fixed.shape[1] + kinds + 2 * min(self.sizes[j], _EXACT)))
        return np.array_split(active, min(len(active), -(-len(active) * width // _MAX_CELLS)))

    def _breaks(self, chosen: Bools, j: int) -> Bools:
        """Which cells have a value of feature j that is not in the sets."""
        values = chosen[:, self._offsets[j] : self._offsets[j + 1]]
        out = np.zeros((len(chosen), len(self.rows)), dtype=bool)
        limited = np.flatnonzero(~values.all(axis=1))
        if limited.size:
            out[limited] = ~values[limited][:, self.codes[j]]
        return out

    def open_cells(self, chosen: Bools) -> Bools:
        """Which cells are in a set."""
        inside = np.ones(len(self.rows), dtype=bool)
        for j in range(len(self.sizes)):
            inside &= ~self._breaks(chosen[None], j)[0]
        return inside

    def limited(self, chosen: Bools) -> Bools:
        """Which features are limited, start by start."""
        return np.column_stack(
            [~chosen[:, low:high].all(axis=1) for low, high in zip(self._offsets[:-1], self._offsets[1:], strict=True)]
        )

    def _charges(self, chosen: Bools, j: int) -> tuple[Floats, Ints]:
        """The penalty of the other features, and how many of them are limited."""
        limited = self.limited(chosen)
        limited[:, j] = False
        listed = np.add.reduceat(chosen.astype(np.int64), self._offsets[:-1], axis=1)
        return self.penalty * (listed * limited).sum(axis=1), limited.sum(axis=1)

    def _step(self, chosen: Bools, inside: Bools, observed: Floats, j: int) -> tuple[Floats, Bools]:
        """The best values of feature j for each start, among the cells inside: penalised scores and values."""
        sums, rows = (
            self._sums_by_kind(inside, observed, j) if self.kinds is not None else self._sums(inside, observed, j)
        )
        charge, others = self._charges(chosen, j)
        everyone = sums.sum(axis=1)
        total = self.family.peak(everyone).value
        total = np.where(rows.sum(axis=1) >= self.min_rows, total, -np.inf)
        score, values = self._best_values(sums, rows)
        self.looked_at += len(chosen)
        score = np.where(others < self.max_l, score, -np.inf)
        better = score > total + 1e-12 * np.abs(np.where(np.isfinite(total), total, 0.0))
        return np.where(better, score, total) - charge, np.where(better[:, None], values, True)

    def _sums_by_kind(self, inside: Bools, observed: Floats, j: int) -> tuple[Floats, Floats]:
        """As `_sums`, by counting rows of each kind."""
        assert self.kinds is not None
        starts, size, kinds = len(inside), self.sizes[j], len(self.fixed)
        start = np.repeat(np.arange(starts), np.count_nonzero(inside, axis=1))
        cell = np.flatnonzero(inside) - start * inside.shape[1]
        value = start * size + self.codes[j][cell]
        counts = sum_by(value * kinds + self.kinds[cell], self.rows[cell], starts * size * kinds)
        outcomes = observed[cell] if observed.ndim == 1 else observed[start, cell]
        outcomes = sum_by(value, outcomes, starts * size).reshape(starts, size)
        by_kind = counts.reshape(starts, size, kinds)
        return by_kind @ self.fixed + outcomes[:, :, None] * self.family.unit, by_kind.sum(axis=2)

    def remove(self, inside: Bools) -> None:
        """Leave some cells out from now on."""
        left = np.flatnonzero(~inside)
        self.codes = tuple(column[left] for column in self.codes)
        self.rows = self.rows[left]
        if self.kinds is not None:
            self.kinds = self.kinds[left]
        else:
            self._few = self._few[left]
            self._sorted.clear()

    def _by_value(self, j: int) -> _Sorted:
        if j not in self._sorted:
            order = np.argsort(self.codes[j], kind="stable")
            bounds = np.searchsorted(self.codes[j][order], np.arange(self.sizes[j] + 1))
            self._sorted[j] = _Sorted(order, bounds, np.column_stack([self._few, self.rows, self.rows])[order])
        return self._sorted[j]

    def _sums(self, inside: Bools, observed: Floats, j: int) -> tuple[Floats, Floats]:
        """Coefficients and rows by value of feature j: shapes (starts, values, functions) and (starts, values)."""
        order, bounds, columns = self._by_value(j)
        mask, outcomes = inside[:, order].astype(float), observed[..., order]
        out = np.zeros((len(inside), self.sizes[j], columns.shape[1]))
        shared = outcomes.ndim == 1
        if shared:
            columns[:, -1] = outcomes
        if self.sizes[j] <= _EXACT:
            for value in range(self.sizes[j]):
                part = slice(int(bounds[value]), int(bounds[value + 1]))
                out[:, value] = mask[:, part] @ columns[part]
                if not shared:
                    out[:, value, -1] = np.einsum("sc,sc->s", mask[:, part], outcomes[:, part])
        else:
            full = np.flatnonzero(bounds[1:] > bounds[:-1])
            for start, row in enumerate(mask):
                if not shared:
                    columns[:, -1] = outcomes[start]
                out[start, full] = np.add.reduceat(columns * row[:, None], bounds[full], axis=0)
        return out[:, :, :-2] @ self._back + out[:, :, -1:] * self.family.unit, out[:, :, -2]

    def _best_values(self, sums: Floats, rows: Floats) -> tuple[Floats, Bools]:
        """The best set of values, start by start: its score less the penalty of its values."""
        starts, size, functions = sums.shape
        flat = sums.reshape(-1, functions)
        peak, upper = self.family.glance(flat)
        doubtful = np.flatnonzero((peak.value <= self.penalty) & (upper > self.penalty))
        if doubtful.size:
            peak.x[doubtful], peak.value[doubtful] = self.family.peak(flat[doubtful])
        live = np.flatnonzero(peak.value > self.penalty + 1e-12)
        ends = np.stack([np.full(len(flat), np.inf), np.full(len(flat), -np.inf)])
        if live.size:
            ends[0, live], ends[1, live] = self.family.interval(
                flat[live], type(peak)(peak.x[live], peak.value[live]), self.penalty
            )
        low, high = ends.reshape(2, starts, size)
        score, values = self._scored(sums, rows, low, high, self._grid(low, high))
        if size > _EXACT:
            for _ in range(10):  # from the best point of the grid, uphill
                x = self.family.peak(np.einsum("sv,svf->sf", values.astype(float), sums)).x
                new, other = self._scored(sums, rows, low, high, x[:, None])
                rises = new > score + _GAIN
                if not rises.any():
                    break
                score, values = np.where(rises, new, score), np.where(rises[:, None], other, values)
        return score, values

    def _grid(self, low: Floats, high: Floats) -> Floats:
        """Points of x, one in each piece between the ends of all values."""
        if low.shape[1] > _EXACT:
            return np.broadcast_to(self.family.grid, (len(low), len(self.family.grid)))
        ends = np.sort(np.concatenate([low, np.where(np.isfinite(low), high, np.inf)], axis=1), axis=1)
        with np.errstate(invalid="ignore"):
            return np.asarray((ends[:, 1:] + ends[:, :-1]) / 2, dtype=float)

    def _scored(self, sums: Floats, rows: Floats, low: Floats, high: Floats, x: Floats) -> tuple[Floats, Bools]:
        """The best of the sets of values that exceed the penalty at points x."""
        starts, size, functions = sums.shape
        member = (low[:, None, :] < x[:, :, None]) & (x[:, :, None] < high[:, None, :])
        weight = member.astype(float)
        joined = (weight @ sums).reshape(-1, functions)
        count = member.sum(axis=2)
        fits = (count > 0) & ((weight @ rows[:, :, None])[:, :, 0] >= self.min_rows) & (count < size)
        peak, upper = self.family.glance(joined)
        charge = self.penalty * count
        lower = np.where(fits, peak.value.reshape(fits.shape) - charge, -np.inf).max(axis=1, keepdims=True)
        score = np.full(fits.size, -np.inf)
        kept = np.flatnonzero(fits & (upper.reshape(fits.shape) - charge >= lower))  # others cannot be the best
        if kept.size:
            score[kept] = self.family.peak(joined[kept]).value - charge.ravel()[kept]
        score = score.reshape(fits.shape)
        best = score.argmax(axis=1)
        at = np.arange(starts)
        return score[at, best], member[at, best]

    def best(self, observed: Floats, n_starts: int, rng: np.random.Generator) -> Best:
        """The best set of values of all features that the starts lead to."""
        scores, chosen = self.climb(self.starts(n_starts, rng), observed, rng)
        index = int(np.argmax(scores))
        return Best(float(scores[index]), chosen[index])

    def conditions(self, chosen: Bools) -> dict[int, tuple[int, ...]]:
        """Feature -> the codes listed, for features that are limited."""
        out = {}
        for j in np.flatnonzero(self.limited(chosen[None])[0]).tolist():
            out[j] = tuple(np.flatnonzero(chosen[self._offsets[j] : self._offsets[j + 1]]).tolist())
        return out


def _fewer(coefficients: Floats) -> tuple[Floats, Floats]:
    """Factors (cells, r) and (r, functions) of the coefficients, r as small as `_SAME` allows.

    The coefficients of a cell depend smoothly on what is expected of its rows, so about half as many numbers give the
    same ones; sums over cells, which take most of the time, are those of the first factor.
    """
    left, sizes, right = np.linalg.svd(coefficients, full_matrices=False)
    # no number of a product without the last terms is off by more than the sum of the sizes left out
    rest = np.cumsum(sizes[::-1])[::-1]
    rank = int(np.searchsorted(-rest, -_SAME))
    if rank >= coefficients.shape[1] - 2:
        return coefficients, np.eye(coefficients.shape[1])
    return left[:, :rank] * sizes[:rank], right[:rank]
