"""Which columns give protected attributes away?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from isonomia.audit.check_registry import check
from isonomia.evidence import THRESHOLDS, Finding, Result
from isonomia.fairness import proxies as find_proxies
from isonomia.languages import ColumnName, column_names, msg
from isonomia.parameters import parameters_of
from isonomia.subject import Subject


@check(
    "proxies",
    order=50,
    topic="use",
    family="people",
    title=msg("Proxies"),
    question=msg("Which columns reveal protected attributes?"),
    purpose="how well each attribute is predicted from the other columns, and which carry it",
    within="standard",
    parameters=parameters_of(find_proxies, folds=3, max_rows=10_000),
)
def proxies(subject: Subject, **options: Any) -> Result:
    """How well the attributes can be predicted from the other columns."""
    subject.needs_attributes()
    result = find_proxies(subject, progress=subject.progress, **options)
    findings = []
    limits = THRESHOLDS["predictable"]  # 0: as by guessing, 1: always
    for row in result.tables["attributes"].rows():
        name, low = row["attribute"], row["balanced_accuracy_low"]
        if low is None or (low - row["guessing"]) / (1 - row["guessing"]) < limits.reported:
            continue
        better = (row["balanced_accuracy"] - row["guessing"]) / (1 - row["guessing"])
        findings.append(
            Finding(
                "proxies.predictable",
                limits.severity(better),
                msg(
                    "{attribute:first} can be predicted from the other columns: balanced accuracy {value:pct}, "
                    "{guessing:pct} by guessing. The strongest: {columns}.",
                    attribute=ColumnName(name),
                    value=row["balanced_accuracy"],
                    guessing=row["guessing"],
                    columns=column_names(result.carriers(name, most=3)),
                ),
                result.balanced_accuracy[name],
                n=result.balanced_accuracy[name].n,
                magnitude=better / limits.reported,
                threshold=row["guessing"] + limits.reported * (1 - row["guessing"]),
                evidence="proxies/columns",
                format="pct",
                columns=(name,),
                topic="use",
                remedy="examine_proxies",
            )
        )
    return replace(result, findings=tuple(findings))
