"""Where and when does it break: weak spots, overfitting by slice, drift, and how far predictions can be trusted."""

from typing import TYPE_CHECKING

from isonomia.counting.cuts import Cut
from isonomia.parameters import face
from isonomia.robustness.conformal_prediction import conformal, conformal_quantile
from isonomia.robustness.perturbation.columns import Columns
from isonomia.robustness.perturbation.local_robustness import LocalRobustness, local_robustness
from isonomia.robustness.perturbation.perturb import perturb
from isonomia.robustness.perturbation.perturbers import PERTURBERS, Perturber, perturb_rows
from isonomia.robustness.shift.distances import Distances, category_distances, numeric_distances
from isonomia.robustness.shift.drift import drift
from isonomia.robustness.slices.failure_modes import failure_modes
from isonomia.robustness.slices.overfit import overfit
from isonomia.robustness.slices.slicing import SLICINGS, Slicing, change_points, learn_cuts
from isonomia.robustness.slices.subgroup_diagnostics import subgroup_diagnostics
from isonomia.robustness.slices.weak_spots import weak_spots
from isonomia.robustness.stress import SCENARIOS, Scenario, Situation, scenario
from isonomia.robustness.stress.dashboard import Dashboard, dashboard
from isonomia.robustness.stress.metric_disagreement import metric_disagreement
from isonomia.robustness.stress.scenario import PLAN
from isonomia.robustness.stress.scenarios import Scenarios, scenarios
from isonomia.robustness.stress.sensitivity import Sensitivity, sensitivity
from isonomia.robustness.stress.threshold_sweep import threshold_sweep

__all__ = [
    "Columns",
    "Cut",
    "Dashboard",
    "Distances",
    "LocalRobustness",
    "PERTURBERS",
    "PLAN",
    "Perturber",
    "SCENARIOS",
    "SLICINGS",
    "Scenario",
    "Scenarios",
    "Sensitivity",
    "Situation",
    "Slicing",
    "category_distances",
    "change_points",
    "conformal",
    "conformal_quantile",
    "dashboard",
    "drift",
    "failure_modes",
    "learn_cuts",
    "metric_disagreement",
    "local_robustness",
    "numeric_distances",
    "overfit",
    "perturb",
    "perturb_rows",
    "scenario",
    "scenarios",
    "sensitivity",
    "subgroup_diagnostics",
    "threshold_sweep",
    "weak_spots",
]

if not TYPE_CHECKING:
    __dir__, __getattr__ = face(__name__, __all__)
