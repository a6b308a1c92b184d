"""The named criteria for arrays: one function each, with its formula and where it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

from isonomia.data import Missing, Task
from isonomia.fairness.criteria.criterion import FOUR_FIFTHS, MIN_PER_GROUP, THRESHOLD, Criterion, criterion
from isonomia.fairness.groups.comparisons import Reference
from isonomia.fairness.groups.gaps import Aggregate
from isonomia.fairness.groups.grouping import By
from isonomia.subject import Subject


class Shared(TypedDict, total=False):
    """Options that every criterion takes, with the meaning they have in `group_metrics`."""

    task: Task | None
    positive: Any
    weights: Any
    reference: Reference
    by: By | Sequence[Sequence[str]]
    missing: Missing
    n_boot: int
    level: float
    seed: int
    aggregate: Aggregate


class Options(Shared, total=False):
    """The same with the factors that comparisons are held fixed on."""

    control: Any


def criterion_of_arrays(
    name: str,
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    threshold: float,
    min_per_group: int,
    options: Options,
) -> Criterion:
    """A criterion for what the user gave: read, encoded, judged."""
    given: dict[str, Any] = dict(options)
    reading = {name: given.pop(name, None) for name in ("task", "positive", "weights")}
    subject = Subject.of(y_true, y_pred, sensitive_features=sensitive_features, **reading)
    return criterion(
        name,
        subject.outcome,
        subject.attributes,
        threshold=threshold,
        min_per_group=min_per_group,
        weights=subject.weights,
        control=subject.columns(given.pop("control", None), "control"),
        backend=subject.backend,
        **given,
    )


def demographic_parity(
    y_pred: Any,
    *,
    sensitive_features: Any,
    threshold: float = THRESHOLD,
    min_per_group: int = MIN_PER_GROUP,
    **options: Unpack[Options],
) -> Criterion:
    """Is the favourable decision given at the same rate to all groups?

    max over groups of P(decision = 1 | group) - min over groups, held against `threshold`. Several classes: the worst
    class against the rest. A regression: mean predictions, in standard deviations of the predictions.

    Groups with fewer than `min_per_group` rows are shown, flagged and left out of the gap.

    References
    ----------
    C. Dwork et al. (2012), Fairness through awareness, ITCS.

    Examples
    --------
    >>> r = demographic_parity([1, 0] * 10 + [1, 1] * 10, sensitive_features=["a"] * 20 + ["b"] * 20)
    >>> r.difference.value, r.ratio.value, r.passes
    (0.5, 0.5, False)
    """
    return criterion_of_arrays(
        "demographic_parity", None, y_pred, sensitive_features, threshold, min_per_group, options
    )


def disparate_impact(
    y_pred: Any,
    *,
    sensitive_features: Any,
    threshold: float = FOUR_FIFTHS,
    min_per_group: int = MIN_PER_GROUP,
    **options: Unpack[Options],
) -> Criterion:
    """Is the smallest selection rate at least four fifths of the largest?

    min over groups of P(decision = 1 | group) / max over groups, held against `threshold`. The four-fifths rule of the
    US Uniform Guidelines on Employee Selection Procedures, 29 CFR 1607.4 (D): a rule of thumb, not a finding of law.

    Examples
    --------
    >>> r = disparate_impact([1] * 8 + [0] * 2 + [1] * 2 + [0] * 8, sensitive_features=["a"] * 10 + ["b"] * 10)
    >>> r.ratio.value, r.passes
    (0.25, False)
    """
    return criterion_of_arrays("disparate_impact", None, y_pred, sensitive_features, threshold, min_per_group, options)


def equal_opportunity(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    threshold: float = THRESHOLD,
    min_per_group: int = MIN_PER_GROUP,
    **options: Unpack[Options],
) -> Criterion:
    """Are those with a favourable true outcome selected at the same rate in all groups?

    max over groups of P(decision = 1 | truth = 1, group) - min over groups.

    References
    ----------
    M. Hardt, E. Price, N. Srebro (2016), Equality of opportunity in supervised learning, NeurIPS.

    Examples
    --------
    >>> y = [1] * 10 + [0] * 10
    >>> r = equal_opportunity(y + y, y + [1] * 5 + [0] * 15, sensitive_features=["a"] * 20 + ["b"] * 20)
    >>> r.difference.value, r.passes
    (0.5, False)
    """
    return criterion_of_arrays(
        "equal_opportunity", y_true, y_pred, sensitive_features, threshold, min_per_group, options
    )


def equalized_odds(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    threshold: float = THRESHOLD,
    min_per_group: int = MIN_PER_GROUP,
    **options: Unpack[Options],
) -> Criterion:
    """Are true and false positive rates the same in all groups?

    The larger of the two gaps max - min of TPR and of FPR over groups, held against `threshold`; with
    ``aggregate="mean"`` their mean (average odds). Both are in the result.

    References
    ----------
    M. Hardt, E. Price, N. Srebro (2016), Equality of opportunity in supervised learning, NeurIPS.

    Examples
    --------
    >>> y = [1] * 10 + [0] * 10
    >>> r = equalized_odds(y + y, y + [1] * 10 + [1] * 2 + [0] * 8, sensitive_features=["a"] * 20 + ["b"] * 20)
    >>> r.difference.value, r.worst["metric"]
    (0.2, 'fpr')
    """
    return criterion_of_arrays("equalized_odds", y_true, y_pred, sensitive_features, threshold, min_per_group, options)


def predictive_parity(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    threshold: float = THRESHOLD,
    min_per_group: int = MIN_PER_GROUP,
    **options: Unpack[Options],
) -> Criterion:
    """Does a favourable decision mean the same in all groups?

    max over groups of P(truth = 1 | decision = 1, group) - min over groups.

    References
    ----------
    A. Chouldechova (2017), Fair prediction with disparate impact, Big Data 5:153.

    Examples
    --------
    >>> said = [1] * 10 + [0] * 10
    >>> r = predictive_parity(said + [1] * 8 + [0] * 12, said + said, sensitive_features=["a"] * 20 + ["b"] * 20)
    >>> round(r.difference.value, 3), r.passes
    (0.2, False)
    """
    return criterion_of_arrays(
        "predictive_parity", y_true, y_pred, sensitive_features, threshold, min_per_group, options
    )


def predictive_equality(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    threshold: float = THRESHOLD,
    min_per_group: int = MIN_PER_GROUP,
    **options: Unpack[Options],
) -> Criterion:
    """Are those with an unfavourable true outcome selected at the same rate in all groups?

    max over groups of P(decision = 1 | truth = 0, group) - min over groups.

    References
    ----------
    S. Corbett-Davies et al. (2017), Algorithmic decision making and the cost of fairness, KDD.

    Examples
    --------
    >>> y = [1] * 10 + [0] * 10
    >>> r = predictive_equality(y + y, y + [1] * 15 + [0] * 5, sensitive_features=["a"] * 20 + ["b"] * 20)
    >>> r.difference.value, r.passes
    (0.5, False)
    """
    return criterion_of_arrays(
        "predictive_equality", y_true, y_pred, sensitive_features, threshold, min_per_group, options
    )


def negative_predictive_parity(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    threshold: float = THRESHOLD,
    min_per_group: int = MIN_PER_GROUP,
    **options: Unpack[Options],
) -> Criterion:
    """Does an unfavourable decision mean the same in all groups?

    max over groups of P(truth = 0 | decision = 0, group) - min over groups.

    Examples
    --------
    >>> said = [1] * 10 + [0] * 10
    >>> truth = said + [1] * 15 + [0] * 5
    >>> r = negative_predictive_parity(truth, said + said, sensitive_features=["a"] * 20 + ["b"] * 20)
    >>> r.difference.value
    0.5
    """
    return criterion_of_arrays(
        "negative_predictive_parity", y_true, y_pred, sensitive_features, threshold, min_per_group, options
    )


def overall_accuracy_equality(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    threshold: float = THRESHOLD,
    min_per_group: int = MIN_PER_GROUP,
    **options: Unpack[Options],
) -> Criterion:
    """Is the share of right decisions the same in all groups?

    max over groups of P(decision = truth | group) - min over groups.

    References
    ----------
    R. Berk et al. (2021), Fairness in criminal justice risk assessments, Sociol. Methods Res. 50:3.

    Examples
    --------
    >>> y = [1] * 10 + [0] * 10
    >>> r = overall_accuracy_equality(y + y, y + [0] * 20, sensitive_features=["a"] * 20 + ["b"] * 20)
    >>> r.difference.value, r.worst["lowest"]
    (0.5, 'group=b')
    """
    return criterion_of_arrays(
        "overall_accuracy_equality", y_true, y_pred, sensitive_features, threshold, min_per_group, options
    )


def treatment_equality(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    threshold: float = FOUR_FIFTHS,
    min_per_group: int = MIN_PER_GROUP,
    **options: Unpack[Options],
) -> Criterion:
    """Does the model make the two kinds of error in the same proportion in all groups?

    FN / FP of each group; min over groups / max over groups, held against `threshold`. A group without false
    positives has no such proportion, and is left out with a note.

    References
    ----------
    R. Berk et al. (2021), Fairness in criminal justice risk assessments, Sociol. Methods Res. 50:3.

    Examples
    --------
    >>> y = [1] * 10 + [0] * 10
    >>> a, b = [0] * 2 + [1] * 8 + [1] * 4 + [0] * 6, [0] * 4 + [1] * 6 + [1] * 2 + [0] * 8
    >>> r = treatment_equality(y + y, a + b, sensitive_features=["a"] * 20 + ["b"] * 20)
    >>> r.worst["low"], r.worst["high"], r.ratio.value
    (0.5, 2.0, 0.25)
    """
    return criterion_of_arrays(
        "treatment_equality", y_true, y_pred, sensitive_features, threshold, min_per_group, options
    )
