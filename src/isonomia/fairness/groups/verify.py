"""A second opinion: the same values through Fairlearn's `MetricFrame`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import require
from isonomia.evidence import Column, Estimate, Table
from isonomia.languages import msg
from isonomia.subject import Outcome

if TYPE_CHECKING:
    from isonomia.fairness.groups.group_metrics import GroupMetrics

Function = Callable[..., float]


@dataclass(frozen=True)
class Agreement:
    """How well a second library's values agree with ours."""

    table: Table
    values: Mapping[str, Any]


def verify_with_fairlearn(
    result: GroupMetrics, outcome: Outcome, weights: NDArray[np.float64] | None = None
) -> Agreement:
    """Recompute every count metric and mean of each group with Fairlearn, and compare.

    Metrics that Fairlearn or scikit-learn has no counterpart for are listed as not verified. Where ours is undefined
    (a group without positives has no true positive rate) Fairlearn gives a 0; those cells are counted apart.
    """
    fairlearn = require("fairlearn.metrics", extra="mitigation", purpose="verify='fairlearn'")
    groups = result.groups
    assert groups is not None
    rows: list[dict[str, Any]] = []
    for name, part in result.measured.items():
        function = _counterpart(part.metric.id, outcome, fairlearn)
        if function is None or part.metric.base or part.metric.family == "functions":
            rows.append(_row(name, msg("no counterpart in Fairlearn")))
            continue
        theirs = _per_group(function, outcome, weights, groups, fairlearn)
        ours = part.value[: len(groups.groups)]
        defined = ~np.isnan(ours)
        gap = float(np.max(np.abs(ours[defined] - theirs[defined]))) if defined.any() else None
        rows.append(_row(name, None, int(defined.sum()), int((~defined).sum()), gap))
    columns = {key: [row[key] for row in rows] for key in rows[0]}
    gaps = [row["largest_gap"] for row in rows if row["largest_gap"] is not None]
    largest = Estimate(max(gaps), n=len(gaps)) if gaps else Estimate.missing(msg("no metric has a counterpart"))
    return Agreement(
        Table.of(columns, [Column("largest_gap", format="num")], title=msg("Second opinion by Fairlearn")),
        {"fairlearn_largest_gap": largest, "fairlearn_agrees": bool(gaps) and max(gaps) < 1e-9},
    )


def _row(name: str, note: Any, compared: int = 0, undefined: int = 0, gap: float | None = None) -> dict[str, Any]:
    return {
        "metric": name,
        "groups_compared": compared,
        "groups_undefined": undefined,
        "largest_gap": gap,
        "note": note,
    }


def _per_group(
    function: Function, outcome: Outcome, weights: NDArray[np.float64] | None, groups: Any, fairlearn: Any
) -> NDArray[np.float64]:
    import pandas as pd

    surface = outcome.surface
    predicted = surface.label if surface.continuous is None else surface.continuous
    assert predicted is not None
    true = predicted if outcome.truth is None else outcome.truth
    values = np.full(len(groups.groups), np.nan)
    for way in {group.by for group in groups.groups}:
        columns = [*groups.control, *(column for column in groups.columns if column.name in way)]
        frame = pd.DataFrame({column.name: column.codes for column in columns})
        params = {} if weights is None else {"sample_weight": weights}
        measured = fairlearn.MetricFrame(
            metrics=function, y_true=true, y_pred=predicted, sensitive_features=frame, sample_params=params
        ).by_group
        for index, group in enumerate(groups.groups):
            if group.by != way:
                continue
            values_of = {**group.control, **group.attributes}
            key = tuple(_code(column, values_of[column.name]) for column in columns)
            values[index] = measured.loc[key if len(key) > 1 else key[0]]
    return values


def _code(column: Any, value: Any) -> int:
    labels = column.labels if value in column.labels else column.texts
    return int(labels.index(value))


def _counterpart(metric: str, outcome: Outcome, fairlearn: Any) -> Function | None:
    from sklearn import metrics as sk

    def mean_of(_: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
        return float(np.average(y_pred, weights=sample_weight))

    table: dict[str, Function] = {
        "selection_rate": fairlearn.selection_rate,
        "tpr": fairlearn.true_positive_rate,
        "fpr": fairlearn.false_positive_rate,
        "tnr": fairlearn.true_negative_rate,
        "fnr": fairlearn.false_negative_rate,
        "accuracy": sk.accuracy_score,
        "mae": sk.mean_absolute_error,
        "mse": sk.mean_squared_error,
        "rmse": sk.root_mean_squared_error,
        "mean_prediction": mean_of,
    }
    if outcome.task == "binary":

        def ppv(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
            return float(sk.precision_score(y_true, y_pred, sample_weight=sample_weight, zero_division=0))

        def f1(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
            return float(sk.f1_score(y_true, y_pred, sample_weight=sample_weight, zero_division=0))

        table |= {"ppv": ppv, "precision": ppv, "recall": fairlearn.true_positive_rate, "f1": f1}
    return table.get(metric)
