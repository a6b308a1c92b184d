"""How badly rows are served, as a function of their score: at which scores it changes, and how many rows come first.

Rows with the same true outcome and the same decision are served the better or the worse the higher their score is. So
what an engine has to count are scores between a few edges; which edges is found here, to the last digit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.data import Dataset
from isonomia.data.engines.engine import Box, Ranges
from isonomia.data.engines.ranked import Figure, ranked
from isonomia.models import Surface
from isonomia.robustness.slices.row_failures import Harm, harm_of
from isonomia.subject import Outcome, Subject
from isonomia.typing import Bools, Floats

#: Where scores are cut into decisions, in the absence of decisions of their own.
_CUT = 0.5

Test = Callable[[Harm], Bools]


@dataclass(frozen=True, eq=False)
class Side:
    """The rows of one group with a score from `low` to `high`, over which they are served ever better or ever worse."""

    group: int
    low: float
    high: float


class ScoreHarm:
    """How badly the rows of a subject in counts are served.

    Groups are the combinations of true outcome and decision that there are, as the source has them.

    Parameters
    ----------
    subject : Subject
        In counts, with decisions or with probabilities of two classes.
    confident : float
    """

    def __init__(self, subject: Subject, confident: float) -> None:
        data, surface = subject.known, subject.surface
        roles = data.roles
        assert roles.target is not None
        assert surface.label is not None
        self._surface, self._confident = surface, confident
        self.by = (roles.target, *((roles.prediction,) if roles.prediction is not None else ()))
        self.score = roles.score[0] if surface.probability is not None else None
        self._turned = False
        if surface.probability is not None:
            self._turned = not np.array_equal(_numbers(data, roles.score[0]), surface.probability)
        keys = list(zip(*(data.column(name).to_list() for name in self.by), strict=True))
        self.groups = tuple(dict.fromkeys(keys))
        self._index = {group: index for index, group in enumerate(self.groups)}
        first = np.array([keys.index(group) for group in self.groups])
        self._truth, self._label = subject.truth[first], surface.label[first]

    def groups_of(self, data: Dataset) -> NDArray[np.intp]:
        """The group of every row."""
        keys = zip(*(data.column(name).to_list() for name in self.by), strict=True)
        return np.fromiter((self._index[key] for key in keys), dtype=np.intp, count=data.height)

    def outcome(self, groups: NDArray[np.intp], score: Floats | None) -> Outcome:
        """True and predicted outcomes of rows of these groups with these scores."""
        label, probability = self._label[groups], None
        if score is not None:
            probability = 1 - score if self._turned else score
            if len(self.by) == 1:
                label = ((score >= _CUT) != self._turned).astype(label.dtype)
        surface = Surface(self._surface.task, self._surface.classes, label=label, probability=probability)
        return Outcome(self._truth[groups], surface)

    def harm(self, groups: NDArray[np.intp], score: Floats | None) -> Harm:
        """How badly rows of these groups with these scores are served."""
        return harm_of(self.outcome(groups, score), self._confident)

    def rises(self, groups: NDArray[np.intp]) -> Bools:
        """Whether rows of these groups are served the worse the higher their score is."""
        return np.asarray((self._truth[groups] == 1) == self._turned)

    def largest(self, subject: Subject, ranks: list[int]) -> list[float]:
        """How badly the rows at these ranks are served; 1 is the worst."""
        engine, data = subject.data.engine, subject.known
        assert engine is not None
        assert self.score is not None

        def limits(groups: NDArray[np.intp], low: Floats, high: Floats) -> tuple[Floats, Floats]:
            ends = [self.harm(groups, end).size for end in (low, high)]
            return np.minimum(*ends), np.maximum(*ends)

        first = {}
        if not subject.data.score_bins:  # scores were counted one by one
            assert subject.counts is not None
            score = _numbers(data, self.score)
            by = tuple(tuple(data.column(name).to_list()) for name in self.by)
            first = {self.score: Ranges(n=subject.counts, low=score, high=score, by=by)}
        figure = {self.score: Figure(limits=limits, ranks=ranks)}
        found = ranked(engine, figure, known=self.by[0], by=self.by, groups=self.groups, first=first)
        return [float(size) for size in found[self.score]]

    @property
    def sides(self) -> list[Side]:
        """The groups, those without a decision of their own cut where scores are."""
        ends = [(0.0, 1.0)] if len(self.by) > 1 else [(0.0, float(np.nextafter(_CUT, 0))), (_CUT, 1.0)]
        return [Side(group, *own) for group in range(len(self.groups)) for own in ends]

    def edges(self, tests: list[Test]) -> tuple[float, ...]:
        """The scores at which an answer or the kind of failure changes."""
        found = {_CUT} if len(self.by) == 1 else set()
        for side in self.sides:
            for test in (*tests, _of_kind(self._at(side, side.low).kind[0])):
                found |= {edge for edge in (self._turn(side, test),) if edge is not None}
        return tuple(sorted(found)) or (_CUT,)

    def boxes(self, border: float) -> tuple[list[Box], list[Box]]:
        """Where rows are served worse than this, and where they are served just as badly, if badly at all."""
        above, equal = [], []
        for side in self.sides:
            worse = self._where(side, lambda harm: harm.size > border)
            rest = self._where(side, lambda harm: harm.size >= border)
            if worse is not None and rest is not None:
                above.append(self._box(side, worse))
                before = rest[0], float(np.nextafter(worse[0], -np.inf))
                after = float(np.nextafter(worse[1], np.inf)), rest[1]
                rest = next((part for part in (before, after) if part[0] <= part[1]), None)
            if rest is not None and border > 0:
                equal.append(self._box(side, rest))
        return above, equal

    def wrong(self) -> list[Box]:
        """Where decisions are wrong."""
        wrong = np.flatnonzero(self._truth != self._label).tolist()
        return [Box(values=dict(zip(self.by, self.groups[group], strict=True))) for group in wrong]

    def _box(self, side: Side, ends: tuple[float, float]) -> Box:
        assert self.score is not None
        return Box(values=dict(zip(self.by, self.groups[side.group], strict=True)), ranges={self.score: ends})

    def _at(self, side: Side, score: float) -> Harm:
        return self.harm(np.array([side.group]), np.array([score]))

    def _where(self, side: Side, test: Test) -> tuple[float, float] | None:
        """The scores of a side that pass a test, which is passed from some score on or up to it."""
        turn = self._turn(side, test)
        passed = bool(test(self._at(side, side.low))[0])
        if turn is None:
            return (side.low, side.high) if passed else None
        return (side.low, float(np.nextafter(turn, -np.inf))) if passed else (turn, side.high)

    def _turn(self, side: Side, test: Test) -> float | None:
        """The smallest score of a side whose answer is not that of the lowest; None where all have the same."""
        answer = bool(test(self._at(side, side.low))[0])
        if bool(test(self._at(side, side.high))[0]) == answer:
            return None
        # floats from 0 on are in the order of their bits
        same, other = (int(np.float64(end).view(np.int64)) for end in (side.low, side.high))
        while other - same > 1:
            middle = (same + other) // 2
            if bool(test(self._at(side, _from_bits(middle)))[0]) == answer:
                same = middle
            else:
                other = middle
        return _from_bits(other)


def _of_kind(kind: str) -> Test:
    return lambda harm: np.asarray(harm.kind == kind)


def _from_bits(bits: int) -> float:
    return float(np.int64(bits).view(np.float64))


def _numbers(data: Dataset, name: str) -> Any:
    return data.column(name).to_numpy().astype(float)
