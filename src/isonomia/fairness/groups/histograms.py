"""Distribution functions of many overlapping sets of rows, exact and resampled, without a rows x sets table.

Rows are sorted once. A set is then a sorted selection of indices into the distinct values, and a pair of sets is
compared in the time of the smaller one: between two jumps of one distribution function the other only rises.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, Tally, mean_by, resample, smallest, sum_by, tally
from isonomia.evidence import percentile
from isonomia.typing import Floats

Indices = NDArray[np.integer[Any]]

#: Bins of the bootstrap; within one, distributions are taken as straight lines.
BINS = 128
#: Replicates are drawn in blocks of at most this many numbers (sets x replicates x bins).
BLOCK = 1 << 21
SLACK = 1e-12


@dataclass(frozen=True, eq=False)
class Steps:
    """The distribution function of a set: it jumps at `indices` (into the distinct values) to the shares `reached`."""

    indices: Indices
    reached: Floats
    mean: float
    variance: float
    size: float

    def quantile(self, levels: Floats, values: Floats) -> Floats:
        """The smallest value at which the function reaches each level."""
        at = np.searchsorted(self.reached, levels - SLACK)
        return values[self.indices[np.minimum(at, self.indices.size - 1)]]


@dataclass(frozen=True, eq=False)
class Histograms:
    """Predictions in order, with what belongs to which set.

    Attributes
    ----------
    values : (U,) the distinct values, in order
    index : (n,) the index of each row's value in `values`, non-decreasing
    cells : (n,) the cell of each row, in the same order
    membership : (cells, sets) 1 where a cell belongs to a set
    weights : (n,) or None, in the same order
    counts : (n,) or None, in the same order: how many identical rows each row stands for
    """

    values: Floats
    index: Indices
    cells: Indices
    membership: Floats
    weights: Floats | None
    counts: NDArray[np.int64] | None = None

    @classmethod
    def of(
        cls,
        numbers: Floats,
        cells: Indices,
        membership: Floats,
        weights: Floats | None,
        counts: NDArray[np.int64] | None = None,
    ) -> Histograms:
        """Sort once."""
        order = np.argsort(numbers, kind="stable")
        ordered = numbers[order]
        jump = np.concatenate([[True], ordered[1:] != ordered[:-1]])
        index = (np.cumsum(jump) - 1).astype(np.int64)
        own = None if weights is None else weights[order]
        return cls(ordered[jump], index, cells[order], membership, own, None if counts is None else counts[order])

    def steps(self, index: int) -> Steps | None:
        """The distribution function of a set; None where it has no weight."""
        rows = self._rows(index)
        indices = self.index[rows]
        each = np.ones(indices.size) if self.weights is None else self.weights[rows]
        w = each if self.counts is None else each * self.counts[rows]
        running = np.cumsum(w)
        if not indices.size or running[-1] <= 0:
            return None
        last = np.flatnonzero(np.concatenate([indices[1:] != indices[:-1], [True]]))
        total = float(running[-1])
        x = self.values[indices] - self.values[indices[0]]
        mean = float(w @ x / total)
        variance = float(w @ (x - mean) ** 2 / total)
        at = indices[last]
        reached = running[last] / total
        return Steps(at, reached, mean + float(self.values[indices[0]]), variance, total * total / float(w @ each))

    def _rows(self, index: int) -> NDArray[Any]:
        """The rows of a set, in order of their values."""
        cells = np.flatnonzero(self.membership[:, index])
        if cells.size == 1:
            start, end = np.searchsorted(self._runs[1], [cells[0], cells[0] + 1])
            return self._runs[0][start:end]
        return (self.membership[:, index] > 0)[self.cells]

    @cached_property
    def _runs(self) -> tuple[NDArray[np.intp], Indices]:
        """Rows cell by cell, each in order of its values, and their cells."""
        order = np.argsort(self.cells, kind="stable")
        return order, self.cells[order]

    def compare(self, first: Indices, second: Indices, levels: Floats) -> dict[str, Floats]:
        """Exact figures of each pair of sets."""
        from scipy.special import kolmogorov

        out = {name: np.full(first.size, np.nan) for name in (*_FIGURES, "p_value")}
        out |= {name: np.full((first.size, levels.size), np.nan) for name in ("quantile", "quantile_difference")}
        known: dict[int, tuple[Steps | None, Floats, Floats]] = {}
        for pair, (g, r) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
            if r not in known:
                known = {r: self._whole(self.steps(r))}  # pairs come reference by reference
            own, (base, cdf, area) = self.steps(g), known[r]
            if own is None or base is None:
                continue
            ks, wasserstein = _apart(own, cdf, area, self.values)
            spread = np.sqrt((own.variance + base.variance) / 2)
            gap = own.mean - base.mean
            out["mean_difference"][pair] = gap
            out["standardised_difference"][pair] = gap / spread if spread > 0 else (0.0 if gap == 0 else np.nan)
            out["ks"][pair], out["wasserstein"][pair] = ks, wasserstein
            out["p_value"][pair] = kolmogorov(np.sqrt(own.size * base.size / (own.size + base.size)) * ks)
            out["quantile"][pair] = own.quantile(levels, self.values)
            out["quantile_difference"][pair] = out["quantile"][pair] - base.quantile(levels, self.values)
        return out

    def _whole(self, steps: Steps | None) -> tuple[Steps | None, Floats, Floats]:
        """A distribution function at every value, and the area below it up to every value."""
        if steps is None:
            return None, np.zeros(0), np.zeros(0)
        jumps = np.zeros(self.values.size)
        jumps[steps.indices] = np.diff(steps.reached, prepend=0.0)
        cdf = np.minimum(np.cumsum(jumps), 1.0)
        return steps, cdf, np.concatenate([[0.0], np.cumsum(cdf[:-1] * np.diff(self.values))])

    def binned(self) -> tuple[Tally, Floats]:
        """Cells x bins of equal shares (values on their own where there are few), and the mean value of each bin."""
        counts = sum_by(self.index, self.counts, self.values.size)
        if self.values.size > BINS:
            bin_of = ((np.cumsum(counts) - counts / 2) * BINS // counts.sum()).astype(np.intp)
            bin_of = np.unique(bin_of, return_inverse=True)[1]
        else:
            bin_of = np.arange(self.values.size)
        n_bins, n_cells = int(bin_of[-1]) + 1, self.membership.shape[0]
        middle = mean_by(bin_of, self.values, n_bins, counts)
        axes = (
            Codes("cell", self.cells.astype(smallest(n_cells)), tuple(range(n_cells))),
            Codes("bin", bin_of.astype(smallest(n_bins))[self.index], tuple(range(n_bins))),
        )
        return tally(axes, weights=self.weights, counts=self.counts), middle

    def intervals(
        self,
        first: Indices,
        second: Indices,
        levels: Floats,
        exact: dict[str, Floats],
        *,
        n_boot: int,
        level: float,
        seed: int,
    ) -> dict[str, tuple[Floats, Floats]]:
        """Intervals around the exact figures, from replicates of the binned table."""
        names = (*_FIGURES, "quantile_difference")
        if not n_boot or not first.size:
            return {name: (np.full(exact[name].shape, np.nan),) * 2 for name in names}
        table, middle = self.binned()
        members = np.ascontiguousarray(self.membership.T)
        at = _binned_figures((members @ table.w)[:, None, :], first, second, middle, levels)
        rng = np.random.default_rng(seed)
        block = max(1, BLOCK // (members.shape[0] * middle.size))
        parts: list[dict[str, Floats]] = []
        for start in range(0, n_boot, block):
            replicas = resample(table, min(block, n_boot - start), rng)
            flat = np.ascontiguousarray(np.moveaxis(replicas, 0, 1), dtype=float).reshape(members.shape[1], -1)
            sets = (members @ flat).reshape(members.shape[0], -1, middle.size)
            parts.append(_binned_figures(sets, first, second, middle, levels))
        out = {}
        for name in names:
            draws = np.moveaxis(np.concatenate([part[name] for part in parts], axis=1), 1, 0)
            distance = name in ("ks", "wasserstein")
            out[name] = _ends(draws, at[name][:, 0], exact[name], level, distance=distance)
        return out


_FIGURES = ("mean_difference", "standardised_difference", "ks", "wasserstein")


def _apart(own: Steps, cdf: Floats, area: Floats, values: Floats) -> tuple[float, float]:
    """Kolmogorov-Smirnov and Wasserstein distance of a set from a distribution known at every value.

    Where `own` is constant (at c, from one of its jumps to the next) the other rises from below c to above it at
    one point at most, found by bisection; on both sides the area between them is a difference of known areas.
    """
    k, c = own.indices, own.reached
    before = np.concatenate([[0.0], c[:-1]])
    base = cdf[k]
    base_before = np.where(k > 0, cdf[np.maximum(k - 1, 0)], 0.0)
    ks = float(max(np.abs(base - c).max(), np.abs(base_before - before).max(), np.abs(1.0 - c[-1])))
    last = values.size - 1
    ends = np.concatenate([k[1:], [last]])
    turn = np.clip(np.searchsorted(cdf, c), k, ends)
    below = c * (values[turn] - values[k]) - (area[turn] - area[k])
    above = (area[ends] - area[turn]) - c * (values[ends] - values[turn])
    return ks, float(area[k[0]] + np.abs(below).sum() + np.abs(above).sum())


def _binned_figures(sets: Floats, first: Indices, second: Indices, values: Floats, levels: Floats) -> dict[str, Floats]:
    """The figures of every pair over replicates: `sets` is (sets, replicates, bins)."""
    total = sets.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(total > 0, 1.0 / total, np.nan)
    x = values - values.mean()
    mean = (sets @ x) * inverse
    variance = np.maximum((sets @ (x * x)) * inverse - mean * mean, 0.0)
    cdf = np.cumsum(sets, axis=-1) * inverse[..., None]
    quantiles = _quantile(cdf, values, levels)
    widths = np.diff(values)
    ks, moved = np.empty((first.size, sets.shape[1])), np.empty((first.size, sets.shape[1]))
    for pair, (g, r) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        apart = np.abs(cdf[g] - cdf[r])
        ks[pair], moved[pair] = apart.max(axis=-1), apart[:, :-1] @ widths
    gap = mean[first] - mean[second]
    with np.errstate(divide="ignore", invalid="ignore"):
        standard = gap / np.sqrt((variance[first] + variance[second]) / 2)
    return {
        "mean_difference": gap,
        "standardised_difference": np.where(gap == 0, 0.0, standard),
        "ks": ks,
        "wasserstein": moved,
        "quantile_difference": quantiles[first] - quantiles[second],
    }


def _quantile(cdf: Floats, values: Floats, levels: Floats) -> Floats:
    """Where distribution functions (..., bins) reach each level, on a straight line between bins: (..., levels)."""
    last, flat = values.size - 1, cdf.ravel()
    rows = np.arange(0, flat.size, values.size)
    out = []
    for q in levels.tolist():
        index = np.minimum(_number_below(flat, rows, values.size, q - SLACK), last)
        before = np.maximum(index - 1, 0)
        up, down = flat[rows + index], np.where(index > 0, flat[rows + before], 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(up > down, np.clip((q - down) / (up - down), 0.0, 1.0), 1.0)
        out.append((values[before] + share * (values[index] - values[before])).reshape(cdf.shape[:-1]))
    return np.stack(out, axis=-1)


def _number_below(flat: Floats, rows: NDArray[np.intp], size: int, level: float) -> NDArray[np.intp]:
    """How many of the `size` numbers from each of these rows on are below a level; they never fall: by bisection."""
    low, high = np.zeros(rows.size, dtype=np.intp), np.full(rows.size, size, dtype=np.intp)
    for _ in range(size.bit_length()):
        middle = (low + high) // 2
        below = (low < high) & (flat[rows + np.minimum(middle, size - 1)] < level)
        low, high = np.where(below, middle + 1, low), np.where(below, high, middle)
    return low


def _ends(draws: Floats, at: Floats, exact: Floats, level: float, *, distance: bool) -> tuple[Floats, Floats]:
    low, high = percentile(draws + (exact - at), level)
    if not distance:
        return low, high
    # a distance between resampled distributions lies too high: reflect the lower end, keep the upper one
    return np.maximum(np.minimum(2 * exact - high, exact), 0.0), np.maximum(high, exact)
