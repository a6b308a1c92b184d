"""The cross-fitting: every person is judged by a model and a fix that have not seen them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from isonomia.counting import Codes, composite, count_by
from isonomia.errors import FAULTS, DataError, IsonomiaError, ModelError
from isonomia.mitigation._training import TrainingMitigator, fit_weighted, steps_in_front, weight_argument
from isonomia.mitigation.before.ranking import take_rows
from isonomia.typing import Floats, Indices

#: Parts that the training rows are cut into for scores that a fix after training is tuned on.
INNER = 3
#: Numbers that prepared features of all splits may have together to be kept (256 MB); more are prepared fix by fix.
MOST_NUMBERS = 2**25


@dataclass(eq=False)
class People:
    """The rows of one table as estimators take them."""

    X: Any
    y: NDArray[Any]
    attributes: tuple[Codes, ...]
    weights: Floats | None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: Indices) -> People:
        """Some of the rows."""
        return People(
            X=None if self.X is None else take_rows(self.X, rows),
            y=self.y[rows],
            attributes=tuple(column.take(rows) for column in self.attributes),
            weights=None if self.weights is None else self.weights[rows],
        )

    @property
    def sensitive(self) -> dict[str, NDArray[Any]]:
        """The protected attributes as columns."""
        return {
            column.name: np.array(column.labels, dtype=object)[column.codes.astype(np.intp)]
            for column in self.attributes
        }


@dataclass(eq=False)
class Split:
    """One part of the cross-fitting: who is learnt from, who is judged, and the unchanged model's scores of both.

    `tuning` are scores of the training people from models that have not seen them. `prepared` are the features of both
    as the steps in front of a pipeline's last one, fitted on the training people, make them.
    """

    train: People
    test: People
    rows: Indices
    train_rows: Indices
    tuning: Floats | None = None
    scores: Floats | None = None
    decisions: NDArray[Any] | None = None
    prepared: tuple[Any, Any] | None = None


@dataclass(eq=False)
class Trial:
    """The cross-fitting: the estimator, the task and the splits."""

    estimator: Any
    task: str
    classes: tuple[Any, ...]
    splits: list[Split]
    seed: int

    @property
    def n_attributes(self) -> int:
        """How many protected attributes make the groups."""
        return len(self.splits[0].test.attributes)

    @property
    def regression(self) -> bool:
        """Whether numbers are predicted."""
        return self.task == "regression"

    def prepare(self, split: Split, advance: Callable[[], None]) -> None:
        """Fit the unchanged model of a split, and decide about the people it is judged on."""
        if split.decisions is None:
            self.prepare_features(split)
            estimator, train, test = self.inside(split)
            split.scores, split.decisions = self.predictions(self.fitted(train, estimator), test.X)
            advance()

    def prepare_features(self, split: Split) -> None:
        """Fit the steps in front of a pipeline's last one once for all fixes of a split, where the result is small."""
        front = steps_in_front(self.estimator)
        if front is None:
            return
        front, people = clone(front), split.train
        with training(self.estimator, people), config_context(enable_metadata_routing=False):
            features = front.fit_transform(people.X, people.y)
        numbers = features.nnz if issparse(features) else np.prod(np.shape(features))  # type: ignore[attr-defined]
        if len(np.shape(features)) == 2 and numbers * len(self.splits) <= MOST_NUMBERS:
            split.prepared = features, front.transform(split.test.X)

    def inside(self, split: Split, method: type[Any] | None = None) -> tuple[Any, People, People]:
        """What a method is built around (None: the unchanged model), and the people of a split as it takes them."""
        if split.prepared is not None:
            last = self.estimator.steps[-1][1]
            if method is None or (issubclass(method, TrainingMitigator) and method.takes_prepared(last)):
                train_features, test_features = split.prepared
                return last, replace(split.train, X=train_features), replace(split.test, X=test_features)
        return self.estimator, split.train, split.test

    def tune(self, split: Split, advance: Callable[[], None]) -> None:
        """Scores of a split's training people by models that have not seen them."""
        if split.tuning is not None or split.scores is None or self.estimator is None:
            return
        tuning = np.zeros((len(split.train), *split.scores.shape[1:]))
        for train, test in self.parts(split.train, INNER):
            scores = self.predictions(self.fitted(split.train.take(train)), take_rows(split.train.X, test))[0]
            assert scores is not None
            tuning[test] = scores
            advance()
        split.tuning = tuning

    def fitted(self, people: People, estimator: Any = None) -> Any:
        """The estimator (or another one) trained on these people."""
        model = clone(self.estimator if estimator is None else estimator)
        weights = people.weights if weight_argument(model) else None
        with training(model, people):
            return fit_weighted(model, people.X, people.y, weights, owner="mitigate")

    def predictions(self, model: Any, X: Any) -> tuple[Floats | None, NDArray[Any]]:
        """Scores (None where the model has none) and decisions as codes."""
        if self.regression:
            numbers = asked(model, model.predict, X, float)
            return numbers, numbers
        if not hasattr(model, "predict_proba"):
            return None, asked(model, model.predict, X, np.intp)
        table = asked(model, model.predict_proba, X, float)
        if table.shape[1] != len(self.classes):
            raise DataError(
                f"A part of the rows has {table.shape[1]} of {len(self.classes)} classes. Use fewer folds, merge rare "
                "classes, or read numbers as numbers (task='regression')."
            )
        return (table[:, 1] if table.shape[1] == 2 else table), table.argmax(axis=1)

    def parts(self, people: People, folds: int) -> Sequence[tuple[Indices, Indices]]:
        """The people in parts with the same groups and classes in each, as far as there are enough of them."""
        return split_rows(people, folds, self.regression, self.seed)


def asked(model: Any, ask: Callable[[Any], Any], X: Any, kind: Any) -> NDArray[Any]:
    """What a model that was trained says of rows; any error of it as ours."""
    try:
        return np.asarray(ask(X)).astype(kind)
    except FAULTS as error:  # rows of the other part may have what training rows did not: missing values, texts
        cause = f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}"
        raise ModelError(f"{type(model).__name__} was trained and fails on other people. {cause}") from error


@contextmanager
def training(estimator: Any, people: People) -> Iterator[None]:
    """Any error of an estimator that is trained as ours, with what was trained on whom."""
    try:
        yield
    except IsonomiaError:
        raise
    except FAULTS as error:  # an estimator may raise anything
        cause = (
            f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}"  # more of it is advice to developers
        )
        raise ModelError(f"Training {type(estimator).__name__} on {len(people)} people failed. {cause}") from error


def split_rows(people: People, folds: int, regression: bool, seed: int) -> list[tuple[Indices, Indices]]:
    """Training and held-out rows of each part; a group of fewer people than parts cannot be in every part."""
    groups = composite([column.observed() for column in people.attributes])
    size = groups.counts()
    if int(size.min()) < folds:
        label = groups.labels[int(np.argmin(size))]
        rows = "1 row" if int(size.min()) == 1 else f"{int(size.min())} rows"
        raise DataError(
            f"The group {' x '.join(map(str, label))} has {rows}: it would be absent from one of "
            f"{folds} parts. Use fewer folds, or merge the group with another."
        )
    if regression:
        return [*KFold(folds, shuffle=True, random_state=seed).split(people.y)]
    strata = groups.codes.astype(np.int64) * (int(people.y.max()) + 1) + people.y
    counts = count_by(strata, int(strata.max()) + 1)
    strata = np.where(counts[strata] >= folds, strata, -1 - people.y)  # too rare together: by class alone
    if np.unique(strata, return_counts=True)[1].min() < folds:
        return [*KFold(folds, shuffle=True, random_state=seed).split(people.y)]
    return [*StratifiedKFold(folds, shuffle=True, random_state=seed).split(strata, strata)]
