"""Cluster bootstrap: figures of many models, where results of one dataset and model are not independent.

Whole clusters are drawn with replacement. Shares, kappa and Pearson's coefficient need only sums per cluster, so a
replicate never touches the rows again; Spearman's coefficient ranks the drawn rows anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from isonomia.counting import count_by, sum_by
from isonomia.evidence import Estimate
from isonomia.evidence.intervals import SAME, student_interval
from isonomia.languages import Message, msg
from isonomia.languages.naming import as_text
from isonomia.typing import Floats, Indices

#: Fewer clusters than this say nothing about the spread between clusters.
FEWEST = 3
#: Numbers in one block of replicates x rows.
BLOCK = 4_000_000

FEW_CLUSTERS = msg("fewer than {n:int} datasets and models: no interval", n=FEWEST)
ALWAYS_ALIKE = msg("both always show the same scenario: kappa is not defined")
NEVER_CHANGES = msg("one of the two always shows the same scenario: kappa can only be 0")
NO_SPREAD = msg("one of the two never changes: there is no correlation")
PERFECT = msg("the two agree perfectly in every resample: no interval")


@dataclass(frozen=True)
class Clusters:
    """Rows by cluster, and how often each cluster is drawn in each replicate.

    Attributes
    ----------
    codes : (rows,) int array
        The cluster of each row.
    n_boot, seed : int
        Replicates, and the start of the random draws.
    level : float
    """

    codes: Indices
    n_boot: int
    seed: int
    level: float = 0.95

    @property
    def size(self) -> int:
        """How many clusters there are."""
        return int(self.codes.max()) + 1 if self.codes.size else 0

    @cached_property
    def draws(self) -> Floats:
        """How often each cluster is drawn: (replicates, clusters)."""
        rng = np.random.default_rng(self.seed)
        return rng.multinomial(self.size, np.full(self.size, 1 / self.size), size=self.n_boot).astype(float)

    def take(self, rows: Indices) -> Clusters:
        """Some of the rows, in clusters numbered anew."""
        codes = np.unique(self.codes[rows], return_inverse=True)[1]
        return Clusters(codes=codes, n_boot=self.n_boot, seed=self.seed, level=self.level)

    def sums(self, values: Floats) -> tuple[Floats, Floats]:
        """Sums of columns (rows, k) over all rows, (k,), and over the rows of each replicate, (replicates, k)."""
        parts = np.stack([sum_by(self.codes, column, self.size) for column in values.T], axis=1)
        return parts.sum(axis=0), self.draws @ parts

    def share(self, inside: Floats) -> tuple[Estimate, float | None]:
        """The share of rows where `inside` is 1, with its interval on the logit scale."""
        from scipy.special import expit, logit

        total, drawn = self.sums(np.stack([inside, np.ones_like(inside)], axis=1))
        return self.estimate(float(total[0] / total[1]), drawn[:, 0] / drawn[:, 1], logit, expit)

    def kappa(self, a: Indices, b: Indices, scenarios: int) -> tuple[Estimate, float | None]:
        """Cohen's kappa of two classifications of the rows into scenarios."""
        cells = np.zeros((a.size, scenarios * scenarios))
        cells[np.arange(a.size), a * scenarios + b] = 1.0
        total, drawn = self.sums(cells)
        tables = np.concatenate([total[None], drawn]).reshape(-1, scenarios, scenarios)
        values = kappas(tables)
        if np.isnan(values[0]):
            return Estimate.missing(ALWAYS_ALIKE, n=a.size), None
        if np.unique(a).size == 1 or np.unique(b).size == 1:
            return Estimate(0.0, n=a.size, note=as_text(NEVER_CHANGES), level=self.level), None
        return self.estimate(float(values[0]), values[1:], _identity, _kappa_range, null=0.0)

    def pearson(self, x: Floats, y: Floats) -> tuple[Estimate, float | None]:
        """Pearson's correlation coefficient, with its interval on Fisher's scale."""
        if np.ptp(x) <= SAME or np.ptp(y) <= SAME:
            return Estimate.missing(NO_SPREAD, n=x.size), None
        u, v = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
        total, drawn = self.sums(np.stack([np.ones_like(u), u, v, u * u, v * v, u * v], axis=1))
        values = _correlations(np.concatenate([total[None], drawn]))
        return self.estimate(float(values[0]), values[1:], np.arctanh, np.tanh, null=0.0)

    def spearman(self, x: Floats, y: Floats) -> tuple[Estimate, float | None]:
        """Spearman's rank correlation coefficient; every replicate is ranked anew."""
        if np.ptp(x) <= SAME or np.ptp(y) <= SAME:
            return Estimate.missing(NO_SPREAD, n=x.size), None
        weights = np.concatenate([np.ones((1, x.size)), self.draws[:, self.codes]])
        step = max(1, BLOCK // x.size)
        blocks = [weights[start : start + step] for start in range(0, len(weights), step)]
        values = np.concatenate([_rank_correlations(block, x, y) for block in blocks])
        return self.estimate(float(values[0]), values[1:], np.arctanh, np.tanh, null=0.0)

    def estimate(
        self,
        value: float,
        draws: Floats,
        onto: Callable[[Floats], Floats],
        back: Callable[[Floats], Floats],
        null: float | None = None,
    ) -> tuple[Estimate, float | None]:
        """A figure with its interval, and the p-value of no difference from `null`.

        The standard error is that of the replicates on the scale `onto`; ends are Student's with clusters - 1 degrees
        of freedom, put back by `back`. With some twenty clusters percentiles of replicates are too narrow.
        """
        n = int(self.codes.size)
        if self.size < FEWEST:
            return Estimate(value, n=n, note=as_text(FEW_CLUSTERS), level=self.level), None
        with np.errstate(divide="ignore", invalid="ignore"):
            at, moved = onto(np.asarray(value)), onto(draws)
        kept = moved[np.isfinite(moved)]
        if self.n_boot == 0:
            return Estimate(value, n=n, level=self.level), None
        if not np.isfinite(at) or 2 * kept.size < moved.size or np.ptp(kept) <= SAME:
            return Estimate(value, n=n, note=as_text(PERFECT), level=self.level), None
        error = float(kept.std(ddof=1)) * np.sqrt(self.size / (self.size - 1))
        low, high = (float(back(end)) for end in student_interval(at, error, self.size, self.level))
        found = Estimate(value, low, high, n=n, method="cluster bootstrap", level=self.level)
        return found, None if null is None else _student_p(float(at - onto(np.asarray(null))) / error, self.size - 1)


def kappas(tables: Floats) -> Floats:
    """Cohen's kappa of each table of counts (..., k, k): (p_o - p_e) / (1 - p_e); NaN where p_e is 1.

    >>> kappas(np.array([[20.0, 5.0], [10.0, 15.0]])).round(3).item()
    0.4
    """
    n = tables.sum(axis=(-2, -1))
    observed = np.trace(tables, axis1=-2, axis2=-1) / n
    expected = (tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1) / n**2
    beyond_chance = 1 - expected
    return np.where(
        beyond_chance > SAME, (observed - expected) / np.where(beyond_chance > SAME, beyond_chance, 1.0), np.nan
    )


def chance_agreement(a: Indices, b: Indices, scenarios: int) -> float:
    """How often two classifications would agree if they had nothing to do with each other."""
    first, second = (count_by(codes, scenarios) / codes.size for codes in (a, b))
    return float(first @ second)


def _correlations(sums: Floats) -> Floats:
    """Pearson's coefficients of sums (..., 6): n, x, y, x^2, y^2, x y; NaN where there is no spread."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    spread = np.maximum(xx - x * x / n, 0) * np.maximum(yy - y * y / n, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(spread > SAME, np.clip((xy - x * y / n) / np.sqrt(spread), -1, 1), np.nan)


def _rank_correlations(weights: Floats, x: Floats, y: Floats) -> Floats:
    """Spearman's coefficient where each row counts as often as each row of `weights` says: (replicates,)."""
    u, v = _mid_ranks(weights, x), _mid_ranks(weights, y)
    sums = [weights.sum(axis=1), *((weights * part).sum(axis=1) for part in (u, v, u * u, v * v, u * v))]
    return _correlations(np.stack(sums, axis=1))


def _mid_ranks(weights: Floats, values: Floats) -> Floats:
    """Ranks from -1/2 to 1/2, ties sharing theirs, of rows that count several times: (replicates, rows)."""
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.diff(values[order], prepend=-np.inf))
    per_value = np.add.reduceat(weights[:, order], starts, axis=1)
    middle = (np.cumsum(per_value, axis=1) - per_value / 2) / per_value.sum(axis=1, keepdims=True) - 0.5
    index = np.empty(values.size, dtype=np.intp)
    index[order] = np.cumsum(np.diff(values[order], prepend=-np.inf) != 0) - 1
    return np.asarray(middle[:, index], dtype=float)


def _student_p(statistic: float, df: int) -> float:
    from scipy.special import stdtr

    return float(2 * stdtr(df, -abs(statistic)))


def _identity(value: Floats) -> Floats:
    return value


def _kappa_range(value: Floats) -> Floats:
    return np.clip(value, -1.0, 1.0)


def few(clusters: Clusters) -> Message | None:
    """What a reader has to know where there are too few clusters."""
    return FEW_CLUSTERS if clusters.size < FEWEST else None
