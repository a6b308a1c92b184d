"""Two audits side by side: did the new model get worse, and where?"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from isonomia.audit.report import Report
from isonomia.errors import DataError
from isonomia.evidence import Column, Estimate, Finding, Result, Table, benjamini_hochberg, normal_p, normal_quantile
from isonomia.evidence.intervals import error_within
from isonomia.languages import Message, msg
from isonomia.metrics import METRICS

#: A change counts as shown when its adjusted p-value is below this.
ALPHA = 0.05

Direction = Literal["worse", "better", "changed", "same"]
#: The key of a group (nothing for all rows) and a metric.
Figure = tuple[tuple[Any, ...], str]


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """What changed from one report to another.

    Attributes
    ----------
    worse : bool
        Whether the verdict got worse, or a figure got worse by more than chance.
    before, after : Report
    tables
        ``findings``: those that are new and those that are gone; ``changes``: figures of both reports, their
        difference with an interval and an adjusted p-value; ``verdicts``: criteria of both.
    """

    worse: bool = False
    before: Report | None = field(default=None, compare=False)
    after: Report | None = field(default=None, compare=False)

    @property
    def exit_code(self) -> int:
        """1 where something got worse, else 0."""
        return int(self.worse)


def compare(before: Any, after: Any) -> Comparison:
    """Compare two reports: `Report` objects, their dictionaries, or paths of ``report.json`` files.

    Figures are compared as estimates from two separate samples: z = difference / sqrt(se1^2 + se2^2) with standard
    errors read off the intervals. Where both reports are about the same rows this is cautious: shared noise counts
    twice.
    """
    old, new = _report(before, "before"), _report(after, "after")
    changes = _changes(old, new)
    order = {"meets": 0, "not_applicable": 0, "not_enough_evidence": 1, "exceeds": 2}
    outcomes = [_outcome(report) for report in (old, new)]
    verdict_worse = order[outcomes[1]] > order[outcomes[0]]
    figures_worse = "worse" in changes["direction"].values
    return Comparison(
        "comparison",
        msg("Comparison of two audits"),
        {"verdicts": _verdicts(old, new), "findings": _findings(old, new), "changes": changes},
        {"verdict_before": outcomes[0], "verdict_after": outcomes[1], "same_data": _same_data(old, new)},
        notes=_notes(old, new),
        worse=verdict_worse or figures_worse,
        before=old,
        after=new,
    )


def _report(given: Any, what: str) -> Report:
    if isinstance(given, Report):
        return given
    if isinstance(given, str | os.PathLike):
        return Report.load(Path(given))
    if isinstance(given, Mapping):
        return Report.from_dict(given)
    raise DataError(f"`{what}` must be a Report, its dictionary or a path; got {type(given).__name__}.")


def _outcome(report: Report) -> str:
    return "not_applicable" if report.verdict is None else report.verdict.outcome


def _figures(report: Report) -> Iterator[tuple[Figure, str, Estimate]]:
    """Every figure with an interval: of all rows, and of each group that a table names by its key."""
    for section in report.document.sections:
        if section.result is None:
            continue
        for name, value in section.result.values.items():
            if isinstance(value, Estimate):
                yield ((), name), "overall", value
        for table in section.result.tables.values():
            yield from _of_groups(table)


def _of_groups(table: Table) -> Iterator[tuple[Figure, str, Estimate]]:
    """The metrics in a table whose rows are groups."""
    if "group" not in table or (keys := table["group"].keys) is None:
        return
    for column in table.columns:
        if column.low is not None and column.name.split("[")[0] in METRICS:
            for row, key in enumerate(keys):
                yield (key, column.name), table["group"].values[row], column.estimate(row)


def _known(report: Report) -> dict[Figure, tuple[str, Estimate]]:
    found: dict[Figure, tuple[str, Estimate]] = {}
    for figure, group, estimate in _figures(report):
        if estimate.value is not None:
            found.setdefault(figure, (group, estimate))
    return found


def _changes(old: Report, new: Report) -> Table:
    first, second = _known(old), _known(new)
    shared = [figure for figure in first if figure in second]
    pairs = [(first[figure][1], second[figure][1]) for figure in shared]
    value = np.array([[one.value, other.value] for one, other in pairs], dtype=float).reshape(-1, 2)
    error = np.array([[_error(one), _error(other)] for one, other in pairs], dtype=float).reshape(-1, 2)
    difference, spread = value[:, 1] - value[:, 0], np.sqrt((error**2).sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(spread > 0, normal_p(difference / spread), np.where(difference == 0, 1.0, np.nan))
    adjusted = benjamini_hochberg(p)
    z = normal_quantile(0.95)
    low, high = difference - z * spread, difference + z * spread
    directions = [_direction(metric, d, q) for (_, metric), d, q in zip(shared, difference, adjusted, strict=True)]
    return Table(
        (
            Column(
                "group",
                [first[figure][0] for figure in shared],
                title=msg("group"),
                keys=[key for key, _ in shared],
            ),
            Column("metric", [metric for _, metric in shared], title=msg("metric")),
            Column("before", value[:, 0], format="num4", title=msg("before")),
            Column("after", value[:, 1], format="num4", title=msg("after")),
            Column("difference", difference, low, high, format="num4", title=msg("difference")),
            Column("p_value", p, format="p", title=msg("p-value")),
            Column("p_adjusted", adjusted, format="p", title=msg("p adjusted")),
            Column("direction", directions, title=msg("direction")),
        ),
        msg("Figures before and after"),
    )


def _error(figure: Estimate) -> float:
    """The standard error behind an interval, read off its width."""
    if figure.low is None or figure.high is None:
        return float("nan")
    return float(error_within(figure.low, figure.high, figure.level))


def _direction(metric: str, difference: float, p_adjusted: float) -> Direction:
    if not p_adjusted < ALPHA or difference == 0:
        return "same"
    name = metric.split("[")[0]
    higher = METRICS[name].higher_is_better if name in METRICS else {"brier": False, "mce": False}.get(name)
    if higher is None:
        return "changed"
    return "better" if (difference > 0) == higher else "worse"


def _findings(old: Report, new: Report) -> Table:
    def keyed(report: Report) -> dict[tuple[Any, ...], Finding]:
        return {
            (finding.code, tuple(sorted(finding.who.items())), finding.columns): finding for finding in report.findings
        }

    first, second = keyed(old), keyed(new)
    keys = [*second, *(key for key in first if key not in second)]
    found = [second.get(key) or first[key] for key in keys]
    states = [(msg("unchanged") if key in first else msg("new")) if key in second else msg("gone") for key in keys]
    return Table(
        (
            Column("state", states, title=msg("state")),
            Column("severity", [finding.severity for finding in found], title=msg("severity")),
            Column("message", [finding.message for finding in found], title=msg("finding")),
        ),
        msg("Findings that are new, unchanged or gone"),
    )


def _verdicts(old: Report, new: Report) -> Table:
    verdicts = [report.verdict for report in (old, new)]
    policies = [None if verdict is None else verdict.policy for verdict in verdicts]
    return Table(
        (
            Column("report", [msg("before"), msg("after")], title=msg("report")),
            Column("policy", policies, title=msg("policy")),
            Column("outcome", [_outcome(report) for report in (old, new)], title=msg("outcome")),
        ),
        msg("Verdicts"),
    )


def _same_data(old: Report, new: Report) -> bool:
    marks = [report.document.fingerprint.get("data_sha256") for report in (old, new)]
    return marks[0] is not None and marks[0] == marks[1]


def _notes(old: Report, new: Report) -> tuple[Message, ...]:
    notes = []
    if _same_data(old, new):
        notes.append(
            msg("Both reports are about the same data, so the tests are conservative: shared noise is counted twice.")
        )
    if len({None if report.verdict is None else report.verdict.policy for report in (old, new)}) > 1:
        notes.append(msg("The two audits used different policies, so their verdicts cannot be compared."))
    return tuple(notes)
