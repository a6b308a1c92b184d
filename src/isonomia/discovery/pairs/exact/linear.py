"""Linear models, exactly: a person is treated differently where the margin without protected terms is in an interval.

The margin of a linear model behind column-wise encoders is a sum of one term per feature, m(x) + c_v: the terms of the
free features and that of the protected variant v. Someone is treated differently exactly when 0 is between
min_v(m + c_v) and max_v(m + c_v), so the distribution of m over the domain gives all answers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.pairs.exact.branch_and_bound import Widest
from isonomia.errors import NotApplicable
from isonomia.models import estimators
from isonomia.probing import Feature, Oracle
from isonomia.typing import Floats

#: Encoders that work column by column, and preserve the order of real numbers.
_ENCODERS = (*estimators.SCALERS, "OneHotEncoder", "OrdinalEncoder", "SimpleImputer", "FunctionTransformer")
#: Intervals of the margin.
Intervals = list[tuple[float, float]]
#: Cells per real feature, and cells of the distribution of the margin.
REAL_CELLS, GRID = 2000, 200_000
#: Random people on whom the terms that were read are compared with the model.
CHECKED = 200
#: Maximum number of combinations of half of the features, for exact counts.
MAX_HALF = 2_000_000


@dataclass(frozen=True, eq=False)
class Additive:
    """A margin as a sum of terms: `terms[f]` is the term of every value (or cell) of free feature f.

    `width[f]` is how much the term varies inside a cell (0 for features of whole numbers and categories); `values[f]`
    are the values themselves; `offsets` the terms of the protected variants with the intercept. A classifier predicts
    the positive class above `cut`; with `probability` the model's scores are the logistic function of the margin.
    """

    columns: NDArray[np.intp]
    values: list[Floats]
    terms: list[Floats]
    width: Floats
    offsets: Floats
    probability: bool
    classifier: bool
    cut: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether every feature is of whole numbers or categories."""
        return not self.width.any()

    def margin(self, rows: Floats) -> Floats:
        """m(x) of rows, by their cells."""
        total = np.zeros(len(rows))
        for column, values, terms in zip(self.columns, self.values, self.terms, strict=True):
            index = np.clip(np.searchsorted(values, rows[:, column], side="right") - 1, 0, len(values) - 1)
            total += terms[index]
        return total


def is_linear(oracle: Oracle) -> bool:
    """Whether the model is linear behind encoders that work column by column."""
    model = oracle.estimator
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if type(last).__name__ not in (*estimators.LINEAR_CLASSIFIERS, *estimators.LINEAR_REGRESSORS):
        return False
    return all(_by_column(step) for _, step in getattr(model, "steps", ())[:-1])


def _by_column(step: Any) -> bool:
    if step is None or isinstance(step, str):
        return True
    if hasattr(step, "transformers_"):
        return all(_by_column(inner) for _, inner, _ in step.transformers_)
    if hasattr(step, "steps"):
        return all(_by_column(inner) for _, inner in step.steps)
    return type(step).__name__ in _ENCODERS


def read_linear(
    oracle: Oracle, free: NDArray[np.intp], protected: NDArray[np.intp], variants: Floats, *, rows_left: int
) -> Additive:
    """The terms of a linear model, from its margins at one change at a time, checked on random people.

    What that takes is known before: it is not begun where fewer than so many rows of the model's budget are left.
    """
    model, domain = oracle.estimator, oracle.domain
    if domain.may_miss.any():
        raise NotApplicable("exact answers need columns without missing numbers")
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    classifier = type(last).__name__ in estimators.LINEAR_CLASSIFIERS
    if classifier and len(last.classes_) != 2:
        raise NotApplicable("exact answers for classifiers are for two classes")

    ask = oracle.margin
    every = [_points(domain.features[int(column)]) for column in free]
    wanted = 1 + sum(map(len, every)) + len(variants) + CHECKED * (1 + max(oracle.times_asked))
    if wanted > rows_left:
        raise NotApplicable(
            f"reading the terms of the linear model takes {wanted:,} rows, and {rows_left:,} of its budget are left"
        )
    base = np.floor((domain.low + domain.high) / 2)
    base = np.clip(base, domain.low, domain.high)
    level = float(ask(base[None])[0])
    values, terms, width = [], [], []
    for column, points in zip(free, every, strict=True):
        feature = domain.features[int(column)]
        rows = np.tile(base, (len(points), 1))
        rows[:, column] = points
        term = ask(rows) - level
        if feature.size is not None and feature.size <= 100_000:
            values.append(points)
            terms.append(term)
            width.append(0.0)
        else:
            values.append(points[:-1])
            terms.append(np.minimum(term[:-1], term[1:]))
            width.append(float(np.abs(np.diff(term)).max()))
    rows = np.tile(base, (len(variants), 1))
    rows[:, protected] = variants
    additive = Additive(
        columns=free,
        values=values,
        terms=terms,
        width=np.array(width),
        offsets=ask(rows),
        probability=False,
        classifier=classifier,
    )
    return _checked(additive, ask, oracle, protected, variants)


def _points(feature: Feature) -> Floats:
    """The values of a feature at which its term is read: all of them, or the ends of many small ranges."""
    if feature.size is not None and feature.size <= 100_000:
        return np.arange(feature.low, feature.high + 1)
    return np.linspace(feature.low, feature.high, REAL_CELLS + 1)


def _checked(additive: Additive, ask: Any, oracle: Oracle, protected: NDArray[np.intp], variants: Floats) -> Additive:
    """Check the terms, decisions and scores on random people; add how the margin is decided and scored."""
    rng = np.random.default_rng(0)
    rows = oracle.domain.sample(CHECKED, rng)
    variant = rng.integers(len(variants), size=len(rows))
    rows[:, protected] = variants[variant]
    margin = ask(rows)
    off = margin - additive.margin(rows) - additive.offsets[variant]
    tolerance = 1e-7 * max(1.0, float(np.abs(margin).max()))
    if (off < -tolerance).any() or (off > additive.width.sum() + tolerance).any():
        raise NotApplicable(
            "the model is not a sum of one term per feature, so exact answers for linear models do not apply"
        )
    if not additive.classifier:
        return additive
    predicted = oracle.ask(rows)
    for turn in (1.0, -1.0):  # the positive class may be the model's first one
        cut = turn * oracle.threshold
        probability = predicted.score is not None and np.allclose(
            _sigmoid(turn * margin), predicted.score, rtol=0, atol=1e-7
        )
        if probability:
            share = float(np.clip(oracle.threshold, 1e-300, 1 - 1e-16))
            cut = turn * float(np.log(share) - np.log1p(-share))
        elif predicted.score is not None and not np.allclose(turn * margin, predicted.score, rtol=1e-7, atol=1e-7):
            cut = 0.0  # a score of another kind, beside the decisions of the margin's sign
        sure = np.abs(margin - cut) > tolerance
        if np.array_equal(((margin > cut) ^ (turn < 0))[sure], np.asarray(predicted.label == 1)[sure]):
            return replace(additive, cut=cut, probability=probability)
    raise NotApplicable(
        "the model does not decide by the sign of its margin, so exact answers for linear models do not apply"
    )


def margin_intervals(model: Additive, lines: list[NDArray[np.intp]], gamma: float = 0.0) -> Intervals:
    """The intervals (low, high] of m in which two comparable variants are decided differently, merged.

    With `gamma` (of probabilities): where their probabilities differ by more. With D the difference of their offsets
    and u the distance of m from the middle between them, it is sinh(D/2) / (cosh(u) + cosh(D/2)).
    """
    ends = [(float(model.offsets[line].min()), float(model.offsets[line].max())) for line in lines]
    if gamma <= 0:
        return _merged([(model.cut - high, model.cut - low) for low, high in ends])
    parts = []
    for low, high in ends:
        half = min((high - low) / 2, 300.0)
        reach = np.sinh(half) / gamma - np.cosh(half)
        if reach > 1:
            parts.append((-(low + high) / 2 - np.arccosh(reach), -(low + high) / 2 + np.arccosh(reach)))
    return _merged(parts)


def _merged(intervals: Intervals) -> Intervals:
    parts = sorted(intervals)
    merged: list[tuple[float, float]] = []
    for low, high in parts:
        if high <= low:
            continue
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return merged


def share_bounds(model: Additive, intervals: Intervals) -> tuple[float, float]:
    """The share of the domain whose margin is in the intervals: exact where it can be counted, else certified bounds.

    Margins within rounding of an end of an interval count for the upper bound only.
    """
    if not intervals:
        return 0.0, 0.0
    halves = _halves(model)
    if model.exact and halves is not None:
        tolerance = 1e-11 * max(1.0, *(abs(edge) for interval in intervals for edge in interval))
        lower = _count(model, halves, _merged([(low + tolerance, high - tolerance) for low, high in intervals]))
        return lower, _count(model, halves, _merged([(low - tolerance, high + tolerance) for low, high in intervals]))
    return _grid(model, intervals)


def _halves(model: Additive) -> tuple[list[int], list[int]] | None:
    """The features in two parts with about equally many combinations; None where there are too many to list."""
    order = np.argsort([-len(values) for values in model.values])
    parts: tuple[list[int], list[int]] = ([], [])
    sizes = [1.0, 1.0]
    for index in order:
        side = int(sizes[1] < sizes[0])
        parts[side].append(int(index))
        sizes[side] *= len(model.values[int(index)])
    return parts if max(sizes) <= MAX_HALF else None


def _sums(model: Additive, indices: list[int]) -> Floats:
    total = np.zeros(1)
    for index in indices:
        total = (total[:, None] + model.terms[index][None]).ravel()
    return total


def _count(model: Additive, halves: tuple[list[int], list[int]], intervals: Intervals) -> float:
    """Meet in the middle: for every combination of one half, how many of the other are in the intervals."""
    one, other = _sums(model, halves[0]), np.sort(_sums(model, halves[1]))
    inside = 0
    for low, high in intervals:
        upper = np.searchsorted(other, high - one, side="right")
        lower = np.searchsorted(other, low - one, side="right")
        inside += int((upper - lower).sum())
    return inside / (len(one) * len(other))


def _grid(model: Additive, intervals: Intervals) -> tuple[float, float]:
    """The distribution of m on a grid, every term rounded down: m is between a cell and `slack` above it."""
    lows = np.array([float(term.min()) for term in model.terms])
    span = sum(float(term.max() - term.min()) for term in model.terms)
    if span == 0:
        inside = any(low < lows.sum() <= high for low, high in intervals)
        return float(inside), float(inside)
    step = span / GRID
    mass = np.zeros(GRID + 2)
    mass[0] = 1.0
    reach = 0
    shifts = [np.floor((term - low) / step).astype(np.int64) for term, low in zip(model.terms, lows, strict=True)]
    cells = [np.unique(shift, return_counts=True) for shift in shifts]
    for indices, counts in sorted(
        cells, key=lambda one: -len(one[0])
    ):  # those of many cells while there is little mass
        fresh, n = np.zeros_like(mass), counts.sum()
        for index, count in zip(indices, counts, strict=True):
            fresh[index : index + reach + 1] += mass[: reach + 1] * (count / n)
        mass, reach = fresh, reach + int(indices[-1])
    start = lows.sum() + step * np.arange(len(mass))
    slack = step * len(model.terms) + float(model.width.sum())
    lower = upper = 0.0
    for low, high in intervals:
        lower += float(mass[(start > low) & (start + slack <= high)].sum())
        upper += float(mass[(start + slack > low) & (start <= high)].sum())
    return max(0.0, lower - 1e-12), min(1.0, upper + 1e-12)


def draw_in_intervals(model: Additive, intervals: Intervals, base: Floats, n: int, rng: np.random.Generator) -> Floats:
    """People whose margin is in the intervals: all features at random, then one feature chosen to reach an interval.

    Where no value of one feature does, the next one is tried; rows that never reach an interval are left out.
    """
    if not intervals:
        return np.empty((0, len(base)))
    rows = np.tile(base, (n, 1))
    pick = [rng.integers(len(values), size=n) for values in model.values]
    total = np.sum([terms[index] for terms, index in zip(model.terms, pick, strict=True)], axis=0)
    order = np.argsort([-float(np.ptp(terms)) for terms in model.terms])
    interval = rng.integers(len(intervals), size=n)
    low, high = (np.array([part[side] for part in intervals])[interval] for side in (0, 1))
    done = (total > low) & (total <= high)
    for index in order:
        todo = np.flatnonzero(~done)
        if len(todo) == 0:
            break
        terms = model.terms[int(index)]
        rest = total[todo] - terms[pick[int(index)][todo]]
        target = low[todo] + (high[todo] - low[todo]) * rng.random(len(todo))
        # the value whose term brings the margin closest to the target; later features do the rest
        sorted_terms = np.argsort(terms, kind="stable")
        near = np.clip(np.searchsorted(terms[sorted_terms], target - rest), 0, len(terms) - 1)
        before = np.maximum(near - 1, 0)
        closer = np.abs(terms[sorted_terms[before]] + rest - target) < np.abs(terms[sorted_terms[near]] + rest - target)
        chosen = sorted_terms[np.where(closer, before, near)]
        pick[int(index)][todo] = chosen
        total[todo] = rest + terms[chosen]
        done[todo] = (total[todo] > low[todo]) & (total[todo] <= high[todo])
    for column, values, index in zip(model.columns, model.values, pick, strict=True):
        rows[:, column] = values[index]
    return np.asarray(rows[done])


def widest(model: Additive, lines: list[NDArray[np.intp]], base: Floats, rng: np.random.Generator) -> Widest:
    """The largest difference in score. On the scale of the margin it is the same everywhere."""
    pairs = {(float(model.offsets[line].min()), float(model.offsets[line].max())) for line in lines}
    ordered = sorted(pairs, key=lambda pair: (pair[0] - pair[1], pair))
    low, high = ordered[0]
    if not model.probability:
        return Widest(reached=high - low, bound=high - low, at=base)
    best = Widest(reached=0.0, bound=0.0, at=None)
    for low, high in ordered:  # a smaller difference of margins may be wider in probability, closer to 0.5
        middle, bound = _middle(model, low, high)
        if bound <= best.reached:
            continue
        found = _widest_of(model, low, high, middle, bound, base, rng)
        at = found if found.reached > best.reached or best.at is None else best
        best = Widest(reached=at.reached, bound=max(best.bound, found.bound), at=at.at)
    return best


def _middle(model: Additive, low: float, high: float) -> tuple[float, float]:
    """The possible margin with the largest difference in probability between two offsets, and that difference."""
    lower = sum(float(terms.min()) for terms in model.terms)
    upper = sum(float(terms.max()) for terms in model.terms) + float(model.width.sum())
    middle = float(np.clip(-(low + high) / 2, lower, upper))
    return middle, float(_sigmoid(middle + high) - _sigmoid(middle + low))


def _widest_of(
    model: Additive, low: float, high: float, middle: float, bound: float, base: Floats, rng: np.random.Generator
) -> Widest:
    """The largest difference in probability of two variants, by their offsets."""
    halves = _halves(model)
    if model.exact and halves is not None:  # the margin nearest to the middle gives the largest difference
        person, nearest = _nearest(model, halves, middle, base)
        reached = float(_sigmoid(nearest + high) - _sigmoid(nearest + low))
        return Widest(reached=reached, bound=reached, at=person)
    tolerance = 1e-9 + 0.02 * (high - low)
    rows = draw_in_intervals(model, [(middle - tolerance, middle + tolerance)], base, 512, rng)
    if len(rows) == 0:
        rows = draw_in_intervals(model, [(middle - abs(high - low), middle + abs(high - low))], base, 2048, rng)
    if len(rows) == 0:
        return Widest(reached=0.0, bound=bound, at=None)
    margin = model.margin(rows)
    gaps = _sigmoid(margin + high) - _sigmoid(margin + low)
    best = int(np.argmax(gaps))
    return Widest(reached=float(gaps[best]), bound=max(bound, float(gaps[best])), at=rows[best])


def _nearest(model: Additive, halves: tuple[list[int], list[int]], middle: float, base: Floats) -> tuple[Floats, float]:
    """The person whose margin is nearest to `middle`, and that margin, by meeting in the middle."""
    one, other = _sums(model, halves[0]), _sums(model, halves[1])
    order = np.argsort(other, kind="stable")
    ranked = other[order]
    right = np.clip(np.searchsorted(ranked, middle - one), 0, len(ranked) - 1)
    left = np.maximum(right - 1, 0)
    closer = np.abs(one + ranked[left] - middle) < np.abs(one + ranked[right] - middle)
    mate = np.where(closer, left, right)
    best = int(np.abs(one + ranked[mate] - middle).argmin())
    person = base.copy()
    for indices, combination in ((halves[0], best), (halves[1], int(order[mate[best]]))):
        picks = np.unravel_index(combination, [len(model.values[index]) for index in indices]) if indices else ()
        for index, pick in zip(indices, picks, strict=True):
            person[model.columns[index]] = model.values[index][int(pick)]
    return person, float(one[best] + ranked[mate[best]])


def _sigmoid(z: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-np.clip(z, -500, 500)))
