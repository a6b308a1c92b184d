"""The best cut for each group such that a rate lies within one window: exact for one rate, by grid for two."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from isonomia.typing import Bools, Floats, Indices

#: Values closer than this are equal but for rounding.
SAME = 1e-12
#: Windows tried for each of two rates, and how often the grid is made finer around the best.
GRID, ZOOMS = 161, 3
#: Intervals of windows that are judged by a bound before single windows are.
COARSE = 512


class RangeMinimum:
    """The smallest of any run of values, asked for many runs at once (a sparse table).

    >>> RangeMinimum(np.array([3.0, 1.0, 2.0])).query(np.array([0, 2, 1]), np.array([3, 3, 1]))
    array([ 1.,  2., inf])
    """

    def __init__(self, values: Floats) -> None:
        self.levels = [values]
        while 2 ** len(self.levels) <= values.size:
            half = 2 ** (len(self.levels) - 1)
            above = self.levels[-1]
            self.levels.append(np.minimum(above[:-half], above[half:]))

    def query(self, first: Indices, end: Indices) -> Floats:
        """The smallest value of each run [first, end); infinite where a run is empty."""
        first, end = np.broadcast_arrays(first, end)
        found = np.full(first.shape, np.inf)
        levels = np.frexp(end - first)[1] - 1
        for level in np.unique(levels[end > first]):
            rows = (levels == level) & (end > first)
            values = self.levels[level]
            found[rows] = np.minimum(values[first[rows]], values[end[rows] - (1 << level)])
        return found


def best_in_window(
    values: Sequence[Floats], costs: Sequence[Floats], width: float, allowed: Sequence[Bools] | None = None
) -> Indices | None:
    """The cheapest choice of one cut per group with all values in one window of this width; None where none exists.

    A gap of at most w means that some window [t, t + w] holds every group's value, and t can be taken at one of the
    values. For each such t every group takes the cheapest cut in the window: exact for any number of groups, in
    O(N log N).

    Parameters
    ----------
    values, costs : for each group the value of the criterion and the cost at each of its cuts; NaN is not a choice
    allowed : for each group, which cuts may be chosen
    """
    runs = []
    for number, (value, cost) in enumerate(zip(values, costs, strict=True)):
        usable = ~np.isnan(value) if allowed is None else ~np.isnan(value) & allowed[number]
        index = np.flatnonzero(usable)
        index = index[np.argsort(value[index], kind="stable")]
        runs.append((index, value[index], cost[index]))
    tables = [RangeMinimum(cost) for _, _, cost in runs]

    def cheapest(lows: Floats, highs: Floats) -> Floats:
        """The cost of the cheapest choice with each group's value in [low, high], for all of these windows."""
        total = np.zeros(lows.size)
        for (_, value, _), table in zip(runs, tables, strict=True):
            first = np.searchsorted(value, lows - SAME)
            end = np.searchsorted(value, highs + SAME, side="right")
            total += table.query(first, end)
        return total

    lows = _promising([value for _, value, _ in runs], width, cheapest)
    total = cheapest(lows, lows + width)
    if lows.size == 0 or not np.isfinite(total).any():
        return None
    low = lows[np.argmin(total)]
    chosen = []
    for index, value, cost in runs:
        first, end = np.searchsorted(value, low - SAME), np.searchsorted(value, low + width + SAME, side="right")
        chosen.append(index[first + np.argmin(cost[first:end])])
    return np.array(chosen, dtype=np.intp)


def _promising(values: Sequence[Floats], width: float, cheapest: Callable[[Floats, Floats], Floats]) -> Floats:
    """The values at which the window of the cheapest choice can begin.

    Every window that begins in [a, b] lies within [a, b + width]: what the cheapest choice there costs is a bound for
    all of them. Intervals whose bound is above the cost of a window that was tried are left out.
    """
    everything = np.concatenate(values)
    if everything.size <= 4 * COARSE:
        return np.unique(everything)
    grid = np.quantile(everything, np.linspace(0.0, 1.0, COARSE + 1), method="lower")
    reached = float(cheapest(grid, grid + width).min())
    kept = cheapest(grid[:-1], grid[1:] + width) <= reached
    if not np.isfinite(reached):
        kept[:] = True
    inside = np.clip(np.searchsorted(grid, everything, side="right") - 1, 0, COARSE - 1)
    return np.unique(np.concatenate([everything[kept[inside]], grid]))


def best_in_two_windows(
    values: Sequence[Sequence[Floats]], costs: Sequence[Floats], width: float, allowed: Sequence[Bools] | None = None
) -> Indices | None:
    """The same for several rates that all grow with the number of accepted rows (true and false positive rates).

    Each rate's window is a run of cuts, so that both windows are a run as well. The lower ends are searched on a grid
    that is made finer around the best; then single groups are exchanged until nothing improves.
    """
    used = [
        np.where(np.isnan(np.sum(rates, axis=0)), np.inf, cost)
        for rates, cost in zip(zip(*values, strict=True), costs, strict=True)
    ]
    if allowed is not None:
        used = [np.where(may, cost, np.inf) for cost, may in zip(used, allowed, strict=True)]
    tables = [RangeMinimum(cost) for cost in used]
    step, centre = 1.0 / (GRID - 1), np.array([0.5, 0.5])
    reach, best, low = 0.5, np.inf, None
    for _ in range(1 + ZOOMS):
        t, u = (np.clip(np.linspace(c - reach, c + reach, GRID), 0.0, 1.0) for c in centre)
        total = np.zeros((t.size, u.size))
        for number, table in enumerate(tables):
            total += table.query(*_runs([rates[number] for rates in values], (t[:, None], u[None, :]), width))
        at = np.unravel_index(np.argmin(total), total.shape)
        if total[at] < best:
            best, low = float(total[at]), (float(t[at[0]]), float(u[at[1]]))
            centre = np.array(low)
        reach, step = 2 * step, 4 * step / (GRID - 1)
    if low is None:
        return None
    ends = [_runs([rates[g] for rates in values], low, width) for g in range(len(costs))]
    chosen = np.array([first + np.argmin(used[g][first:end]) for g, (first, end) in enumerate(ends)], dtype=np.intp)
    return exchange(values, used, width, chosen)


def _runs(rates: Sequence[Floats], lows: Sequence[Floats | float], width: float) -> tuple[Indices, Indices]:
    """The run of cuts whose rates all lie in their windows."""
    firsts = [np.searchsorted(rate, np.asarray(low) - SAME) for rate, low in zip(rates, lows, strict=True)]
    ends = [
        np.searchsorted(rate, np.asarray(low) + width + SAME, side="right")
        for rate, low in zip(rates, lows, strict=True)
    ]
    return np.maximum(firsts[0], firsts[1]), np.minimum(ends[0], ends[1])


def exchange(values: Sequence[Sequence[Floats]], costs: Sequence[Floats], width: float, chosen: Indices) -> Indices:
    """Change one group's cut at a time to the cheapest that keeps every gap within the width, until none improves."""
    chosen = chosen.copy()
    for _ in range(50):
        moved = False
        for g in range(len(costs)):
            fits = np.ones(costs[g].size, dtype=bool)
            for rates in values:
                others = [rates[h][chosen[h]] for h in range(len(costs)) if h != g]
                if others:
                    fits &= (rates[g] >= max(others) - width - SAME) & (rates[g] <= min(others) + width + SAME)
            found = int(np.argmin(np.where(fits, costs[g], np.inf)))
            if costs[g][found] < costs[g][chosen[g]] - SAME:
                chosen[g], moved = found, True
        if not moved:
            break
    return chosen


def smallest_width(values: Sequence[Floats], allowed: Sequence[Bools] | None = None) -> float:
    """The smallest gap that any choice of one cut per group reaches."""
    low, high = 0.0, float(np.nanmax(np.concatenate(values)) - np.nanmin(np.concatenate(values)))
    nothing = [np.zeros(value.size) for value in values]
    for _ in range(40):
        middle = (low + high) / 2
        found = best_in_window(values, nothing, middle, allowed)
        low, high = (low, middle) if found is not None else (middle, high)
    return high
