"""Every figure of a report that has an interval, by a key that is the same in every run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from isonomia.audit.report import Report
from isonomia.evidence import Estimate, Table, finite
from isonomia.evidence.intervals import error_within
from isonomia.metrics import METRICS

#: What a figure is: a metric itself, or how far groups are apart in it.
Measure = Literal["value", "difference", "ratio"]


@dataclass(frozen=True, kw_only=True)
class ReportFigure:
    """One figure of a report.

    Attributes
    ----------
    metric : str
        Its name ("selection_rate").
    measure : "value", "difference" or "ratio"
        The metric of some people; or how far it is from that of others.
    group : tuple of (column, value)
        The people it is about; empty for everyone, and for the gap between all groups of `attributes`.
    attributes : tuple of str
        The protected attributes behind it.
    label : str
        How the people are written.
    estimate : Estimate
    """

    metric: str
    measure: Measure
    estimate: Estimate
    group: tuple[tuple[str, Any], ...] = ()
    attributes: tuple[str, ...] = ()
    label: Any = "overall"

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes it the same figure in another report."""
        return (self.group, self.attributes, self.metric, self.measure)

    @property
    def error(self) -> float | None:
        """The standard error behind its interval, read off its width; None where there is none."""
        low, high = self.estimate.low, self.estimate.high
        return None if low is None or high is None else finite(error_within(low, high, self.estimate.level))


def figures_of(report: Report) -> tuple[ReportFigure, ...]:
    """The figures of a report, missing ones included: of everyone, of each group, and between groups; each once."""
    level = _level(report)
    found: dict[tuple[Any, ...], ReportFigure] = {}
    for section in report.document.sections:
        if section.result is None:
            continue
        for name, value in section.result.values.items():
            if isinstance(value, Estimate):
                figure = ReportFigure(metric=name, measure="value", estimate=value)
                found.setdefault(figure.key, figure)
        for table in section.result.tables.values():
            for figure in (*_of_groups(table, level), *_between_groups(table, level)):
                found.setdefault(figure.key, figure)
    return tuple(found.values())


def _level(report: Report) -> float:
    """The confidence level of the report's intervals."""
    values = (v for s in report.document.sections if s.result is not None for v in s.result.values.values())
    return next((v.level for v in values if isinstance(v, Estimate) and v.low is not None), 0.95)


def _of_groups(table: Table, level: float) -> Iterator[ReportFigure]:
    """The metrics in a table whose rows are groups."""
    if "group" not in table or (keys := table["group"].keys) is None:
        return
    sizes = table["n"].values if "n" in table else None
    for column in table.columns:
        if column.low is not None and column.name.split("[")[0] in METRICS:
            for row, key in enumerate(keys):
                n = 0 if sizes is None else int(sizes[row])
                yield ReportFigure(
                    metric=column.name,
                    measure="value",
                    estimate=column.estimate(row, n=n, level=level),
                    group=tuple(key),
                    attributes=tuple(str(name) for name, _ in key),
                    label=table["group"].values[row],
                )


def _between_groups(table: Table, level: float) -> Iterator[ReportFigure]:
    """Differences and ratios in a table whose rows are a metric of a group, or of all groups of some attributes."""
    if "metric" not in table or "against" in table:
        return
    groups, by = (table[name].keys if name in table else None for name in ("group", "by"))
    if groups is None and by is None:
        return
    measures: tuple[Measure, ...] = ("difference", "ratio")
    for measure in measures:
        if measure not in table or table[measure].low is None:
            continue
        for row, metric in enumerate(table["metric"].values):
            group = () if groups is None else tuple(groups[row])
            names = tuple(str(name) for name, _ in group) if by is None or groups is not None else tuple(by[row])
            yield ReportFigure(
                metric=str(metric),
                measure=measure,
                estimate=table[measure].estimate(row, level=level),
                group=group,
                attributes=names,
                label=table["group" if groups is not None else "by"].values[row],
            )
