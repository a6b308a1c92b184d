"""Fairness through awareness: do predictions differ more than people do?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import MISSING, Codes, composite, sum_by
from isonomia.data import Backend, wrap
from isonomia.errors import NotApplicable, SpecError
from isonomia.events import Progress, ProgressLike
from isonomia.evidence import Column, Estimate, Picture, Result, Table
from isonomia.fairness.people.encoding import METRICS, STANDARDISE, Metric, Points, Standardise, people_of, points_of
from isonomia.fairness.people.neighbours import nearest
from isonomia.fairness.people.replacements import Replacements, keys_of, variance_of_neighbours, within
from isonomia.fairness.people.shared_neighbours import share_estimate, variance_of_pairs
from isonomia.languages import msg
from isonomia.languages.naming import together
from isonomia.models import Surface
from isonomia.parameters import Choice, Either, Integer, Made, Number, validated
from isonomia.subject import Subject, SubjectOptions
from isonomia.typing import Floats, Indices

#: Given the rows of the first and of the second people of each pair, a distance of at least 0 per pair.
PairMetric = Callable[[Any, Any], Any]

#: Pairs that would replace others, which of them violate the condition, and their weights.
_Replacing = tuple[Replacements, NDArray[np.bool_], Floats]

WORST_PAIRS = 20
_VALUES = {
    "violating_pairs": msg("pairs whose predictions differ more than the people do"),
    "violating_neighbours": msg("neighbours whose predictions differ more than the people do"),
    "across_groups": msg("pairs of different groups whose predictions differ more than the people do"),
    "same_group": msg("pairs of one group whose predictions differ more than the people do"),
    "pairs": msg("pairs examined"),
}
#: Numbers in a block of pairs.
BLOCK = 1 << 22
#: A difference must exceed what is allowed by more than rounding.
ROUNDING = 1e-9


@dataclass(frozen=True, repr=False)
class Awareness(Result):
    """Pairs of people whose predictions differ more than their distance allows.

    ``tables["pairs"]`` lists the worst: the two rows, their distance, the difference of their predictions and by how
    much it is too large. `share` is the share of violating pairs among all pairs (or among random ones, where not all
    were looked at); `near` the share among pairs of neighbours.
    """

    share: Estimate = field(default_factory=lambda: Estimate.missing("not measured"))
    near: Estimate = field(default_factory=lambda: Estimate.missing("not measured"))


@validated(
    metric=Either(Choice(METRICS), Made(callable, "a function of two frames")),
    standardise=Choice(STANDARDISE),
    lipschitz=Number(above=0),
    unit=Number(above=0).or_none(),
    k=Integer(1),
    max_pairs=Integer(1),
    max_rows=Integer(1).or_none("for all"),
)
def awareness(
    data: Any,
    model: Any = None,
    *,
    metric: Metric | PairMetric = "gower",
    standardise: Standardise = "spread",
    lipschitz: float = 1.0,
    unit: float | None = None,
    k: int = 5,
    max_pairs: int = 500_000,
    max_rows: int | None = None,
    progress: ProgressLike = None,
    **given: Unpack[SubjectOptions],
) -> Awareness:
    """Pairs with |f(x) - f(x')| > lipschitz x distance(x, x'), the Lipschitz condition of fairness through awareness.

    Parameters
    ----------
    data : Dataset, frame, matrix or Subject
        What people are compared by: the features, without the columns that are `protected`.
    model : model, Surface, or column
        Predictions: probabilities (of a model, or `y_score`) where there are any, numbers, or decisions. Probabilities
        of several classes, and decisions, differ by their total variation (0 for equal decisions, 1 for different
        ones).
    metric : "gower", "euclidean", "manhattan" or a function
        How far apart two people are. A function is given two frames of the features (protected ones included), a row
        per pair, and returns a distance of at least 0 per pair.
    standardise : "spread", "std", "range" or "none"
        The scale of numeric columns before distances are taken: four standard deviations unless given. The range of a
        sample grows with its size and depends on two people, so that figures in that unit differ between samples.
    lipschitz : float
        How large a difference of predictions one unit of distance allows.
    unit : float, optional
        Difference of numbers that counts as 1; the range of the predictions unless given.
    k : int
        Number of nearest neighbours that every row is paired with: there a difference is hard to justify.
    max_pairs : int
        The budget. Up to this many pairs, all are examined; else the neighbours (up to half of it)
        and random pairs.
    **given
        How to read the data, and settings (see `subject.Reading` and `subject.Settings`). A weight is the number of
        people that a row stands for: a pair counts as the product of its two weights, and random pairs are drawn
        with chances in proportion to it. Rows of weight 0 are in no pair.
    max_rows : int, optional
        Where there are more rows, neighbours are looked for of this many, drawn at random, among all.

    Notes
    -----
    Pairs share people, so they are not independent. The variance of a share adds the covariance of every two pairs with
    a person in common: sum_i (sum of e over the pairs of i)^2 - sum e^2, over (sum v)^2, with v the weight of a pair
    and e = v (violates - share). Who is a neighbour depends on the others: without i, those who had i as a neighbour
    have the next one instead. The variance of a share of neighbours is that of leaving people out one by one, with the
    pairs that follow (see `replacements`). Intervals are Wilson's at the number of
    independent pairs with that variance.

    References
    ----------
    P. Aronow, C. Samii, V. Assenova (2015), Political Analysis 23:564 (variance over pairs).
    B. Efron, C. Stein (1981), Annals of Statistics 9:586 (leaving out one by one).
    C. Dwork et al. (2012), ITCS: Fairness through awareness.

    Examples
    --------
    >>> found = awareness({"x": [0.0, 0.1, 1.0]}, y_score=[0.1, 0.9, 0.6])
    >>> found.table[["first", "second"]].to_numpy().tolist()
    [[0, 1]]
    """
    subject = Subject.of(data, model, progress=progress, **given)
    surface, columns, weights, level = subject.surface, subject.attributes, subject.weights, subject.settings.level
    points = points_of(subject, "gower" if callable(metric) else metric, standardise)
    n = len(points.matrix)
    w = np.ones(n) if weights is None else weights
    if (w > 0).sum() < 2:
        raise NotApplicable(msg("a pair needs two rows"))
    first, second, near, whole, spare = _pairs(
        points, w, k, max_pairs, max_rows, np.random.default_rng(subject.settings.seed), subject.progress
    )
    people = people_of(subject) if callable(metric) else None

    def apart(a: Indices, b: Indices) -> tuple[Floats, Floats]:
        """How far apart two people are, and their predictions."""
        distance = _given_distance(metric, people, a, b) if callable(metric) else _distance(points, a, b)
        return distance, _difference(surface, a, b, unit)

    distance, difference = apart(first, second)
    excess = difference - lipschitz * distance
    bad = excess > ROUNDING
    # random pairs were drawn in proportion to their weight already
    weight = np.where(near | whole, w[first] * w[second], 1.0)
    kind = subject.backend
    cells = composite(list(columns)) if columns else None
    tables = {"pairs": _pair_table(first, second, distance, difference, excess, bad, cells, kind)}
    pictures: tuple[Picture, ...] = ()
    if bad.any():
        pictures = (
            Picture(
                "scatter",
                "pairs",
                msg("The worst pairs: distance and difference of predictions"),
                {"x": "distance", "y": "difference"},
            ),
        )
    pool = np.ones(bad.size, bool) if whole else ~near

    def share_of(part: NDArray[np.bool_], replacing: _Replacing | None = None) -> Estimate:
        return _share(bad[part], weight[part], first[part], second[part], level, replacing)

    far, unlike = apart(spare.first, spare.second)
    replacing = spare, unlike - lipschitz * far > ROUNDING, w[spare.first] * w[spare.second]
    share, close = share_of(pool), share_of(near, replacing)
    across: dict[str, Any] = {}
    if cells is not None:
        other = cells.codes[first] != cells.codes[second]
        across = {"across_groups": share_of(pool & other), "same_group": share_of(pool & ~other)}
    message = (
        msg("All {n:int} pairs were examined.", n=bad.size)
        if whole
        else msg(
            "Of {all:int} pairs, {near:int} pairs of neighbours and {random:int} random ones were examined.",
            all=_all_pairs(w),
            near=int(near.sum()),
            random=int((~near).sum()),
        )
    )
    allowed = msg("A distance of 1 allows the predictions to differ by {lipschitz:num}.", lipschitz=lipschitz)
    notes = [message, allowed]
    there = int((w > 0).sum())
    if max_rows is not None and max_rows < there:
        notes.append(
            msg(
                "{n:int} rows, sampled at random, were compared with their neighbours among all {all:int}.",
                n=max_rows,
                all=there,
            )
        )
    found = Awareness(
        "awareness",
        msg("Fairness through awareness"),
        tables,
        {"violating_pairs": share, "violating_neighbours": close, **across, "pairs": int(bad.size)},
        (),
        pictures,
        tuple(notes),
        share,
        close,
        titles=_VALUES,
    )
    return subject.noted(found)


def _all_pairs(w: Floats) -> int:
    rows = int((w > 0).sum())
    return rows * (rows - 1) // 2


def _pairs(
    points: Points,
    w: Floats,
    k: int,
    max_pairs: int,
    max_rows: int | None,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[Indices, Indices, NDArray[np.bool_], bool, Replacements]:
    """Pairs of rows, which of them are neighbours, whether these are all pairs there are, and what would follow."""
    n = len(w)
    rows = np.flatnonzero(w > 0)
    sampled = rows
    if max_rows is not None and rows.size > max_rows:
        sampled = np.sort(rng.choice(rows, max_rows, replace=False))
    found = nearest(points, min(k + 2, rows.size), rows=sampled, pool=w > 0, progress=progress)
    representative = np.zeros(int(found.row.max()) + 1, dtype=np.intp)
    representative[found.row[rows]] = rows
    one, other = representative[np.repeat(found.who, np.diff(found.start))], representative[found.index]
    inside, following = within(found, _distance(points, one, other), k + 1)
    # one row stands for its equals; equals are paired with the next of their kind
    order = sampled[np.argsort(found.row[sampled], kind="stable")]
    twins = np.flatnonzero(found.row[order][1:] == found.row[order][:-1])
    keys = np.unique(
        np.concatenate([keys_of(one[inside], other[inside], n), keys_of(order[twins], order[twins + 1], n)])
    )
    keys = keys[keys // n != keys % n]
    if _all_pairs(w) <= max_pairs:
        first, second = (rows[end] for end in np.triu_indices(rows.size, 1))
        near = np.isin(first * n + second, keys)
        return first, second, near, True, Replacements.of((one, other), inside, following, n, keys, keys)
    every = keys
    if keys.size > max_pairs // 2:
        keys = rng.choice(keys, max_pairs // 2, replace=False)
    i, j = _drawn(w, max_pairs - keys.size, rng)
    first = np.concatenate([keys // n, np.minimum(i, j)])
    second = np.concatenate([keys % n, np.maximum(i, j)])
    near = np.arange(first.size) < keys.size
    return first, second, near, False, Replacements.of((one, other), inside, following, n, every, keys)


def _drawn(w: Floats, size: int, rng: np.random.Generator) -> tuple[Indices, Indices]:
    """Random pairs of two different rows, with chances in proportion to the product of their weights."""
    upto = np.cumsum(w)
    i, j = (np.searchsorted(upto, rng.random(size) * upto[-1], side="right") for _ in range(2))
    same = np.flatnonzero(i == j)
    while same.size:
        i[same], j[same] = (np.searchsorted(upto, rng.random(same.size) * upto[-1], side="right") for _ in range(2))
        same = same[i[same] == j[same]]
    return np.minimum(i, w.size - 1), np.minimum(j, w.size - 1)


def _distance(points: Points, first: Indices, second: Indices) -> Floats:
    out = np.empty(first.size)
    step = max(1, BLOCK // points.matrix.shape[1])
    for begin in range(0, first.size, step):
        part = slice(begin, begin + step)
        gap = points.matrix[first[part]] - points.matrix[second[part]]
        out[part] = np.sqrt(np.einsum("ij,ij->i", gap, gap)) if points.p == 2 else np.abs(gap).sum(axis=1)
    return out / points.scale


def _given_distance(metric: PairMetric, people: Any, first: Indices, second: Indices) -> Floats:
    if not first.size:
        return np.empty(0)  # a function of people is not asked about nobody
    table = wrap(people)
    answer = metric(table[first.tolist()].to_native(), table[second.tolist()].to_native())
    distance = np.asarray(answer, dtype=float)
    if distance.shape != first.shape or not (distance >= 0).all():
        raise SpecError(
            f"`metric` must return one distance of at least 0 per pair: {first.size}; got an array of shape "
            f"{distance.shape}{'' if distance.shape != first.shape else ' with negative or missing values'}."
        )
    return distance


def _difference(surface: Surface, first: Indices, second: Indices, unit: float | None) -> Floats:
    if surface.continuous is not None:
        spread = float(np.ptp(surface.continuous)) if unit is None else unit
        return np.asarray(np.abs(surface.continuous[first] - surface.continuous[second]) / (spread or 1.0))
    p = surface.probability
    if p is not None and p.ndim == 1:
        return np.asarray(np.abs(p[first] - p[second]))
    if p is not None:
        return np.asarray(0.5 * np.abs(p[first] - p[second]).sum(axis=1))
    if surface.label is None:
        raise NotApplicable(msg("there are scores but no probabilities or decisions"))
    return np.asarray((surface.label[first] != surface.label[second]).astype(float))


def _part(label: Any) -> str:
    """One value of a group as a text; a name stays one."""
    return MISSING if label is None else label if isinstance(label, str) else str(label)


_PAIR_COLUMNS = (
    Column("first", format="int", title=msg("first row")),
    Column("second", format="int", title=msg("second row")),
    Column("first_group", title=msg("group of the first")),
    Column("second_group", title=msg("group of the second")),
    Column("distance", format="num4", title=msg("distance")),
    Column("difference", format="num4", title=msg("difference of predictions")),
    Column("excess", format="num4", title=msg("excess over the allowed difference")),
)


def _pair_table(
    first: Indices,
    second: Indices,
    distance: Floats,
    difference: Floats,
    excess: Floats,
    bad: NDArray[np.bool_],
    cells: Codes | None,
    backend: Backend | None,
) -> Table:
    count = min(WORST_PAIRS, int(bad.sum()))
    worst = np.argsort(-excess, kind="stable")[:count]
    columns: dict[str, Any] = {"first": first[worst], "second": second[worst]}
    if cells is not None:
        texts = [together(_part(part) for part in label) for label in cells.labels]
        columns["first_group"] = [texts[code] for code in cells.codes[first[worst]].tolist()]
        columns["second_group"] = [texts[code] for code in cells.codes[second[worst]].tolist()]
    columns |= {"distance": distance[worst], "difference": difference[worst], "excess": excess[worst]}
    title = msg("Pairs whose predictions differ more than the people do")
    return Table.of(columns, _PAIR_COLUMNS, title=title, backend=backend)


def _share(
    bad: NDArray[np.bool_], v: Floats, first: Indices, second: Indices, level: float, replacing: _Replacing | None
) -> Estimate:
    """The share of violating pairs; pairs with a person in common are not independent.

    Of pairs of neighbours, `replacing` are those that would replace others.
    """
    if bad.size == 0:
        return Estimate.missing(msg("no such pair was examined"))
    total = float(v.sum())
    share = float(v @ bad / total)
    off = v * (bad - share)
    if replacing is None:
        size = int(max(first.max(), second.max())) + 1
        of_people = sum_by(first, off, size) + sum_by(second, off, size)
        variance = variance_of_pairs(of_people, float(off @ off)) / total**2
    else:
        spare, broken, new_v = replacing
        new = new_v * (broken - share)
        variance = variance_of_neighbours(off, v, first, second, spare, new, new_v) / total**2
    people = np.unique(np.concatenate([first, second])).size
    return share_estimate(share, variance, people, int(bad.size), level)
