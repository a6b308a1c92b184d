"""The largest figures of rows, found by counting: the k-th largest to the last digit, without sorting a row.

A figure is a function of one number of a row that rises or falls with it, and may be another function where rows have
other values in some columns: how far a probability is from what happened, say. Numbers are counted in bins, as `spread`
counts them. A bin tells within which limits the figures of its rows lie; those that a wanted rank may be in are cut.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isonomia.data.engines.engine import Engine, Ranges
from isonomia.data.engines.spread import PASSES, cut_bins
from isonomia.errors import NotApplicable
from isonomia.languages import msg
from isonomia.typing import Floats

#: Limits of a figure: (index of the group of each bin, its smallest and its largest number) -> (lowest, highest).
Limits = Callable[[NDArray[np.intp], Floats, Floats], tuple[Floats, Floats]]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure of rows.

    Attributes
    ----------
    limits : callable
        (groups, lows, highs) -> the lowest and the highest figure of numbers from low to high; groups are indexes into
        the `groups` that rows are counted by, 0 where they are not.
    ranks : sequence of int
        Which of the figures are wanted: 1 is the largest one.
    """

    limits: Limits
    ranks: Sequence[int]


def ranked(
    engine: Engine,
    figures: Mapping[str, Figure],
    *,
    known: str | None = None,
    by: Sequence[str] = (),
    groups: Sequence[tuple[object, ...]] = ((),),
    first: Mapping[str, Ranges] | None = None,
) -> dict[str, Floats]:
    """For each column of numbers the figures at the ranks asked for.

    Parameters
    ----------
    engine : Engine
    figures : mapping
        Column -> figure of its numbers; all columns are counted in the same statements.
    known : str, optional
        A column: only rows that have a value there count.
    by, groups
        Columns whose values decide about the figure, and the combinations of their values that there are.
    first : mapping of Ranges, optional
        Bins of columns that were counted before, by the same rows.

    Examples
    --------
    >>> import polars as pl
    >>> from isonomia.data.engines.lazy import LazyEngine
    >>> def size(groups, low, high):
    ...     inside = (low < 0) & (high > 0)
    ...     return np.where(inside, 0, np.minimum(abs(low), abs(high))), np.maximum(abs(low), abs(high))
    >>> engine = LazyEngine(pl.LazyFrame({"x": [5.0, -7.0, 1.0, -2.0, None]}))
    >>> ranked(engine, {"x": Figure(limits=size, ranks=[1, 3])})["x"].tolist()
    [7.0, 2.0]
    """
    bins: dict[str, Ranges] = dict(first or {})
    ends = engine.profile(ends=list(figures)).ends
    wanted = {name: [end] for name in figures if name not in bins and (end := ends[name]) is not None}
    index = {group: place for place, group in enumerate(groups)}
    for last in range(PASSES + 1):
        if not wanted:
            wanted = _unclear_bins(figures, bins, index)
        if not wanted:
            return {name: np.array(_settled(figures[name], bins[name], index)) for name in figures}
        if last == PASSES:
            break
        cut_bins(engine, bins, wanted, known=known, by=by)
        wanted = {}
    raise too_many_passes(list(wanted))


def too_many_passes(names: Sequence[str]) -> NotApplicable:
    """That ranks of some columns could not be found."""
    return NotApplicable(msg("{columns} cannot be ranked in so few passes over the rows", columns=", ".join(names)))


def _unclear_bins(
    figures: Mapping[str, Figure], bins: Mapping[str, Ranges], index: Mapping[tuple[object, ...], int]
) -> dict[str, list[tuple[float, float]]]:
    """The bins of several numbers that a wanted figure may be in, by column."""
    out = {}
    for name, figure in figures.items():
        low, high = _limits(figure, bins[name], index)
        hit = np.zeros(low.size, dtype=bool)
        for rank in figure.ranks:
            least, most = (_largest(end, bins[name].n, rank) for end in (low, high))
            hit |= (low < high) & (high > least) & (low < most)
        if hit.any():
            found = zip(bins[name].low[hit].tolist(), bins[name].high[hit].tolist(), strict=True)
            out[name] = sorted(set(found))
    return out


def _settled(figure: Figure, bins: Ranges, index: Mapping[tuple[object, ...], int]) -> list[float]:
    low, _ = _limits(figure, bins, index)
    return [_largest(low, bins.n, rank) for rank in figure.ranks]


def _limits(figure: Figure, bins: Ranges, index: Mapping[tuple[object, ...], int]) -> tuple[Floats, Floats]:
    groups = zip(*bins.by, strict=True) if bins.by else [()] * bins.n.size
    places = np.fromiter((index[group] for group in groups), dtype=np.intp, count=bins.n.size)
    return figure.limits(places, bins.low, bins.high)


def _largest(values: Floats, counts: NDArray[np.int64], rank: int) -> float:
    """The value at a rank, from the largest, of values that occur so often."""
    order = np.argsort(-values, kind="stable")
    place = int(np.searchsorted(np.cumsum(counts[order]), rank))
    return float(values[order[place]])
