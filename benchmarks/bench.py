"""The frame of every benchmark: rows of results, the registry, clocks.

A benchmark is a function that yields `Row`s, under ``@benchmark("name")``. It compares results before times:
a row whose results differ has no ratio.
"""

from __future__ import annotations

import gc
import math
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeVar

T = TypeVar("T")

#: Values of two libraries are equal when no pair differs by more than this.
TOLERANCE = 1e-12


@dataclass(frozen=True)
class Target:
    """What a row has to reach: at least so many times the peer's speed, or at most so much of something."""

    kind: Literal["at least", "at most"]
    value: float

    def met(self, measured: float) -> bool:
        """Whether a measured value reaches it."""
        return measured >= self.value if self.kind == "at least" else measured <= self.value

    def __str__(self) -> str:
        return f"{'≥' if self.kind == 'at least' else '≤'} {self.value:,g}"


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes
    ----------
    case : str
        What was done, and on what kind of data.
    size : int or None
        Rows of the data.
    ours, peer : float or None
        Best seconds of each; None where nothing could be measured (`note` says why).
    peer_name : str
        Who is compared with.
    measure : str
        What `value` is: "times faster", "times as long", "seconds", "MB".
    value : float or None
        The measured value that the target speaks of.
    target : Target or None
    difference : float or None
        The largest absolute difference between our results and the peer's; None where there is nothing to compare.
    compared : int
        How many pairs of values were compared.
    note : str
        What a reader must know.
    """

    case: str
    size: int | None
    ours: float | None
    peer_name: str = ""
    peer: float | None = None
    measure: str = "times faster"
    value: float | None = None
    target: Target | None = None
    difference: float | None = None
    compared: int = 0
    note: str = ""
    benchmark: str = field(default="", compare=False)

    @property
    def outcome(self) -> str:
        """ "met", "missed", "differs" (results are not equal), "not measured", or "" without a target."""
        if self.difference is not None and not self.difference <= TOLERANCE:
            return "differs"
        if self.value is None:
            return "not measured"
        return "" if self.target is None else ("met" if self.target.met(self.value) else "missed")

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe."""
        return {**asdict(self), "outcome": self.outcome}


@dataclass(frozen=True)
class Benchmark:
    """A registered benchmark."""

    name: str
    purpose: str
    run: Callable[[Scale], Iterator[Row]]


@dataclass(frozen=True)
class Scale:
    """How much to do: `quick` takes small sizes and few repeats, to see that everything runs."""

    quick: bool = False

    def rows(self, wanted: int) -> int:
        """A size, or a small one."""
        return min(wanted, 1_000) if self.quick else wanted

    def repeats(self, wanted: int) -> int:
        """A number of repeats, or one."""
        return 1 if self.quick else wanted


BENCHMARKS: dict[str, Benchmark] = {}


def benchmark(name: str) -> Callable[[Callable[[Scale], Iterator[Row]]], Callable[[Scale], Iterator[Row]]]:
    """Register a function as a benchmark; the first line of its docstring is its purpose."""

    def register(function: Callable[[Scale], Iterator[Row]]) -> Callable[[Scale], Iterator[Row]]:
        if name in BENCHMARKS:
            raise ValueError(f"There is a benchmark called '{name}' already.")
        BENCHMARKS[name] = Benchmark(name, (function.__doc__ or "").strip().splitlines()[0], function)
        return function

    return register


def best_of(work: Callable[[], T], repeats: int, clock: Callable[[], float] = time.perf_counter) -> tuple[float, T]:
    """The shortest of several runs after one to warm up, in seconds, and the result.

    `clock` is `time.process_time` where other work runs on the machine.
    """
    result = work()
    best = math.inf
    gc.collect()
    gc.disable()
    try:
        for _ in range(repeats):
            start = clock()
            result = work()
            best = min(best, clock() - start)
    finally:
        gc.enable()
    return best, result


def peak_megabytes(work: Callable[[], object]) -> float:
    """Memory that a call needs at its peak, beyond what was there before (as NumPy and Python report it)."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def largest_difference(ours: Mapping[str, float | None], theirs: Mapping[str, float | None]) -> tuple[float, int]:
    """The largest absolute difference over the names that both have, and how many those are.

    A value missing on one side only counts as infinitely different. Nothing in common is an error: then nothing
    has been compared.
    """
    names = sorted(ours.keys() & theirs.keys())
    if not names:
        raise ValueError(f"No result in common: ours {sorted(ours)[:3]} ..., theirs {sorted(theirs)[:3]} ...")
    worst = 0.0
    for name in names:
        a, b = _number(ours[name]), _number(theirs[name])
        if math.isnan(a) and math.isnan(b):
            continue
        gap = abs(a - b)
        worst = max(worst, math.inf if math.isnan(gap) else gap)
    return worst, len(names)


def faster(
    case: str,
    size: int,
    ours: float,
    peer_name: str,
    peer: float,
    *,
    target: float | None,
    difference: float,
    compared: int,
    note: str = "",
) -> Row:
    """A row that tells how many times faster we are; without a ratio where the results differ."""
    return Row(
        case,
        size,
        ours,
        peer_name,
        peer,
        value=peer / ours if difference <= TOLERANCE else None,
        target=None if target is None else Target("at least", target),
        difference=difference,
        compared=compared,
        note=note,
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
