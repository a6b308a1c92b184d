"""Are the probabilities calibrated, for everyone?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isonomia.audit.check_registry import check
from isonomia.counting import Codes
from isonomia.errors import NotApplicable
from isonomia.evidence import THRESHOLDS, Column, Estimate, Finding, Picture, Result, Table, holm
from isonomia.fairness import condition
from isonomia.languages import Message, msg
from isonomia.metrics import Rows, reliability
from isonomia.subject import Subject


@check(
    "calibration",
    counted=True,
    order=110,
    family="people",
    title=msg("Calibration"),
    question=msg("Do predicted probabilities match what happens, overall and in every group?"),
    purpose="reliability, ECE and Brier score, overall and by group",
)
def calibration(subject: Subject) -> Result:
    """Reliability overall and for each protected attribute."""
    if subject.surface.probability is None:
        raise NotApplicable(msg("there are no probabilities, only decisions or scores"))
    rows, level = Rows.of(subject.needs_outcomes()), subject.settings.level
    overall = reliability(rows, level=level)
    tables, pictures, groups = dict(overall.tables), list(overall.pictures), []
    for column in subject.attributes:
        named = Codes(column.name, column.codes, tuple(condition(column.name, text) for text in column.texts))
        part = reliability(rows, groups=named, overall=overall, level=level)
        tested = _tested(part.tables["by_group"], column)
        for name, table in (("by_group", tested), ("bins_by_group", part.tables["bins_by_group"])):
            titled = _TITLES[name](column.name)
            tables[f"{name}_{column.name}"] = replace(table, title=titled, backend=subject.backend)
        pictures += [
            Picture(picture.kind, f"{picture.table}_{column.name}", picture.title, picture.options)
            for picture in part.pictures
            if picture.table == "bins_by_group"
        ]
        groups += _groups(tested, column, subject)
    findings = _findings(groups, overall.gap, subject)
    return Result("calibration", overall.title, tables, overall.values, findings, tuple(pictures), overall.notes)


_TITLES: dict[str, Callable[[str], Message]] = {
    "by_group": lambda name: msg("Calibration by {attribute}", attribute=name),
    "bins_by_group": lambda name: msg("Predicted probability and observed rate by {attribute}", attribute=name),
}


def _tested(table: Table, column: Codes) -> Table:
    """The table of a reliability by group with the tests that the gap of each group is 0."""
    p = np.asarray(table["p_value"].values, dtype=float)
    keys = [("calibration", None, (column.name,), group) for group in table["group"].values]
    return table.with_columns(
        replace(table["p_value"], keys=keys),
        Column("p_adjusted", holm(p), format="p", title=msg("p adjusted")),
    )


@dataclass(frozen=True)
class _Group:
    """A group with enough rows: its people, and how far the observed rate lies above the predicted one."""

    attribute: str
    text: str
    gap: Estimate
    p_value: float | None
    test: tuple[Any, ...]


def _groups(table: Table, column: Codes, subject: Subject) -> list[_Group]:
    tests, level = table["p_value"].keys or (), subject.settings.level
    return [
        _Group(
            column.name,
            text,
            Estimate(row["gap"], row["gap_low"], row["gap_high"], n=row["n"], method="hall", level=level),
            row["p_value"],
            test,
        )
        for row, text, test in zip(table.rows(), column.texts, tests, strict=True)
        if row["gap"] is not None and row["n"] >= subject.settings.min_per_group
    ]


def _findings(groups: Sequence[_Group], overall: Estimate, subject: Subject) -> tuple[Finding, ...]:
    """A finding for each group whose probabilities are off; where all are off in one direction, one about the model.

    Beside that one, a group is told only where even the nearer end of its interval lies as far again from the gap of
    everyone as makes a gap worth reporting.
    """
    least = THRESHOLDS["calibration_gap"].reported
    common = _common(groups, overall, subject)
    if common is None:
        return tuple(_of_group(one) for one in groups if abs(float(one.gap)) >= least)
    further = (one for one in groups if _beyond(one.gap, float(overall)) >= least)
    return (common, *(_of_group(one) for one in further))


def _common(groups: Sequence[_Group], overall: Estimate, subject: Subject) -> Finding | None:
    """That the probabilities of everybody are off in one direction; None where they are not, or nobody is compared."""
    limits = THRESHOLDS["calibration_gap"]
    gaps = sorted((float(one.gap) for one in groups), key=abs)
    if not gaps or overall.value is None or overall.low is None or overall.high is None:
        return None
    if min(gaps) < 0 < max(gaps) or overall.low <= 0 <= overall.high or abs(overall.value) < limits.reported:
        return None
    facts = {"least": abs(gaps[0]), "most": abs(gaps[-1])}
    message = (
        msg(
            "Predicted probabilities are {least:points} to {most:points} points too low in every group: outcomes are "
            "better than predicted.",
            **facts,
        )
        if overall.value > 0
        else msg(
            "Predicted probabilities are {least:points} to {most:points} points too high in every group: outcomes are "
            "worse than predicted.",
            **facts,
        )
    )
    return Finding(
        "calibration.gap",
        limits.severity(abs(overall.value)),
        message,
        overall,
        n=len(subject),
        magnitude=abs(overall.value) / limits.reported,
        threshold=limits.reported,
        format="points",
        evidence=f"calibration/by_group_{groups[0].attribute}",
        remedy="recalibrate",
    )


def _beyond(gap: Estimate, common: float) -> float:
    """How much farther from 0 than the gap of everyone a group's gap is shown to be."""
    if gap.low is None or gap.high is None:
        return 0.0
    return gap.low - common if common > 0 else common - gap.high


def _of_group(one: _Group) -> Finding:
    limits, gap = THRESHOLDS["calibration_gap"], float(one.gap)
    facts = {"group": condition(one.attribute, one.text), "gap": abs(gap)}
    message = (
        msg(
            "Predicted probabilities for {group} are {gap:points} points too low on average: outcomes are better "
            "than predicted.",
            **facts,
        )
        if gap > 0
        else msg(
            "Predicted probabilities for {group} are {gap:points} points too high on average: outcomes are worse "
            "than predicted.",
            **facts,
        )
    )
    return Finding(
        "calibration.group_gap",
        limits.severity(abs(gap)) if one.p_value is not None else "notice",
        message,
        one.gap,
        who={one.attribute: one.text},
        n=one.gap.n,
        magnitude=abs(gap) / limits.reported,
        threshold=limits.reported,
        p_value=one.p_value,
        test=one.test,
        format="points",
        evidence=f"calibration/by_group_{one.attribute}",
        remedy="recalibrate_by_group",
    )
