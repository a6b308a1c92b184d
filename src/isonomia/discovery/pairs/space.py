"""What a search works with: valid people, the people in the data, random numbers, and the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import NotApplicable
from isonomia.evidence import Table
from isonomia.languages import Message
from isonomia.probing import Domain, Loop, Probe, Untested
from isonomia.typing import Floats

NominalMoves = Literal["unit", "any"]
NOMINAL_MOVES: tuple[NominalMoves, ...] = get_args(NominalMoves)

#: Maximum number of people to cluster.
CLUSTERED = 5000


@dataclass(eq=False)
class Space:
    """The search space.

    Attributes
    ----------
    loop : Loop
        Tests and questions go through it.
    people : matrix
        The rows of the data as valid people; empty where only a domain was given.
    labels : array, optional
        True outcomes of these rows, where the data has them (not needed by any search for pairs).
    rng : numpy Generator
        The only source of chance.
    facts, tables, notes
        What a method reports besides the pairs.
    """

    loop: Loop
    people: Floats
    rng: np.random.Generator
    data: Any = None
    facts: dict[str, Any] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    notes: list[Message] = field(default_factory=list)

    @property
    def probe(self) -> Probe:
        """What asks about protected variants."""
        return self.loop.probe

    @property
    def domain(self) -> Domain:
        """All valid people."""
        return self.loop.probe.domain

    @property
    def free(self) -> NDArray[np.intp]:
        """Columns that are not protected."""
        return self.loop.probe.free

    @property
    def protected(self) -> NDArray[np.intp]:
        """Columns that are."""
        return self.loop.probe.columns

    @cached_property
    def movable(self) -> NDArray[np.intp]:
        """Columns that are not protected, have more than one value and do not follow from others."""
        several = self.free[self.domain.high[self.free] > self.domain.low[self.free]]
        return several[~np.isin(several, self.domain.followers)]

    def drawn(self, n: int) -> Untested:
        """People drawn uniformly from the domain: those of `n` who can be tested and were not tested before."""
        rows = self.domain.sample(n, self.rng)
        return self.fresh(rows[self.probe.comparable(rows)])[0]

    def seeds(self, n: int) -> Floats:
        """People to start from: of the data where there are any, else drawn from the domain."""
        if len(self.people) == 0:
            return self.domain.sample(n, self.rng)
        return self.people[self.rng.choice(len(self.people), size=min(n, len(self.people)), replace=False)]

    def clusters(self, k: int, n: int) -> Floats:
        """`n` people from the data, taken from `k` clusters (k-means on scaled columns) in rotation."""
        enough = max(10 * n, 1000)
        people = self.people if len(self.people) else self.domain.sample(enough, self.rng)
        if len(people) <= k:
            return people[:n]
        some = people[self.rng.choice(len(people), size=min(CLUSTERED, len(people)), replace=False)]
        centres = _k_means(self.scaled(some), k, self.rng)
        some = people[self.rng.permutation(len(people))[:enough]]
        label = _nearest(self.scaled(some), centres)
        turn = np.empty(len(some), dtype=np.int64)  # the how-manieth of its cluster each person is
        for cluster in range(k):
            members = np.flatnonzero(label == cluster)
            turn[members] = np.arange(len(members))
        return some[np.lexsort((label, turn))[:n]]

    def testable(self, rows: Floats) -> Floats:
        """Those of rows inside the bounds who are valid people, columns that follow from others as they follow."""
        if not self.domain.restricted:
            return rows
        rows = self.domain.complete(rows)
        return rows[self.probe.valid(rows)]

    def scaled(self, rows: Floats) -> Floats:
        """Rows scaled to 0 to 1 per column; missing numbers in the middle."""
        span = np.where(self.domain.high > self.domain.low, self.domain.high - self.domain.low, 1.0)
        return np.asarray(np.nan_to_num((rows - self.domain.low) / span, nan=0.5))

    def step(
        self,
        rows: Floats,
        column: NDArray[np.intp],
        direction: NDArray[Any],
        *,
        size: float = 1.0,
        nominal_moves: NominalMoves = "unit",
    ) -> Floats:
        """Move one column of each row by one unit, inside the bounds.

        Papers move categories by one step, as if they were ordered ("unit"); "any" takes another one at random.
        """
        return self.steps(column[None], direction[None], size=size, nominal_moves=nominal_moves)(rows, 0)

    def steps(
        self,
        column: NDArray[np.intp],
        direction: NDArray[Any],
        *,
        size: float = 1.0,
        nominal_moves: NominalMoves = "unit",
    ) -> Callable[[Floats, int], Floats]:
        """Many steps of the same rows, (steps, n) columns and directions: a function that takes rows one of them on."""
        whole = self.domain.whole[column]
        shift = direction * self.domain.step[column] * np.where(whole, max(1.0, round(size)), size)
        low, high = self.domain.low[column], self.domain.high[column]
        everyone = np.arange(column.shape[1])
        jump = self.domain.nominal[column] if nominal_moves == "any" else None
        levels = high - low + 1
        leap = 1 + np.floor(self.rng.random(column.shape) * (levels - 1)) if jump is not None else None

        def move(rows: Floats, index: int) -> Floats:
            moved, there = rows.copy(), column[index]
            before = rows[everyone, there]
            after = np.minimum(np.maximum(before + shift[index], low[index]), high[index])
            if jump is not None and leap is not None:
                after = np.where(jump[index], (before + leap[index]) % levels[index], after)
            moved[everyone, there] = np.where(whole[index], np.rint(after), after) + 0.0
            return moved

        return move

    def neighbours(self, rows: Floats, *, nominal_moves: NominalMoves = "unit") -> Untested:
        """All people one unit away in one free column (categories: one step, or any other value) not yet tested."""
        columns: list[int] = []
        shifts: list[float] = []
        for column in self.movable:
            jumps = nominal_moves == "any" and self.domain.nominal[column]
            step = self.domain.step[column]
            moves = list(range(1, int(self.domain.high[column]) + 1)) if jumps else [-step, step]
            columns += [int(column)] * len(moves)
            shifts += moves
        index, change = np.array(columns, dtype=np.intp), np.array(shifts)
        if nominal_moves == "any":  # past the last category comes the first
            turn = np.where(self.domain.nominal[index], self.domain.high[index] + 1, 0.0)
            change = np.where((turn > 0) & (rows[:, index] + change >= turn), change - turn, change)
        return self.around(rows, index, change)[0]

    def around(
        self, rows: Floats, column: NDArray[np.intp], change: Floats
    ) -> tuple[Untested, NDArray[np.intp], NDArray[np.intp]]:
        """People who differ from a row in one column, valid and not tested; which row and which move each comes from.

        Every row is moved in each of the columns (m,) by the change (m,), or its own change (n, m). Those tested before
        are left out before any row is built.
        """
        value = rows[:, column] + change
        inside = (value >= self.domain.low[column]) & (value <= self.domain.high[column])
        index = np.flatnonzero(inside.ravel())
        keys = self.probe.key.moved(rows, column, change, index)
        kept = self.loop.untested(keys)
        index, keys = index.take(kept), keys.take(kept)
        row, move = np.divmod(index, len(column))
        if self.domain.restricted:
            kept = np.flatnonzero(self.allowed(rows, row, column.take(move), value.ravel().take(index)))
            index, keys, row, move = index.take(kept), keys.take(kept), row.take(kept), move.take(kept)
        near = rows.take(row, axis=0)
        near.ravel()[np.arange(len(near)) * near.shape[1] + column.take(move)] = value.ravel().take(index)
        return Untested(self.domain.complete(near, copy=False), keys), row, move

    def allowed(
        self, rows: Floats, row: NDArray[np.intp], column: NDArray[np.intp], value: Floats
    ) -> NDArray[np.bool_]:
        """Which moves of people who can be tested lead to others who can: a column of the row `row` gets a value.

        The values are inside the bounds.
        """
        good = self.probe.allows(rows, row, column, value)
        if self.domain.rules:
            some = np.flatnonzero(good)
            moved = rows.take(row[some], axis=0)
            moved[np.arange(len(some)), column[some]] = value[some]
            good[some] = self.domain.obeys(self.domain.complete(moved, copy=False))
        return good

    def fresh(self, rows: Floats) -> tuple[Untested, NDArray[np.intp]]:
        """Those of valid people who were not tested before, each once, and their indices."""
        keys = self.probe.key(rows)
        kept = self.loop.untested(keys)
        return Untested(rows.take(kept, axis=0), keys.take(kept)), kept

    def scores(self, rows: Floats) -> Floats:
        """What the model scores rows at: probability of the positive class, decision value, or predicted number."""
        predicted = self.loop.consult(rows)
        if predicted.score is None:
            if predicted.label is None or predicted.label.max(initial=0) > 1:
                raise NotApplicable(
                    "the model gives decisions only, of several classes; so no score can guide the search"
                )
            return predicted.label.astype(float)
        return predicted.score if predicted.score.ndim == 1 else predicted.score.max(axis=1)

    def labels(self, rows: Floats) -> NDArray[np.int64]:
        """What the model decides about rows; for a regression, whether the number is above its median here."""
        predicted = self.loop.consult(rows)
        if predicted.label is not None:
            return predicted.label
        score = self.scores_of(predicted.score)
        return (score > np.median(score)).astype(np.int64)

    @staticmethod
    def scores_of(score: Floats | None) -> Floats:
        """A score as one number per row."""
        if score is None:
            raise NotApplicable("the model gives no scores")
        return score if score.ndim == 1 else score.max(axis=1)


def _k_means(points: Floats, k: int, rng: np.random.Generator, *, rounds: int = 20) -> Floats:
    """Centres by Lloyd's k-means.

    Written out because it must be the same in every run: threaded libraries may add in another order.
    """
    centres = points[rng.choice(len(points), size=k, replace=False)].copy()
    before: NDArray[Any] | None = None
    for _ in range(rounds):
        near = _nearest(points, centres)
        if before is not None and np.array_equal(near, before):
            break
        before = near
        for index in range(k):
            if (near == index).any():
                centres[index] = points[near == index].mean(axis=0)
    return centres


def _nearest(points: Floats, centres: Floats) -> NDArray[Any]:
    """The centre nearest to each point: |p - c|² less |p|², which is the same for all centres."""
    return np.asarray(((centres**2).sum(axis=1) - 2 * np.einsum("ij,kj->ik", points, centres)).argmin(axis=1))
