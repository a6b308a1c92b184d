"""Trying a method: whether it applies, its options for a goal, and what it decides about people it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from isonomia.counting import count_by
from isonomia.errors import IsonomiaError, NotApplicable
from isonomia.languages import Message, msg
from isonomia.mitigation._training import steps_in_front, weight_argument
from isonomia.mitigation.after.thresholds import can_be_mixed
from isonomia.mitigation.before.changing import FeatureMitigator
from isonomia.mitigation.judging.effect_tables import criterion_titles
from isonomia.mitigation.judging.goals import Goal
from isonomia.mitigation.judging.transformed import BehindSteps, Transformed
from isonomia.mitigation.judging.trial import People, Split, Trial
from isonomia.mitigation.registry import Mitigation
from isonomia.parameters import Kind
from isonomia.typing import Bools, Floats

#: Options by which methods take the goal, and what stands in where a method has no such aim.
AIMS = ("criterion", "target", "goal", "constraint")
STAND_INS = {
    "disparate_impact": "demographic_parity",
    "equal_opportunity": "equalized_odds",
    "predictive_equality": "equalized_odds",
    "equalized_odds": "average_odds",
}


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
    y = np.concatenate([split.test.y for split in trial.splits])
    predicted = np.concatenate([np.asarray(split.decisions) for split in trial.splits])
    columns = [np.concatenate([s.test.attributes[i].codes for s in trial.splits]) for i in range(trial.n_attributes)]
    _, group = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
    margin = 0.0
    for values, rows in _compared(goal, trial, y, predicted):
        sizes = np.sort(count_by(group.ravel()[rows], int(group.max()) + 1))
        mean, variance = (float(values[rows].mean()), float(values[rows].var())) if rows.any() else (0.5, 0.25)
        least = 0.0 if trial.regression else 0.01
        error = np.sqrt(max(variance, least) * np.sum(parts / sizes[sizes > 0][:2]))
        margin = max(margin, 4 * error / max(abs(mean), least or 1e-300) if goal.ratio else 4 * error)
    return float(max(0.1 * goal.tol, goal.tol - margin))


def _compared(goal: Goal, trial: Trial, y: NDArray[Any], predicted: NDArray[Any]) -> list[tuple[NDArray[Any], Bools]]:
    """The figures of people whose means a goal compares, and whose they are; for several classes, of each class."""
    everyone = np.ones(y.size, dtype=bool)
    if trial.regression:
        of_numbers = {"mean_prediction": predicted, "mean_error": predicted - y, "mae": np.abs(predicted - y)}
        return [(of_numbers[metric], everyone) for metric in goal.metrics(trial.task)]
    found = []
    for k in range(len(trial.classes)) if len(trial.classes) > 2 else (1,):
        rows = {"tpr": y == k, "fpr": y != k, "ppv": predicted == k}
        right = {"ppv": y == k, "accuracy": predicted == y}
        found += [
            (right.get(metric, predicted == k), rows.get(metric, everyone)) for metric in goal.metrics(trial.task)
        ]
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
    return options | dict(entry.options)


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
    train, test = split.train, split.test
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
        chance: Floats | float = fix.drawn(split.scores, test.sensitive) if hasattr(fix, "drawn") else 0.0
        return fix, fix.predict_scores(split.scores, sensitive_features=test.sensitive), chance
    estimator, train, test = trial.inside(split, entry.estimator)
    fix = fit_method(entry, options, estimator, train)
    given = {"sensitive_features": test.sensitive} if "attribute" in entry.needs else {}
    chance = float(getattr(fix, "chance_", 1.0 if entry.randomised else 0.0))
    return fix, np.asarray(fix.predict(test.X, **given)), chance


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
        own, front = entry.estimator(**options), steps_in_front(estimator)
        return own if front is None else BehindSteps(own, front)
    return entry.estimator(estimator, **options)
