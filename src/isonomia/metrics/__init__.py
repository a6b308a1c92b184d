"""How good: a registry of metrics for every task, their intervals, calibration."""

from isonomia.metrics import means, ranks  # noqa: F401  they fill the registry
from isonomia.metrics.applicable import check_applicable
from isonomia.metrics.counts import fold_classes, one_against_rest
from isonomia.metrics.evaluate import confusion, evaluate, evaluate_all
from isonomia.metrics.registry import METRICS, Metric

__all__ = [
    "METRICS",
    "Metric",
    "check_applicable",
    "confusion",
    "evaluate",
    "evaluate_all",
    "fold_classes",
    "one_against_rest",
]
