"""Do probabilities mean the same for people of several groups at once, and class by class?"""

from __future__ import annotations

from dataclasses import replace

from isonomia.audit.check_registry import check
from isonomia.audit.checks._people import people_by_name
from isonomia.evidence import Estimate, Finding, Result
from isonomia.fairness import group_calibration as calibration_by_group
from isonomia.languages import msg
from isonomia.subject import Subject

#: A slope this far below 1 says that the model is too sure of itself about a group.
SLOPE = 0.8


@check(
    "group_calibration",
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
    people = people_by_name(subject)
    for row in result.tables["by_group"].rows():
        high = row.get("slope_high")
        if row["slope"] is None or high is None or row["n"] < subject.settings.min_per_group or high >= SLOPE:
            continue
        findings.append(
            Finding(
                "group_calibration.slope",
                "warning",
                msg(
                    "Probabilities of {group} are too extreme: their calibration slope is {slope:num}.",
                    group=row["group"],
                    slope=row["slope"],
                ),
                Estimate(
                    row["slope"], row["slope_low"], high, n=row["n"], method="normal", level=subject.settings.level
                ),
                who=people.get(row["group"], {}),
                n=row["n"],
                magnitude=SLOPE / max(row["slope"], 0.1),
                threshold=SLOPE,
                evidence="group_calibration/by_group",
                remedy="recalibrate_by_group",
            )
        )
    return replace(result, findings=tuple(findings))
