"""Do predictions differ more than people do?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from isonomia.audit.check_registry import check
from isonomia.audit.checks._sample import PEOPLE, SAMPLE, neighbourly, predicted_of_sample
from isonomia.evidence import Finding, Result
from isonomia.fairness import awareness as measure_awareness
from isonomia.languages import msg
from isonomia.parameters import parameters_of
from isonomia.subject import Subject

#: A larger share of neighbours who are treated more differently than they differ is reported.
MOST_VIOLATIONS = 0.05


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
    near = result.near
    if near.value is not None and near.value > MOST_VIOLATIONS:
        findings = (
            Finding(
                "awareness.neighbours",
                "notice",
                msg(
                    "In {share:pct} of the pairs of similar people the predictions differ more than the people do.",
                    share=near.value,
                ),
                near,
                n=near.n,
                magnitude=near.value / MOST_VIOLATIONS,
                threshold=MOST_VIOLATIONS,
                evidence="awareness/pairs",
                format="pct",
                remedy="choose_fair_distance",
            ),
        )  # type: ignore[assignment]
    notes = (*result.notes, *predicted_of_sample(rows, subject))
    return replace(result, findings=findings, notes=notes)
