"""Distribution functions of many overlapping sets of rows, exact and resampled, without a rows x sets table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Axis, Tally, resample
from isonomia.evidence import percentile

Floats = NDArray[np.float64]

#: Bins of the bootstrap: quantiles move by less than half a percent within one.
BINS = 256
#: Replicates are drawn in blocks of at most this many numbers (sets x replicates x bins).
BLOCK = 1 << 23


@dataclass(frozen=True, eq=False)
class Histograms:
    """Predictions as ranks of their different values, with what belongs to which set.

    Attributes
    ----------
    values : (U,) the different values, in order
    place : (n,) the place of each row's value
    cells : (n,) the cell of each row
    membership : (cells, sets) 1 where a cell belongs to a set
    """

    values: Floats
    place: NDArray[np.integer]
    cells: NDArray[np.integer]
    membership: Floats
    weights: Floats | None

    @classmethod
    def of(cls, numbers: Floats, cells: NDArray[np.integer], membership: Floats, weights: Floats | None) -> Histograms:
        """Sort once."""
        values, place = np.unique(numbers, return_inverse=True)
        return cls(values, place, cells, membership, weights)

    def shares(self, index: int) -> tuple[Floats, float]:
        """The share of each value in a set, and its (effective) number of rows."""
        inside = self.membership[:, index][self.cells]
        w = inside if self.weights is None else inside * self.weights
        mass = np.bincount(self.place, weights=w, minlength=self.values.size)
        total = float(mass.sum())
        if total <= 0:
            return np.full(self.values.size, np.nan), 0.0
        return mass / total, total * total / float(w @ w)

    def compare(self, first: NDArray[np.integer], second: NDArray[np.integer], levels: Floats) -> dict[str, Floats]:
        """Exact figures of each pair of sets."""
        from scipy.special import kolmogorov

        m = first.size
        out = {name: np.full(m, np.nan) for name in ("mean_difference", "standardised_difference", "ks", "wasserstein")}
        out["p_value"] = np.full(m, np.nan)
        out["quantile"], out["quantile_difference"] = (
            np.full((m, levels.size), np.nan),
            np.full((m, levels.size), np.nan),
        )
        known: dict[int, tuple[Floats, float]] = {}
        for pair, (g, r) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
            if r not in known:
                known = {r: self.shares(r)}  # pairs come reference by reference
            (f, n_f), (h, n_h) = self.shares(g), known[r]
            if not n_f or not n_h:
                continue
            found = _figures(f[None], h[None], self.values, levels, interpolate=False)
            for name in ("mean_difference", "standardised_difference", "ks", "wasserstein"):
                out[name][pair] = found[name][0]
            out["quantile"][pair] = found["quantile"][0]
            out["quantile_difference"][pair] = found["quantile_difference"][0]
            size = np.sqrt(n_f * n_h / (n_f + n_h))
            out["p_value"][pair] = kolmogorov(size * found["ks"][0])
        return out

    def binned(self) -> tuple[Tally, Floats]:
        """Cells x bins of equal shares (values on their own where there are few), and the mean value of each bin."""
        counts = np.bincount(self.place, minlength=self.values.size)
        if self.values.size > BINS:
            bin_of = ((np.cumsum(counts) - counts / 2) * BINS // self.place.size).astype(np.intp)
            bin_of = np.unique(bin_of, return_inverse=True)[1]
        else:
            bin_of = np.arange(self.values.size)
        n_bins, n_cells = int(bin_of[-1]) + 1, self.membership.shape[0]
        middle = np.bincount(bin_of, weights=counts * self.values) / np.bincount(bin_of, weights=counts)
        cell = self.cells.astype(np.int64) * n_bins + bin_of[self.place]
        n = np.bincount(cell, minlength=n_cells * n_bins).reshape(n_cells, n_bins)
        axes = (Axis("cell", tuple(range(n_cells))), Axis("bin", tuple(range(n_bins))))
        if self.weights is None:
            return Tally(axes, n, n, n), middle
        w, w2 = (
            np.bincount(cell, weights=part, minlength=n_cells * n_bins).reshape(n_cells, n_bins)
            for part in (self.weights, self.weights**2)
        )
        return Tally(axes, n, w, w2, weighted=True), middle

    def intervals(
        self,
        first: NDArray[np.integer],
        second: NDArray[np.integer],
        levels: Floats,
        exact: dict[str, Floats],
        *,
        n_boot: int,
        level: float,
        seed: int,
    ) -> dict[str, tuple[Floats, Floats]]:
        """Intervals around the exact figures, from replicates of the binned table."""
        names = ("mean_difference", "standardised_difference", "ks", "wasserstein", "quantile_difference")
        if not n_boot or not first.size:
            return {name: (np.full(exact[name].shape, np.nan),) * 2 for name in names}
        table, middle = self.binned()
        members = np.ascontiguousarray(self.membership.T)
        plain = members @ table.w
        at = _figures(_normed(plain[first]), _normed(plain[second]), middle, levels)
        rng = np.random.default_rng(seed)
        block = max(1, BLOCK // (members.shape[0] * middle.size))
        drawn: dict[str, list[Floats]] = {name: [] for name in names}
        for start in range(0, n_boot, block):
            size = min(block, n_boot - start)
            replicas = resample(table, size, rng).astype(float)  # (size, cells, bins)
            sets = np.einsum("sc,bcv->sbv", members, replicas, optimize=True)
            for pair in range(first.size):
                found = _figures(_normed(sets[first[pair]]), _normed(sets[second[pair]]), middle, levels)
                for name in names:
                    drawn[name].append(found[name])
        out = {}
        for name in names:
            blocks = [drawn[name][i :: first.size] for i in range(first.size)]
            draws = np.stack([np.concatenate(part) for part in blocks])  # (pairs, n_boot, ...)
            out[name] = _ends(
                np.moveaxis(draws, 1, 0), at[name], exact[name], level, distance=name in ("ks", "wasserstein")
            )
        return out


def _ends(draws: Floats, at: Floats, exact: Floats, level: float, *, distance: bool) -> tuple[Floats, Floats]:
    low, high = percentile(draws + (exact - at), level)
    if not distance:
        return low, high
    # a distance between resampled distributions lies too high: reflect the lower end, keep the upper one
    return np.maximum(np.minimum(2 * exact - high, exact), 0.0), np.maximum(high, exact)


def _normed(mass: Floats) -> Floats:
    total = mass.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0, mass / total, np.nan)


def _figures(f: Floats, h: Floats, values: Floats, levels: Floats, *, interpolate: bool = True) -> dict[str, Floats]:
    """Figures of distributions f against h over the same values, shapes (..., U)."""
    centre = values.mean()
    x = values - centre
    mean_f, mean_h = f @ x, h @ x
    var_f, var_h = (np.maximum(p @ (x * x) - m * m, 0.0) for p, m in ((f, mean_f), (h, mean_h)))
    cdf_f, cdf_h = np.cumsum(f, axis=-1), np.cumsum(h, axis=-1)
    apart = np.abs(cdf_f - cdf_h)
    with np.errstate(divide="ignore", invalid="ignore"):
        standard = (mean_f - mean_h) / np.sqrt((var_f + var_h) / 2)
    standard = np.where((var_f + var_h == 0) & (mean_f == mean_h), 0.0, standard)
    own, other = (_quantile(cdf, values, levels, interpolate=interpolate) for cdf in (cdf_f, cdf_h))
    return {
        "mean_difference": mean_f - mean_h, "standardised_difference": standard, "ks": apart.max(axis=-1),
        "wasserstein": apart[..., :-1] @ np.diff(values), "quantile": own, "quantile_difference": own - other,
    }  # fmt: skip


def _quantile(cdf: Floats, values: Floats, levels: Floats, *, interpolate: bool) -> Floats:
    """The smallest value at which the distribution function reaches each level; between bins on a straight line."""
    out = []
    last = values.size - 1
    for q in levels.tolist():
        place = np.minimum((cdf < q - 1e-12).sum(axis=-1), last)
        value = values[place]
        if interpolate and last > 0:
            before = np.maximum(place - 1, 0)
            up = np.take_along_axis(cdf, place[..., None], axis=-1)[..., 0]
            down = np.where(place > 0, np.take_along_axis(cdf, before[..., None], axis=-1)[..., 0], 0.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                share = np.where(up > down, np.clip((q - down) / (up - down), 0.0, 1.0), 1.0)
            value = values[before] + share * (value - values[before])
        out.append(value)
    return np.stack(out, axis=-1)
