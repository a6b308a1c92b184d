"""Numeric attributes cut into named bands: ages into "under 25", "25 to 60", "60 and over"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isonomia.errors import DataError, SpecError
from isonomia.languages.naming import at_least, below, between


@dataclass(frozen=True, slots=True)
class Bands:
    """Edges e1 < ... < ek that cut numbers into k + 1 bands, closed on the left.

    Examples
    --------
    >>> Bands((25, 60)).labels
    ('< 25', '[25, 60)', '>= 60')
    >>> Bands((25,), ("young", "older")).cut([18, 25, None]).tolist()
    ['young', 'older', None]
    """

    edges: tuple[float, ...]
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.edges or any(not np.isfinite(edge) for edge in self.edges):
            raise SpecError(f"Bands need at least one finite edge; got {list(self.edges)}.")
        if list(self.edges) != sorted(set(self.edges)):
            raise SpecError(f"Band edges must rise without repeats; got {list(self.edges)}.")
        if self.names and len(self.names) != len(self.edges) + 1:
            raise SpecError(f"{len(self.edges)} edges make {len(self.edges) + 1} bands; got {len(self.names)} names.")

    @classmethod
    def of(cls, given: object, column: str) -> Bands:
        """Read `[25, 60]` or `{"edges": [25], "names": ["young", "older"]}`."""
        if isinstance(given, Bands):
            return given
        if isinstance(given, Mapping):
            unknown = set(given) - {"edges", "names"}
            if unknown or "edges" not in given:
                raise SpecError(
                    f"The bands of '{column}' must have 'edges' and may have 'names'; got {sorted(map(str, given))}."
                )
            return cls(_numbers(given["edges"], column), tuple(str(name) for name in given.get("names") or ()))
        if isinstance(given, Sequence) and not isinstance(given, str):
            return cls(_numbers(given, column))
        raise SpecError(f"The bands of '{column}' must be a list of edges such as [25, 60]; got {given!r}.")

    @property
    def labels(self) -> tuple[str, ...]:
        """One name per band, from the lowest to the highest."""
        if self.names:
            return self.names
        inner = [between(a, b) for a, b in zip(self.edges, self.edges[1:], strict=False)]
        return (below(self.edges[0]), *inner, at_least(self.edges[-1]))

    def cut(self, values: Any) -> np.ndarray[Any, Any]:
        """The band of each value; missing stays missing."""
        try:
            numbers = np.asarray(values, dtype=float)
        except (TypeError, ValueError):
            raise DataError(
                "Bands cut numbers, and this column contains other values. Drop the bands, or give a numeric column."
            ) from None
        labels = np.array([*self.labels, None], dtype=object)
        index = np.searchsorted(np.asarray(self.edges, dtype=float), numbers, side="right")
        index[np.isnan(numbers)] = len(self.labels)
        return labels[index]


#: Numbers with more different values than this are cut into bands where they are to form groups.
MAX_UNBANDED = 12
QUARTILES = [0.25, 0.5, 0.75]
#: How wide steps between round edges are, as multiples of a power of ten.
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def propose_bands(values: Any, counts: Any = None) -> Bands | None:
    """Bands for numbers with many different values: edges near the quartiles, rounded; None where few are different.

    Edges are multiples of 1, 2, 2.5 or 5 times a power of ten, about a quarter of the distance between the quartiles
    apart; those of whole numbers are whole. Every band contains at least one of the numbers. The same numbers give the
    same bands, in any order; `counts` says how often each of them occurs.

    >>> propose_bands(np.arange(18, 90)).labels
    ('< 35', '[35, 55)', '[55, 70)', '>= 70')
    >>> propose_bands([0, 1, 1, 2]) is None
    True
    """
    numbers = np.asarray(values, dtype=float)
    known = np.isfinite(numbers)
    numbers = numbers[known]
    if np.unique(numbers).size <= MAX_UNBANDED:
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # numbers near the largest floats
        if counts is None:
            quartiles = np.quantile(numbers, QUARTILES)
        else:
            quartiles = _counted_quantiles(numbers, np.asarray(counts)[known])
    rounded = _rounded(quartiles)
    if (numbers == np.floor(numbers)).all():  # nobody's age is 42.5: the same people are below 43
        rounded = sorted({float(np.ceil(edge)) for edge in rounded})
    inside = [edge for edge in rounded if numbers.min() < edge <= numbers.max()]
    edges: list[float] = []
    for edge in inside or [float(np.median(np.unique(numbers)))]:
        below_edge = numbers[numbers < edge]
        if not edges or (below_edge >= edges[-1]).any():
            edges.append(edge)
    return Bands(tuple(edges))


def _counted_quantiles(numbers: np.ndarray[Any, Any], counts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The quartiles of numbers that occur several times, as `numpy.quantile` has them of all."""
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(counts[order])
    position = np.array(QUARTILES) * (ends[-1] - 1)
    low, high = (
        numbers[order][np.searchsorted(ends, at, side="right")] for at in (np.floor(position), np.ceil(position))
    )
    return np.asarray(low + (position - np.floor(position)) * (high - low))


def _rounded(quartiles: np.ndarray[Any, Any]) -> list[float]:
    """The quartiles rounded to a step that fits their distance; once each."""
    spread = float(quartiles[2] - quartiles[0])
    if not np.isfinite(spread) or spread <= 0:
        return sorted({float(quartile) for quartile in quartiles if np.isfinite(quartile)})
    power = int(np.floor(np.log10(spread / 4)))
    step = max(width for width in _STEPS if width <= spread / 4 / 10.0**power * (1 + 1e-9))
    exponent, digits = (power - 1, int(step * 10)) if step == 2.5 else (power, int(step))
    return sorted({_multiple(float(quartile), digits, exponent) for quartile in quartiles})


def _multiple(value: float, digits: int, exponent: int) -> float:
    """The multiple of ``digits * 10 ** exponent`` next to a value, free of the dust of binary fractions."""
    count = round(value / (digits * 10.0**exponent))
    return float(f"{count * digits}e{exponent}")


def _numbers(given: Any, column: str) -> tuple[float, ...]:
    try:
        return tuple(float(edge) for edge in given)
    except (TypeError, ValueError):
        raise SpecError(f"The band edges of '{column}' must be numbers; got {given!r}.") from None
