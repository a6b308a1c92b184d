"""Does fairness hold over time?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from isonomia.audit.check_registry import check
from isonomia.audit.checks._people import people_by_name
from isonomia.audit.naming import metric_title
from isonomia.evidence import THRESHOLDS, Estimate, Finding, Result
from isonomia.fairness import OverTime
from isonomia.fairness import over_time as over_time_metrics
from isonomia.languages import Message, People, msg
from isonomia.metrics import METRICS
from isonomia.parameters import parameters_of
from isonomia.subject import Subject

#: Maximum number of points outside their limits that are reported.
MOST_POINTS = 5

_METRICS = {
    "binary": ["selection_rate", "tpr", "fpr", "accuracy"],
    "multiclass": ["accuracy", "macro_f1"],
    "regression": ["mean_prediction", "mean_error", "mae"],
}
#: What can be followed where the true outcomes are not known.
_WITHOUT_TARGET = {"binary": ["selection_rate"], "multiclass": ["selection_rate"], "regression": ["mean_prediction"]}


@check(
    "over_time",
    counted=True,
    order=180,
    family="people",
    title=msg("Fairness over time"),
    question=msg("Is fairness stable over time?"),
    purpose="group metrics and gaps per period, control limits, change points",
    parameters=parameters_of(over_time_metrics),
)
def over_time(subject: Subject, **options: Any) -> Result:
    """Group metrics over the periods of the data's time column."""
    subject.needs_attributes()
    if options["metrics"] is None:
        known = subject.outcome.truth is not None
        metrics = _METRICS[subject.task] if known else _WITHOUT_TARGET[subject.task]
        options["metrics"] = list(metrics)
    n_boot = min(max(subject.settings.n_boot, 300), 500)
    result = over_time_metrics(subject, n_boot=n_boot, **options)
    return replace(result, findings=_findings(result, subject))


def _findings(result: OverTime, subject: Subject) -> tuple[Finding, ...]:
    found = []
    points = 0
    limits = THRESHOLDS["gap_change"]  # of rates; other metrics are reported whenever the change stands
    people = people_by_name(subject)
    for alert in result.alerts:
        facts = {
            "metric": metric_title(alert["metric"]) or alert["metric"],
            "change": abs(alert["change"]),
            "period": alert["period"],
        }
        about: dict[str, Any] = {"who": people.get(alert["group"], {}), "reference": people.get(alert["reference"], {})}
        facts |= {"group": People.of(about["who"]), "reference": People.of(about["reference"])}
        if alert["kind"] == "change of the gap":
            if subject.task != "regression" and abs(alert["change"]) < limits.reported:
                continue
            estimate = Estimate(
                alert["change"],
                alert["change_low"],
                alert["change_high"],
                n=len(subject),
                method="normal",
                level=subject.settings.level,
            )
            message = msg(
                "Since {period}, the gap in {metric:inner} between {group} and {reference} is {after}; before it was "
                "{before}.",
                **facts,
                **{end: _gap(alert["metric"], alert[end]) for end in ("before", "after")},
            )
            found.append(
                Finding(
                    "over_time.change",
                    limits.severity(abs(alert["change"])) if subject.task != "regression" else "warning",
                    message,
                    estimate,
                    n=len(subject),
                    **about,
                    magnitude=abs(alert["change"]) / limits.reported,
                    threshold=limits.reported,
                    p_value=alert["p_value"],
                    test=("over_time", "changes", alert["row"]),
                    evidence="over_time/changes",
                    topic="time",
                    remedy="explain_change",
                )
            )
        elif alert["kind"] == "gap outside its limits" and points < MOST_POINTS:
            points += 1
            message = msg("In {period}, the gap in {metric} for {group} is outside its control limits.", **facts)
            found.append(
                Finding(
                    "over_time.limits",
                    "notice",
                    message,
                    Estimate(alert["change"]),
                    n=len(subject),
                    magnitude=abs(alert["change"]) / limits.reported,
                    evidence="over_time/gaps",
                    **about,
                )
            )
    return tuple(found)


def _gap(metric: str, value: float) -> Message:
    """A gap in the unit of its metric: rates in points."""
    if metric in METRICS and METRICS[metric].format == "pct":
        return msg("{x:points} points", x=value)
    return Message("{x:num}", {"x": value})
