"""Are equal people labelled alike?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from isonomia.audit.check_registry import check
from isonomia.audit.checks._labels import label_findings
from isonomia.evidence import Finding, Result
from isonomia.fairness import duplicates as find_duplicates
from isonomia.languages import Message, msg
from isonomia.parameters import parameters_of
from isonomia.subject import Subject

#: More rows with an equal of another label than this are reported.
CONFLICTS = 0.01


@check(
    "duplicates",
    order=40,
    family="people",
    title=msg("Same people, different labels"),
    question=msg("Do people who are identical in everything else have the same label?"),
    purpose="rows equal in all but protected attributes, with different labels",
    within="full",
    parameters=parameters_of(find_duplicates, "columns", "by"),
)
def duplicates(subject: Subject, **options: Any) -> Result:
    """Equal people with different labels."""
    result = find_duplicates(subject, **options)
    findings = []
    share = result.in_conflict
    if share.value is not None and share.value > CONFLICTS:
        findings.append(
            Finding(
                "duplicates.conflict",
                "notice",
                msg(
                    "{share:pct} of the rows have a duplicate with a different label: no model can be right about "
                    "both.",
                    share=share.value,
                ),
                share,
                n=share.n,
                magnitude=share.value / CONFLICTS,
                threshold=CONFLICTS,
                evidence="duplicates/sets",
                format="pct",
                remedy="explain_differing_labels",
            )
        )
    if "by_group" in result.tables:
        findings += label_findings(
            result.tables["by_group"],
            subject,
            "duplicates.group",
            method="permutation",
            evidence="duplicates/by_group",
            sentence=_sentence,
        )
    return replace(result, findings=tuple(findings))


def _sentence(row: Mapping[str, Any]) -> Message:
    facts = {"group": row["group"], "own": row["own"], "others": row["others"]}
    if row.get("class") is None:
        return msg(
            "Among people who are identical in everything else, the mean label is {own:num} for {group} and "
            "{others:num} for the others.",
            **facts,
        )
    return msg(
        "Among people who are identical in everything else, {own:pct} of {group} and {others:pct} of the others are "
        "labelled {label}.",
        label=row["class"],
        **facts,
    )
