"""Each group of a rule beside the one that the verdict's sentence compares with: what the picture under it shows."""

from __future__ import annotations

import numpy as np

from isonomia.evidence import Estimate
from isonomia.fairness.judging.evidence import Evidence
from isonomia.fairness.judging.questions import GroupQuestion
from isonomia.report import ComparedGroup


def compared_groups(question: GroupQuestion, evidence: Evidence, level: float) -> tuple[ComparedGroup, ...]:
    """The figure of every group against the group of the sentence, worst first; that group itself stands last.

    The group that the sentence names has the figure and the interval of the sentence; the others those of their own
    comparison. All intervals hold together with those of the policy's other rules.
    """
    rule, part, fixed = question.rule, question.measured.measured[evidence.metric], evidence.reference
    found = {index: ends for index, ends in evidence.beside.items() if np.isfinite(ends[0])}
    if evidence.who in found:
        found[evidence.who] = (evidence.value, evidence.low, evidence.high)
    worst_first = sorted(found, key=lambda index: rule.sign * found[index][0])
    found[fixed] = (1.0 if rule.measure == "ratio" else 0.0, np.nan, np.nan)

    def figure(index: int) -> Estimate:
        middle, *ends = found[index]
        low, high = (float(end) if np.isfinite(end) else None for end in ends)
        return Estimate(float(middle), low, high, n=int(part.n[index]), level=level, method="simultaneous")

    return tuple(
        ComparedGroup(group.texts, figure(index), float(part.value[index]))
        for index in [*worst_first, fixed]
        if (group := question.group(index)) is not None
    )
