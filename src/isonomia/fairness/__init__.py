"""Is it even-handed: measures between groups of people."""

from isonomia.fairness.criteria import (
    Criterion,
    criterion,
    demographic_parity,
    disparate_impact,
    equal_opportunity,
    equalized_odds,
    predictive_parity,
)
from isonomia.fairness.group_metrics import GroupMetrics, group_metrics, measure_groups
from isonomia.fairness.groups import Group, Groups, dataset_attributes, form_groups, read_attributes

__all__ = [
    "Criterion",
    "Group",
    "GroupMetrics",
    "Groups",
    "criterion",
    "dataset_attributes",
    "demographic_parity",
    "disparate_impact",
    "equal_opportunity",
    "equalized_odds",
    "form_groups",
    "group_metrics",
    "measure_groups",
    "predictive_parity",
    "read_attributes",
]
