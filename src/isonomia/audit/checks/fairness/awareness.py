"""Do predictions differ more than people do?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from isonomia.audit.check_registry import check
from isonomia.audit.checks._sample import PEOPLE, SAMPLE, neighbourly, predicted_of_sample
from isonomia.evidence import THRESHOLDS, Finding, Result
from isonomia.fairness import awareness as measure_awareness
from isonomia.languages import msg
from isonomia.parameters import parameters_of
from isonomia.subject import Subject


@check(
    "awareness",
    order=140,
    family="people",
    title=msg("Fairness through awareness"),
    question=msg("Do predictions for similar people differ more than the people do?"),
    purpose="pairs of people whose predictions differ more than their distance allows",
    within="full",
    parameters=(
        *parameters_of(measure_awareness, "metric", "standardise", "lipschitz", "unit", "k", "max_pairs"),
        SAMPLE,
        PEOPLE,
    ),
)
def awareness(subject: Subject, **options: Any) -> Result:
    """Pairs that break the Lipschitz condition."""
    result, rows = neighbourly(subject, measure_awareness, **options)
    findings = ()
    near, limits = result.near, THRESHOLDS["unequal_pairs"]
    if near.value is not None and near.value > limits.reported:
        findings = (
            Finding(
                "awareness.neighbours",
                limits.severity(near.value),
                msg(
                    "In {share:pct} of the pairs of similar people the predictions differ more than the people do.",
                    share=near.value,
                ),
                near,
                n=near.n,
                magnitude=near.value / limits.reported,
                threshold=limits.reported,
                evidence="awareness/pairs",
                format="pct",
                remedy="choose_fair_distance",
            ),
        )  # type: ignore[assignment]
    notes = (*result.notes, *predicted_of_sample(rows, subject))
    return replace(result, findings=findings, notes=notes)
