"""The frame of every simulation: a setting with known truth, what is promised of it, what came out.

A setting is a function ``(rng, repetitions) -> Trials`` under ``@setting(...)``. It draws data whose truth is known,
calls the public function under examination, and says for each repetition whether the promise was kept.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isonomia.evidence import Estimate


@dataclass(frozen=True, eq=False)
class Trials:
    """What happened in each repetition.

    Attributes
    ----------
    hits : array of bool
        Per repetition (or per interval of it): the interval covers, the test rejects, the effect is found.
    missing : float
        Share of intervals that were not given, with a reason; `hits` leaves them out.
    width : float or None
        Mean width of the intervals.
    zero_width : float
        Share of intervals of no width.
    """

    hits: NDArray[np.bool_]
    missing: float = 0.0
    width: float | None = None
    zero_width: float = 0.0

    @classmethod
    def of_intervals(cls, low: ArrayLike, high: ArrayLike, truth: ArrayLike) -> Trials:
        """Whether intervals cover the truth; NaN ends are intervals that were not given.

        >>> trials = Trials.of_intervals([0.1, 0.4, np.nan], [0.3, 0.6, np.nan], 0.2)
        >>> trials.hits.tolist(), round(trials.missing, 2), round(trials.width, 2)
        ([True, False], 0.33, 0.2)
        """
        bottom, top, value = np.broadcast_arrays(*(np.asarray(part, dtype=float) for part in (low, high, truth)))
        given = ~(np.isnan(bottom) | np.isnan(top))
        bottom, top, value = bottom[given], top[given], value[given]
        slack = 1e-9
        width = top - bottom
        return cls(
            hits=(bottom <= value + slack) & (value <= top + slack),
            missing=float(1 - given.mean()),
            width=float(width.mean()) if width.size else None,
            zero_width=float((width <= slack).mean()) if width.size else 0.0,
        )

    @classmethod
    def of_estimates(cls, estimates: Iterable[Estimate], truth: ArrayLike) -> Trials:
        """Whether the intervals of estimates cover the truth."""
        ends = np.array([(one.low, one.high) for one in estimates], dtype=float).reshape(-1, 2)
        return cls.of_intervals(ends[:, 0], ends[:, 1], truth)

    @classmethod
    def of_p_values(cls, p: ArrayLike, alpha: float = 0.05) -> Trials:
        """Whether tests reject at level alpha; NaN is a test that was not made.

        >>> Trials.of_p_values([0.01, 0.2]).hits.tolist()
        [True, False]
        """
        values = np.asarray(p, dtype=float)
        made = ~np.isnan(values)
        return cls(hits=values[made] < alpha, missing=float(1 - made.mean()))


@dataclass(frozen=True)
class Setting:
    """A simulation with known truth.

    Attributes
    ----------
    topic, name : str
        The table and the row of the page.
    question : str
        What the share is a share of: "coverage", "size", "power", "runs with a warning about groups".
    low, high : float
        The share that is promised.
    repetitions : int
        Of the full run.
    tested : int
        Repetitions of the reduced run in the tests; 0 leaves it out (too slow).
    errors : float
        Monte-Carlo errors by which the reduced run may miss the promise.
    note : str
        What a reader must know.
    run : callable
        ``(rng, repetitions) -> Trials``.
    """

    topic: str
    name: str
    question: str
    low: float
    high: float
    repetitions: int
    tested: int
    errors: float
    note: str
    run: Callable[[np.random.Generator, int], Trials]

    def simulate(self, repetitions: int | None = None) -> Row:
        """Run it, with a seed of its own that depends on its name alone."""
        rng = np.random.default_rng(zlib.crc32(f"{self.topic}/{self.name}".encode()))
        trials = self.run(rng, self.repetitions if repetitions is None else repetitions)
        n = int(trials.hits.size)
        return Row(
            topic=self.topic,
            name=self.name,
            question=self.question,
            low=self.low,
            high=self.high,
            n=n,
            share=float(trials.hits.mean()) if n else None,
            missing=trials.missing,
            width=trials.width,
            zero_width=trials.zero_width,
            note=self.note,
        )

    def promising(self, row: Row) -> Row:
        """A row kept earlier under the promise of today."""
        return replace(row, question=self.question, low=self.low, high=self.high, note=self.note)


#: Where more than this share of the intervals is left out, there is nothing to count.
HARDLY_ANY = 0.98


@dataclass(frozen=True)
class Row:
    """One line of the page: what was promised, what came out, how sure that is."""

    topic: str
    name: str
    question: str
    low: float
    high: float
    n: int
    share: float | None
    missing: float
    width: float | None
    zero_width: float
    note: str

    @property
    def error(self) -> float:
        """Monte-Carlo error of the share, at the promised end that is nearer to one half."""
        near = min((self.low, self.high), key=lambda end: abs(end - 0.5))
        return math.sqrt(max(near * (1 - near), 0.25 / max(self.n, 1)) / self.n) if self.n else math.inf

    def outcome(self, errors: float = 2.0) -> str:
        """What the repetitions say about the promise.

        "below" or "above" it by more than so many Monte-Carlo errors; "holds" where the share is as promised, and as
        many errors away from a promise that is clearly broken; "not settled" in between; "no intervals" where hardly
        any was given.
        """
        if self.share is None or self.missing > HARDLY_ANY:
            return "no intervals"
        if self.share < self.low - errors * self.error:
            return "below"
        if self.share > self.high + errors * self.error:
            return "above"
        inside = self.low <= self.share <= self.high
        return "holds" if inside and self._far_from_broken(errors) else "not settled"

    def _far_from_broken(self, errors: float) -> bool:
        """Whether so few or so many would hardly come from a broken promise.

        A share that must be small is broken at twice its promise, one that must be large a quarter of what the promise
        leaves below it, and 5 points below a promise of all.
        """
        if self.low <= 0:
            broken = min(2 * self.high, 1.0)
            return self.share is not None and self.share + errors * self._error_at(broken) <= broken
        broken = self.low - ((1 - self.low) / 4 or 0.05)
        return self.share is not None and self.share - errors * self._error_at(broken) >= broken

    def _error_at(self, share: float) -> float:
        return math.sqrt(share * (1 - share) / self.n)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe."""
        return asdict(self)


#: Every setting, by topic and name.
SETTINGS: dict[tuple[str, str], Setting] = {}


def setting(
    topic: str,
    name: str,
    question: str = "coverage",
    *,
    low: float = 0.935,
    high: float = 0.975,
    repetitions: int = 2000,
    tested: int = 0,
    errors: float = 3.0,
    note: str = "",
) -> Callable[[Callable[[np.random.Generator, int], Trials]], Callable[[np.random.Generator, int], Trials]]:
    """Register a function as a setting; called in a loop it registers a whole table.

    `low` and `high` default to what intervals of level 0.95 promise.
    """

    def register(
        run: Callable[[np.random.Generator, int], Trials],
    ) -> Callable[[np.random.Generator, int], Trials]:
        if (topic, name) in SETTINGS:
            raise ValueError(f"There is a setting '{name}' in '{topic}' already.")
        SETTINGS[topic, name] = Setting(topic, name, question, low, high, repetitions, tested, errors, note, run)
        return run

    return register
