"""Tests of whole tables: do several groups have the same rates? Computed on counts, rows are never shuffled."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isonomia.errors import DataError
from isonomia.parameters import Choice, Integer, validated
from isonomia.typing import Floats

Statistic = Literal["chi_square", "gap"]

#: NumPy draws hypergeometric numbers from fewer items than this.
MOST_ROWS = 10**9


def chi_square(counts: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Pearson's test that all rows of a table have the same shares: statistic, degrees of freedom, p-value.

    sum (O - E)^2 / E with E = row total x column total / total. Rows and columns without a single count are left out
    of the degrees of freedom; a table with one row or one column left has no test (NaN).

    Parameters
    ----------
    counts : (..., R, C) array
        Any number of tables at once. For weighted data give effective counts.

    References
    ----------
    K. Pearson (1900), Philos. Mag. 50:157.

    Examples
    --------
    >>> statistic, df, p = chi_square([[30, 70], [45, 55], [40, 60]])
    >>> round(float(statistic), 4), int(df), round(float(p), 4)
    (4.9354, 2, 0.0848)
    """
    from scipy.special import chdtrc

    table = _tables(counts)
    rows, columns = table.sum(axis=-1), table.sum(axis=-2)
    total = rows.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = rows[..., :, None] * columns[..., None, :] / total[..., None, None]
        parts = np.where(expected > 0, (table - expected) ** 2 / expected, 0.0)
    statistic = parts.sum(axis=(-2, -1))
    df = ((rows > 0).sum(axis=-1) - 1.0) * ((columns > 0).sum(axis=-1) - 1.0)
    tested = (df > 0) & (total > 0)
    p = chdtrc(np.where(tested, df, 1.0), statistic)
    return np.where(tested, statistic, np.nan), np.maximum(df, 0.0), np.where(tested, p, np.nan)


@validated(n_perm=Integer(1))
def permutation(
    counts: ArrayLike,
    *,
    statistic: Statistic = "chi_square",
    n_perm: int = 9999,
    seed: int | np.random.Generator = 0,
) -> float:
    """The permutation p-value that all rows of one table have the same shares.

    Shuffling the outcomes among the rows of the data keeps both margins of the table, and gives its cells a
    multivariate hypergeometric distribution: the tables are drawn from that, one number per cell. The p-value is
    (1 + tables at least as extreme) / (1 + n_perm), which is valid for any n_perm. NaN where only one row or column
    has counts.

    Parameters
    ----------
    counts : (R, C) array of whole numbers
    statistic : "chi_square" or "gap"
        What makes a table extreme: Pearson's statistic, or the largest less the smallest share of the last column.

    References
    ----------
    B. Phipson, G. K. Smyth (2010), Stat. Appl. Genet. Mol. Biol. 9:39.

    Examples
    --------
    >>> permutation([[1, 7], [7, 2]], n_perm=4999, seed=1) < 0.03
    True
    """
    table = _tables(counts)
    if table.ndim != 2 or (table != np.rint(table)).any():
        raise DataError("A permutation test takes one table of whole counts; weighted rows cannot be shuffled.")
    table = table[table.sum(axis=1) > 0]
    if statistic == "chi_square":
        table = table[:, table.sum(axis=0) > 0]
    if min(table.shape, default=0) < 2 or (table.sum(axis=0) > 0).sum() < 2:
        return float("nan")
    if table.sum() >= MOST_ROWS:
        raise DataError(f"A permutation test takes fewer than {MOST_ROWS:,} rows; use the chi-square test.")
    drawn = draw_tables(table.astype(np.int64), n_perm, np.random.default_rng(seed))
    seen = _extremity(table, statistic)
    as_extreme = int((_extremity(drawn, statistic) >= seen * (1 - 1e-12)).sum())
    return (1 + as_extreme) / (1 + n_perm)


def draw_tables(table: NDArray[np.int64], n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Random tables (n, R, C) with the margins of the given one, as shuffling the rows of the data gives them.

    Cell by cell: the count of a column that falls into a row is hypergeometric, given what is left of both.
    """
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    if columns.size == 2:
        drawn = rng.multivariate_hypergeometric(rows, int(columns[0]), size=n, method="marginals")
        return np.stack([drawn, rows - drawn], axis=-1)
    out = np.zeros((n, *table.shape), dtype=np.int64)
    remaining = np.broadcast_to(rows, (n, rows.size)).copy()  # what each row has left
    for c in range(columns.size - 1):
        left = np.full(n, columns[c])
        for r in range(rows.size - 1):
            others = remaining[:, r + 1 :].sum(axis=1)
            out[:, r, c] = rng.hypergeometric(remaining[:, r], others, left)
            left = left - out[:, r, c]
        out[:, -1, c] = left
        remaining -= out[:, :, c]
    out[:, :, -1] = remaining
    return out


def _extremity(tables: NDArray[Any], statistic: Statistic) -> Floats:
    if Choice(("chi_square", "gap")).check("statistic", statistic) == "chi_square":
        return chi_square(tables)[0]
    share = tables[..., -1] / tables.sum(axis=-1)
    return share.max(axis=-1) - share.min(axis=-1)  # type: ignore[no-any-return]


def _tables(counts: ArrayLike) -> Floats:
    table = np.asarray(counts, dtype=float)
    if table.ndim < 2 or not np.isfinite(table).all() or (table < 0).any():
        raise DataError("A table of counts needs rows and columns of finite numbers of at least 0.")
    return table
