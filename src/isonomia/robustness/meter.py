"""A metric measured on many slices at once, from sums over their cells: rows are read once, never slice by slice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, smallest, tally
from isonomia.errors import SpecError
from isonomia.evidence import two_proportions, welch, wilson
from isonomia.metrics import Metric
from isonomia.metrics.means import mean
from isonomia.subject import Outcome
from isonomia.typing import Floats

#: Step of the numeric derivative of a metric, as a share of all rows.
STEP = 1e-6


@dataclass(frozen=True, eq=False)
class Cells:
    """Sums over the rows of each slice.

    Attributes
    ----------
    n : (...) rows of each slice
    sums : (..., P) weighted sums of the P parts a metric is made of
    squares : (..., P) or (..., P, P) the same with squared weights: of each part, or of products of parts
    """

    n: NDArray[np.int64]
    sums: Floats
    squares: Floats

    def __add__(self, other: Cells) -> Cells:
        return Cells(self.n + other.n, self.sums + other.sums, self.squares + other.squares)

    def __sub__(self, other: Cells) -> Cells:
        return Cells(self.n - other.n, self.sums - other.sums, self.squares - other.squares)

    def __getitem__(self, key: Any) -> Cells:
        return Cells(np.asarray(self.n[key]), self.sums[key], self.squares[key])

    def flat(self) -> Cells:
        """The cells of a cross table as one list."""
        size, lead = self.n.size, self.n.ndim
        sums, squares = (part.reshape(size, *part.shape[lead:]) for part in (self.sums, self.squares))
        return Cells(self.n.ravel(), sums, squares)

    def along(self, axis: int, size: int) -> Cells:
        """The same sums once for each of `size` places of a new direction."""

        def repeated(part: NDArray[Any]) -> NDArray[Any]:
            return np.repeat(np.expand_dims(part, axis), size, axis)

        return Cells(repeated(self.n), repeated(self.sums), repeated(self.squares))

    def total(self, axis: int | tuple[int, ...] = 0) -> Cells:
        """Summed over slices."""
        return Cells(
            np.asarray(self.n.sum(axis=axis)), np.asarray(self.sums.sum(axis=axis)), np.asarray(self.squares.sum(axis))
        )


@dataclass(frozen=True, eq=False)
class Measured:
    """A metric of each slice: its value, standard error, interval and effective number of rows; NaN if undefined."""

    n: NDArray[np.int64]
    value: Floats
    error: Floats
    low: Floats
    high: Floats
    size: Floats


class Meter:
    """Measures one metric of one outcome on any slices.

    A metric of the registry is a function f of sums over rows: of counts of a confusion table, or of row quantities.
    A slice needs no more than these sums, T. Its standard error is that of the delta method, with g the derivative of
    f: sum over rows of w^2 (g . z)^2, z being the row's own part of T. Proportions have Wilson's interval, others
    Student's.

    Examples
    --------
    >>> from isonomia.subject import Subject
    >>> from isonomia.robustness.row_metrics import MEASURES
    >>> meter = Meter(MEASURES["error_rate"], Subject.of([0, 1, 1, 0], [0, 1, 0, 0]).outcome, None)
    >>> meter.measure(meter.count([Codes.encode(["a", "a", "b", "b"])]), 0.95).value.tolist()
    [0.0, 0.5]
    """

    def __init__(self, metric: Metric, outcome: Outcome, weights: Floats | None) -> None:
        if metric.family == "ranks":
            raise SpecError(f"The metric '{metric.id}' does not add up over slices.")
        self.metric = metric
        self.weights = weights
        self.kind: Literal["rate", "table", "means"] = "means"
        self._shape = (len(outcome.surface.classes),) * 2
        self._codes: Codes | None = None
        self._quantities: Floats | None = None
        if metric.family == "means":
            assert metric.quantities is not None
            self._quantities = np.asarray(metric.quantities(outcome.truth, outcome.surface), dtype=float)
        else:
            self._codes = self._of_counts(outcome)

    def _of_counts(self, outcome: Outcome) -> Codes:
        truth, label = outcome.truth, outcome.surface.label
        assert truth is not None
        assert label is not None
        k = self._shape[1]
        flat = truth.astype(smallest(k * k)) * smallest(k * k).type(k) + label.astype(smallest(k * k))
        parts = _rate_parts(self.metric, k)
        if parts is None:
            self.kind = "table"
            return Codes("outcome", flat, tuple(range(k * k)))
        self.kind = "rate"
        return Codes("outcome", parts[flat], ("neither", "no", "yes"))

    def take(self, rows: NDArray[Any]) -> Meter:
        """The same for some of the rows."""
        other = object.__new__(Meter)
        other.metric, other.kind, other._shape = self.metric, self.kind, self._shape
        other.weights = None if self.weights is None else self.weights[rows]
        other._codes = None if self._codes is None else self._codes.take(rows)
        other._quantities = None if self._quantities is None else self._quantities[rows]
        return other

    def loss(self) -> tuple[Floats, NDArray[np.bool_] | None]:
        """One number a row that tells where the metric is bad, and the rows that have one (None: all)."""
        if self._quantities is not None:
            return self._quantities[:, 0], None
        assert self._codes is not None
        codes = self._codes.codes
        if self.kind == "rate":
            bad = codes == (1 if self.metric.higher_is_better else 2)
            return bad.astype(float), codes > 0
        return (codes // self._shape[1] != codes % self._shape[1]).astype(float), None

    def count(self, columns: Sequence[Codes]) -> Cells:
        """The sums of every cell of these columns, in one pass over the rows."""
        if self._codes is not None:
            table = tally([*columns, self._codes], weights=self.weights)
            return Cells(table.n.sum(axis=-1), np.asarray(table.w, dtype=float), np.asarray(table.w2, dtype=float))
        assert self._quantities is not None
        q, w = self._quantities, self.weights
        places = range(q.shape[1])
        table = tally(columns, weights=w, values=self._products)
        sums = np.stack([np.asarray(table.w, dtype=float), *(table.sums[f"s{i}"] for i in places)], axis=-1)
        squares = np.empty((*table.n.shape, q.shape[1] + 1, q.shape[1] + 1))
        squares[..., 0, 0] = table.w2
        for i in places:
            squares[..., 0, i + 1] = squares[..., i + 1, 0] = table.sums[f"s{i}" if w is None else f"p{i}"]
            for j in range(i, q.shape[1]):
                squares[..., i + 1, j + 1] = squares[..., j + 1, i + 1] = table.sums[f"p{i}{j}"]
        return Cells(table.n, sums, squares)

    @cached_property
    def _products(self) -> dict[str, Floats]:
        """Row quantities and their products (times the weight, which a tally multiplies in once more)."""
        assert self._quantities is not None
        q, w = self._quantities, self.weights
        values: dict[str, Floats] = {}
        for i in range(q.shape[1]):
            values[f"s{i}"] = np.ascontiguousarray(q[:, i])
            if w is not None:
                values[f"p{i}"] = q[:, i] * w
            for j in range(i, q.shape[1]):
                product = q[:, i] * q[:, j]
                values[f"p{i}{j}"] = product if w is None else product * w
        return values

    def value(self, sums: Floats) -> Floats:
        """The metric, from sums."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.kind == "rate":
                base = sums[..., 1] + sums[..., 2]
                return np.where(base > 0, sums[..., 2] / base, np.nan)
            if self.kind == "table":
                assert self.metric.from_counts is not None
                return self.metric.from_counts(sums.reshape(*sums.shape[:-1], *self._shape))
            assert self.metric.from_sums is not None
            return self.metric.from_sums(sums[..., 0], sums[..., 1:])

    def measure(self, cells: Cells, level: float = 0.95) -> Measured:
        """Value, standard error and interval of each slice."""
        from scipy.special import stdtrit

        value = self.value(cells.sums)
        size = self._size(cells)
        with np.errstate(divide="ignore", invalid="ignore"):
            error = self._error(cells, value)
            if self.kind == "rate":
                low, high = wilson(value * size, size, level)
            else:
                half = stdtrit(np.maximum(size - 1, 1), 0.5 + level / 2) * error
                low = np.maximum(value - half, self.metric.range[0])
                high = np.minimum(value + half, self.metric.range[1])
        undefined = np.isnan(value)
        return Measured(
            cells.n, value, error, np.where(undefined, np.nan, low), np.where(undefined, np.nan, high), size
        )

    def compare(self, one: Cells, other: Cells) -> Floats:
        """P-values that the metric is the same on two sets of slices that share no row."""
        a, b = self.value(one.sums), self.value(other.sums)
        n, m = self._size(one), self._size(other)
        if self.kind == "rate":
            return two_proportions(np.nan_to_num(a) * n, n, np.nan_to_num(b) * m, m)
        with np.errstate(divide="ignore", invalid="ignore"):
            p = welch(a, self._error(one, a), n - 1, b, self._error(other, b), m - 1)
        return np.where((n > 1) & (m > 1) & ~np.isnan(a) & ~np.isnan(b), p, np.nan)

    def _size(self, cells: Cells) -> Floats:
        """The effective number of rows behind the metric: (sum w)^2 / sum w^2."""
        if self.kind == "rate":
            w, w2 = cells.sums[..., 1:].sum(axis=-1), cells.squares[..., 1:].sum(axis=-1)
        elif self.kind == "table":
            w, w2 = cells.sums.sum(axis=-1), cells.squares.sum(axis=-1)
        else:
            w, w2 = cells.sums[..., 0], cells.squares[..., 0, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(w2 > 0, w * w / w2, 0.0)

    def _error(self, cells: Cells, value: Floats) -> Floats:
        g = self._gradient(cells.sums, value)
        if self.kind == "means":
            variance = np.einsum("...i,...ij,...j->...", g, cells.squares, g)
        else:
            variance = (g * g * cells.squares).sum(axis=-1)
        size = self._size(cells)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(size > 1, np.sqrt(np.maximum(variance, 0.0) * size / (size - 1)), np.nan)

    def _gradient(self, sums: Floats, value: Floats) -> Floats:
        """The derivative of the metric by each sum; zero along the sums themselves, since metrics ignore scale."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.kind == "rate":
                base = (sums[..., 1] + sums[..., 2])[..., None]
                return np.stack([np.zeros_like(value), -value, 1 - value], axis=-1) / base
            if self.kind == "means" and self.metric.from_sums is mean:
                return np.stack([-value, np.ones_like(value)], axis=-1) / sums[..., :1]
            total = (sums.sum(axis=-1) if self.kind == "table" else sums[..., 0])[..., None]
            share = sums / total
            out = np.empty_like(share)
            base_value = self.value(share)
            for place in range(share.shape[-1]):
                scale = STEP * np.maximum(np.abs(share[..., place]), 1.0)
                moved = share.copy()
                moved[..., place] += scale
                out[..., place] = (self.value(moved) - base_value) / scale
            return np.where(np.isnan(out), 0.0, out) / total


def _rate_parts(metric: Metric, k: int) -> NDArray[np.uint8] | None:
    """For a proportion: whether each cell of the confusion table counts as neither, no or yes; else None."""
    if metric.rate is None:
        return None
    top, bottom = (np.asarray(part) for part in metric.rate(np.eye(k * k).reshape(k * k, k, k)))
    if not (np.isin(top, (0, 1)).all() and np.isin(bottom, (0, 1)).all() and (top <= bottom).all()):
        return None
    return (top + bottom).astype(np.uint8)
