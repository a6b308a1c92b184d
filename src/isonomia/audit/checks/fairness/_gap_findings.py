"""Which gaps between groups are worth reporting, and how many people each affects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from isonomia.audit.checks.fairness._gap_sentences import sentence
from isonomia.evidence import THRESHOLDS, Estimate, Finding, Severity, affected
from isonomia.evidence.affected import NO_COUNT, Harm
from isonomia.fairness import Group, GroupMetrics
from isonomia.languages import msg
from isonomia.metrics import Metric
from isonomia.subject import Subject, is_chosen

#: Descriptive, not a decision of the model: never a finding.
_DESCRIPTIVE = ("base_rate", "mean_label", "npv")
_REMEDIES = {
    "selection_rate": "check_base_rates",
    "tpr": "check_threshold_and_labels",
    "fpr": "review_false_positives",
    "ppv": "compare_precision",
    "accuracy": "check_representation",
    "mean_error": "correct_bias",
}
#: People as the columns and values that they share.
People = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class TellingGap:
    """One comparison that is worth reporting."""

    row: int
    metric: str
    value: float
    base: float
    magnitude: float
    n: int
    group: Group
    reference: Group | None
    people: Estimate
    count: float
    true_means: tuple[float, float] | None = None
    selected: tuple[float, float] | None = None


def gap_findings(result: GroupMetrics, subject: Subject) -> tuple[Finding, ...]:
    """A finding for each gap that is large enough and worse for the group."""
    gaps = _gaps(result, subject)
    biased = {gap.group.key for gap in gaps if gap.metric == "mean_error"}
    found = []
    for gap in gaps:
        if not _already_shown(gap, gaps):
            finding = _finding(gap, result, subject)
            if gap.metric in ("mae", "rmse") and gap.group.key in biased and finding.severity == "critical":
                finding = replace(finding, severity="warning")  # errors in one direction are the more telling ones
            found.append(finding)
    return tuple(found)


def _gaps(result: GroupMetrics, subject: Subject) -> list[TellingGap]:
    assert result.groups is not None
    groups = result.groups.groups
    indices = {group.key: index for index, group in enumerate(groups)}
    spread = 1.0
    if subject.surface.continuous is not None:
        spread = float(np.std(subject.surface.continuous)) or 1.0
    gaps: list[TellingGap] = []
    enough = {name: part.enough(result.sizes, subject.settings.min_per_group) for name, part in result.measured.items()}
    table, named = result.tables["comparisons"], not is_chosen(subject.reference)
    for row, key in enumerate(table["group"].keys or ()):
        name, difference, position = table["metric"].values[row], table["difference"].estimate(row), indices[key]
        part, metric, group = result.measured[name], name.split("[")[0], groups[indices[key]]
        if metric in _DESCRIPTIVE or difference.value is None or not enough[name][position]:
            continue
        value = float(part.value[position])
        base = value - difference.value
        magnitude = abs(difference.value) / _worth_telling(metric, base, spread)
        if magnitude < 1 or _is_worse(part.metric, difference.value, named=named) is False:
            continue
        same = (one for one in groups if one.by == group.by and one.name == table["reference"].values[row])
        reference = next(same, None)
        gaps.append(
            TellingGap(
                row=row,
                metric=name,
                value=value,
                base=base,
                magnitude=magnitude,
                n=int(result.sizes[position]),
                group=group,
                reference=reference,
                people=_people(name, row, position, result, subject),
                count=_count(name, position, result),
                true_means=_true_means(result, position, None if reference is None else indices[reference.key]),
                selected=_selected(name, result, position, None if reference is None else indices[reference.key]),
            )
        )
    return gaps


def _count(name: str, position: int, result: GroupMetrics) -> float:
    """The people that a group's rate is a share of: rows, weighted or not."""
    return float(result.measured[name].n[position])


def _people(name: str, row: int, position: int, result: GroupMetrics, subject: Subject) -> Estimate:
    """The people of the group whom the gap affects: of a rate's own denominator."""
    part = result.measured[name]
    n = int(part.n[position])
    if not part.rate:
        average = part.metric.format == "pct"
        return Estimate.missing(msg("an average over classes does not count people") if average else NO_COUNT, n=n)
    differences = result.tables["comparisons"]["difference"]
    gap = replace(differences.estimate(row, n=n, method="score", level=subject.settings.level), note=None)
    return affected(gap, _count(name, position, result), harm=_harm(part.metric), weighted=subject.weights is not None)


def _harm(metric: Metric) -> Harm:
    """Whether a lower or a higher rate is worse for a group.

    A selection rate without a direction is one it lacks, and so is a rate of wrongly favourable decisions: the group
    with fewer of them was shown less leniency.
    """
    higher = metric.higher_is_better
    return "lack" if higher or metric.base_id == "fpr" or _of_selection(metric) else "excess"


def _of_selection(metric: Metric) -> bool:
    """Whether it is how often the favourable decision of two is made, or one of several without a direction."""
    return metric.base_id == "selection_rate" and metric.higher_is_better is None


def _true_means(result: GroupMetrics, position: int, reference: int | None) -> tuple[float, float] | None:
    """The true means of a group and of its reference, where a regression has them."""
    part = result.measured.get("mean_label")
    if part is None or reference is None:
        return None
    return float(part.value[position]), float(part.value[reference])


def _selected(name: str, result: GroupMetrics, position: int, reference: int | None) -> tuple[float, float] | None:
    """How often the decision is made about all people of a group and of its reference."""
    label = name.partition("[")[2]
    part = result.measured.get(f"selection_rate[{label}" if label else "selection_rate")
    if part is None or reference is None:
        return None
    return float(part.value[position]), float(part.value[reference])


def _already_shown(gap: TellingGap, gaps: Sequence[TellingGap]) -> bool:
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


def _explained_by(gap: TellingGap, result: GroupMetrics) -> Mapping[str, str]:
    """The wider group that a gap is listed with; where a still wider one explains that group, the widest of all."""
    table, less = result.tables["comparisons"], gap.value < gap.base
    reaches = {
        frozenset(key): _reach(table["difference"].estimate(row), less)
        for row, key in enumerate(table["group"].keys or ())
        if table["metric"].values[row] == gap.metric
    }
    home = frozenset(gap.group.texts.items())
    while (wider := _as_far(home, reaches)) is not None:
        home = wider
    return dict(home) if len(home) < len(gap.group.texts) else {}


def _as_far(people: People, reaches: Mapping[People, tuple[float, float]]) -> People | None:
    """The wider group whose gap reaches farthest, if as far: intervals overlap, or the wider group's lies beyond."""
    wider = [other for other, ends in reaches.items() if other < people and ends[1] >= reaches[people][0]]
    return max(wider, key=lambda other: reaches[other][1], default=None)


def _reach(gap: Estimate, less: bool) -> tuple[float, float]:
    """From where to where a gap reaches in a direction; nowhere without an interval."""
    if gap.low is None or gap.high is None:
        return -np.inf, -np.inf
    return (-gap.high, -gap.low) if less else (gap.low, gap.high)


def _worth_telling(metric: str, base: float, spread: float) -> float:
    unit = max(abs(base), 1e-300) if metric in ("mae", "rmse") else spread if _threshold(metric) == "mean_gap" else 1.0
    return THRESHOLDS[_threshold(metric)].reported * unit


def _threshold(metric: str) -> str:
    if metric in ("mae", "rmse"):
        return "error_gap"
    return "mean_gap" if metric in ("mean_prediction", "mean_error") else "rate_gap"


def _is_worse(metric: Metric, difference: float, *, named: bool) -> bool | None:
    """Whether the group is worse off than the reference; None where either direction is worth reporting.

    Of several classes a favourable one is worse where it is decided less often, any other where it is decided more
    often; where nobody said which are favourable, either direction is worth reporting. A group with more wrongly
    favourable decisions is not worse off than the best-off group; where the reference was named, it is told too.
    """
    higher = metric.higher_is_better
    if metric.id in ("selection_rate", "fpr"):
        return None if named else difference < 0
    return None if higher is None else (difference < 0) == higher


def _remedy(gap: TellingGap) -> str | None:
    """What to do; where a group has fewer wrongly favourable decisions, those of the others are to be looked into."""
    metric = gap.metric.split("[")[0]
    return "compare_false_positives" if metric == "fpr" and gap.value < gap.base else _REMEDIES.get(metric)


def _severity(gap: TellingGap, tested: bool) -> Severity:
    """By the size of the gap; mean predictions beside their true means are a notice, since mean errors say the rest."""
    if not tested:
        return "notice"
    if gap.metric == "mean_prediction" and gap.true_means is not None:
        return "notice"
    limits = THRESHOLDS[_threshold(gap.metric.split("[")[0])]
    return limits.severity(gap.magnitude * limits.reported)


def _finding(gap: TellingGap, result: GroupMetrics, subject: Subject) -> Finding:
    table, part = result.tables["comparisons"], result.measured[gap.metric]
    p, p_adjusted = (table[name].estimate(gap.row).value for name in ("p_value", "p_adjusted"))
    figure = table["difference"].estimate(gap.row, n=gap.n, method="score", level=subject.settings.level)
    return Finding(
        f"group_fairness.{gap.metric}",
        _severity(gap, p is not None),
        sentence(
            gap.metric,
            value=gap.value,
            base=gap.base,
            group=gap.group.texts,
            reference=None if gap.reference is None else gap.reference.texts,
            people=gap.people,
            count=gap.count,
            title=part.metric.title,
            favourable=part.metric.favourable is True,
            true_means=gap.true_means,
            selected=gap.selected,
            of_outcomes=part.metric.needs_labels,
        ),
        replace(figure, note=None),
        who=dict(gap.group.texts),
        n=gap.n,
        magnitude=gap.magnitude,
        p_value=p,
        p_adjusted=p_adjusted,
        test=(table["p_value"].keys or ())[gap.row],
        threshold=THRESHOLDS["rate_gap"].reported if part.rate else None,
        reference=dict(gap.reference.texts) if gap.reference is not None else {},
        format="points" if part.metric.format == "pct" else "num",
        remedy=_remedy(gap),
        evidence="group_fairness/comparisons",
        people=gap.people,
        explained_by=_explained_by(gap, result),
        favourable=part.metric.favourable,
    )
