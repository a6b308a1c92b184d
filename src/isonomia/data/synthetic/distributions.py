"""How one column of a schema is distributed: categories with shares, and three families of numbers inside bounds."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.data.schema import Kind
from isonomia.errors import SpecError, close_to
from isonomia.typing import Floats


@dataclass(frozen=True)
class Categories:
    """Texts (or other values) with their shares, in the order that the latent normal follows.

    >>> Categories({"rent": 0.4, "own": 0.6}).quantile(np.array([0.1, 0.9])).tolist()
    ['rent', 'own']
    """

    shares: Mapping[Any, float]
    missing: float = 0.0

    def __post_init__(self) -> None:
        shares = list(self.shares.values())
        if not shares or any(not (isinstance(p, int | float) and 0 <= p <= 1) for p in shares):
            raise SpecError(f"The shares of categories must be numbers in [0, 1]; got {dict(self.shares)}.")
        if abs(sum(shares) - 1) > 1e-6:
            raise SpecError(
                f"The shares of categories must sum to 1; they sum to {sum(shares):g}: {dict(self.shares)}."
            )
        _check_missing(self.missing)

    @property
    def kind(self) -> Kind:
        """The kind of column it makes."""
        if all(isinstance(value, bool) for value in self.shares):
            return "boolean"
        if all(isinstance(value, int | float) and not isinstance(value, bool) for value in self.shares):
            return "integer" if all(isinstance(value, int) for value in self.shares) else "numeric"
        return "category"

    def quantile(self, u: Floats) -> NDArray[Any]:
        """The value at each rank."""
        table = np.empty(len(self.shares), dtype=object)
        table[:] = list(self.shares)
        upper = np.cumsum(list(self.shares.values()))[:-1]
        values: NDArray[Any] = table[np.searchsorted(upper, u, side="left")]
        dtypes: dict[str, Any] = {"boolean": bool, "integer": np.int64, "numeric": float}
        return values.astype(dtypes[self.kind]) if self.kind in dtypes else values


@dataclass(frozen=True)
class _Number(ABC):
    low: float = -math.inf
    high: float = math.inf
    whole: bool = False
    decimals: int | None = None
    missing: float = 0.0

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise SpecError(f"Bounds must satisfy low < high; got low={self.low:g}, high={self.high:g}.")
        _check_missing(self.missing)

    @property
    def kind(self) -> Kind:
        """The kind of column it makes."""
        return "integer" if self.whole else "numeric"

    def quantile(self, u: Floats) -> NDArray[Any]:
        """The value at each rank: the distribution truncated to its bounds, then rounded."""
        start, end = self._rank(self.low), self._rank(self.high)
        if not end - start > 1e-12:
            raise SpecError(f"The bounds [{self.low:g}, {self.high:g}] contain none of the distribution; widen them.")
        values = np.clip(self._value(start + u * (end - start)), self.low, self.high)
        if self.whole:
            return np.rint(values).astype(np.int64)
        return values if self.decimals is None else np.round(values, self.decimals)

    @abstractmethod
    def _rank(self, x: float) -> float:
        """The share of the distribution below a number, without bounds."""

    @abstractmethod
    def _value(self, u: Floats) -> Floats:
        """The number at each rank, without bounds."""


@dataclass(frozen=True, kw_only=True)
class Normal(_Number):
    """Normal numbers, truncated to bounds.

    >>> Normal(mean=40, sd=10, low=18, whole=True).quantile(np.array([0.5])).tolist()
    [40]
    """

    mean: float
    sd: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.sd > 0:
            raise SpecError(f"`sd` must be above 0; got {self.sd}.")

    def _rank(self, x: float) -> float:
        from scipy.special import ndtr

        return float(ndtr((x - self.mean) / self.sd))

    def _value(self, u: Floats) -> Floats:
        from scipy.special import ndtri

        return self.mean + self.sd * np.asarray(ndtri(u), dtype=float)


@dataclass(frozen=True, kw_only=True)
class LogNormal(_Number):
    """Numbers whose logarithm is normal: incomes, debts, durations.

    >>> LogNormal(median=3000, sigma=0.6, decimals=0).quantile(np.array([0.5])).tolist()
    [3000.0]
    """

    median: float
    sigma: float
    low: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.median > 0 and self.sigma > 0 and self.low >= 0):
            raise SpecError("`median` and `sigma` of a lognormal must be above 0, its bounds not negative.")

    def _rank(self, x: float) -> float:
        from scipy.special import ndtr

        return 0.0 if x <= 0 else float(ndtr((math.log(x) - math.log(self.median)) / self.sigma))

    def _value(self, u: Floats) -> Floats:
        from scipy.special import ndtri

        return self.median * np.exp(self.sigma * np.asarray(ndtri(u), dtype=float))


@dataclass(frozen=True, kw_only=True)
class Uniform(_Number):
    """Numbers spread evenly between two bounds; whole ones include both.

    >>> Uniform(low=1, high=6, whole=True).quantile(np.array([0.01, 0.99])).tolist()
    [1, 6]
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (math.isfinite(self.low) and math.isfinite(self.high)):
            raise SpecError("A uniform distribution needs finite `low` and `high`.")

    def _rank(self, x: float) -> float:
        return 0.0 if x == self.low else 1.0

    def _value(self, u: Floats) -> Floats:
        if self.whole:
            return np.clip(np.floor(self.low + u * (self.high - self.low + 1)), self.low, self.high)
        return self.low + u * (self.high - self.low)


Distribution = Categories | Normal | LogNormal | Uniform
_NAMES: dict[str, type[Any]] = {"normal": Normal, "lognormal": LogNormal, "uniform": Uniform}


def read_distribution(given: Any) -> Distribution:
    """A distribution, or a plain mapping that describes one."""
    if isinstance(given, Categories | Normal | LogNormal | Uniform):
        return given
    if not isinstance(given, Mapping):
        raise SpecError(f"must be a distribution such as {{'normal': {{'mean': 0, 'sd': 1}}}}; got {given!r}.")
    rest = {key: value for key, value in given.items() if key not in (*_NAMES, "categories")}
    chosen = [key for key in given if key in (*_NAMES, "categories")]
    if len(chosen) != 1 or set(rest) - {"missing"}:
        raise SpecError(f"must name one of categories, {', '.join(_NAMES)} (and maybe missing); got {list(given)}.")
    if chosen[0] == "categories":
        return Categories(given["categories"], **rest)
    options = {**given[chosen[0]], **rest}
    made = _NAMES[chosen[0]]
    allowed = [item.name for item in fields(made)]
    for key in options:
        if key not in allowed:
            raise SpecError(f"{chosen[0]} takes {', '.join(allowed)}; got {key!r}.{close_to(key, allowed)}")
    try:
        distribution: Distribution = made(**options)
    except TypeError as error:
        raise SpecError(f"{chosen[0]} takes {', '.join(allowed)} as numbers; got {options} ({error}).") from None
    return distribution


def _check_missing(share: float) -> None:
    if not 0 <= share < 1:
        raise SpecError(f"`missing` is the share of missing values and must lie in [0, 1); got {share}.")
