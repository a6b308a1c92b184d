"""Can a classifier tell two samples apart? Joint drift that no single feature shows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.counting.cuts import as_floats
from isonomia.data import Dataset
from isonomia.events import Progress
from isonomia.evidence import Estimate
from isonomia.languages import msg
from isonomia.metrics import Rows, evaluate
from isonomia.models import Surface
from isonomia.models.call_threads import one_thread
from isonomia.typing import Floats

#: Maximum number of rows per sample for the classifier.
MAX_ROWS = 10_000
#: Maximum number of categories; the rarer ones are merged.
MAX_LEVELS = 60


def two_sample_auc(
    reference: Dataset,
    current: Dataset,
    names: tuple[str, ...],
    *,
    folds: int,
    level: float,
    seed: int,
    progress: Progress,
) -> Estimate:
    """The cross-fitted AUC of a gradient boosting that guesses which sample a row is from; 0.5 without drift.

    Every row is scored by a model that never saw it; the interval is that of the AUC of these scores. See
    `with_training_noise` for the interval of what such classifiers reach.

    References
    ----------
    D. Lopez-Paz, M. Oquab (2017), ICLR: Revisiting classifier two-sample tests.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import StratifiedKFold

    rng = np.random.default_rng(seed)
    taken = [_sample(len(data), rng) for data in (reference, current)]
    columns, categorical = [], []
    for name in names:
        values, is_category = _values(reference, current, name, taken)
        if not np.isnan(values).all():
            columns.append(values)
            categorical.append(is_category)
    origin = np.r_[np.zeros(taken[0].size, dtype=np.uint8), np.ones(taken[1].size, dtype=np.uint8)]
    smallest = int(min(taken[0].size, taken[1].size))
    if smallest < 2 * folds:
        return Estimate.missing(
            msg("the smaller sample has {n:int} rows, too few for {folds:int} folds", n=int(smallest), folds=folds),
            n=origin.size,
        )
    if not columns:
        return Estimate.missing(msg("no column has a finite number"), n=origin.size)
    X, score = np.column_stack(columns), np.empty(origin.size)
    splits = StratifiedKFold(folds, shuffle=True, random_state=seed)
    stage = progress.stage("folds", msg("Separating the samples"), total=folds)
    # small fits: threads that wait for each other cost more than they save
    with one_thread("openmp"):
        for learn, ask in stage.over(splits.split(X, origin)):
            model = HistGradientBoostingClassifier(
                max_iter=40,
                max_leaf_nodes=15,
                min_samples_leaf=20,
                categorical_features=categorical,
                early_stopping=False,
                random_state=seed,
            )
            model.fit(X[learn], origin[learn])
            score[ask] = model.predict_proba(X[ask])[:, 1]
    surface = Surface.of_probabilities(np.clip(score, 0.0, 1.0), classes=(0, 1))
    return evaluate("auc", Rows(origin, surface), level=level, seed=seed)


def with_training_noise(auc: Estimate, folds: int) -> Estimate:
    """The AUC with an interval for classifiers trained on other samples of this size, too.

    The models of K folds share most of their rows, so the scores do not show how much a model depends on them. The
    variance is (1 + K / (K - 1)) times that of the scores, on the logit scale.

    References
    ----------
    C. Nadeau, Y. Bengio (2003), Machine Learning 52:239.

    Examples
    --------
    >>> with_training_noise(Estimate(0.6, 0.55, 0.65), 5)
    0.6 [0.5245, 0.6739] (n=0)
    """
    if auc.value is None or auc.low is None or auc.high is None or not 0 < auc.low <= auc.value <= auc.high < 1:
        return auc
    at, low, high = (np.log(end / (1 - end)) for end in (auc.value, auc.low, auc.high))
    wider = np.sqrt(1 + folds / (folds - 1))
    ends = [float(1 / (1 + np.exp(-(at + wider * (end - at))))) for end in (low, high)]
    return replace(auc, low=ends[0], high=ends[1])


def _sample(n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    return np.arange(n) if n <= MAX_ROWS else np.sort(rng.choice(n, MAX_ROWS, replace=False))


def _values(reference: Dataset, current: Dataset, name: str, taken: list[NDArray[np.intp]]) -> tuple[Floats, bool]:
    """One feature of both samples as floats, NaN where missing; categories as codes."""
    if reference.kinds[name] != "category":
        parts = [as_floats(data, name)[rows] for data, rows in zip((reference, current), taken, strict=True)]
        both = np.concatenate(parts)
        return np.where(np.isfinite(both), both, np.nan), False
    from isonomia.robustness.slices.side_slices import aligned

    one, two = aligned(*(Codes.encode(data.column(name), name=name) for data in (reference, current)))
    counts = one.counts() + two.counts()
    order = np.argsort(-counts, kind="stable")
    table = np.full(one.size, float(MAX_LEVELS - 1))
    table[order[: MAX_LEVELS - 1]] = np.arange(min(one.size, MAX_LEVELS - 1))
    if one.missing is not None:
        table[one.missing] = np.nan
    return np.concatenate([table[one.codes[taken[0]]], table[two.codes[taken[1]]]]), True
