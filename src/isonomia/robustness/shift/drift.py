"""Has the population changed: a reference dataset against a current one, variable by variable and jointly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, count_by, sum_by
from isonomia.data import Dataset, to_numpy
from isonomia.errors import DataError
from isonomia.events import ProgressLike
from isonomia.evidence import (
    Estimate,
    Result,
    benjamini_hochberg,
    holm,
    normal_p,
    normal_quantile,
    two_proportions,
)
from isonomia.languages import msg
from isonomia.models import Surface
from isonomia.parameters import ALPHA, LEVEL, NAMES, SEED, Boolean, Choice, Integer, validated
from isonomia.robustness._features import check_features
from isonomia.robustness.shift.distances import Distances, category_distances, mass_distances, numeric_distances
from isonomia.robustness.shift.drift_tables import show
from isonomia.robustness.shift.two_sample import two_sample_auc, with_training_noise
from isonomia.robustness.slices.overfit import aligned
from isonomia.robustness.slices.slicing import as_floats
from isonomia.subject import Reading, Subject
from isonomia.typing import Floats

Role = Literal["feature", "target", "prediction", "group"]
Adjust = Literal["holm", "bh"]
#: Maximum range of whole numbers that are counted value by value.
COUNTED = 1 << 22


@dataclass(frozen=True, eq=False)
class Shift:
    """One variable in both samples."""

    name: str
    role: Role
    found: Distances
    p_value: float
    scale: float | None
    missing: tuple[float, float]
    mean: tuple[float | None, float | None]


@dataclass(frozen=True, eq=False)
class Drift:
    """All variables, adjusted p-values, the joint test, shares of groups."""

    shifts: tuple[Shift, ...]
    adjusted: Floats
    joint: Estimate | None
    joint_p: float | None
    groups: tuple[tuple[Codes, Codes], ...]
    alpha: float
    level: float
    adjust: Adjust
    sizes: tuple[int, int]


@validated(
    features=NAMES.or_none(),
    bins=Integer(2),
    alpha=ALPHA,
    adjust=Choice(("holm", "bh")),
    joint=Boolean(),
    folds=Integer(2),
    level=LEVEL,
    seed=SEED,
    verify=Choice(("evidently",)).or_none(),
)
def drift(
    reference: Any,
    current: Any,
    model: Any = None,
    *,
    features: Sequence[str] | None = None,
    bins: int = 10,
    alpha: float = 0.05,
    adjust: Adjust = "holm",
    joint: bool = True,
    folds: int = 5,
    level: float = 0.95,
    seed: int = 0,
    verify: Literal["evidently"] | None = None,
    progress: ProgressLike = None,
    **given: Unpack[Reading],
) -> Result:
    """Which variables of the current data differ from the reference, by how much, and how surely.

    Parameters
    ----------
    reference, current : Dataset, frame or Subject
        With the same features of the same kinds. Targets, predictions and protected attributes are compared where both
        have them; weights are used where they are there. All rows are compared, also those without a target: the
        population is in question, and the share of missing targets is one of its traits.
    model : optional
        Anything that predicts; its predictions for both are compared.
    features : sequence of str, optional
        Columns to compare; those of the reference by default.
    bins : int
        Quantiles of the reference between which PSI and Jensen-Shannon of numbers are counted.
    alpha, adjust : float, "holm" or "bh"
        Error rate over all variables; the chance of any false alarm ("holm"), or the share of false alarms among
        those reported ("bh").
    joint : bool
        Whether a classifier tries to separate the samples (up to 10,000 rows of each).
    folds, level, seed
        Folds of the classifier's cross-fitting, and of its AUC's interval.
    verify : "evidently", optional
        A second opinion, where that package imports.
    progress : callable or Progress, optional
        Receives an `Event` as work goes on; a `Progress` can end it.

    Returns
    -------
    Result
        Tables ``variables`` (test, statistic, p-values, Wasserstein distance in units and in standard deviations of
        the reference, PSI, Jensen-Shannon), ``groups`` (shares of each protected group) and ``evidently``.

    Notes
    -----
    Numbers: two-sample Kolmogorov-Smirnov with its asymptotic p-value. Categories: Pearson's chi-square. Where values
    are missing, the share of missing values is tested too and the p-value is twice the smaller one. With weights,
    statistics are weighted and tests use effective numbers of rows.

    Examples
    --------
    >>> before = {"age": np.arange(500.0), "city": ["N", "S"] * 250}
    >>> after = {"age": np.arange(500.0) + 100, "city": ["N", "S"] * 250}
    >>> result = drift(before, after, joint=False)
    >>> [(row["variable"], row["drifted"]) for row in result.tables["variables"].rows()]
    [('age', True), ('city', False)]
    """
    before = Subject.of(reference, model, progress=progress, **given)
    sides = before, Subject.of(current, model, progress=before.progress, **given)
    one, two = sides[0].data, sides[1].data
    names = check_features(one, features)
    _check_alike(one, two, names)
    how = _How(bins=bins, weights=(one.weights, two.weights), level=level)
    stage = before.progress.stage("features", msg("Comparing features"), total=len(names))
    shifts = [_column(one, two, name, "feature", how) for name in stage.over(names)]
    if one.target is not None and two.target is not None:
        _check_alike(one, two, (one.target,))
        shifts.append(_column(one, two, one.target, "target", how, task=one.task))
    shifts += _predictions(sides[0].predictions, sides[1].predictions, how)
    groups = tuple(_groups(one, two))
    shifts += [_of_codes(f"{a.name}", "group", a, b, how) for a, b in groups]
    auc, p = None, None
    if joint:
        auc = two_sample_auc(one, two, names, folds=folds, level=level, seed=seed, progress=before.progress)
        p = _above_half(auc)
        auc = with_training_noise(auc, folds)
    raw = np.array([shift.p_value for shift in shifts] + ([] if p is None else [p]))
    adjusted = (holm if adjust == "holm" else benjamini_hochberg)(raw)
    found = Drift(tuple(shifts), adjusted, auc, p, groups, alpha, level, adjust, (len(one), len(two)))
    second = None
    if verify == "evidently":
        from isonomia.robustness.shift.evidently_opinion import second_opinion

        second = second_opinion(one, two, names)
    return show(found, two.backend, second)


def _check_alike(one: Dataset, two: Dataset, names: Sequence[str]) -> None:
    missing = [name for name in names if name not in two.columns]
    if missing:
        raise DataError(
            f"`current` lacks columns that `reference` has: {', '.join(map(repr, missing[:10]))}. Compare tables with "
            "the same columns, or name the common ones with features=[...]."
        )
    for name in names:
        a, b = one.kinds[name], two.kinds[name]
        if a != b and not {a, b} <= {"numeric", "integer", "boolean"}:
            raise DataError(f"The column '{name}' is {a} in `reference` and {b} in `current`; give both the same kind.")


@dataclass(frozen=True, kw_only=True)
class _How:
    """How two columns are compared."""

    bins: int
    weights: tuple[Floats | None, Floats | None]
    level: float


def _column(one: Dataset, two: Dataset, name: str, role: Role, how: _How, task: str | None = None) -> Shift:
    kinds = {one.kinds[name], two.kinds[name]}
    if kinds & {"category"} or kinds == {"boolean"} or task in ("binary", "multiclass"):
        a, b = aligned(*(Codes.encode(data.column(name), name=name) for data in (one, two)))
        return _of_codes(name, role, a, b, how)
    if how.weights == (None, None) and kinds == {"integer"}:
        counted = _of_integers(name, role, to_numpy(one.column(name)), to_numpy(two.column(name)), how)
        if counted is not None:
            return counted
    return _of_numbers(name, role, as_floats(one, name), as_floats(two, name), how)


def _of_integers(name: str, role: Role, a: NDArray[Any], b: NDArray[Any], how: _How) -> Shift | None:
    """Whole numbers of a small range are counted instead of sorted; None where they are not such."""
    if a.dtype.kind not in "iu" or b.dtype.kind not in "iu":
        return None
    low = min(int(a.min()), int(b.min()))
    span = max(int(a.max()), int(b.max())) - low + 1
    if span > min(COUNTED, 2 * (a.size + b.size)):
        return None
    p, q = (count_by(x - low if low else x, span) for x in (a, b))
    used = np.flatnonzero(p + q)
    values, p, q = np.asarray(used + low, dtype=float), p[used], q[used]
    found = mass_distances(values, p, q, sizes=(a.size, b.size), bins=how.bins, level=how.level)
    means = float(p @ values / a.size), float(q @ values / b.size)
    scale = float(np.sqrt(p @ (values - means[0]) ** 2 / a.size))
    return Shift(name, role, found, found.p_value, scale or None, (0.0, 0.0), means)


def _of_numbers(name: str, role: Role, a: Floats, b: Floats, how: _How) -> Shift:
    """Numbers: tested where known, and for how often they are missing."""
    known = ~np.isnan(a), ~np.isnan(b)
    whole = bool(known[0].all() and known[1].all())
    if not (known[0].any() and known[1].any()):
        where = "reference" if not known[0].any() else "current"
        raise DataError(f"The column '{name}' holds no number at all in `{where}`; leave it out.")
    if whole:
        found = numeric_distances(a, b, bins=how.bins, weights=how.weights, level=how.level)
        share, p = (0.0, 0.0), found.p_value
    else:
        kept = [None if w is None else w[k] for w, k in zip(how.weights, known, strict=True)]
        own = (kept[0], kept[1])
        found = numeric_distances(a[known[0]], b[known[1]], bins=how.bins, weights=own, level=how.level)
        share = (1 - float(known[0].mean()), 1 - float(known[1].mean()))
        gone = float(two_proportions((~known[0]).sum(), a.size, (~known[1]).sum(), b.size))
        p = min(1.0, 2 * min(found.p_value, gone))
    finite = [x[k & np.isfinite(x)] for x, k in zip((a, b), known, strict=True)]
    scale = float(finite[0].std()) if finite[0].size else 0.0
    means = tuple(float(x.mean()) if x.size else None for x in finite)
    return Shift(name, role, found, p, scale or None, share, (means[0], means[1]))


def _of_codes(name: str, role: Role, a: Codes, b: Codes, how: _How) -> Shift:
    """Categories; missing is one of them."""
    counts, sizes = [], []
    for column, w in zip((a, b), how.weights, strict=True):
        counts.append(column.counts() if w is None else sum_by(column.codes, w, column.size))
        sizes.append(float(len(column)) if w is None else float(w.sum() ** 2 / (w * w).sum()))
    both = (sizes[0], sizes[1]) if any(w is not None for w in how.weights) else None
    found = category_distances(counts[0], counts[1], sizes=both, level=how.level)
    last = a.missing
    share = (0.0, 0.0) if last is None else tuple(float(c[last] / c.sum()) for c in counts)
    return Shift(name, role, found, found.p_value, None, (share[0], share[1]), (None, None))


def _predictions(one: Surface, two: Surface, how: _How) -> list[Shift]:
    if not (one.kinds and two.kinds):
        return []
    values = _spoken(one), _spoken(two)
    if values[0] is not None and values[1] is not None:
        return [_of_numbers("prediction", "prediction", values[0], values[1], how)]
    a, b = (Codes("prediction", np.asarray(s.label, dtype=np.uint32), tuple(map(str, s.classes))) for s in (one, two))
    return [_of_codes("prediction", "prediction", *aligned(a, b), how)]


def _spoken(surface: Surface) -> Floats | None:
    """Predictions as one number per row, if available: a regression's, or the probability or score of the positive."""
    if surface.continuous is not None:
        return surface.continuous
    if surface.probability is not None and surface.probability.ndim == 1:
        return surface.probability
    return surface.score


def _groups(one: Dataset, two: Dataset) -> list[tuple[Codes, Codes]]:
    """Protected attributes that both have, over the same groups."""
    shared = [name for name in one.protected if name in two.columns]
    return [
        aligned(Codes.encode(one.group_column(name), name=name), Codes.encode(_grouped(one, two, name), name=name))
        for name in shared
    ]


def _grouped(one: Dataset, two: Dataset, name: str) -> Any:
    bands = one.roles.bands.get(name)
    return two.column(name).to_native() if bands is None else bands.cut(as_floats(two, name))


def _above_half(auc: Estimate) -> float | None:
    """The one-sided p-value that the samples cannot be distinguished, from the interval on the logit scale."""
    if auc.value is None or auc.low is None or auc.high is None:
        return None
    reach = normal_quantile(auc.level)
    if 0 < auc.low < auc.high < 1:
        low, high = np.log(auc.low / (1 - auc.low)), np.log(auc.high / (1 - auc.high))
        z = np.log(auc.value / (1 - auc.value)) * 2 * reach / (high - low)
    else:  # perfect separation: the lower end is all there is
        z = (auc.value - 0.5) * reach / max(auc.value - auc.low, 1e-9)
    p = float(normal_p(z)) / 2
    return p if z > 0 else 1 - p
