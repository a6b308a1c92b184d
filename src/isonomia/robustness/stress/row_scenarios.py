"""Scenarios of who is there: rows count more or less, and the predictions stay as they were."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, sum_by
from isonomia.data.columns import numbers
from isonomia.errors import NotApplicable, SpecError, close_to
from isonomia.fairness.time.periods import EVERY, periods_of
from isonomia.languages import msg
from isonomia.parameters import NAMES, Anything, Choice, Either, Integer, validated
from isonomia.robustness.stress.scenario import scenario
from isonomia.robustness.stress.situation import Situation
from isonomia.typing import Floats

#: A category with more values than this has no shift that could be described.
MAX_CATEGORIES = 1000


@scenario(
    "class_imbalance",
    purpose="one class becomes rarer: a share of its rows is dropped",
    title=msg("One class becomes rarer"),
    level=0.5,
    unit=msg("share of the class's rows that is dropped"),
    tasks=("binary", "multiclass"),
)
@validated(of_class=Anything("a class of the target"))
def class_imbalance(now: Situation, rng: np.random.Generator, level: float, of_class: Any = None) -> Situation:
    """Drop a share of the rows of one class (the smallest unless named), chosen at random.

    Rates given the true class (true and false positive rate) stay as they are on average; precision does not.

    Parameters
    ----------
    of_class
        Class whose rows are dropped; the smallest if None.
    """
    code = now.once(("class_imbalance", str(of_class)), lambda: _class(now, of_class))
    rows = np.flatnonzero(now.truth == code)
    drop = round(level * rows.size)
    if drop == 0:
        return now
    factor = np.ones(len(now))
    factor[rng.permutation(rows)[:drop]] = 0.0
    return now.with_weights(factor)


def _class(now: Situation, of_class: Any) -> int:
    classes = now.surface.classes
    if of_class is not None:
        for code, label in enumerate(classes):
            if label == of_class or str(label) == str(of_class):
                return code
        raise SpecError(f"`of_class` must be one of the classes; got {of_class!r}.{close_to(of_class, classes)}")
    counts = sum_by(now.truth, now.weights, len(classes))
    present = np.flatnonzero(counts > 0)
    return int(present[np.argmin(counts[present])])


@scenario(
    "covariate_shift",
    purpose="people with high (or low) values of a feature become more frequent",
    title=msg("Shift in population"),
    level=0.5,
    max_level=3.0,
    unit=msg("standard deviations by which a feature's mean moves"),
    needs=("features",),
    other_names=("shift",),
)
@validated(features=NAMES.or_none("for all"))
def covariate_shift(now: Situation, rng: np.random.Generator, level: float, features: Any = None) -> Situation:
    """Rows are weighted by exp(level z), z the normal score of one feature taken at random, up or down.

    For a continuous feature its normal scores' mean moves by `level` and their spread stays 1. The categories of a
    feature get random positions each trial. The model's predictions for each row are the same: labels given features
    stay.

    Parameters
    ----------
    features
        Features of which one is shifted; all of them if None.

    References
    ----------
    H. Shimodaira (2000), J. Stat. Plan. Inference 90:227 (weighting for covariate shift).
    """
    names = _features(now, features)
    name = names[int(rng.integers(len(names)))]
    sign = 1.0 if rng.random() < 0.5 else -1.0
    column: Codes | Floats = now.once(("covariate_shift", name), lambda: _scores(now, name))
    if isinstance(column, Codes):
        effects = rng.standard_normal(column.size)
        z = _standardised(effects[column.codes])
    else:
        z = column
    if level == 0:
        return now
    factor = np.exp(level * sign * z)
    return now.with_weights(factor / factor.mean())


def _features(now: Situation, features: Any) -> tuple[str, ...]:
    given = (features,) if isinstance(features, str) else features
    names = now.data.features if given is None else tuple(given)
    for name in names:
        if name not in now.data.columns:
            raise SpecError(
                f"`features` must name columns of the data; got {name!r}.{close_to(name, now.data.columns)}"
            )

    def moving() -> tuple[str, ...]:
        return tuple(name for name in names if _varies(_scores(now, name)))

    found: tuple[str, ...] = now.once(("covariate_shift.names", names), moving)
    if not found:
        raise NotApplicable(msg("every feature is constant, or unique in every row"))
    return found


def _varies(column: Codes | Floats) -> bool:
    if isinstance(column, Codes):
        return 1 < column.size <= min(MAX_CATEGORIES, max(2, len(column) // 2))
    return bool(column.any())


def _scores(now: Situation, name: str) -> Codes | Floats:
    """Normal scores of a number's mean ranks (0 where it is missing or constant); the codes of a category."""
    if now.data.kinds[name] not in ("numeric", "integer"):
        return Codes.encode(now.data.column(name), name=name)
    values = numbers(now.data.column(name))
    return normal_scores(values)


def normal_scores(values: Floats) -> Floats:
    """The normal quantile of each value's mean rank, scaled to a spread of 1; 0 where a value is missing.

    >>> normal_scores(np.array([1.0, 2.0, 3.0, np.nan])).round(3).tolist()
    [-1.225, 0.0, 1.225, 0.0]
    """
    from scipy.special import ndtri

    known = np.isfinite(values)
    out = np.zeros(values.size)
    if not known.any():
        return out
    _, index, counts = np.unique(values[known], return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts - 1) / 2
    out[known] = _standardised(ndtri((middle - 0.5) / known.sum())[index])
    return out


def _standardised(z: Floats) -> Floats:
    centred = z - z.mean()
    spread = float(np.sqrt((centred**2).mean()))
    return centred / spread if spread > 1e-12 else np.zeros_like(centred)


@scenario(
    "temporal_shift",
    purpose="only a stretch of time counts, wherever it lies",
    title=msg("Part of the time range"),
    level=0.75,
    unit=msg("share of the rows that is left out"),
    needs=("time",),
)
@validated(every=Either(Choice(EVERY), Integer(2)).or_none())
def temporal_shift(now: Situation, rng: np.random.Generator, level: float, every: Any = None) -> Situation:
    """A stretch of time that holds 1 - level of the rows, at a random place; rows at its ends count in part.

    Rows without a moment always count 1 - level.

    Parameters
    ----------
    every
        Length of a period, or number of stretches with equally many rows.
    """
    start = level * float(rng.random())
    begin, end, index, known = now.once(("temporal_shift", every), lambda: _timeline(now, every))
    if level == 0:
        return now
    inside = np.minimum(end, start + 1 - level) - np.maximum(begin, start)
    share = np.maximum(inside, 0.0) / (end - begin)
    factor = np.full(len(now), 1.0 - level)
    factor[known] = share[index]
    return now.with_weights(factor)


def _timeline(now: Situation, every: Any) -> tuple[Floats, Floats, NDArray[Any], NDArray[np.bool_]]:
    """Where each period begins and ends, as shares of all rows; each row's period; rows that have one."""
    assert now.data.roles.time is not None
    periods, known = periods_of(now.data.column(now.data.roles.time), every=every)
    ends = np.cumsum(periods.counts()) / len(periods)
    return np.concatenate([[0.0], ends[:-1]]), ends, periods.codes, known
