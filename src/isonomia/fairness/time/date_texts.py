"""Texts that are dates, as days: year first, or year last with the order of day and month read off the values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import DataError

#: Two or three numbers between the same marks, and whatever time of day follows.
_DATE = re.compile(r"(\d{1,4})([-/.])(\d{1,4})(?:\2(\d{1,4}))?(?:[ T].*)?")
_MONTHS = 12


def days_of(texts: Iterable[str | None]) -> NDArray[Any] | None:
    """The day of each text, not-a-time where it is missing; None where the texts are not dates.

    >>> days_of(["31/01/2025", None, "01/02/2025"]).astype(str).tolist()
    ['2025-01-31', 'NaT', '2025-02-01']
    >>> days_of(["12/2024", "01/2025"]).astype(str).tolist()
    ['2024-12-01', '2025-01-01']
    """
    rows = list(texts)
    found = {text: _DATE.fullmatch(text) for text in set(rows) if text}
    split = {text: [part for part in (match[1], match[3], match[4]) if part] for text, match in found.items() if match}
    if not split or len(split) < len(found) or not all(len(parts) == 3 or _years(parts) for parts in split.values()):
        return None
    days = _in_order(split)
    try:
        return np.array([days[text] if text else "NaT" for text in rows], dtype="datetime64[D]")
    except ValueError:  # there is no such day
        return None


def _years(parts: list[str]) -> bool:
    """Whether one of the numbers is a year: only years have four digits."""
    return any(len(part) == 4 for part in parts)


def _in_order(split: dict[str, list[str]]) -> dict[str, str]:
    """Each text's numbers as year-month-day."""
    if all(len(parts[0]) == 4 for parts in split.values()):
        return {text: _day(*parts) for text, parts in split.items()}
    if all(len(parts[-1]) == 4 for parts in split.values()):
        dates = [parts for parts in split.values() if len(parts) == 3]
        first, second = (any(int(parts[place]) > _MONTHS for parts in dates) for place in (0, 1))
        if first != second or not dates:  # one of them has numbers that are no months
            return {text: _day(*(parts[::-1] if first else (parts[-1], *parts[:-1]))) for text, parts in split.items()}
    example = min(text for text, parts in split.items() if len(parts[0]) < 4)
    raise DataError(
        f"Times such as {example!r} can be read as different dates. Write them as year-month-day: 2025-01-31."
    )


def _day(year: str, *rest: str) -> str:
    return "-".join((year, *(part.zfill(2) for part in rest)))
