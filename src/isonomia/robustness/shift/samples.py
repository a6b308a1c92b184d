"""One column of a sample: its rows in memory, or its values as an engine counted them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isonomia.data import Dataset
from isonomia.data.engines.engine import Key
from isonomia.errors import DataError
from isonomia.typing import Floats

#: Numbers with more different values than memory allows are counted in this many bins.
FINE_BINS = 65_536


@dataclass(frozen=True, eq=False)
class Sample:
    """The rows that a column is read from; `bins` are those that its numbers were counted in, where they were.

    Attributes
    ----------
    data : Dataset
    edges : (low, high) or None
        Ends of the bins.
    """

    data: Dataset
    edges: tuple[float, float] | None = None

    @property
    def weights(self) -> Floats | None:
        """One weight per row of the table, or None."""
        return self.data.weights

    @property
    def counts(self) -> NDArray[np.int64] | None:
        """How many rows each row of the table stands for; None where each is a row of its own."""
        return self.data.counts


def in_bins(values: Floats, edges: tuple[float, float] | None) -> Floats:
    """Numbers as the middles of bins between two ends, so that two samples lie on the same values."""
    if edges is None:
        return values
    low, high = edges
    width = (high - low) / FINE_BINS
    index = np.clip(np.floor((values - low) / width), 0, FINE_BINS - 1)
    return np.where(np.isnan(values), np.nan, low + (index + 0.5) * width)


def samples(one: Dataset, two: Dataset, names: Sequence[str]) -> Mapping[str, tuple[Sample, Sample]]:
    """Each column of both datasets."""
    parts: list[dict[str, Dataset | None]] = [_values(data, names) for data in (one, two)]
    wide = [name for name in names if any(part[name] is None for part in parts)]
    edges = {name: _ends(one, two, name) for name in wide}
    for data, part in zip((one, two), parts, strict=True):
        if data.engine is not None and wide:
            keys = [[Key(column=name, form="bins", edges=edges[name], bins=FINE_BINS)] for name in wide]
            part |= dict(zip(wide, data.beside(keys, outcomes=False), strict=True))
    out = {}
    for name in names:
        first, second = (part[name] for part in parts)
        if first is None or second is None:
            raise _too_many(name)
        out[name] = Sample(first, edges.get(name)), Sample(second, edges.get(name))
    return out


def _values(data: Dataset, names: Sequence[str]) -> dict[str, Dataset | None]:
    """The rows of each column: those in memory, or its values with their counts; None where there are too many."""
    if data.engine is None:
        return dict.fromkeys(names, data)
    keys = [[Key(column=name, form="day" if data.kinds[name] == "datetime" else "value")] for name in names]
    return dict(zip(names, data.beside(keys, outcomes=False), strict=True))


def _ends(one: Dataset, two: Dataset, name: str) -> tuple[float, float]:
    ends = []
    for data in (one, two):
        if data.kinds[name] not in ("numeric", "integer"):
            raise _too_many(name)
        if data.engine is not None:
            ends.append(data.engine.profile(ends=[name]).ends[name])
        else:
            values = np.asarray(data.column(name).to_numpy(), dtype=float)
            known = values[np.isfinite(values)]
            ends.append((float(known.min()), float(known.max())) if known.size else None)
    lows, highs = zip(*(end for end in ends if end is not None), strict=True)
    low, high = min(lows), max(highs)
    return low, high if high > low else low + 1.0


def _too_many(name: str) -> DataError:
    return DataError(
        f"'{name}' has too many different values to be counted within the memory given. Leave it out with "
        "features=[...], or give more memory."
    )
