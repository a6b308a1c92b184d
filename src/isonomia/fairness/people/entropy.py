"""How unequally a model's benefits are spread: between groups, and within them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, composite, resample_sums, sum_by
from isonomia.data import Backend
from isonomia.evidence import Column, Estimate, Picture, Result, Table, percentile
from isonomia.evidence.intervals import SAME, without_bootstrap
from isonomia.fairness.groups.comparisons import UNSTEADY
from isonomia.fairness.groups.grouping import BY, By, form_groups, rows_with_attributes
from isonomia.fairness.people.benefits import benefits_of, check_benefits, what_benefits_are
from isonomia.languages import msg
from isonomia.parameters import Anything, Number, validated
from isonomia.subject import Subject, SubjectOptions
from isonomia.typing import Floats

#: Benefits with at most this many different values are counted, so that their bootstrap is exact.
MAX_COUNTED = 50
NO_BENEFIT = msg("nobody in the group has a benefit, so inequality is not defined")


@dataclass(frozen=True, repr=False)
class Entropy(Result):
    """A generalized entropy index and its parts.

    ``tables["decomposition"]`` has a row per grouping: `by`, `within`, `between`, their intervals and
    `between_share`. ``tables["groups"]`` has a row per group: `n`, mean benefit, its own index, and what it adds to the
    within part.
    """

    total: float = float("nan")
    within: float | None = None
    between: float | None = None
    alpha: float = 2.0
    estimates: Mapping[str, Estimate] = field(default_factory=dict)


@validated(
    alpha=Number(),
    benefit=Anything("one benefit per row"),
    by=BY,
)
def generalized_entropy(
    data: Any = None,
    model: Any = None,
    *,
    alpha: float = 2,
    benefit: Any = None,
    by: By | Sequence[Sequence[str]] = "all",
    **given: Unpack[SubjectOptions],
) -> Entropy:
    r"""The generalized entropy index of benefits, and its exact decomposition over groups.

    With benefits b_i of mean mu: E = 1 / (n alpha (alpha - 1)) sum [(b_i / mu)^alpha - 1]; for alpha = 1 (Theil)
    1/n sum b_i / mu ln(b_i / mu); for alpha = 0 (mean log deviation) -1/n sum ln(b_i / mu). Over groups g it is
    exactly within + between: within = sum (n_g / n) (mu_g / mu)^alpha E(b_g), between = E with everyone given the mean
    benefit of their group. 0 means that all fare alike.

    Parameters
    ----------
    data, model, **given
        As in `group_metrics`; without protected attributes there is no decomposition. With two classes
        b = 1 + predicted - true: 0 for a wrongful refusal, 2 for an undeserved favour, 1 for a right answer. Several
        classes have no order of favour by themselves: b is 1 for a right answer and 0 for a wrong one, unless `benefit`
        says how good each class is.
    alpha : float
        Sensitivity of the index: the larger, the more weight is given to those who fare best.
    benefit : "prediction", "correct", array or mapping, optional
        Benefit of each person, in place of the usual one. It is the predicted number itself (what a regression takes by
        itself; it must not be negative) or the favourable decision, "correct" for being judged rightly (1) or
        not (0; what several classes take by themselves), a number of at least 0 per row, or how good each class is, as
        ``{"A": 1, "B": 0.5, "C": 0}``: then b = 1 + (worth of the predicted - worth of the true class) / the range of
        worths, the formula of two classes.
    by : "all", "each", "intersection" or lists of names
        How people are grouped. `within` and `between` are those of all attributes together.

    Raises
    ------
    NotApplicable
        Where benefits are negative, or 0 with an `alpha` of 0 or below (a zero has no logarithm).

    Notes
    -----
    Intervals are percentile bootstrap intervals on counts; that of what lies between groups begins at 0 unless the
    groups' mean benefits differ significantly (`between_ends`). AIF360's value at alpha = 0 is this one divided by mu,
    against its own documentation.

    References
    ----------
    T. Speicher et al. (2018), KDD: A unified approach to quantifying algorithmic unfairness.

    Examples
    --------
    >>> e = generalized_entropy([1, 1, 0, 0], [1, 0, 0, 1], sensitive_features=["a", "b", "b", "a"])
    >>> round(e.total, 6), round(e.within, 6), round(e.between, 6)
    (0.25, 0.125, 0.125)
    """
    subject = Subject.of(data, model, counted=True, **given)
    outcome, columns, weights, settings = subject.outcome, subject.attributes, subject.weights, subject.settings
    level, n_boot = settings.level, settings.n_boot
    b = benefits_of(subject, benefit)
    counts = np.ones(b.size, dtype=np.int64) if subject.counts is None else subject.counts
    rows, _ = rows_with_attributes(columns, settings.missing) if columns else (None, 0)
    if rows is not None:
        b, counts, columns = b[rows], counts[rows], tuple(column.take(rows).observed() for column in columns)
        weights = None if weights is None else weights[rows]
    check_benefits(b, alpha)
    w = np.ones(b.size) if weights is None else weights
    n = int(counts.sum())
    column = composite(list(columns)) if columns else Codes("all", np.zeros(b.size, np.uint8), ("all",))
    sums, draws = _sums(b, w, counts, column, alpha, n_boot, settings.seed)
    whole = index_of(sums.sum(axis=0), alpha)
    whole_draws = index_of(draws.sum(axis=1), alpha) if draws is not None else None
    estimates = {"total": _estimate(whole, whole_draws, n, level)}
    tables: dict[str, Table] = {}
    pictures: tuple[Picture, ...] = ()
    within = between = None
    if columns:
        tables = _tables(
            columns, column, sum_by(column.codes, counts, column.size), sums, draws, alpha, by, level, subject.backend
        )
        last = _parts(sums, alpha)
        within, between = float(last[0]), float(last[1])
        parts = _parts(draws, alpha) if draws is not None else (None, None)
        estimates |= {
            "within": _estimate(within, parts[0], n, level),
            "between": _estimate(between, parts[1], n, level, between_ends(sums, between, level)),
        }
        pictures = (
            Picture(
                "bars",
                "decomposition",
                msg("Inequality between groups, with its interval"),
                {"labels": "by", "value": "between"},
            ),
        )
    found = Entropy(
        "entropy",
        msg("Inequality of benefits"),
        tables,
        dict(estimates),
        (),
        pictures,
        (what_benefits_are(outcome, benefit), *without_bootstrap(n_boot)),
        float(whole),
        within,
        between,
        float(alpha),
        estimates,
        titles={
            "total": msg("inequality of benefits"),
            "within": msg("within groups"),
            "between": msg("between groups"),
        },
    )
    return subject.noted(found)


def index_of(sums: Floats, alpha: float) -> Any:
    """The index from sums (..., 3) over rows: weight, weight x benefit, weight x h(benefit).

    h(b) is b^alpha, b ln b where alpha is 1, and ln b where alpha is 0. NaN where nobody has a benefit.
    """
    size, first, second = (sums[..., index] for index in range(3))
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(size > 0, first / size, np.nan)
        mean = np.where(mean > 0, mean, np.nan)
        if alpha == 1:
            return second / size / mean - np.log(mean)
        if alpha == 0:
            return np.log(mean) - second / size
        return (second / size / mean**alpha - 1) / (alpha * (alpha - 1))


def _parts(sums: Floats, alpha: float) -> tuple[Any, Any]:
    """Within and between from sums (..., groups, 3); groups of no rows, or of no benefit, add no inequality within."""
    total = sums.sum(axis=-2, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = sums[..., 0] / total[..., 0]
        level = (sums[..., 1] / sums[..., 0]) / (total[..., 1] / total[..., 0])
        weight = np.where(sums[..., 1] > 0, share * level**alpha, 0.0)
        own = np.where(weight > 0, index_of(sums, alpha), 0.0)
        within = (weight * own).sum(axis=-1)
        if alpha == 1:
            terms = np.where(sums[..., 1] > 0, share * level * np.log(level), 0.0)
        elif alpha == 0:
            terms = np.where(sums[..., 0] > 0, -share * np.log(level), 0.0)
        else:
            terms = np.where(sums[..., 0] > 0, share * (level**alpha - 1), 0.0) / (alpha * (alpha - 1))
    return within, terms.sum(axis=-1)


def between_ends(sums: Floats, between: float, level: float) -> tuple[float, float]:
    """The ends of what lies between groups: 0 is the lower one where the groups' means do not differ significantly.

    What lies between is never below 0, and of equal groups it is above 0 in every sample, so that resamples miss 0. Up
    to a factor it is Q = sum (m_g - m)^2 / v_g, over the groups' mean benefits m_g with variances v_g and their mean m
    weighted by 1 / v_g. Q has a noncentral chi-square distribution: the ends are those of its noncentrality, 0 where Q
    is within the central one, times between / Q.

    Parameters
    ----------
    sums : (groups, 6) array
        Of weight, weight x benefit and its function h, as in `index_of`; of weight^2, weight^2 x benefit and
        weight^2 x benefit^2.
    """
    from scipy.special import chdtr, chndtrinc

    size, first, _, w2, w2b, w2bb = sums[sums[:, 0] > 0].T
    mean, rows = first / size, size**2 / w2
    own = np.maximum(w2bb - 2 * mean * w2b + mean**2 * w2, 0.0) / w2 * rows / np.maximum(rows - 1, 1)
    variance = np.where(own > SAME, own, np.average(own, weights=size)) / rows  # equal benefits: the spread of all
    df = mean.size - 1
    if df < 1 or not (variance > 0).all():
        return np.nan, np.nan
    centre = np.average(mean, weights=1 / variance)
    q = float(((mean - centre) ** 2 / variance).sum())
    if q <= SAME:
        return 0.0, np.nan
    tail = (1 - level) / 2
    below = float(chdtr(df, q))
    low, high = (0.0 if below <= share else float(chndtrinc(q, df, share)) for share in (1 - tail, tail))
    return low * between / q, high * between / q


def _sums(
    b: Floats, w: Floats, counts: NDArray[np.int64], column: Codes, alpha: float, n_boot: int, seed: int
) -> tuple[Floats, Floats | None]:
    """Sums over rows, each counted so often, and their bootstrap replicates.

    The sums (groups, 6) are of weight, weight x benefit, weight x h(benefit), then of squared weight times 1, benefit
    and squared benefit; replicates (n_boot, groups, 3) are those of the first three.
    """
    rows, weight, square = counts.astype(float), counts * w, counts * w * w
    values = np.unique(b[:10_000])
    cell, cells, several = column.codes.astype(np.intp), column.size, 1
    if values.size <= MAX_COUNTED and np.isin(b, values).all():  # few benefits: a row per group and benefit
        cell, cells, several = cell * values.size + np.searchsorted(values, b), cells * values.size, values.size
        rows, weight, square = (sum_by(cell, x, cells) for x in (rows, weight, square))
        b, cell = np.tile(values, column.size), np.arange(cells)
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm = np.log(b)
        h = {1.0: np.where(b > 0, b * logarithm, 0.0), 0.0: logarithm}.get(float(alpha), b**alpha)
    quantities = (np.ones(b.size), b, h)

    def over(x: Floats) -> Floats:
        return sum_by(cell, x, cells)

    sums = np.stack([over(weight * x) for x in quantities], axis=-1)
    squares = np.stack([over(square * b**power) for power in range(3)], axis=-1)
    folded = np.concatenate([sums, squares], axis=-1).reshape(column.size, several, 6).sum(axis=1)
    if n_boot == 0:
        return folded, None
    products = np.stack([np.stack([over(square * x * y) for x in quantities], axis=-1) for y in quantities], axis=-2)
    drawn = resample_sums(over(rows).astype(np.int64), sums, products, n_boot, seed)[1]
    return folded, drawn.reshape(n_boot, column.size, several, 3).sum(axis=2)


_BY = Column("by", format="text", title=msg("by"))
_PARTS = (
    _BY,
    Column("groups", format="int", title=msg("groups")),
    Column("within", format="num4", title=msg("within groups")),
    Column("between", format="num4", title=msg("between groups")),
    Column("between_share", format="pct", title=msg("share between groups")),
)
_GROUPS = (
    _BY,
    Column("group", title=msg("group")),
    Column("n", format="int", title=msg("rows")),
    Column("benefit", format="num4", title=msg("mean benefit")),
    Column("index", format="num4", title=msg("index within the group")),
    Column("contribution", format="num4", title=msg("contribution to the inequality within groups")),
    Column("note", title=msg("note")),
)


def _tables(
    columns: Sequence[Codes],
    column: Codes,
    counts: Floats,
    sums: Floats,
    draws: Floats | None,
    alpha: float,
    by: By | Sequence[Sequence[str]],
    level: float,
    backend: Backend | None,
) -> dict[str, Table]:
    groups = form_groups(columns, by=by, labels=column.labels)
    ways: dict[tuple[str, ...], list[int]] = {}
    for index, group in enumerate(groups.groups):
        ways.setdefault(group.by, []).append(index)
    rows: dict[str, list[Any]] = {column.name: [] for column in _PARTS}
    people: dict[str, list[Any]] = {column.name: [] for column in _GROUPS}
    total = float(index_of(sums.sum(axis=0), alpha))
    for way, members in ways.items():
        fold = groups.indicator([groups.groups[i].cells for i in members]).T  # ways of a grouping never overlap
        own = fold @ sums
        within, between = (float(part) for part in _parts(own, alpha))
        ends: list[tuple[float | None, float | None]] = [(None, None), (None, None)]
        drawn = None if draws is None else np.einsum("gc,bcq->bgq", fold, draws)
        if drawn is not None:
            inside, across = _parts(drawn, alpha)
            known = between_ends(own, between, level)
            ends = [_ends(within, inside, level), _ends(between, across, level, known)]
        name = " x ".join(way)
        share = between / total if total > 0 else None
        for key, value in zip(rows, (name, len(members), (within, *ends[0]), (between, *ends[1]), share), strict=True):
            rows[key].append(value)
        mean, index = own[:, 1] / own[:, 0], index_of(own, alpha)
        overall = own.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            adds = own[:, 0] / overall[0] * (mean / (overall[1] / overall[0])) ** alpha * index
        people["by"] += [name] * len(members)
        people["group"] += [groups.groups[i].name for i in members]
        people["n"] += (fold @ counts).astype(int).tolist()
        for key, values, replicas in (("benefit", mean, _means), ("index", index, lambda x: index_of(x, alpha))):
            low, high = _group_ends(None if drawn is None else replicas(drawn), len(members), level)
            people[key] += list(zip(values.tolist(), low, high, strict=True))
        people["contribution"] += adds.tolist()
        people["note"] += [
            NO_BENEFIT if np.isnan(one) else UNSTEADY if drawn is not None and np.isnan(low) else None
            for one, low, _ in people["index"][-len(members) :]
        ]
    decomposition = Table.of(rows, _PARTS, title=msg("Inequality within and between groups"), backend=backend)
    return {
        "decomposition": decomposition.with_columns(replace(decomposition["by"], keys=list(ways))),
        "groups": Table.of(people, _GROUPS, title=msg("Benefits of each group"), backend=backend),
    }


def _means(sums: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(sums[..., 0] > 0, sums[..., 1] / sums[..., 0], np.nan)


def _group_ends(draws: Floats | None, groups: int, level: float) -> tuple[list[Any], list[Any]]:
    """Ends of the percentile intervals of each group's figure; None without a bootstrap."""
    if draws is None:
        return [None] * groups, [None] * groups
    low, high = percentile(draws, level)
    return low.tolist(), high.tolist()


def _estimate(value: Any, draws: Any, n: int, level: float, known: tuple[float, float] | None = None) -> Estimate:
    if draws is None:
        return Estimate(float(value), n=n, level=level)
    return Estimate(float(value), *_ends(float(value), draws, level, known), n=n, method="bootstrap", level=level)


def _ends(value: float, draws: Any, level: float, known: tuple[float, float] | None = None) -> tuple[float, float]:
    """The interval of the resamples, with the value in it; of known ends the lower one and the farther upper one."""
    low, high = percentile(draws, level)
    if known is not None:
        low, high = np.asarray(known[0]), np.fmax(high, known[1])
    return float(np.fmin(low, value)), float(np.fmax(high, value))
