"""How good the model is overall: every metric that applies, with its interval."""

from __future__ import annotations

from isonomia.audit.check_registry import check
from isonomia.audit.measurements import measured_all
from isonomia.evidence import Column, Estimate, Finding, Picture, Result, Table
from isonomia.languages import msg
from isonomia.metrics import METRICS, confusion
from isonomia.subject import Subject


@check(
    "performance",
    counted=True,
    order=60,
    title=msg("Performance"),
    question=msg("How good are the predictions overall?"),
    purpose="every metric that applies to the task, with its interval",
    within="quick",
)
def performance(subject: Subject) -> Result:
    """All metrics of the task, and the confusion table of a classification."""
    surface, figures = subject.surface, measured_all(subject)
    directed = {name: figure for name, figure in figures.items() if METRICS[name].higher_is_better is not None}
    tables = {"metrics": _metric_table(directed, subject)}
    pictures: tuple[Picture, ...] = ()
    if surface.label is not None and len(surface.classes) <= 20:
        tables["confusion"] = _confusion_table(subject)
        pictures = (
            Picture(
                "confusion",
                "confusion",
                msg("Predicted and true"),
                {"actual": "true", "predicted": "predicted", "count": "n"},
            ),
        )
    titles = {name: METRICS[name].title for name in directed}
    formats = {name: METRICS[name].format for name in directed}
    found = _findings(subject, directed)
    return Result("performance", msg("Performance"), tables, directed, found, pictures, titles=titles, formats=formats)


def _metric_table(figures: dict[str, Estimate], subject: Subject) -> Table:
    directions = {"higher": msg("higher is better"), "lower": msg("lower is better"), "none": msg("descriptive")}
    return Table(
        (
            Column("metric", [METRICS[name].title for name in figures], title=msg("metric")),
            Column("value", format="num4", title=msg("value")).filled(list(figures.values())),
            Column("direction", [directions[METRICS[name].direction] for name in figures], title=msg("direction")),
        ),
        msg("Metrics over all rows"),
        subject.backend,
    )


def _confusion_table(subject: Subject) -> Table:
    surface = subject.surface
    assert surface.label is not None
    table = confusion(subject.truth, surface.label, len(surface.classes), subject.weights, subject.counts)
    names = [str(label) for label in surface.classes]
    return Table(
        (
            Column("true", [name for name in names for _ in names], title=msg("true")),
            Column("predicted", [name for _ in names for name in names], title=msg("predicted")),
            Column("n", table.ravel(), format="int", title=msg("rows")),
        ),
        msg("Confusion table"),
        subject.backend,
    )


def _findings(subject: Subject, figures: dict[str, Estimate]) -> tuple[Finding, ...]:
    """A model that is no better than always saying the same is reported."""
    n = len(subject)
    balanced = figures.get("balanced_accuracy")
    if balanced is not None and balanced.low is not None and subject.task != "regression":
        chance = 1 / len(subject.surface.classes)
        if balanced.low <= chance:
            return (
                Finding(
                    "performance.no_better_than_chance",
                    "warning",
                    msg(
                        "Balanced accuracy is {value:pct} ({low:pct} to {high:pct}); guessing gives {chance:pct}.",
                        value=balanced.value,
                        low=balanced.low,
                        high=balanced.high,
                        chance=chance,
                    ),
                    balanced,
                    n=n,
                    threshold=chance,
                    evidence="performance/metrics",
                    remedy="check_labels_and_features",
                ),
            )
    r2 = figures.get("r2")
    if r2 is not None and r2.low is not None and r2.low <= 0:
        return (
            Finding(
                "performance.no_better_than_chance",
                "warning",
                msg(
                    "R2 is {value:num} ({low:num} to {high:num}): no better than always predicting the mean.",
                    value=r2.value,
                    low=r2.low,
                    high=r2.high,
                ),
                r2,
                n=n,
                threshold=0.0,
                evidence="performance/metrics",
            ),
        )
    return ()
