"""What an engine does: give the cells of its rows, stream their codes, draw a sample. Rows stay where they are.

An engine groups by **raw values** and codes the groups at home (`Dimension.encode`, `Cells.from_groups`). So labels and
their order are the same on every engine, and hence is the report; a query needs quoted names and numeric edges only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from isonomia.counting.cells import Cells
from isonomia.counting.codes import Codes
from isonomia.data import Bands, Kind

#: The prime 2^31 - 1: products of two numbers below it fit in 64 bits, so every engine can compute `sample_order`.
_PRIME = 2_147_483_647


@dataclass(frozen=True, kw_only=True)
class Dimension:
    """A column to group by: its values as they are, or numbers in bins.

    Parameters
    ----------
    column : str
        The column's name.
    edges : tuple of float, optional
        Bins [edges[i], edges[i + 1]); the last one is closed, values outside join the end bins.
    bands : Bands, optional
        Named bands instead of bins.
    """

    column: str
    edges: tuple[float, ...] | None = None
    bands: Bands | None = None

    def encode(self, values: Any) -> Codes:
        """Raw values of the column, one per row or one per group, as codes."""
        if self.bands is not None:
            return Codes.bands(values, self.bands, name=self.column)
        if self.edges is not None:
            return Codes.cut(values, self.edges, name=self.column)
        return Codes.encode(values, name=self.column)


@dataclass(frozen=True, kw_only=True)
class Condition:
    """Rows to count: those whose column has one of the values, or any value where `values` is None.

    Rows where the column is missing are left out unless `missing` is True.
    """

    column: str
    values: tuple[Any, ...] | None = None
    missing: bool = False


@dataclass(frozen=True, kw_only=True)
class Schema:
    """A source: the kind of every column, the number of rows, and a text that changes with the content."""

    kinds: Mapping[str, Kind]
    rows: int
    fingerprint: str


class Engine(Protocol):
    """A source of rows that counts them itself."""

    def schema(self) -> Schema:
        """Columns, rows and fingerprint of the source."""
        ...

    def cells(self, axes: Sequence[Dimension], sums: Sequence[str] = (), where: Sequence[Condition] = ()) -> Cells:
        """Distinct combinations of the axes with n, sum of w, sum of w^2, and sums and products of the columns `sums`.

        Only rows that meet all conditions are counted. A missing value in a column of `sums` is an error: leave those
        rows out by a condition.
        """
        ...

    def codes(self, axes: Sequence[Dimension], budget: int) -> Iterator[tuple[Codes, ...]]:
        """The coded columns in chunks of at most `budget` bytes; every chunk has the labels of the whole column."""
        ...

    def sample(self, n: int, seed: int) -> Any:
        """At most `n` rows as a frame: those that come first in `sample_order`, the same on every engine."""
        ...


def sample_order(keys: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """A number per key that looks random: the rows with the smallest numbers are the sample.

    ``x -> a x^5 + b`` modulo 2^31 - 1, twice: a permutation (5 has no factor in common with 2^31 - 2) that any
    database computes with multiplication, addition and remainder.

    >>> sample_order(np.arange(4), seed=0).tolist()
    [2055986332, 377670590, 679837891, 895970668]
    """
    x = (keys.astype(np.int64) + 1 + (seed % _PRIME) * 7919) % _PRIME
    for factor, shift in ((48_271, 12_820_163), (69_621, 1_812_433_253)):
        square = x * x % _PRIME
        x = (square * square % _PRIME * x % _PRIME * factor + shift) % _PRIME
    return x
