"""Sums over sets of rows, and the metrics that follow from them: rows are read once, never set by set.

A metric of counts or means is a function f of sums over rows: of the cells of a confusion table, or of row quantities.
A set of rows needs no more than these sums, T. Its standard error is that of the delta method, with g the derivative of
f: the root of the sum over rows of w^2 (g . z)^2, z being the row's own part of T. w (g . z) is the row's influence.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, cross_codes, tally
from isonomia.errors import SpecError
from isonomia.evidence import two_proportions, welch
from isonomia.evidence.explained_intervals import ExplainedEnds
from isonomia.evidence.intervals import Figures, difference_p, student_interval, wilson
from isonomia.evidence.mean_intervals import MeanEnds
from isonomia.metrics.derivatives import derivative, table_derivative
from isonomia.metrics.explained_variance import POWERS, explained_ends
from isonomia.metrics.means import CONSTANT, EPSILON, mean, r_squared, root_mean
from isonomia.metrics.registry import Metric
from isonomia.metrics.rows import Rows
from isonomia.metrics.set_sums import SetValues, Sums
from isonomia.typing import Bools, Floats

#: Rows added to a loss of probabilities before its interval is worked out, spread evenly over the classes.
ADDED_ROWS = 2.0


class RowSums:
    """One metric of counts or means, on any sets of the rows.

    Examples
    --------
    >>> from isonomia.metrics import METRICS
    >>> from isonomia.models import Surface
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
            self._centre = np.average(found, axis=0, weights=rows.counts) if len(found) else np.zeros(found.shape[1])
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
            table = tally([*columns, self._codes], weights=w, counts=self.rows.counts)
            n, w, w2 = table.n.sum(axis=-1), np.asarray(table.w, dtype=float), np.asarray(table.w2, dtype=float)
            none = np.zeros((*n.shape, 0))
            return Sums(n=n, sums=w, squares=w2, cubes=none, losses=none)
        q, (names, products) = self._parts, self._products
        table = tally(columns, weights=w, values={"products": products}, counts=self.rows.counts)
        found = dict(zip(names, np.moveaxis(table.sums["products"], -1, 0), strict=True))
        sums = np.stack([np.asarray(table.w, dtype=float), *(found[f"s{i}"] for i in range(q))], axis=-1)
        squares = np.empty((*table.n.shape, q + 1, q + 1))
        squares[..., 0, 0] = table.w2
        for i in range(q):
            squares[..., 0, i + 1] = squares[..., i + 1, 0] = found[f"s{i}" if w is None else f"p{i}"]
            for j in range(i, q):
                squares[..., i + 1, j + 1] = squares[..., j + 1, i + 1] = found[f"p{i},{j}"]
        none = np.zeros((*table.n.shape, 0))
        if not self.single:
            cubes = np.stack([found[f"t{k}"] for k in range(len(POWERS))], axis=-1) if self.explains else none
            return Sums(n=table.n, sums=sums, squares=squares, cubes=cubes, losses=none)
        lower = (table.n, found["s0"], found["p0,0"]) if w is None else (found[f"c{k}"] for k in range(3))
        last = table.n if w is None else found["f"]
        cubes = np.stack([*lower, found["c3"], last], axis=-1).astype(float)
        losses = [found[f"l{code}"] for code in range(self._losses.shape[1])]
        return Sums(
            n=table.n, sums=sums, squares=squares, cubes=cubes, losses=np.stack(losses, axis=-1) if losses else none
        )

    @property
    def single(self) -> bool:
        """Whether the metric is the mean of one quantity, or its root: its skewness is then known."""
        return self.kind == "means" and self.metric.from_sums in (mean, root_mean)

    @property
    def explains(self) -> bool:
        """Whether the metric is R2."""
        return self.metric.from_sums is r_squared

    @property
    def _is_loss(self) -> bool:
        """Whether the metric is a mean loss of probabilities."""
        about = self.metric.needs_labels and not self.metric.proportion and self.metric.range[0] >= 0
        return self.single and about and self.rows.surface.task != "regression"

    @property
    def _parts(self) -> int:
        assert self._quantities is not None
        return int(self._quantities.shape[1])

    @cached_property
    def _losses(self) -> Floats:
        """What each row of a loss of probabilities would have lost as one of each class: (n, K), else empty."""
        if not self._is_loss:
            return np.zeros((0, 0))
        quantities, surface = self.metric.quantities, self.rows.surface
        assert quantities is not None
        classes = (np.full(len(surface), code) for code in range(len(surface.classes)))
        return np.hstack([quantities(truth, surface) for truth in classes]) - self._centre

    @cached_property
    def _products(self) -> tuple[list[str], Floats]:
        """Names and columns of row quantities and their products (times the weight, which a tally multiplies in)."""
        assert self._quantities is not None
        q, w = self._quantities, self.rows.weights
        values: dict[str, Floats] = {}
        for i in range(self._parts):
            values[f"s{i}"] = q[:, i]
            if w is not None:
                values[f"p{i}"] = q[:, i] * w
            for j in range(i, self._parts):
                product = q[:, i] * q[:, j]
                values[f"p{i},{j}"] = product if w is None else product * w
        if self.single:
            v = q[:, 0]
            values["c3"] = v * v * v if w is None else v * v * v * w * w
            if w is not None:
                values |= {"c0": w * w, "c1": v * w * w, "c2": v * v * w * w, "f": w**3}
        if self.explains:
            square, label = q[:, 0] + self._centre[0], q[:, 1] + self._centre[1]
            by = 1.0 if w is None else w * w
            values |= {f"t{k}": square**i * label**j * by for k, (i, j) in enumerate(POWERS)}
        values |= {f"l{code}": part for code, part in enumerate(self._losses.T)}
        return list(values), np.stack(list(values.values()), axis=1)

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
        """Value, standard error and interval of each set: Wilson's of proportions, Hall's of means, or another."""
        value, size = self.value(sums.sums), self._size(sums)
        with np.errstate(divide="ignore", invalid="ignore"):
            error = self._error(sums, value)
            if self.kind == "rate" or self.metric.proportion:
                low, high = wilson(value * size, size, level)
            elif self.single:
                low, high = np.clip(self.ends(sums).at((1 - level) / 2), *self.metric.range)
            elif self.kind == "means":
                low, high = np.clip(self.delta_ends(sums).at((1 - level) / 2), *self.metric.range)
            else:
                low, high = np.clip(student_interval(value, error, size, level), *self.metric.range)
        undefined = np.isnan(value)
        low, high = (np.where(undefined, np.nan, end) for end in (low, high))
        return SetValues(n=sums.n, value=value, error=error, low=low, high=high, size=size)

    def ends(self, sums: Sums) -> MeanEnds:
        """Mean, standard error, skewness and degrees of freedom of each set: its intervals at any level.

        With d = v - mean the variance is sum w^2 d^2 / (sum w)^2, corrected for the mean's own spread (n / (n - 1)
        without weights), the third cumulant sum w^3 d^3 / (sum w)^3, and there are (sum w^2)^2 / sum w^4 - 1 degrees of
        freedom: unequal weights leave fewer rows to estimate a variance from.

        Losses of probabilities have these moments with two rows more, spread evenly over the classes: a row that had
        turned out to be of class c, at the average of what the loss would have been. Samples with few or no rows of a
        class know little about its losses, and the sample alone would claim to know them.
        """
        W, first = sums.sums[..., 0], sums.sums[..., 1]
        w2, w2v, w2vv = sums.squares[..., 0, 0], sums.squares[..., 0, 1], sums.squares[..., 1, 1]
        c0, c1, c2, c3, w4 = (sums.cubes[..., k] for k in range(5))
        with np.errstate(divide="ignore", invalid="ignore"):
            df = w2 * w2 / w4 - 1
            known, mean_of_rows = df > 1e-9, np.where(W > 0, first / W, np.nan)
            if sums.losses.shape[-1]:
                one = w2 / W  # the weight of a typical row
                v = sums.losses / W[..., None]
                power = [ADDED_ROWS * (v**k).mean(axis=-1) for k in range(4)]
                W, first = W + one * power[0], first + one * power[1]
                w2, w2v, w2vv = (part + one**2 * more for part, more in zip((w2, w2v, w2vv), power[:3], strict=True))
                c0, c1, c2, c3 = (part + one**3 * more for part, more in zip((c0, c1, c2, c3), power, strict=True))
                df = df + ADDED_ROWS
            m = np.where(W > 0, first / W, np.nan)
            spread = w2vv - 2 * m * w2v + m * m * w2
            rounding = np.maximum(CONSTANT * w2vv, (4 * EPSILON * self._centre[0]) ** 2 * w2)
            spread = np.where(spread > rounding, spread, 0.0)
            error = np.sqrt(spread * w2 / np.maximum(w2 - 2 * c0 / W + w2 * w2 / W**2, 0.0)) / W
            third = (c3 - 3 * m * c2 + 3 * m * m * c1 - m**3 * c0) / W**3
            skewness = np.where(error > 0, third / error**3, 0.0)
        error = np.where(known & np.isfinite(error), error, np.nan)
        kind: Literal["any", "positive", "root"] = "positive" if self.metric.range[0] >= 0 else "any"
        if self.metric.from_sums is root_mean:
            kind = "root"
        return MeanEnds(
            value=mean_of_rows + self._centre[0],
            error=error,
            skewness=skewness,
            df=df,
            kind=kind,
            centre=m + self._centre[0] if sums.losses.shape[-1] else None,
        )

    def delta_ends(self, sums: Sums) -> ExplainedEnds | MeanEnds:
        """A function of several means of each set by the delta method: that of R2, or Student's on its own scale."""
        value, size = self.value(sums.sums), self._size(sums)
        error = self._error(sums, value)
        if not self.explains:
            return MeanEnds(value, error, np.zeros_like(value), size - 1)
        return explained_ends(sums, self._centre, value, error, size)

    def compare(self, one: Sums, other: Sums) -> Floats:
        """P-values that the metric is the same on two families of sets that share no row."""
        a, b = self.value(one.sums), self.value(other.sums)
        n, m = self._size(one), self._size(other)
        if self.kind == "rate" or self.metric.proportion:
            return two_proportions(np.nan_to_num(a) * n, n, np.nan_to_num(b) * m, m)
        if self.single and not self.metric.proportion:
            return difference_p(Figures(a, ends=self.ends(one)), Figures(b, ends=self.ends(other)))
        if self.kind == "means":
            return difference_p(Figures(a, ends=self.delta_ends(one)), Figures(b, ends=self.delta_ends(other)))
        with np.errstate(divide="ignore", invalid="ignore"):
            p = welch(a, self._error(one, a), n - 1, b, self._error(other, b), m - 1)
        return np.where((n > 1) & (m > 1) & ~np.isnan(a) & ~np.isnan(b), p, np.nan)

    def influence(self, sets: Codes) -> tuple[Floats, Floats]:
        """The value of each set (S,), and what each row (n,) adds to the value of its own set, to first order.

        The root of the sum of squared influences over a set is the standard error of its value, and that of the
        differences of two surfaces' influences on the same rows the standard error of the change.
        """
        sums = self._totals(sets)
        value = self.value(sums)
        g = np.nan_to_num(self._gradient(sums, value))
        # a metric ignores scale: rounding alone makes g . T differ from 0
        along = (g * sums).sum(axis=-1)
        index = sets.codes
        with np.errstate(divide="ignore", invalid="ignore"):
            if self._codes is not None:
                g = g - np.nan_to_num(along / sums.sum(axis=-1))[:, None]
                parts = g.ravel()[cross_codes(index, self._codes.codes, (sets.size, self._codes.size))]
            else:
                assert self._quantities is not None
                g[:, 0] -= np.nan_to_num(along / sums[:, 0])
                parts = g[:, 0][index]
                for i in range(self._parts):
                    parts += self._quantities[:, i] * g[:, i + 1][index]
        return value, parts if self.rows.weights is None else parts * self.rows.weights

    def _totals(self, sets: Codes) -> Floats:
        """The sums of each set (S, P) that the value is a function of: the first part of `over`."""
        weights, counts = self.rows.weights, self.rows.counts
        if self._codes is not None:
            return np.asarray(tally([sets, self._codes], weights=weights, counts=counts).w, dtype=float)
        assert self._quantities is not None
        values = {f"s{i}": np.ascontiguousarray(part) for i, part in enumerate(self._quantities.T)}
        table = tally([sets], weights=weights, values=values, counts=counts)
        return np.stack([np.asarray(table.w, dtype=float), *(table.sums[name] for name in values)], axis=-1)

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
        g = self._gradient(sums.sums, value)
        if self.kind == "means":
            variance = np.einsum("...i,...ij,...j->...", g, sums.squares, g)
        else:
            variance = (g * g * sums.squares).sum(axis=-1)
        size = self._size(sums)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(size > 1, np.sqrt(np.maximum(variance, 0.0) * size / (size - 1)), np.nan)

    def _gradient(self, total: Floats, value: Floats) -> Floats:
        """The derivative of the metric by each sum; zero along the sums themselves, since metrics ignore scale."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.kind == "rate":
                base = (total[..., 1] + total[..., 2])[..., None]
                return np.stack([np.zeros_like(value), -value, 1 - value], axis=-1) / base
            if self.kind == "means" and self.metric.from_sums is mean:
                return np.stack([self._centre[0] - value, np.ones_like(value)], axis=-1) / total[..., :1]
            whole = (total.sum(axis=-1) if self.kind == "table" else total[..., 0])[..., None]
            if self.kind == "table":
                tables = (total / whole).reshape(*total.shape[:-1], *self.rows.shape)
                compute = self.metric.from_counts
                assert compute is not None
                found = table_derivative(compute, tables, of_margins=self.metric.of_margins).reshape(total.shape)
            else:
                found = derivative(self.value, total / whole)
            return np.nan_to_num(found, posinf=0.0, neginf=0.0) / whole


def _rate_parts(metric: Metric, shape: tuple[int, int]) -> NDArray[np.uint8] | None:
    """For a proportion: whether each cell of the confusion table counts as neither, no or yes; else None."""
    if metric.rate is None:
        return None
    rate = metric.rate

    def counts_for(part: int) -> Floats:  # a rate is linear in the table: what a cell counts for is its derivative
        return table_derivative(lambda C: rate(C)[part], np.ones(shape), of_margins=metric.of_margins).ravel()

    top, bottom = counts_for(0), counts_for(1)
    if not (np.isin(top, (0, 1)).all() and np.isin(bottom, (0, 1)).all() and (top <= bottom).all()):
        return None
    return (top + bottom).astype(np.uint8)
