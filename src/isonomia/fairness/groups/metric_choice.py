"""Which metrics a comparison of groups is about."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from isonomia.errors import SpecError
from isonomia.languages import Message
from isonomia.metrics import METRICS, Metric, of_class, own_metric
from isonomia.subject import Outcome

#: One-vs-rest metrics are spelt out for at most this many classes unless they are requested by name.
MAX_SPELT_CLASSES = 10


#: What `metrics` may be: names, entries of the registry and functions, in a list or by names of their own.
MetricsGiven = Sequence[Any] | Mapping[str, Any] | Callable[..., Any]


def choose_metrics(
    given: MetricsGiven | None, outcome: Outcome, favourable: Collection[Any] = ()
) -> tuple[Metric, ...]:
    """The requested metrics (or the usual ones of the task), one against the rest where there are several classes.

    Where some classes are `favourable`, these come first.
    """
    surface = outcome.surface
    classes = list(enumerate(surface.classes))
    if favourable:
        classes.sort(key=lambda one: one[1] not in favourable)
    names = _usual(outcome) if given is None else _wanted(given)
    chosen: list[Metric] = []
    for metric in names:
        name = metric.id
        if outcome.truth is None and metric.needs_labels:
            raise SpecError(
                f"The metric '{name}' needs true labels; give y_true, or ask for metrics of predictions alone."
            )
        if not set(metric.surface) & set(surface.kinds) and surface.task in metric.tasks:
            needed = " or ".join(_GIVEN_AS[kind] for kind in metric.surface)
            raise SpecError(f"The metric '{name}' needs {needed}; there is only {', '.join(surface.kinds)}.")
        if surface.task in metric.tasks:
            chosen.append(metric)
        elif surface.task == "multiclass" and metric.of_decisions and "binary" in metric.tasks:
            if given is None and len(surface.classes) > MAX_SPELT_CLASSES:
                continue
            chosen += [
                of_class(metric, code, label, favourable=label in favourable if favourable else None)
                for code, label in classes
            ]
        else:
            raise SpecError(
                f"The metric '{name}' is for {' or '.join(metric.tasks)} tasks; this task is {surface.task}. "
                f"Available for it: {', '.join(m.id for m in METRICS if surface.task in m.tasks)}."
            )
    if not chosen:
        raise SpecError("`metrics` must name at least one metric.")
    return tuple(chosen)


_GIVEN_AS = {
    "label": "decisions (y_pred)",
    "probability": "probabilities (y_score)",
    "score": "scores (y_score)",
    "continuous": "predicted numbers (y_pred)",
}


def _wanted(given: MetricsGiven) -> list[Metric]:
    """The metrics that names, entries and functions stand for."""
    if isinstance(given, str):
        raise SpecError(f"`metrics` must be a list of metric names; got the text {given!r}.")
    if isinstance(given, Metric) or callable(given):
        given = [given]
    named = given.items() if isinstance(given, Mapping) else ((None, one) for one in given)
    found = [_metric(name, one) for name, one in named]
    twice = [one.id for one in found if sum(one.id == other.id for other in found) > 1]
    if twice:
        raise SpecError(f"`metrics` names '{twice[0]}' more than once. Give functions names of their own in a mapping.")
    return found


def _metric(name: str | None, one: Any) -> Metric:
    if isinstance(one, str):
        return METRICS[one] if name is None else replace(METRICS[one], id=name, title=Message.literal(name))
    return one if isinstance(one, Metric) else own_metric(one, name)


def _usual(outcome: Outcome) -> list[Metric]:
    return [METRICS[name] for name in _usual_names(outcome)]


def _usual_names(outcome: Outcome) -> list[str]:
    labelled = outcome.truth is not None
    if outcome.task == "regression":
        return ["mean_prediction", "mean_error", "mae", "rmse"] if labelled else ["mean_prediction"]
    if outcome.task == "multiclass":
        return ["accuracy", "macro_f1", "selection_rate", "tpr"] if labelled else ["selection_rate"]
    return ["selection_rate", "tpr", "fpr", "ppv", "accuracy"] if labelled else ["selection_rate"]
