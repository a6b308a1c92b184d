"""How the numbers of a column are spread, found by counting: quantiles to the last digit, without sorting a row.

Numbers are counted in bins of equal width, each with its smallest and largest number. Where a wanted rank falls into a
bin of several numbers, that bin is cut into bins again, and so on; one with few rows is cut into its single numbers.
Every engine can count, so quantiles are the same on all of them, and those that `numpy.quantile` has of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isonomia.data.engines.engine import Engine, Ranges
from isonomia.typing import Floats

#: Bins of a column in one pass, and how often bins are cut into bins, at most.
BINS, PASSES = 16_384, 6
#: Bins to be cut are cut into single numbers where they hold at most so many rows of each column.
SINGLE_ROWS = 65_536
#: A bin that is one of a few to be cut is first cut at these many orders of a thousand below its ends.
_ORDER, _ORDERS, _MANY = 1000.0, 6, 4


@dataclass(frozen=True, kw_only=True)
class Spread:
    """The finite numbers of a column.

    Attributes
    ----------
    n : int
        How many there are.
    shares : tuple of float
        At which quantiles were asked for.
    quantiles : array
        As ``numpy.quantile`` has them; all NaN where there is no number.
    values : array or None
        The different numbers, where they are few.
    bins : Ranges
        All numbers in bins.
    rank_error : float
        By how much the share of smaller numbers can differ from what was asked, at most: 0 where quantiles are exact.
    """

    n: int
    shares: tuple[float, ...]
    quantiles: Floats
    values: Floats | None
    bins: Ranges
    rank_error: float = 0.0

    @property
    def low(self) -> float:
        """The smallest number."""
        return float(self.bins.low[0])

    @property
    def high(self) -> float:
        """The largest number."""
        return float(self.bins.high[-1])


def spread_of(
    engine: Engine, names: Sequence[str], shares: Sequence[float], *, few: int = 0, known: str | None = None
) -> dict[str, Spread]:
    """Quantiles at these shares of columns of numbers, and their values where at most `few` are different.

    Parameters
    ----------
    engine : Engine
    names : sequence of str
        Columns of numbers; all are counted in the same statements.
    shares : sequence of float
        From 0 to 1.
    few : int
    known : str, optional
        A column: only rows that have a value there count.

    Examples
    --------
    >>> import polars as pl
    >>> from isonomia.data.engines.lazy import LazyEngine
    >>> found = spread_of(LazyEngine(pl.LazyFrame({"x": [5.0, 1e9, 1.0, 2.0, None]})), ["x"], [0.0, 0.5, 1.0], few=4)
    >>> found["x"].quantiles.tolist(), found["x"].values.tolist()
    ([1.0, 3.5, 1000000000.0], [1.0, 2.0, 5.0, 1000000000.0])
    """
    ends = engine.profile(ends=names).ends
    bins: dict[str, Ranges] = {}
    wanted: dict[str, list[tuple[float, float]]] = {name: [end] for name in names if (end := ends[name]) is not None}
    for _ in range(PASSES):
        if not wanted:
            break
        cut_bins(engine, bins, wanted, known=known)
        wanted = {name: unclear for name in wanted if (unclear := _unclear(bins[name], shares, few))}
    return {name: _spread(bins.get(name), shares, few) for name in names}


def cut_bins(
    engine: Engine,
    bins: dict[str, Ranges],
    wanted: Mapping[str, list[tuple[float, float]]],
    *,
    known: str | None,
    by: Sequence[str] = (),
) -> None:
    """Count numbers in more bins of the columns where these are `wanted`, in one pass over the rows."""
    single = all(name in bins and _rows_in(bins[name], own) <= SINGLE_ROWS for name, own in wanted.items())
    pieces = {name: own if single else _pieces_of(own, geometric=name in bins) for name, own in wanted.items()}
    most = max(len(own) for own in pieces.values())
    found = engine.ranges(pieces, bins=0 if single else max(2, BINS // most), known=known, by=by)
    for name, own in found.items():
        bins[name] = own if name not in bins else _refined(bins[name], wanted[name], own)


def _rows_in(bins: Ranges, wanted: Sequence[tuple[float, float]]) -> int:
    """How many rows the bins to be cut have."""
    return int(bins.n[np.isin(bins.low, [low for low, _ in wanted])].sum())


def _pieces_of(wanted: Sequence[tuple[float, float]], *, geometric: bool) -> list[tuple[float, float]]:
    """Bins to be cut, those over several orders of magnitude first into pieces of growing width.

    Equal widths alone would take many passes where most numbers are small and a few are very large.
    """
    out: list[tuple[float, float]] = []
    for low, high in wanted:
        edges = [low]
        if geometric and len(wanted) <= _MANY:
            steps = [-(end * _ORDER**-k) for end in (-low,) if low < 0 for k in range(1, _ORDERS)]
            steps += [0.0] + [high * _ORDER ** -(_ORDERS - k) for k in range(1, _ORDERS) if high > 0]
            edges += [edge for edge in steps if low < edge < high]
        ends = [*(float(np.nextafter(edge, -np.inf)) for edge in edges[1:]), high]
        out += zip(edges, ends, strict=True)
    return out


def _refined(bins: Ranges, wanted: Sequence[tuple[float, float]], found: Ranges) -> Ranges:
    """The bins, those that were cut replaced by their own."""
    cut = np.isin(bins.low, [low for low, _ in wanted])
    n, low, high = (np.concatenate([getattr(bins, part)[~cut], getattr(found, part)]) for part in ("n", "low", "high"))
    order = np.argsort(low, kind="stable")
    left = np.flatnonzero(~cut).tolist()
    by = [[*(old[place] for place in left), *new] for old, new in zip(bins.by, found.by, strict=True)]
    values = tuple(tuple(column[place] for place in order.tolist()) for column in by)
    return Ranges(n=n[order], low=low[order], high=high[order], by=values)


def _unclear(bins: Ranges, shares: Sequence[float], few: int) -> list[tuple[float, float]]:
    """The bins of several numbers that a wanted rank falls into; all of them while numbers may still be few."""
    several = bins.low < bins.high
    if bins.n.size > few:
        hit = np.zeros(bins.n.size, dtype=bool)
        for index in _bins_of_ranks(bins, shares)[:2]:
            hit[index] = True
        several &= hit
    return list(zip(bins.low[several].tolist(), bins.high[several].tolist(), strict=True))


def _bins_of_ranks(bins: Ranges, shares: Sequence[float]) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """The bins of the two neighbouring ranks that each quantile lies between, and how far it is from the first."""
    ends = np.cumsum(bins.n)
    place = np.asarray(shares, dtype=float) * (ends[-1] - 1)
    below = np.floor(place)
    first, second = (np.searchsorted(ends, rank, side="right") for rank in (below, np.ceil(place)))
    return first, second, place - below


def _spread(bins: Ranges | None, shares: Sequence[float], few: int) -> Spread:
    if bins is None or not bins.n.size:
        none = Ranges(n=np.empty(0, dtype=np.int64), low=np.empty(0), high=np.empty(0))
        return Spread(n=0, shares=tuple(shares), quantiles=np.full(len(shares), np.nan), values=None, bins=none)
    first, second, part = _bins_of_ranks(bins, shares)
    total = int(bins.n.sum())
    clear = bins.low == bins.high
    middle = np.where(clear, bins.low, bins.low + (bins.high - bins.low) / 2)
    below, above = middle[first], middle[second]
    # as NumPy rounds: from the nearer end
    found = np.where(part >= 0.5, above - (above - below) * (1 - part), below + (above - below) * part)
    open_bins = np.unique(np.concatenate([first[~clear[first]], second[~clear[second]]]))
    return Spread(
        n=total,
        shares=tuple(shares),
        quantiles=found,
        values=bins.low if clear.all() and bins.n.size <= few else None,
        bins=bins,
        rank_error=float(bins.n[open_bins].max() / total) if open_bins.size else 0.0,
    )
