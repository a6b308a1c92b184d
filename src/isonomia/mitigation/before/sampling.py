"""Parametrised sampling: training rows left out or repeated until every group's outcomes are as wanted.

With p the share of an outcome among everyone, p_g and p_o those in one of two groups and in the other, the share that
the group shall have is, for d from 1 (as observed) over 0 (all alike) to -1 (the groups exchange their shares):

- quadratic: ((p_g + p_o) / 2 - p) d^2 + (p_g - p_o) / 2 d + p
- linear: (p_g - p_o) / 2 d + (p_g + p_o) / 2
- more than two groups: p + d (p_g - p)

Under-sampling keeps, in each group, the outcome that is rarest against its wanted share and floor(...) rows of the
others; over-sampling keeps all rows and repeats. Sizes are computed with exact fractions: d = 1 changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from isonomia.counting import Codes, composite, count_by
from isonomia.data import check_weights, to_numpy
from isonomia.errors import DataError
from isonomia.languages import msg
from isonomia.mitigation._outcomes import BANDS, cell_counts, empty_cells, outcome_classes
from isonomia.mitigation._training import TrainingMitigator, fit_weighted
from isonomia.mitigation.before.ranking import favourable_scores, take_rows
from isonomia.mitigation.registry import MITIGATIONS, Mitigation
from isonomia.parameters import SEED, Choice, Integer, Number, validated
from isonomia.subject import read_attributes
from isonomia.typing import Floats, Indices

Strategy = Literal["under", "over", "preferential"]
Shape = Literal["quadratic", "linear"]
STRATEGY, SHAPE = Choice(("under", "over", "preferential")), Choice(("quadratic", "linear"))
D = Number(at_least=-1, at_most=1)
Shares = list[list[Fraction]]


def wanted_shares(counts: Floats, d: float, shape: str) -> Shares:
    """The share of each outcome that each group shall have: (groups, outcomes), exact."""
    cells = [[Fraction(value) for value in row] for row in counts.tolist()]
    step = Fraction(repr(float(d)))  # the number that was written, not its nearest binary fraction
    total = sum(map(sum, cells), Fraction(0))
    overall = [sum(column, Fraction(0)) / total for column in zip(*cells, strict=True)]
    own = [[value / sum(row) for value in row] for row in cells]
    if len(own) != 2:
        return [[p + step * (p_g - p) for p, p_g in zip(overall, row, strict=True)] for row in own]
    target_shares = []
    for row, other in ((own[0], own[1]), (own[1], own[0])):
        middle = [(p_g + p_o) / 2 for p_g, p_o in zip(row, other, strict=True)]
        half = [(p_g - p_o) / 2 for p_g, p_o in zip(row, other, strict=True)]
        centre = overall if shape == "quadratic" else middle
        shares = [
            max(Fraction(0), (m - c) * step**2 + h * step + c) for m, h, c in zip(middle, half, centre, strict=True)
        ]
        target_shares.append([share / sum(shares) for share in shares])
    return target_shares


def cell_sizes(counts: Floats, rows: NDArray[Any], target_shares: Shares, strategy: str) -> NDArray[np.int64]:
    """How many rows each cell has after sampling: (groups, outcomes)."""
    sizes = np.zeros(rows.shape, dtype=np.int64)
    for group, shares in enumerate(target_shares):
        cells = [Fraction(value) for value in counts[group].tolist()]
        ratios = [cell / share for cell, share in zip(cells, shares, strict=True) if share]
        mass = {"under": min(ratios), "over": max(ratios), "preferential": sum(cells)}[strategy]
        for outcome, (cell, share) in enumerate(zip(cells, shares, strict=True)):
            if cell:
                sizes[group, outcome] = mass * share / cell * int(rows[group, outcome]) // 1
    return sizes


def draw(groups: Codes, outcomes: Codes, sizes: NDArray[Any], seed: int, scores: Floats | None = None) -> Indices:
    """The rows of a sample in order: cells cut by chance (or at the border of the scores) or repeated."""
    rng = np.random.default_rng(seed)
    cell = groups.codes.astype(np.int64) * outcomes.size + outcomes.codes
    order = np.argsort(cell, kind="stable")
    ends = np.cumsum(count_by(cell, sizes.size))
    chosen = []
    for index, (size, end) in enumerate(zip(sizes.ravel().tolist(), ends.tolist(), strict=True)):
        rows = order[ends[index - 1] if index else 0 : end]
        if scores is not None:  # nearest the border first: the lowest positives, the highest negatives
            near = rows[np.argsort(scores[rows] if index % outcomes.size else -scores[rows], kind="stable")]
            again = np.resize(near, max(size - rows.size, 0)) if rows.size else near
            chosen += [near[max(rows.size - size, 0) :], again]
        elif size <= rows.size:
            chosen.append(rng.permutation(rows)[:size])
        else:
            chosen += [rows, rng.choice(rows, size - rows.size)]
    return np.sort(np.concatenate(chosen))


@validated(d=D, strategy=STRATEGY, shape=SHAPE, seed=SEED, bands=Integer(2))
def sample(
    y: Any,
    sensitive_features: Any,
    d: float = 0.0,
    strategy: Strategy = "under",
    shape: Shape = "quadratic",
    seed: int = 0,
    *,
    scores: Any = None,
    sample_weight: Any = None,
    bands: int = BANDS,
) -> Indices:
    """The indices of the training rows to keep (or repeat) so that groups have the wanted outcomes.

    Parameters
    ----------
    y : column
        Outcomes: two or more classes, or numbers.
    sensitive_features : column, frame or array
        The protected attributes; several of them make intersections.
    d : float in [-1, 1]
        1 keeps everything, 0 gives all groups the same shares of outcomes, -1 exchanges those of two groups.
    strategy : "under", "over" or "preferential"
        Leave rows out, repeat rows, or do both with the rows nearest the border between the classes.
    shape : "quadratic" or "linear"
        How the wanted shares of two groups depend on d; only the first has the overall share at d = 0.
    seed : int
        The start of the random choice of rows.
    scores : column, needed for "preferential"
        How likely the second class is for each row (by a ranker); for two classes.
    sample_weight : column, optional
        Weights of the rows: shares are then shares of weight.
    bands : int
        How many bands of equal mass the numbers of a regression are cut into.

    References
    ----------
    Kamiran and Calders (2012), Data preprocessing techniques for classification without discrimination.

    Examples
    --------
    >>> hired = [1, 1, 0, 0, 0, 1, 1, 1, 1, 0]
    >>> sex = ["f"] * 5 + ["m"] * 5
    >>> len(sample(hired, sex, d=1.0)), len(sample(hired, sex, d=0.0)), len(sample(hired, sex, strategy="over"))
    (10, 5, 13)
    """
    outcomes = outcome_classes(y, bands=bands)
    groups = composite(read_attributes(sensitive_features, length=len(outcomes)))
    weights = check_weights(sample_weight, len(outcomes), what="`sample_weight`")
    ranked = None if scores is None else to_numpy(scores).astype(float)
    return _sampled(groups, outcomes, weights, (d, strategy, shape, seed), ranked)


def _sampled(
    groups: Codes,
    outcomes: Codes,
    weights: Floats | None,
    how: tuple[float, str, str, int],
    scores: Floats | None,
) -> Indices:
    d, strategy, shape, seed = how
    if strategy == "preferential" and (scores is None or outcomes.size != 2):
        raise DataError(
            f"Preferential sampling needs two classes and a score per row; there are {outcomes.size} classes"
            f"{'' if scores is None else ' and scores'}. Give `scores`, or choose strategy='under'."
        )
    counts = cell_counts(groups, outcomes, weights)
    empty = empty_cells(groups, outcomes, counts)
    if empty and d != 1:
        raise DataError(
            f"No sample can balance a group that lacks an outcome: there are no rows of {'; '.join(empty[:5])}. "
            "Merge groups, or use fewer bands."
        )
    target_shares = wanted_shares(counts, d, shape)
    sizes = cell_sizes(counts, cell_counts(groups, outcomes, None), target_shares, strategy)
    return draw(groups, outcomes, sizes, seed, scores if strategy == "preferential" else None)


@dataclass(eq=False, repr=False, kw_only=True)
class Resample(TrainingMitigator):
    """An estimator trained on a sample whose groups have the wanted shares of outcomes.

    Parameters
    ----------
    estimator : estimator, optional
        What is trained. A logistic regression by default.
    sensitive : str or list of str, optional
        The columns of X that hold the protected attribute; several make intersections, an empty list makes everyone one
        group. None where the attribute comes as `sensitive_features`.
    d : float in [-1, 1]
        1 keeps everything, 0 gives all groups the same shares of outcomes, -1 exchanges those of two groups.
    strategy : "under", "over" or "preferential"
        Leave rows out, repeat rows, or do both with the rows nearest the border between the classes.
    shape : "quadratic" or "linear"
        How the wanted shares of two groups depend on d; only the first has the overall share at d = 0.
    ranker : estimator, optional
        What ranks the rows for "preferential", cross-fitted; the estimator itself by default.
    bands : int
        How many bands of equal mass the numbers of a regression are cut into.
    seed : int
        The start of the random choice of rows.
    drop_sensitive : bool
        Whether the columns of the protected attribute are hidden from the estimator.

    Attributes
    ----------
    estimator_ : estimator
        The trained estimator.
    sizes_ : array (groups, outcomes)
        Rows per cell in the sample, in the order of `groups_` and `outcomes_`.
    rows_before_, rows_ : int
        The number of training rows before and after.

    Examples
    --------
    >>> import numpy as np
    >>> sex, hired = np.repeat(["f", "m"], 5), np.array([1, 1, 0, 0, 0, 1, 1, 1, 1, 0])
    >>> fair = Resample(strategy="over").fit(np.arange(10.0)[:, None], hired, sensitive_features=sex)
    >>> fair.sizes_.tolist(), fair.rows_
    ([[3, 4], [2, 4]], 13)
    """

    __kinds__: ClassVar = {
        **TrainingMitigator.__kinds__,
        "d": D,
        "strategy": STRATEGY,
        "shape": SHAPE,
        "bands": Integer(2),
        "seed": SEED,
    }

    d: float = 0.0
    strategy: Strategy = "under"
    shape: Shape = "quadratic"
    ranker: Any = None
    bands: int = BANDS
    seed: int = 0

    def _train(
        self, model: Any, X: Any, y: NDArray[Any], groups: Codes, weights: Floats | None, options: dict[str, Any]
    ) -> Any:
        outcomes = outcome_classes(y, regression=not is_classifier(self), bands=options["bands"])
        scores = None
        if options["strategy"] == "preferential" and outcomes.size == 2:
            scores = favourable_scores(self.ranker or model, X, y, options["seed"])
        how = tuple(options[name] for name in ("d", "strategy", "shape", "seed"))
        rows = _sampled(groups, outcomes, weights, how, scores)
        self.outcomes_ = list(outcomes.texts)
        self.sizes_ = cell_counts(groups.take(rows), outcomes.take(rows), None).astype(int)
        self.rows_before_, self.rows_ = len(y), len(rows)
        chosen = None if weights is None else weights[rows]
        return fit_weighted(model, take_rows(X, rows), y[rows], chosen, owner="Resample")


MITIGATIONS.add(
    Mitigation(
        id="sampling",
        title=msg("Resampling"),
        about=msg("leaves out or repeats training rows until the groups have the same outcomes"),
        stage="before",
        estimator=Resample,
        reference="Kamiran and Calders (2012)",
    )
)
