"""Trials of one perturber at one level: what every metric loses, how many decisions change, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from isonomia.evidence import normal_p, normal_quantile, wilson
from isonomia.evidence.intervals import normal_interval, student_interval
from isonomia.evidence.mean_intervals import mover_difference
from isonomia.languages import Message
from isonomia.models import Surface
from isonomia.robustness.missing_reasons import of_effect
from isonomia.robustness.perturbation.altered_rows import Altering, check_frame
from isonomia.robustness.perturbation.columns import Columns
from isonomia.robustness.perturbation.perturbers import Perturber, perturb_rows
from isonomia.robustness.perturbation.trial_metrics import Reading, TrialMetrics
from isonomia.typing import Floats, Indices


@dataclass(frozen=True, eq=False)
class Effect:
    """What a perturber did.

    Attributes
    ----------
    perturber, level, names : how, how strongly, and which columns
    values : (T, M) every metric in every trial
    drop, low, high : (M,) how much worse each metric got (positive: worse, whatever its direction), and its interval
    by_rows : (M,) whether the interval counts the rows as a sample too, or the trials only
    p_value : (M,) that nothing got worse or better
    flips, flips_low, flips_high : share of decisions that changed, NaN where there are none
    change : mean size of the change of the probability (score, number)
    touched : share of rows that the perturber changed
    notes : (M,) why a figure of a metric is missing, else None
    """

    perturber: Perturber
    level: float
    names: tuple[str, ...]
    values: Floats
    drop: Floats
    low: Floats
    high: Floats
    by_rows: NDArray[np.bool_]
    p_value: Floats
    flips: float
    flips_low: float
    flips_high: float
    change: float
    touched: float
    notes: tuple[Message | None, ...]

    @property
    def value(self) -> Floats:
        """Every metric's mean over trials."""
        return np.asarray(self.values.mean(axis=0))


class Trials:
    """Runs trials on the rows of an `Altering`, measured by a `TrialMetrics`."""

    def __init__(
        self, altering: Altering, measures: TrialMetrics, *, n_trials: int, level: float, seed: int, keep_valid: bool
    ) -> None:
        self.altering, self.measures = altering, measures
        self.n_trials, self.level, self.seed, self.keep_valid = n_trials, level, seed, keep_valid
        self.base: Reading = measures.read(altering.predicted)
        self.sign = np.array([-1.0 if metric.higher_is_better else 1.0 for metric in measures.metrics])
        self.size = measures.total**2 / float(measures.w @ measures.w)
        self._parts: dict[tuple[int, ...], Columns] = {}

    def run(self, perturber: Perturber, level: float, indices: Indices) -> Effect:
        """All trials of a perturber on some columns, at one level."""
        n = len(self.altering)
        values, pulls, ends = [], np.zeros_like(self.base.influence), np.zeros_like(self.base.ends)
        reasons = list(self.base.reasons)
        flips, change, touched, same = 0.0, 0.0, 0, True
        count = self.n_trials if perturber.random and level > 0 else 1
        for surface, moved in self._surfaces(perturber, level, indices, count):
            reading = self.measures.read(surface)
            values.append(reading.value)
            reasons = [known or fresh for known, fresh in zip(reasons, reading.reasons, strict=True)]
            pulls += reading.influence * len(reading.value)
            ends += reading.ends * len(reading.value)
            flipped, apart = differences(self.altering.predicted, surface)
            flips += float(flipped.sum(axis=0) @ self.measures.w) / self.measures.total
            change += float(apart.sum(axis=0) @ self.measures.w) / self.measures.total
            touched += moved
            same = same and not apart.any() and not (flipped > 0).any()
        table = np.concatenate(values)
        drop = self.sign * (table.mean(axis=0) - self.base.value[0]) + 0.0
        found = (table, pulls / count, ends / count)
        low, high, by_rows, p = self._interval(drop, *found, same=same, untouched=touched == 0)
        names = tuple(self.altering.names[index] for index in indices)
        notes = tuple(map(of_effect, reasons, self.base.value[0], table.T, low))
        return Effect(
            perturber,
            level,
            names,
            table,
            drop,
            low,
            high,
            by_rows,
            p,
            flips / count,
            *self.flip_interval(flips / count),
            change / count,
            touched / count / n,
            notes,
        )

    def flip_interval(self, flips: float) -> tuple[float, float]:
        """Wilson's interval of a share of decisions, for the effective number of rows."""
        if np.isnan(flips):
            return float("nan"), float("nan")
        low, high = wilson(flips * self.size, self.size, self.level)
        return float(low), float(high)

    def loss(self, reading: Reading) -> tuple[float, float, float]:
        """How much worse the main metric is than it was, with its interval."""
        drop = self.sign * (reading.value[0] - self.base.value[0]) + 0.0
        moved = (reading.influence[0] != self.base.influence[0]).any()
        same = bool(reading.value[0, 0] == self.base.value[0, 0]) and not moved
        found = (reading.value, reading.influence, reading.ends)
        low, high, _, _ = self._interval(drop, *found, same=same, untouched=False)
        return float(drop[0]), float(low[0]), float(high[0])

    def _surfaces(
        self, perturber: Perturber, level: float, indices: Indices, count: int
    ) -> Iterator[tuple[Surface, int]]:
        """What the model says in as many trials as fit in a call, and how many rows were changed."""
        n = len(self.altering)
        if level == 0:
            yield self.altering.predicted, 0
            return
        step = max(1, self.altering.portion // n)
        for start in range(0, count, step):
            rngs = [self.generator(perturber, trial) for trial in range(start, min(start + step, count))]
            if perturber.on_frame is not None:
                given = self.altering.whole
                frames = [check_frame(perturber.on_frame(given, level, rng), given, perturber.id) for rng in rngs]
                yield self.altering.ask_frames(frames, indices), n * len(rngs)
                continue
            rows = np.concatenate([self.disturbed(perturber, level, indices, rng) for rng in rngs])
            yield self.altering.ask_changed(rows, len(rngs))

    def generator(self, perturber: Perturber, trial: int) -> np.random.Generator:
        """The same draws at every level, so that levels differ by the level alone."""
        return np.random.default_rng([self.seed, crc32(perturber.id.encode()), trial])

    def disturbed(self, perturber: Perturber, level: float, indices: Indices, rng: np.random.Generator) -> Floats:
        """All rows with some of their columns perturbed."""
        columns = self._part(indices)
        new = perturb_rows(perturber, columns.rows, columns, level, rng, keep_valid=self.keep_valid)
        if new.shape == self.altering.rows.shape:
            return new
        out = self.altering.rows.copy()
        out[:, indices] = new
        return out

    def _part(self, indices: Indices) -> Columns:
        """Some columns, with all that is known of them worked out once."""
        if len(indices) == len(self.altering.names):
            return self.altering.columns
        key = tuple(int(index) for index in indices)
        if key not in self._parts:
            self._parts[key] = self.altering.columns.take(key)
        return self._parts[key]

    def _interval(
        self, drop: Floats, table: Floats, pull: Floats, ends: Floats, *, same: bool, untouched: bool
    ) -> tuple[Floats, Floats, NDArray[np.bool_], Floats]:
        """Ends, whether rows count as a sample, and p-values.

        A row's influence on the change, averaged over trials, holds both the luck of the row and that of its trials. A
        metric with ends of its own has the interval of the difference of both (`mover_difference`), which is wider than
        need be, for the rows are the same.
        """
        n, count = table.shape[1], len(table)
        if untouched:
            return np.zeros(n), np.zeros(n), np.ones(n, dtype=bool), np.ones(n)
        if same:
            return *self._unmoved(drop), np.ones(n, dtype=bool), np.ones(n)
        shift = pull - self.base.influence
        by_rows: NDArray[np.bool_] = np.asarray(np.isfinite(shift).all(axis=1))
        scale = self.size / max(self.size - 1, 1e-300)
        error = np.sqrt(np.square(shift).sum(axis=1) * scale)
        low, high = normal_interval(drop, error, self.level)
        if count > 1:
            spread = table.std(axis=0, ddof=1) / np.sqrt(count)
            wide = student_interval(drop, spread, count, self.level)
            low, high = (np.where(by_rows, own, other) for own, other in zip((low, high), wide, strict=True))
        with np.errstate(divide="ignore", invalid="ignore"):
            p = np.where(by_rows & (error > 0), normal_p(drop / error), np.where(by_rows, 1.0, np.nan))
        own: NDArray[np.bool_] = np.asarray(np.isfinite(ends + self.base.ends).all(axis=0))
        if own.any():
            now, before = ((part[0], part[1], part[2]) for part in (ends, self.base.ends))
            bottom, top = np.sort(self.sign * np.stack(mover_difference(now, before)), axis=0)
            bottom, top = np.fmin(bottom, drop), np.fmax(top, drop)
            side = np.where(drop > 0, drop - bottom, top - drop)
            with np.errstate(divide="ignore", invalid="ignore"):
                tested = np.where(side > 0, normal_p(normal_quantile(self.level) * drop / side), 1.0)
            low, high, p = (np.where(own, *pair) for pair in ((bottom, low), (top, high), (tested, p)))
        return low, high, by_rows | own, p

    def _unmoved(self, drop: Floats) -> tuple[Floats, Floats]:
        """No answer changed: a share of rows up to Wilson's could have, so bounded metrics may move by that much."""
        maximum = float(wilson(0.0, self.size, self.level)[1])
        span = np.array([metric.range[1] - metric.range[0] for metric in self.measures.metrics])
        half = np.where(np.isfinite(span), span * maximum, np.nan)
        return drop - half, drop + half


def differences(before: Surface, after: Surface) -> tuple[Floats, Floats]:
    """Whether each decision changed (NaN where there are none), and by how much the answer did: (T, n) each.

    The change is that of the probability of the positive class, of the score or the number; for several classes half
    the sum of the changes of all probabilities.

    >>> one, two = (Surface.of_probabilities(p, classes=(0, 1)) for p in ([0.2, 0.6], [0.3, 0.4]))
    >>> [part.round(3).tolist() for part in differences(one, two)]
    [[[0.0, 1.0]], [[0.1, 0.2]]]
    """
    n = len(before)
    flipped = np.full((len(after) // n, n), np.nan)
    if before.label is not None and after.label is not None:
        flipped = (before.label != after.label.reshape(-1, n)).astype(float)
    for kind in ("continuous", "probability", "score"):
        one: Any = getattr(before, kind)
        if one is not None:
            apart = np.abs(getattr(after, kind).reshape(-1, *one.shape) - one)
            return flipped, np.asarray(apart if one.ndim == 1 else apart.sum(axis=2) / 2)
    return flipped, flipped.copy()
