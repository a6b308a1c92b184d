"""Are the probabilities calibrated, for everyone?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from isonomia.audit.check_registry import check
from isonomia.counting import Codes
from isonomia.errors import NotApplicable
from isonomia.evidence import THRESHOLDS, Column, Estimate, Finding, Picture, Result, Table, affected, holm
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
    tables, pictures, findings = dict(overall.tables), list(overall.pictures), []
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
        findings += _findings(tested, column, subject)
    return Result("calibration", overall.title, tables, overall.values, tuple(findings), tuple(pictures), overall.notes)


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


def _findings(table: Table, column: Codes, subject: Subject) -> list[Finding]:
    found = []
    limits = THRESHOLDS["calibration_gap"]
    for index, (row, text) in enumerate(zip(table.rows(), column.texts, strict=True)):
        gap = row["gap"]
        if gap is None or abs(gap) < limits.reported or row["n"] < subject.settings.min_per_group:
            continue
        low, high, p_value = row["gap_low"], row["gap_high"], row["p_value"]
        figure = Estimate(gap, low, high, n=row["n"], method="hall", level=subject.settings.level)
        group = condition(column.name, text)
        message = (
            msg(
                "Predicted probabilities for {group} are {gap:points} points too low on average: outcomes are better "
                "than predicted.",
                group=group,
                gap=abs(gap),
            )
            if gap > 0
            else msg(
                "Predicted probabilities for {group} are {gap:points} points too high on average: outcomes are worse "
                "than predicted.",
                group=group,
                gap=abs(gap),
            )
        )
        found.append(
            Finding(
                "calibration.group_gap",
                limits.severity(abs(gap)) if p_value is not None else "notice",
                message,
                figure,
                who={column.name: text},
                n=row["n"],
                magnitude=abs(gap) / limits.reported,
                threshold=limits.reported,
                p_value=p_value,
                test=(table["p_value"].keys or ())[index],
                format="points",
                evidence=f"calibration/by_group_{column.name}",
                remedy="recalibrate_by_group",
                people=affected(figure, row["n"]),
            )
        )
    return found
