"""The interval of the expected calibration error: from the noise of its bins, in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isonomia.evidence.mean_intervals import Arrays
from isonomia.metrics.table_functions import ratio
from isonomia.typing import Floats

#: A bin whose gap is this many standard errors from 0 is taken to be off.
STANDS_OUT = 2.0
#: Steps to the upper end, each of which shrinks the distance to it at least by half.
STEPS = 20


@dataclass(frozen=True, eq=False)
class CalibrationEnds(Arrays):
    """Expected calibration errors of G groups, known by the gaps of their B bins.

    The observed error sum |g_b| is the true one plus an excess, since noise in a bin adds to the error whatever its
    sign. With g_b normal around the true gap c_b, |g_b| is folded normal: its mean exceeds |c_b| by
    x(c) = s sqrt(2 / pi) exp(-c^2 / (2 s^2)) - 2 |c| Phi(-|c| / s), and its variance is c^2 + s^2 - (|c| + x)^2.

    - Upper end: the U with U + sum x(c_b) - z sd = the observed error, where c_b is the observed gap of each bin
      stretched to the sum U, and sd the noise of the signed gaps.
    - Lower end: the observed error less the excess and z sd at gaps that are 0 where they do not stand out from the
      noise (two standard errors), or at the observed gaps, whichever is lower; at least 0.

    The noise of a bin is that of a proportion with two successes and two failures added, so that a bin without a miss
    is not taken for certain. It assumes independent rows. By simulation it covers 94-98% from 1,000 rows on, and more
    with fewer rows, where the excess hides how large the error is.

    Attributes
    ----------
    gap : (G, B) sums of weight x (outcome - probability), over the weight of all rows
    noise : (G, B) variances of the gaps within their bins
    share : (G, B) shares of the rows
    size : (G,) (effective) rows

    Examples
    --------
    >>> ends = CalibrationEnds(np.array([[0.1]]), np.array([[0.0004]]), np.array([[1.0]]), np.array([100.0]))
    >>> [round(float(end[0]), 3) for end in ends.at(0.025)]
    [0.061, 0.139]
    """

    gap: Floats
    noise: Floats
    share: Floats
    size: Floats

    @classmethod
    def of(cls, w: Floats, squares: Floats, hits: Floats, gaps: Floats) -> CalibrationEnds:
        """From weights, squared weights, weights of rows whose outcome is 1, and weighted gaps: (G, B) each."""
        total = w.sum(axis=-1, keepdims=True)
        share, size = np.nan_to_num(ratio(w, total)), np.nan_to_num(ratio(w * w, squares))
        rate = (np.nan_to_num(ratio(hits, w)) * size + 2) / (size + 4)
        noise = np.nan_to_num(ratio(share * share * rate * (1 - rate), size))
        rows = ratio(total[..., 0] ** 2, squares.sum(axis=-1))
        return cls(gap=ratio(gaps, total), noise=noise, share=share, size=rows)

    @property
    def error(self) -> Floats:
        """Standard errors of the observed calibration errors."""
        return np.asarray(np.sqrt(self.noise.sum(axis=-1) + self._mass()))

    @property
    def centre(self) -> Floats:
        """The observed errors less their excess, at gaps that are 0 where they do not stand out from the noise."""
        return np.asarray(np.maximum(np.abs(self.gap).sum(axis=-1) - self._excess(self._kept()).sum(axis=-1), 0.0))

    def at(self, tail: float | Floats) -> tuple[Floats, Floats]:
        """Both ends at this tail probability."""
        from scipy.special import ndtri

        z = -ndtri(np.asarray(tail, dtype=float))
        seen = np.abs(self.gap)
        value, mass = seen.sum(axis=-1), self._mass()
        signed = high = value + z * np.sqrt(self.noise.sum(axis=-1) + mass)
        share = np.nan_to_num(ratio(seen, value[..., None]))
        for _ in range(STEPS):
            high = signed - self._excess(share * high[..., None]).sum(axis=-1)
        low = np.full(value.shape, np.inf)
        for gap in (self._kept(), seen):
            excess = self._excess(gap)
            spread = np.maximum(gap * gap + self.noise - (gap + excess) ** 2, 0.0).sum(axis=-1) + mass
            low = np.minimum(low, value - excess.sum(axis=-1) - z * np.sqrt(spread))
        low, high = np.minimum(np.maximum(low, 0.0), value), np.clip(high, value, 1.0)
        absent = np.isnan(value)
        return np.where(absent, np.nan, low), np.where(absent, np.nan, high)

    def _kept(self) -> Floats:
        """The sizes of gaps that stand out from their noise; 0 of others."""
        seen = np.abs(self.gap)
        own = self.noise + np.nan_to_num(ratio(seen * seen * (1 - self.share), self.share * self.size[..., None]))
        return np.where(seen > STANDS_OUT * np.sqrt(own), seen, 0.0)

    def _mass(self) -> Floats:
        """Variance that comes from how many rows fall into each bin."""
        seen = np.abs(self.gap)
        within = np.nan_to_num(ratio(seen * seen, self.share)).sum(axis=-1)
        return np.asarray(np.maximum(within - seen.sum(axis=-1) ** 2, 0.0) / self.size)

    def _excess(self, gap: Floats) -> Floats:
        """By how much the size of a noisy gap exceeds that of the true one, on average."""
        from scipy.special import ndtr

        s = np.sqrt(np.maximum(self.noise, 1e-300))
        scaled = gap / s
        bell = np.exp(-np.minimum(scaled * scaled / 2, 700))
        return np.asarray(s * np.sqrt(2 / np.pi) * bell - 2 * gap * ndtr(-scaled))
