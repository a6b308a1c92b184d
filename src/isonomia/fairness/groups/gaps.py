"""How far apart groups are: the gap between extremes, the worst or the mean over metrics, classes and strata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isonomia.evidence import Estimate, Gaps, gaps_of_figures, gaps_of_odds, simultaneous_level
from isonomia.evidence.score_intervals import Asking, answered
from isonomia.evidence.simultaneous import asking_gaps
from isonomia.fairness.groups.comparisons import UNSTEADY, Stratum
from isonomia.languages import msg
from isonomia.languages.naming import as_text
from isonomia.metrics import Measured
from isonomia.typing import Floats

if TYPE_CHECKING:
    from isonomia.fairness.groups.group_metrics import GroupMetrics

#: Over several rates (true and false positives) and classes: the worst of them, or their mean.
Aggregate = Literal["worst", "mean"]
GapMeasure = Literal["difference", "ratio"]

FEW_GROUPS = msg("fewer than two groups with enough rows and cases have a value")
NO_DRAWS = msg("no bootstrap was requested, or the metric has none")
NO_RATIO = msg("every group's rate is 0, or the metric can be negative")


@dataclass(frozen=True, eq=False)
class Gap:
    """The gap between the extremes of one metric within one stratum.

    `difference` is the largest less the smallest value, `ratio` the smallest over the largest (NaN where undefined).
    """

    metric: str
    by: tuple[str, ...]
    control: Mapping[str, str]
    members: tuple[int, ...]
    lowest: int
    highest: int
    difference: float
    ratio: float
    part: Measured


def gaps_of(result: GroupMetrics, metrics: Sequence[str] | None = None) -> list[Gap]:
    """The gap of every metric in every stratum with at least two groups that have a value and enough behind it."""
    groups = result.groups
    assert groups is not None
    strata: dict[tuple[Any, ...], list[int]] = {}
    for number, group in enumerate(groups.groups):
        strata.setdefault((group.by, tuple(group.control.items())), []).append(number)
    found = []
    for name in metrics if metrics is not None else result.measured:
        part = result.measured[name]
        enough = part.enough(result.sizes, result.min_per_group)
        for (by, control), members in strata.items():
            index = np.array(members)
            used = index[enough[index] & ~np.isnan(part.value[index])]
            if used.size >= 2:
                found.append(gap_of(part, by, dict(control), used))
    return found


def gap_of(part: Measured, by: tuple[str, ...], control: Mapping[str, str], used: NDArray[Any]) -> Gap:
    """The gap of one metric between these sets, which all have a value."""
    members, value = tuple(used.tolist()), part.value[used].tolist()
    bottom, top = min(value), max(value)
    return Gap(
        metric=part.metric.id,
        by=by,
        control=control,
        members=members,
        lowest=members[value.index(bottom)],
        highest=members[value.index(top)],
        difference=top - bottom,
        ratio=bottom / top if part.metric.range[0] >= 0 and top > 0 else np.nan,
        part=part,
    )


class Disparity(NamedTuple):
    """The gap of one metric in one stratum; None where fewer than two groups have enough behind a value."""

    metric: str
    stratum: Stratum
    gap: Gap | None


def disparities_of(
    measured: Mapping[str, Measured], strata: Sequence[Stratum], sizes: NDArray[np.int64], min_per_group: int
) -> list[Disparity]:
    """Every metric in every stratum, over the groups with enough rows and cases."""
    members = [np.array(stratum.members) for stratum in strata]
    found = []
    for name, part in measured.items():
        known = part.enough(sizes, min_per_group) & ~np.isnan(part.value[: len(sizes)])
        for stratum, index in zip(strata, members, strict=True):
            used = index[known[index]]
            gap = gap_of(part, stratum.by, stratum.control, used) if used.size >= 2 else None
            found.append(Disparity(name, stratum, gap))
    return found


#: The ends of a difference and those of a ratio; NaN where there are none.
Ends = tuple[float, float, float, float]


def asking_ends(gaps: Sequence[Gap], level: float) -> Asking[list[Ends]]:
    """Simultaneous intervals: each holds its own true gap at `level`, whichever groups turn out to be the extremes.

    Rates and odds have score intervals of all pairs of their groups, other metrics stretched intervals of their
    replicates or errors (see `evidence.simultaneous`).
    """
    rates, odds = ([index for index, gap in enumerate(gaps) if getattr(gap.part, kind)] for kind in ("rate", "odds"))
    of_rates = yield from asking_gaps(*_shares([gaps[index] for index in rates]), level)
    out = dict(zip(rates, _rows(of_rates), strict=True))
    if odds:
        out |= zip(odds, _rows(gaps_of_odds(*_shares([gaps[index] for index in odds]), level)), strict=True)
    for index, gap in enumerate(gaps):
        if index not in out:
            out[index] = _rows(gaps_of_figures(gap.part.figures.take(np.array(gap.members)), level))[0]
    return [out[index] for index in range(len(gaps))]


def _shares(gaps: Sequence[Gap]) -> tuple[Floats, Floats]:
    """The proportions behind rates or odds, and their numbers of rows: a row per gap, filled up with NaN."""
    share, size = table = np.full((2, len(gaps), max((len(gap.members) for gap in gaps), default=1)), np.nan)
    for row, gap in enumerate(gaps):
        members = list(gap.members)
        table[:, row, : len(members)] = gap.part.share[members], gap.part.size[members]
    return share, size


def _rows(found: Gaps) -> list[Ends]:
    parts = (found.difference_low, found.difference_high, found.ratio_low, found.ratio_high)
    return list(zip(*(np.atleast_1d(part).tolist() for part in parts), strict=True))


def combine(gaps: Sequence[Gap], what: GapMeasure, aggregate: Aggregate, *, n: int, level: float = 0.95) -> Estimate:
    """One figure for several gaps.

    "worst" is the largest difference (or smallest ratio); "mean" the mean over metrics within each stratum, of which
    the worst stratum counts. The interval is that of the same figure over the ends of intervals that hold for all gaps
    together (`simultaneous_level`), so it holds for the one that was picked. The figure itself is biased: groups that
    are alike differ by chance, and the largest gap is picked.
    """
    return combine_each(gaps, [(what, aggregate)], n=n, level=level)[0]


def combine_each(
    gaps: Sequence[Gap], wanted: Sequence[tuple[GapMeasure, Aggregate]], *, n: int, level: float = 0.95
) -> list[Estimate]:
    """Several figures of `combine` for the same gaps, whose intervals are worked out once."""
    known = {what: tuple(gap for gap in gaps if not np.isnan(getattr(gap, what))) for what, _ in wanted}
    sets = {tuple(map(id, part)): part for part in known.values() if part}
    asked = (asking_ends(part, simultaneous_level(level, len(part))) for part in sets.values())
    ends = dict(zip(sets, answered(*asked), strict=True)) if sets else {}
    missing = Estimate.missing(NO_RATIO if gaps else FEW_GROUPS, n=n)
    return [
        _combined(known[what], ends[tuple(map(id, known[what]))], what, aggregate, n, level) if known[what] else missing
        for what, aggregate in wanted
    ]


def _combined(
    known: Sequence[Gap], ends: Sequence[Ends], what: GapMeasure, aggregate: Aggregate, n: int, level: float
) -> Estimate:
    pick = max if what == "difference" else min
    first = 0 if what == "difference" else 2
    strata: dict[tuple[Any, ...], list[tuple[float, float, float]]] = {}
    for gap, own in zip(known, ends, strict=True):
        key = (gap.by, tuple(gap.control.items())) if aggregate == "mean" else ()
        strata.setdefault(key, []).append((getattr(gap, what), own[first], own[first + 1]))
    inner: Any = (lambda part: float(np.mean(part))) if aggregate == "mean" else pick
    value, low, high = (pick(inner([one[end] for one in part]) for part in strata.values()) for end in range(3))
    if any(np.isnan(one[1]) for part in strata.values() for one in part):
        reason = NO_DRAWS if any(gap.part.draws is None for gap in known) else UNSTEADY
        return Estimate(value, n=n, level=level, note=as_text(reason))
    method = "score" if all(gap.part.rate or gap.part.odds for gap in known) else "simultaneous"
    return Estimate(value, low, high, n=n, method=method, level=level)


def scaled(figure: Estimate, scale: float) -> Estimate:
    """The estimate in other units; a scale of 0 (all predictions are the same) leaves a gap of 0."""
    if figure.value is None or scale == 1.0:
        return figure
    ends = [None if end is None else end / scale if scale else 0.0 for end in (figure.value, figure.low, figure.high)]
    return Estimate(ends[0], ends[1], ends[2], figure.n, figure.method, figure.note, figure.level)


def facts(gap: Gap, result: GroupMetrics) -> dict[str, Any]:
    """The facts of a gap that a sentence needs."""
    assert result.groups is not None
    part = result.measured[gap.metric]
    names = result.groups.groups
    of_numbers = part.metric.adds_up and not part.metric.of_decisions
    units = "numbers" if of_numbers else "rate" if part.metric.range[1] == 1.0 else "per"
    return {
        "metric": gap.metric,
        "by": gap.by,
        "highest": names[gap.highest].name,
        "lowest": names[gap.lowest].name,
        "high": float(part.value[gap.highest]),
        "low": float(part.value[gap.lowest]),
        "units": units,
        "control": dict(gap.control),
    }
