"""How unequally are a model's benefits spread?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from isonomia.audit.check_registry import check
from isonomia.evidence import THRESHOLDS, Finding, Result
from isonomia.fairness import generalized_entropy
from isonomia.languages import ColumnName, msg
from isonomia.parameters import parameters_of
from isonomia.subject import Subject


@check(
    "entropy",
    counted=True,
    order=150,
    family="people",
    title=msg("Inequality of benefits"),
    question=msg("How unequal are the benefits of the model, and how much of the inequality is between groups?"),
    purpose="generalized entropy index, within and between groups and intersections",
    within="full",
    parameters=parameters_of(generalized_entropy),
)
def entropy(subject: Subject, **options: Any) -> Result:
    """The generalized entropy index and its decomposition."""
    subject.needs_attributes()
    result = generalized_entropy(subject, **options)
    findings = []
    limits = THRESHOLDS["between_groups"]
    table = result.tables["decomposition"]
    for row, by in enumerate(table["by"].keys or ()):
        share = table["between_share"].estimate(row).value
        if share is None or share < limits.reported or len(by) > 1:
            continue
        findings.append(
            Finding(
                "entropy.between",
                limits.severity(share),
                msg(
                    "{share:pct} of the inequality of benefits lies between the groups of {by}.",
                    share=share,
                    by=ColumnName(by[0]),
                ),
                table["between"].estimate(row, n=len(subject), method="bootstrap", level=subject.settings.level),
                n=len(subject),
                magnitude=share / limits.reported,
                threshold=limits.reported,
                evidence="entropy/decomposition",
                columns=by,
            )
        )
    return replace(result, findings=tuple(findings))
