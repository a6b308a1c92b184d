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
from isonomia.evidence import Column, Estimate, Table
from isonomia.evidence.intervals import bootstrap_interval, quotient
from isonomia.fairness.groups.gaps import Gap, gaps_of
from isonomia.fairness.groups.group_metrics import GroupMetrics
from isonomia.languages import Message, msg
from isonomia.typing import Floats

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
    (0.95, msg("Groups are treated very much alike on the measures of the score.")),
    (0.85, msg("Groups are treated largely alike; smaller gaps remain.")),
    (0.70, msg("There are gaps between groups that ask for attention.")),
    (0.00, msg("There are large gaps between groups: act on the critical issues first.")),
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
    'Groups are treated largely alike; smaller gaps remain.'
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
    """
    assert result.groups is not None
    attributes = [by[0] for by in dict.fromkeys(group.by for group in result.groups.groups) if len(by) == 1]
    parts: dict[str, dict[str, tuple[float, Floats | None]]] = {}
    gaps = gaps_of(result)
    for name in attributes:
        own = [gap for gap in gaps if gap.by == (name,)]
        selected = [gap for gap in own if gap.metric.split("[")[0] == "selection_rate"]
        found = [gap for gap in own if gap.metric.split("[")[0] == "tpr"]
        values: dict[str, tuple[float, Floats | None]] = {}
        if selected:
            values["statistical_parity"] = _worst_ratio(selected)
            values["disparate_impact"] = _impact(result, selected) if privileged else _worst_ratio(selected)
        if found:
            values["equal_opportunity"] = _no_gap(found)
        parts[name] = values
    return _overall(parts, int(result.values["rows"]), level)


def _worst_ratio(gaps: Sequence[Gap]) -> tuple[float, Floats | None]:
    """The smallest ratio; groups that are all at 0 are equal."""
    value = min(1.0 if np.isnan(gap.ratio) else gap.ratio for gap in gaps)
    apart, ratios = _stacked([gap.difference_draws for gap in gaps]), _stacked([gap.ratio_draws for gap in gaps])
    if apart is None or ratios is None:
        return value, None
    return value, np.where(apart == 0, 1.0, ratios).min(axis=0)


def _no_gap(gaps: Sequence[Gap]) -> tuple[float, Floats | None]:
    drawn = _stacked([gap.difference_draws for gap in gaps])
    return 1.0 - max(gap.difference for gap in gaps), None if drawn is None else 1.0 - drawn.max(axis=0)


def _stacked(draws: Sequence[Floats | None]) -> Floats | None:
    known = [one for one in draws if one is not None]
    return np.stack(known) if len(known) == len(draws) else None


def _impact(result: GroupMetrics, gaps: Sequence[Gap]) -> tuple[float, Floats | None]:
    """The smallest ratio to the reference of the comparisons, at most 1."""
    assert result.groups is not None
    names = {group.name: index for index, group in enumerate(result.groups.groups)}
    value, draws = 1.0, None
    for gap in gaps:
        part = result.measured[gap.metric]
        for row in result.tables["comparisons"].rows():
            member = names[row["group"]]
            if row["metric"] != gap.metric or member not in gap.members:
                continue
            base = names.get(row["reference"])
            if row["ratio"] is not None:
                value = min(value, row["ratio"])
            if base is not None and part.draws is not None:
                ratio = np.nan_to_num(quotient(part.draws[member], part.draws[base]), nan=1.0)
                draws = np.minimum(1.0 if draws is None else draws, np.minimum(ratio, 1.0))
    return value, draws


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
    known = [own for own in parts.values() if own]
    if not known:
        return Estimate.missing(NOTHING, n=n), parts
    value = float(np.mean([sum(part.contribution for part in own.values()) for own in known]))

    def ends(side: str) -> float | None:
        sums = [[getattr(part.score, side) for part in own.values()] for own in known]
        if any(one is None for own in sums for one in own):
            return None
        return float(np.mean([sum(p.weight * getattr(p.score, side) for p in own.values()) for own in known]))

    low, high = ends("low"), ends("high")
    return Estimate(_clean(value), low, high, n=n, method="ends of the parts", level=level), parts


NOTHING = "no attribute has two groups with enough rows"


def _overall(
    parts: Mapping[str, Mapping[str, tuple[float, Floats | None]]], n: int, level: float
) -> tuple[Estimate, ScoreParts]:
    out: dict[str, dict[str, Part]] = {}
    draws: list[Floats | None] = []
    for name, values in parts.items():
        figures = {key: _estimate(*values[key], n, level) for key in WEIGHTS if key in values}
        out[name] = _weighted(figures, WEIGHTS)
        if values:
            drawn = _stacked([values[key][1] for key in out[name]])
            draws.append(None if drawn is None else np.array([part.weight for part in out[name].values()]) @ drawn)
    totals = [sum(part.contribution for part in own.values()) for own in out.values() if own]
    if not totals:
        return Estimate.missing(NOTHING, n=n), out
    value = _clean(float(np.mean(totals)))
    together = _stacked(draws)
    return _estimate(value, None if together is None else together.mean(axis=0), n, level), out


def _clean(value: float) -> float:
    """Rounding of the weights' sum must not turn equal treatment into 0.9999."""
    return 1.0 if abs(value - 1.0) < 1e-12 else min(max(value, 0.0), 1.0)


def _weighted(figures: Mapping[str, Estimate], weights: Mapping[str, float]) -> dict[str, Part]:
    total = sum(weights[key] for key in figures)
    return {key: Part(weights[key] / total, figures[key]) for key in weights if key in figures}


def _estimate(value: float, draws: Floats | None, n: int, level: float) -> Estimate:
    if draws is None:
        return Estimate(value, n=n, level=level)
    low, high = (float(end) for end in bootstrap_interval(value, draws, level, hold=True))
    if np.isnan(low):
        return Estimate(value, n=n, level=level)
    return Estimate(value, low, high, n=n, method="bootstrap", level=level)


def score_table(parts: ScoreParts, backend: Backend) -> Table:
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
                title=msg("score"),
            ),
            Column("contribution", [part.contribution for _, _, part in rows], format="num", title=msg("contribution")),
            Column("meaning", [MEANINGS[key] for _, key, _ in rows], title=msg("what it is")),
        ),
        msg("What the score is made of"),
        backend,
    )
