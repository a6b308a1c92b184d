"""What checks and the verdict both measure, once per subject."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from isonomia.evidence import Estimate
from isonomia.fairness import GroupMetrics, group_metrics
from isonomia.metrics import METRICS, Rows, evaluate_all, with_bin_bounds
from isonomia.subject import Subject

Ways = Literal["each", "all"]

#: The metrics by group that the check of group fairness shows and tests, by task.
GROUP_METRICS = {
    "binary": ("selection_rate", "base_rate", "tpr", "fpr", "ppv", "npv", "accuracy"),
    "multiclass": ("accuracy", "macro_f1", "selection_rate", "tpr"),
    "regression": ("mean_prediction", "mean_label", "mean_error", "mae", "rmse"),
}


def measured_groups(subject: Subject, metrics: Sequence[str], by: Ways) -> GroupMetrics:
    """Metrics of the groups of each attribute ("all": of intersections too); what was measured before is used again."""
    known: dict[tuple[frozenset[str], Ways], GroupMetrics] = subject.shared("groups", dict)
    ids = frozenset(METRICS[name].id for name in metrics)
    for (had, ways), result in known.items():
        if ids <= had and ways in (by, "all"):
            return result
    result = group_metrics(subject, metrics=metrics, by=by)
    known[ids, by] = result
    return result


def measured_all(subject: Subject) -> dict[str, Estimate]:
    """Every metric that applies, over all rows; where scores were counted in bins, with how far off they can be."""
    figures = evaluate_all(
        Rows.of(subject.needs_outcomes()),
        level=subject.settings.level,
        n_boot=subject.settings.n_boot,
        seed=subject.settings.seed,
    )
    edges = None if subject.dataset is None else subject.dataset.score_edges
    return figures if edges is None else with_bin_bounds(figures, Rows.of(subject), edges)
