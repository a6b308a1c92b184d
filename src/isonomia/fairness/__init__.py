"""Is it even-handed: measures between groups of people."""

from isonomia.fairness.awareness import Awareness, awareness, awareness_of
from isonomia.fairness.causal import CausalGraph
from isonomia.fairness.change_between import change_between
from isonomia.fairness.conditional import conditional_statistical_parity
from isonomia.fairness.consistency import Consistency, consistency, consistency_of
from isonomia.fairness.counterfactual import Counterfactual, counterfactual
from isonomia.fairness.criteria import Criterion, criterion
from isonomia.fairness.distributions import DistributionParity, distribution_parity, measure_distributions
from isonomia.fairness.duplicates import Duplicates, duplicates
from isonomia.fairness.encoding import encode_people
from isonomia.fairness.entropy import Entropy, entropy_of, generalized_entropy
from isonomia.fairness.equivalence import Equivalence, equivalence, equivalence_of, measure_equivalence
from isonomia.fairness.group_calibration import GroupCalibration, calibration_of, group_calibration
from isonomia.fairness.group_metrics import GroupMetrics, group_metrics, measure_groups
from isonomia.fairness.groups import Group, Groups, condition, dataset_attributes, form_groups, read_attributes
from isonomia.fairness.guidance import USES, Guide, Use, guide
from isonomia.fairness.homogeneity import homogeneity
from isonomia.fairness.incompatibility import Incompatibility, incompatibility, measure_incompatibility
from isonomia.fairness.label_bias import LabelBias, label_bias
from isonomia.fairness.missingness import missingness
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
from isonomia.fairness.over_time import OverTime, follow, over_time
from isonomia.fairness.proxies import Proxies, proxies
from isonomia.fairness.references import against_references
from isonomia.fairness.representation import Representation, represent, representation
from isonomia.fairness.suite import Suite, measure_suite, suite

__all__ = [
    "against_references",
    "Awareness",
    "awareness",
    "awareness_of",
    "calibration_of",
    "CausalGraph",
    "change_between",
    "conditional_statistical_parity",
    "Consistency",
    "consistency",
    "consistency_of",
    "Counterfactual",
    "counterfactual",
    "Criterion",
    "condition",
    "criterion",
    "dataset_attributes",
    "demographic_parity",
    "disparate_impact",
    "distribution_parity",
    "DistributionParity",
    "Duplicates",
    "duplicates",
    "encode_people",
    "Entropy",
    "entropy_of",
    "equal_opportunity",
    "equalized_odds",
    "Equivalence",
    "equivalence",
    "equivalence_of",
    "follow",
    "form_groups",
    "generalized_entropy",
    "Group",
    "group_calibration",
    "group_metrics",
    "GroupCalibration",
    "GroupMetrics",
    "Groups",
    "Guide",
    "guide",
    "homogeneity",
    "Incompatibility",
    "incompatibility",
    "label_bias",
    "LabelBias",
    "measure_distributions",
    "measure_equivalence",
    "measure_groups",
    "measure_incompatibility",
    "measure_suite",
    "missingness",
    "negative_predictive_parity",
    "over_time",
    "overall_accuracy_equality",
    "OverTime",
    "predictive_equality",
    "predictive_parity",
    "Proxies",
    "proxies",
    "read_attributes",
    "represent",
    "Representation",
    "representation",
    "Suite",
    "suite",
    "treatment_equality",
    "Use",
    "USES",
]
