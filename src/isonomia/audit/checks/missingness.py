"""Whose values are missing?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from isonomia.audit.check_registry import check
from isonomia.audit.checks._people import people_by_name
from isonomia.evidence import Estimate, Finding, Result
from isonomia.fairness import missingness as look_for_gaps
from isonomia.languages import msg
from isonomia.parameters import parameters_of
from isonomia.subject import Subject

#: A column missing this much more often for a group is reported.
MISSING_GAP = 0.05


@check(
    "missingness",
    order=20,
    family="people",
    title=msg("Missing values"),
    question=msg("Whose values are missing?"),
    purpose="share of missing values of each column by group",
    within="full",
    parameters=parameters_of(look_for_gaps, "attributes", "columns", "by", "blanks"),
)
def missingness(subject: Subject, **options: Any) -> Result:
    """Missing values by group."""
    subject.needs_attributes()
    result = look_for_gaps(subject, **options)
    findings = []
    people = people_by_name(subject)
    for index, row in enumerate(result.tables["missing"].rows()):
        gap = row["difference"]
        if gap is None or gap < MISSING_GAP or row["n"] < subject.settings.min_per_group:
            continue
        findings.append(
            Finding(
                "missingness.group",
                "warning",
                msg(
                    "'{column}' is missing for {rate:pct} of {group} and for {others:pct} of everyone else.",
                    column=row["column"],
                    rate=row["rate"],
                    group=row["group"],
                    others=row["others"],
                ),
                Estimate(
                    row["rate"],
                    row["rate_low"],
                    row["rate_high"],
                    n=row["n"],
                    method="wilson",
                    level=subject.settings.level,
                ),
                who=people.get(row["group"], {}),
                n=row["n"],
                magnitude=gap / MISSING_GAP,
                threshold=MISSING_GAP,
                p_value=row["p_value"],
                test=("missingness", "missing", index),
                evidence="missingness/missing",
                format="pct",
                remedy="explain_missing_values",
            )
        )
    return replace(result, findings=tuple(findings))
