"""Functions of a user's over sets of rows, with intervals that ask them a few times for each set.

What a call costs is not known before, and a result must not depend on a clock. So the number of calls follows from the
rows alone: a bootstrap of 200 samples of three functions of scikit-learn, ten groups and 1,000 rows took 5 seconds of
processor time; the routes here take 6 (two classes, no weights) to 41 calls for each group.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import count_by
from isonomia.evidence.mean_intervals import FEWEST_OF_CLASS
from isonomia.languages import Message, msg
from isonomia.metrics._row_figures import ALL_EQUAL, ONE_ROW, few_of_class
from isonomia.metrics._table_figures import TableEnds
from isonomia.metrics.measured import Measured, percentile_ends
from isonomia.metrics.own_functions import OwnFunction
from isonomia.metrics.registry import Metric
from isonomia.metrics.row_sets import RowSets
from isonomia.typing import Floats

#: Bootstrap samples of a function at most: each of them calls it once for every set.
MAX_SAMPLES = 200
#: Cells of a table at most for asking what one more row in each of them changes; else rows are left out.
MAX_CELLS = 25
#: Rows are left out one by one up to so many, else in so many parts.
ONE_BY_ONE, PARTS = 40, 20
NOT_ASKED = msg("`n_boot` is 0, which leaves it out")
STUCK = msg("the function gives no number when some of the rows are changed")


@dataclass(frozen=True)
class _Spread:
    """The middle of an interval, the standard error and its degrees of freedom; or why there is none."""

    centre: float = np.nan
    error: float = np.nan
    df: float = np.inf
    reason: Message | None = None


def of_function(metric: Metric, sets: RowSets, n_boot: int, seed: int, level: float) -> Measured:
    """The function over every set; without intervals where `n_boot` is 0.

    Two and more classes without weights or scores: the function depends on rows through the confusion table alone, and
    the interval is that of `of_counts`, with what one more row in a cell changes as the derivative (of two classes
    after one row was added to each cell). Otherwise rows are left out, one by one up to 40 and in 20 parts beyond: the
    jackknife, with Student's t for the number of parts.

    References
    ----------
    B. Efron (1982), The jackknife, the bootstrap and other resampling plans, ch. 3 and 6; F. M. T. A. Busing, E.
    Meijer, R. van der Leeden (1999), Delete-m jackknife for unequal m, Statistics and Computing 9:3.
    """
    assert metric.function is not None  # the registry makes sure
    own = OwnFunction(metric.function, metric.id, sets.rows)
    members = [_rows_of(rows, sets) for _, rows in sets.each()]
    asked = [own.of_rows(rows) for rows in members]
    value, reasons = np.array([one for one, _ in asked], dtype=float), tuple(reason for _, reason in asked)
    n = np.array([rows.size for rows in members])
    found = Measured(
        metric=metric,
        value=value,
        low=np.full(value.shape, np.nan),
        high=np.full(value.shape, np.nan),
        n=n,
        size=n.astype(float),
        reasons=reasons,
        unsure=(NOT_ASKED,) * len(members),
    )
    if not n_boot:
        return found
    if metric.interval == "bootstrap":
        return _resampled(found, own, members, sets, min(n_boot, MAX_SAMPLES), seed, level)
    tables = sets.tables(sets.counts.n) if _tabulated(own, sets) else [None] * len(members)
    spreads = [
        _Spread() if np.isnan(one) else _spread(own, rows, table, float(one), np.random.default_rng([seed, index]))
        for index, (rows, table, one) in enumerate(zip(members, tables, value, strict=True))
    ]
    centre, error, df = (np.array([getattr(one, name) for one in spreads]) for name in ("centre", "error", "df"))
    ends = TableEnds(value, centre, error, df, metric.range)
    low, high = ends.at((1 - level) / 2)
    return replace(
        found,
        low=low,
        high=high,
        error=error,
        ends=ends,
        method="delta" if _tabulated(own, sets) else "jackknife",
        unsure=tuple(one.reason for one in spreads),
    )


def _rows_of(rows: NDArray[Any], sets: RowSets) -> NDArray[np.intp]:
    """The rows of a set, each as often as it counts."""
    index = np.flatnonzero(rows) if rows.dtype == bool else rows
    return index if sets.rows.counts is None else np.repeat(index, sets.rows.counts[index])


def _tabulated(own: OwnFunction, sets: RowSets) -> bool:
    """Whether the function depends on rows through the confusion table alone."""
    return own.weights is None and own.score is None and sets.rows.surface.label is not None


def _spread(
    own: OwnFunction, rows: NDArray[np.intp], table: Floats | None, value: float, rng: np.random.Generator
) -> _Spread:
    if rows.size == 1:
        return _Spread(reason=ONE_ROW)
    several = len(own.classes) > 2
    smallest = _smallest(own, rows) if several else rows.size
    if several and smallest < FEWEST_OF_CLASS:
        return _Spread(reason=few_of_class(FEWEST_OF_CLASS))
    if table is not None:
        occurs = (table.sum(axis=0) + table.sum(axis=1)) > 0
        if occurs.sum() ** 2 <= MAX_CELLS:
            return _of_table(own, table.astype(np.intp), np.outer(occurs, occurs), value, 2.0 * smallest)
    return _left_out(own, rows, value, rng)


def _smallest(own: OwnFunction, rows: NDArray[np.intp]) -> int:
    """The rows of the rarest class that occurs."""
    counts = count_by(own.codes[rows], len(own.classes))
    return int(counts[counts > 0].min())


def _of_table(
    own: OwnFunction, table: NDArray[np.intp], used: NDArray[np.bool_], value: float, df_of_classes: float
) -> _Spread:
    """The delta method: one more row in a cell changes the value by about the cell's influence over the rows."""
    true, predicted = (own.labels(codes) for codes in np.nonzero(used))
    two = len(own.classes) == 2
    counts = table[used] + (1 if two else 0)

    def value_of(times: NDArray[np.intp]) -> float:
        return own.ask(np.repeat(true, times), np.repeat(predicted, times))[0]

    n, share = counts.sum(), counts / counts.sum()
    centre = value_of(counts) if two else value
    more = [
        value_of(counts + one) if part else centre
        for one, part in zip(np.eye(counts.size, dtype=int), share, strict=True)
    ]
    pull = (n + 1) * (np.array(more) - centre)
    error = float(np.sqrt(share @ (pull - share @ pull) ** 2 / n))
    return _known(centre, error, np.inf if two else df_of_classes)


def _left_out(own: OwnFunction, rows: NDArray[np.intp], value: float, rng: np.random.Generator) -> _Spread:
    """The jackknife over single rows, or over parts of nearly equal size drawn at random."""
    n = rows.size
    parts = n if n <= ONE_BY_ONE else PARTS
    part = rng.permutation(n) % parts
    without = np.array([own.of_rows(rows[part != one])[0] for one in range(parts)])
    left = count_by(part, parts) / n
    single = value / left - (1 / left - 1) * without
    middle = parts * value - ((1 - left) * without).sum()
    error = float(np.sqrt(((single - middle) ** 2 / (1 / left - 1)).mean()))
    return _known(value, error, parts - 1.0)


def _known(centre: float, error: float, df: float) -> _Spread:
    if np.isnan(error):
        return _Spread(reason=STUCK)
    return _Spread(centre, error, df) if error > 0 else _Spread(reason=ALL_EQUAL)


def _resampled(
    found: Measured,
    own: OwnFunction,
    members: list[NDArray[np.intp]],
    sets: RowSets,
    samples: int,
    seed: int,
    level: float,
) -> Measured:
    """With percentile intervals of a bootstrap: every cell is drawn once per sample, for all sets that contain it."""
    rng = np.random.default_rng(seed)
    codes = np.asarray(sets.cells.codes, dtype=np.intp)
    order = np.argsort(codes, kind="stable")
    counts = sets.cells.counts()
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    width = np.repeat(counts, counts)
    drawn = np.empty((len(members), samples))
    for sample in range(samples):
        again = np.empty(codes.size, dtype=np.intp)
        again[order] = order[starts + (rng.random(codes.size) * width).astype(np.intp)]
        for index, rows in enumerate(members):
            drawn[index, sample] = own.of_rows(again[rows])[0]
    low, high = percentile_ends(found.metric, found.value, drawn, level)
    return replace(found, low=low, high=high, draws=drawn, method="bootstrap", unsure=())
