"""Fixes as data: what a method after training decided, small enough for a JSON file, and how it is applied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, composite
from isonomia.data import index_of, listed
from isonomia.errors import DataError
from isonomia.languages import Record
from isonomia.subject import read_attributes
from isonomia.typing import Floats, Indices


@dataclass(frozen=True)
class Fix(Record):
    """What every fix knows: the columns whose values make the groups, the groups it was made for, and the classes.

    Attributes
    ----------
    columns : tuple of str
    groups : tuple of tuples
        The values of the columns that make each group.
    classes : tuple
        What is decided, in the order of the scores; empty for predicted numbers.
    seed : int
        Of decisions that are drawn.
    """

    columns: tuple[str, ...]
    groups: tuple[tuple[Any, ...], ...]
    classes: tuple[Any, ...] = field(default=(), kw_only=True)
    seed: int = field(default=0, kw_only=True)

    def decide(self, score: Floats, group: Indices) -> NDArray[Any]:
        """The decision about each row, as an index of the classes; predicted numbers as they are after the fix."""
        raise NotImplementedError

    def predict(self, score: Any, *, sensitive_features: Any) -> NDArray[Any]:
        """The decisions about people by their scores (or the numbers), in the words of the data."""
        values = plain_scores(score)
        found = self.decide(values, self.group_of(read_attributes(sensitive_features, length=len(values))))
        return np.array(self.classes)[found] if self.classes else found

    def group_of(self, attributes: Sequence[Codes]) -> Indices:
        """The index of each row's group; a group that the fix does not know is an error."""
        if len(attributes) != len(self.columns):
            raise DataError(
                f"This fix reads {listed(self.columns)} when it decides; got {len(attributes)} columns. "
                "Give the same attributes as for fitting."
            )
        combined = composite([column.observed() for column in attributes])
        known = {key: number for number, key in enumerate(self.groups)}
        index = [known.get(key, _like(key, self.groups)) for key in combined.labels]
        strange = [key for key, number in zip(combined.labels, index, strict=True) if number is None]
        if strange:
            names = listed([" and ".join("missing" if v is None else str(v) for v in key) for key in strange])
            raise DataError(f"The fix was not fitted on {names} in {listed(self.columns)}. Fit it with such rows.")
        found: Indices = np.array([number or 0 for number in index], dtype=np.intp)[combined.codes]
        return found


def _like(key: tuple[Any, ...], groups: Sequence[tuple[Any, ...]]) -> int | None:
    """The group of the same values written in another way (1 and 1.0, "1")."""
    for number, group in enumerate(groups):
        if len(key) == len(group) and all(index_of(a, [b]) is not None for a, b in zip(key, group, strict=True)):
            return number
    return None


@dataclass(frozen=True)
class ThresholdFix(Fix, kind="threshold_fix"):
    """A threshold for each group, or several of which one is drawn with its share.

    Examples
    --------
    >>> fix = ThresholdFix(("sex",), (("F",), ("M",)), ((0.4,), (0.5, 0.7)), ((1.0,), (0.5, 0.5)))
    >>> fix.acceptance(np.array([0.45, 0.6, 0.45]), np.array([0, 1, 1])).tolist(), fix.randomised
    ([1.0, 0.5, 0.0], True)
    """

    thresholds: tuple[tuple[float, ...], ...]
    shares: tuple[tuple[float, ...], ...]

    @property
    def randomised(self) -> bool:
        """Whether the decision about some people is drawn."""
        return any(len(one) > 1 for one in self.thresholds)

    def acceptance(self, score: Floats, group: Indices) -> Floats:
        """The probability that each row is accepted: 0 or 1 unless its decision is drawn."""
        accepted = np.zeros(score.size)
        width = max(len(one) for one in self.thresholds)
        for number in range(width):
            cut = np.array([one[number] if number < len(one) else np.inf for one in self.thresholds])
            share = np.array([one[number] if number < len(one) else 0.0 for one in self.shares])
            accepted += np.where(score >= cut[group], share[group], 0.0)
        return np.where(accepted > 1 - 1e-9, 1.0, accepted)

    def decide(self, score: Floats, group: Indices) -> NDArray[Any]:
        """1 for everyone who is accepted; decisions that are drawn follow the seed."""
        accepted = self.acceptance(score, group)
        needed = np.random.default_rng(self.seed).random(score.size) if self.randomised else 0.5
        return (accepted > needed).astype(np.intp)


@dataclass(frozen=True)
class OffsetFix(Fix, kind="offset_fix"):
    """For several classes: what is added to the probability of each class, group by group; the largest sum wins."""

    offsets: tuple[tuple[float, ...], ...]

    def decide(self, score: Floats, group: Indices) -> NDArray[Any]:
        """The class of each row."""
        return np.asarray(np.argmax(score + np.array(self.offsets)[group], axis=1), dtype=np.intp)


@dataclass(frozen=True)
class ScoreFix(Fix):
    """A fix that changes scores: the positive class is decided above 0.5."""

    def transform(self, score: Floats, group: Indices) -> Floats:
        """The scores after the fix."""
        raise NotImplementedError

    def decide(self, score: Floats, group: Indices) -> NDArray[Any]:
        """The decisions about the changed scores, or the changed numbers."""
        moved = self.transform(score, group)
        return (moved > 0.5).astype(np.intp) if self.classes else moved


@dataclass(frozen=True)
class MapFix(ScoreFix, kind="map_fix"):
    """For each group a piecewise linear map of its scores (or predicted numbers), gone a share of the way.

    >>> fix = MapFix(("sex",), (("F",),), ((0.0, 1.0),), ((0.2, 0.8),), 0.5)
    >>> fix.transform(np.array([0.0, 0.5]), np.array([0, 0])).tolist()
    [0.1, 0.5]
    """

    before: tuple[tuple[float, ...], ...]
    after: tuple[tuple[float, ...], ...]
    share: float = 1.0

    def transform(self, score: Floats, group: Indices) -> Floats:
        """The scores after the fix."""
        mapped = score.astype(float)
        for number, (x, y) in enumerate(zip(self.before, self.after, strict=True)):
            rows = group == number
            mapped[rows] = np.interp(score[rows], x, y)
        return (1 - self.share) * score + self.share * mapped


@dataclass(frozen=True)
class LogisticFix(ScoreFix, kind="logistic_fix"):
    """For each group a probability p is replaced by 1 / (1 + exp(-(a + b logit p)))."""

    coefficients: tuple[tuple[float, float], ...]

    def transform(self, score: Floats, group: Indices) -> Floats:
        """The probabilities after the fix."""
        a, b = np.array(self.coefficients).T
        return expit(a[group] + b[group] * logit(score))


@dataclass(frozen=True)
class MixFix(ScoreFix, kind="mix_fix"):
    """For each group the share of people whose score is replaced by the group's base rate."""

    rates: tuple[float, ...]
    bases: tuple[float, ...]

    @property
    def randomised(self) -> bool:
        """Whether the decision about some people is drawn."""
        return any(rate > 0 for rate in self.rates)

    def transform(self, score: Floats, group: Indices) -> Floats:
        """The scores after the draw."""
        rate, base = np.array(self.rates)[group], np.array(self.bases)[group]
        return np.where(np.random.default_rng(self.seed).random(score.size) < rate, base, score)

    def decide(self, score: Floats, group: Indices) -> NDArray[Any]:
        """The decisions about the scores after the draw; as in AIF360, 0.5 is enough."""
        return (self.transform(score, group) >= 0.5).astype(np.intp)


def transformed(fix: Fix, score: Any, sensitive_features: Any) -> Floats:
    """The scores of people after a fix that changes scores."""
    assert isinstance(fix, ScoreFix)
    values = plain_scores(score)
    return fix.transform(values, fix.group_of(read_attributes(sensitive_features, length=len(values))))


def plain_scores(score: Any) -> Floats:
    """Scores as finite numbers, one per row or one per row and class."""
    values = np.asarray(score, dtype=float)
    if values.ndim == 2 and values.shape[1] <= 2:
        values = values[:, -1]
    if values.ndim not in (1, 2) or not np.isfinite(values).all():
        raise DataError("Scores must be finite numbers, one per row, or one per row and class.")
    return values


def logit(p: Floats) -> Floats:
    """log(p / (1 - p)), with p kept within [1e-6, 1 - 1e-6]."""
    kept = np.clip(p, 1e-6, 1 - 1e-6)
    return np.log(kept / (1 - kept))


def expit(x: Floats) -> Floats:
    """1 / (1 + exp(-x))."""
    return 1 / (1 + np.exp(-np.clip(x, -700, 700)))
