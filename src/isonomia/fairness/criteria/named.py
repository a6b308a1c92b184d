"""The named criteria: which metrics each compares between groups, how, and what it is called. The only such list."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from isonomia.languages import Message, msg
from isonomia.metrics import METRICS

#: How thorough a suite is; each has the criteria of the ones before it.
Config = Literal["quick", "medium", "full"]


@dataclass(frozen=True, kw_only=True)
class NamedCriterion:
    """What a criterion is.

    Attributes
    ----------
    metrics, of_numbers : tuple of str
        What is compared of decisions, and of predicted numbers; empty where it is not about these.
    measure : "difference" or "ratio"
    formula : Message
        What it requires.
    config : "quick", "medium" or "full", optional
        The smallest suite that has it.
    conditional : bool
        Whether groups are compared at the same values of other factors.
    """

    id: str
    title: Message
    measure: Literal["difference", "ratio"]
    formula: Message
    metrics: tuple[str, ...] = ()
    of_numbers: tuple[str, ...] = ()
    config: Config | None = None
    conditional: bool = False


CRITERIA: dict[str, NamedCriterion] = {
    entry.id: entry
    for entry in (
        NamedCriterion(
            id="demographic_parity",
            title=msg("Demographic parity"),
            metrics=("selection_rate",),
            of_numbers=("mean_prediction",),
            measure="difference",
            formula=msg("P(decision = 1 | group) is the same for all groups"),
            config="quick",
        ),
        NamedCriterion(
            id="disparate_impact",
            title=msg("Disparate impact"),
            metrics=("selection_rate",),
            measure="ratio",
            formula=msg("min over groups of P(decision = 1 | group) / max over groups"),
            config="quick",
        ),
        NamedCriterion(
            id="equal_opportunity",
            title=msg("Equal opportunity"),
            metrics=("tpr",),
            measure="difference",
            formula=msg("P(decision = 1 | truth = 1, group) is the same"),
            config="quick",
        ),
        NamedCriterion(
            id="equalized_odds",
            title=msg("Equalized odds"),
            metrics=("tpr", "fpr"),
            measure="difference",
            formula=msg("P(decision = 1 | truth, group) is the same"),
            config="medium",
        ),
        NamedCriterion(
            id="predictive_equality",
            title=msg("Predictive equality"),
            metrics=("fpr",),
            measure="difference",
            formula=msg("P(decision = 1 | truth = 0, group) is the same"),
            config="medium",
        ),
        NamedCriterion(
            id="predictive_parity",
            title=msg("Predictive parity"),
            metrics=("ppv",),
            measure="difference",
            formula=msg("P(truth = 1 | decision = 1, group) is the same"),
            config="medium",
        ),
        NamedCriterion(
            id="overall_accuracy_equality",
            title=msg("Overall accuracy equality"),
            metrics=("accuracy",),
            of_numbers=("mae",),
            measure="difference",
            formula=msg("P(decision = truth | group) is the same"),
            config="medium",
        ),
        NamedCriterion(
            id="mean_error_equality",
            title=msg("Mean error equality"),
            of_numbers=("mean_error",),
            measure="difference",
            formula=msg("the mean of prediction less truth is the same for all groups"),
        ),
        NamedCriterion(
            id="error_ratio",
            title=msg("Smallest over largest mean absolute error"),
            of_numbers=("mae",),
            measure="ratio",
            formula=msg("min over groups of the mean absolute error / max over groups"),
        ),
        NamedCriterion(
            id="negative_predictive_parity",
            title=msg("Negative predictive parity"),
            metrics=("npv",),
            measure="difference",
            formula=msg("P(truth = 0 | decision = 0, group) is the same"),
            config="full",
        ),
        NamedCriterion(
            id="treatment_equality",
            title=msg("Treatment equality"),
            metrics=("fn_fp_ratio",),
            measure="ratio",
            formula=msg("FN / FP is the same for all groups"),
            config="full",
        ),
        NamedCriterion(
            id="conditional_statistical_parity",
            title=msg("Conditional statistical parity"),
            metrics=("selection_rate",),
            of_numbers=("mean_prediction",),
            measure="difference",
            formula=msg("P(decision = 1 | legitimate factors, group) is the same"),
            conditional=True,
        ),
    )
}
#: Those of decisions.
OF_DECISIONS: dict[str, NamedCriterion] = {name: one for name, one in CRITERIA.items() if one.metrics}


def criteria_of_metrics(names: Collection[str], *, numbers: bool) -> dict[str, tuple[str, ...]]:
    """The criteria that these metrics allow, of decisions or of predicted numbers, and the metrics of each.

    >>> criteria_of_metrics(("selection_rate",), numbers=False)
    {'demographic_parity': ('selection_rate',), 'disparate_impact': ('selection_rate',)}
    """
    wanted = {name: one.of_numbers if numbers else one.metrics for name, one in CRITERIA.items() if not one.conditional}
    return {name: metrics for name, metrics in wanted.items() if metrics and {*metrics} <= {*names}}


def criterion_of(metric: str, measure: str) -> str | None:
    """The criterion that compares groups by one metric, also by another name of it; None for other figures.

    >>> criterion_of("recall", "difference"), criterion_of("mae", "ratio"), criterion_of("similar_people", "difference")
    ('equal_opportunity', 'error_ratio', None)
    """
    if metric not in METRICS:
        return None
    return next(
        (
            name
            for name, one in CRITERIA.items()
            if one.measure == measure
            and not one.conditional
            and any(len(part) == 1 and _same(metric, part[0]) for part in (one.metrics, one.of_numbers))
        ),
        None,
    )


def _same(metric: str, other: str) -> bool:
    one, two = METRICS[metric], METRICS[other]
    return one.id == two.id or (one.rate is not None and one.rate == two.rate)
