"""Are groups shown to be treated alike within a margin, and not merely not shown to be treated differently?"""

from __future__ import annotations

import numpy as np

from isonomia.audit.check_registry import check
from isonomia.evidence import Estimate, Finding, Result
from isonomia.fairness import Equivalence
from isonomia.fairness import equivalence as equivalence_tests
from isonomia.fairness.groups.equivalence import MARGIN, OPEN
from isonomia.languages import msg
from isonomia.parameters import parameters_of
from isonomia.subject import Subject


@check(
    "equivalence",
    counted=True,
    order=90,
    family="people",
    title=msg("Equivalence"),
    question=msg("Are groups shown to be treated equally, within a margin?"),
    purpose="two one-sided tests for each group: the same within five points, different, or not settled",
    within="full",
    parameters=parameters_of(equivalence_tests, "margin", "metrics", margin=None),
)
def equivalence(subject: Subject, *, margin: float | None, metrics: list[str] | None) -> Result:
    """Two one-sided tests for each group of each attribute."""
    subject.needs_attributes()
    subject.needs_decisions()
    if margin is None:
        margin = MARGIN
        if subject.task == "regression":
            # a tenth of the predictions' spread, since numbers have no points
            margin = 0.1 * float(np.std(np.asarray(subject.surface.continuous))) or 1e-12
    found = equivalence_tests(subject, margin=margin, metrics=metrics)
    titles = {"margin": msg("margin"), "rows": msg("rows")}
    findings = _findings(found, subject)
    return Result(
        found.code, found.title, found.tables, found.values, findings, found.pictures, found.notes, titles=titles
    )


def _findings(found: Equivalence, subject: Subject) -> tuple[Finding, ...]:
    """One notice where data settle neither that groups are alike nor that they differ."""
    conclusions = list(found.tables["equivalence"]["conclusion"].values)
    unsettled = sum(one == OPEN for one in conclusions)
    if not unsettled:
        return ()
    return (
        Finding(
            "equivalence.not_settled",
            "notice",
            msg(
                "{open:int} of {all:int} comparisons are inconclusive: the groups are shown neither to be equal "
                "within {margin:num} nor to differ.",
                open=unsettled,
                all=len(conclusions),
                margin=found.margin,
            ),
            Estimate(unsettled / len(conclusions), n=len(subject), method="count"),
            n=len(subject),
            magnitude=1.0,
            evidence="equivalence/equivalence",
            remedy="collect_rows_or_widen_margin",
        ),
    )
