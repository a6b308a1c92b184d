"""Do probabilities mean the same for people of several groups at once, and class by class?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isonomia.audit.check_registry import check
from isonomia.audit.checks._people import people_by_name
from isonomia.evidence import THRESHOLDS, Column, Estimate, Finding, Result, Table, holm
from isonomia.fairness import group_calibration as calibration_by_group
from isonomia.languages import msg
from isonomia.subject import Subject


@check(
    "group_calibration",
    counted=True,
    order=120,
    family="people",
    title=msg("Calibration of intersections"),
    question=msg("Are the probabilities calibrated for every group, intersection and class?"),
    purpose="reliability, slope and calibration in the large of groups, intersections and classes",
    within="full",
)
def group_calibration(subject: Subject) -> Result:
    """Calibration of every group and intersection."""
    subject.needs_attributes()
    result = calibration_by_group(subject, by="all")
    findings = []
    limits = THRESHOLDS["calibration_slope"]
    people = people_by_name(subject)
    slopes = _slopes(result.tables["by_group"])
    for index, row in enumerate(slopes.rows()):
        high = row.get("slope_high")
        if row["slope"] is None or high is None or row["n"] < subject.settings.min_per_group or high >= limits.reported:
            continue
        findings.append(
            Finding(
                "group_calibration.slope",
                limits.severity(row["slope"]),
                msg(
                    "The model is too sure about {group}: the calibration slope is {slope:num} (1 is calibrated).",
                    group=row["group"],
                    slope=row["slope"],
                ),
                Estimate(
                    row["slope"], row["slope_low"], high, n=row["n"], method="student", level=subject.settings.level
                ),
                who=people.get(row["group"], {}),
                n=row["n"],
                magnitude=limits.reported / max(row["slope"], 0.1),
                threshold=limits.reported,
                p_value=row["p_value"],
                test=("group_calibration", "slopes", index),
                evidence="group_calibration/slopes",
                remedy="recalibrate_by_group",
            )
        )
    return replace(result, tables={**result.tables, "slopes": slopes}, findings=tuple(findings))


def _slopes(table: Table) -> Table:
    """The slope of each group with the test that it is 1."""
    p = np.asarray(table["slope_p_value"].values, dtype=float)
    names = [name for name in ("by", "class", "group", "n", "slope") if name in table]
    tested = (
        Column("p_value", p, format="p", title=msg("p-value")),
        Column("p_adjusted", holm(p), format="p", title=msg("p adjusted")),
    )
    return replace(
        table.select(names).with_columns(*tested), title=msg("Calibration slopes: 1 where probabilities are calibrated")
    )
