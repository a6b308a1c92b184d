"""Intervals as whiskers around a mark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from isonomia.report.figures.reading import Reading


def whiskers(
    reading: Reading, value: str, rows: Sequence[Mapping[str, Any]], thickness: float = 1.6, color: str | None = None
) -> dict[str, Any] | None:
    """Plotly's error bars from the ends of the figures' intervals; None where the table has no intervals."""
    low, high = reading.interval(value)
    if low is None or high is None:
        return None
    ups, downs = [], []
    figures = zip(reading.numbers(value, rows), reading.numbers(low, rows), reading.numbers(high, rows), strict=True)
    for middle, bottom, top in figures:
        known = middle is not None and bottom is not None and top is not None
        ups.append(max(0.0, top - middle) if known else 0.0)  # type: ignore[operator]
        downs.append(max(0.0, middle - bottom) if known else 0.0)  # type: ignore[operator]
    bars = {"type": "data", "symmetric": False, "array": ups, "arrayminus": downs, "thickness": thickness, "width": 4}
    return bars if color is None else {**bars, "color": color}
