"""Frequent subgroups and how far an outcome rate departs in each of them from the rate of everyone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Lattice, Level, sum_by
from isonomia.discovery.subgroups.rates import Quantity
from isonomia.evidence import normal_p
from isonomia.typing import Floats


@dataclass(frozen=True, eq=False)
class Divergence:
    """One metric over all subgroups, in the order of `Patterns`.

    `rows` is the number of rows a rate is about (effective, with weights); `rate` and the rest are NaN where it is 0.
    Where a quantity has expected values, its rate is that of what goes beyond them.
    """

    quantity: Quantity
    base: float
    rows: Floats
    rate: Floats
    divergence: Floats
    t: Floats

    @property
    def p_value(self) -> Floats:
        """Two-sided, from t as a standard normal."""
        return normal_p(self.t)


class Patterns:
    """All subgroups that hold enough rows, level by level, with the divergence of every metric.

    Attributes
    ----------
    levels : list of Level
        Nothing is pruned but by support, so a subgroup's parents are at their indices in the previous level.
    divergences : list of Divergence
    """

    def __init__(
        self, lattice: Lattice, quantities: Sequence[Quantity], max_l: int, columns: Sequence[Columns]
    ) -> None:
        self.lattice = lattice
        self._of_parents: dict[tuple[int, int], Floats] = {}  # read three times per metric
        self.levels: list[Level] = list(lattice.walk(max_l))
        self.starts = np.concatenate([[0], np.cumsum([len(level) for level in self.levels])]).astype(np.int64)
        width = lattice.totals.size
        self.sums = np.concatenate([level.sums for level in self.levels]) if self.levels else np.empty((0, width))
        self.divergences = [
            divergence_of(quantity, self.sums, lattice.totals, where)
            for quantity, where in zip(quantities, columns, strict=True)
        ]

    def __len__(self) -> int:
        return int(self.starts[-1])

    def items(self, index: int) -> NDArray[np.int32]:
        """The items of a subgroup."""
        level, position = self._locate(index)
        row: NDArray[np.int32] = self.levels[level].items[position]
        return row

    def position(self, conditions: Mapping[str, tuple[int, ...]]) -> int:
        """The index of the subgroup with these conditions, of one value each."""
        lattice, names = self.lattice, [column.name for column in self.lattice.columns]
        wanted = np.zeros(lattice.n_items, dtype=bool)
        for name, (code,) in conditions.items():
            wanted |= (lattice.item_feature == names.index(name)) & (lattice.item_code == code)
        level = len(conditions) - 1
        return int(self.starts[level] + np.flatnonzero(wanted[self.levels[level].items].all(axis=1))[0])

    def _locate(self, index: int) -> tuple[int, int]:
        level = int(np.searchsorted(self.starts, index, side="right")) - 1
        return level, index - int(self.starts[level])

    def of_parents(self, level: int, values: Floats) -> Floats:
        """For every subgroup of a level, the value (by `Patterns` order) of each subgroup with one item less."""
        key = (id(values), level)
        if key not in self._of_parents:
            parents = self.levels[level].parents
            known = np.zeros(parents.shape)  # everyone: no divergence
            if level:
                known = values[self.starts[level - 1] : self.starts[level]][parents]
            self._of_parents[key] = known
        return self._of_parents[key]

    def redundant(self, divergence: Floats, tolerance: float) -> NDArray[np.bool_]:
        """Where leaving some item out changes the divergence by at most the tolerance."""
        out = np.zeros(len(self), dtype=bool)
        for number in range(len(self.levels)):
            part = slice(int(self.starts[number]), int(self.starts[number + 1]))
            change = np.abs(divergence[part, None] - self.of_parents(number, divergence))
            out[part] = (change <= tolerance).any(axis=1)
        return out

    def contributions(self, index: int, divergence: Floats) -> Floats:
        """The Shapley value of each item of a subgroup: their sum is the subgroup's divergence.

        sum over J in I without a of |J|! (|I| - |J| - 1)! / |I|! [D(J + a) - D(J)].
        """
        level, position = self._locate(index)
        size = level + 1
        known = self._subsets(level, position, divergence)
        out = np.zeros(size)
        for a in range(size):
            rest = [j for j in range(size) if j != a]
            for length in range(size):
                weight = factorial(length) * factorial(size - length - 1) / factorial(size)
                for subset in combinations(rest, length):
                    out[a] += weight * (known[tuple(sorted((*subset, a)))] - known[subset])
        return out

    def _subsets(self, level: int, position: int, divergence: Floats) -> dict[tuple[int, ...], float]:
        """The divergence of every subset of a subgroup's items, by their positions in it."""
        known: dict[tuple[int, ...], float] = {(): 0.0}
        open_ones = {tuple(range(level + 1)): position}
        for depth in range(level, -1, -1):
            below: dict[tuple[int, ...], int] = {}
            for positions, at in open_ones.items():
                known[positions] = float(divergence[self.starts[depth] + at])
                for j in range(len(positions)):
                    below[positions[:j] + positions[j + 1 :]] = int(self.levels[depth].parents[at, j])
            open_ones = below
        return known

    def global_contributions(self, divergence: Floats) -> Floats:
        """What each item adds to divergence over all subgroups it can join.

        For an item a: the sum, over frequent subgroups K that hold it, of
        |B|! (m - |B| - 1)! / (m! prod of arities of K's features) [D(K) - D(K without a)], with B the other features of
        K and m the number of features. Subgroups whose rate is not defined add nothing.
        """
        lattice = self.lattice
        arity = np.array([column.size for column in lattice.columns], dtype=float)
        m = len(lattice.columns)
        out = np.zeros(lattice.n_items)
        for number, level in enumerate(self.levels):
            part = slice(int(self.starts[number]), int(self.starts[number + 1]))
            gain = divergence[part, None] - self.of_parents(number, divergence)
            weight = factorial(number) * factorial(m - number - 1) / factorial(m)
            share = weight / arity[lattice.item_feature[level.items]].prod(axis=1)
            gain *= share[:, None]
            gain[np.isnan(gain)] = 0.0
            out += sum_by(level.items.ravel(), gain.ravel(), lattice.n_items)
        return out

    def corrections(self, divergence: Floats, k: int) -> list[tuple[int, int, int, float]]:
        """The k items that bring the divergence of a subgroup closest to 0: (subgroup, item, together, gain)."""
        found: list[tuple[int, int, int, float]] = []
        for number in range(1, len(self.levels)):
            level, start = self.levels[number], int(self.starts[number])
            before = np.abs(self.of_parents(number, divergence))
            gain = np.subtract(before, np.abs(divergence[start : start + len(level), None]), out=before)
            gain[np.isnan(gain)] = -1.0
            flat = gain.ravel()
            best = np.argpartition(-flat, min(k, flat.size - 1))[:k]
            for position in best[flat[best] > 0].tolist():
                row, j = divmod(position, level.length)
                parent = int(self.starts[number - 1] + level.parents[row, j])
                found.append((parent, int(level.items[row, j]), start + row, float(flat[position])))
        return sorted(found, key=lambda entry: -entry[3])[:k]


@dataclass(frozen=True)
class Columns:
    """Where the sums of a metric stand in `Level.sums`: hits and rows, squares and squared weights where there are."""

    hits: int
    rows: int
    squares: int | None = None
    weight2: int | None = None


def divergence_of(quantity: Quantity, sums: Floats, totals: Floats, where: Columns) -> Divergence:
    """The divergence of subgroups with these sums from everyone, whose sums are `totals`."""
    everyone = totals[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        rate, rows, centre, spread = _rate(quantity, sums, where)
        base, _, base_centre, base_spread = _rate(quantity, everyone, where)
        t = np.abs(centre - base_centre) / np.sqrt(spread + base_spread)
    return Divergence(quantity=quantity, base=float(base[0]), rows=rows, rate=rate, divergence=rate - base, t=t)


def _rate(quantity: Quantity, sums: Floats, where: Columns) -> tuple[Floats, Floats, Floats, Floats]:
    """The rate, its effective rows, and the centre and variance that t is made of.

    For a rate these are the mean and variance of Beta(k + 1, n - k + 1), the posterior under a flat prior; for
    other averages the mean and its squared standard error.
    """
    rows = sums[:, where.rows]
    rate = np.where(rows > 0, sums[:, where.hits] / rows, np.nan)
    effective = rows if where.weight2 is None else rows**2 / sums[:, where.weight2]
    if quantity.binary and quantity.expected is None:
        hits, misses = rate * effective + 1, (1 - rate) * effective + 1
        both = hits + misses
        return rate, effective, hits / both, hits * misses / (both**2 * (both + 1))
    if where.squares is None:  # always there for averages
        raise ValueError("the squares of an average were not summed")
    variance = np.maximum(sums[:, where.squares] / rows - rate**2, 0.0)
    return rate, effective, rate, variance / np.maximum(effective - 1, 1.0)


def lay_out(quantities: Sequence[Quantity], weights: Floats | None) -> tuple[dict[str, Any], list[Columns]]:
    """What a lattice has to sum for these metrics, and where the sums will stand."""
    names: dict[str, Any] = {}
    columns = []
    for index, quantity in enumerate(quantities):
        defined = quantity.defined
        values = quantity.excess() if defined is None else np.where(defined, quantity.excess(), 0.0)
        positions: dict[str, int] = {}

        def put(what: str, array: Any, index: int = index, positions: dict[str, int] = positions) -> None:
            names[f"{index}:{what}"] = array
            positions[what] = len(names)

        put("hits", values)
        if defined is not None:
            put("rows", defined.astype(float))
        if not quantity.binary or quantity.expected is not None:
            put("squares", values**2)
        if weights is not None:
            put("weight2", weights if defined is None else weights * defined)
        columns.append(
            Columns(
                hits=positions["hits"],
                rows=positions.get("rows", 0),
                squares=positions.get("squares"),
                weight2=positions.get("weight2"),
            )
        )
    return names, columns
