"""How good: a registry of metrics for every task, their intervals, calibration."""

from isonomia.metrics import means, ranks  # noqa: F401  they fill the registry
from isonomia.metrics.applicable import check_applicable
from isonomia.metrics.bins import Strategy, expected_calibration_error
from isonomia.metrics.calibration import Reliability, reliability
from isonomia.metrics.counts import one_vs_rest
from isonomia.metrics.evaluation import (
    confusion,
    evaluate,
    evaluate_all,
    logit_interval,
    smaller_class,
    without_spread,
)
from isonomia.metrics.functions import score, table
from isonomia.metrics.registry import METRIC_NAME, METRIC_NAMES, METRICS, Metric

__all__ = [
    "METRICS",
    "METRIC_NAME",
    "METRIC_NAMES",
    "Metric",
    "Reliability",
    "Strategy",
    "check_applicable",
    "confusion",
    "evaluate",
    "evaluate_all",
    "expected_calibration_error",
    "logit_interval",
    "one_vs_rest",
    "reliability",
    "score",
    "smaller_class",
    "table",
    "without_spread",
]
