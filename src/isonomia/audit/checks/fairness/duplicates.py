"""Are equal people labelled alike?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from isonomia.audit.check_registry import check
from isonomia.audit.checks._labels import label_findings
from isonomia.evidence import THRESHOLDS, Finding, Result
from isonomia.fairness import duplicates as find_duplicates
from isonomia.languages import Message, OutcomeName, msg
from isonomia.languages.words import TRULY_FAVOURABLE
from isonomia.parameters import parameters_of
from isonomia.subject import Subject


@check(
    "duplicates",
    order=40,
    family="people",
    counted=True,
    title=msg("Same people, different labels"),
    question=msg("Do people who are identical in everything else have the same label?"),
    purpose="rows equal in all but protected attributes, with different labels",
    within="full",
    parameters=parameters_of(find_duplicates),
)
def duplicates(subject: Subject, **options: Any) -> Result:
    """Equal people with different labels."""
    result = find_duplicates(subject, **options)
    findings = []
    share, limits = result.in_conflict, THRESHOLDS["conflicting_labels"]
    if share.value is not None and share.value > limits.reported:
        findings.append(
            Finding(
                "duplicates.conflict",
                limits.severity(share.value),
                msg(
                    "{share:pct} of people have an identical record in the data with another label: no model can be "
                    "right about both.",
                    share=share.value,
                ),
                share,
                n=share.n,
                magnitude=share.value / limits.reported,
                threshold=limits.reported,
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


def _sentence(row: Mapping[str, Any], task: str) -> Message:
    facts = {"group": row["group"], "own": row["own"], "others": row["others"]}
    if task == "binary":
        return msg(
            "Among people who are alike in everything else, {own:pct} of {group} and {others:pct} of the others are "
            "people {favourable}.",
            favourable=TRULY_FAVOURABLE,
            **facts,
        )
    if row.get("class") is None:
        return msg(
            "Among people who are alike in everything else, the mean label is {own:num} for {group} and {others:num} "
            "for the others.",
            **facts,
        )
    return msg(
        "Among people who are alike in everything else, {own:pct} of {group} and {others:pct} of the others have the "
        'label "{label}".',
        label=OutcomeName(str(row["class"])),
        **facts,
    )
