"""What helps: every applicable fix, judged on people that neither the model nor the fix has seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack, get_args

import numpy as np

from isonomia.data import Dataset
from isonomia.errors import DataError, SpecError
from isonomia.events import Progress, ProgressLike
from isonomia.mitigation.judging.estimators import choose_estimator
from isonomia.mitigation.judging.found import GroupsOf
from isonomia.mitigation.judging.goals import GOALS, PolicyLike, read_goals
from isonomia.mitigation.judging.judge import no_rule_about
from isonomia.mitigation.judging.mitigated import Mitigated
from isonomia.mitigation.judging.plan import Objective, Plan, check_attributes, choose_attributes
from isonomia.mitigation.own_fixes import FIX
from isonomia.parameters import NAMES, SEED, Boolean, Choice, Either, Integer, Number, Several, validated
from isonomia.policies import load_policy
from isonomia.subject import Reading, Subject, read_dataset


@validated(
    goal=Choice(GOALS),
    limit=Number(at_least=0).or_none("for 0.05, or a ratio of 0.8"),
    methods=Either(Choice(("applicable",)), Several(FIX, single=True)),
    attributes=NAMES.or_none("for the first"),
    max_seconds=Number(above=0).or_none("for no limit"),
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
    policy: PolicyLike | None = None,
    methods: Any = "applicable",
    attributes: str | Sequence[str] | None = None,
    groups: GroupsOf = "protected",
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
    goal : "demographic_parity", "disparate_impact", "equal_opportunity", "predictive_equality", "equalized_odds", \
"predictive_parity", "overall_accuracy_equality", "mean_error_equality" or "error_ratio"
        The criterion that groups are compared by. Of several classes the worst class counts. For numbers: mean
        predictions ("demographic_parity"), mean errors, or mean absolute errors (their difference, or the smallest over
        the largest).
    limit : float, optional
        The largest difference (0.05 for rates), or the smallest ratio (0.8). For numbers the difference is a fifth of
        the standard deviation of the true ones.
    policy : str, mapping or Policy, optional
        Its rules replace `goal` and `limit`; a fix has to meet all of them, for all protected attributes and the groups
        that they compare (`attributes`, `by`, `min_share` of a rule), whichever attributes are fixed. Where a group is
        too small to be compared, nothing is shown to be met.
    methods : "applicable", or ids of `MITIGATIONS` and fixes of your own
        What is tried: all that apply, or those named. An estimator or its class is a fix too: see `own_fix`.
    attributes : str or sequence, optional
        The protected attributes that are fixed, several as intersections; by default those by which the unchanged model
        breaks the policy worst, without a policy the first of the data. The effect on all of them is in the table
        ``groups``.
    groups : "protected", "found" or SubgroupResult
        Whose gap is closed. "found": people in subgroups with many errors against all others; the search (SliceLine)
        looks at the people that a fix is tuned on, never at those it is judged on. Or subgroups found elsewhere, among
        other people.
    attribute_at_decision : bool
        Whether a fix may read the protected attribute when it decides. It may be unlawful (in US hiring, 42 U.S.C.
        2000e-2(l)), so it is off by default.
    randomised : bool
        Whether a fix may leave decisions to chance; off by default.
    objective : "accuracy" or "balanced_accuracy"
        What a fix costs.
    folds : int
        Parts of the cross-fitting.
    test : Dataset or frame, optional
        The people to judge on instead: everything is then fitted on `data` once.
    max_seconds : float, optional
        Methods for which no time is left are listed as not tried.
    progress : callable or Progress, optional

    Returns
    -------
    Mitigated
        ``.table`` (a row per method), ``.outcomes`` (what each rule says of each), ``.best``, ``.front``, ``.verdict``,
        ``.changes``, ``.groups``, ``.levelling``, ``.subgroups``, ``.fitted``, ``.save(path)``.

    Notes
    -----
    Every person is decided about by a model and a fix fitted without them. All intervals are simultaneous over methods,
    gaps and groups. Whether a fix *meets* a limit is what an audit of its decisions says under the same policy (the
    table ``outcomes``).

    Examples
    --------
    >>> import numpy as np
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
    return try_fixes(
        read_dataset(data, given),
        estimator,
        model=model,
        goal=goal,
        limit=limit,
        policy=policy,
        attributes=attributes,
        test=test,
        progress=progress,
        methods=methods,
        groups=groups,
        attribute_at_decision=attribute_at_decision,
        randomised=randomised,
        objective=objective,
        folds=folds,
        seed=seed,
        max_seconds=max_seconds,
    )


def _refuse_one_class(subject: Subject) -> None:
    truth = subject.outcome.truth
    if subject.task != "regression" and truth is not None and np.unique(truth).size < 2:
        raise DataError(f"The target '{subject.data.target}' has only one value: there is nothing to train a model on.")


def try_fixes(
    dataset: Dataset,
    estimator: Any = None,
    *,
    model: Any = None,
    goal: str = "demographic_parity",
    limit: float | None = None,
    policy: PolicyLike | None = None,
    attributes: str | Sequence[str] | None = None,
    test: Any = None,
    progress: ProgressLike = None,
    **options: Any,
) -> Mitigated:
    """`mitigate` for a dataset; the other options are those of a `Plan`."""
    subject = _subject(dataset, estimator, model)
    if subject.task == "regression" and options.get("objective", "accuracy") != "accuracy":
        raise SpecError("Predicted numbers have no balanced accuracy: leave out `objective`; a fix costs mean error.")
    if estimator is not None or model is None:
        _refuse_one_class(subject)
    known = [column.name for column in subject.needs_attributes()]
    spread = float(np.std(subject.truth)) if subject.task == "regression" else 1.0
    goals, ignored = read_goals(goal, limit, policy, subject.task, known=known, spread=spread)
    chosen = check_attributes(known, attributes) if policy is not None else choose_attributes(known, attributes, goals)
    if policy is not None and chosen and not any(goal.covers((name,)) for goal in goals for name in chosen):
        raise no_rule_about([(name,) for name in chosen])
    rules = None if policy is None else load_policy(policy)
    plan = Plan(goals=goals, ignored=ignored, attributes=chosen, policy=rules, **options)
    judged = None
    if test is not None:
        other = read_dataset(test, {}) if isinstance(test, Dataset) else subject.data.replace(test)
        judged = Subject.of(other, model)
    return plan.carry_out(
        subject, choose_estimator(subject, estimator, model), judged=judged, progress=Progress.of(progress)
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
