"""Are equal people labelled alike?"""

from __future__ import annotations

from dataclasses import replace

from isonomia.audit.checking import check
from isonomia.audit.subject import Subject
from isonomia.evidence import Finding, Result
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
    findings: tuple[Finding, ...] = ()
    share = (result.duplicated.value or 0.0) * (result.conflicting.value or 0.0)
    if share > CONFLICTS:
        findings = (
            Finding(
                "duplicates.conflict", "notice",
                msg("{share:pct} of the rows have an equal with another label: no model can be right about both.",
                    share=share),
                result.conflicting, n=result.conflicting.n, magnitude=share / CONFLICTS, threshold=CONFLICTS,
                evidence="duplicates/sets", format="pct",
                advice=msg("See whether the labels differ by group, and which column would tell these people apart."),
            ),
        )  # fmt: skip
    return replace(result, findings=findings)
