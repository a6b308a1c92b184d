"""Whose values are missing?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from isonomia.audit.check_registry import check
from isonomia.audit.checks._people import people_by_name
from isonomia.evidence import THRESHOLDS, Estimate, Finding, Result, beyond
from isonomia.fairness import missingness as look_for_gaps
from isonomia.languages import ColumnName, msg
from isonomia.parameters import parameters_of
from isonomia.subject import Subject


@check(
    "missingness",
    order=20,
    family="people",
    counted=True,
    title=msg("Missing values"),
    question=msg("Whose values are missing?"),
    purpose="share of missing values of each column by group",
    within="full",
    parameters=parameters_of(look_for_gaps),
)
def missingness(subject: Subject, **options: Any) -> Result:
    """Missing values by group."""
    subject.needs_attributes()
    result = look_for_gaps(subject, **options)
    findings = []
    people = people_by_name(subject)
    limits = THRESHOLDS["missing_gap"]
    for index, row in enumerate(result.tables["missing"].rows()):
        gap = row["difference"]
        if gap is None or gap < limits.reported or row["n"] < subject.settings.min_per_group:
            continue
        rate = Estimate(
            row["rate"], row["rate_low"], row["rate_high"], n=row["n"], method="wilson", level=subject.settings.level
        )
        more = beyond(rate, row["others"], row["n"])
        findings.append(
            Finding(
                "missingness.group",
                limits.severity(gap),
                msg(
                    "The column {column} is empty for {rate:pct} of {group} and {others:pct} of everyone else: "
                    "{people:int} people more than at the others' rate ({low:int} to {high:int}).",
                    column=ColumnName(row["column"]),
                    rate=row["rate"],
                    group=row["group"],
                    others=row["others"],
                    people=more.value,
                    low=max(more.low or 0.0, 0.0),
                    high=more.high,
                ),
                rate,
                who=people.get(row["group"], {}),
                n=row["n"],
                magnitude=gap / limits.reported,
                threshold=row["others"] + limits.reported,
                p_value=row["p_value"],
                test=("missingness", "missing", index),
                evidence="missingness/missing",
                format="pct",
                remedy="explain_missing_values",
            )
        )
    return replace(result, findings=tuple(findings))
