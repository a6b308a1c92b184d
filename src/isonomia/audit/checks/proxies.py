"""Which columns give protected attributes away?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from isonomia.audit.check_registry import check
from isonomia.evidence import Finding, Result
from isonomia.fairness import proxies as find_proxies
from isonomia.languages import msg
from isonomia.parameters import parameters_of
from isonomia.subject import Subject

#: An attribute predicted this much better than by guessing (0: as by guessing, 1: always) is reported.
PREDICTABLE = 0.3


@check(
    "proxies",
    order=50,
    family="people",
    title=msg("Proxies"),
    question=msg("Which columns reveal protected attributes?"),
    purpose="how well each attribute is predicted from the other columns, and which carry it",
    within="full",
    parameters=parameters_of(
        find_proxies,
        "attributes",
        "columns",
        "by",
        "folds",
        "rounds",
        "shuffled_rows",
        "max_rows",
        folds=3,
        max_rows=10_000,
    ),
)
def proxies(subject: Subject, **options: Any) -> Result:
    """How well the attributes can be predicted from the other columns."""
    subject.needs_attributes()
    result = find_proxies(subject, progress=subject.progress, **options)
    findings = []
    for row in result.tables["attributes"].rows():
        name, low = row["attribute"], row["balanced_accuracy_low"]
        if low is None or (low - row["guessing"]) / (1 - row["guessing"]) < PREDICTABLE:
            continue
        carriers = ", ".join(result.carriers(name, most=3)) or "—"
        findings.append(
            Finding(
                "proxies.predictable",
                "notice",
                msg(
                    "{attribute} can be predicted from the other columns with a balanced accuracy of {value:pct}; "
                    "strongest: {columns}.",
                    attribute=name,
                    value=row["balanced_accuracy"],
                    columns=carriers,
                ),
                result.balanced_accuracy[name],
                n=result.balanced_accuracy[name].n,
                magnitude=(row["balanced_accuracy"] - row["guessing"]) / (1 - row["guessing"]) / PREDICTABLE,
                threshold=PREDICTABLE,
                evidence="proxies/columns",
                format="pct",
                columns=(name,),
                remedy="examine_proxies",
            )
        )
    return replace(result, findings=tuple(findings))
