"""Has the population changed: a reference dataset against a current one, variable by variable and jointly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, count_by, sum_by
from isonomia.counting.cuts import as_floats
from isonomia.data import Dataset, to_numpy
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
from isonomia.languages import Message, msg
from isonomia.models import Surface
from isonomia.parameters import ALPHA, LEVEL, NAMES, SEED, Boolean, Choice, Integer, validated
from isonomia.robustness._features import check_features, check_same_columns
from isonomia.robustness.shift.distances import Distances, category_distances, mass_distances, numeric_distances
from isonomia.robustness.shift.drift_tables import show
from isonomia.robustness.shift.samples import FINE_BINS, Sample, in_bins, samples
from isonomia.robustness.shift.two_sample import MAX_ROWS, two_sample_auc, with_training_noise
from isonomia.robustness.slices.side_slices import aligned
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
class GroupShares:
    """The rows of each group of an attribute in both samples."""

    attribute: str
    groups: tuple[str, ...]
    reference: NDArray[np.int64]
    current: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Drift:
    """All variables, adjusted p-values, the joint test, shares of groups."""

    shifts: tuple[Shift, ...]
    adjusted: Floats
    joint: Estimate | None
    joint_p: float | None
    groups: tuple[GroupShares, ...]
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
        the reference, PSI as it is and beyond noise, Jensen-Shannon), ``groups`` (shares of each protected group) and
        ``evidently``.

    Notes
    -----
    Numbers: two-sample Kolmogorov-Smirnov with its asymptotic p-value. Categories: Pearson's chi-square. Where values
    are missing, the share of missing values is tested too and the p-value is twice the smaller one. With weights,
    statistics are weighted and tests use effective numbers of rows.

    ``psi`` is the population stability index, sum (q - p) ln(q / p) over `bins` quantiles of the reference, or over
    categories. Of samples without any drift it is (B - 1) (1 / n + 1 / m) on average: ``psi_beyond_noise`` is what
    exceeds that (with counts raised by a half), with its interval, and decides how serious a finding is.

    Examples
    --------
    >>> before = {"age": np.arange(500.0), "city": ["N", "S"] * 250}
    >>> after = {"age": np.arange(500.0) + 100, "city": ["N", "S"] * 250}
    >>> result = drift(before, after, joint=False)
    >>> [(row["variable"], row["drifted"]) for row in result.tables["variables"].rows()]
    [('age', True), ('city', False)]
    """
    before = Subject.of(reference, model, progress=progress, counted=True, **given).fitting()
    sides = before, Subject.of(current, model, progress=before.progress, counted=True, **given).fitting()
    one, two = sides[0].data, sides[1].data
    names = check_features(one, features)
    check_same_columns(one, two, names, called=("reference", "current"))
    how = _How(bins=bins, level=level, one=Sample(one), two=Sample(two))
    columns = samples(one, two, names)
    stage = before.progress.stage("features", msg("Comparing features"), total=len(names))
    shifts = [_column(name, "feature", how.of(*columns[name])) for name in stage.over(names)]
    if one.target is not None and two.target is not None:
        check_same_columns(one, two, (one.target,), called=("reference", "current"))
        shifts.append(_column(one.target, "target", how, task=one.task))
    shifts += _predictions(*sides, how)
    groups = _groups(one, two)
    shifts += [_of_codes(f"{a.name}", "group", a, b, how) for a, b in groups]
    auc, p = None, None
    if joint:
        few, others = (data.rows(MAX_ROWS, seed=seed) for data in (one, two))
        auc = two_sample_auc(few, others, names, folds=folds, level=level, seed=seed, progress=before.progress)
        p = _above_half(auc)
        auc = with_training_noise(auc, folds)
    raw = np.array([shift.p_value for shift in shifts] + ([] if p is None else [p]))
    adjusted = (holm if adjust == "holm" else benjamini_hochberg)(raw)
    shares = tuple(GroupShares(a.name, a.texts, *how.rows(a, b)) for a, b in groups)
    found = Drift(tuple(shifts), adjusted, auc, p, shares, alpha, level, adjust, (len(one), len(two)))
    second = None
    if verify == "evidently":
        from isonomia.robustness.shift.evidently_opinion import second_opinion

        second = second_opinion(one.rows(), two.rows(), names)
    result = show(found, two.backend, second)
    return replace(result, notes=(*result.notes, *_target_note(one, two), *_bin_notes(columns)))


def _target_note(one: Dataset, two: Dataset) -> tuple[Message, ...]:
    """That the target was not compared, where only one side has it."""
    known = [data.target for data in (one, two) if data.target is not None]
    if len(known) != 1:
        return ()
    target = repr(known[0])
    if one.target is None:
        return (msg("The target {target} was not compared: the reference does not have it.", target=target),)
    return (msg("The target {target} was not compared: the current rows do not have it.", target=target),)


def _bin_notes(columns: Mapping[str, tuple[Sample, Sample]]) -> tuple[Message, ...]:
    """Which numbers were counted in bins, and how far off their tests can be."""
    binned = [name for name, (one, _) in columns.items() if one.edges is not None]
    if not binned:
        return ()
    return (
        msg(
            "{columns}: counted in {bins:int} bins of equal width. Kolmogorov-Smirnov is too small by at most the "
            "largest share of rows in one bin.",
            columns=", ".join(binned),
            bins=FINE_BINS,
        ),
    )


@dataclass(frozen=True, kw_only=True)
class _How:
    """How two samples of a column are compared."""

    bins: int
    level: float
    one: Sample
    two: Sample

    @property
    def weighted(self) -> bool:
        return self.one.weights is not None or self.two.weights is not None

    @property
    def counted(self) -> bool:
        return self.one.counts is not None or self.two.counts is not None

    def of(self, one: Sample, two: Sample) -> _How:
        """The same for other samples."""
        return replace(self, one=one, two=two)

    def rows(self, a: Codes, b: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many rows of each sample have each code."""
        one, two = (
            codes.counts() if side.counts is None else sum_by(codes.codes, side.counts, codes.size).astype(np.int64)
            for codes, side in ((a, self.one), (b, self.two))
        )
        return one, two


def _column(name: str, role: Role, how: _How, task: str | None = None) -> Shift:
    one, two = how.one.data, how.two.data
    kinds = {one.kinds[name], two.kinds[name]}
    if kinds & {"category"} or kinds == {"boolean"} or task in ("binary", "multiclass"):
        a, b = aligned(*(Codes.encode(data.column(name), name=name) for data in (one, two)))
        return _of_codes(name, role, a, b, how)
    if not how.weighted and kinds == {"integer"} and how.one.edges is None:
        whole = [to_numpy(data.column(name)) for data in (one, two)]
        if all(values.dtype.kind in "iu" for values in whole):  # none is missing
            return _of_integers(name, role, whole[0], whole[1], how)
    x, y = (in_bins(as_floats(side.data, name), side.edges) for side in (how.one, how.two))
    return _of_numbers(name, role, x, y, how)


def _of_integers(name: str, role: Role, a: NDArray[Any], b: NDArray[Any], how: _How) -> Shift:
    """Whole numbers, none missing; those of a small range are counted instead of sorted."""
    low = min(int(a.min()), int(b.min()))
    span = max(int(a.max()), int(b.max())) - low + 1
    sizes = [x.size if side.counts is None else int(side.counts.sum()) for x, side in ((a, how.one), (b, how.two))]
    if span > min(COUNTED, 2 * sum(sizes)):
        return _of_numbers(name, role, a, b, how)
    p, q = (
        count_by(x, span, low) if side.counts is None else sum_by(x.astype(np.int64) - low, side.counts, span)
        for x, side in ((a, how.one), (b, how.two))
    )
    used = np.flatnonzero(p + q)
    values, p, q = np.asarray(used + low, dtype=float), p[used], q[used]
    found = mass_distances(values, p, q, sizes=(sizes[0], sizes[1]), bins=how.bins, level=how.level)
    means = float((p * values).sum() / sizes[0]), float((q * values).sum() / sizes[1])
    scale = float(np.sqrt((p * (values - means[0]) ** 2).sum() / sizes[0]))
    return Shift(name, role, found, found.p_value, scale or None, (0.0, 0.0), means)


def _of_numbers(name: str, role: Role, a: NDArray[Any], b: NDArray[Any], how: _How) -> Shift:
    """Numbers: tested where known, and for how often they are missing or infinite.

    Where a sample has none at all, only the latter.
    """
    known = np.isfinite(a), np.isfinite(b)
    if not (known[0].any() and known[1].any()):
        one, two = (Codes(name, (~k).astype(np.uint8), ("known", None)) for k in known)
        return _of_codes(name, role, one, two, how)
    sides = list(zip((a, b), (how.one, how.two), known, strict=True))
    x, y = (_where(values, k) for values, _, k in sides)
    weights = [None if side.weights is None else _where(side.weights, k) for _, side, k in sides]
    counts = [None if side.counts is None else _where(side.counts, k) for _, side, k in sides]
    found = numeric_distances(
        x, y, bins=how.bins, weights=(weights[0], weights[1]), counts=(counts[0], counts[1]), level=how.level
    )
    p, share = found.p_value, (0.0, 0.0)
    if x is not a or y is not b:
        size = [x.size if side.counts is None else int(side.counts.sum()) for x, side, _ in sides]
        gone = [int((~k).sum() if side.counts is None else side.counts[~k].sum()) for _, side, k in sides]
        share = (gone[0] / size[0], gone[1] / size[1])
        p = min(1.0, 2 * min(p, float(two_proportions(gone[0], size[0], gone[1], size[1]))))
    (mean, scale), (now, _) = _moments(x, counts[0]), _moments(y, counts[1])
    return Shift(name, role, found, p, scale or None, share, (mean, now))


def _where(values: NDArray[Any], mask: NDArray[np.bool_]) -> NDArray[Any]:
    """The values at a mask; the array itself where that is all of it."""
    return values if mask.all() else values[mask]


def _moments(values: NDArray[Any], counts: NDArray[np.int64] | None) -> tuple[float, float]:
    """The mean and the standard deviation."""
    if counts is None:
        return float(values.mean()), float(values.std())
    mean = float(np.average(values, weights=counts))
    return mean, float(np.sqrt(np.average((values - mean) ** 2, weights=counts)))


def _of_codes(name: str, role: Role, a: Codes, b: Codes, how: _How) -> Shift:
    """Categories; missing is one of them."""
    masses: list[NDArray[Any]] = []
    sizes = []
    for column, side, n in zip((a, b), (how.one, how.two), how.rows(a, b), strict=True):
        w = side.weights
        if w is None:
            masses.append(n)
            sizes.append(float(n.sum()))
            continue
        c = np.ones(len(column)) if side.counts is None else side.counts.astype(float)
        masses.append(sum_by(column.codes, c * w, column.size))
        sizes.append(float((c @ w) ** 2 / (c @ (w * w))))
    both = (sizes[0], sizes[1]) if how.weighted else None
    found = category_distances(masses[0], masses[1], sizes=both, level=how.level)
    last = a.missing
    share = (0.0, 0.0) if last is None else tuple(float(c[last] / c.sum()) for c in masses)
    return Shift(name, role, found, found.p_value, None, (share[0], share[1]), (None, None))


def _predictions(before: Subject, after: Subject, how: _How) -> list[Shift]:
    one, two = before.predictions, after.predictions
    if not (one.kinds and two.kinds):
        return []
    values = _spoken(one), _spoken(two)
    if values[0] is not None and values[1] is not None:
        edges = next((edges for data in (how.one.data, how.two.data) if (edges := data.score_edges) is not None), None)
        x, y = (_in_score_bins(scores, edges) for scores in (values[0], values[1]))
        return [_of_numbers("prediction", "prediction", x, y, how)]
    a, b = (Codes("prediction", np.asarray(s.label, dtype=np.uint32), tuple(map(str, s.classes))) for s in (one, two))
    return [_of_codes("prediction", "prediction", *aligned(a, b), how)]


def _in_score_bins(scores: Floats, edges: Floats | None) -> Floats:
    """Scores as the middles of the bins that either sample was counted in."""
    if edges is None:
        return scores
    index = np.clip(np.searchsorted(edges, scores, side="right") - 1, 0, edges.size - 2)
    return np.asarray((edges[index] + edges[index + 1]) / 2)


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
