"""People of one group matched with people of another, within the tests and seconds there are."""

from __future__ import annotations

import time
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.pairs.searches.matching import SMALL, assignment, squared_l1, transport
from isonomia.discovery.pairs.space import Space
from isonomia.errors import NotApplicable
from isonomia.languages import msg
from isonomia.typing import Floats

Solver = Literal["auto", "assignment", "batches", "pot"]
#: The smallest batch that a time limit leads to.
SMALLEST = 100
#: A match of n people takes at most about n**GROWTH as long as one of one person.
GROWTH = 3


class MatchedGroups:
    """Two values of a protected attribute: who is matched with whom, at what distance."""

    def __init__(self, space: Space, column: int, a: float, b: float, outcome: Floats) -> None:
        self.space, self.column, self.a, self.b = space, column, a, b
        values = space.people[:, column]
        self.first, self.second = np.flatnonzero(values == a), np.flatnonzero(values == b)
        if min(len(self.first), len(self.second)) < 1:
            raise NotApplicable("one of the groups to compare is empty")
        self.outcome = outcome
        self.how = ""
        self.seconds = 0.0
        self.stopped: str | None = None
        self.features = np.delete(np.arange(space.people.shape[1]), column)

    def match(self, solver: Solver, max_exact: int, batch: int, *, tests: int, seconds: float | None) -> None:
        """Find the counterparts of the first group: of so many of them, and in about so many seconds."""
        began = time.perf_counter()
        space, rng = self.space, self.space.rng
        points = self._standardised(np.concatenate([self.first, self.second]))
        a, b = points[: len(self.first)], points[len(self.first) :]
        if len(a) > tests:
            some = np.sort(rng.permutation(len(a))[:tests])
            self.first, a, self.stopped = self.first[some], a[some], "tests"
        if solver == "pot":
            partner, done = transport(squared_l1(a, b)), np.arange(len(a))
            self.how = "transport"
        else:
            whole = solver == "assignment" or (solver == "auto" and len(a) <= max_exact)
            if len(a) != len(b):
                space.notes.append(
                    msg(
                        "The groups differ in size ({a:int} and {b:int}); FlipTest matched equal numbers drawn at "
                        "random.",
                        a=len(a),
                        b=len(b),
                    )
                )
            size = self._size(a, b, len(a) if whole else min(batch, len(a)), seconds)
            partner, done = self._in_batches(a, b, size)
        self.first, self.partner = self.first[done], self.second[partner[done]]
        self.distance = np.abs(a[done] - b[partner[done]]).sum(axis=1)
        self.seconds = time.perf_counter() - began

    def _size(self, a: Floats, b: Floats, size: int, seconds: float | None) -> int:
        """The size of a batch: as wanted, or one that the seconds allow, from how long a small match takes."""
        n = min(SMALL, len(a), len(b))
        if seconds is not None and size > n:
            began = time.perf_counter()
            assignment(squared_l1(a[:n], b[:n]))
            each = (time.perf_counter() - began) / n**GROWTH
            allowed = int((seconds / 2 / (each * len(a))) ** (1 / (GROWTH - 1)))
            if allowed < size:
                size = max(SMALLEST, allowed)
                self.space.notes.append(
                    msg("So that the time limit holds, FlipTest matched people in random batches of {n:int}.", n=size)
                )
                self.how = "batches"
                return size
        self.how = "assignment" if size >= len(a) else "batches"
        if size < len(a):
            self.space.notes.append(
                msg("The groups are large; FlipTest matched them in random batches of {n:int}.", n=size)
            )
        return size

    def _in_batches(self, a: Floats, b: Floats, size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The counterpart of everyone, and who has one: all of them, or those matched before the time was over."""
        rng = self.space.rng
        pool = _equal(len(a), len(b), rng)
        partner = np.empty(len(a), dtype=np.intp)
        order = rng.permutation(len(a)) if size < len(a) else np.arange(len(a))
        for start in range(0, len(a), size):
            if self.space.loop.ledger.late:
                self.stopped = "seconds"
                return partner, np.sort(order[:start])
            rows = order[start : start + size]
            partner[rows] = pool[rows][assignment(squared_l1(a[rows], b[pool[rows]]))]
        return partner, np.arange(len(a))

    def _standardised(self, rows: NDArray[np.intp]) -> Floats:
        """Features with mean 0 and variance 1; a category is one 0/1 column per value, weighed so that two different
        values are two standard deviations apart at most in each."""
        people = self.space.people[rows]
        columns: list[Floats] = []
        for index in self.features:
            values = people[:, index]
            if self.space.domain.nominal[index]:
                columns += [(values == level).astype(float) for level in np.unique(values)]
            elif not np.isnan(values).all():
                columns.append(np.where(np.isnan(values), np.nanmean(values), values))
        table = np.stack(columns, axis=1) if columns else np.zeros((len(people), 1))
        spread = table.std(axis=0)
        return np.asarray((table - table.mean(axis=0)) / np.where(spread > 0, spread, 1.0))

    @property
    def flips(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """F+ (treated better than the counterpart) and F- (worse)."""
        mine, theirs = self.outcome[self.first], self.outcome[self.partner]
        floor = self.space.probe.gamma
        return mine > theirs + floor, mine < theirs - floor


def _equal(n: int, m: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """`n` indices of `m`: without repetition if there are enough, else each as often as the others (or once more)."""
    if n <= m:
        return np.asarray(rng.permutation(m)[:n], dtype=np.intp)
    rounds = [rng.permutation(m) for _ in range(-(-n // m))]
    return np.asarray(np.concatenate(rounds)[:n], dtype=np.intp)
