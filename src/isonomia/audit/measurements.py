"""What several checks measure."""

from __future__ import annotations

from isonomia.evidence import Estimate
from isonomia.metrics import Rows, evaluate_all, with_bin_bounds
from isonomia.subject import Subject

#: The metrics by group that the check of group fairness shows and tests, by task.
GROUP_METRICS = {
    "binary": ("selection_rate", "base_rate", "tpr", "fpr", "ppv", "npv", "accuracy"),
    "multiclass": ("accuracy", "macro_f1", "selection_rate", "tpr"),
    "regression": ("mean_prediction", "mean_label", "mean_error", "mae", "rmse"),
}


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
