"""The best-off group: whom groups are compared with where nobody named a privileged one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, composite, sum_by
from isonomia.models import Surface
from isonomia.typing import Floats

#: A group is large enough to be compared with from this share of the rows on; where there are more groups than fit in,
#: from the share of an average group on.
SHARE = 0.1


class _Found(NamedTuple):
    values: dict[str, list[Any]]
    size: int
    candidates: frozenset[tuple[Any, ...]] = frozenset()


@dataclass(frozen=True, eq=False)
class BestOff(Mapping[str, list[Any]]):
    """A reference for each attribute, and for several together: the group with the most favourable decisions.

    Of the groups with enough rows, the one with the highest share of favourable decisions (the highest mean of a
    number or score). It is one group for all metrics and sections of a report. A group has enough rows with `least` of
    them and a tenth of all; where an attribute has more than ten groups, with those of an average group. Where nothing
    tells what is favourable, it is the largest one. People without a value are never the reference.

    Attributes
    ----------
    columns : tuple of Codes
        The protected attributes.
    favour : array or None
        Row by row, whether the decision is favourable, or the number predicted.
    weights, counts : array or None
        Weights of the rows, and how many rows each stands for.
    least : int
        The smallest group that figures are shown for.
    named : mapping
        Groups that are privileged by name: an attribute and its values.
    """

    columns: tuple[Codes, ...]
    favour: Floats | None
    weights: Floats | None = None
    counts: NDArray[np.int64] | None = None
    least: int = 30
    named: Mapping[str, list[Any]] = field(default_factory=dict)
    known: dict[tuple[str, ...], _Found] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        return "best"

    def __iter__(self) -> Iterator[str]:
        return (column.name for column in self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, name: str) -> list[Any]:
        return self.together([name])[name]

    def together(self, by: Sequence[str]) -> dict[str, list[Any]]:
        """The reference among the groups of these attributes together: the values of each."""
        return self._found(tuple(by)).values

    def size(self, by: Sequence[str]) -> int:
        """How many rows the reference has among the groups of these attributes."""
        return self._found(tuple(by)).size

    def candidates(self, by: Sequence[str]) -> frozenset[tuple[Any, ...]]:
        """The groups that it was picked from, as the values of each attribute; none where it was named."""
        return self._found(tuple(by)).candidates

    def _found(self, by: tuple[str, ...]) -> _Found:
        if by not in self.known:
            self.known[by] = self._look(by)
        return self.known[by]

    def _look(self, by: tuple[str, ...]) -> _Found:
        named = {column.name: column for column in self.columns}
        columns = [named[name] for name in by]
        cells = composite(columns)
        rows = sum_by(cells.codes, self.counts, cells.size)
        open_ = [index for index, name in enumerate(by) if name not in self.named]
        fits = np.array([self._may_be(columns, label) for label in cells.labels], dtype=bool) & (rows > 0)
        if not open_ or not fits.any():
            values = {name: list(self.named.get(name, [None])) for name in by}
            return _Found(values, int(rows[fits].sum()))
        enough = fits & (rows >= min(SHARE, 1 / np.count_nonzero(fits)) * rows[fits].sum())
        if (enough & (rows >= self.least)).any():
            enough &= rows >= self.least
        rate = self._rate(cells)
        best = int(np.lexsort((-rows, -np.where(enough & ~np.isnan(rate), rate, -np.inf)))[0])
        label = cells.labels[best]
        values = {name: list(self.named.get(name, [label[index]])) for index, name in enumerate(by)}
        candidates = frozenset(label for label, large in zip(cells.labels, enough, strict=True) if large)
        return _Found(values, int(rows[best]), candidates)

    def _may_be(self, columns: Sequence[Codes], label: tuple[Any, ...]) -> bool:
        """Whether a group has a value of each attribute, and the named ones where groups are named."""
        return all(
            (column.missing is None or column.size == 1 or value != column.labels[column.missing])
            and (column.name not in self.named or value in self.named[column.name])
            for column, value in zip(columns, label, strict=True)
        )

    def _rate(self, cells: Codes) -> Floats:
        """How favourable the predictions about each group are; alike where nothing tells, so that the largest leads."""
        if self.favour is None:
            return np.zeros(cells.size)
        weight = np.ones(len(self.favour)) if self.weights is None else self.weights
        weight = weight if self.counts is None else weight * self.counts
        total = sum_by(cells.codes, weight, cells.size)
        with np.errstate(divide="ignore", invalid="ignore"):
            rate: Floats = sum_by(cells.codes, weight * self.favour, cells.size) / total
        return rate


def is_chosen(reference: Any) -> bool:
    """Whether nobody named whom groups are compared with, so that it is the best-off group."""
    return isinstance(reference, BestOff) and not reference.named


def favour_of(surface: Surface, favourable: Sequence[Any]) -> Floats | None:
    """Row by row, how favourable a prediction is: the decision, else the number; None where nothing tells."""
    if surface.label is not None:
        if not favourable:
            return None
        return np.isin(surface.label, [surface.classes.index(label) for label in favourable]).astype(float)
    numbers = (surface.continuous, surface.probability, surface.score)
    return next((np.asarray(one, dtype=float) for one in numbers if one is not None and one.ndim == 1), None)
