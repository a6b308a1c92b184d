"""Is it even-handed: measures between groups of people."""

from isonomia.fairness.conditional import conditional_statistical_parity
from isonomia.fairness.criteria import Criterion, criterion
from isonomia.fairness.distributions import DistributionParity, distribution_parity, measure_distributions
from isonomia.fairness.equivalence import Equivalence, equivalence, equivalence_of, measure_equivalence
from isonomia.fairness.group_metrics import GroupMetrics, group_metrics, measure_groups
from isonomia.fairness.groups import Group, Groups, dataset_attributes, form_groups, read_attributes
from isonomia.fairness.guidance import USES, Guide, Use, guide
from isonomia.fairness.homogeneity import homogeneity
from isonomia.fairness.incompatibility import Incompatibility, incompatibility, measure_incompatibility
from isonomia.fairness.named import (
    demographic_parity,
    disparate_impact,
    equal_opportunity,
    equalized_odds,
    negative_predictive_parity,
    overall_accuracy_equality,
    predictive_equality,
    predictive_parity,
    treatment_equality,
)
from isonomia.fairness.references import against_references
from isonomia.fairness.suite import Suite, measure_suite, suite

__all__ = [
    "Criterion",
    "DistributionParity",
    "Equivalence",
    "Group",
    "GroupMetrics",
    "Groups",
    "Guide",
    "Incompatibility",
    "Suite",
    "USES",
    "Use",
    "against_references",
    "conditional_statistical_parity",
    "criterion",
    "dataset_attributes",
    "demographic_parity",
    "disparate_impact",
    "distribution_parity",
    "equal_opportunity",
    "equalized_odds",
    "equivalence",
    "equivalence_of",
    "form_groups",
    "group_metrics",
    "guide",
    "homogeneity",
    "incompatibility",
    "measure_distributions",
    "measure_equivalence",
    "measure_groups",
    "measure_incompatibility",
    "measure_suite",
    "negative_predictive_parity",
    "overall_accuracy_equality",
    "predictive_equality",
    "predictive_parity",
    "read_attributes",
    "suite",
    "treatment_equality",
]
