"""What is usual of a feature, and which values of some rows are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isonomia.counting import Codes
from isonomia.counting.cuts import as_floats
from isonomia.data import Dataset
from isonomia.languages.naming import number
from isonomia.typing import Floats

#: Spread of a normal distribution over its median absolute deviation.
NORMAL = 1.4826


@dataclass(frozen=True, kw_only=True)
class Usual:
    """What is usual of a feature: the median and the spread of its numbers, or the share of rows of each category."""

    middle: float = 0.0
    spread: float = 0.0
    shares: Mapping[Any, float] | None = None

    @classmethod
    def of_numbers(cls, values: Floats) -> Usual:
        """Of numbers: the spread is 1.4826 median absolute deviations, or the standard deviation where that is 0.

        >>> Usual.of_numbers(np.array([1.0, 2.0, 3.0, 4.0, 100.0]))
        Usual(middle=3.0, spread=1.4826, shares=None)
        """
        middle = float(np.median(values))
        return cls(middle=middle, spread=NORMAL * float(np.median(np.abs(values - middle))) or float(values.std()))

    @classmethod
    def of_categories(cls, column: Codes, counts: Floats) -> Usual:
        """Of categories that so many rows have."""
        return cls(shares=dict(zip(column.labels, (counts / counts.sum()).tolist(), strict=True)))


def is_category(data: Dataset, name: str) -> bool:
    """Whether values of a column are compared by how many rows have them."""
    return data.kinds[name] in ("category", "boolean")


def usual_in_rows(data: Dataset, names: Sequence[str]) -> dict[str, Usual]:
    """What is usual of some columns of rows in memory; columns without any number are left out."""
    out = {}
    for name in names:
        if is_category(data, name):
            column = Codes.encode(data.column(name), name=name)
            out[name] = Usual.of_categories(column, column.counts().astype(float))
            continue
        values = as_floats(data, name)
        if np.isfinite(values).any():
            out[name] = Usual.of_numbers(values[np.isfinite(values)])
    return out


def unusual_values(
    usual: Mapping[str, Usual], rows: Dataset, *, far: float, rare: float
) -> list[list[tuple[str, str, float | None]]]:
    """For each row the features that are unusual: name, value and how far out (spreads), how rare (share) or missing.

    A number is unusual where it lies more than `far` spreads from the median; a category where less than a share `rare`
    of the rows has it.
    """
    out: list[list[tuple[str, str, float | None]]] = [[] for _ in range(len(rows))]
    for name, own in usual.items():
        if own.shares is not None:
            column = Codes.encode(rows.column(name), name=name)
            for found, code in zip(out, column.codes.tolist(), strict=True):
                if code == column.missing:
                    found.append((name, "", None))
                elif (share := own.shares[column.labels[code]]) < rare:
                    found.append((name, column.text(code), share))
            continue
        for found, value in zip(out, as_floats(rows, name).tolist(), strict=True):
            if not np.isfinite(value):
                found.append((name, "", None))
            elif own.spread > 0 and abs(value - own.middle) > far * own.spread:
                found.append((name, number(value), (value - own.middle) / own.spread))
    return out
