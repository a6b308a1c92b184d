"""What the suite judged, as a table and as findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from isonomia.evidence import (
    Column,
    Estimate,
    Finding,
    Severity,
    Table,
    affected,
    benjamini_hochberg,
    pair_level,
    score_difference,
)
from isonomia.evidence.affected import NO_COUNT
from isonomia.fairness.criteria.criterion import Criterion
from isonomia.fairness.criteria.phrases import decision_of
from isonomia.fairness.groups.group_metrics import GroupMetrics
from isonomia.fairness.judging.limits import outcome_of
from isonomia.languages import Message, column_names, msg
from isonomia.languages.naming import both
from isonomia.languages.words import ARE_SELECTED
from isonomia.metrics import Measured
from isonomia.policies import RuleSide

ALPHA = 0.05
#: What the second reports (of the same groups), the first need not repeat.
IMPLIED = {
    "equal_opportunity": "equalized_odds",
    "predictive_equality": "equalized_odds",
    "demographic_parity": "disparate_impact",
}
#: Measures that no law and no literature has a threshold for: beyond ours they are worth a look, and no more.
WITHOUT_USUAL = ("treatment_equality",)
#: An intersection is reported beside a wider group only where its figure is this many times as far from equality.
WORSE = 1.5
NO_TEST = msg("this measure has no test")


@dataclass(frozen=True)
class Judged:
    """One figure compared with its threshold.

    `measure` says whether more than the threshold (difference) or less (ratio) is beyond it; `metrics` are those whose
    test stands behind it; `worst` the facts of the extremes.
    """

    title: Message
    measure: Literal["difference", "ratio"]
    figure: Estimate
    threshold: float
    metrics: tuple[str, ...] = ()
    worst: Mapping[str, Any] = field(default_factory=dict)
    sentence: Message | None = None
    p_value: float | None = None

    @classmethod
    def of(cls, found: Criterion, metrics: tuple[str, ...] = ()) -> Judged:
        """A criterion as it was judged."""
        assert found.description is not None
        title = found.title
        if found.aggregate == "mean":
            title = (
                msg("Average odds")
                if found.code == "equalized_odds"
                else msg("{title}, mean over classes", title=title)
            )
        sentence = found.facts() if found.figure.value is not None else None
        return cls(title, found.description.measure, found.figure, found.threshold, metrics, found.worst, sentence)

    @property
    def exceeds(self) -> bool | None:
        """Whether the figure is beyond the threshold; None without a figure."""
        if self.figure.value is None:
            return None
        slack = 1e-12  # 0.1 as a difference of rates is not beyond 0.1
        if self.measure == "ratio":
            return self.figure.value < self.threshold - slack
        return self.figure.value > self.threshold + slack

    @property
    def settled(self) -> bool:
        """Whether the interval of the figure shows on which side of the threshold it lies; without one nothing does."""
        side: RuleSide = "at_least" if self.measure == "ratio" else "at_most"
        return outcome_of(self.threshold, side, self.figure.low, self.figure.high) != "not_enough_evidence"

    @property
    def outcome(self) -> Message:
        """Where the figure and its interval lie."""
        if self.figure.value is None:
            return msg("not available")
        if not self.settled:
            return msg("beyond, inconclusive") if self.exceeds else msg("within, inconclusive")
        return msg("beyond") if self.exceeds else msg("within")

    @property
    def distance(self) -> float:
        """How far from equality, in units of the threshold: 1 is just at it."""
        assert self.figure.value is not None
        if self.measure == "ratio":
            return (1.0 - self.figure.value) / max(1.0 - self.threshold, 1e-12)
        return self.figure.value / max(self.threshold, 1e-12)


def measures_table(judged: Mapping[tuple[tuple[str, ...], str], Judged], tests: Table, measured: GroupMetrics) -> Table:
    """A row for each way of grouping and measure, with the test of its metrics."""
    tested: dict[tuple[tuple[str, ...], str], list[Mapping[str, Any]]] = {}
    for way, row in zip(tests["by"].keys or (), tests.rows(), strict=True):
        tested.setdefault((way, row["metric"]), []).append(row)
    p_values, untested = [], []
    for (by, _), one in judged.items():
        behind = [row for metric in one.metrics for row in tested.get((by, metric), [])]
        found = [row["p_value"] for row in behind if row["p_value"] is not None]
        p = one.p_value if one.p_value is not None else min(1.0, min(found) * len(found)) if found else np.nan
        p_values.append(p)
        untested.append(next((row["note"] for row in behind), NO_TEST) if np.isnan(p) else None)
    entries = list(judged.items())
    every = [one for _, one in entries]
    kinds = [msg("difference") if one.measure == "difference" else msg("ratio") for one in every]
    reasons = [one.figure.note or why for one, why in zip(every, untested, strict=True)]
    p = np.array(p_values, dtype=float)
    return Table(
        (
            Column(
                "by", [" x ".join(by) for (by, _), _ in entries], title=msg("by"), keys=[by for (by, _), _ in entries]
            ),
            Column("measure", [one.title for one in every], title=msg("measure")),
            Column("kind", kinds, title=msg("kind")),
            replace(
                Column("value", format="num", title=msg("value")).filled([one.figure for one in every]), reason=reasons
            ),
            Column("threshold", [one.threshold for one in every], format="num", title=msg("threshold")),
            Column("outcome", [one.outcome for one in every], title=msg("outcome")),
            Column("lowest", [one.worst.get("lowest") for one in every], title=msg("smallest in")),
            Column("highest", [one.worst.get("highest") for one in every], title=msg("largest in")),
            Column("p_value", p, format="p", title=msg("p-value")),
            Column("p_adjusted", benjamini_hochberg(p), format="p", title=msg("p adjusted")),
        ),
        msg("Measures of fairness"),
        measured.tables["by_group"].backend,
    )


def findings_of(
    judged: Mapping[tuple[tuple[str, ...], str], Judged], table: Table, measured: GroupMetrics, *, chosen: bool
) -> tuple[Finding, ...]:
    """What is beyond its threshold; an intersection only where it is clearly worse than its attributes alone.

    `chosen` says that groups are compared with the best-off one: then ratios of selection are told against that one.
    """
    found = []
    if chosen:
        judged = {key: _against(key, one, measured) for key, one in judged.items()}
    for ((by, name), one), row in zip(judged.items(), table.rows(), strict=True):
        if not one.exceeds or name.endswith("_mean") or _already_shown(by, name, one, judged):
            continue
        found.append(_finding(by, name, one, row, measured))
    return tuple(found)


def _against(key: tuple[tuple[str, ...], str], one: Judged, measured: GroupMetrics) -> Judged:
    """Disparate impact as the worst ratio to the group that all sections compare with, instead of between extremes."""
    by, name = key
    if name != "disparate_impact" or one.figure.value is None or measured.groups is None:
        return one
    table, groups = measured.tables["comparisons"], {group.key: i for i, group in enumerate(measured.groups.groups)}
    ratios: dict[int, float] = {}
    for row, (metric, group) in enumerate(zip(table["metric"].values, table["group"].keys or (), strict=True)):
        part, at = measured.measured[metric], groups[group]
        ratio = table["ratio"].estimate(row).value
        enough = part.enough(measured.sizes, measured.min_per_group)[at]
        if metric in one.metrics and measured.groups.groups[at].by == by and enough and ratio is not None:
            ratios[row] = ratio
    if not ratios:
        return one
    row = min(ratios, key=ratios.__getitem__)
    metric, group, reference = (table[column].values[row] for column in ("metric", "group", "reference"))
    figure = table["ratio"].estimate(row, n=one.figure.n, method="score", level=one.figure.level)
    return replace(
        one,
        figure=replace(figure, note=None),
        worst={**one.worst, "metric": metric, "lowest": group, "highest": reference},
    )


def _already_shown(
    by: tuple[str, ...], name: str, one: Judged, judged: Mapping[tuple[tuple[str, ...], str], Judged]
) -> bool:
    stronger = judged.get((by, IMPLIED.get(name, "")))
    if stronger is not None and stronger.exceeds:
        return True
    return any(
        other_name == name and set(other_by) < set(by) and other.exceeds and one.distance < WORSE * other.distance
        for (other_by, other_name), other in judged.items()
    )


def _finding(by: tuple[str, ...], name: str, one: Judged, row: Mapping[str, Any], measured: GroupMetrics) -> Finding:
    sure = row["p_adjusted"] is not None and row["p_adjusted"] < ALPHA
    severity: Severity = "critical" if name == "disparate_impact" and sure else "warning"
    if name in WITHOUT_USUAL:
        severity = "notice"
    assert measured.groups is not None
    groups = {
        group.name: (group, int(size)) for group, size in zip(measured.groups.groups, measured.sizes, strict=True)
    }
    low, high = groups.get(one.worst.get("lowest", "")), groups.get(one.worst.get("highest", ""))
    return Finding(
        f"fairness_suite.{name}",
        severity,
        _sentence(by, name, one, measured),
        one.figure,
        who=dict(low[0].texts) if low else {},
        n=low[1] if low else one.figure.n,
        magnitude=one.distance,
        p_value=row["p_value"],
        p_adjusted=row["p_adjusted"],
        threshold=one.threshold,
        reference=dict(high[0].texts) if high else {},
        evidence="fairness_suite/measures",
        remedy="check_base_rates" if name == "disparate_impact" else "compare_base_rates",
        people=_people(one, measured),
    )


def _people(one: Judged, measured: GroupMetrics) -> Estimate:
    """The people of the worst-off group beyond what the rate of the best-off one would have made."""
    assert measured.groups is not None
    name = one.worst.get("metric", "")
    part = measured.measured.get(name)
    if part is None or not part.rate:
        return Estimate.missing(NO_COUNT, n=one.figure.n)
    names = [group.name for group in measured.groups.groups]
    ends = [names.index(one.worst[end]) for end in ("lowest", "highest")]
    (low, high), (few, many) = part.value[ends].tolist(), part.size[ends].tolist()
    level = one.figure.level
    together = pair_level(level, _compared(part, names[ends[0]], measured))
    left, right = score_difference(low * few, few, high * many, many, together)
    gap = Estimate(low - high, float(left), float(right), n=int(part.n[ends[0]]), method="simultaneous", level=level)
    count = float(part.n[ends[0]])
    lacks = name.startswith("selection_rate") or part.metric.higher_is_better
    return affected(gap, count, harm="lack" if lacks else "excess", weighted=bool(measured.values.get("weighted")))


def _compared(part: Measured, name: str, measured: GroupMetrics) -> int:
    """How many groups the pair that is farthest apart was picked from."""
    assert measured.groups is not None
    groups = measured.groups.groups
    (by,) = {group.by for group in groups if group.name == name}
    enough = part.enough(measured.sizes, measured.min_per_group)
    return sum(bool(fine) and group.by == by for group, fine in zip(groups, enough, strict=True))


def _sentence(by: tuple[str, ...], name: str, one: Judged, measured: GroupMetrics) -> Message:
    facts: dict[str, Any] = {"measure": one.title, "by": both([column_names([part]) for part in by])}
    facts |= {"value": one.figure.value, "low": one.figure.low, "high": one.figure.high, "threshold": one.threshold}
    metric = one.worst.get("metric", "")
    label = metric.removesuffix("]").partition("[")[2]
    favourable = metric in measured.measured and measured.measured[metric].metric.favourable is True
    if name == "disparate_impact" and one.sentence is not None and one.figure.low is not None:
        return msg(
            "{group:first} {are_selected} {value:.2f} times as often as {other} ({low:.2f} to {high:.2f}). The usual "
            "threshold is {threshold:.2f}.",
            group=one.worst["lowest"],
            other=one.worst["highest"],
            are_selected=decision_of(label, favourable=favourable) if label else ARE_SELECTED,
            **facts,
        )
    if name in WITHOUT_USUAL and one.sentence is not None:
        return msg(
            "{sentence} {measure} by {by}: {value:num}; there is no usual threshold.",
            sentence=one.sentence,
            **facts,
        )
    if one.worst.get("units") == "rate" and one.measure == "difference" and one.sentence is not None:
        return msg(
            "{sentence} {measure} by {by}: a gap of {value:points} points; the usual threshold is {threshold:points} "
            "points.",
            sentence=one.sentence,
            **facts,
        )
    if one.sentence is not None:
        return msg(
            "{sentence} {measure} by {by}: {value:num}; the usual threshold is {threshold:num}.",
            sentence=one.sentence,
            **facts,
        )
    return msg("{measure} by {by} is {value:num}; the usual threshold is {threshold:num}.", **facts)
