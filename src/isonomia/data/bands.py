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
        """One name a band, from the lowest to the highest."""
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


def _numbers(given: Any, column: str) -> tuple[float, ...]:
    try:
        return tuple(float(edge) for edge in given)
    except (TypeError, ValueError):
        raise SpecError(f"The band edges of '{column}' must be numbers; got {given!r}.") from None
