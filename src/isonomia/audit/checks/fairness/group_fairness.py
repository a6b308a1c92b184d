"""Are groups treated alike: rates of every group and intersection, and the gaps between them."""

from __future__ import annotations

import numpy as np

from isonomia.audit.check_registry import check
from isonomia.audit.checks.fairness._gap_findings import gap_findings
from isonomia.audit.measurements import GROUP_METRICS
from isonomia.counting import Codes, tally
from isonomia.errors import NotApplicable
from isonomia.evidence import THRESHOLDS, Column, Picture, Result, Table
from isonomia.fairness import GroupMetrics, condition
from isonomia.fairness.groups.measured_groups import measured_groups
from isonomia.languages import Message, msg
from isonomia.metrics import METRICS
from isonomia.parameters import Boolean, Parameter
from isonomia.subject import Subject


@check(
    "group_fairness",
    counted=True,
    order=70,
    family="people",
    title=msg("Group fairness"),
    question=msg("Are groups and their intersections treated equally?"),
    purpose="rates or means of every group and intersection, their gaps, tests and intervals",
    within="quick",
    parameters=(Parameter("intersections", Boolean(), True, "whether intersections of attributes are groups too"),),
)
def group_fairness(subject: Subject, *, intersections: bool) -> Result:
    """Metrics of every group and intersection, compared with the reference."""
    subject.needs_attributes()
    if subject.task != "regression" and subject.surface.label is None:
        raise NotApplicable(msg("there are scores but no decisions; pass a prediction column or a threshold"))
    names = [
        name
        for name in GROUP_METRICS[subject.task]
        if subject.outcome.truth is not None or not METRICS[name].needs_labels
    ]
    result = measured_groups(subject, names, "all" if intersections else "each")
    tables = result.named_tables()
    pictures = _pictures(result, subject)
    if _has_confusion(subject):
        tables["confusion"] = _confusion(subject)
        options = {"actual": "true", "predicted": "predicted", "count": "n", "facet": "group"}
        pictures += (Picture("confusion", "confusion", msg("Predicted and true, by group"), options),)
    return Result(
        "group_fairness",
        msg("Group fairness"),
        tables,
        dict(result.overall),
        gap_findings(result, subject),
        pictures,
        (*result.notes, *_notes(subject)),
    )


def _notes(subject: Subject) -> tuple[Message, ...]:
    sign = msg("Differences are group minus reference: a negative value means that the group's figure is lower.")
    found = (
        msg(
            "A gap of at least {means:pct} of the predictions' standard deviation (errors: {errors:pct} of the "
            "reference's error) is a finding if it is significant after correction; smaller gaps are in the table.",
            means=THRESHOLDS["mean_gap"].reported,
            errors=THRESHOLDS["error_gap"].reported,
        )
        if subject.task == "regression"
        else msg(
            "A gap of at least {gap:points} points is a finding if it is significant after correction; smaller gaps "
            "are in the table.",
            gap=THRESHOLDS["rate_gap"].reported,
        )
    )
    detectable = msg(
        "Detectable gaps are those found in 80% of the cases at the corrected level of the run, with groups of these "
        "sizes."
    )
    return sign, found, detectable


#: With more classes than this, a table per group is too large to read.
_MOST_CLASSES = 8


def _has_confusion(subject: Subject) -> bool:
    surface = subject.surface
    return surface.label is not None and subject.outcome.truth is not None and len(surface.classes) <= _MOST_CLASSES


_CONFUSION = (
    Column("group", title=msg("group")),
    Column("true", title=msg("true")),
    Column("predicted", title=msg("predicted")),
    Column("n", format="int", title=msg("rows")),
)


def _confusion(subject: Subject) -> Table:
    """How many of each group were predicted what, by what was true."""
    surface, truth = subject.surface, subject.truth
    assert surface.label is not None
    codes = tuple(range(len(surface.classes)))
    names = [str(label) for label in surface.classes]
    rows = []
    for column in subject.attributes:
        axes = [column, Codes("true", truth, codes), Codes("predicted", surface.label, codes)]
        counts = tally(axes, weights=subject.weights, counts=subject.counts).w
        for index in np.ndindex(counts.shape):
            group = condition(column.name, column.texts[index[0]])
            cell = {"group": group, "true": names[index[1]], "predicted": names[index[2]], "n": float(counts[index])}
            rows.append(cell)
    return Table.from_rows(rows, _CONFUSION, title=msg("Confusion table by group"), backend=subject.backend)


def _pictures(result: GroupMetrics, subject: Subject) -> tuple[Picture, ...]:
    metrics = [name for name in result.measured if name.split("[")[0] not in ("npv", "mean_label")][:6]
    attributes = list(result.groups.names) if result.groups is not None else []
    alone = [(name,) for name in attributes]
    pictures = [
        Picture(
            "forest",
            "by_group",
            msg("Groups side by side, with intervals"),
            {"labels": "group", "value": metrics, "color": "by", "flag": "small", "where": {"by": alone}},
        )
    ]
    first = metrics[0]
    for index, x in enumerate(attributes):
        for y in attributes[index + 1 :]:
            pictures.append(
                Picture(
                    "heatmap",
                    "by_group",
                    msg("{metric} at the intersection of two attributes", metric=result.measured[first].metric.title),
                    {"x": x, "y": y, "value": first, "flag": "small", "where": {"by": [(x, y)]}},
                )
            )
    if subject.task == "binary" and subject.outcome.truth is not None:
        gaps = [name for name in ("selection_rate", "tpr", "fpr") if name in result.measured]
        pictures.append(
            Picture(
                "forest",
                "comparisons",
                msg("Gaps to the reference, with intervals"),
                {
                    "labels": "group",
                    "value": "difference",
                    "facet": "metric",
                    "where": {"metric": gaps, "by": alone},
                    "names": {name: result.measured[name].metric.title for name in gaps},
                    "reference": 0.0,
                },
            )
        )
    return tuple(pictures)
