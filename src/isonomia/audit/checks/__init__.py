"""The checks, one file each; importing this room puts them into the registry, in the order a report shows them."""

from isonomia.audit.checks import representation  # noqa: I001  the order of a report
from isonomia.audit.checks import missingness
from isonomia.audit.checks import label_bias
from isonomia.audit.checks import duplicates
from isonomia.audit.checks import proxies
from isonomia.audit.checks import performance
from isonomia.audit.checks import group_fairness
from isonomia.audit.checks import fairness_suite
from isonomia.audit.checks import equivalence
from isonomia.audit.checks import incompatibility
from isonomia.audit.checks import calibration
from isonomia.audit.checks import group_calibration
from isonomia.audit.checks import consistency
from isonomia.audit.checks import awareness
from isonomia.audit.checks import entropy
from isonomia.audit.checks import counterfactual
from isonomia.audit.checks import pairs
from isonomia.audit.checks import over_time
from isonomia.audit.checks import weak_spots
from isonomia.audit.checks import hidden_subgroups
from isonomia.audit.checks import overfit
from isonomia.audit.checks import failure_modes
from isonomia.audit.checks import subgroup_diagnostics
from isonomia.audit.checks import threshold_sweep
from isonomia.audit.checks import metric_disagreement
from isonomia.audit.checks import scenarios
from isonomia.audit.checks import perturb
from isonomia.audit.checks import sensitivity
from isonomia.audit.checks import local_robustness
from isonomia.audit.checks import conformal
from isonomia.audit.checks import drift

__all__ = [
    "awareness",
    "calibration",
    "conformal",
    "consistency",
    "counterfactual",
    "drift",
    "duplicates",
    "entropy",
    "equivalence",
    "failure_modes",
    "fairness_suite",
    "group_calibration",
    "group_fairness",
    "hidden_subgroups",
    "incompatibility",
    "label_bias",
    "metric_disagreement",
    "local_robustness",
    "missingness",
    "over_time",
    "overfit",
    "pairs",
    "performance",
    "perturb",
    "proxies",
    "representation",
    "scenarios",
    "sensitivity",
    "subgroup_diagnostics",
    "threshold_sweep",
    "weak_spots",
]
