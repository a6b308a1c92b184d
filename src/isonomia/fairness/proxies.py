"""Which columns give a protected attribute away, and how well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import Dataset, kind_of
from isonomia.errors import NotApplicable, SpecError, close_to
from isonomia.evidence import Estimate, Picture, Result, Table, check_level, normal_quantile
from isonomia.fairness._threads import one_thread
from isonomia.fairness.encoding import MAX_CATEGORIES
from isonomia.fairness.groups import dataset_attributes
from isonomia.languages import msg

Floats = NDArray[np.float64]

#: More rows than this are sampled: how well an attribute can be told does not need more.
MAX_ROWS = 20_000
#: Values with fewer rows than this cannot be told by a cross-validated model.
MIN_ROWS = 10
#: Numbers are cut into this many bins of equal mass to measure what a single column tells.
COLUMN_BINS = 16


@dataclass(frozen=True, repr=False)
class Proxies(Result):
    """How well each protected attribute is told from the other columns.

    ``tables["attributes"]``: a row an attribute: balanced accuracy and AUC, cross-validated, with intervals, and what
    guessing gives. ``tables["columns"]``: a row an attribute and column: `importance` (loss of balanced accuracy when
    the column is shuffled), `information` (mutual information with the attribute over the attribute's own entropy: 0
    nothing, 1 everything).
    """

    auc: Mapping[str, Estimate] = field(default_factory=dict)
    balanced_accuracy: Mapping[str, Estimate] = field(default_factory=dict)

    def carriers(self, attribute: str, *, least: float = 0.01, most: int = 10) -> tuple[str, ...]:
        """The columns that tell most about an attribute by themselves, strongest first."""
        rows = [row for row in self.tables["columns"].rows() if row["attribute"] == attribute]
        rows = sorted((row for row in rows if row["information"] >= least), key=lambda row: -row["information"])
        return tuple(row["column"] for row in rows[:most])


def proxies(
    data: Dataset,
    *,
    attributes: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    folds: int = 5,
    max_rows: int = MAX_ROWS,
    level: float = 0.95,
    seed: int = 0,
) -> Proxies:
    """How well the protected attributes are predicted from the other columns, and which columns carry them.

    Parameters
    ----------
    data : Dataset
    attributes : sequence of str, optional
    columns : sequence of str, optional
        Columns to predict from; by default all features that are not protected.
    folds : int
        Of the cross-validation of a gradient boosting classifier.
    max_rows : int
        More rows are sampled.

    Notes
    -----
    Balanced accuracy is the mean over values of how often that value is told rightly (1 / K by guessing); its interval
    is normal, from the variance of those rates. AUC is one value against the rest, averaged; its interval is Hanley and
    McNeil's. Importance is measured on rows that the model was not fitted to.

    References
    ----------
    J. Hanley, B. McNeil (1982), Radiology 143:29.
    """
    check_level(level)
    known = dataset_attributes(data)
    if not known:
        raise NotApplicable("the data name no protected attribute")
    names = [column.name for column in known]
    for name in attributes or ():
        if name not in names:
            raise SpecError(f"`attributes` names {name!r}, which is not protected.{close_to(name, names)}")
    if folds < 2:
        raise SpecError(f"`folds` must be an int of at least 2; got {folds!r}.")
    used = [name for name in data.features if name not in data.protected] if columns is None else list(columns)
    for name in used:
        if name not in data.columns:
            raise SpecError(f"`columns` must name columns of the data; got {name!r}.{close_to(name, data.columns)}")
    rng = np.random.default_rng(seed)
    rows = np.arange(len(data))
    if rows.size > max_rows:
        rows = np.sort(rng.choice(rows, max_rows, replace=False))
    X, kept, categorical = _matrix(data, used, rows)
    if not kept:
        raise NotApplicable("there is no other column to tell a protected attribute from")
    told: dict[str, list[Any]] = {name: [] for name in _TOLD}
    carried: dict[str, list[Any]] = {name: [] for name in ("attribute", "column", "importance", "information")}
    auc: dict[str, Estimate] = {}
    balanced: dict[str, Estimate] = {}
    for column in known:
        if attributes is not None and column.name not in attributes:
            continue
        target = column.take(rows)
        one = _Told.of(target, X, categorical, folds, level, seed)
        auc[column.name], balanced[column.name] = one.auc, one.balanced
        _add(told, column.name, one)
        carried["attribute"] += [column.name] * len(kept)
        carried["column"] += kept
        carried["importance"] += one.importance.tolist()
        carried["information"] += [_information(target, X[:, place], categorical[place]) for place in range(len(kept))]
    tables = {
        "attributes": Table(
            told, _FORMATS, _TITLES, msg("How well an attribute is told from the others"), data.backend
        ),
        "columns": Table(carried, _FORMATS, _TITLES, msg("Columns that carry an attribute"), data.backend),
    }
    picture = Picture("bars", "columns", msg("What single columns tell about an attribute"),
                      {"labels": "column", "value": "information", "facet": "attribute"})  # fmt: skip
    sampled = msg("{n:int} of {all:int} rows were sampled.", n=rows.size, all=len(data))
    notes = (sampled,) if rows.size < len(data) else ()
    titles = {f"balanced_accuracy[{name}]": msg("{name} told from the rest", name=name) for name in balanced}
    values = {f"balanced_accuracy[{name}]": value for name, value in balanced.items()}
    return Proxies("proxies", msg("Proxies"), tables, values, (), (picture,), notes, auc, balanced, titles=titles)


def carriers(
    data: Dataset, attribute: str, columns: Sequence[str], *, least: float = 0.01, most: int = 10
) -> tuple[str, ...]:
    """The columns that tell most about an attribute by themselves (mutual information), strongest first."""
    target = next(column for column in dataset_attributes(data) if column.name == attribute)
    X, kept, categorical = _matrix(data, [name for name in columns if name in data.columns], np.arange(len(data)))
    told = sorted(
        ((_information(target, X[:, place], categorical[place]), name) for place, name in enumerate(kept)), reverse=True
    )
    return tuple(name for information, name in told[:most] if information >= least)


_TOLD = ("attribute", "values", "balanced_accuracy", "balanced_accuracy_low", "balanced_accuracy_high", "guessing",
         "auc", "auc_low", "auc_high", "note")  # fmt: skip
_TITLES = {
    "attribute": msg("protected attribute"), "values": msg("groups"), "balanced_accuracy": msg("balanced accuracy"),
    "balanced_accuracy_low": msg("from"), "balanced_accuracy_high": msg("to"), "guessing": msg("by guessing"),
    "auc": msg("AUC"), "auc_low": msg("from"), "auc_high": msg("to"), "note": msg("note"), "column": msg("column"),
    "importance": msg("lost without it"), "information": msg("told by it alone"),
}  # fmt: skip
_FORMATS: dict[str, Any] = dict.fromkeys(
    ("balanced_accuracy", "balanced_accuracy_low", "balanced_accuracy_high", "guessing", "information"), "pct"
) | {"auc": "num", "auc_low": "num", "auc_high": "num", "importance": "points", "values": "int"}


@dataclass(frozen=True, eq=False)
class _Told:
    """One attribute predicted from the others."""

    size: int
    auc: Estimate
    balanced: Estimate
    importance: Floats
    note: Any = None

    @classmethod
    def of(cls, target: Codes, X: Floats, categorical: Sequence[bool], folds: int, level: float, seed: int) -> _Told:
        counts = target.counts()
        common = [
            code for code in range(target.size) if counts[code] >= max(MIN_ROWS, folds) and code != target.missing
        ]
        if len(common) < 2:
            reason = f"fewer than two values of '{target.name}' have {max(MIN_ROWS, folds)} rows"
            nothing = Estimate.missing(reason)
            return cls(len(common), nothing, nothing, np.full(X.shape[1], np.nan),
                       msg("fewer than two groups with enough rows have a value"))  # fmt: skip
        rows = np.isin(target.codes, common)
        y = np.searchsorted(common, target.codes[rows])
        with one_thread():
            proba, importance = _cross_validated(X[rows], y, categorical, folds, seed)
        return cls(len(common), _auc(y, proba, level), _balanced(y, proba.argmax(axis=1), level), importance)


def _cross_validated(
    X: Floats, y: NDArray[Any], categorical: Sequence[bool], folds: int, seed: int
) -> tuple[Floats, Floats]:
    """Probabilities of rows left out, and the loss of balanced accuracy when a column of theirs is shuffled."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import StratifiedKFold

    k = int(y.max()) + 1
    proba = np.zeros((len(y), k))
    lost = np.zeros((folds, X.shape[1]))
    rng = np.random.default_rng(seed)
    parts = StratifiedKFold(folds, shuffle=True, random_state=seed).split(X, y)
    for fold, (train, test) in enumerate(parts):
        model = HistGradientBoostingClassifier(
            max_iter=60, learning_rate=0.15, max_leaf_nodes=15, categorical_features=list(categorical),
            class_weight="balanced", early_stopping=False, random_state=seed,
        ).fit(X[train], y[train])  # fmt: skip
        proba[test] = model.predict_proba(X[test])
        base = _mean_recall(y[test], proba[test].argmax(axis=1))
        # all shuffled copies in one batch: one call of predict a fold
        copies = np.tile(X[test], (X.shape[1], 1, 1))
        for place in range(X.shape[1]):
            copies[place, :, place] = rng.permutation(X[test][:, place])
        said = model.predict_proba(copies.reshape(-1, X.shape[1])).argmax(axis=1).reshape(X.shape[1], -1)
        lost[fold] = [base - _mean_recall(y[test], column) for column in said]
    return proba, lost.mean(axis=0)


def _mean_recall(y: NDArray[Any], said: NDArray[Any]) -> float:
    n = np.bincount(y)
    right = np.bincount(y, weights=y == said, minlength=n.size)
    return float((right[n > 0] / n[n > 0]).mean())


def _balanced(y: NDArray[Any], said: NDArray[Any], level: float) -> Estimate:
    n = np.bincount(y).astype(float)
    recall = np.bincount(y, weights=y == said, minlength=n.size) / n
    error = float(np.sqrt((recall * (1 - recall) / n).sum())) / n.size
    value, half = float(recall.mean()), normal_quantile(level) * error
    return Estimate(value, max(value - half, 0.0), min(value + half, 1.0), n=y.size, method="normal", level=level)


def _auc(y: NDArray[Any], proba: Floats, level: float) -> Estimate:
    from scipy.stats import rankdata

    k = proba.shape[1]
    values, variances = [], []
    for code in range(1, 2) if k == 2 else range(k):
        positive = y == code
        p, q = int(positive.sum()), int((~positive).sum())
        a = (rankdata(proba[:, code])[positive].sum() - p * (p + 1) / 2) / (p * q)
        q1, q2 = a / (2 - a), 2 * a * a / (1 + a)
        variances.append((a * (1 - a) + (p - 1) * (q1 - a * a) + (q - 1) * (q2 - a * a)) / (p * q))
        values.append(a)
    # the one-vs-rest figures share their rows: the cautious error is the mean of the single ones
    value, error = float(np.mean(values)), float(np.mean(np.sqrt(variances)))
    half = normal_quantile(level) * error
    return Estimate(
        value, max(value - half, 0.0), min(value + half, 1.0), n=y.size, method="hanley-mcneil", level=level
    )


def _information(target: Codes, values: Floats, categorical: bool) -> float:
    """Mutual information of one column and the attribute, over the attribute's entropy, corrected for chance.

    The correction takes off what independent columns of these sizes show on average, (r - 1)(c - 1) / 2n.
    """
    if not categorical:
        edges = np.unique(np.nanquantile(values, np.linspace(0, 1, COLUMN_BINS + 1)[1:-1]))
        values = np.where(np.isnan(values), -1.0, np.searchsorted(edges, values, side="right"))
    codes = np.unique(np.nan_to_num(values, nan=-1.0), return_inverse=True)[1]
    size = int(codes.max()) + 1
    table = np.bincount(target.codes.astype(np.intp) * size + codes, minlength=target.size * size)
    joint = table.reshape(target.size, size) / len(target)
    joint = joint[joint.sum(axis=1) > 0]
    a, b = joint.sum(axis=1, keepdims=True), joint.sum(axis=0, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        shared = np.where(joint > 0, joint * np.log(joint / (a * b)), 0.0).sum()
        own = -np.where(a > 0, a * np.log(a), 0.0).sum()
    by_chance = (joint.shape[0] - 1) * (size - 1) / (2 * len(target))
    return float(np.clip((shared - by_chance) / own, 0.0, 1.0)) if own > 0 else 0.0


def _matrix(data: Dataset, names: Sequence[str], rows: NDArray[Any]) -> tuple[Floats, list[str], list[bool]]:
    """Columns as numbers, categories as codes (rare ones together, as the trees take at most 255)."""
    parts, kept, categorical = [], [], []
    for name in names:
        column = data.column(name)
        if kind_of(column) in ("numeric", "integer", "boolean"):
            numbers = np.asarray(column.cast(nw.Float64).to_numpy(), dtype=float)[rows]
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


def _add(told: dict[str, list[Any]], name: str, one: _Told) -> None:
    guess = 1 / one.size if one.size else None
    values = (name, one.size, one.balanced.value, one.balanced.low, one.balanced.high, guess, one.auc.value,
              one.auc.low, one.auc.high, one.note)  # fmt: skip
    for key, value in zip(_TOLD, values, strict=True):
        told[key].append(value)
