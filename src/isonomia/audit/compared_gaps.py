"""Gaps and ratios between groups before and after, with the interval of the change.

A gap got worse where it is larger than before by more than the tolerance and by more than chance. The two reports hold
counts, not who changed decision, so the change is that of two samples: on the same rows this is conservative. The
intervals of all changes hold together at the level of the reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from isonomia.audit.report import Report
from isonomia.evidence import Column, Estimate, Table, normal_quantile
from isonomia.evidence.intervals import error_within
from isonomia.evidence.simultaneous import simultaneous_level
from isonomia.languages import Message, msg
from isonomia.typing import Floats

Kind = Literal["difference", "ratio"]
Trend = Literal["worse", "better", "unclear"]
#: Figures of the data, not of the model.
_OF_DATA = ("base_rate", "mean_label")
#: Ratios are compared for this metric alone; those of others follow from their differences.
_RATIOS = ("selection_rate",)

TRENDS: Mapping[Trend, Message] = {
    "worse": msg("worse"),
    "better": msg("better"),
    "unclear": msg("no clear change"),
}


@dataclass(frozen=True)
class GapKey:
    """A gap of both reports: the metric, the group (its key and name), whom it is compared with, and how."""

    metric: str
    group: tuple[Any, ...]
    reference: str
    kind: Kind
    name: str

    @property
    def code(self) -> str:
        """A stable name over runs."""
        people = ", ".join(f"{column}={value}" for column, value in self.group)
        return f"{self.metric}.{self.kind}[{people} / {self.reference}]"

    def __hash__(self) -> int:
        return hash((self.metric, self.group, self.reference, self.kind))


def gaps_of(report: Report) -> dict[GapKey, Estimate]:
    """Every gap between a group and its reference that the report holds with an interval."""
    section = next((one for one in report.document.sections if one.code == "group_fairness"), None)
    table = None if section is None or section.result is None else section.result.tables.get("comparisons")
    if section is None or section.result is None or table is None or (keys := table["group"].keys) is None:
        return {}
    level = next((v.level for v in section.result.values.values() if isinstance(v, Estimate)), 0.95)
    found: dict[GapKey, Estimate] = {}
    for row, key in enumerate(keys):
        metric = str(table["metric"].values[row])
        base = metric.split("[")[0]
        names = table["reference"].values[row], table["group"].values[row]
        kinds: tuple[Kind, ...] = () if base in _OF_DATA else ("difference", "ratio")
        for kind in kinds[: 2 if base in _RATIOS else 1]:
            figure = table[kind].estimate(row, level=level)
            if None not in (figure.value, figure.low, figure.high):
                found[GapKey(metric, tuple(map(tuple, key)), names[0], kind, names[1])] = figure
    return found


def compared_gaps(before: Report, after: Report, tolerance: float) -> Table:
    """A row per gap of both reports: before, after, by how much it grew with an interval, and the trend.

    The growth of a difference d is |d after| - |d before|; that of a ratio r the same with |log r|, written as a
    factor's logarithm. Its interval is +- z sqrt(se1^2 + se2^2) with standard errors read off the intervals and z for
    all gaps together.
    """
    second = gaps_of(after)
    first = _as_in(gaps_of(before), second)
    shared = [key for key in second if key in first]
    level = second[shared[0]].level if shared else 0.95
    z = normal_quantile(simultaneous_level(level, len(shared)))
    rows = [_growth(key.kind, first[key], second[key]) for key in shared]
    growth = np.array([row[0] for row in rows], dtype=float)
    half = z * np.array([row[1] for row in rows], dtype=float)
    allowed = np.array(
        [tolerance if key.kind == "difference" else -np.log1p(-tolerance) for key in shared], dtype=float
    )
    trends = _trends(growth - half, growth + half, allowed)

    def figures(found: Mapping[GapKey, Estimate], name: str, title: Message) -> Column:
        return Column(name, format="num", title=title).filled([found[key] for key in shared])

    return Table(
        (
            Column("metric", [key.metric for key in shared], title=msg("metric")),
            Column("kind", [_KINDS[key.kind] for key in shared], title=msg("kind")),
            Column("group", [key.name for key in shared], title=msg("group"), keys=[key.group for key in shared]),
            Column("reference", [key.reference for key in shared], title=msg("reference")),
            figures(first, "before", msg("before")),
            figures(second, "after", msg("after")),
            Column("growth", growth, growth - half, growth + half, format="num", title=msg("growth of the gap")),
            Column("trend", list(trends), title=msg("trend"), names={str(k): v for k, v in TRENDS.items()}),
            Column("code", [key.code for key in shared], title=msg("name")),
        ),
        msg("Gaps between groups before and after"),
    )


def _as_in(found: Mapping[GapKey, Estimate], other: Mapping[GapKey, Estimate]) -> dict[GapKey, Estimate]:
    """The gaps, with those between the same two groups turned round where the other report has the other reference."""
    pairs = {(key.metric, key.kind, key.reference, key.name): key for key in other}
    turned = {}
    for key, figure in found.items():
        same = pairs.get((key.metric, key.kind, key.name, key.reference))
        if same is not None and key not in other and (key.kind == "difference" or figure.low):  # no ratio of 1 to 0
            turned[same] = _turned(figure, key.kind)
    return {**found, **turned}


def _turned(figure: Estimate, kind: Kind) -> Estimate:
    """The gap seen from the other group."""
    ends = [figure.value, figure.high, figure.low]
    assert None not in ends
    value, low, high = [-end if kind == "difference" else 1 / end for end in ends if end is not None]
    return replace(figure, value=value, low=low, high=high)


_KINDS: Mapping[Kind, Message] = {"difference": msg("difference"), "ratio": msg("ratio")}


def _growth(kind: Kind, before: Estimate, after: Estimate) -> tuple[float, float]:
    """How much further from equality a figure is, and the standard error of that."""
    ends = [(figure.value, figure.low, figure.high) for figure in (before, after)]
    values = np.array(ends, dtype=float)
    if kind == "ratio":
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.log(values)
    error = error_within(values[:, 1], values[:, 2], after.level)
    if not np.isfinite(values).all():
        return np.nan, np.nan
    distance = np.abs(values[:, 0])
    return float(distance[1] - distance[0]), float(np.sqrt((error**2).sum()))


def _trends(low: Floats, high: Floats, allowed: Floats) -> list[Trend]:
    """Worse where the whole interval lies above the tolerance, better where it lies below it on the other side."""
    return ["worse" if a > t else "better" if b < -t else "unclear" for a, b, t in zip(low, high, allowed, strict=True)]
