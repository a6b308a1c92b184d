"""Is it even-handed: measures between groups of people."""

from typing import TYPE_CHECKING

from isonomia.fairness.criteria.criteria_functions import (
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
from isonomia.fairness.criteria.criterion import Criterion, criterion
from isonomia.fairness.criteria.guidance import USES, Guide, Use, guide
from isonomia.fairness.criteria.incompatibility import Incompatibility, incompatibility
from isonomia.fairness.groups.conditional import conditional_statistical_parity
from isonomia.fairness.groups.distributions import DistributionParity, distribution_parity
from isonomia.fairness.groups.equivalence import Equivalence, equivalence
from isonomia.fairness.groups.group_calibration import GroupCalibration, group_calibration
from isonomia.fairness.groups.group_metrics import GroupMetrics, group_metrics
from isonomia.fairness.groups.grouping import Group, Groups, condition, form_groups
from isonomia.fairness.groups.homogeneity import homogeneity
from isonomia.fairness.groups.references import against_references
from isonomia.fairness.groups.suite import Suite, suite
from isonomia.fairness.labels.label_bias import LabelBias, label_bias
from isonomia.fairness.labels.missingness import missingness
from isonomia.fairness.labels.proxies import Proxies, proxies
from isonomia.fairness.labels.representation import Representation, representation
from isonomia.fairness.people.awareness import Awareness, awareness
from isonomia.fairness.people.causal_graph import CausalGraph
from isonomia.fairness.people.consistency import Consistency, consistency
from isonomia.fairness.people.counterfactual import Counterfactual, counterfactual
from isonomia.fairness.people.duplicates import Duplicates, duplicates
from isonomia.fairness.people.encoding import encode_people
from isonomia.fairness.people.entropy import Entropy, generalized_entropy
from isonomia.fairness.time.change_between import change_between
from isonomia.fairness.time.over_time import OverTime, over_time
from isonomia.parameters import face

__all__ = [
    "against_references",
    "Awareness",
    "awareness",
    "CausalGraph",
    "change_between",
    "conditional_statistical_parity",
    "Consistency",
    "consistency",
    "Counterfactual",
    "counterfactual",
    "Criterion",
    "condition",
    "criterion",
    "demographic_parity",
    "disparate_impact",
    "distribution_parity",
    "DistributionParity",
    "Duplicates",
    "duplicates",
    "encode_people",
    "Entropy",
    "equal_opportunity",
    "equalized_odds",
    "Equivalence",
    "equivalence",
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
    "missingness",
    "negative_predictive_parity",
    "over_time",
    "overall_accuracy_equality",
    "OverTime",
    "predictive_equality",
    "predictive_parity",
    "Proxies",
    "proxies",
    "Representation",
    "representation",
    "Suite",
    "suite",
    "treatment_equality",
    "Use",
    "USES",
]

if not TYPE_CHECKING:
    __dir__, __getattr__ = face(__name__, __all__)
