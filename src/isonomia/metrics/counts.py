"""Metrics of a confusion table: every one is computed for whole stacks of tables (groups, replicates) at once.

A table has shape (..., R, K): rows are true classes, columns predicted ones, entries weighted counts. A value that is
not defined is NaN. scikit-learn returns 0 for a precision without predicted positives and for a correlation of a
constant; here both are undefined, because a 0 would be read as the worst result there is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from isonomia.data import Task
from isonomia.languages import Message, msg
from isonomia.metrics.registry import METRICS, Metric
from isonomia.metrics.table_functions import (
    Table,
    balanced_accuracy,
    f1,
    hits,
    kappa,
    macro_f1,
    macro_precision,
    macro_recall,
    matthews,
    misses_per_alarm,
    ratio,
    total,
    weighted_f1,
)
from isonomia.typing import Floats

Rate = Callable[[Any], tuple[Floats, Floats]]
CLASSES: tuple[Task, ...] = ("binary", "multiclass")


# --- proportions: (numerator, denominator), linear in the table -------------------------------------------------------


def _accuracy(C: Table) -> tuple[Floats, Floats]:
    return hits(C).sum(axis=-1), total(C)


def _errors(C: Table) -> tuple[Floats, Floats]:
    rows = total(C)
    return rows - hits(C).sum(axis=-1), rows


def _selected(C: NDArray[Any]) -> tuple[Floats, Floats]:
    return C[..., :, 1].sum(axis=-1), total(C)


def _base(C: NDArray[Any]) -> tuple[Floats, Floats]:
    return C[..., 1, :].sum(axis=-1), total(C)


def _given_true(true: int, predicted: int) -> Rate:
    return lambda C: (C[..., true, predicted], C[..., true, :].sum(axis=-1))


def _given_predicted(predicted: int, true: int) -> Rate:
    return lambda C: (C[..., true, predicted], C[..., :, predicted].sum(axis=-1))


def _misses_among_errors(C: NDArray[Any]) -> tuple[Floats, Floats]:
    return C[..., 1, 0], C[..., 1, 0] + C[..., 0, 1]


def _never_predicted(C: NDArray[Any]) -> Message | None:
    """Says which share of the classes a mean precision leaves out."""
    left = int(((C.sum(axis=-2) <= 0) & (C.sum(axis=-1) > 0)).sum())
    note = msg("{left:int} of {all:int} classes were never predicted and are left out", left=left, all=C.shape[-1])
    return note if left else None


def _never_seen(C: NDArray[Any]) -> Message | None:
    left = int(((C.sum(axis=-1) <= 0) & (C.sum(axis=-2) > 0)).sum())
    note = msg(
        "{left:int} of {all:int} classes do not occur in the labels and are left out", left=left, all=C.shape[-1]
    )
    return note if left else None


# --- the registry -----------------------------------------------------------------------------------------------------

NO_ROWS = msg("there are no rows")
NO_POSITIVES = msg("there are no positive labels")
NO_NEGATIVES = msg("there are no negative labels")
NO_SELECTED = msg("no row is predicted positive")
NO_REJECTED = msg("no row is predicted negative")


def _rate(
    *,
    rate: Callable[..., tuple[Floats, Floats]],
    higher_is_better: bool | None,
    tasks: tuple[Task, ...] = ("binary",),
    **fields: Any,
) -> None:
    """A simple proportion of the rows of a confusion table."""
    METRICS.add(
        Metric(
            surface=("label",),
            family="counts",
            range=(0.0, 1.0),
            tasks=tasks,
            higher_is_better=higher_is_better,
            from_counts=lambda C: ratio(*rate(C)),
            rate=rate,
            **fields,
        )
    )


def _table(*, compute: Callable[[Table], Floats], low: float = 0.0, **fields: Any) -> None:
    """Another function of a confusion table, at best 1."""
    METRICS.add(
        Metric(
            surface=("label",),
            family="counts",
            range=(low, 1.0),
            format="num4" if low < 0 else "pct",
            higher_is_better=True,
            from_counts=compute,
            of_margins=True,
            **{"tasks": CLASSES, **fields},
        )
    )


_rate(
    id="accuracy",
    title=msg("Accuracy"),
    purpose="share of rows decided right",
    rate=_accuracy,
    of_margins=True,
    undefined=NO_ROWS,
    higher_is_better=True,
    tasks=CLASSES,
)
_table(
    id="balanced_accuracy",
    title=msg("Balanced accuracy"),
    purpose="mean over classes of the share of their rows found",
    compute=balanced_accuracy,
    undefined=msg("a class has no rows"),
    both_classes=True,
    references=("K. H. Brodersen et al. (2010), ICPR, 3121",),
)
_table(
    id="f1",
    title=msg("F1"),
    purpose="harmonic mean of precision and recall of the positive class",
    compute=f1,
    undefined=msg("there are neither positive labels nor positive predictions"),
    tasks=("binary",),
)
_rate(
    id="precision",
    aliases={"ppv": msg("Positive predictive value")},
    title=msg("Precision"),
    purpose="share of predicted positives that are positive",
    rate=_given_predicted(1, 1),
    undefined=NO_SELECTED,
    higher_is_better=True,
)
_rate(
    id="recall",
    aliases={"tpr": msg("True positive rate")},
    title=msg("Recall"),
    purpose="share of positives that are found",
    rate=_given_true(1, 1),
    undefined=NO_POSITIVES,
    higher_is_better=True,
)
_rate(
    id="specificity",
    aliases={"tnr": msg("True negative rate")},
    title=msg("Specificity"),
    purpose="share of negatives that are left alone",
    rate=_given_true(0, 0),
    undefined=NO_NEGATIVES,
    higher_is_better=True,
)
_table(
    id="matthews_corrcoef",
    title=msg("Matthews correlation"),
    purpose="correlation of labels and predictions",
    compute=matthews,
    undefined=msg("labels or predictions are all of one class"),
    low=-1.0,
    references=("B. W. Matthews (1975), BBA 405:442", "J. Gorodkin (2004), Comput. Biol. Chem. 28:367"),
)
_table(
    id="cohens_kappa",
    title=msg("Cohen's kappa"),
    purpose="agreement of labels and predictions beyond chance",
    compute=kappa,
    undefined=msg("all labels and predictions are of the same class"),
    low=-1.0,
    references=("J. Cohen (1960), Educ. Psychol. Meas. 20:37",),
)
_table(
    id="macro_f1",
    title=msg("F1, mean over classes"),
    purpose="mean of F1 over classes",
    compute=macro_f1,
    undefined=NO_ROWS,
)
_table(
    id="weighted_f1",
    title=msg("F1, weighted by class size"),
    purpose="mean of F1 over classes, weighted by their size",
    compute=weighted_f1,
    undefined=NO_ROWS,
)
_table(
    id="macro_precision",
    title=msg("Precision, mean over classes"),
    purpose="mean precision over the classes that were predicted",
    compute=macro_precision,
    undefined=NO_ROWS,
    caution=_never_predicted,
)
_table(
    id="macro_recall",
    title=msg("Recall, mean over classes"),
    purpose="mean recall over the classes that occur",
    compute=macro_recall,
    undefined=NO_ROWS,
    caution=_never_seen,
)
_rate(
    id="selection_rate",
    title=msg("Selection rate"),
    purpose="share of rows predicted positive",
    rate=_selected,
    undefined=NO_ROWS,
    higher_is_better=None,
    needs_labels=False,
)
_rate(
    id="base_rate",
    title=msg("Base rate"),
    purpose="share of rows whose label is positive",
    rate=_base,
    undefined=NO_ROWS,
    higher_is_better=None,
)
_rate(
    id="fpr",
    title=msg("False positive rate"),
    purpose="share of negatives predicted positive",
    rate=_given_true(0, 1),
    undefined=NO_NEGATIVES,
    higher_is_better=False,
)
_rate(
    id="fnr",
    title=msg("False negative rate"),
    purpose="share of positives predicted negative",
    rate=_given_true(1, 0),
    undefined=NO_POSITIVES,
    higher_is_better=False,
)
_rate(
    id="npv",
    title=msg("Negative predictive value"),
    purpose="share of predicted negatives that are negative",
    rate=_given_predicted(0, 0),
    undefined=NO_REJECTED,
    higher_is_better=True,
)
_rate(
    id="false_discovery_rate",
    title=msg("False discovery rate"),
    purpose="share of predicted positives that are negative",
    rate=_given_predicted(1, 0),
    undefined=NO_SELECTED,
    higher_is_better=False,
)
_rate(
    id="false_omission_rate",
    title=msg("False omission rate"),
    purpose="share of predicted negatives that are positive",
    rate=_given_predicted(0, 1),
    undefined=NO_REJECTED,
    higher_is_better=False,
)
METRICS.add(
    Metric(
        id="fn_fp_ratio",
        title=msg("False negatives per false positive"),
        purpose="false negatives for each false positive: which error the model makes",
        tasks=("binary",),
        surface=("label",),
        family="counts",
        higher_is_better=None,
        range=(0.0, float("inf")),
        undefined=msg("there are no false positives"),
        format="num",
        from_counts=misses_per_alarm,
        odds=_misses_among_errors,
        references=("R. Berk et al. (2021), Sociol. Methods Res. 50:3",),
    )
)


#: What accuracy lacks to 1. Not in the registry: every list of metrics would tell the same thing twice.
ERROR_RATE = Metric(
    id="error_rate",
    purpose="share of rows decided wrong",
    title=msg("Error rate"),
    tasks=CLASSES,
    surface=("label",),
    family="counts",
    higher_is_better=False,
    range=(0.0, 1.0),
    undefined=NO_ROWS,
    from_counts=lambda C: ratio(*_errors(C)),
    rate=_errors,
    of_margins=True,
)
