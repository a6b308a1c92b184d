"""The words that people bring from scikit-learn, from Fairlearn and from the command line: what they are called here.

An option by another name is taken where its own name is one of the function's. The name of a function or an attribute
that is something else here is answered with what to write instead.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from isonomia.errors import SpecError, UnknownName, did_you_mean

#: Another name of an option: the options it may stand for, the first that a function has.
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "sample_weight": ("weights", "weight"),
    "control_features": ("control",),
    "pos_label": ("positive",),
    "random_state": ("seed",),
    "constraints": ("criterion", "goal"),
    "allow_attribute": ("attribute_at_decision",),
    "allow_random": ("randomised",),
}

_ROWS = "(y_true, y_pred, sensitive_features=...)"
_GAPS = {
    "demographic_parity": "demographic_parity",
    "equal_opportunity": "equal_opportunity",
    "equalized_odds": "equalized_odds",
    "true_positive_rate": "equal_opportunity",
    "false_positive_rate": "predictive_equality",
    "accuracy_score": "overall_accuracy_equality",
}
_RATES = {
    "selection_rate": "selection_rate",
    "true_positive_rate": "tpr",
    "false_positive_rate": "fpr",
    "true_negative_rate": "tnr",
    "false_negative_rate": "fnr",
    "mean_prediction": "mean_prediction",
    "accuracy_score": "accuracy",
    "balanced_accuracy_score": "balanced_accuracy",
    "precision_score": "precision",
    "recall_score": "recall",
    "f1_score": "f1",
    "roc_auc_score": "auc",
    "log_loss": "log_loss",
    "mean_absolute_error": "mae",
    "mean_squared_error": "mse",
}
_EVALUATED = {name: f"metrics.evaluate('{metric}', y_true, y_pred)" for name, metric in _RATES.items()}
_PRINTED = {"show": "print(it), or to_html()", "display": "print(it), or to_html()"}

#: What is something else here, by the room or the class that it is looked for in.
INSTEAD: Mapping[str, Mapping[str, str]] = {
    "isonomia.fairness": {
        "MetricFrame": f"group_metrics{_ROWS}",
        **{f"{name}_difference": f"{here}{_ROWS}.difference" for name, here in _GAPS.items()},
        **{f"{name}_ratio": f"{here}{_ROWS}.ratio" for name, here in _GAPS.items()},
        **_EVALUATED,
        "metrics": "isonomia.metrics",
    },
    "isonomia.metrics": {
        "MetricFrame": f"fairness.group_metrics{_ROWS}",
        **{f"{name}_difference": f"fairness.{here}{_ROWS}.difference" for name, here in _GAPS.items()},
        **{f"{name}_ratio": f"fairness.{here}{_ROWS}.ratio" for name, here in _GAPS.items()},
        **_EVALUATED,
    },
    "isonomia.mitigation": {
        "ThresholdOptimizer": "Thresholds(estimator, criterion=...)",
        "ExponentiatedGradient": "Reduce(estimator, criterion=...)",
        "GridSearch": "Reduce(estimator, criterion=...)",
        "CorrelationRemover": "Decorrelate()",
    },
    "Result": {
        **_PRINTED,
        "summary": "print(it), or values",
        "differences": "disparities, or difference()",
        "ratios": "disparities, or ratio()",
        "to_csv": "save('it.csv'), or to_frame().to_csv()",
        "to_pandas": "to_frame(backend='pandas')",
        "to_polars": "to_frame(backend='polars')",
    },
    "Report": {
        **_PRINTED,
        "summary": "print(it), to_html(extent='first_page') or verdict",
        "results": "report['group_fairness'], for each of keys()",
        "sections": "document.sections",
        "to_csv": "to_frame('findings').to_csv()",
    },
}


def renamed(given: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """The options with those by another name under their own, where `known` has it; others stay as they are.

    >>> renamed({"sample_weight": [1, 2], "seed": 3}, ["weights", "seed"])
    {'weights': [1, 2], 'seed': 3}
    """
    found: dict[str, Any] = {}
    for name, value in given.items():
        own = name if name in known else next((one for one in OPTIONS.get(name, ()) if one in known), name)
        if own in found or (own != name and own in given):
            raise SpecError(f"`{name}` is another name of `{own}`; give only one of them.")
        found[own] = value
    return found


def unknown_name(owner: str, called: str, name: str, known: Collection[str]) -> UnknownName:
    """The error about a name that an owner does not have: what to write instead, or what is similar.

    >>> print(unknown_name("isonomia.fairness", "isonomia.fairness", "MetricFrame", []))
    isonomia.fairness has no 'MetricFrame'. Instead: group_metrics(y_true, y_pred, sensitive_features=...)
    """
    instead = INSTEAD.get(owner, {}).get(name)
    if instead is not None:
        return UnknownName(f"{called} has no {name!r}. Instead: {instead}", name=name)
    return UnknownName(f"{called} has no {name!r}.{did_you_mean(name, known)}", name=name)


def face(module: str, names: Collection[str]) -> tuple[Callable[[], list[str]], Callable[[str], Any]]:
    """What a room shows of itself: `__dir__` with its public names, and `__getattr__` with an answer to any other."""
    shown = sorted(names)

    def listed() -> list[str]:
        return shown

    def missing(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        raise unknown_name(module, module, name, shown)

    return listed, missing
