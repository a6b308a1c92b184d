"""How well a column is predicted from others: a cross-validated model, its accuracy, and which columns it needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isonomia.counting import Codes, sum_by
from isonomia.events import Stage
from isonomia.evidence import Estimate
from isonomia.fairness.labels.mutual_information import equal_shares
from isonomia.languages import Message, msg
from isonomia.metrics import Rows, evaluate_all
from isonomia.models import Surface
from isonomia.models.call_threads import one_thread
from isonomia.typing import Floats, Indices

#: Values with fewer rows than this cannot be predicted by a cross-validated model.
MIN_ROWS = 10
#: Numbers are cut into at most this many bins of equal shares for the trees.
TREE_BINS = 64
#: Of the boosted trees: how fast they learn, and how many leaves each has.
RATE, LEAVES = 0.2, 15


@dataclass(frozen=True)
class Learning:
    """How a column is learnt: folds of the cross-validation, rounds of boosting, rows of a fold that are shuffled."""

    folds: int
    rounds: int
    shuffled_rows: int
    seed: int


@dataclass(frozen=True, eq=False)
class Predicted:
    """One column predicted from others; `importance` is the balanced accuracy lost when a column is shuffled."""

    size: int
    auc: Estimate
    balanced: Estimate
    importance: Floats
    importance_error: Floats
    note: Message | None = None


def predict_attribute(
    target: Codes,
    X: Floats,
    categorical: Sequence[bool],
    weights: Floats | None,
    learning: Learning,
    *,
    level: float,
    stage: Stage,
) -> Predicted:
    """Predict a column from the matrix `X`; `stage` advances with each fold."""
    counts, minimum = target.counts(), max(MIN_ROWS, learning.folds)
    common = [code for code in range(target.size) if counts[code] >= minimum and code != target.missing]
    if len(common) < 2:
        note = msg("fewer than two values of '{attribute}' have {least:int} rows", attribute=target.name, least=minimum)
        nothing = Estimate.missing(note)
        unknown = np.full(X.shape[1], np.nan)
        return Predicted(len(common), nothing, nothing, unknown, unknown, note)
    rows = np.isin(target.codes, common)
    y = np.searchsorted(common, target.codes[rows])
    w = np.ones(y.size) if weights is None else weights[rows]
    with one_thread("openmp"):
        proba, lost, error = _cross_validated(_binned(X[rows], categorical), y, w, categorical, learning, stage)
    auc, right = judge(y, proba, None if weights is None else w, level)
    return Predicted(len(common), auc, right, lost, error)


def judge(y: Indices, proba: Floats, weights: Floats | None, level: float) -> tuple[Estimate, Estimate]:
    """The area under the ROC curve (of several values: the mean of each against the rest) and balanced accuracy."""
    k = proba.shape[1]
    surface = Surface(
        "binary" if k == 2 else "multiclass",
        tuple(range(k)),
        label=proba.argmax(axis=1),
        probability=proba[:, 1] if k == 2 else proba,
    )
    auc = "auc" if k == 2 else "macro_auc"
    found = evaluate_all(Rows(y, surface, weights), metrics=(auc, "balanced_accuracy"), level=level)
    return found[auc], found["balanced_accuracy"]


def _binned(X: Floats, categorical: Sequence[bool]) -> Floats:
    """Numbers as bins of equal shares: the trees would do the same, fold by fold."""
    out = X.copy()
    for index, kind in enumerate(categorical):
        if not kind:
            edges = equal_shares(X[:, index], TREE_BINS, None)
            out[:, index] = np.searchsorted(edges, X[:, index], side="left")
            out[np.isnan(X[:, index]), index] = np.nan
    return out


def _cross_validated(
    X: Floats, y: Indices, w: Floats, categorical: Sequence[bool], learning: Learning, stage: Stage
) -> tuple[Floats, Floats, Floats]:
    """Probabilities of rows left out, the loss of balanced accuracy when a column of theirs is shuffled, its error."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import StratifiedKFold

    k, folds, seed = int(y.max()) + 1, learning.folds, learning.seed
    proba = np.zeros((len(y), k))
    lost, variance = np.zeros((folds, X.shape[1])), np.zeros((folds, X.shape[1]))
    rng = np.random.default_rng(seed)
    # every value counts alike, so that guessing the largest is worth nothing; the mean is 1 whatever the scale
    weight = w / np.maximum(sum_by(y, w, k), 1e-300)[y]
    weight *= y.size / weight.sum()
    for fold, (train, test) in enumerate(StratifiedKFold(folds, shuffle=True, random_state=seed).split(X, y)):
        model = HistGradientBoostingClassifier(
            max_iter=learning.rounds,
            learning_rate=RATE,
            max_leaf_nodes=LEAVES,
            early_stopping=False,
            categorical_features=list(categorical),
            random_state=seed,
        ).fit(X[train], y[train], sample_weight=weight[train])
        proba[test] = model.predict_proba(X[test])
        most = learning.shuffled_rows
        some = test if test.size <= most else rng.choice(test, most, replace=False)
        right = (proba[some].argmax(axis=1) == y[some]).astype(float)
        # all shuffled copies in one batch: one call of predict a fold
        copies = np.tile(X[some], (X.shape[1], 1, 1))
        for index in range(X.shape[1]):
            copies[index, :, index] = rng.permutation(X[some][:, index])
        predicted = model.predict_proba(copies.reshape(-1, X.shape[1])).argmax(axis=1).reshape(X.shape[1], -1)
        lost[fold], variance[fold] = np.transpose(
            [_mean_loss(y[some], right - (column == y[some]), w[some]) for column in predicted]
        )
        stage.advance()
    # folds share no rows they are judged on
    return proba, lost.mean(axis=0), np.sqrt(variance.sum(axis=0)) / folds


def _mean_loss(y: Indices, loss: Floats, w: Floats) -> tuple[float, float]:
    """The mean over values of their rows' mean loss, and its variance."""
    n, squares = (sum_by(y, part, int(y.max()) + 1) for part in (w, w * w))
    there = n > 0
    n, squares = np.where(there, n, 1.0), np.where(there, squares, 1.0)
    mean = sum_by(y, w * loss, n.size) / n
    spread = sum_by(y, w * (loss - mean[y]) ** 2, n.size) / n
    size = int(there.sum())
    return float(mean[there].mean()), float((spread * squares / n**2)[there].sum()) / size**2
