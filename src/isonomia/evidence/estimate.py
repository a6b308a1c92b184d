"""A number and how sure we are of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from isonomia.languages import Message, Record
from isonomia.languages.naming import as_text


@dataclass(frozen=True, slots=True)
class Estimate(Record, kind="estimate"):
    """A figure with its interval; a missing one says why.

    Attributes
    ----------
    value : float or None
        The figure; None where it is not defined, with the reason in `note`.
    low, high : float or None
        Ends of the interval at `level`; None where none is given.
    n : int
        Rows behind the figure.
    method : str
        How the interval was made ("wilson", "score", "simultaneous", "hall", "bootstrap", "normal").
    note : str or None
        Why there is no value, or what to be careful about.
    level : float
        Confidence level of the interval.

    Examples
    --------
    >>> Estimate(0.25, 0.18, 0.34, n=120, method="wilson")
    0.25 [0.18, 0.34] (n=120)
    >>> Estimate.missing("no positive labels in the group")
    not available: no positive labels in the group
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    method: str = ""
    note: str | None = None
    level: float = 0.95

    def __post_init__(self) -> None:
        for name in ("value", "low", "high"):
            number = getattr(self, name)
            if number is not None:
                clean = None if math.isnan(number) else float(number)
                object.__setattr__(self, name, clean)
        if self.value is None and not self.note:
            raise ValueError("An Estimate without a value needs a note that says why.")

    @classmethod
    def missing(cls, reason: str | Message, *, n: int = 0) -> Estimate:
        """No figure, and the reason; a message is written in the reader's language."""
        return cls(None, n=n, note=as_text(reason))

    def __repr__(self) -> str:
        if self.value is None:
            return f"not available: {self.note}"
        interval = "" if self.low is None or self.high is None else f" [{self.low:.4g}, {self.high:.4g}]"
        return f"{self.value:.4g}{interval} (n={self.n})"

    def __float__(self) -> float:
        if self.value is None:
            raise ValueError(f"This estimate has no value: {self.note}")
        return self.value


def finite(value: Any) -> float | None:
    """The number as a float, None where it is missing or not finite.

    >>> finite(float("nan")), finite(2)
    (None, 2.0)
    """
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) else None
