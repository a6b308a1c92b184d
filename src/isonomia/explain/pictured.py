"""Shapley values of many people as small tables to draw: counts of contributions, and contributions along a column."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from isonomia.counting import count_by, sum_by
from isonomia.data import Backend
from isonomia.evidence import Column, Table
from isonomia.languages import msg
from isonomia.typing import Floats, Indices

#: Columns in the summary, and bins of contributions across all of them.
MOST_COLUMNS, BINS = 20, 60
#: Slices of a column along which its contributions are shown.
SLICES = 20
#: Values of a column from low to high; the last is for columns without an order.
LEVELS = {"low": msg("low"), "middle": msg("middle"), "high": msg("high"), "other": msg("a category")}
_THIRDS = tuple(LEVELS)


def thirds(values: Floats) -> Indices:
    """Index into `LEVELS` of each value of one column: its third of the ranks; 3 where it has no order (NaN).

    >>> thirds(np.array([1.0, 2, 3, np.nan])).tolist()
    [0, 1, 2, 3]
    """
    known = ~np.isnan(values)
    index = np.full(len(values), 3, dtype=np.intp)
    if known.any():
        share = (rankdata(values[known], method="average") - 0.5) / known.sum()
        index[known] = np.minimum((3 * share).astype(np.intp), 2)
    return index


def summary_table(columns: tuple[str, ...], phi: Floats, values: Floats, backend: Backend | None) -> Table:
    """How many people get which contribution, by column and level of its value: contributions (n, M) in bins."""
    order = np.argsort(-np.abs(phi).mean(axis=0), kind="stable")[:MOST_COLUMNS]
    low, high = float(phi[:, order].min()), float(phi[:, order].max())
    width = (high - low) / BINS or 1.0
    parts: dict[str, list[object]] = {"column": [], "contribution": [], "level": [], "n": []}
    for column in order:
        bins = np.minimum(((phi[:, column] - low) / width).astype(np.intp), BINS - 1)
        cell = bins * len(LEVELS) + thirds(values[:, column])
        n, total = count_by(cell, BINS * len(LEVELS)), sum_by(cell, phi[:, column], BINS * len(LEVELS))
        for at in np.flatnonzero(n):
            parts["column"].append(columns[column])
            parts["contribution"].append(float(total[at] / n[at]))
            parts["level"].append(_THIRDS[at % len(LEVELS)])
            parts["n"].append(int(n[at]))
    return Table(
        (
            Column("column", parts["column"], title=msg("column")),
            Column("contribution", parts["contribution"], format="num4", title=msg("contribution")),
            Column("level", parts["level"], title=msg("value of the column"), names=LEVELS),
            Column("n", parts["n"], format="int", title=msg("people")),
        ),
        msg("Contributions of each column"),
        backend,
    )


def strongest_interaction(column: int, phi: Floats, values: Floats) -> int | None:
    """The other column whose level explains most of what the contributions of a column vary by at the same value.

    Within slices of the column, the variance between the levels of the other column is added up; None where no other
    column has an order.
    """
    slices, count = _slices(values[:, column])
    rest = phi[:, column] - (sum_by(slices, phi[:, column], count) / np.maximum(count_by(slices, count), 1))[slices]
    best, most = None, 0.0
    for other in range(values.shape[1]):
        if other == column or np.isnan(values[:, other]).any():
            continue
        cell = slices * 3 + thirds(values[:, other])
        n, total = count_by(cell, 3 * count), sum_by(cell, rest, 3 * count)
        explained = float((total**2 / np.maximum(n, 1)).sum())
        if explained > most:
            best, most = other, explained
    return best


def dependence_table(
    columns: tuple[str, ...], column: int, phi: Floats, values: Floats, backend: Backend | None
) -> tuple[Table, str | None]:
    """Mean contributions of a column along its values, by level of the column that it interacts with most."""
    other = strongest_interaction(column, phi, values)
    slices, count = _slices(values[:, column])
    level = np.zeros(len(phi), dtype=np.intp) if other is None else thirds(values[:, other])
    cell = slices * len(LEVELS) + level
    size = count * len(LEVELS)
    n = count_by(cell, size)
    at = np.flatnonzero(n)
    x, y = (sum_by(cell, part, size)[at] / n[at] for part in (values[:, column], phi[:, column]))
    shown = (
        Column("value", x, format="num", title=msg("{name}", name=columns[column])),
        Column("contribution", y, format="num4", title=msg("mean contribution")),
        Column("level", [_THIRDS[one % len(LEVELS)] for one in at], title=msg("level"), names=LEVELS),
        Column("n", n[at].astype(int), format="int", title=msg("people")),
    )
    title = msg("Contribution of {column} along its values", column=columns[column])
    table = Table(shown if other is not None else (*shown[:2], shown[3]), title, backend)
    return table, None if other is None else columns[other]


def _slices(values: Floats) -> tuple[Indices, int]:
    """Slices with about as many people each; each distinct value by itself where there are few."""
    distinct = np.unique(values)
    if len(distinct) <= SLICES:
        return np.searchsorted(distinct, values), len(distinct)
    edges = np.unique(np.quantile(values, np.linspace(0, 1, SLICES + 1)))[1:-1]
    return np.searchsorted(edges, values, side="right"), len(edges) + 1
