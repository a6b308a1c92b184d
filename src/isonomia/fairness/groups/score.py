"""One number between 0 and 1 for a whole suite, and the parts it is made of.

A number that ranks models and shows change over time; what it is made of is always shown beside it, and it is no
statement of compliance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isonomia.data import Backend
from isonomia.evidence import Column, Estimate, Table, agreeing, score_ratio, simultaneous_level
from isonomia.fairness.groups.gaps import Gap, combine, gaps_of
from isonomia.fairness.groups.group_metrics import GroupMetrics
from isonomia.languages import Message, msg

#: What the score of one attribute is made of, for decisions and for numbers; each sums to 1.
WEIGHTS = {"statistical_parity": 0.3, "equal_opportunity": 0.3, "disparate_impact": 0.4}
WEIGHTS_OF_NUMBERS = {"mean_parity": 0.3, "error_parity": 0.3, "distribution_parity": 0.4}
TITLES: dict[str, Message] = {
    "statistical_parity": msg("Statistical parity"),
    "equal_opportunity": msg("Equal opportunity"),
    "disparate_impact": msg("Disparate impact"),
    "mean_parity": msg("Mean parity"),
    "error_parity": msg("Error parity"),
    "distribution_parity": msg("Distribution parity"),
}
MEANINGS: dict[str, Message] = {
    "statistical_parity": msg("smallest over largest selection rate"),
    "equal_opportunity": msg("1 - gap of true positive rates"),
    "disparate_impact": msg("selection rate of the worst-off group over that of the reference, at most 1"),
    "mean_parity": msg("1 - gap of mean predictions in standard deviations"),
    "error_parity": msg("smallest over largest mean absolute error"),
    "distribution_parity": msg("1 - largest Kolmogorov-Smirnov distance"),
}
#: The score from which each assessment holds.
ASSESSMENTS: tuple[tuple[float, Message], ...] = (
    (0.95, msg("Averaged over the measures of the score, the gaps between groups are very small.")),
    (0.85, msg("Averaged over the measures of the score, the gaps between groups are small.")),
    (0.70, msg("There are gaps between groups that require attention.")),
    (0.00, msg("There are large gaps between groups: address the critical issues first.")),
)


@dataclass(frozen=True)
class Part:
    """One part of an attribute's score: its weight (after leaving out what is undefined), its figure in [0, 1]."""

    weight: float
    score: Estimate

    @property
    def contribution(self) -> float:
        """What it adds to the attribute's score."""
        return 0.0 if self.score.value is None else self.weight * self.score.value

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe."""
        return {"weight": self.weight, "score": self.score.to_dict(), "contribution": self.contribution}


#: Attribute to part to what it is worth.
ScoreParts = Mapping[str, Mapping[str, Part]]


def assessment(score: Estimate) -> Message:
    """The score in words.

    >>> assessment(Estimate(0.9)).text()
    'Averaged over the measures of the score, the gaps between groups are small.'
    """
    if score.value is None:
        return msg("There is no overall score: {reason}.", reason=score.note)
    return next(words for minimum, words in ASSESSMENTS if score.value >= minimum - 1e-12)


def score_decisions(result: GroupMetrics, *, privileged: bool, level: float = 0.95) -> tuple[Estimate, ScoreParts]:
    """The score of decisions: the weighted sum of its parts for each attribute, averaged over the attributes.

    0.3 x statistical parity (smallest over largest selection rate), 0.3 x equal opportunity (1 - gap of the true
    positive rates), 0.4 x disparate impact (the worst-off group's selection rate over that of the privileged group, at
    most 1; over the best-off group where none is named). Several classes: the worst class counts. A part that is
    not defined is left out, and the weights of the others are scaled up. Equal rates give exactly 1.

    The interval adds up the ends of the parts' simultaneous intervals, which hold together over parts and attributes.
    The score itself is biased downwards: groups that are alike differ by chance, so it is below 1 on fair data, the
    more so the smaller and the more numerous the groups; its interval reaches 1 then.
    """
    assert result.groups is not None
    attributes = [by[0] for by in dict.fromkeys(group.by for group in result.groups.groups) if len(by) == 1]
    gaps = {name: [gap for gap in gaps_of(result) if gap.by == (name,)] for name in attributes}
    n = int(result.values["rows"])

    def parts_at(confidence: float) -> dict[str, dict[str, Part]]:
        found = {name: _figures(result, own, privileged, n, confidence) for name, own in gaps.items()}
        return {name: _weighted(figures, WEIGHTS) for name, figures in found.items()}

    parts = parts_at(level)
    # without a privileged group two parts are the same figure, which needs to hold only once
    different = sum(len(own) - (not privileged and "disparate_impact" in own) for own in parts.values())
    together = parts_at(simultaneous_level(level, different))
    return _sum(together, n, level), parts


def _figures(result: GroupMetrics, gaps: Sequence[Gap], privileged: bool, n: int, level: float) -> dict[str, Estimate]:
    """The parts of one attribute's score."""
    selected, found = (
        [gap for gap in gaps if gap.metric in names]
        for names in (result.judged(["selection_rate"]), result.judged(["tpr"]))
    )
    figures: dict[str, Estimate] = {}
    if selected:
        figures["statistical_parity"] = _worst_ratio(selected, n, level)
        figures["disparate_impact"] = (
            _impact(result, selected, n, level) if privileged else figures["statistical_parity"]
        )
    if found:
        gap = combine(found, "difference", "worst", n=n, level=level)
        assert gap.value is not None
        assert gap.low is not None
        assert gap.high is not None
        ends = max(1.0 - gap.high, 0.0), 1.0 - gap.low
        figures["equal_opportunity"] = Estimate(1.0 - gap.value, *ends, n=n, method=gap.method, level=level)
    return figures


def _worst_ratio(gaps: Sequence[Gap], n: int, level: float) -> Estimate:
    """The smallest ratio; groups that are all at 0 are equal, and show no more than that."""
    known = [gap for gap in gaps if not np.isnan(gap.ratio)]
    if not known:
        return Estimate(1.0, 0.0, 1.0, n=n, method="score", level=level)
    return combine(known, "ratio", "worst", n=n, level=level)


def _impact(result: GroupMetrics, gaps: Sequence[Gap], n: int, level: float) -> Estimate:
    """The smallest ratio to the reference of the comparisons, at most 1, with an interval for all of them together."""
    assert result.groups is not None
    names = {group.name: index for index, group in enumerate(result.groups.groups)}
    table = result.tables["comparisons"]
    pairs = [
        (result.measured[gap.metric], names[group], names[reference])
        for gap in gaps
        for metric, group, reference in zip(
            table["metric"].values, table["group"].values, table["reference"].values, strict=True
        )
        if metric == gap.metric and names[group] in gap.members and reference in names
    ]
    counts = np.array(
        [
            (part.value[own] * part.size[own], part.size[own], part.value[base] * part.size[base], part.size[base])
            for part, own, base in pairs
        ]
    ).T
    if not pairs:
        return Estimate(1.0, n=n, level=level)
    each = simultaneous_level(level, len(pairs))
    k1, n1, k2, n2 = counts
    low, high = agreeing(score_ratio(k1, n1, k2, n2, each), 1.0, k1, n1, k2, n2, each)
    value = [part.value[own] / part.value[base] if part.value[base] > 0 else 1.0 for part, own, base in pairs]
    ends = float(np.nanmin(low)), float(min(np.nanmin(high), 1.0))
    return Estimate(float(min(1.0, *value)), *ends, n=n, method="score", level=level)


def score_numbers(
    figures: Mapping[str, Mapping[str, Estimate]], n: int, level: float = 0.95
) -> tuple[Estimate, ScoreParts]:
    """The score of predicted numbers, from figures of each attribute in [0, 1] with intervals.

    0.3 x mean parity + 0.3 x error parity + 0.4 x distribution parity. The interval adds up the ends of the parts,
    which errs on the wide side.
    """
    parts: dict[str, dict[str, Part]] = {}
    for name, own in figures.items():
        parts[name] = _weighted({key: one for key, one in own.items() if one.value is not None}, WEIGHTS_OF_NUMBERS)
    return _sum(parts, n, level), parts


NOTHING = "no attribute has two groups with enough rows"


def _sum(parts: ScoreParts, n: int, level: float) -> Estimate:
    """The mean over attributes of the weighted sum of their parts; its ends are those of the parts."""
    known = [own for own in parts.values() if own]
    if not known:
        return Estimate.missing(NOTHING, n=n)
    value = float(np.mean([sum(part.contribution for part in own.values()) for own in known]))

    def ends(side: str) -> float | None:
        sums = [[getattr(part.score, side) for part in own.values()] for own in known]
        if any(one is None for own in sums for one in own):
            return None
        return _clean(float(np.mean([sum(p.weight * getattr(p.score, side) for p in own.values()) for own in known])))

    return Estimate(_clean(value), ends("low"), ends("high"), n=n, method="ends of the parts", level=level)


def _clean(value: float) -> float:
    """Rounding of the weights' sum must not turn equal treatment into 0.9999."""
    return 1.0 if abs(value - 1.0) < 1e-12 else min(max(value, 0.0), 1.0)


def _weighted(figures: Mapping[str, Estimate], weights: Mapping[str, float]) -> dict[str, Part]:
    total = sum(weights[key] for key in figures)
    return {key: Part(weights[key] / total, figures[key]) for key in weights if key in figures}


def score_table(parts: ScoreParts, backend: Backend | None) -> Table:
    """The parts as a table: ``attribute, part, weight, score, score_low, score_high, contribution``."""
    rows = [(name, key, part) for name, own in parts.items() for key, part in own.items()]
    return Table(
        (
            Column("attribute", [name for name, _, _ in rows], title=msg("protected attribute")),
            Column("part", [TITLES[key] for _, key, _ in rows], title=msg("part")),
            Column("weight", [part.weight for _, _, part in rows], format="num", title=msg("weight")),
            Column(
                "score",
                [part.score.value for _, _, part in rows],
                [part.score.low for _, _, part in rows],
                [part.score.high for _, _, part in rows],
                format="num",
                title=msg("score, 0 to 1"),
            ),
            Column("contribution", [part.contribution for _, _, part in rows], format="num", title=msg("contribution")),
            Column("meaning", [MEANINGS[key] for _, key, _ in rows], title=msg("what it is")),
        ),
        msg("Composition of the score"),
        backend,
    )
