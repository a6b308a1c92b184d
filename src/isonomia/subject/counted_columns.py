"""Columns of rows that an engine counts: edges by counting, one `GROUP BY` per set of columns, nothing sampled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, quantiles, sum_by
from isonomia.counting.cuts import Cut, as_floats
from isonomia.data import Dataset, Kind
from isonomia.data.engines.engine import Key
from isonomia.data.engines.role_counts import too_many
from isonomia.data.engines.spread import Spread, spread_of
from isonomia.errors import DataError, NotApplicable
from isonomia.languages import Message, msg
from isonomia.subject.subject import Subject
from isonomia.typing import Floats

#: Sets of columns that are counted in one statement.
TOGETHER = 64

Names = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Cutting:
    """How columns are cut.

    Attributes
    ----------
    binning : "quantile" or "uniform"
    bins : callable
        Name of a column -> at most so many bins of its numbers, their edges, or None for every value on its own.
    few : callable
        (kind, bins) -> numbers with at most so many different values are not cut.
    labels : callable
        (kind, column, rows of each label) -> the labels that are not joined to others.
    empty : bool
        Whether a column of numbers may have none.
    """

    binning: Literal["quantile", "uniform"]
    bins: Callable[[str], int | Sequence[float] | None]
    few: Callable[[Kind, int], int]
    labels: Callable[[Kind, Codes, NDArray[Any]], tuple[Any, ...]]
    empty: bool = False


class CountedColumns:
    """Columns of rows that an engine counts, each cut into slices; and the rows counted by any of them.

    Parameters
    ----------
    subject : Subject
        In counts; rows without a target are left out.
    names : sequence of str
        The columns.
    cutting : Cutting
    also, means
        What rows are counted by, too, and whose means are wanted; as in `Dataset.beside`.

    Attributes
    ----------
    cuts : tuple of Cut
    notes : tuple of Message
        Columns that were left out, and edges that are not exact.
    """

    def __init__(
        self,
        subject: Subject,
        names: Sequence[str],
        cutting: Cutting,
        *,
        also: Sequence[Key] = (),
        means: Sequence[str] = (),
    ) -> None:
        self.subject, self._data = subject, subject.data
        self._beside_all: dict[str, Any] = {"also": also, "means": means}
        notes = []
        edges: dict[str, tuple[float, ...]] = {}
        for name in names:
            given = cutting.bins(name)
            if isinstance(given, Sequence):
                edges[name] = tuple(np.unique(np.asarray(given, dtype=float)).tolist())
        for name, spread in self._spreads(names, cutting).items():
            found = _edges(name, spread, self._data.kinds[name], cutting)
            edges |= {} if found is None else {name: found}
            if spread.rank_error > 0:
                notes.append(
                    msg(
                        "Edges of {column} are quantiles to within {error:pct} of the rows.",
                        column=name,
                        error=spread.rank_error,
                    )
                )
        bands = self._data.roles.bands
        first = [
            Cut(
                name,
                self._data.kinds[name],
                edges=edges.get(name) if name not in bands else None,
                bands=bands.get(name),
            )
            for name in names
        ]
        self._keys = {cut.name: key_of(cut) for cut in first}
        self._parts: dict[Names, Subject] = {}
        self._fetch([(name,) for name in names])
        if missed := [name for name in names if (name,) not in self._parts]:
            notes.append(
                msg(
                    "{features}: too many different values to be counted within the memory given.",
                    features=", ".join(missed),
                )
            )
        if len(missed) == len(names):
            raise NotApplicable(msg("no feature has few enough values to be counted within the memory given"))
        self.cuts = tuple(self._labelled(cut, cutting) for cut in first if cut.name not in missed)
        self.notes: tuple[Message, ...] = tuple(notes)

    @classmethod
    def with_cuts(cls, subject: Subject, cuts: Sequence[Cut]) -> CountedColumns:
        """Columns that are cut as others were."""
        columns = CountedColumns.__new__(CountedColumns)
        columns.subject, columns._data = subject, subject.data
        columns.cuts, columns.notes, columns._parts, columns._beside_all = tuple(cuts), (), {}, {}
        columns._keys = {cut.name: key_of(cut) for cut in cuts}
        return columns

    def _spreads(self, names: Sequence[str], cutting: Cutting) -> dict[str, Spread]:
        """The spreads of columns of numbers; their quantiles are those that each is cut at."""
        data, engine = self._data, self._data.engine
        assert engine is not None
        bins = {name: cutting.bins(name) for name in names}
        plain = {
            name: number
            for name, number in bins.items()
            if isinstance(number, int) and data.kinds[name] in ("numeric", "integer") and name not in data.roles.bands
        }
        if not plain:
            return {}
        shares = np.unique(np.concatenate([np.linspace(0, 1, number + 1) for number in plain.values()]))
        few = max(cutting.few(data.kinds[name], number) for name, number in plain.items())
        return spread_of(engine, list(plain), shares.tolist(), few=few, known=data.target)

    def _labelled(self, cut: Cut, cutting: Cutting) -> Cut:
        """A cut with the labels of its categories, or the edges of its days."""
        if cut.edges is not None or cut.bands is not None:
            return cut
        name, kind = cut.name, cut.kind
        part, bins = self._parts[name,], cutting.bins(name)
        assert part.counts is not None
        if kind == "datetime" and isinstance(bins, int):
            days = as_floats(part.known, name)
            known = np.isfinite(days)
            return Cut(name, kind, edges=_day_edges(name, days[known], part.counts[known], cutting.binning, bins))
        column = Codes.encode(part.known.column(name), name=name)
        rows = sum_by(column.codes, part.counts, column.size)
        return Cut(name, kind, labels=cutting.labels(kind, column, rows))

    def _fetch(self, sets: Sequence[Names]) -> None:
        """Count by these sets of columns, those that were not counted yet in one statement."""
        new = [names for names in dict.fromkeys(sets) if names not in self._parts]
        found = self._beside(new) if new else []
        self._parts |= {names: part for names, part in zip(new, found, strict=True) if part is not None}

    def _beside(self, sets: Sequence[Names], *, scores: bool = False) -> list[Subject | None]:
        keys = [[self._keys[name] for name in names] for names in sets]
        return counted_beside(self.subject, keys, scores=scores, **self._beside_all)

    def parts(self, sets: Sequence[Names]) -> list[Subject]:
        """The subject counted by these sets of columns."""
        self._fetch(sets)
        return [_found(self._parts.get(names), names) for names in sets]

    def with_scores(self, sets: Sequence[Names]) -> list[Subject]:
        """The subject counted by these sets of columns and by scores."""
        return [_found(part, names) for names, part in zip(sets, self._beside(sets, scores=True), strict=True)]

    def codes(self, part: Dataset, names: Sequence[str]) -> dict[str, Codes]:
        """The slices of some columns, on the rows of a part."""
        return {cut.name: cut.codes(part) for cut in self.cuts if cut.name in names}


def counted_beside(subject: Subject, sets: Sequence[Sequence[Key]], **options: Any) -> list[Subject | None]:
    """The subject counted by each of these sets of keys (see `Subject.beside`), in as few statements as it takes."""
    found: list[Subject | None] = []
    for start in range(0, len(sets), TOGETHER):
        found += subject.beside(sets[start : start + TOGETHER], **options)
    return found


def key_of(cut: Cut) -> Key:
    """What an engine groups by so that every group lies in one slice."""
    if cut.bands is not None:
        return Key(column=cut.name, form="bands", edges=cut.bands.edges)
    if cut.kind == "datetime":
        return Key(column=cut.name, form="day")
    if cut.edges is not None:
        return Key(column=cut.name, form="bands", edges=cut.edges[1:-1] or cut.edges[:1])
    return Key(column=cut.name)


def _found(part: Subject | None, names: Names) -> Subject:
    if part is None:
        raise too_many(names)
    return part


def _edges(name: str, spread: Spread, kind: Kind, cutting: Cutting) -> tuple[float, ...] | None:
    """The edges of a column of numbers, as `bin_edges` has them; None where values are few and slices of their own."""
    bins = cutting.bins(name)
    assert isinstance(bins, int)
    if not spread.n:
        if cutting.empty:
            return None
        raise DataError(f"The feature '{name}' has no finite number; leave it out with features=[...].")
    if spread.values is not None and spread.values.size <= cutting.few(kind, bins):
        return None
    found = spread.quantiles[np.searchsorted(spread.shares, np.linspace(0, 1, bins + 1))]
    return _distinct(spread.low, spread.high, found, cutting.binning, bins)


def _day_edges(name: str, days: Floats, counts: NDArray[np.int64], binning: str, bins: int) -> tuple[float, ...]:
    if not days.size:
        raise DataError(f"The feature '{name}' contains no dates; leave it out.")
    found = quantiles(days, np.linspace(0, 1, bins + 1), counts)
    return _distinct(float(days.min()), float(days.max()), found, binning, bins)


def _distinct(low: float, high: float, found: Floats, binning: str, bins: int) -> tuple[float, ...]:
    if low == high:
        return (low, float(np.nextafter(high, np.inf)))
    edges = found if binning == "quantile" else np.linspace(low, high, bins + 1)
    return tuple(np.unique(edges).tolist())
