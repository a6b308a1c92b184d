"""What helps: every applicable fix, judged on people that neither the model nor the fix has seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from isonomia.data import Dataset
from isonomia.errors import Cancelled, DataError, IsonomiaError, NotApplicable, SpecError, close_to
from isonomia.events import Clock, Progress, ProgressLike
from isonomia.evidence import Result
from isonomia.languages import Message, msg
from isonomia.mitigation.judging.before_after import compare
from isonomia.mitigation.judging.estimators import choose_estimator
from isonomia.mitigation.judging.goals import Goal, Verdict, read_goals
from isonomia.mitigation.judging.judge import Judged, judge
from isonomia.mitigation.judging.trying import (
    People,
    Split,
    Trial,
    attempt,
    build,
    options_for,
    refusal,
    split_rows,
    tightened,
)
from isonomia.mitigation.judging.verdict_tables import result_parts
from isonomia.mitigation.registry import MITIGATIONS, Mitigation
from isonomia.mitigation.saving import save
from isonomia.models import Surface
from isonomia.parameters import SEED, Boolean, Choice, Integer, validated
from isonomia.subject import Outcome, Reading, Subject, read_dataset

Objective = Literal["accuracy", "balanced_accuracy"]


@dataclass(frozen=True)
class Mitigated(Result):
    """What every fix did, on people it has not seen (see `mitigate`).

    Attributes
    ----------
    best : str or None
        The cheapest fix that meets the goal by the bound of its interval; None where none does.
    front : tuple of str
        Fixes that no other one beats: clearly in one of gap and accuracy, and at least as good in the other.
    verdict : "meets", "exceeds" or "not_enough_evidence"
        That of the best fix.
    fitted : mapping of estimators
        Each fix fitted on all rows; fitted when it is asked for.
    decisions : mapping of arrays
        The decisions about the people judged after each fix, as codes of the classes (numbers for a regression).
    """

    best: str | None = field(default=None, kw_only=True)
    front: tuple[str, ...] = field(default=(), kw_only=True)
    verdict: Verdict = field(default="not_enough_evidence", kw_only=True)
    fitted: Mapping[str, Any] = field(default_factory=dict, kw_only=True, repr=False)
    decisions: Mapping[str, NDArray[Any]] = field(default_factory=dict, kw_only=True, repr=False)
    judged: Judged | None = field(default=None, kw_only=True, repr=False)

    @property
    def changes(self) -> Any:
        """Who changes decision, for every fix and group."""
        return self.to_frame("changes")

    @property
    def groups(self) -> Any:
        """The effect on every protected attribute and intersection."""
        return self.to_frame("groups")

    @property
    def levelling(self) -> Any:
        """Whether each fix levels up, trades or levels down."""
        return self.to_frame("levelling")

    @property
    def subgroups(self) -> Any:
        """Subgroups with many newly refused people under the best fix (or the first tried, where none is best)."""
        from isonomia.discovery import find_subgroups

        if self.judged is None or self.judged.comparison.subject.dataset is None:
            raise NotApplicable(msg("there are no features to describe subgroups by"))
        comparison = self.judged.comparison
        name = self.best or next((one for one in comparison.names if one != "none"), "none")
        refused = (comparison.was == 1) & (comparison.after[name] == 0)
        return find_subgroups(comparison.subject.known, errors=refused.astype(float), method="sliceline").table

    def save(self, path: str | Path, method: str | None = None) -> Path:
        """Write the best fix (or the one named): ``.json`` for thresholds, offsets and maps, else skops."""
        name = method or self.best
        if name is None:
            raise SpecError("No fix meets the goal, so none is the best. Name the one to save (method=...).")
        return save(self.fitted[name], path)


class Fitted(Mapping[str, Any]):
    """Fixes fitted on all rows, each when it is asked for."""

    def __init__(self, fixes: Mapping[str, tuple[Mitigation, dict[str, Any]]], trial: Trial, people: People) -> None:
        self._fixes, self._trial, self._people = fixes, trial, people
        self._done: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._fixes:
            raise SpecError(f"{name!r} is not among the fixes that were tried.{close_to(name, self._fixes)}")
        if name not in self._done:
            self._done[name] = self._fit(*self._fixes[name])
        return self._done[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fixes)

    def __len__(self) -> int:
        return len(self._fixes)

    def _fit(self, entry: Mitigation, options: dict[str, Any]) -> Any:
        people, trial = self._people, self._trial
        y = people.y if trial.regression else np.array(trial.classes)[people.y.astype(np.intp)]
        given: dict[str, Any] = {"sensitive_features": people.sensitive}
        if people.weights is not None:
            given["sample_weight"] = people.weights
        if trial.estimator is not None:
            return build(entry, options, trial.estimator).fit(people.X, y, **given)
        scores = np.zeros((len(people), *np.asarray(trial.splits[0].scores).shape[1:]))
        for split in trial.splits:
            scores[split.rows] = split.scores
        classes = None if trial.regression else np.array(trial.classes)
        fix = entry.estimator(**options)
        return fix.fit_scores(scores, y, classes=classes, regression=trial.regression, **given)


@validated(
    attribute_at_decision=Boolean(),
    randomised=Boolean(),
    objective=Choice(get_args(Objective)),
    folds=Integer(2),
    seed=SEED,
)
def mitigate(
    data: Any,
    estimator: Any = None,
    *,
    model: Any = None,
    goal: str = "demographic_parity",
    limit: float | None = None,
    policy: Any = None,
    methods: str | Sequence[str] = "applicable",
    attributes: str | Sequence[str] | None = None,
    attribute_at_decision: bool = False,
    randomised: bool = False,
    objective: Objective = "accuracy",
    folds: int = 5,
    test: Any = None,
    seed: int = 0,
    max_seconds: float | None = None,
    progress: ProgressLike = None,
    **given: Unpack[Reading],
) -> Mitigated:
    """Try every applicable fix, and judge each on people that neither the model nor the fix has seen.

    Parameters
    ----------
    data : Dataset or frame with its roles
        Features, target and protected attributes; a column of scores or predictions where there is no estimator.
    estimator : estimator, "logistic", "forest" or "boosting", optional
        What is trained (unfitted). Without it and without `model`, predictions that the data carry are fixed, else a
        logistic (for numbers: a linear) regression is trained.
    model : model, Surface or predictions, optional
        What predicts already; only fixes after training apply.
    goal : str
        The criterion: "demographic_parity", "disparate_impact", "equal_opportunity", "predictive_equality",
        "equalized_odds", "predictive_parity" or "overall_accuracy_equality".
    limit : float, optional
        The largest difference (0.05), or the smallest ratio (0.8).
    policy : str, mapping or Policy, optional
        Its rules replace `goal` and `limit`; a fix has to meet all of them.
    methods : "applicable" or ids of `MITIGATIONS`
    attributes : str or sequence, optional
        The protected attributes that are fixed, several as intersections; the first of the data by default. The effect
        on all of them is in the table ``groups``.
    attribute_at_decision, randomised : bool
        Whether a fix may read the protected attribute when it decides, and leave decisions to chance. Both may be
        unlawful (in US hiring, 42 U.S.C. 2000e-2(l)), so both are off by default.
    objective : "accuracy" or "balanced_accuracy"
        What a fix costs.
    folds : int
        Parts of the cross-fitting.
    test : Dataset or frame, optional
        The people to judge on instead: everything is then fitted on `data` once.
    max_seconds : float, optional
        Methods that the time does not suffice for are listed as not tried.
    progress : callable or Progress, optional

    Returns
    -------
    Mitigated
        ``.table`` (a row per method), ``.best``, ``.front``, ``.verdict``, ``.changes``, ``.groups``, ``.levelling``,
        ``.subgroups``, ``.fitted``, ``.save(path)``.

    Notes
    -----
    Every person is decided about by a model and a fix fitted without them. All intervals are simultaneous over methods,
    gaps and groups, so that the best of many is not better by luck. A fix *meets* the goal where the whole interval of
    the gap does.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["F", "M"], 4000)
    >>> skill = rng.normal(size=4000)
    >>> hired = (skill + (sex == "M") + rng.normal(size=4000) > 0.5).astype(int)
    >>> frame = {"sex": sex, "skill": skill, "hired": hired}
    >>> fixed = mitigate(
    ...     frame, target="hired", protected="sex", methods=["thresholds"], limit=0.1, attribute_at_decision=True
    ... )
    >>> fixed.best, fixed.verdict
    ('thresholds', 'meets')
    """
    dataset = read_dataset(data, given)
    subject = _subject(dataset, estimator, model)
    chosen = _attributes(subject, attributes)
    estimator = choose_estimator(subject, estimator, model)
    goals, ignored = read_goals(goal, limit, policy, subject.task)
    sink = Progress.of(progress)
    judged_subject, trial, people = _trial(subject, estimator, model, chosen, test, folds, seed)
    clock = Clock(max_seconds, sink)
    tried, skipped = _try_all(
        _entries(methods),
        trial,
        goals[0],
        clock,
        allowed=(attribute_at_decision, randomised),
        costs=_costs(people, objective, subject.task),
        named=methods != "applicable",
    )
    judged = _judged(judged_subject, trial, tried, goals, chosen, objective)
    parts = result_parts(judged, {name: one[0] for name, one in tried.items()}, skipped)
    if ignored:
        names = ", ".join(str(rule.get("name") or rule.get("metric")) for rule in ignored)
        parts["notes"] += (msg("Rules of the policy that fixes are not judged by: {names}.", names=names),)
    fixes = {name: (one[0], one[1]) for name, one in tried.items()}
    return Mitigated(
        code="mitigate",
        title=msg("What helps"),
        **parts,
        best=judged.best,
        front=judged.front,
        verdict=judged.verdict,
        fitted=Fitted(fixes, trial, people),
        decisions={name: one[2] for name, one in tried.items()},
        judged=judged,
    )


def _subject(dataset: Dataset, estimator: Any, model: Any) -> Subject:
    if model is not None and estimator is not None:
        raise SpecError("Give an estimator to train, or a model that predicts already, not both.")
    carried = dataset.roles.prediction is not None or dataset.roles.score
    if estimator is not None and carried:
        dataset = dataset.with_roles(prediction=None, score=None)
    subject = Subject.of(dataset, model)
    if subject.outcome.truth is None:
        raise SpecError("A fix is judged by true outcomes: name the target of the data (target='...').")
    return subject


def _attributes(subject: Subject, given: str | Sequence[str] | None) -> tuple[str, ...]:
    known = [column.name for column in subject.needs_attributes()]
    names = (known[0],) if given is None else (given,) if isinstance(given, str) else tuple(given)
    for name in names:
        if name not in known:
            raise SpecError(f"`attributes` must name protected attributes; got {name!r}.{close_to(name, known)}")
    return names


def _entries(methods: str | Sequence[str]) -> list[Mitigation]:
    if methods == "applicable":
        return [*MITIGATIONS]
    return [MITIGATIONS[name] for name in ([methods] if isinstance(methods, str) else methods)]


def _people(subject: Subject, chosen: Sequence[str], features: bool) -> People:
    columns = {column.name: column for column in subject.needs_attributes()}
    truth = subject.truth
    return People(
        X=_native(subject.known.feature_frame()) if features else None,
        y=truth if subject.task == "regression" else truth.astype(np.intp),
        attributes=tuple(columns[name] for name in chosen),
        weights=subject.weights,
    )


def _native(frame: Any) -> Any:
    """A frame as scikit-learn's transformers of columns take it."""
    return frame.to_pandas() if type(frame).__module__.startswith("pyarrow") else frame


def _scores(subject: Subject) -> np.ndarray[Any, Any] | None:
    surface = subject.surface
    if subject.task == "regression":
        return surface.continuous
    return surface.ranking if subject.task == "binary" else surface.probability


def _trial(
    subject: Subject, estimator: Any, model: Any, chosen: Sequence[str], test: Any, folds: int, seed: int
) -> tuple[Subject, Trial, People]:
    people = _people(subject, chosen, estimator is not None)
    regression = subject.task == "regression"
    judged = subject
    if test is not None:
        other = read_dataset(test, {}) if isinstance(test, Dataset) else subject.data.replace(test)
        judged = Subject.of(other, model)
        held = _people(judged, chosen, estimator is not None)
        splits = [Split(train=people, held=held, rows=np.arange(len(held)))]
        parts = [(np.arange(len(people)), np.arange(len(held)))]
    else:
        parts = split_rows(people, folds, regression, seed)
        splits = [Split(train=people.take(a), held=people.take(b), rows=b) for a, b in parts]
    if estimator is None:
        tuning, scores = _scores(subject), _scores(judged)
        for split, (train, rows) in zip(splits, parts, strict=True):
            split.tuning = None if tuning is None else tuning[train]
            split.scores = None if scores is None else scores[rows]
            surface = judged.surface
            decided = surface.continuous if regression else surface.label
            if decided is None:
                raise DataError("There are scores but no decisions: give probabilities, or a column of decisions.")
            split.decisions = decided[rows]
    return judged, Trial(estimator, subject.task, subject.outcome.surface.classes, splits, seed), people


Tried = dict[str, tuple[Mitigation, dict[str, Any], NDArray[Any], float]]


def _try_all(
    entries: Sequence[Mitigation],
    trial: Trial,
    goal: Goal,
    clock: Clock,
    *,
    allowed: tuple[bool, bool],
    costs: tuple[float, float],
    named: bool,
) -> tuple[Tried, dict[str, tuple[Mitigation, Message | str]]]:
    tried: Tried = {}
    skipped: dict[str, tuple[Mitigation, Message | str]] = {}
    with clock.progress.stage("mitigate", msg("Trying fixes"), total=len(entries)) as stage:
        for split in trial.splits:
            trial.prepare(split, clock.progress.check)
        tol = tightened(goal, trial)
        scores = all(split.scores is not None for split in trial.splits)
        for entry in stage.over(entries):
            reason = refusal(
                entry,
                task=trial.task,
                estimator=trial.estimator,
                scores=scores,
                attribute=allowed[0],
                chance=allowed[1],
                named=named,
            )
            if reason is None and clock.over:
                reason = msg("the time did not suffice")
            if reason is not None:
                skipped[entry.id] = (entry, reason)
                continue
            try:
                options = options_for(entry, goal, tol, chance=allowed[1], costs=costs, seed=trial.seed)
                decided, chance = attempt(entry, options, trial, clock.progress.check)
                tried[entry.id] = (entry, options, decided, chance)
            except Cancelled:
                raise
            except NotApplicable as error:
                skipped[entry.id] = (entry, error.reason)
            except (IsonomiaError, ValueError) as error:
                if named and len(entries) == 1:
                    raise
                skipped[entry.id] = (entry, str(error))
    return tried, skipped


def _costs(people: People, objective: str, task: str) -> tuple[float, float]:
    if objective == "accuracy" or task != "binary":
        return 1.0, 1.0
    positive = float(np.average(people.y == 1, weights=people.weights))
    return 0.5 / (1 - positive), 0.5 / positive


def _judged(
    subject: Subject, trial: Trial, tried: Tried, goals: Sequence[Goal], chosen: Sequence[str], objective: str
) -> Judged:
    n = sum(len(split.rows) for split in trial.splits)
    before = np.zeros(n, dtype=float if trial.regression else np.intp)
    for split in trial.splits:
        before[split.rows] = split.decisions
    surface = (
        Surface.of_numbers(before)
        if trial.regression
        else Surface(subject.task, trial.classes, label=before.astype(np.min_scalar_type(len(trial.classes))))
    )
    decided = replace(
        subject, outcome=Outcome(subject.truth, surface), predictions=surface, settings=subject.settings, cache={}
    )
    codes = before.dtype if trial.regression else surface.label.dtype  # type: ignore[union-attr]
    after = {"none": before.astype(codes), **{name: one[2].astype(codes) for name, one in tried.items()}}
    by: Any = "all" if len(subject.attributes) > 1 else "each"
    ways = [(name,) for name in chosen] + ([tuple(chosen)] if len(chosen) > 1 else [])
    chances = {"none": 0.0, **{name: one[3] for name, one in tried.items()}}
    return judge(compare(decided, after, by), goals, ways, chances, objective)
