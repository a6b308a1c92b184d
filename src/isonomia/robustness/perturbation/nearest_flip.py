"""How far the nearest other decision is: searched for all rows at once, one query per row at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isonomia.counting import count_by
from isonomia.events import Progress
from isonomia.languages import msg
from isonomia.models import Surface
from isonomia.robustness.perturbation.adversary import known_gradients
from isonomia.robustness.perturbation.altered_rows import Altering
from isonomia.typing import Bools, Floats, Indices

#: Without a tolerance a number has changed when it moved by this share of the predictions' standard deviation.
TOLERANCE = 0.1
#: Rows of each decision that others are compared with.
REFERENCES = 256
#: Bisection steps towards a flip: the distance is then known to a thousandth of it.
HALVINGS = 10
#: Rows whose distances to the references are in memory at once.
BLOCK = 4096


class Judge:
    """What counts as another decision: another class, or a number that moved by more than a tolerance."""

    def __init__(self, predicted: Surface, tolerance: float | None = None) -> None:
        self.predicted = predicted
        self.tolerance: float | None = None
        self.values: Floats = np.empty(0)
        if predicted.label is None:
            self.values = _values(predicted)
            self.tolerance = TOLERANCE * float(self.values.std()) if tolerance is None else tolerance

    def changed(self, after: Surface, rows: Indices) -> Bools:
        """Whether versions of these rows get another decision."""
        if self.predicted.label is not None:
            assert after.label is not None
            return np.asarray(after.label != self.predicted.label[rows])
        return self._apart(_values(after), self.values[rows])

    def otherwise(self, rows: Indices, others: Indices) -> Bools:
        """Which of the other rows were decided otherwise than each of these: (rows, others)."""
        if self.predicted.label is not None:
            return np.asarray(self.predicted.label[rows][:, None] != self.predicted.label[others])
        return self._apart(self.values[rows][:, None], self.values[others])

    def _apart(self, one: Floats, other: Floats) -> Bools:
        assert self.tolerance is not None
        size = np.abs(one - other)
        return np.asarray((size.sum(axis=-1) / 2 if self.values.ndim == 2 else size) > self.tolerance)


def _values(predicted: Surface) -> Floats:
    return next(v for v in (predicted.continuous, predicted.probability, predicted.score) if v is not None)


@dataclass(frozen=True, eq=False)
class Nearest:
    """The nearest flips found.

    Attributes
    ----------
    rows : (n, k) each row's nearest version with another decision; the row itself where none was found
    distance : (n,) how far that is: sqrt(sum of squared moves in standard deviations + categories exchanged); NaN
        where none was found
    queries : queries of the model per row on average
    """

    rows: Floats
    distance: Floats
    queries: float


class Search:
    """Looks for near flips; every answer that is nearer than what was known is kept.

    Candidates are perturbed copies that flipped, the nearest rows that were decided otherwise, and the direction of
    the model's gradient where it has one. From a row decided otherwise single values are tried first, then as many as
    possible are put back; the way to what is left is halved until the flip is found. An upper bound of the true
    distance, and exact for linear models and for a flip by one number.
    """

    def __init__(self, altering: Altering, judge: Judge, *, budget: int, seed: int) -> None:
        self.altering, self.judge, self.budget = altering, judge, budget
        self.columns = altering.columns
        self.rng = np.random.default_rng([seed, 11])
        self.scale = np.where(self.columns.numeric, self.columns.spread, 1.0)
        self.moves = np.flatnonzero(altering.read & ~self.columns.constant)
        self.best = altering.rows.copy()
        self.distance = np.full(len(altering), np.inf)
        self.queries = np.zeros(len(altering), dtype=np.int64)

    def run(self, progress: Progress | None = None) -> Nearest:
        """All steps, within the budget."""
        if self.moves.size:
            ends = self._unlike()
            steps = (
                lambda: self._single_values(ends),
                lambda: self._whole(ends),
                self._put_back,
                self._along_gradient,
                self._halve,
                self._shrink,
            )
            message = msg("Searching for the nearest flips")
            with Progress.of(progress).stage("nearest_flips", message, total=len(steps)) as stage:
                for step in stage.over(steps):
                    step()
        found = np.isfinite(self.distance)
        return Nearest(self.best, np.where(found, self.distance, np.nan), float(self.queries.mean()))

    def far(self, rows: Floats, own: Indices) -> Floats:
        """The distance of versions of these rows from them."""
        before = self.altering.rows[own]
        total = np.zeros(len(own))
        for index in self.moves:
            a, b = rows[:, index], before[:, index]
            if self.columns.numeric[index]:
                total += np.nan_to_num(np.square((a - b) / self.scale[index]))
            else:
                total += a != b
        return np.sqrt(total)

    def keep(self, rows: Floats, own: Indices, flipped: Bools) -> None:
        """Versions that flipped and are nearer than what was known; the nearest of several of one row."""
        hit = np.flatnonzero(flipped)
        distance = self.far(rows[hit], own[hit])
        order = hit[np.argsort(-distance, kind="stable")]
        self._store(rows[order], own[order], np.sort(distance)[::-1])

    def _store(self, rows: Floats, own: Indices, distance: Floats) -> None:
        nearer = distance < self.distance[own]
        # the nearest comes last: of several assignments to one row the last one wins
        self.best[own[nearer]], self.distance[own[nearer]] = rows[nearer], distance[nearer]

    def _ask(self, rows: Floats, own: Indices) -> Bools:
        if not len(own):
            return np.zeros(0, dtype=bool)
        self.queries += count_by(own, len(self.queries))
        flipped = self.judge.changed(self.altering.ask(rows, own), own)
        self.keep(rows, own, flipped)
        return flipped

    def _left(self, own: Indices, need: int = 1) -> Indices:
        """The rows whose budget allows this many more queries."""
        return own[self.queries[own] + need <= self.budget]

    # candidates ------------------------------------------------------------------------------------------------------

    def _unlike(self) -> Floats:
        """Each row's nearest reference row that was decided otherwise, as an end to go towards: (n, k)."""
        pool = self._pool()
        n = len(self.altering)
        ends, there = self.altering.rows.copy(), np.zeros(n, dtype=bool)
        for start in range(0, n, BLOCK):
            own = np.arange(start, min(start + BLOCK, n))
            far = self._between(own, pool)
            far[~self.judge.otherwise(own, pool)] = np.inf
            pick = far.argmin(axis=1)
            there[own] = np.isfinite(far[np.arange(len(own)), pick])
            ends[own] = self.altering.rows[pool[pick]]
        ends = np.where(np.isnan(self.altering.rows) | np.isnan(ends), self.altering.rows, ends)
        ends[~there] = self.altering.rows[~there]
        return ends

    def _pool(self) -> Indices:
        predicted = self.altering.predicted
        if predicted.label is None:
            return np.sort(self.rng.permutation(len(predicted))[: 2 * REFERENCES])
        picked = [np.flatnonzero(predicted.label == code) for code in np.unique(predicted.label)]
        return np.sort(np.concatenate([self.rng.permutation(rows)[:REFERENCES] for rows in picked]))

    def _between(self, own: Indices, pool: Indices) -> Floats:
        """Squared distances of rows from the references."""
        total = np.zeros((len(own), len(pool)))
        rows = self.altering.rows
        numbers = [index for index in self.moves if self.columns.numeric[index]]
        if numbers:
            a, b = (np.nan_to_num(rows[part][:, numbers] / self.scale[numbers]) for part in (own, pool))
            total += np.square(a).sum(axis=1)[:, None] + np.square(b).sum(axis=1) - 2 * (a @ b.T)
        for index in self.moves:
            if not self.columns.numeric[index]:
                total += rows[own, index][:, None] != rows[pool, index]
        return total

    # from a candidate to a near flip ---------------------------------------------------------------------------------

    def _single_values(self, ends: Floats) -> None:
        """Each value of the end alone, all in one call."""
        rows = self.altering.rows
        tried, whose = [], []
        for index in self.moves:
            own = self._left(np.flatnonzero(ends[:, index] != rows[:, index]), len(self.moves))
            new = rows[own].copy()
            new[:, index] = ends[own, index]
            tried.append(new)
            whose.append(own)
        self._ask(np.concatenate(tried), np.concatenate(whose))

    def _whole(self, ends: Floats) -> None:
        """The whole end, for rows that have no flip yet."""
        own = np.flatnonzero(~np.isfinite(self.distance) & (ends != self.altering.rows).any(axis=1))
        own = self._left(own)
        self._ask(ends[own], own)

    def _put_back(self) -> None:
        """One value after the other is put back where the decision stays flipped, those that moved farthest first."""
        rows = self.altering.rows
        with np.errstate(invalid="ignore"):
            moved = np.abs(self.best - rows) / np.where(self.scale > 0, self.scale, 1.0)
        moved = np.where(self.columns.numeric, np.nan_to_num(moved), self.best != rows)[:, self.moves]
        order = self.moves[np.argsort(-moved, axis=1, kind="stable")]
        for step in range(self.moves.size):
            index = order[:, step]
            everyone = np.arange(len(rows))
            changed = self.best[everyone, index] != rows[everyone, index]
            several = (self.best[:, self.moves] != rows[:, self.moves]).sum(axis=1) > 1
            own = self._left(np.flatnonzero(np.isfinite(self.distance) & changed & several), HALVINGS + 1)
            if own.size:
                new = self.best[own].copy()
                new[np.arange(own.size), index[own]] = rows[own, index[own]]
                self._ask(new, own)

    def _along_gradient(self) -> None:
        """As far as the known flip, but straight along the gradient: nearer where the way there was not straight."""
        gradients = known_gradients(self.altering)
        if gradients is None:
            return
        own = self._left(np.flatnonzero(np.isfinite(self.distance)), HALVINGS + 2)
        if not own.size:
            return
        rows = self.altering.rows[own]
        gradient = gradients(rows, self.moves) * self.scale
        size = np.sqrt(np.square(gradient).sum(axis=1, keepdims=True))
        straight = np.divide(gradient, size, out=np.zeros_like(gradient), where=size > 0)
        reach = self.distance[own][:, None] * (1 - 1e-9)
        for side in (1.0, -1.0):
            self._ask(self.columns.valid(rows + side * straight * reach * self.scale), own)

    def _halve(self) -> None:
        """Halve the way from the row to the flip: categories stay exchanged, numbers come back as far as they can."""
        rows = self.altering.rows
        own = np.flatnonzero(np.isfinite(self.distance) & (self.best != rows)[:, self._numbers].any(axis=1))
        far_end = self.best.copy()
        low, high = np.zeros(len(rows)), np.ones(len(rows))
        for _ in range(HALVINGS):
            own = self._left(own)
            if not own.size:
                return
            middle = (low[own] + high[own]) / 2
            new = self._part_way(own, far_end, middle)
            flipped = self._ask(new, own)
            low[own], high[own] = np.where(flipped, low[own], middle), np.where(flipped, middle, high[own])

    @property
    def _numbers(self) -> Indices:
        return self.moves[self.columns.numeric[self.moves]]

    def _part_way(self, own: Indices, ends: Floats, share: Floats) -> Floats:
        new, indices = ends[own].copy(), self._numbers
        before = self.altering.rows[own][:, indices]
        new[:, indices] = before + share[:, None] * (ends[own][:, indices] - before)
        return self.columns.valid(new)

    def _shrink(self) -> None:
        """With what is left of the budget: one moved value at a time, half way back or all the way."""
        rows = self.altering.rows
        while True:
            own = self._left(np.flatnonzero(np.isfinite(self.distance)))
            several = (self.best[own][:, self.moves] != rows[own][:, self.moves]).sum(axis=1) > 1
            own = own[several]
            if not own.size:
                return
            moved = self.best[own][:, self.moves] != rows[own][:, self.moves]
            draw = np.where(moved, self.rng.random(moved.shape), -1.0)
            index = self.moves[draw.argmax(axis=1)]
            at = np.arange(own.size)
            share = np.where(self.columns.numeric[index], self.rng.choice([0.0, 0.5, 0.9], own.size), 0.0)
            new = self.best[own].copy()
            new[at, index] = rows[own, index] + share * (new[at, index] - rows[own, index])
            self._ask(self.columns.valid(new), own)
