"""Cells: the distinct combinations of coded columns, each with the rows it stands for and their sums.

Whatever counts needs cells, not rows. Rows in memory are one source of them; a table of counts or a database
(`isonomia.counting.engines`) is another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting._summing import (
    Key,
    Terms,
    cell_count,
    check_counts,
    common_length,
    distinct_combinations,
    row_terms,
    sum_rows,
)
from isonomia.counting.codes import Codes, smallest
from isonomia.errors import DataError, close_to
from isonomia.typing import Floats

#: A dense table of more cells than this is refused; combinations that occur are numbered instead.
MAX_CELLS = 1 << 24
#: Tables up to this size are always counted densely; larger ones only if they have no more cells than rows.
_SMALL = 1 << 16


@dataclass(frozen=True, eq=False, kw_only=True)
class Cells:
    """Distinct combinations of codes with their numbers of rows and sums.

    Entry i of every array belongs to cell i. Each cell occurs once, cells are sorted by their codes (first column
    first), and cells without rows are left out. So equal rows give equal cells, in whatever order they come.

    Attributes
    ----------
    columns : tuple of Codes
        The axes; `columns[a].codes[i]` is the code of cell i on axis a.
    n : array of int
        Rows in each cell.
    w : array of float
        The sum of their weights w (equal to `n` where rows have no weights).
    w2 : array of float
        The sum of their squared weights.
    sums : mapping
        For each value column v: the sum of w * v.
    products : mapping, empty unless asked for
        What the bootstrap of means needs: ``products["v",]`` is the sum of w^2 * v, ``products["u", "v"]`` that of
        w^2 * u * v, for every pair of value columns in the order of `sums`, ``("v", "v")`` included.
    weighted : bool
        Whether rows had weights.

    Examples
    --------
    >>> sex, hired = Codes.encode(["F", "M", "F", "F"], name="sex"), Codes.encode([1, 1, 0, 1], name="hired")
    >>> cells = Cells.of([sex, hired])
    >>> [column.codes.tolist() for column in cells.columns], cells.n.tolist()
    ([[0, 0, 1], [0, 1, 1]], [1, 2, 1])
    >>> cells.over("sex").n.tolist()
    [3, 1]

    A table of counts has cells without rows:

    >>> table = Cells.of([Codes.encode(["F", "M"], name="sex")], counts=[300, 500])
    >>> len(table), table.rows
    (2, 800)
    """

    columns: tuple[Codes, ...]
    n: NDArray[np.int64]
    w: NDArray[Any]
    w2: NDArray[Any]
    sums: Mapping[str, Floats] = field(default_factory=dict)
    products: Mapping[tuple[str, ...], Floats] = field(default_factory=dict)
    weighted: bool = False

    @classmethod
    def of(
        cls,
        columns: Sequence[Codes],
        *,
        weights: Any = None,
        values: Mapping[str, Any] | None = None,
        counts: Any = None,
        products: bool = False,
    ) -> Cells:
        """The cells of some rows.

        Parameters
        ----------
        columns : sequence of Codes
            The axes, all of one length.
        weights : array, optional
            One weight per row.
        values : mapping of arrays, optional
            Row values to sum over each cell (times the weight).
        counts : array of int, optional
            How many identical rows each row stands for; its weight and values are those of each of them.
        products : bool
            Whether to sum the products of values too.
        """
        rows, terms = row_terms(columns, weights=weights, values=values, counts=counts, products=products)
        if cell_count(columns) > min(max(_SMALL, rows), MAX_CELLS):
            return cls._merged(columns, rows, terms)
        totals = sum_rows(columns, rows, terms)
        shape = tuple(column.size for column in columns)
        codes = np.unravel_index(np.arange(totals["n",].size), shape) if columns else ()
        return cls._without_empty(columns, codes, totals)

    @classmethod
    def from_groups(
        cls,
        columns: Sequence[Codes],
        *,
        n: Any,
        w: Any = None,
        w2: Any = None,
        sums: Mapping[str, Any] | None = None,
        products: Mapping[tuple[str, ...], Any] | None = None,
    ) -> Cells:
        """Cells of groups that were summed elsewhere, by a database or in a file; groups with equal codes are merged.

        The arguments are those of the class, with one entry per group; without `w` rows have no weights.
        """
        totals: dict[Key, Any] = {("n",): n}
        if w is not None:
            totals |= {("w",): w, ("w2",): w2}
        totals |= {("sum", name): total for name, total in (sums or {}).items()}
        totals |= {("product", *key): total for key, total in (products or {}).items()}
        terms = {
            key: [check_counts(total) if key == ("n",) else np.asarray(total, float)] for key, total in totals.items()
        }
        groups = common_length(columns, {" ".join(key): term[0] for key, term in terms.items()})
        return cls._merged(columns, groups, terms)

    @classmethod
    def _merged(cls, columns: Sequence[Codes], groups: int, terms: Terms) -> Cells:
        if not columns:
            return cls._without_empty((), (), sum_rows((), groups, terms))
        number, codes = distinct_combinations(columns, MAX_CELLS)
        single = Codes("", number, tuple(range(codes[0].size)))
        return cls._without_empty(columns, codes, sum_rows([single], groups, terms))

    @classmethod
    def _without_empty(
        cls, columns: Sequence[Codes], codes: Sequence[NDArray[Any]], totals: Mapping[Key, NDArray[Any]]
    ) -> Cells:
        occurs = np.flatnonzero(totals["n",])
        used = {key: total[occurs] for key, total in totals.items()}
        n = used["n",]
        return cls(
            columns=tuple(
                replace(column, codes=part[occurs].astype(smallest(column.size)))
                for column, part in zip(columns, codes, strict=True)
            ),
            n=n,
            w=used.get(("w",), n),
            w2=used.get(("w2",), n),
            sums={key[1]: total for key, total in used.items() if key[0] == "sum"},
            products={key[1:]: total for key, total in used.items() if key[0] == "product"},
            weighted=("w",) in used,
        )

    @property
    def terms(self) -> dict[Key, list[NDArray[Any]]]:
        """What summing over several cells adds up."""
        terms: dict[Key, list[NDArray[Any]]] = {("n",): [self.n]}
        if self.weighted:
            terms |= {("w",): [self.w], ("w2",): [self.w2]}
        terms |= {("sum", name): [total] for name, total in self.sums.items()}
        return terms | {("product", *key): [total] for key, total in self.products.items()}

    def __len__(self) -> int:
        return int(self.n.size)

    @property
    def rows(self) -> int:
        """How many rows the cells stand for."""
        return int(self.n.sum())

    def column(self, name: str) -> Codes:
        """One axis by name."""
        for column in self.columns:
            if column.name == name:
                return column
        names = [column.name for column in self.columns]
        raise DataError(f"The cells have no axis {name!r}.{close_to(name, names)}")

    def over(self, *names: str) -> Cells:
        """Cells of some of the axes, in the order of `names`, summed over all others."""
        return self._merged([self.column(name) for name in names], len(self), self.terms)

    def take(self, which: NDArray[Any]) -> Cells:
        """Some of the cells: a mask, or rising indices. Labels stay as they are."""
        return replace(
            self,
            columns=tuple(column.take(which) for column in self.columns),
            n=self.n[which],
            w=self.w[which],
            w2=self.w2[which],
            sums={name: total[which] for name, total in self.sums.items()},
            products={key: total[which] for key, total in self.products.items()},
        )

    def moments(self, *names: str) -> tuple[Floats, Floats]:
        """Sums (cells, Q) and sums of products (cells, Q, Q) of the Q quantities w, w * v1, w * v2, ...

        They are what `resample_sums` draws from. Needs cells made with ``products=True``.
        """
        keys: list[tuple[str, ...]] = [(), *((name,) for name in names)]
        sums = np.stack([self.w.astype(float), *(self.sums[name] for name in names)], axis=1)
        products = np.empty((len(self), len(keys), len(keys)))
        for i, j in combinations_with_replacement(range(len(keys)), 2):
            products[:, i, j] = products[:, j, i] = self._product(keys[i] + keys[j])
        return sums, products

    def _product(self, key: tuple[str, ...]) -> NDArray[Any]:
        if not key:
            return self.w2
        found = self.products.get(key, self.products.get(key[::-1]))
        if found is None:
            raise DataError(
                f"These cells have no sums of products of {' and '.join(key)}; make them with products=True."
            )
        return found
