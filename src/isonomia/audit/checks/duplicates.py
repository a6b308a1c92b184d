"""Are equal people labelled alike?"""

from __future__ import annotations

from dataclasses import replace

from isonomia.audit.checking import check
from isonomia.audit.checks.label_bias import LABEL_GAP, spread_of_labels
from isonomia.audit.subject import Subject
from isonomia.evidence import Estimate, Finding, Result
from isonomia.fairness import Duplicates
from isonomia.fairness import duplicates as find_duplicates
from isonomia.languages import msg

#: More rows with an equal of another label than this are worth telling.
CONFLICTS = 0.01


@check(
    "duplicates",
    title=msg("Same people, different labels"),
    question=msg("Are people who agree in everything else labelled alike?"),
    purpose="rows equal in all but protected attributes, with different labels",
    within="full",
)
def duplicates(subject: Subject) -> Result:
    """Equal people with different labels."""
    result = find_duplicates(subject.data, level=subject.level, **subject.options.get("duplicates", {}))
    findings = []
    share = result.in_conflict
    if share.value is not None and share.value > CONFLICTS:
        findings.append(
            Finding(
                "duplicates.conflict", "notice",
                msg("{share:pct} of the rows have an equal with another label: no model can be right about both.",
                    share=share.value),
                share, n=share.n, magnitude=share.value / CONFLICTS, threshold=CONFLICTS,
                evidence="duplicates/sets", format="pct",
                advice=msg("See whether the labels differ by group, and which column would tell these people apart."),
            )
        )  # fmt: skip
    return replace(result, findings=(*findings, *_groups(result, subject)))


def _groups(result: Duplicates, subject: Subject) -> list[Finding]:
    """Groups whose labels differ from those of their equals."""
    least = LABEL_GAP * spread_of_labels(subject)
    found = []
    for row in result.tables["by_group"].rows() if "by_group" in result.tables else ():
        gap = row["difference"]
        if row["p_value"] is None or abs(gap) < least or row["n"] < subject.min_per_group:
            continue
        facts = {"group": row["group"], "own": row["own"], "others": row["others"]}
        said = msg("Of people equal in all else, labels of {group} average {own:num}, those of others {others:num}.",
                   **facts)  # fmt: skip
        if row.get("class") is not None:
            said = msg("Of people equal in all else, {own:pct} of {group} are labelled {label}, and {others:pct} of "
                       "others.", label=row["class"], **facts)  # fmt: skip
        found.append(
            Finding(
                "duplicates.group", "warning", said,
                Estimate(gap, row["difference_low"], row["difference_high"], n=row["n"], method="permutation",
                         level=subject.level),
                n=row["n"], magnitude=abs(gap) / least, p_value=row["p_value"], threshold=least,
                evidence="duplicates/by_group",
                advice=msg("Ask how the labels came about before a model learns them."),
            )
        )  # fmt: skip
    return found
