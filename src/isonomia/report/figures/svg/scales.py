"""Axes of a drawing: from values to pixels, with round numbers at the ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from isonomia.report.figures.svg.elements import lines_of

Json = Mapping[str, Any]
#: How much of its length an axis leaves free at either end.
PADDING = 0.06


@dataclass(frozen=True)
class Scale:
    """One axis: the values at its two ends, and the pixels they are drawn at.

    >>> Scale(0, 10, 100, 200).at(2.5), Scale(1, 100, 0, 50, log=True).at(10)
    (125.0, 25.0)
    """

    start: float
    end: float
    first: float = 0.0
    last: float = 1.0
    log: bool = False

    def at(self, value: float) -> float:
        """The pixel of a value."""
        start, end, value = (math.log10(v) for v in (self.start, self.end, value)) if self.log else self._values(value)
        return self.first + (value - start) / (end - start) * (self.last - self.first)

    def _values(self, value: float) -> tuple[float, float, float]:
        return self.start, self.end, value

    def over(self, first: float, last: float) -> Scale:
        """The same values over other pixels."""
        return replace(self, first=first, last=last)

    def shows(self, value: Any) -> bool:
        """Whether a value can be drawn on this axis."""
        return isinstance(value, int | float) and math.isfinite(value) and not (self.log and value <= 0)

    @property
    def step(self) -> float:
        """Pixels from one whole number to the next."""
        return abs(self.last - self.first) / abs(self.end - self.start)


@dataclass(frozen=True)
class Tick:
    """A value on an axis, and the lines of its label."""

    value: float
    label: list[str]


def scale_of(axis: Json, values: Iterable[Any], zero: bool = False) -> Scale:
    """The scale of an axis that shows these values; with `zero` it starts at zero without a gap, as bars do.

    >>> scale_of({}, [0.0, 0.0], zero=True).end
    0.5
    """
    log = axis.get("type") == "log"
    known = [float(v) for v in values if isinstance(v, int | float) and math.isfinite(v) and not (log and v <= 0)]
    if axis.get("range"):
        start, end = axis["range"]
        return Scale(float(start), float(end), log=log)
    low, high = min(known, default=0.0), max(known, default=1.0)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if log:
        low, high = (low or 1.0) / 1.2, (high or 10.0) * 1.2
    else:
        gap = (high - low) * PADDING or margin(high)
        flat = low == high  # nothing but zeros: the axis still needs a length
        low, high = (low if zero and low == 0 else low - gap), (high if zero and high == 0 and not flat else high + gap)
    reverse = axis.get("autorange") == "reversed"
    return Scale(high, low, log=log) if reverse else Scale(low, high, log=log)


def margin(value: float) -> float:
    """How far a scale goes beyond its only value, however large that is.

    >>> margin(0.0), margin(1e18)
    (0.5, 1e+17)
    """
    return max(abs(value) * 0.1, 0.5)


def ticks(axis: Json, scale: Scale, most: int, separators: str) -> list[Tick]:
    """The ticks of an axis: those it names, or round numbers, at most about `most` of them."""
    if axis.get("tickvals") is not None:
        named: Sequence[Any] = axis.get("ticktext") or axis["tickvals"]
        return [Tick(float(v), lines_of(text)) for v, text in zip(axis["tickvals"], named, strict=True)]
    style = str(axis.get("tickformat") or "")
    low, high = sorted((scale.start, scale.end))
    if scale.log:
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        factors = (1,) if len(powers) > 4 else (1, 2, 5)
        values = [factor * 10.0**power for power in powers for factor in factors]
        return [Tick(v, [_swap(f"{v:,g}", separators)]) for v in values if low <= v <= high]
    step = round_step((high - low) / max(1, min(most, axis.get("nticks") or most)))
    step = max(1.0, step) if style == ",d" else step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [Tick(index * step, [_written(index * step, step, style, separators)]) for index in range(first, last + 1)]


def round_step(rough: float) -> float:
    """The next of 1, 2, 2.5, 5 times a power of ten.

    >>> round_step(0.03), round_step(7)
    (0.05, 10.0)
    """
    power = 10.0 ** math.floor(math.log10(rough))
    return next((factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * (1 - 1e-9)), 10 * power)


def _written(value: float, step: float, style: str, separators: str) -> str:
    """A tick's number with as many decimals as tell it from its neighbours."""
    share = style.endswith("%")
    value, step = (100 * value, 100 * step) if share else (value, step)
    if not share and (abs(value) >= 1e7 or step < 1e-4):
        return _swap(f"{value:.3g}", separators)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    if decimals <= 8 and abs(round(step, decimals) - step) > step * 1e-6:  # a step of 0.25 needs one more
        decimals += 1
    return _swap(f"{value + 0.0:,.{decimals}f}" + ("%" if share else ""), separators).replace("-0%", "0%")


def _swap(text: str, separators: str) -> str:
    """A number with the language's decimal mark and thousands separator."""
    return text.translate(str.maketrans(".,", separators))
