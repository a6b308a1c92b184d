"""Sums over sets of rows, and the metrics that follow from them: rows are read once, never set by set.

A metric of counts or means is a function f of sums over rows: of the cells of a confusion table, or of row quantities.
A set of rows needs no more than these sums, T. Its standard error is that of the delta method, with g the derivative of
f: the root of the sum over rows of w^2 (g . z)^2, z being the row's own part of T. w (g . z) is the row's influence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, smallest, tally
from isonomia.errors import NotApplicable, SpecError
from isonomia.evidence import two_proportions, welch
from isonomia.evidence.intervals import student_interval, wilson
from isonomia.languages import msg
from isonomia.metrics.means import mean
from isonomia.metrics.registry import Metric
from isonomia.models import Surface
from isonomia.subject import Subject
from isonomia.typing import Bools, Floats

#: Step of the numeric derivative of a metric, as a share of all rows.
STEP = 1e-6


@dataclass(frozen=True, eq=False)
class Rows:
    """What metrics read: labels (codes over `surface.classes`, numbers, or None), predictions and weights."""

    truth: NDArray[Any] | None
    surface: Surface
    weights: Floats | None = None

    @classmethod
    def of(cls, subject: Subject) -> Rows:
        """The rows of a subject."""
        return cls(subject.outcome.truth, subject.surface, subject.weights)

    def __len__(self) -> int:
        return len(self.surface)

    def take(self, rows: Any) -> Rows:
        """Some of the rows."""
        truth, weights = (None if part is None else part[rows] for part in (self.truth, self.weights))
        return Rows(truth, self.surface.take(rows), weights)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of a confusion table of these rows: one true row where there are no labels."""
        k = len(self.surface.classes)
        return (1 if self.truth is None else k, k)

    @cached_property
    def outcome(self) -> Codes:
        """The cell of the confusion table that each row falls into."""
        truth, label = self.truth, self.surface.label
        if label is None:
            raise NotApplicable(msg("the predictions hold no labels"))
        size = self.shape[0] * self.shape[1]
        if truth is None:
            return Codes("outcome", label, tuple(range(size)))
        kind = smallest(size)
        return Codes("outcome", truth.astype(kind) * kind.type(self.shape[1]) + label.astype(kind), tuple(range(size)))


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over the rows of each set.

    Attributes
    ----------
    n : (...) rows of each set
    sums : (..., P) weighted sums of the P parts a metric is made of
    squares : (..., P) or (..., P, P) the same with squared weights: of each part, or of products of parts
    """

    n: NDArray[np.int64]
    sums: Floats
    squares: Floats

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.n + other.n, self.sums + other.sums, self.squares + other.squares)

    def __sub__(self, other: Sums) -> Sums:
        return Sums(self.n - other.n, self.sums - other.sums, self.squares - other.squares)

    def __getitem__(self, key: Any) -> Sums:
        return Sums(np.asarray(self.n[key]), self.sums[key], self.squares[key])

    def flat(self) -> Sums:
        """The cells of a cross table as one list."""
        size, lead = self.n.size, self.n.ndim
        sums, squares = (part.reshape(size, *part.shape[lead:]) for part in (self.sums, self.squares))
        return Sums(self.n.ravel(), sums, squares)

    def along(self, axis: int, size: int) -> Sums:
        """The same sums repeated `size` times along a new axis."""

        def repeated(part: NDArray[Any]) -> NDArray[Any]:
            return np.repeat(np.expand_dims(part, axis), size, axis)

        return Sums(repeated(self.n), repeated(self.sums), repeated(self.squares))

    def total(self, axis: int | tuple[int, ...] = 0) -> Sums:
        """Summed over sets."""
        n, sums, squares = (np.asarray(part.sum(axis=axis)) for part in (self.n, self.sums, self.squares))
        return Sums(n, sums, squares)


@dataclass(frozen=True, eq=False)
class SetValues:
    """A metric of each set from its sums: value, standard error, interval, effective size; NaN where undefined."""

    n: NDArray[np.int64]
    value: Floats
    error: Floats
    low: Floats
    high: Floats
    size: Floats


class RowSums:
    """One metric of counts or means, on any sets of the rows.

    Examples
    --------
    >>> from isonomia.metrics import METRICS
    >>> rows = Rows(np.array([0, 1, 1, 0]), Surface.of_labels([0, 1, 0, 0], classes=(0, 1)))
    >>> accuracy = RowSums(METRICS["accuracy"], rows)
    >>> accuracy.measure(accuracy.over([Codes.encode(["a", "a", "b", "b"])]), 0.95).value.tolist()
    [1.0, 0.5]
    """

    def __init__(self, metric: Metric, rows: Rows) -> None:
        if metric.family == "ranks":
            raise SpecError(f"The metric '{metric.id}' does not add up over slices.")
        self.metric, self.rows = metric, rows
        self.kind: Literal["rate", "table", "means"] = "means"
        self._codes: Codes | None = None
        self._quantities: Floats | None = None
        self._centre: Floats = np.zeros(0)
        if metric.family == "means":
            assert metric.quantities is not None  # the registry makes sure
            found = np.asarray(metric.quantities(rows.truth, rows.surface), dtype=float)
            # moments about a nearby point: those about 0 lose all digits where the values are far from it
            self._centre = found.mean(axis=0) if len(found) else np.zeros(found.shape[1])
            self._quantities = found - self._centre
        else:
            parts = _rate_parts(metric, rows.shape)
            self.kind = "table" if parts is None else "rate"
            own = rows.outcome
            self._codes = own if parts is None else Codes("outcome", parts[own.codes], ("neither", "no", "yes"))

    def take(self, rows: NDArray[Any]) -> RowSums:
        """The same for some of the rows."""
        other = object.__new__(RowSums)
        other.metric, other.kind, other._centre = self.metric, self.kind, self._centre
        other.rows = self.rows.take(rows)
        other._codes = None if self._codes is None else self._codes.take(rows)
        other._quantities = None if self._quantities is None else self._quantities[rows]
        return other

    def values(self) -> tuple[Floats, Bools | None]:
        """The value of each row whose mean a rate or a mean is, and the rows that have one (None: all)."""
        if self._quantities is not None:
            return self._quantities[:, 0] + self._centre[0], None
        assert self._codes is not None
        codes = self._codes.codes
        if self.kind != "rate":
            raise SpecError(f"The metric '{self.metric.id}' is not a mean over rows.")
        return (codes == 2).astype(float), codes > 0

    def loss(self) -> tuple[Floats, Bools | None]:
        """One number per row that is high where the metric is bad, and the rows that have one (None: all)."""
        if self.kind == "table":
            codes = self.rows.outcome.codes
            return (codes // self.rows.shape[1] != codes % self.rows.shape[1]).astype(float), None
        value, defined = self.values()
        return (1.0 - value if self.kind == "rate" and self.metric.higher_is_better else value), defined

    def over(self, columns: Sequence[Codes]) -> Sums:
        """The sums of every cell of these columns, in one pass over the rows."""
        w = self.rows.weights
        if self._codes is not None:
            table = tally([*columns, self._codes], weights=w)
            return Sums(table.n.sum(axis=-1), np.asarray(table.w, dtype=float), np.asarray(table.w2, dtype=float))
        q = self._parts
        table = tally(columns, weights=w, values=self._products)
        sums = np.stack([np.asarray(table.w, dtype=float), *(table.sums[f"s{i}"] for i in range(q))], axis=-1)
        squares = np.empty((*table.n.shape, q + 1, q + 1))
        squares[..., 0, 0] = table.w2
        for i in range(q):
            squares[..., 0, i + 1] = squares[..., i + 1, 0] = table.sums[f"s{i}" if w is None else f"p{i}"]
            for j in range(i, q):
                squares[..., i + 1, j + 1] = squares[..., j + 1, i + 1] = table.sums[f"p{i},{j}"]
        return Sums(table.n, sums, squares)

    @property
    def _parts(self) -> int:
        assert self._quantities is not None
        return int(self._quantities.shape[1])

    @cached_property
    def _products(self) -> dict[str, Floats]:
        """Row quantities and their products (times the weight, which a tally multiplies in once more)."""
        assert self._quantities is not None
        q, w = self._quantities, self.rows.weights
        values: dict[str, Floats] = {}
        for i in range(self._parts):
            values[f"s{i}"] = np.ascontiguousarray(q[:, i])
            if w is not None:
                values[f"p{i}"] = q[:, i] * w
            for j in range(i, self._parts):
                product = q[:, i] * q[:, j]
                values[f"p{i},{j}"] = product if w is None else product * w
        return values

    def value(self, sums: Floats) -> Floats:
        """The metric, from sums (..., P)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.kind == "rate":
                base = sums[..., 1] + sums[..., 2]
                return np.where(base > 0, sums[..., 2] / base, np.nan)
            if self.kind == "table":
                assert self.metric.from_counts is not None
                return self.metric.from_counts(sums.reshape(*sums.shape[:-1], *self.rows.shape))
            assert self.metric.from_sums is not None
            return self.metric.from_sums(sums[..., 0], sums[..., 1:] + sums[..., :1] * self._centre)

    def measure(self, sums: Sums, level: float = 0.95) -> SetValues:
        """Value, standard error and interval of each set: Wilson's for proportions, Student's for others."""
        value, size = self.value(sums.sums), self._size(sums)
        with np.errstate(divide="ignore", invalid="ignore"):
            error = self._error(sums, value)
            if self.kind == "rate":
                low, high = wilson(value * size, size, level)
            else:
                low, high = np.clip(student_interval(value, error, size, level), *self.metric.range)
        undefined = np.isnan(value)
        low, high = (np.where(undefined, np.nan, end) for end in (low, high))
        return SetValues(n=sums.n, value=value, error=error, low=low, high=high, size=size)

    def compare(self, one: Sums, other: Sums) -> Floats:
        """P-values that the metric is the same on two families of sets that share no row."""
        a, b = self.value(one.sums), self.value(other.sums)
        n, m = self._size(one), self._size(other)
        if self.kind == "rate":
            return two_proportions(np.nan_to_num(a) * n, n, np.nan_to_num(b) * m, m)
        with np.errstate(divide="ignore", invalid="ignore"):
            p = welch(a, self._error(one, a), n - 1, b, self._error(other, b), m - 1)
        return np.where((n > 1) & (m > 1) & ~np.isnan(a) & ~np.isnan(b), p, np.nan)

    def influence(self, sets: Codes) -> tuple[Floats, Floats]:
        """The value of each set (S,), and what each row (n,) adds to the value of its own set, to first order.

        The root of the sum of squared influences over a set is the standard error of its value, and that of the
        differences of two surfaces' influences on the same rows the standard error of the change.
        """
        sums = self.over([sets])
        value = self.value(sums.sums)
        g = np.nan_to_num(self._gradient(sums, value))
        # a metric ignores scale: rounding alone makes g . T differ from 0
        along = (g * sums.sums).sum(axis=-1)
        index = sets.codes
        with np.errstate(divide="ignore", invalid="ignore"):
            if self._codes is not None:
                g = g - np.nan_to_num(along / sums.sums.sum(axis=-1))[:, None]
                parts = g[index, self._codes.codes]
            else:
                assert self._quantities is not None
                g[:, 0] -= np.nan_to_num(along / sums.sums[:, 0])
                parts = g[index, 0] + np.einsum("nq,nq->n", self._quantities, g[index, 1:])
        return value, parts if self.rows.weights is None else parts * self.rows.weights

    def _size(self, sums: Sums) -> Floats:
        """The effective number of rows behind the metric: (sum w)^2 / sum w^2."""
        if self.kind == "rate":
            w, w2 = sums.sums[..., 1:].sum(axis=-1), sums.squares[..., 1:].sum(axis=-1)
        elif self.kind == "table":
            w, w2 = sums.sums.sum(axis=-1), sums.squares.sum(axis=-1)
        else:
            w, w2 = sums.sums[..., 0], sums.squares[..., 0, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(w2 > 0, w * w / w2, 0.0)

    def _error(self, sums: Sums, value: Floats) -> Floats:
        g = self._gradient(sums, value)
        if self.kind == "means":
            variance = np.einsum("...i,...ij,...j->...", g, sums.squares, g)
        else:
            variance = (g * g * sums.squares).sum(axis=-1)
        size = self._size(sums)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(size > 1, np.sqrt(np.maximum(variance, 0.0) * size / (size - 1)), np.nan)

    def _gradient(self, sums: Sums, value: Floats) -> Floats:
        """The derivative of the metric by each sum; zero along the sums themselves, since metrics ignore scale."""
        total = sums.sums
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.kind == "rate":
                base = (total[..., 1] + total[..., 2])[..., None]
                return np.stack([np.zeros_like(value), -value, 1 - value], axis=-1) / base
            if self.kind == "means" and self.metric.from_sums is mean:
                return np.stack([self._centre[0] - value, np.ones_like(value)], axis=-1) / total[..., :1]
            whole = (total.sum(axis=-1) if self.kind == "table" else total[..., 0])[..., None]
            share, step = total / whole, self._steps(sums)
            out = np.empty_like(share)
            base_value = self.value(share)
            for part in range(share.shape[-1]):
                moved = share.copy()
                moved[..., part] += step[..., part]
                out[..., part] = (self.value(moved) - base_value) / step[..., part]
            return np.where(np.isnan(out), 0.0, out) / whole

    def _steps(self, sums: Sums) -> Floats:
        """Steps of the numeric derivative: on the scale of the rows, not of their mean, which may lie near 0."""
        if self.kind == "table":
            return np.full(sums.sums.shape, STEP)
        square = np.diagonal(sums.squares, axis1=-2, axis2=-1)
        scale = np.sqrt(np.maximum(square / square[..., :1], 0.0))
        return STEP * np.where(scale > 0, scale, 1.0)


def _rate_parts(metric: Metric, shape: tuple[int, int]) -> NDArray[np.uint8] | None:
    """For a proportion: whether each cell of the confusion table counts as neither, no or yes; else None."""
    if metric.rate is None:
        return None
    size = shape[0] * shape[1]
    top, bottom = (np.asarray(part) for part in metric.rate(np.eye(size).reshape(size, *shape)))
    if not (np.isin(top, (0, 1)).all() and np.isin(bottom, (0, 1)).all() and (top <= bottom).all()):
        return None
    return (top + bottom).astype(np.uint8)
