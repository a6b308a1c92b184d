"""What a perturber knows about the columns that it changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import count_by
from isonomia.data.synthetic.dependence import nearest_correlation, pairwise_correlation
from isonomia.probing import Feature
from isonomia.typing import Floats

Index = int | np.integer[Any]


@dataclass(frozen=True, eq=False)
class Columns:
    """What is known of columns before they are perturbed: their features, spreads, ranks, shares and correlations.

    Rows are stored as in a `Domain`: a number as itself (NaN is missing), a category as the index of its value.

    Attributes
    ----------
    features : tuple of Feature
    rows : (n, k) the values seen

    Examples
    --------
    >>> columns = Columns((Feature.of("age", (18, 90)), Feature.of("sex", ["F", "M"])), np.array([[20, 0], [40, 1.0]]))
    >>> columns.numeric.tolist(), columns.spread[0]
    ([True, False], np.float64(10.0))
    """

    features: tuple[Feature, ...]
    rows: Floats

    @cached_property
    def numeric(self) -> NDArray[np.bool_]:
        """Which columns are numbers."""
        return np.array([feature.kind != "category" for feature in self.features], dtype=bool)

    @cached_property
    def spread(self) -> Floats:
        """The standard deviation of each column of numbers (of its values there are); 0 of a category."""
        out = np.zeros(len(self.features))
        for index in np.flatnonzero(self.numeric):
            out[index] = self.ordered[index].std() if self.ordered[index].size else 0.0
        return out

    @cached_property
    def ordered(self) -> tuple[Floats, ...]:
        """The values of each column that are there, in order."""
        return tuple(np.sort(column[~np.isnan(column)]) for column in self.rows.T)

    @cached_property
    def constant(self) -> NDArray[np.bool_]:
        """Which columns hold one value only: noise on the scale of what was seen leaves them as they are."""
        return np.array([not seen.size or seen[0] == seen[-1] for seen in self.ordered], dtype=bool)

    @cached_property
    def shares(self) -> tuple[Floats, ...]:
        """How often each value of a category occurs, missing ones apart (empty for numbers)."""
        out = []
        for index, feature in enumerate(self.features):
            if self.numeric[index]:
                out.append(np.empty(0))
                continue
            counts = count_by(self.ordered[index].astype(np.intp), len(feature.levels)).astype(float)
            counts[[level is None for level in feature.levels]] = 0.0
            out.append(counts / max(counts.sum(), 1.0))
        return tuple(out)

    @cached_property
    def latent(self) -> Floats:
        """A root L of the correlation L L' of the numbers' normal scores: the Gaussian copula of the columns seen."""
        indices = np.flatnonzero(self.numeric)
        scores = np.stack([self.score(self.rows, index).astype(np.float64) for index in indices], axis=1)
        return np.asarray(np.linalg.cholesky(nearest_correlation(pairwise_correlation(scores))), dtype=float)

    @cached_property
    def _spans(self) -> dict[Index, tuple[NDArray[Any], NDArray[Any]]]:
        return {}

    def _span(self, index: Index) -> tuple[NDArray[Any], NDArray[Any]]:
        """First and last index of each known row among the ordered values; cached, as rows are perturbed often."""
        if index not in self._spans:
            own = self.rows[:, index]
            order = np.argsort(own)
            first = np.flatnonzero(np.append(True, own[order][1:] != own[order][:-1]))
            ends = np.append(first[1:], own.size)
            left, right = np.empty(own.size, dtype=np.intp), np.empty(own.size, dtype=np.intp)
            left[order], right[order] = np.repeat(first, ends - first), np.repeat(ends, ends - first)
            self._spans[index] = left, right
        return self._spans[index]

    def rank(self, values: Floats, index: Index, tie: Floats) -> Floats:
        """Ranks in (0, 1) of a column of numbers among those seen, NaN where missing.

        Within a tie `tie` says where in its span a row stands.
        """
        seen, own = self.ordered[index], values[:, index]
        if values is self.rows:
            left, right = self._span(index)
        else:
            left, right = np.searchsorted(seen, own, "left"), np.searchsorted(seen, own, "right")
        rank = np.clip(left + tie * (right - left), 1e-9, seen.size - 1e-9) / seen.size
        return np.where(np.isnan(own), np.nan, rank)

    def score(self, values: Floats, index: Index, rng: np.random.Generator | None = None) -> NDArray[np.float32]:
        """The normal scores of a column's ranks; those of the rows seen are kept where no two are tied.

        Rows that are tied stand anywhere in their span at random, or in its middle without `rng`.
        """
        from scipy.special import ndtri

        if values is self.rows and self._untied[index]:
            if index not in self._scores:
                self._scores[index] = self._untied_scores(index)
            return self._scores[index]
        tie = np.full(len(values), 0.5) if rng is None else rng.random(len(values))
        return np.asarray(ndtri(self.rank(values, index, tie)), dtype=np.float32)

    def _untied_scores(self, index: Index) -> NDArray[np.float32]:
        """The normal scores of a column of the rows seen, no two of which are tied: those of 1 to n, in its order."""
        n = self.ordered[index].size
        scores = np.full(len(self.rows), np.nan, dtype=np.float32)
        scores[np.argsort(self.rows[:, index])[:n]] = _scores_in_order(n)  # missing values come last
        return scores

    @cached_property
    def _untied(self) -> NDArray[np.bool_]:
        return np.array([bool((np.diff(seen) > 0).all()) for seen in self.ordered], dtype=bool)

    @cached_property
    def _scores(self) -> dict[Index, NDArray[np.float32]]:
        return {}

    def take(self, indices: Sequence[int] | NDArray[Any]) -> Columns:
        """Some of the columns."""
        chosen = [int(index) for index in indices]
        return Columns(tuple(self.features[index] for index in chosen), self.rows[:, chosen])

    @cached_property
    def _bounds(self) -> tuple[Floats, Floats, NDArray[np.intp]]:
        low, high = (np.array([getattr(f, end) for f in self.features]) for end in ("low", "high"))
        return low, high, np.flatnonzero([feature.kind == "integer" for feature in self.features])

    def valid(self, values: Floats) -> Floats:
        """The nearest values that may occur: numbers within what was seen, whole where they are whole."""
        low, high, whole = self._bounds
        out = np.clip(values, low, high)
        if whole.size:
            out[:, whole] = np.rint(out[:, whole])
        return out


@lru_cache(maxsize=4)
def _scores_in_order(n: int) -> NDArray[np.float32]:
    """The normal scores of n different numbers in order."""
    from scipy.special import ndtri

    return np.asarray(ndtri((np.arange(n) + 0.5) / n), dtype=np.float32)
