"""How good: a registry of metrics for every task, their intervals, calibration."""

from typing import TYPE_CHECKING

from isonomia.metrics._measure import influence, measure
from isonomia.metrics.applicable import check_applicable
from isonomia.metrics.counts import ERROR_RATE
from isonomia.metrics.evaluation import confusion, evaluate, evaluate_all
from isonomia.metrics.functions import score, table
from isonomia.metrics.measured import Measured
from isonomia.metrics.one_class import of_class, one_vs_rest
from isonomia.metrics.own_functions import as_metric, own_metric
from isonomia.metrics.registry import METRIC_NAME, METRIC_NAMES, METRICS, Metric
from isonomia.metrics.row_sets import RowSets
from isonomia.metrics.row_sums import RowSums
from isonomia.metrics.rows import Rows
from isonomia.metrics.scores.bins import Strategy, expected_calibration_error
from isonomia.metrics.scores.calibration import Reliability, reliability
from isonomia.metrics.scores.expected_error import expected_error, expected_favourable
from isonomia.metrics.scores.score_bins import area_bound, with_bin_bounds
from isonomia.metrics.scores.score_levels import ScoreLevels
from isonomia.metrics.set_sums import SetValues, Sums
from isonomia.metrics.thresholds import ThresholdSets
from isonomia.metrics.trials import TrialMeasure, TrialSums
from isonomia.parameters import face

__all__ = [
    "ERROR_RATE",
    "METRICS",
    "METRIC_NAME",
    "METRIC_NAMES",
    "Measured",
    "Metric",
    "Reliability",
    "RowSets",
    "RowSums",
    "Rows",
    "ScoreLevels",
    "SetValues",
    "Strategy",
    "Sums",
    "ThresholdSets",
    "TrialMeasure",
    "TrialSums",
    "area_bound",
    "as_metric",
    "check_applicable",
    "confusion",
    "evaluate",
    "evaluate_all",
    "expected_calibration_error",
    "expected_error",
    "expected_favourable",
    "influence",
    "measure",
    "of_class",
    "one_vs_rest",
    "own_metric",
    "reliability",
    "score",
    "table",
    "with_bin_bounds",
]

if not TYPE_CHECKING:
    __dir__, __getattr__ = face(__name__, __all__)
