"""Which fix would close the gaps between groups, and at what cost?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import Pipeline

from isonomia.audit.check_registry import check
from isonomia.audit.checks._other_rows import other_rows
from isonomia.audit.checks._sample import sample_of
from isonomia.errors import DataError, NotApplicable, SpecError
from isonomia.evidence import Result
from isonomia.fairness.groups.measured_groups import measured_groups
from isonomia.languages import Message, error_message, msg
from isonomia.metrics import METRICS
from isonomia.mitigation import MITIGATIONS, Mitigated, mitigate
from isonomia.mitigation.judging.goals import GOALS, Goal, goals_of, read_goal
from isonomia.mitigation.judging.plan import Plan
from isonomia.mitigation.judging.trying import refusal
from isonomia.mitigation.registry import Stage
from isonomia.parameters import NAMES, Choice, File, Integer, Parameter, parameters_of
from isonomia.policies import BaseRule, Policy
from isonomia.subject import Subject

#: Stages that are tried without being named: what happens while a model is trained takes many fits.
STAGES: tuple[Stage, ...] = ("before", "after")
#: Models whose fits take a small part of what others take.
LINEAR = (LogisticRegression, LinearRegression, Ridge)


@check(
    "mitigation",
    order=400,
    family="people",
    what_if=True,
    by_policy=True,
    title=msg("What helps"),
    question=msg("Which fix would close the gaps between groups, and at what cost?"),
    purpose="fixes tried on held-out people: gaps, accuracy and decisions before and after",
    within="full",
    parameters=(
        Parameter("goal", Choice(GOALS).or_none(), None, "the criterion; by default the audit's policy"),
        *parameters_of(mitigate, "limit", "methods"),
        Parameter("attributes", NAMES.or_none(), None, "what is fixed; by default the attribute with the largest gap"),
        *parameters_of(mitigate, "attribute_at_decision", "randomised", "objective"),
        *parameters_of(mitigate, "folds", folds=2),
        Parameter("train", File().or_none(), None, "rows to fit fixes on, judged on the audited rows: a file, a frame"),
        Parameter("max_rows", Integer(1), 5_000, "rows that fixes are tried on, at most; more are sampled"),
        Parameter("max_fits", Integer(1), 16, "trainings of the model for fixes that are not named, at most"),
        *parameters_of(mitigate, "max_seconds"),
    ),
    keys={"train": "train_dataset"},
)
def mitigation(
    subject: Subject,
    *,
    policy: Policy | None,
    goal: str | None,
    limit: float | None,
    attributes: Sequence[str] | None,
    train: Any,
    max_rows: int,
    max_fits: int,
    **options: Any,
) -> Result:
    """Fixes of the audited predictions, or of the model trained again where that is possible.

    The goal is what the policy of the audit requires, unless one is named. The estimator is trained again (in parts of
    the audited rows, or on `train`) where methods before training are named or `train` is given, and where nothing else
    is left: fixes of predictions read the protected attribute, which has to be allowed.
    """
    subject.needs_outcomes().needs_decisions()
    goals, ignored, why = _goals(goal, limit, policy, subject)
    asked = policy if goal is None and limit is None and not why else None
    judged, notes = sample_of(subject, max_rows)
    train_part = None if train is None else sample_of(other_rows(subject, train), max_rows)[0]
    estimator = _estimator(subject, train_part is not None, options)
    if estimator is not None and train_part is None and options["methods"] == "applicable":
        options["methods"] = _affordable(estimator, subject.task, max_fits // options["folds"], options)
    plan = Plan(
        goals=goals,
        ignored=ignored,
        attributes=tuple(attributes or (() if asked else _furthest(subject, goals[0], options["folds"]))),
        policy=asked,
        stages=STAGES,
        seed=subject.settings.seed,
        **options,
    )
    try:
        result = (
            plan.carry_out(judged, estimator, progress=subject.progress)
            if train_part is None
            else plan.carry_out(train_part, estimator, judged=judged, progress=subject.progress)
        )
    except (DataError, SpecError) as error:
        raise NotApplicable(error_message(error)) from error
    _needs_one(result)
    trained = () if estimator is None else (_TRAINED if train_part is None else _TRAINED_APART,)
    # of a fix, not of the model: notices; that groups trade places is what fixes do
    kept = [finding for finding in result.findings if finding.code != "mitigation.trades"]
    found = tuple(replace(finding, severity="notice") for finding in kept)
    return replace(result, findings=found, notes=(*result.notes, *trained, *notes, *why))


_TRAINED = msg(
    "The model was trained again on parts of the audited rows, without and with each fix, and judged on the others."
)
_TRAINED_APART = msg(
    "The model was trained again on the training rows, without and with each fix, and judged on the audited rows."
)


def _goals(
    goal: str | None, limit: float | None, policy: Policy | None, subject: Subject
) -> tuple[tuple[Goal, ...], tuple[BaseRule, ...], tuple[Message, ...]]:
    """The goal that is named, or what the policy requires; demographic parity where there is neither."""
    ignored: tuple[BaseRule, ...] = ()
    notes: tuple[Message, ...] = ()
    spread = float(np.std(subject.truth)) if subject.task == "regression" else 1.0
    if goal is None and limit is None and policy is not None:
        known = [column.name for column in subject.needs_attributes()]
        goals, ignored = goals_of(policy, subject.task, known=known, spread=spread)
        if goals:
            return goals, ignored, ()
        notes = (msg("No rule of the policy can be met by a fix, so the goal is demographic parity."),)
    return (read_goal(goal or "demographic_parity", limit, subject.task, spread=spread),), ignored, notes


def _estimator(subject: Subject, apart: bool, options: dict[str, Any]) -> Any:
    """The model's estimator, unfitted, where it is to be trained again; None where its predictions are fixed."""
    named = options["methods"] if options["methods"] != "applicable" else []
    trains = [name for name in named if MITIGATIONS[name].stage != "after"]
    if subject.model is None or not (apart or trains or (not named and not options["attribute_at_decision"])):
        return None
    estimator = subject.model.estimator
    if hasattr(estimator, "fit") and hasattr(estimator, "get_params") and subject.dataset is not None:
        return clone(estimator)
    if trains or apart:
        raise NotApplicable(msg("the model cannot be trained again: it is not a scikit-learn estimator"))
    return None


def _affordable(estimator: Any, task: str, fits: int, options: dict[str, Any]) -> tuple[str, ...]:
    """The fixes before and in training that apply and take no more trainings of the model together, few first.

    A linear model is trained ten times as often. Fixes after training would be tuned on scores of further models.
    """
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    left = fits * (10 if isinstance(last, LINEAR) else 1)
    chosen = []
    for entry in sorted(MITIGATIONS, key=lambda entry: entry.fits):
        refused = refusal(
            entry,
            task=task,
            estimator=estimator,
            scores=True,
            attribute=options["attribute_at_decision"],
            chance=options["randomised"],
        )
        if entry.stage != "after" and refused is None and entry.fits <= left:
            chosen.append(entry.id)
            left -= entry.fits
    return tuple(chosen)


def _furthest(subject: Subject, goal: Goal, folds: int) -> tuple[str, ...]:
    """The protected attribute whose groups are furthest apart, among those with enough rows in every group."""
    known = [column for column in subject.needs_attributes() if goal.covers((column.name,))]
    columns = [column for column in known if column.observed().counts().min() >= folds]
    if not columns:
        raise NotApplicable(msg("every protected attribute has a group of fewer than {n:# row|# rows}", n=folds))
    metrics = goal.metrics(subject.task)
    measured = measured_groups(subject, metrics, "each")
    assert measured.groups is not None
    groups = measured.groups.groups
    enough = measured.sizes >= subject.settings.min_per_group

    def apart(name: str) -> float:
        members = [i for i, group in enumerate(groups) if group.by == (name,) and enough[i]]
        values = [
            part.value[members]
            for metric, part in measured.measured.items()
            if METRICS[metric.split("[")[0]].id in metrics
        ]
        gaps = [float(np.nanmax(one) - np.nanmin(one)) for one in values if np.isfinite(one).any()]
        return max(gaps, default=-1.0)

    return (max((column.name for column in columns), key=apart),)


def _needs_one(result: Mitigated) -> None:
    """A result without any fix does not apply; the reasons are those of the methods."""
    if result.decisions:
        return
    gap = result.tables["methods"]["gap"]
    reasons = [note for row in range(len(gap.values)) if (note := gap.estimate(row).note)]
    raise NotApplicable(msg("no fix could be tried: {reasons}", reasons=Message.join(reasons)))
