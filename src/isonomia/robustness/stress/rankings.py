"""How far rankings of the same items agree: Kendall's tau and Spearman's rho of all pairs at once, and the swaps."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from isonomia.typing import Floats


def kendall(values: Floats) -> Floats:
    """Kendall's tau-b between all columns of (items, columns); NaN where a column is constant on the items shared.

    tau_b = sum of sign(x_i - x_j) sign(y_i - y_j) over pairs / sqrt(pairs untied in x x pairs untied in y), over the
    items that both columns have a value for.

    References
    ----------
    M. G. Kendall (1945), Biometrika 33:239.

    Examples
    --------
    >>> kendall(np.array([[1.0, 1, 3], [2, 2, 2], [3, 4, 1]])).round(2).tolist()
    [[1.0, 1.0, -1.0], [1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
    """
    one, two = np.triu_indices(values.shape[0], 1)
    signs = np.sign(values[one] - values[two])
    known = ~np.isnan(signs)
    filled = np.where(known, signs, 0.0)
    both = filled.T @ filled
    untied = (filled**2).T @ known.astype(float)  # pairs untied in the first, known in the second
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.clip(both / np.sqrt(untied * untied.T), -1.0, 1.0), dtype=float)


def spearman(one: Floats, two: Floats) -> float:
    """Spearman's rank correlation of the items that both have; NaN where either is constant, or with fewer than two.

    >>> round(spearman(np.array([1.0, 2, 3, np.nan]), np.array([1.0, 3, 2, 5])), 6)
    0.5
    """
    known = ~(np.isnan(one) | np.isnan(two))
    if known.sum() < 2:
        return float("nan")
    a, b = (ranks(part[known]) for part in (one, two))
    a, b = a - a.mean(), b - b.mean()
    below = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / below if below > 0 else float("nan")


def ranks(values: Floats) -> Floats:
    """Mean ranks from 1, the smallest first; NaN where a value is missing.

    >>> ranks(np.array([3.0, 1.0, 3.0, np.nan])).tolist()
    [2.5, 1.0, 2.5, nan]
    """
    out = np.full(values.size, np.nan)
    known = ~np.isnan(values)
    _, index, counts = np.unique(values[known], return_inverse=True, return_counts=True)
    out[known] = (np.cumsum(counts) - (counts - 1) / 2)[index]
    return out


@dataclass(frozen=True, eq=False)
class Swaps:
    """Pairs of items that two columns put in opposite order.

    Attributes
    ----------
    first, second : the two columns
    one, two : the two items
    clear : whether both differences are larger than the noise
    size : the smaller of the two differences, in standard deviations of its column
    """

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    one: NDArray[np.intp]
    two: NDArray[np.intp]
    clear: NDArray[np.bool_]
    size: Floats

    def strongest(self, maximum: int) -> NDArray[np.intp]:
        """The indices of the clearest and largest swaps."""
        return np.lexsort((-self.size, ~self.clear))[:maximum]


def find_swaps(better: Floats, noise: Floats) -> Swaps:
    """Every pair of items (rows) that two metrics (columns) put in opposite order, higher being better everywhere.

    A difference is clear where it is larger than the root of the summed squares of the two items' noise.

    >>> swaps = find_swaps(np.array([[1.0, 2.0], [2.0, 1.0]]), np.full((2, 2), 0.5))
    >>> swaps.clear.tolist(), swaps.one.tolist(), swaps.two.tolist()
    ([True], [0], [1])
    """
    one, two = np.triu_indices(better.shape[0], 1)
    gap = better[one] - better[two]
    beyond = np.abs(gap) > np.sqrt(noise[one] ** 2 + noise[two] ** 2)
    spread = np.nanstd(better, axis=0)
    scaled = np.abs(gap) / np.where(spread > 0, spread, 1.0)
    found: list[tuple[NDArray[np.intp], ...]] = []
    clear: list[NDArray[np.bool_]] = []
    size: list[Floats] = []
    for a, b in combinations(range(better.shape[1]), 2):
        with np.errstate(invalid="ignore"):
            apart = np.flatnonzero(gap[:, a] * gap[:, b] < 0)
        found.append((np.full(apart.size, a), np.full(apart.size, b), one[apart], two[apart]))
        clear.append(beyond[apart, a] & beyond[apart, b])
        size.append(np.minimum(scaled[apart, a], scaled[apart, b]))
    parts = [np.concatenate(column) for column in zip(*found, strict=True)]
    return Swaps(parts[0], parts[1], parts[2], parts[3], np.concatenate(clear), np.concatenate(size))
