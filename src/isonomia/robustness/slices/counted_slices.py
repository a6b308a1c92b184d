"""Slices of rows that an engine counts: edges by counting, one `GROUP BY` per feature or pair, nothing sampled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, quantiles, sum_by
from isonomia.data import Dataset
from isonomia.data.engines.engine import Key
from isonomia.data.engines.spread import Spread, spread_of
from isonomia.errors import DataError, NotApplicable
from isonomia.languages import Message, msg
from isonomia.metrics import Metric, Rows, RowSums, ScoreLevels, Sums
from isonomia.robustness.slices.slice_rows import Excess, compares_errors, excess_of
from isonomia.robustness.slices.slicing import FEW_VALUES, Cut, Slicing, as_floats, common_labels
from isonomia.robustness.slices.spot_merging import SAME_ROWS, Spot
from isonomia.subject import Subject
from isonomia.typing import Bools, Floats

#: Sets of features that are counted in one statement.
TOGETHER = 64

Names = tuple[str, ...]


class CountedSlices:
    """The slices of features of rows that an engine counts.

    Parameters
    ----------
    subject : Subject
        In counts; rows without a target are left out.
    names : sequence of str
        The features.
    slicing : "quantile" or "uniform"
    bins, min_samples : int
        At most so many slices of numbers; categories with fewer rows share one slice.

    Attributes
    ----------
    cuts : tuple of Cut
    notes : tuple of Message
        Features that were left out, and edges that are not exact.
    """

    def __init__(
        self, subject: Subject, names: Sequence[str], *, slicing: Slicing, bins: int, min_samples: int
    ) -> None:
        self.subject, self._data = subject, subject.data
        self._bins, notes = bins, []
        edges: dict[str, tuple[float, ...]] = {}
        for name, spread in self._spreads(names).items():
            found = _edges(name, spread, self._data.kinds[name] == "integer", slicing, bins)
            edges |= {} if found is None else {name: found}
            if spread.rank_error > 0:
                notes.append(
                    msg(
                        "Edges of {column} are quantiles to within {error:pct} of the rows.",
                        column=name,
                        error=spread.rank_error,
                    )
                )
        self._keys = {name: self._key(name, edges) for name in names}
        self._parts: dict[Names, Subject] = {}
        self._fetch([(name,) for name in names])
        kept = [name for name in names if (name,) in self._parts]
        if missed := [name for name in names if name not in kept]:
            notes.append(
                msg(
                    "{features}: too many different values to be counted within the memory given.",
                    features=", ".join(missed),
                )
            )
        if not kept:
            raise NotApplicable(msg("no feature has few enough values to be counted within the memory given"))
        self.cuts = tuple(self._cut(name, edges.get(name), slicing, min_samples) for name in kept)
        self.notes: tuple[Message, ...] = tuple(notes)

    def _spreads(self, names: Sequence[str]) -> dict[str, Spread]:
        data, engine = self._data, self._data.engine
        assert engine is not None
        plain = [name for name in names if data.kinds[name] in ("numeric", "integer") and name not in data.roles.bands]
        shares = np.linspace(0, 1, self._bins + 1).tolist()
        return spread_of(engine, plain, shares, few=FEW_VALUES, known=data.target) if plain else {}

    def _key(self, name: str, edges: Mapping[str, tuple[float, ...]]) -> Key:
        if name in self._data.roles.bands:
            return Key(column=name, form="bands", edges=self._data.roles.bands[name].edges)
        if name in edges:
            return Key(column=name, form="bands", edges=edges[name][1:-1] or edges[name][:1])
        return Key(column=name, form="day" if self._data.kinds[name] == "datetime" else "value")

    def _cut(self, name: str, edges: tuple[float, ...] | None, slicing: Slicing, minimum: int) -> Cut:
        kind, bands = self._data.kinds[name], self._data.roles.bands.get(name)
        if edges is not None or bands is not None:
            return Cut(name, kind, edges=None if bands is not None else edges, bands=bands)
        part = self._parts[name,]
        assert part.counts is not None
        if kind == "datetime":
            days = as_floats(part.known, name)
            known = np.isfinite(days)
            return Cut(name, kind, edges=_day_edges(days[known], part.counts[known], slicing, self._bins))
        column = Codes.encode(part.known.column(name), name=name)
        rows = sum_by(column.codes, part.counts, column.size)
        return Cut(name, kind, labels=common_labels(column, rows, minimum if kind in ("category", "boolean") else 1))

    def _beside(self, sets: Sequence[Names], *, scores: bool = False) -> list[Subject | None]:
        found: list[Subject | None] = []
        for start in range(0, len(sets), TOGETHER):
            keys = [[self._keys[name] for name in names] for names in sets[start : start + TOGETHER]]
            found += self.subject.beside(keys, scores=scores)
        return found

    def _fetch(self, sets: Sequence[Names]) -> None:
        """Count by these sets of features, those that were not counted yet in one statement."""
        new = [names for names in dict.fromkeys(sets) if names not in self._parts]
        found = self._beside(new) if new else []
        self._parts |= {names: part for names, part in zip(new, found, strict=True) if part is not None}

    def parts(self, sets: Sequence[Names]) -> list[Subject]:
        """The subject counted by these sets of features."""
        self._fetch(sets)
        for names in sets:
            if names not in self._parts:
                raise _too_many(names)
        return [self._parts[names] for names in sets]

    def with_scores(self, sets: Sequence[Names]) -> list[Subject]:
        """The subject counted by these sets of features and by scores."""
        found = []
        for names, part in zip(sets, self._beside(sets, scores=True), strict=True):
            if part is None:
                raise _too_many(names)
            found.append(part)
        return found

    def codes(self, part: Dataset, names: Sequence[str]) -> dict[str, Codes]:
        """The slices of some features, on the rows of a part."""
        return {cut.name: cut.codes(part) for cut in self.cuts if cut.name in names}


class RowsInCounts:
    """`SliceRows` of rows that an engine counts; the metric is one of decisions."""

    def __init__(self, slices: CountedSlices, metric: Metric) -> None:
        self._slices = slices
        self.parts = RowSums(metric, Rows.of(slices.subject))
        self.columns: Mapping[str, Codes] = {
            cut.name: cut.codes(slices.parts([(cut.name,)])[0].known) for cut in slices.cuts
        }

    def sums(self, sets: Sequence[Names]) -> list[Sums]:
        """The sums of every cell of these features, set by set."""
        found = []
        for names, part in zip(sets, self._slices.parts(sets), strict=True):
            codes = self._slices.codes(part.known, names)
            found.append(RowSums(self.parts.metric, Rows.of(part)).over([codes[name] for name in names]))
        return found

    def overlap(self, spots: Sequence[Spot]) -> Callable[[int, int], float]:
        """How much two of the spots have in common. Spots of very different sizes are not asked about."""
        size = [int(spot.cells.n) for spot in spots]
        alike = {
            (one, two): tuple(dict.fromkeys([*spots[one].slices, *spots[two].slices]))
            for one, two in combinations(range(len(spots)), 2)
            if min(size[one], size[two]) >= SAME_ROWS * max(size[one], size[two])
        }
        self._slices.parts(list(alike.values()))

        def share(one: int, two: int) -> float:
            names = alike.get((min(one, two), max(one, two)))
            if names is None:
                return 0.0
            (part,) = self._slices.parts([names])
            first, second = (self._inside(spots[index], part) for index in (one, two))
            assert part.counts is not None
            either = int(part.counts[first | second].sum())
            return int(part.counts[first & second].sum()) / either if either else 0.0

        return share

    @cached_property
    def _levels(self) -> ScoreLevels | None:
        if not compares_errors(self.parts):
            return None
        return ScoreLevels.of(self._slices.subject)

    @property
    def scored(self) -> bool:
        """Whether scores let expect some errors."""
        return self._levels is not None

    def excess(self, spot: Spot) -> Excess:
        """What scores let expect of a spot."""
        assert self._levels is not None  # the caller has looked
        (part,) = self._slices.with_scores([tuple(spot.slices)])
        inside = self._inside(spot, part)
        counts, label = part.counts, part.surface.label
        assert counts is not None
        assert label is not None
        w = np.ones(counts.size) if part.weights is None else part.weights
        expected = self._levels.expected(part)
        return excess_of(expected[inside], (label != part.truth)[inside], w[inside], counts[inside].astype(float))

    def weight(self, spot: Spot) -> float:
        """The weights of a spot's rows, added up."""
        (part,) = self._slices.parts([tuple(spot.slices)])
        inside = self._inside(spot, part)
        assert part.counts is not None
        n = part.counts[inside].astype(float)
        return float(n.sum() if part.weights is None else n @ part.weights[inside])

    def _inside(self, spot: Spot, part: Subject) -> Bools:
        return spot.mask(self._slices.codes(part.known, tuple(spot.slices)), np.arange(part.known.height))


def _edges(name: str, spread: Spread, integer: bool, slicing: Slicing, bins: int) -> tuple[float, ...] | None:
    """The edges of a column of numbers, as `bin_edges` has them; None where values are few and slices of their own."""
    if not spread.n:
        raise DataError(f"The feature '{name}' has no finite number; leave it out with features=[...].")
    few = FEW_VALUES if integer else min(bins, FEW_VALUES)
    if slicing == "quantile" and spread.values is not None and spread.values.size <= few:
        return None
    return _distinct(spread.low, spread.high, spread.quantiles, slicing, bins)


def _day_edges(days: Floats, counts: NDArray[np.int64], slicing: Slicing, bins: int) -> tuple[float, ...]:
    found = quantiles(days, np.linspace(0, 1, bins + 1), counts)
    return _distinct(float(days.min()), float(days.max()), found, slicing, bins)


def _distinct(low: float, high: float, found: Floats, slicing: Slicing, bins: int) -> tuple[float, ...]:
    if low == high:
        return (low, float(np.nextafter(high, np.inf)))
    edges = found if slicing == "quantile" else np.linspace(low, high, bins + 1)
    return tuple(np.unique(edges).tolist())


def _too_many(names: Names) -> NotApplicable:
    return NotApplicable(msg("{features} have too many combinations for the memory given", features=" x ".join(names)))
