"""Are people treated like those most like them?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from isonomia.audit.check_registry import check
from isonomia.audit.checks._sample import PEOPLE, SAMPLE, neighbourly, predicted_of_sample
from isonomia.evidence import THRESHOLDS, Finding, Result, normal_p
from isonomia.evidence.intervals import error_within
from isonomia.fairness import consistency as measure_consistency
from isonomia.languages import msg
from isonomia.parameters import parameters_of
from isonomia.subject import Subject


@check(
    "consistency",
    order=130,
    family="people",
    title=msg("Consistency"),
    question=msg("Do similar people get similar predictions?"),
    purpose="predictions against those of the nearest neighbours, without the protected columns",
    within="full",
    parameters=(*parameters_of(measure_consistency, "k", "metric", "standardise", "unit"), SAMPLE, PEOPLE),
)
def consistency(subject: Subject, **options: Any) -> Result:
    """Consistency overall and by group."""
    result, rows = neighbourly(subject, measure_consistency, **options)
    findings = []
    value, limits = result.value.value, THRESHOLDS["consistency"]
    if value is not None and value < limits.reported:
        findings.append(
            Finding(
                "consistency.low",
                limits.severity(value),
                msg("Similar people often get different decisions: consistency is {value:pct}.", value=value),
                result.value,
                n=rows.size,
                magnitude=(1 - value) / (1 - limits.reported),
                threshold=limits.reported,
                evidence="consistency/rows",
                format="pct",
                remedy="compare_with_neighbours",
            )
        )
    table, limits = result.tables["by_group"], THRESHOLDS["consistency_gap"]
    for row, key in enumerate(table["group"].keys or ()):
        n = int(table["n"].values[row])
        figure = table["consistency"].estimate(row, n=n, method="normal", level=subject.settings.level)
        if (
            value is None
            or figure.value is None
            or figure.low is None
            or figure.high is None
            or n < subject.settings.min_per_group
        ):
            continue
        gap = figure.value - value
        error = error_within(figure.low, figure.high, subject.settings.level)
        if gap > -limits.reported or error <= 0:
            continue
        findings.append(
            Finding(
                "consistency.group",
                limits.severity(-gap),
                msg(
                    "{group:first} get decisions unlike those of similar people more often: consistency is "
                    "{value:pct}, and {base:pct} overall.",
                    group=table["group"].values[row],
                    value=figure.value,
                    base=value,
                ),
                figure,
                who=dict(key),
                n=n,
                magnitude=-gap / limits.reported,
                threshold=value - limits.reported,
                p_value=float(normal_p(gap / error)),
                evidence="consistency/by_group",
                format="pct",
            )
        )
    notes = (*result.notes, *predicted_of_sample(rows, subject))
    return replace(result, findings=tuple(findings), notes=notes)
