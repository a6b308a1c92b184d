"""Are groups treated alike: rates of every group and intersection, and the gaps between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isonomia.audit.check_registry import check
from isonomia.audit.measurements import GROUP_METRICS, measured_groups
from isonomia.counting import Codes, tally
from isonomia.errors import NotApplicable
from isonomia.evidence import Finding, Picture, Result, Table
from isonomia.fairness import Group, GroupMetrics, condition
from isonomia.languages import Message, msg
from isonomia.metrics import METRICS
from isonomia.parameters import Boolean, Parameter
from isonomia.subject import Subject

#: A gap of a rate this large is reported.
RATE_GAP = 0.1
#: The same for means of a regression (in standard deviations of the predictions) and for errors (relative).
MEAN_GAP, ERROR_GAP = 0.2, 0.25
#: Twice the gap worth reporting is critical.
CRITICAL = 2.0

#: Descriptive, not a decision of the model: never a finding.
_DESCRIPTIVE = ("base_rate", "mean_label", "npv")


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
        _findings(result, subject),
        pictures,
        (*result.notes, *_notes(subject)),
    )


def _notes(subject: Subject) -> tuple[Message, ...]:
    sign = msg("Differences are group minus reference: a negative value means that the group's figure is lower.")
    found = (
        msg(
            "A gap of at least {means:pct} of the predictions' standard deviation (errors: {errors:pct} of the "
            "reference's error) is a finding if it is significant after correction; smaller gaps are in the table.",
            means=MEAN_GAP,
            errors=ERROR_GAP,
        )
        if subject.task == "regression"
        else msg(
            "A gap of at least {gap:points} points is a finding if it is significant after correction; smaller gaps "
            "are in the table.",
            gap=RATE_GAP,
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


def _confusion(subject: Subject) -> Table:
    """How many of each group were predicted what, by what was true."""
    surface, truth = subject.surface, subject.truth
    assert surface.label is not None
    codes = tuple(range(len(surface.classes)))
    names = [str(label) for label in surface.classes]
    columns: dict[str, list[Any]] = {"group": [], "true": [], "predicted": [], "n": []}
    for column in subject.attributes:
        axes = [column, Codes("true", truth, codes), Codes("predicted", surface.label, codes)]
        counts = tally(axes, weights=subject.weights, counts=subject.counts).w
        for index in np.ndindex(counts.shape):
            columns["group"].append(condition(column.name, column.texts[index[0]]))
            columns["true"].append(names[index[1]])
            columns["predicted"].append(names[index[2]])
            columns["n"].append(float(counts[index]))
    titles = {"group": msg("group"), "true": msg("true"), "predicted": msg("predicted"), "n": msg("rows")}
    return Table.of(columns, {"n": "int"}, titles, msg("Confusion table by group"), subject.backend)


def _pictures(result: GroupMetrics, subject: Subject) -> tuple[Picture, ...]:
    shown = [name for name in result.measured if name.split("[")[0] not in ("npv", "mean_label")][:6]
    attributes = list(result.groups.names) if result.groups is not None else []
    alone = [(name,) for name in attributes]
    pictures = [
        Picture(
            "forest",
            "by_group",
            msg("Groups side by side, with intervals"),
            {"labels": "group", "value": shown, "color": "by", "flag": "small", "where": {"by": alone}},
        )
    ]
    first = shown[0]
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


@dataclass(frozen=True)
class _Gap:
    """One comparison that is worth reporting."""

    row: int
    metric: str
    value: float
    base: float
    magnitude: float
    n: int
    group: Group
    name: str
    reference: str


def _findings(result: GroupMetrics, subject: Subject) -> tuple[Finding, ...]:
    assert result.groups is not None
    indices = {group.key: index for index, group in enumerate(result.groups.groups)}
    spread = 1.0
    if subject.surface.continuous is not None:
        spread = float(np.std(subject.surface.continuous)) or 1.0
    gaps: list[_Gap] = []
    table = result.tables["comparisons"]
    for row, key in enumerate(table["group"].keys or ()):
        name, difference, position = table["metric"].values[row], table["difference"].estimate(row).value, indices[key]
        part, metric = result.measured[name], name.split("[")[0]
        if metric in _DESCRIPTIVE or difference is None or part.size[position] < subject.settings.min_per_group:
            continue
        value = float(part.value[position])
        magnitude = abs(difference) / _worth_telling(metric, value - difference, spread)
        if magnitude >= 1 and _is_worse(metric, difference) is not False:
            gaps.append(
                _Gap(
                    row=row,
                    metric=name,
                    value=value,
                    base=value - difference,
                    magnitude=magnitude,
                    n=int(result.sizes[position]),
                    group=result.groups.groups[position],
                    name=table["group"].values[row],
                    reference=table["reference"].values[row],
                )
            )
    return tuple(_finding(gap, result, subject) for gap in gaps if not _told_already(gap, gaps))


def _told_already(gap: _Gap, gaps: Sequence[_Gap]) -> bool:
    """Whether a wider group shows the same: its gap has the same direction and is nearly as large.

    Black women are reported beside women only where their gap is larger by half of what is worth reporting.
    """
    own = set(gap.group.texts.items())
    return any(
        other.metric == gap.metric
        and (other.value < other.base) == (gap.value < gap.base)
        and set(other.group.texts.items()) < own
        and gap.magnitude < other.magnitude + 0.5
        for other in gaps
    )


def _worth_telling(metric: str, base: float, spread: float) -> float:
    if metric in ("mae", "rmse"):
        return max(ERROR_GAP * abs(base), 1e-300)
    return MEAN_GAP * spread if metric in ("mean_prediction", "mean_error") else RATE_GAP


def _is_worse(metric: str, difference: float) -> bool | None:
    """Whether the group is worse off than the reference; None where either direction is worth reporting."""
    higher = METRICS[metric].higher_is_better
    if metric in ("selection_rate", "fpr", "mean_prediction", "mean_error") or higher is None:
        return None
    return (difference < 0) == higher


def _finding(gap: _Gap, result: GroupMetrics, subject: Subject) -> Finding:
    assert result.groups is not None
    same = (g for g in result.groups.groups if g.by == gap.group.by and g.name == gap.reference)
    reference = next(same, None)
    severe = "critical" if gap.magnitude >= CRITICAL else "warning"
    table = result.tables["comparisons"]
    p, p_adjusted = (table[name].estimate(gap.row).value for name in ("p_value", "p_adjusted"))
    return Finding(
        f"group_fairness.{gap.metric}",
        "notice" if p is None else severe,  # type: ignore[arg-type]
        _sentence(gap, result),
        replace(
            table["difference"].estimate(gap.row, n=gap.n, method="score", level=subject.settings.level), note=None
        ),
        who=dict(gap.group.texts),
        n=gap.n,
        magnitude=gap.magnitude,
        p_value=p,
        p_adjusted=p_adjusted,
        test=(table["p_value"].keys or ())[gap.row],
        threshold=RATE_GAP if result.measured[gap.metric].rate else None,
        reference=dict(reference.texts) if reference is not None else {},
        format="points" if result.measured[gap.metric].metric.format == "pct" else "num",
        remedy=_REMEDIES.get(gap.metric.split("[")[0]),
        evidence="group_fairness/comparisons",
    )


def _sentence(gap: _Gap, result: GroupMetrics) -> Message:
    facts: dict[str, Any] = {
        "group": gap.name,
        "reference": gap.reference,
        "value": gap.value,
        "base": gap.base,
        "gap": abs(gap.value - gap.base),
        "metric": result.measured[gap.metric].metric.title,
    }
    less = gap.value < gap.base
    if gap.metric == "selection_rate":
        return (
            msg("{group} is selected less often than {reference}: {value:pct} and {base:pct}.", **facts)
            if less
            else msg("{group} is selected more often than {reference}: {value:pct} and {base:pct}.", **facts)
        )
    if gap.metric == "tpr":
        return msg(
            "Among people with a favourable true outcome, {value:pct} of {group} and {base:pct} of {reference} are "
            "selected.",
            **facts,
        )
    if gap.metric == "fpr":
        return msg(
            "Among people with an unfavourable true outcome, {value:pct} of {group} and {base:pct} of {reference} are "
            "selected.",
            **facts,
        )
    if gap.metric in ("mean_prediction", "mean_error", "mae", "rmse"):
        return msg("{metric} is {value:num} for {group} and {base:num} for {reference}.", **facts)
    return msg("{metric} is {value:pct} for {group} and {base:pct} for {reference}.", **facts)


_REMEDIES = {
    "selection_rate": "check_base_rates",
    "tpr": "check_threshold_and_labels",
    "fpr": "review_false_positives",
    "accuracy": "check_representation",
    "mean_error": "correct_bias",
}
