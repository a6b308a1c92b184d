"""How one column is distributed, as a function of a standard normal number.

A column is either a list of levels (categories, truth values, whole numbers, repeated numbers) or a curve (continuous
numbers). Both turn a latent normal z into a value and a condition on values into intervals of z: that is all a Gaussian
copula has to know about a column.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.data.schema import Kind
from isonomia.data.synthetic.conditions import Between, Condition
from isonomia.errors import DataError, close_to
from isonomia.typing import Floats

#: Intervals (low, high] of a latent normal: two arrays of equal length.
Regions = tuple[Floats, Floats]

#: How many quantiles describe a curve, and how many cells its density.
_KNOTS = 2001
_CELLS = 128
#: Numbers with at most this many decimals are drawn with as many.
_MAX_DECIMALS = 4
#: The probability of the interval that represents one continuous value.
_NARROW = 1e-3


@dataclass(frozen=True, eq=False)
class Levels:
    """A column of separate values in a fixed order; z in (t[k-1], t[k]] gives value k, t = Phi^-1(cumulated shares).

    >>> sex = Levels("sex", "category", ("F", "M"), np.array([0.5, 0.5]))
    >>> sex.values_of(sex.draw(np.array([-1.0, 0.3]))).tolist()
    ['F', 'M']
    """

    name: str
    kind: Kind
    values: tuple[Any, ...]
    shares: Floats

    @cached_property
    def edges(self) -> Floats:
        """The latent borders of the values, from -inf to inf."""
        from scipy.special import ndtri

        shares = np.clip(np.cumsum(self.shares), 0.0, 1.0)
        return np.concatenate([[-np.inf], ndtri(shares[:-1]), [np.inf]])

    def draw(self, z: Floats) -> NDArray[Any]:
        """The codes of latent numbers."""
        return np.searchsorted(self.edges[1:-1], z, side="left").astype(np.int32)

    def values_of(self, codes: NDArray[Any]) -> NDArray[Any]:
        """The values behind codes; code -1 is missing."""
        missing = codes < 0
        if self.kind in ("integer", "numeric"):
            numbers: Floats = np.asarray(self.values, dtype=float)[codes]
            if missing.any():
                numbers[missing] = np.nan
                return numbers
            return numbers.astype(np.int64) if self.kind == "integer" else numbers
        if self.kind == "boolean" and None not in self.values:
            return np.asarray(np.asarray(self.values, dtype=bool)[codes])
        table: NDArray[Any] = np.empty(len(self.values), dtype=object)
        table[:] = self.values
        return np.asarray(table[codes])

    def cells(self) -> tuple[Floats, Floats]:
        """The latent borders of cells of equal value, and the mid-rank of each."""
        upper = np.cumsum(self.shares)
        return self.edges, upper - self.shares / 2

    def scores(self, codes: NDArray[Any]) -> Floats:
        """The normal score of each code's mid-rank; missing is NaN."""
        from scipy.special import ndtri

        table = np.append(ndtri(self.cells()[1]), np.nan)
        return np.asarray(table[codes], dtype=float)

    def cell(self, codes: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
        """The latent interval of each code, and what to add to its log probability (nothing); missing is open."""
        low, high = np.append(self.edges[:-1], -np.inf), np.append(self.edges[1:], np.inf)
        return low[codes], high[codes], np.zeros(codes.size)

    def allowed(self, condition: Condition) -> NDArray[np.bool_]:
        """Which values a condition allows."""
        if isinstance(condition, Between):
            if self.kind not in ("integer", "numeric"):
                raise DataError(
                    f"'{self.name}' is of kind '{self.kind}' and cannot lie in an interval. Name its values instead."
                )
            numbers = np.asarray(self.values, dtype=float)
            return (numbers >= condition.low) & (numbers < condition.high)
        mask = np.zeros(len(self.values), dtype=bool)
        for value in condition.values:
            mask[self._code_of(value)] = True
        return mask

    def mask(self, condition: Condition, codes: NDArray[Any]) -> NDArray[np.bool_]:
        """Which codes satisfy a condition; a missing number satisfies none but "missing"."""
        if _asks_missing(condition) and self.kind in ("integer", "numeric"):
            return codes < 0
        return np.asarray(np.append(self.allowed(condition), False)[codes], dtype=bool)

    def regions(self, condition: Condition) -> Regions:
        """The latent intervals a condition leaves; neighbours are joined."""
        allowed = self.allowed(condition) & (self.shares > 0)
        if not allowed.any():
            raise DataError(_no_support(condition))
        steps = np.diff(np.concatenate([[0], allowed.astype(np.int8), [0]]))
        return self.edges[np.flatnonzero(steps == 1)], self.edges[np.flatnonzero(steps == -1)]

    def keep(self, condition: Condition, codes: NDArray[Any]) -> NDArray[Any]:
        """Values of the allowed intervals as they are: levels are exact by construction."""
        return codes

    def _code_of(self, value: Any) -> int:
        for code, level in enumerate(self.values):
            if level is value or (level is not None and (level == value or str(level) == str(value))):
                return code
        raise DataError(f"'{self.name}' never has the value {value!r}.{close_to(value, self.values)}")


@dataclass(frozen=True, eq=False)
class Curve:
    """A column of continuous numbers: a piecewise linear quantile function, flat where a value repeats.

    Numbers written with a few decimals (money, shares, whole numbers) are drawn with as many.

    >>> pay = Curve.through("pay", "numeric", np.arange(101.0))
    >>> pay.draw(np.array([0.0])).round(6).tolist()
    [50.0]
    """

    name: str
    kind: Kind
    ranks: Floats
    knots: Floats
    decimals: int | None = None

    @classmethod
    def through(cls, name: str, kind: Kind, numbers: Floats) -> Curve:
        """The curve of a sample; long samples are thinned to evenly spaced quantiles."""
        ordered = np.sort(numbers)
        ranks = np.linspace(0.0, 1.0, min(ordered.size, _KNOTS))
        decimals = next((d for d in range(_MAX_DECIMALS + 1) if (np.round(ordered, d) == ordered).all()), None)
        return cls(name, kind, ranks, np.interp(ranks, np.linspace(0.0, 1.0, ordered.size), ordered), decimals)

    @property
    def half(self) -> float:
        """Half the distance between two neighbouring values; 0 where there is none."""
        return 0.0 if self.decimals is None else 0.5 * 10.0**-self.decimals

    def draw(self, z: Floats) -> NDArray[Any]:
        """The numbers of latent numbers."""
        from scipy.special import ndtr

        numbers = np.interp(ndtr(z), self.ranks, self.knots)
        return numbers if self.decimals is None else np.round(numbers, self.decimals)

    def values_of(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """The numbers themselves; integers where the column contains them and none is missing."""
        return numbers.astype(np.int64) if self.kind == "integer" and not np.isnan(numbers).any() else numbers

    def below(self, numbers: Any, *, inclusive: bool) -> Floats:
        """P(X <= x), or P(X < x)."""
        x = np.asarray(numbers, dtype=float)
        first = np.searchsorted(self.knots, x, side="right" if inclusive else "left")
        left = np.clip(first - 1, 0, self.knots.size - 1)
        right = np.clip(first, 0, self.knots.size - 1)
        gap = self.knots[right] - self.knots[left]
        inner = np.where(gap > 0, (np.clip(x, self.knots[0], self.knots[-1]) - self.knots[left]) / _one(gap), 0.0)
        ranks = self.ranks[left] + inner * (self.ranks[right] - self.ranks[left])
        ranks = np.where(first == 0, 0.0, ranks)
        return np.asarray(np.where(first == self.knots.size, 1.0, ranks), dtype=float)

    def span(self, numbers: NDArray[Any]) -> tuple[Floats, Floats]:
        """P(X < x) and P(X <= x) of each number; for rounded numbers, of all that round to it."""
        half = self.half
        return self.below(numbers - half, inclusive=False), self.below(numbers + half, inclusive=half == 0)

    def cells(self) -> tuple[Floats, Floats]:
        """The latent borders of cells of (nearly) equal value, and the mid-rank of each."""
        from scipy.special import ndtri

        flat = np.flatnonzero(np.diff(self.knots) == 0)
        borders = np.unique(np.concatenate([np.linspace(0, 1, 257), self.ranks[flat], self.ranks[flat + 1]]))
        values = np.interp(borders, self.ranks, self.knots)
        low, high = self.below(values, inclusive=False), self.below(values, inclusive=True)
        borders = borders[(borders <= low + 1e-12) | (borders >= high - 1e-12)]
        return ndtri(borders), (borders[1:] + borders[:-1]) / 2

    def scores(self, numbers: NDArray[Any]) -> Floats:
        """The normal score of each number's mid-rank; missing is NaN."""
        from scipy.special import ndtri

        low, high = self.span(numbers)
        edge = 0.5 / self.knots.size
        return np.where(np.isnan(numbers), np.nan, ndtri(np.clip((low + high) / 2, edge, 1 - edge)))

    def cell(self, numbers: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
        """A latent interval around each number, and what turns the log of its probability into a log density.

        A value that repeats has its own interval and a probability; a continuous one a narrow interval, and a density
        read off coarse quantile cells. Outside the range the density is 0, a missing number is open.
        """
        from scipy.special import ndtri

        low, high = self.span(numbers)
        narrow = (high - low) < 1.5 / self.knots.size
        narrow &= self.decimals is None
        middle = np.clip((low + high) / 2, _NARROW / 2, 1 - _NARROW / 2)
        low, high = np.where(narrow, middle - _NARROW / 2, low), np.where(narrow, middle + _NARROW / 2, high)
        with np.errstate(divide="ignore"):
            add = np.where(narrow, np.log(self._heights(numbers)) - math.log(_NARROW), 0.0)
        add = np.where((numbers < self.knots[0]) | (numbers > self.knots[-1]), -np.inf, add)
        there = ~np.isnan(numbers)
        return (
            np.where(there, ndtri(low), -np.inf),
            np.where(there, ndtri(high), np.inf),
            np.where(there, add, 0.0),
        )

    def _heights(self, numbers: NDArray[Any]) -> Floats:
        ranks = np.linspace(0.0, 1.0, min(_CELLS, self.knots.size - 1) + 1)
        edges, first = np.unique(np.interp(ranks, self.ranks, self.knots), return_index=True)
        heights = np.diff(np.append(ranks[first][:-1], 1.0)) / np.diff(edges)
        cell = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, heights.size - 1)
        return np.asarray(heights[cell], dtype=float)

    def mask(self, condition: Condition, numbers: NDArray[Any]) -> NDArray[np.bool_]:
        """Which numbers satisfy a condition."""
        if isinstance(condition, Between):
            return np.asarray((numbers >= condition.low) & (numbers < condition.high), dtype=bool)
        if _asks_missing(condition):
            return np.asarray(np.isnan(numbers))
        return np.isin(numbers, np.asarray(condition.values, dtype=float))

    def regions(self, condition: Condition) -> Regions:
        """The latent intervals a condition leaves."""
        from scipy.special import ndtri

        if isinstance(condition, Between):
            low, high = self._bounds(condition)
            lows, highs = self.span(np.array([low]))[0], self.span(np.array([high]))[1]
        else:
            try:
                numbers = np.unique(np.asarray(condition.values, dtype=float))
            except (TypeError, ValueError):
                raise DataError(f"'{self.name}' contains numbers; got the values {list(condition.values)!r}.") from None
            lows, highs = self.span(numbers)
        kept = highs > lows
        if not kept.any():
            raise DataError(_no_support(condition))
        return ndtri(lows[kept]), ndtri(highs[kept])

    def keep(self, condition: Condition, numbers: NDArray[Any]) -> NDArray[Any]:
        """Values moved onto the condition's bounds where rounding put them a hair beyond."""
        if isinstance(condition, Between):
            low, high = self._bounds(condition)
            return np.asarray(np.clip(numbers, low, high))
        allowed = np.unique(np.asarray(condition.values, dtype=float))
        middle = (allowed[1:] + allowed[:-1]) / 2
        return np.asarray(allowed[np.searchsorted(middle, numbers)])

    def _bounds(self, condition: Between) -> tuple[float, float]:
        """The smallest and largest value allowed."""
        first, last = float(self.knots[0]), float(self.knots[-1])
        if condition.low > last or condition.high <= first:
            raise DataError(_no_support(condition))
        low = first if condition.low <= first else self._rounded(condition.low, up=True)
        high = last if condition.high > last else self._rounded(math.nextafter(condition.high, -math.inf), up=False)
        if low > high:
            raise DataError(_no_support(condition))
        return low, high

    def _rounded(self, bound: float, *, up: bool) -> float:
        """A bound among the values, moved to the nearest number with their decimals that keeps it."""
        return bound if self.decimals is None else _on_grid(bound, self.decimals, up=up)


Marginal = Levels | Curve


def _on_grid(bound: float, decimals: int, *, up: bool) -> float:
    """The nearest number of some decimals that is not below (or not above) a bound.

    >>> _on_grid(0.3001, 3, up=True), _on_grid(0.3, 1, up=True), _on_grid(0.2999, 3, up=False)
    (0.301, 0.3, 0.299)
    """
    scale = 10.0**decimals
    steps = round(bound * scale)
    candidates = [round((steps + k) / scale, decimals) for k in (-1, 0, 1)]
    return min(c for c in candidates if c >= bound) if up else max(c for c in candidates if c <= bound)


def _one(gap: Floats) -> Floats:
    return np.where(gap > 0, gap, 1.0)


def _asks_missing(condition: Condition) -> bool:
    return not isinstance(condition, Between) and condition.values == (None,)


def _no_support(condition: Condition) -> str:
    return (
        f"No value satisfies the condition {condition}: its support is empty. "
        "Widen it, or name values that the column contains."
    )


def shares_of(codes: NDArray[Any], size: int) -> Floats:
    """The share of each code among the rows that have one."""
    # `counting` is above `data` and cannot be used here
    counts = np.bincount(codes[codes >= 0], minlength=size).astype(float)
    return np.asarray(counts / counts.sum(), dtype=float)


def reorder(marginal: Levels, codes: NDArray[Any], order: Sequence[int]) -> tuple[Levels, NDArray[Any]]:
    """The same column with its values in another order."""
    new_code = np.empty(len(order) + 1, dtype=np.int32)
    new_code[np.asarray(order)] = np.arange(len(order))
    new_code[-1] = -1
    values = tuple(marginal.values[index] for index in order)
    return Levels(marginal.name, marginal.kind, values, marginal.shares[np.asarray(order)]), new_code[codes]
