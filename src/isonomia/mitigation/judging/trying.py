"""Trying methods: every person is judged by a model and a fix that have not seen them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import Pipeline

from isonomia.counting import Codes, composite, count_by
from isonomia.errors import DataError, IsonomiaError, ModelError, NotApplicable
from isonomia.languages import Message, msg
from isonomia.mitigation._training import fit_weighted, weight_argument
from isonomia.mitigation.after.thresholds import can_be_mixed
from isonomia.mitigation.before.changing import FeatureMitigator
from isonomia.mitigation.before.ranking import take_rows
from isonomia.mitigation.judging.effect_tables import criterion_titles
from isonomia.mitigation.judging.goals import Goal
from isonomia.mitigation.judging.transformed import Prepared, Transformed
from isonomia.mitigation.registry import Mitigation
from isonomia.parameters import Kind
from isonomia.typing import Bools, Floats, Indices

#: Parts that the training rows are cut into for scores that a fix after training is tuned on.
INNER = 3
#: Options by which methods take the goal, and what stands in where a method has no such aim.
AIMS = ("criterion", "target", "goal", "constraint")
STAND_INS = {
    "disparate_impact": "demographic_parity",
    "equal_opportunity": "equalized_odds",
    "predictive_equality": "equalized_odds",
    "equalized_odds": "average_odds",
}


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

    `tuning` are scores of the training people from models that have not seen them.
    """

    train: People
    held: People
    rows: Indices
    train_rows: Indices
    tuning: Floats | None = None
    scores: Floats | None = None
    decisions: NDArray[Any] | None = None


@dataclass(frozen=True, eq=False)
class Attempt:
    """What a method did: its options and its decisions about everyone that is judged.

    `chance` is the share of them left to chance, `flips` the share of training labels that it changed.
    """

    entry: Mitigation
    options: Mapping[str, Any]
    decided: NDArray[Any]
    chance: float
    flips: float

    @property
    def aim(self) -> str | None:
        """The criterion that the method was tuned for; None for one that takes none."""
        return next((self.options[name] for name in AIMS if name in self.options), None)


@dataclass(eq=False)
class Trial:
    """The cross-fitting: the estimator, the task and the splits."""

    estimator: Any
    task: str
    classes: tuple[Any, ...]
    splits: list[Split]
    seed: int
    fits: int = field(default=0)

    @property
    def n_attributes(self) -> int:
        """How many protected attributes make the groups."""
        return len(self.splits[0].held.attributes)

    @property
    def regression(self) -> bool:
        """Whether numbers are predicted."""
        return self.task == "regression"

    def prepare(self, split: Split, advance: Callable[[], None]) -> None:
        """Fit the unchanged model of a split, and decide about the people it is judged on."""
        if split.decisions is None:
            split.scores, split.decisions = self.predictions(self.fitted(split.train), split.held.X)
            advance()

    def tune(self, split: Split, advance: Callable[[], None]) -> None:
        """Scores of a split's training people by models that have not seen them."""
        if split.tuning is not None or split.scores is None or self.estimator is None:
            return
        tuning = np.zeros((len(split.train), *split.scores.shape[1:]))
        for train, held in self.parts(split.train, INNER):
            scores = self.predictions(self.fitted(split.train.take(train)), take_rows(split.train.X, held))[0]
            assert scores is not None
            tuning[held] = scores
            advance()
        split.tuning = tuning

    def fitted(self, people: People) -> Any:
        """The estimator trained on these people."""
        model = clone(self.estimator)
        weights = people.weights if weight_argument(model) else None
        self.fits += 1
        try:
            return fit_weighted(model, people.X, people.y, weights, owner="mitigate")
        except IsonomiaError:
            raise
        except Exception as error:  # an estimator may raise anything
            cause = f"{type(error).__name__}: {error}"
            raise ModelError(f"Training {type(model).__name__} on {len(people)} people failed. {cause}") from error

    def predictions(self, model: Any, X: Any) -> tuple[Floats | None, NDArray[Any]]:
        """Scores (None where the model has none) and decisions as codes."""
        if self.regression:
            numbers = np.asarray(model.predict(X), dtype=float)
            return numbers, numbers
        if not hasattr(model, "predict_proba"):
            return None, np.asarray(model.predict(X)).astype(np.intp)
        table = np.asarray(model.predict_proba(X), dtype=float)
        if table.shape[1] != len(self.classes):
            raise DataError(
                f"A part of the rows has {table.shape[1]} of {len(self.classes)} classes. Use fewer folds, merge rare "
                "classes, or read numbers as numbers (task='regression')."
            )
        return (table[:, 1] if table.shape[1] == 2 else table), table.argmax(axis=1)

    def parts(self, people: People, folds: int) -> Sequence[tuple[Indices, Indices]]:
        """The people in parts with the same groups and classes in each, as far as there are enough of them."""
        return split_rows(people, folds, self.regression, self.seed)


def split_rows(people: People, folds: int, regression: bool, seed: int) -> list[tuple[Indices, Indices]]:
    """Training and held-out rows of each part; a group of fewer people than parts cannot be in every part."""
    groups = composite([column.observed() for column in people.attributes])
    size = groups.counts()
    if int(size.min()) < folds:
        label = groups.labels[int(np.argmin(size))]
        rows = "1 row" if int(size.min()) == 1 else f"{int(size.min())} rows"
        raise DataError(
            f"The group {' x '.join(map(str, label))} has {rows}: it would be absent from a part of "
            f"{folds}. Use fewer folds, or merge the group with another."
        )
    if regression:
        return [*KFold(folds, shuffle=True, random_state=seed).split(people.y)]
    strata = groups.codes.astype(np.int64) * (int(people.y.max()) + 1) + people.y
    counts = count_by(strata, int(strata.max()) + 1)
    strata = np.where(counts[strata] >= folds, strata, -1 - people.y)  # too rare together: by class alone
    if np.unique(strata, return_counts=True)[1].min() < folds:
        return [*KFold(folds, shuffle=True, random_state=seed).split(people.y)]
    return [*StratifiedKFold(folds, shuffle=True, random_state=seed).split(strata, strata)]


def refusal(
    entry: Mitigation, *, task: str, estimator: Any, scores: bool, attribute: bool, chance: bool, named: bool = False
) -> Message | None:
    """Why a method is not tried; None where it is."""
    if task not in entry.tasks:
        return msg("not defined for this task")
    if entry.stage != "after" and estimator is None:
        return msg("trains a model, and only its predictions are given")
    if entry.slow and not named:
        return msg("slow: tried only when named")
    if "attribute" in entry.needs and not attribute:
        return msg("reads the protected attribute when it decides, which was not allowed")
    if entry.randomised and not chance:
        return msg("leaves decisions to chance, which was not allowed")
    if "scores" in entry.needs and not scores:
        return msg("needs scores, and there are decisions only")
    if "sample_weight" in entry.needs and weight_argument(estimator) is None:
        return msg("needs an estimator that takes sample weights")
    for package in ("fairlearn", "torch"):
        if package in entry.needs and find_spec(package) is None:
            return msg("needs the package {package}, which is not installed", package=package)
    return None


def tightened(goal: Goal, trial: Trial, parts: int = 1) -> float:
    """The tolerance that a method is given so that the interval of the gap, not only its value, can meet the limit.

    The limit less 4 standard errors of the difference between the two smallest groups among the people judged (a part
    of them, where they are judged in several parts), but at least a tenth of it.
    """
    y = np.concatenate([split.held.y for split in trial.splits])
    said = np.concatenate([np.asarray(split.decisions) for split in trial.splits])
    columns = [np.concatenate([s.held.attributes[i].codes for s in trial.splits]) for i in range(trial.n_attributes)]
    _, group = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
    margin = 0.0
    for values, rows in _compared(goal, trial, y, said):
        sizes = np.sort(count_by(group.ravel()[rows], int(group.max()) + 1))
        mean, variance = (float(values[rows].mean()), float(values[rows].var())) if rows.any() else (0.5, 0.25)
        least = 0.0 if trial.regression else 0.01
        error = np.sqrt(max(variance, least) * np.sum(parts / sizes[sizes > 0][:2]))
        margin = max(margin, 4 * error / max(abs(mean), least or 1e-300) if goal.ratio else 4 * error)
    return float(max(0.1 * goal.tol, goal.tol - margin))


def _compared(goal: Goal, trial: Trial, y: NDArray[Any], said: NDArray[Any]) -> list[tuple[NDArray[Any], Bools]]:
    """The figures of people whose means a goal compares, and whose they are; for several classes, of each class."""
    everyone = np.ones(y.size, dtype=bool)
    if trial.regression:
        of_numbers = {"mean_prediction": said, "mean_error": said - y, "mae": np.abs(said - y)}
        return [(of_numbers[metric], everyone) for metric in goal.metrics(trial.task)]
    found = []
    for k in range(len(trial.classes)) if len(trial.classes) > 2 else (1,):
        rows = {"tpr": y == k, "fpr": y != k, "ppv": said == k}
        right = {"ppv": y == k, "accuracy": said == y}
        found += [(right.get(metric, said == k), rows.get(metric, everyone)) for metric in goal.metrics(trial.task)]
    return found


def options_for(
    entry: Mitigation, goal: Goal, tol: float, *, task: str, chance: bool, costs: tuple[float, float], seed: int
) -> dict[str, Any]:
    """The options of a method that follow from the goal."""
    declared = {one.name: one for one in entry.parameters}
    options: dict[str, Any] = {}
    for name in AIMS:
        if name in declared:
            options[name] = _aim(declared[name].kind, name, goal.criterion)
    for name in ("tol", "eps", "limit"):
        if name in declared:
            options[name] = tol if task == "regression" else min(tol, 1.0)
    if "randomised" in declared:
        options["randomised"] = chance and can_be_mixed(options["criterion"])
    if "task" in declared:
        options["task"] = "regression" if task == "regression" else "classification"
    if "seed" in declared:
        options["seed"] = seed
    for name, cost in zip(("false_positive_cost", "false_negative_cost"), costs, strict=True):
        if name in declared:
            options[name] = cost
    return options


def _aim(kind: Kind[Any], name: str, criterion: str) -> Any:
    """The goal, or the criterion that stands in for it; a method that knows neither is not tried."""
    for candidate in (criterion, STAND_INS.get(criterion, criterion)):
        try:
            return kind.check(name, candidate)
        except IsonomiaError:
            continue
    raise NotApplicable(msg("cannot be tuned for {criterion}", criterion=criterion_titles()[criterion]))


def attempt(entry: Mitigation, options: Mapping[str, Any], trial: Trial, advance: Callable[[], None]) -> Attempt:
    """Fit a method on the training people of every split, and decide about those that are judged."""
    n = sum(len(split.rows) for split in trial.splits)
    decided = np.zeros(n, dtype=float if trial.regression else np.intp)
    chance, flips = np.zeros(n), 0
    for split in trial.splits:
        if entry.stage == "after":
            trial.tune(split, advance)
        fix, decided[split.rows], chance[split.rows] = _one_split(entry, options, trial, split)
        flips += len(getattr(fix, "flipped_", ()))
        advance()
    share = flips / sum(len(split.train) for split in trial.splits)
    return Attempt(entry=entry, options=options, decided=decided, chance=float(chance.mean()), flips=share)


def _one_split(
    entry: Mitigation, options: Mapping[str, Any], trial: Trial, split: Split
) -> tuple[Any, NDArray[Any], Floats | float]:
    """The fix fitted on the training people, its decisions about the others, and which of them are left to chance."""
    train, held = split.train, split.held
    if entry.stage == "after":
        if split.tuning is None or split.scores is None:
            raise NotApplicable(msg("needs scores, and there are decisions only"))
        fix = entry.estimator(**options).fit_scores(
            split.tuning,
            train.y,
            sensitive_features=train.sensitive,
            sample_weight=train.weights,
            classes=None if trial.regression else np.arange(len(trial.classes)),
            regression=trial.regression,
        )
        chance: Floats | float = fix.drawn(split.scores, held.sensitive) if hasattr(fix, "drawn") else 0.0
        return fix, fix.predict_scores(split.scores, sensitive_features=held.sensitive), chance
    trial.fits += 1
    fix = fit_method(entry, options, trial.estimator, train)
    given = {"sensitive_features": held.sensitive} if "attribute" in entry.needs else {}
    chance = float(getattr(fix, "chance_", 1.0 if entry.randomised else 0.0))
    return fix, np.asarray(fix.predict(held.X, **given)), chance


def fit_method(entry: Mitigation, options: Mapping[str, Any], estimator: Any, people: People) -> Any:
    """A method before or in training, fitted."""
    weights = {} if people.weights is None else {"sample_weight": people.weights}
    model = build(entry, options, clone(estimator))
    return model.fit(people.X, people.y, sensitive_features=people.sensitive, **weights)


def build(entry: Mitigation, options: Mapping[str, Any], estimator: Any) -> Any:
    """The method around an estimator; one that changes features stands in front of it.

    One with a model of its own stands in its place, behind what prepares the features.
    """
    if issubclass(entry.estimator, FeatureMitigator):
        return Transformed(estimator, entry.estimator(**options))
    if "estimator" not in signature(entry.estimator).parameters:
        own = entry.estimator(**options)
        several = isinstance(estimator, Pipeline) and len(estimator.steps) > 1
        return Prepared(own, estimator[:-1]) if several else own
    return entry.estimator(estimator, **options)
