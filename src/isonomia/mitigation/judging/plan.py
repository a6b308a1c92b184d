"""Trying fixes on a subject: what is tried, on whom it is tuned, and on whom it is judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from isonomia.counting import Codes
from isonomia.data import estimator_backend, wrap
from isonomia.errors import Cancelled, DataError, IsonomiaError, NotApplicable, SpecError, close_to
from isonomia.events import Clock, Progress
from isonomia.languages import Message, error_message, msg
from isonomia.mitigation.judging.before_after import compare
from isonomia.mitigation.judging.effect_tables import criterion_titles
from isonomia.mitigation.judging.found import COLUMN, GroupsOf, use_subgroups
from isonomia.mitigation.judging.goals import Goal
from isonomia.mitigation.judging.judge import Judged, judge
from isonomia.mitigation.judging.mitigated import Fitted, Mitigated
from isonomia.mitigation.judging.trial import People, Split, Trial, split_rows
from isonomia.mitigation.judging.trying import Attempt, attempt, options_for, refusal, tightened
from isonomia.mitigation.judging.verdict_tables import result_parts
from isonomia.mitigation.registry import MITIGATIONS, Mitigation, Stage
from isonomia.models import Surface
from isonomia.models.call_threads import threads_to_fit
from isonomia.models.columns import to_kind
from isonomia.policies import BaseRule, Policy
from isonomia.subject import Outcome, Subject
from isonomia.typing import Floats

Objective = Literal["accuracy", "balanced_accuracy"]
#: Methods that were not tried, and why.
Skipped = dict[str, tuple[Mitigation, Message | str]]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is tried and what it is judged by (see `mitigate`, whose arguments these are).

    Attributes
    ----------
    goals : tuple of Goal
        What a fix has to meet; methods are tuned for the first.
    ignored : tuple of BaseRule
        Rules of the policy that no fix is judged by.
    attributes : tuple of str
        The protected attributes that are fixed; those by which the unchanged model breaks the policy worst where empty.
    policy : Policy or None
        What the goals come from: a fix is then judged by all that it asks, whichever attributes it works on.
    stages : tuple of str
        Methods of other stages are tried only where they are named.
    parts : int
        How many parts of the people judged a fix has to meet the goals in (1 for all of them together).
    groups : "protected", "found" or SubgroupResult
        Whose gap is closed: the groups of the attributes, or people in found subgroups and all others.
    """

    goals: tuple[Goal, ...]
    ignored: tuple[BaseRule, ...] = ()
    attributes: tuple[str, ...]
    methods: str | Mitigation | Sequence[str | Mitigation] = "applicable"
    attribute_at_decision: bool = False
    randomised: bool = False
    objective: Objective = "accuracy"
    folds: int = 5
    seed: int = 0
    max_seconds: float | None = None
    stages: tuple[Stage, ...] = get_args(Stage)
    parts: int = 1
    policy: Policy | None = None
    groups: GroupsOf = "protected"

    @property
    def named(self) -> bool:
        """Whether the methods were named one by one."""
        return self.methods != "applicable"

    @property
    def entries(self) -> list[Mitigation]:
        """The methods to try."""
        if not self.named:
            return [entry for entry in MITIGATIONS if entry.stage in self.stages]
        given = [self.methods] if isinstance(self.methods, str | Mitigation) else list(self.methods)
        found = [MITIGATIONS[one] if isinstance(one, str) else one for one in given]
        twice = [one.id for one in found if sum(one.id == other.id for other in found) > 1]
        if twice:
            raise SpecError(f"`methods` names '{twice[0]}' more than once. Give fixes names of their own (own_fix).")
        return found

    def carry_out(
        self, subject: Subject, estimator: Any = None, *, judged: Subject | None = None, progress: Progress
    ) -> Mitigated:
        """Try the methods on a subject: its predictions are fixed, or an estimator trained on its rows.

        Every person is decided about by a fix fitted without them: by cross-fitting, or with `judged` by fixes fitted
        on the subject and judged on those other people.
        """
        plan, found = (self if self.attributes else replace(self, attributes=_usable(subject, self.folds)[:1])), None
        trial, people = _trial(subject, estimator, judged, plan)
        persons = subject if judged is None else judged
        with threads_to_fit(len(people)):
            for split in trial.splits:
                trial.prepare(split, progress.check)
            if not self.attributes:
                plan = replace(plan, attributes=_broken_worst(subject, persons, trial, plan))
                columns = [_columns(one, plan.attributes) for one in (subject, persons)]
                people = _regrouped(trial, people, columns[0], columns[1])
            if self.groups != "protected":
                for split in trial.splits:
                    trial.tune(split, progress.check)
                persons, found = use_subgroups(self.groups, trial, people, subject, persons)
                goals = tuple(replace(goal, attributes=()) for goal in self.goals)
                plan = replace(plan, attributes=(COLUMN,), goals=goals, policy=None)
            tried, skipped = _try_all(plan, trial, people, Clock(self.max_seconds, progress))
        verdicts = _judged(persons, trial, tried, plan)
        parts = result_parts(verdicts, tried, skipped)
        parts["values"]["attributes"] = ", ".join(plan.attributes)
        parts["titles"]["attributes"] = msg("attributes that are fixed")
        if found is not None:
            table = next(iter(found.tables.values()))
            parts["tables"]["found"] = replace(table, title=msg("Subgroups that the fixes are tuned for"))
            parts["notes"] += (
                msg("Subgroups were searched among the people that fixes are tuned on, not among those judged."),
            )
        parts["notes"] += tuple(
            msg(
                "The limit of {criterion:inner} is {share:num} standard deviations of the true outcomes.",
                criterion=criterion_titles()[goal.criterion],
                share=goal.deviations,
            )
            for goal in self.goals
            if goal.deviations is not None
        )
        ignored = (*self.ignored, *verdicts.not_applicable)
        if ignored:
            names = ", ".join(rule.name for rule in ignored)
            parts["notes"] += (msg("Rules of the policy that fixes are not judged by: {names}.", names=names),)
        return Mitigated(
            code="mitigation",
            title=msg("What helps"),
            **parts,
            best=verdicts.best,
            front=verdicts.front,
            verdict=verdicts.verdict,
            fitted=Fitted(tried, trial, people),
            decisions={name: one.decided for name, one in tried.items()},
            judged=verdicts,
            found=found,
        )


def choose_attributes(
    known: Sequence[str], given: str | Sequence[str] | None, goals: Sequence[Goal]
) -> tuple[str, ...]:
    """The protected attributes that are fixed: those given, or the first that a goal names, or the first."""
    first = next((goal.attributes[0] for goal in goals if goal.attributes), known[0])
    names = (first,) if given is None else (given,) if isinstance(given, str) else tuple(given)
    for name in names:
        if name not in known:
            raise SpecError(f"`attributes` must name protected attributes; got {name!r}.{close_to(name, known)}")
    return names


def check_attributes(known: Sequence[str], given: str | Sequence[str] | None) -> tuple[str, ...]:
    """The protected attributes that were named; none where they are to be found."""
    return () if given is None else choose_attributes(known, given, ())


def _usable(subject: Subject, folds: int) -> tuple[str, ...]:
    """The protected attributes whose groups all have people in every part of the cross-fitting."""
    columns = subject.needs_attributes()
    enough = tuple(column.name for column in columns if column.observed().counts().min() >= folds)
    return enough or tuple(column.name for column in columns)


def _columns(subject: Subject, chosen: Sequence[str]) -> tuple[Codes, ...]:
    columns = {column.name: column for column in subject.needs_attributes()}
    return tuple(columns[name] for name in chosen)


def _broken_worst(subject: Subject, persons: Subject, trial: Trial, plan: Plan) -> tuple[str, ...]:
    """The attributes by which the unchanged model misses a limit most, among those that can be cross-fitted."""
    usable = {*_usable(subject, plan.folds)}
    unchanged = _judged(persons, trial, {}, plan)
    gaps = [(excess, by) for excess, by in unchanged.excesses("none") if usable.issuperset(by)]
    return max(gaps, key=lambda gap: (gap[0], -len(gap[1])))[1] if gaps else plan.attributes


def _regrouped(trial: Trial, people: People, attributes: tuple[Codes, ...], judged: tuple[Codes, ...]) -> People:
    """The people, and those of all parts, by other attributes; the parts stay as they are."""
    for split in trial.splits:
        split.train.attributes = tuple(column.take(split.train_rows) for column in attributes)
        split.test.attributes = tuple(column.take(split.rows) for column in judged)
    return replace(people, attributes=attributes)


def _people(subject: Subject, chosen: Sequence[str], features: bool) -> People:
    truth = subject.truth
    return People(
        X=_features(subject) if features else None,
        y=truth if subject.task == "regression" else truth.astype(np.intp),
        attributes=_columns(subject, chosen),
        weights=subject.weights,
    )


def _features(subject: Subject) -> Any:
    """The columns that an estimator is trained on, as scikit-learn's transformers of columns take them.

    A model that is trained again gets those it was trained on.
    """
    known = None if subject.model is None else subject.model.features
    data = subject.known
    table = wrap(data.feature_frame()) if known is None else wrap(data.frame).select(list(known))
    return to_kind(table, estimator_backend()) if table.implementation.is_pyarrow() else table.to_native()


def _scores(subject: Subject) -> Floats | None:
    surface = subject.surface
    if subject.task == "regression":
        return surface.continuous
    return surface.ranking if subject.task == "binary" else surface.probability


def _trial(subject: Subject, estimator: Any, judged: Subject | None, plan: Plan) -> tuple[Trial, People]:
    chosen, trains = plan.attributes, estimator is not None
    people = _people(subject, chosen, trains)
    regression = subject.task == "regression"
    if judged is not None:
        test = _people(judged, chosen, trains)
        splits = [Split(train=people, test=test, rows=np.arange(len(test)), train_rows=np.arange(len(people)))]
        parts = [(np.arange(len(people)), np.arange(len(test)))]
    else:
        judged = subject
        parts = split_rows(people, plan.folds, regression, plan.seed)
        splits = [Split(train=people.take(a), test=people.take(b), rows=b, train_rows=a) for a, b in parts]
    if not trains:
        tuning, scores = _scores(subject), _scores(judged)
        decided = judged.surface.continuous if regression else judged.surface.label
        if decided is None:
            raise DataError("There are scores but no decisions: give probabilities, or a column of decisions.")
        for split, (train, rows) in zip(splits, parts, strict=True):
            split.tuning = None if tuning is None else tuning[train]
            split.scores = None if scores is None else scores[rows]
            split.decisions = decided[rows]
    return Trial(estimator, subject.task, subject.outcome.surface.classes, splits, plan.seed), people


def _try_all(plan: Plan, trial: Trial, people: People, clock: Clock) -> tuple[dict[str, Attempt], Skipped]:
    tried: dict[str, Attempt] = {}
    skipped: Skipped = {}
    entries, costs = plan.entries, _costs(people, plan.objective, trial.task)
    with clock.progress.stage("mitigate", msg("Trying fixes"), total=len(entries)) as stage:
        tol = tightened(plan.goals[0], trial, plan.parts)
        scores = all(split.scores is not None for split in trial.splits)
        for entry in stage.over(entries):
            reason = refusal(
                entry,
                task=trial.task,
                estimator=trial.estimator,
                scores=scores,
                attribute=plan.attribute_at_decision,
                chance=plan.randomised,
                named=plan.named,
            )
            if reason is None and clock.over:
                reason = msg("the time limit was reached before it")
            if reason is not None:
                skipped[entry.id] = (entry, reason)
                continue
            try:
                options = options_for(
                    entry,
                    plan.goals[0],
                    tol,
                    task=trial.task,
                    chance=plan.randomised,
                    costs=costs,
                    seed=trial.seed,
                )
                tried[entry.id] = attempt(entry, options, trial, clock.progress.check)
            except Cancelled:
                raise
            except NotApplicable as error:
                skipped[entry.id] = (entry, error_message(error))
            except (IsonomiaError, ValueError) as error:
                if plan.named and len(entries) == 1:
                    raise
                skipped[entry.id] = (entry, error_message(error))
    return tried, skipped


def _costs(people: People, objective: str, task: str) -> tuple[float, float]:
    if objective == "accuracy" or task != "binary":
        return 1.0, 1.0
    positive = float(np.average(people.y == 1, weights=people.weights))
    return 0.5 / (1 - positive), 0.5 / positive


def _judged(subject: Subject, trial: Trial, tried: dict[str, Attempt], plan: Plan) -> Judged:
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
    after = {"none": before.astype(codes), **{name: one.decided.astype(codes) for name, one in tried.items()}}
    by: Any = "all" if len(subject.attributes) > 1 else "each"
    chosen = plan.attributes
    chances = {"none": 0.0, **{name: one.chance for name, one in tried.items()}}
    larger = [least for goal in plan.goals if (least := goal.least(n))]
    columns = getattr(trial.splits[0].train.X, "columns", ())
    read = [column.name for column in subject.attributes if column.name in columns]
    comparison = compare(decided, after, by, larger=larger)
    ways = [(name,) for name in chosen] + ([chosen] if len(chosen) > 1 else [])
    if plan.policy is not None:
        return judge(comparison, plan.goals, comparison.ways, chances, plan.objective, read, policy=plan.policy)
    return judge(comparison, plan.goals, ways, chances, plan.objective, read)
