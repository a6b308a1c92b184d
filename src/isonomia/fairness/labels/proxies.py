"""Which columns give a protected attribute away, and how well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import Dataset, kind_of
from isonomia.data import numbers as column_numbers
from isonomia.errors import NotApplicable, SpecError, close_to
from isonomia.events import Progress, ProgressLike
from isonomia.evidence import Column, Estimate, Picture, Result, Table
from isonomia.evidence.intervals import normal_interval
from isonomia.fairness.groups.averages import effective_rows
from isonomia.fairness.groups.grouping import BY, By, attribute_sets
from isonomia.fairness.labels.attribute_prediction import LEAVES, RATE, Learning, predict_attribute
from isonomia.fairness.labels.mutual_information import equal_shares, information, spread, table
from isonomia.fairness.people.encoding import MAX_CATEGORIES
from isonomia.languages import Message, msg
from isonomia.parameters import NAMES, Integer, validated
from isonomia.subject import Subject, SubjectOptions, dataset_attributes
from isonomia.typing import Floats

#: More rows than this are sampled: estimating how predictable an attribute is does not need more.
MAX_ROWS = 20_000
#: Numbers are cut into this many bins of equal mass to measure the information in a single column.
COLUMN_BINS = 16


@dataclass(frozen=True, repr=False)
class Proxies(Result):
    """How well each protected attribute is predicted from the other columns.

    ``tables["attributes"]``: a row per attribute: balanced accuracy and AUC, cross-validated, with intervals, and what
    guessing gives. ``tables["columns"]``: a row per attribute and column: `importance` (loss of balanced accuracy when
    the column is shuffled), `information` (mutual information with the attribute over the attribute's own entropy: 0
    nothing, 1 everything).
    """

    auc: Mapping[str, Estimate] = field(default_factory=dict)
    balanced_accuracy: Mapping[str, Estimate] = field(default_factory=dict)

    def carriers(self, attribute: str, *, least: float = 0.01, most: int = 10) -> tuple[str, ...]:
        """The columns that carry most information about an attribute by themselves, strongest first."""
        rows = [row for row in self.tables["columns"].rows() if row["attribute"] == attribute]
        rows = sorted((row for row in rows if row["information"] >= least), key=lambda row: -row["information"])
        return tuple(row["column"] for row in rows[:most])


@validated(
    attributes=NAMES.or_none("for all"),
    columns=NAMES.or_none("for all"),
    by=BY,
    folds=Integer(2),
    rounds=Integer(1),
    shuffled_rows=Integer(1),
    max_rows=Integer(1),
)
def proxies(
    data: Any,
    *,
    attributes: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    by: By | Sequence[Sequence[str]] = "each",
    folds: int = 5,
    rounds: int = 40,
    shuffled_rows: int = 800,
    max_rows: int = MAX_ROWS,
    progress: ProgressLike = None,
    **given: Unpack[SubjectOptions],
) -> Proxies:
    """How well the protected attributes are predicted from the other columns, and which columns carry them.

    Parameters
    ----------
    data : Dataset, frame or Subject
        A weight is the number of people that a row stands for; rows of weight 0 are left out.
    attributes : sequence of str, optional
        The protected attributes examined; all unless given.
    columns : sequence of str, optional
        Columns to predict from; by default all features that are not protected.
    by : "each", "intersection", "all" or lists of names
        Groups to predict: each attribute, or combinations of them, a combination of values being one group.
    folds : int
        Folds of the cross-validation of a gradient boosting classifier.
    rounds : int
        Rounds of boosting, with a learning rate of 0.2 and trees of 15 leaves; more find a little more, and take
        longer.
    shuffled_rows : int
        Maximum number of rows of each fold on which importance is measured.
    max_rows : int
        Maximum number of rows; more are sampled.
    **given
        How to read the data, and settings (see `subject.Reading` and `subject.Settings`).

    Notes
    -----
    Balanced accuracy is the mean over values of how often that value is predicted correctly (1 / K by guessing); its
    interval is normal, from the variance of those rates. AUC is one value against the rest, averaged; its interval is
    Hanley and McNeil's. Importance is measured on rows that the model was not fitted to. With weights, rates and
    information are those of rows repeated (weight) times; intervals, and what chance would give, go by the effective
    number of rows.

    References
    ----------
    J. Hanley, B. McNeil (1982), Radiology 143:29.
    """
    subject = Subject.of(data, **given)
    known, weights, level, seed = (
        subject.needs_attributes(),
        subject.weights,
        subject.settings.level,
        subject.settings.seed,
    )
    data = subject.known
    names = [column.name for column in known]
    for name in attributes or ():
        if name not in names:
            raise SpecError(f"`attributes` names {name!r}, which is not protected.{close_to(name, names)}")
    learning = Learning(folds, rounds, shuffled_rows, seed)
    used = [name for name in data.descriptive if name not in data.protected] if columns is None else list(columns)
    for name in used:
        if name not in data.columns:
            raise SpecError(f"`columns` must name columns of the data; got {name!r}.{close_to(name, data.columns)}")
    rng = np.random.default_rng(seed)
    rows = np.arange(len(data)) if weights is None else np.flatnonzero(weights > 0)
    if rows.size > max_rows:
        rows = np.sort(rng.choice(rows, max_rows, replace=False))
    weights = None if weights is None else weights[rows]
    X, kept, categorical = _matrix(data, used, rows)
    if not kept:
        raise NotApplicable(msg("there is no other column to predict a protected attribute from"))
    attribute_rows: list[dict[str, Any]] = []
    carried: list[dict[str, Any]] = []
    auc: dict[str, Estimate] = {}
    balanced: dict[str, Estimate] = {}
    targets = attribute_sets([column for column in known if attributes is None or column.name in attributes], by)
    stage = Progress.of(progress).stage("folds", msg("Predicting protected attributes"), total=len(targets) * folds)
    for target in targets:
        column = target.take(rows).observed()
        one = predict_attribute(column, X, categorical, weights, learning, level=level, stage=stage)
        auc[column.name], balanced[column.name] = one.auc, one.balanced
        attribute_rows.append(
            {
                "attribute": column.name,
                "values": one.size,
                "balanced_accuracy": (one.balanced.value, one.balanced.low, one.balanced.high),
                "guessing": 1 / one.size if one.size else None,
                "auc": (one.auc.value, one.auc.low, one.auc.high),
                "note": one.note,
            }
        )
        ends = normal_interval(one.importance, one.importance_error, level)
        for at, (name, value, low, high) in enumerate(zip(kept, one.importance, *ends, strict=True)):
            alone = _information(column, X[:, at], categorical[at], weights, level)
            lost = (float(value), float(low), float(high))
            row = {"attribute": column.name, "column": name, "importance": lost, "information": alone}
            carried.append({**row, "note": one.note})
    tables = {
        "attributes": Table.from_rows(
            attribute_rows, _ATTRIBUTES, title=msg("How well other columns predict an attribute"), backend=data.backend
        ),
        "columns": Table.from_rows(
            carried, _CARRIERS, title=msg("Columns that carry an attribute"), backend=data.backend
        ),
    }
    picture = Picture(
        "bars",
        "columns",
        msg("Information single columns carry about an attribute"),
        {"labels": "column", "value": "information", "facet": "attribute"},
    )
    sampled = msg("{n:int} of {all:int} rows were sampled.", n=rows.size, all=len(data))
    notes = (_how(learning, len(targets) > 1), *((sampled,) if rows.size < len(data) else ()))
    titles = {f"balanced_accuracy[{name}]": msg("{name} predicted from the rest", name=name) for name in balanced}
    values = {f"balanced_accuracy[{name}]": value for name, value in balanced.items()}
    found = Proxies(
        "proxies",
        msg("Proxies"),
        tables,
        values,
        (),
        (picture,),
        notes,
        auc,
        balanced,
        titles=titles,
        formats=dict.fromkeys(values, "pct"),
    )
    return subject.noted(found)


def _how(learning: Learning, several: bool) -> Message:
    """How attributes were predicted, so that the figures can be reproduced."""
    facts = {
        "rounds": learning.rounds,
        "rate": RATE,
        "leaves": LEAVES,
        "folds": learning.folds,
        "rows": learning.shuffled_rows,
    }
    if several:
        return msg(
            "Each attribute was predicted by gradient boosting with {rounds:int} rounds (learning rate {rate:num}, "
            "{leaves:int} leaves per tree) in {folds:int} folds; the loss without a column was measured on at most "
            "{rows:int} rows of each fold.",
            **facts,
        )
    return msg(
        "The attribute was predicted by gradient boosting with {rounds:int} rounds (learning rate {rate:num}, "
        "{leaves:int} leaves per tree) in {folds:int} folds; the loss without a column was measured on at most "
        "{rows:int} rows of each fold.",
        **facts,
    )


def carriers(
    data: Dataset, attribute: str, columns: Sequence[str], *, least: float = 0.01, most: int = 10
) -> tuple[str, ...]:
    """The columns with most mutual information about an attribute, strongest first."""
    target = next(column for column in dataset_attributes(data) if column.name == attribute)
    X, kept, categorical = _matrix(data, [name for name in columns if name in data.columns], np.arange(len(data)))
    alone = [_information(target, X[:, index], categorical[index], data.weights, 0.95)[0] for index in range(len(kept))]
    ranked = sorted(zip(alone, kept, strict=True), reverse=True)
    return tuple(name for information, name in ranked[:most] if information >= least)


_ATTRIBUTES = (
    Column("attribute", title=msg("protected attribute")),
    Column("values", format="int", title=msg("groups")),
    Column("balanced_accuracy", format="pct", title=msg("balanced accuracy")),
    Column("guessing", format="pct", title=msg("by guessing")),
    Column("auc", format="num", title=msg("AUC")),
    Column("note", title=msg("note")),
)
_CARRIERS = (
    Column("attribute", title=msg("protected attribute")),
    Column("column", title=msg("column")),
    Column("importance", format="points", title=msg("loss without the column")),
    Column("information", format="pct", title=msg("information in the column alone")),
    Column("note", title=msg("note")),
)


def _information(
    target: Codes, values: Floats, categorical: bool, weights: Floats | None, level: float
) -> tuple[float, float, float]:
    """Mutual information of one column and the attribute, over the attribute's entropy, corrected for chance.

    The correction takes off what independent columns of these sizes show on average, (r - 1)(c - 1) / 2n. The
    interval is normal: the variance of the delta method plus that under independence, (r - 1)(c - 1) / 2n^2.
    """
    if not categorical:
        edges = equal_shares(values, COLUMN_BINS, weights)[1:-1]
        values = np.where(np.isnan(values), -1.0, np.searchsorted(edges, values, side="left"))
    codes = np.unique(np.nan_to_num(values, nan=-1.0), return_inverse=True)[1]
    column = Codes("", codes.astype(np.uint32), tuple(range(int(codes.max()) + 1)))
    counts = table(Codes("", np.zeros(len(target), np.uint8), (0,)), target, column, weights)
    shared = float(information(counts))
    share = counts.sum(axis=(0, 2)) / counts.sum()
    share = share[share > 0]
    own = -float((share * np.log(share)).sum())
    if own <= 0:
        return 0.0, 0.0, 0.0
    n = effective_rows(len(target), weights)
    freedom = (share.size - 1) * (column.size - 1)
    value = shared - freedom / (2 * n)
    ends = normal_interval(value, np.hypot(spread(counts, n), np.sqrt(freedom / 2) / n), level)
    middle, low, high = np.clip(np.array([value, *ends]) / own, 0.0, 1.0).tolist()
    return middle, low, high


def _matrix(data: Dataset, names: Sequence[str], rows: NDArray[Any]) -> tuple[Floats, list[str], list[bool]]:
    """Columns as numbers, categories as codes (rare ones together, as the trees take at most 255)."""
    parts, kept, categorical = [], [], []
    for name in names:
        column = data.column(name)
        if kind_of(column) in ("numeric", "integer", "boolean"):
            numbers = column_numbers(column)[rows]
            numbers[~np.isfinite(numbers)] = np.nan
            if np.isnan(numbers).all():
                continue
            parts.append(numbers)
            categorical.append(False)
        elif kind_of(column) == "category":
            codes = Codes.encode(column, name=name)
            if codes.size > MAX_CATEGORIES:
                continue
            order = np.argsort(-codes.counts(), kind="stable")
            rank = np.empty(codes.size, dtype=float)
            rank[order] = np.minimum(np.arange(codes.size), 200)
            parts.append(rank[codes.codes][rows])
            categorical.append(True)
        else:
            continue
        kept.append(name)
    return (np.column_stack(parts) if parts else np.zeros((rows.size, 0))), kept, categorical
