"""One batch of rows, all their protected variants, one call of the model, who is treated differently."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import ModelError, SpecError
from isonomia.parameters import Boolean, Number
from isonomia.probing.binned_columns import MAX_BINS
from isonomia.probing.extremes import doubt, extremes, filled, highest, lowest
from isonomia.probing.features import Feature
from isonomia.probing.keys import Keyer
from isonomia.probing.oracle import Oracle, Predictions
from isonomia.typing import Floats

#: Maximum number of protected combinations per person.
MAX_VARIANTS = 1024
#: A protected number with more values than this is tested at a few of them.
MAX_VALUES = 20
#: The quantiles it is tested at.
QUANTILES = (0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0)
#: Two numbers this close (relative) are the same answer: models add floats in different orders.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class ProbeResult:
    """The outcome of a batch of rows.

    Attributes
    ----------
    outcome : array (n, 4)
        The columns `margin`, `gap` (the widest difference in score between two variants, or 1 where only decisions
        are known and differ), and the variants `low` and `high` with the lowest and the highest score.
    margin : array (n,)
        Above 0 exactly where a row is treated differently; below 0 it says how far from that the row is, where the
        model gives scores (for two classes ``min(max_v p_v - t, t - min_v p_v)``), and is -1 where it does not.
    found : dict of arrays
        For the rows treated differently: ``at`` (index in the batch), ``row``, the variants ``a`` and ``b`` of the
        pair, the predictions for each (``label_a``, ``score_a``, ...), and ``gap``.
    """

    outcome: Floats
    found: dict[str, NDArray[Any]]

    @property
    def margin(self) -> Floats:
        """The first column of `outcome`."""
        return np.asarray(self.outcome[:, 0])


class Probe:
    """Asks a model about every protected variant of rows.

    Parameters
    ----------
    oracle : Oracle
    protected : sequence of str
        The attributes that are altered.
    values : mapping, optional
        The values to try for an attribute; by default all of them, and for numbers with more than 20 values nine
        quantiles of `reference` (a note says so).
    gamma : float
        A difference in score (or in a regression's number) must exceed it. At 0 a classifier's *decisions* must
        differ.
    one_attr_at_a_time : bool
        Only pairs that differ in a single protected attribute count.
    reference : matrix, optional
        Rows of data, for the quantiles.
    """

    def __init__(
        self,
        oracle: Oracle,
        protected: Sequence[str],
        *,
        values: Mapping[str, Sequence[Any]] | None = None,
        gamma: float = 0.0,
        one_attr_at_a_time: bool = False,
        reference: Floats | None = None,
    ) -> None:
        self.oracle, self.domain = oracle, oracle.domain
        if not protected:
            raise SpecError("No protected attribute is given; name at least one, for example protected=['sex'].")
        self.protected = tuple(dict.fromkeys(protected))
        self.columns = np.array([self.domain.index(name) for name in self.protected], dtype=np.intp)
        self.free = np.setdiff1d(np.arange(len(self.domain)), self.columns).astype(np.intp)
        self.gamma = Number(at_least=0).check("gamma", gamma)
        self.one_attr_at_a_time = Boolean().check("one_attr_at_a_time", one_attr_at_a_time)
        self.sampled: list[str] = []
        self.values = [self._values_of(int(c), values or {}, reference) for c in self.columns]
        self.shape = tuple(len(part) for part in self.values)
        if math.prod(self.shape) > MAX_VARIANTS:
            raise SpecError(
                f"The protected attributes have {math.prod(self.shape):,} combinations, more than {MAX_VARIANTS}. "
                "Name fewer attributes, or the values to try: values={'age': [25, 45, 65]}."
            )
        grid = np.meshgrid(*self.values, indexing="ij")
        self.variants = np.stack([axis.ravel() for axis in grid], axis=1)
        self.key = Keyer(self.domain, np.setdiff1d(self.free, self.domain.followers).astype(np.intp))

    def _values_of(self, column: int, given: Mapping[str, Sequence[Any]], reference: Floats | None) -> Floats:
        feature = self.domain.features[column]
        if feature.name in given:
            indices = np.array([feature.code(value) for value in given[feature.name]])
        elif feature.size is not None and feature.size <= (MAX_VARIANTS if feature.kind == "category" else MAX_VALUES):
            indices = np.arange(feature.low, feature.high + 1)
        else:
            indices = self._quantiles(column, feature, reference)
        distinct = np.unique(indices)
        if len(distinct) < 2:
            raise SpecError(
                f"The protected attribute '{feature.name}' has a single value ({feature.text(float(distinct[0]))}); "
                "there is nothing to compare it with. Widen the domain, or name another attribute."
            )
        return distinct

    def _quantiles(self, column: int, feature: Feature, reference: Floats | None) -> Floats:
        self.sampled.append(feature.name)
        if reference is None or not len(reference):
            indices = feature.low + (feature.high - feature.low) * np.array(QUANTILES)
        else:
            indices = np.nanquantile(reference[:, column], QUANTILES)
        return np.asarray(np.rint(indices) if feature.kind == "integer" else indices)

    # asking -----------------------------------------------------------------------------------------------------

    @property
    def n_variants(self) -> int:
        """How many rows one test sends to the model."""
        return len(self.variants)

    def consult(self, rows: NDArray[Any]) -> Predictions:
        """Predictions for rows as they are; not a test."""
        return self.oracle.ask(rows)

    def spread(self, rows: Floats) -> NDArray[Any]:
        """Every variant of every complete row, (n * V, d), the variants of a row together."""
        tiled = np.repeat(self.oracle.compact(rows), self.n_variants, axis=0)
        cube = tiled.reshape(len(rows), self.n_variants, rows.shape[1])
        for index, column in enumerate(self.altered):
            cube[:, :, column] = self.altered_values[:, index]
        return tiled

    def as_variant(self, rows: Floats, variant: NDArray[np.intp]) -> Floats:
        """The same people, complete, with the protected values of a variant each and what follows from them."""
        changed = rows.copy()
        changed[:, self.altered] = self.altered_values[variant]
        return changed

    @cached_property
    def altered(self) -> NDArray[np.intp]:
        """The columns in which variants differ: the protected ones, and those that follow from them."""
        dependencies = self.domain.dependencies
        moved = [one.column for one in dependencies.follows if one.source in self.columns] if dependencies else []
        return np.append(self.columns, np.array(moved, dtype=np.intp))

    @cached_property
    def altered_values(self) -> Floats:
        """The values of each variant in these columns, (V, columns)."""
        people = np.tile(self.domain.low, (self.n_variants, 1))
        people[:, self.columns] = self.variants
        return self.domain.complete(people)[:, self.altered]

    @cached_property
    def _open(self) -> tuple[NDArray[np.bool_], dict[int, NDArray[np.bool_]]] | None:
        """Which variants could exist (see `Dependencies.open_variants`); None where all could, whatever the row is."""
        if self.domain.dependencies is None:
            return None
        always, opened = self.domain.dependencies.open_variants(self.columns, self.variants)
        return None if always.all() and not opened else (always, opened)

    def possible(self, rows: Floats) -> NDArray[np.bool_] | None:
        """Which variants of complete rows contradict no dependency, (n, V); None where no dependency is about them."""
        dependencies = self.domain.dependencies
        if dependencies is None or self._open is None:
            return None
        always, opened = self._open
        possible = np.broadcast_to(always, (len(rows), len(always)))
        codes = dependencies.bins.matrix(rows, np.array(list(opened), dtype=np.intp))
        for table, code in zip(opened.values(), codes, strict=True):
            possible = possible & table.take(code, axis=0)
        return possible

    def valid(self, rows: Floats) -> NDArray[np.bool_]:
        """Which rows can be tested: valid people with at least two variants who could exist."""
        good = self.domain.valid(rows)
        if self._open is not None:
            some = np.flatnonzero(good)
            good[some] = self.comparable(rows.take(some, axis=0))
        return good

    def comparable(self, rows: Floats) -> NDArray[np.bool_]:
        """Which complete rows have at least two variants who could exist."""
        possible = self.possible(rows)
        return np.ones(len(rows), dtype=bool) if possible is None else np.count_nonzero(possible, axis=1) >= 2

    def allows(self, rows: Floats, row: NDArray[np.intp], column: NDArray[np.intp], value: Floats) -> NDArray[np.bool_]:
        """Which moves of rows that can be tested lead to such rows: a column of the row `row` gets a value.

        Values are inside the bounds; constraints are not looked at (see `Domain.obeys`).
        """
        dependencies = self.domain.dependencies
        if dependencies is None:
            return np.ones(len(row), dtype=bool)
        code = dependencies.bins.bins_of(value, column)
        good = dependencies.allows(rows, row, column, code) & ~self._alone[column, code]
        if self.n_variants > 2:  # of two variants both must be open, by each column for itself
            some = np.flatnonzero(good & self._tied[column])
            moved = rows.take(row[some], axis=0)
            moved[np.arange(len(some)), column[some]] = value[some]
            good[some] = self.comparable(moved)
        return good

    @cached_property
    def _tied(self) -> NDArray[np.bool_]:
        """Which columns have values that decide which variants could exist."""
        tied = np.zeros(len(self.domain), dtype=bool)
        tied[[] if self._open is None else list(self._open[1])] = True
        return tied

    @cached_property
    def _alone(self) -> NDArray[np.bool_]:
        """Bins of columns that leave fewer than two variants open, whatever the others are, (columns, bins)."""
        alone = np.zeros((len(self.domain), MAX_BINS), dtype=bool)
        if self._open is not None:
            always, opened = self._open
            for column, table in opened.items():
                alone[column, : len(table)] = np.count_nonzero(table & always, axis=1) < 2
        return alone

    def test(self, rows: Floats) -> ProbeResult:
        """One call of the model about all variants of the rows, and who is treated differently."""
        predicted = self.consult(self.spread(rows))
        if self.gamma > 0 and predicted.score is None:
            raise ModelError("`gamma` compares scores, but the model gives decisions only. Leave gamma at 0.")
        n, v = len(rows), self.n_variants
        label = None if predicted.label is None else predicted.label.reshape(n, v)
        score = None if predicted.score is None else predicted.score.reshape(n, v, *predicted.score.shape[1:])
        possible = self.possible(rows)
        margin = self._margin(label, score, possible)
        hit = np.flatnonzero(margin > 0)
        people = rows.take(hit, axis=0)
        a, b, gap = self._witness(people, hit, label, score, possible)
        found: dict[str, NDArray[Any]] = {"at": hit, "row": people, "a": a, "b": b, "gap": gap}
        for name, side in (("a", a), ("b", b)):
            at = hit * v + side
            found[f"label_{name}"] = np.zeros(len(hit), np.int64) if label is None else label.ravel()[at]
            flat = score if score is None or score.ndim == 2 else score.max(axis=2)
            found[f"score_{name}"] = np.full(len(hit), np.nan) if flat is None else flat.ravel()[at]
        low, high, widest = extremes(filled(label, possible), filled(score, possible))
        return ProbeResult(np.stack([margin, widest, low, high], axis=1), found)

    # judging ----------------------------------------------------------------------------------------------------

    def _lines(self, values: NDArray[Any], possible: NDArray[np.bool_] | None = None) -> list[NDArray[Any]]:
        """Variants that may be compared with each other along axis 1: all of them, or one attribute's at a time.

        One that could not exist has the answer of the first one beside it that could.
        """
        if possible is not None:
            masks = self._lines(possible)
            return [filled(line, mask) for line, mask in zip(self._lines(values), masks, strict=True)]
        if not self.one_attr_at_a_time or len(self.shape) == 1:
            return [values]
        n, rest = len(values), values.shape[2:]
        cube = values.reshape(n, *self.shape, *rest)
        lines = []
        for axis, size in enumerate(self.shape):
            moved = np.moveaxis(cube, axis + 1, len(self.shape))
            lines.append(moved.reshape(n, -1, size, *rest))
        return lines

    def _margin(
        self, label: NDArray[np.int64] | None, score: Floats | None, possible: NDArray[np.bool_] | None
    ) -> Floats:
        """Above 0 exactly where outcomes differ; see `ProbeResult`."""
        if self.gamma > 0 or label is None:
            numbers = cast(Floats, score)
            axis = 1 - numbers.ndim  # the variants, before the classes where there are several
            lines = self._lines(numbers, possible)
            spans = [np.ptp(line, axis=axis).reshape(len(numbers), -1).max(axis=1) for line in lines]
            return np.asarray(np.max(spans, axis=0) - self._floor(numbers))
        parted = [highest(line) != lowest(line) for line in self._lines(label, possible)]
        differs = reduce(np.logical_or, [one if one.ndim == 1 else one.any(axis=1) for one in parted])
        if score is None:
            margin = np.where(differs, 1.0, -1.0)
        else:
            margin = self._straddle(score, possible) if score.ndim == 2 else doubt(filled(score, possible))
        tiny = np.finfo(float).tiny
        return np.where(differs, np.maximum(margin, tiny), np.minimum(margin, -tiny))

    def _floor(self, score: Floats) -> Floats:
        """What a difference must exceed: gamma, or at gamma 0 the noise of adding floats."""
        if self.gamma > 0:
            return np.full(len(score), self.gamma)
        return np.asarray(ROUNDING * np.maximum(1.0, np.abs(score).reshape(len(score), -1).max(axis=1)))

    def _straddle(self, score: Floats, possible: NDArray[np.bool_] | None) -> Floats:
        cut = self.oracle.threshold
        parts = [np.minimum(highest(line) - cut, cut - lowest(line)) for line in self._lines(score, possible)]
        return np.asarray(reduce(np.maximum, [one if one.ndim == 1 else one.max(axis=1) for one in parts]))

    def _witness(
        self,
        people: Floats,
        hit: NDArray[np.intp],
        label: NDArray[np.int64] | None,
        score: Floats | None,
        possible: NDArray[np.bool_] | None,
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        """The pair to show for each finding: the person as they are against the variant treated most differently.

        Where the person as they are is treated like all allowed variants, the widest pair anywhere is taken.
        """
        own = self._own(people)
        if self.n_variants == 2 and score is not None and score.ndim == 2:  # there is one pair only
            return own, 1 - own, np.abs(score[hit, 1] - score[hit, 0])
        a, b = own.copy(), own.copy()
        gap = np.full(len(hit), -1.0)
        flat = None if score is None else score[hit]
        names = None if label is None else label[hit]
        everyone = np.arange(len(hit))
        for first in [None, *range(self.n_variants)]:
            todo = everyone if first is None else np.flatnonzero(gap < 0)
            if todo.size == 0:
                break
            start = own[todo] if first is None else np.full(todo.size, first)
            width = self._widths(todo, start, names, flat)
            if possible is not None:
                both = possible[hit[todo]]
                width = np.where(both & both[np.arange(todo.size), start][:, None], width, -1.0)
            other = width.argmax(axis=1)
            wide = width[np.arange(todo.size), other]
            good = wide >= 0
            a[todo[good]], b[todo[good]], gap[todo[good]] = start[good], other[good], wide[good]
        return a, b, gap

    def _widths(
        self, rows: NDArray[Any], start: NDArray[Any], label: NDArray[np.int64] | None, score: Floats | None
    ) -> Floats:
        """How differently each variant is treated from the starting one; -1 where the two are not a pair."""
        index = np.arange(len(rows))
        if score is not None:
            part = score[rows]
            width = np.abs(part - part[index, start][:, None])
            width = width if width.ndim == 2 else width.max(axis=2)
        else:
            width = np.ones((len(rows), self.n_variants))
        if label is not None and self.gamma == 0:
            names = label[rows]
            pair = names != names[index, start][:, None]
        else:
            pair = width > self._floor(cast(Floats, score)[rows])[:, None]
        if self.one_attr_at_a_time:
            steps = (self.variants[start][:, None, :] != self.variants[None, :, :]).sum(axis=2)
            pair &= steps == 1
        return np.where(pair, width, -1.0)

    def _own(self, rows: Floats) -> NDArray[np.intp]:
        """The variant nearest to the row as it is."""
        index = np.zeros(len(rows), dtype=np.intp)
        for column, values in zip(self.columns, self.values, strict=True):
            wanted = rows[:, column]
            near = np.zeros(len(rows), dtype=np.intp)  # also where the value is missing
            for cut in (values[1:] + values[:-1]) / 2:
                near += wanted > cut
            index = index * len(values) + near
        return index
