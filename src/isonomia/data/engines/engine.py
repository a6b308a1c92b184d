"""What an engine does: group its rows and count the groups, hand over rows, draw a sample. Rows stay where they are.

An engine groups by **raw values**; labels are read and put in order at home. So labels and their order are the same on
every engine, and hence is the report; a query needs quoted names and numeric edges only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.data.frames import Backend
from isonomia.errors import require
from isonomia.languages import Message

#: The prime 2^31 - 1: products of two numbers below it fit in 64 bits, so every engine can compute `sample_order`.
PRIME = 2_147_483_647
#: Two rounds of ``x -> factor x^5 + shift`` modulo the prime.
ROUNDS = ((48_271, 12_820_163), (69_621, 1_812_433_253))


@dataclass(frozen=True, kw_only=True)
class Key:
    """A column to group by.

    Attributes
    ----------
    column : str
    form : "value", "bands", "bins", "day", "absent" or "part"
        Its values as they are; numbers cut at `edges`; numbers in `bins` bins of equal width from ``edges[0]`` to
        ``edges[1]``; moments by their day; whether there is no value, or one of the texts in `blanks`; the part of a
        random split that a row is in, by its number (`part_of`): the column is not one of the source then.
    edges, bins, blanks, seed
        Of "bands", "bins", "absent" and "part" (edges are shares of the rows).

    A group of bands is shown by its smallest value, a group of bins by its (weighted) mean, absent ones by a truth
    value.
    """

    column: str
    form: Literal["value", "bands", "bins", "day", "absent", "part"] = "value"
    edges: tuple[float, ...] = ()
    bins: int = 0
    blanks: tuple[str, ...] = ()
    seed: int = 0

    def type_in(self, schema: Mapping[str, nw.dtypes.DType]) -> nw.dtypes.DType:
        """The type of what a group is shown by."""
        if self.form == "absent":
            return nw.Boolean()
        if self.form == "part":
            return nw.Int64()
        if self.form == "bins":  # the mean of whole numbers is not whole
            return nw.Float64()
        return nw.Date() if self.form == "day" else schema[self.column]


@dataclass(frozen=True, kw_only=True)
class Box:
    """Rows that have these values in some columns (None: no value), and numbers in others within closed ranges."""

    values: Mapping[str, Any]
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Groups:
    """Rows that share the values of some columns, counted.

    Attributes
    ----------
    frame : pandas, Polars or PyArrow table
        A row per group, a column per key.
    n : array of int
        Rows of each group.
    w, w2 : arrays of float, or None without weights
        The sums of their weights and of their squared weights.
    sums : mapping of (array, array)
        For each column that was asked for: the sums of its numbers and of their squares, times the weights.
    """

    frame: Any
    n: NDArray[np.int64]
    w: NDArray[np.float64] | None = None
    w2: NDArray[np.float64] | None = None
    sums: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Ranges:
    """Numbers of a column in bins, from the smallest to the largest: rows, smallest and largest number of each.

    Where rows were counted by other columns, too, `by` has the values of these, and a bin comes once per combination of
    them that it has; its smallest and largest numbers are those of all its rows.
    """

    n: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    by: tuple[tuple[Any, ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Picked:
    """Some rows as a frame, with their numbers from 0 in the order of the source."""

    frame: Any
    numbers: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What one pass over all rows shows.

    Attributes
    ----------
    rows : int
    missing, infinite : mapping
        For each plain column: rows without a value, rows with an infinite number.
    ends : mapping
        For columns of numbers that were asked for: the smallest and the largest finite one; None where there is none.
    """

    rows: int
    missing: Mapping[str, int] = field(default_factory=dict)
    infinite: Mapping[str, int] = field(default_factory=dict)
    ends: Mapping[str, tuple[float, float] | None] = field(default_factory=dict)


class Engine(ABC):
    """A source of rows that counts them itself.

    Attributes
    ----------
    name : str
        What it is called in a report: "duckdb", "polars", "postgresql", "pyspark".
    schema : mapping
        The type of every column.
    memory : int
        How many bytes rows and groups may take here.
    backend : "pandas", "polars" or "pyarrow"
        The kind of frame that it hands over.
    notes : tuple of Message
        What a reader of the results should know about the source.
    numbering : Message or None
        What the numbers of rows are, where the source has no order of its own.
    repeatable : bool
        Whether rows come in the same order whenever they are read.
    """

    name: str
    schema: Mapping[str, nw.dtypes.DType]
    memory: int
    backend: Backend
    notes: tuple[Message, ...]
    numbering: Message | None = None
    repeatable: bool = False

    #: Whether a query costs more than what it computes: then the first one asks for what may be asked later.
    slow_to_start = False
    _profile: Profile | None = None

    def profile(self, ends: Sequence[str] = ()) -> Profile:
        """Rows, missing and infinite values of all columns, and the ends of some; read again only if it must be."""
        wanted = [name for name in ends if self.schema[name].is_numeric()]
        if self._profile is None and self.slow_to_start:
            wanted = [name for name in self.plain if self.schema[name].is_numeric()]
        if self._profile is None:
            self._profile = self._profiled(list(self.plain), wanted)
        elif new := [name for name in wanted if name not in self._profile.ends]:
            more = self._profiled(new, new).ends
            self._profile = replace(self._profile, ends={**self._profile.ends, **more})
        return self._profile

    @property
    def plain(self) -> tuple[str, ...]:
        """The columns whose values can be counted."""
        return tuple(name for name, dtype in self.schema.items() if not dtype.is_nested() and dtype != nw.Unknown)

    @abstractmethod
    def _profiled(self, names: Sequence[str], ends: Sequence[str]) -> Profile:
        """A profile of these columns, with the ends of some."""

    @abstractmethod
    def grouped(self, keys: Sequence[Key], *, weight: str | None = None, limit: int) -> Groups | None:
        """The groups with equal keys; None where there are more than `limit`."""

    @abstractmethod
    def grouped_each(
        self,
        sets: Sequence[Sequence[Key]],
        *,
        shared: Sequence[Key] = (),
        weight: str | None = None,
        limit: int,
        least: int = 1,
        summed: Sequence[str] = (),
    ) -> list[Groups | None]:
        """The groups of several sets of keys, each with the keys `shared` by all; in one statement.

        Groups are left out where fewer than `least` rows have the keys of the set; None stands for a set with more
        than `limit` groups. The numbers in the columns `summed` are summed, with their squares.
        """

    @abstractmethod
    def ranges(
        self,
        pieces: Mapping[str, Sequence[tuple[float, float]]],
        *,
        bins: int,
        known: str | None = None,
        by: Sequence[str] = (),
    ) -> dict[str, Ranges]:
        """For each column the numbers within some pieces, from low to high and in rising order, in `bins` bins each.

        With 0 bins every number has a bin of its own. All in one statement. `known` names a column: only rows that have
        a value there count. Rows are counted by the values of the columns `by`, too.
        """

    @abstractmethod
    def head(self, columns: Sequence[str], n: int) -> Any:
        """The first `n` rows as a frame."""

    @abstractmethod
    def distinct(self, columns: Sequence[str]) -> dict[str, int]:
        """How many different values each of these columns has; in one statement."""

    @abstractmethod
    def batches(
        self, columns: Sequence[str], size: int | None = None, *, backend: Backend | None = None
    ) -> Iterator[Any]:
        """All rows as frames of at most `size` rows (None: as one frame), in the order of the source.

        `backend` is the kind of frame, by default the engine's.
        """

    @abstractmethod
    def sample(self, columns: Sequence[str], n: int, seed: int) -> Any:
        """`n` rows as a frame: those that come first in `sample_order` of their numbers, in the order of the source."""

    @abstractmethod
    def picked(self, columns: Sequence[str], boxes: Sequence[Box], n: int) -> Picked:
        """The first `n` rows that are in one of these boxes, in the order of the source."""

    @abstractmethod
    def moved(self) -> Message | None:
        """What changed in the source since it was opened; None where nothing did, or where nothing can."""


def require_polars() -> None:
    """Raise an error with the install command where Polars is missing, in which engines put their groups together."""
    require("polars", extra="polars", purpose="Counting rows where they are")


def sample_order(keys: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """A number per key that looks random: the rows with the smallest numbers are the sample.

    ``x -> a x^5 + b`` modulo 2^31 - 1, twice: a permutation (5 has no factor in common with 2^31 - 2) that any
    database computes with multiplication, addition and remainder.

    >>> sample_order(np.arange(4), seed=0).tolist()
    [2055986332, 377670590, 679837891, 895970668]
    """
    x = (keys.astype(np.int64) + first_key(seed)) % PRIME
    for factor, shift in ROUNDS:
        square = x * x % PRIME
        x = (square * square % PRIME * x % PRIME * factor + shift) % PRIME
    return x


def part_of(numbers: NDArray[np.int64], shares: Sequence[float], seed: int) -> NDArray[np.int64]:
    """Which part of a random split each row is in, by its number: 0 for the first share of the rows, and so on.

    >>> np.unique(part_of(np.arange(1000), (0.4, 0.6), seed=0), return_counts=True)[1].tolist()
    [406, 207, 387]
    """
    return np.searchsorted(part_bounds(shares), sample_order(numbers, seed), side="right").astype(np.int64)


def part_bounds(shares: Sequence[float]) -> list[int]:
    """What `sample_order` reaches at these shares of the rows."""
    return [round(share * PRIME) for share in shares]


def first_key(seed: int) -> int:
    """What `sample_order` adds to the keys of a seed."""
    return 1 + (seed % PRIME) * 7919


def sample_bound(n: int, rows: int) -> int:
    """A number that at least `n` of `rows` rows are below in `sample_order`, and hardly any more.

    Numbers are spread evenly, so that `n` rows lie below n / rows of the prime, give or take a few standard errors.
    """
    share = min(1.0, (n + 8 * np.sqrt(n) + 8) / rows)
    return int(np.ceil(share * PRIME))
