"""Weak spots as findings: who, how much worse, and how many people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isonomia.evidence import Estimate, Finding, Severity, beyond
from isonomia.evidence.affected import NO_COUNT
from isonomia.languages import Message, People, msg
from isonomia.robustness.row_metrics import as_error
from isonomia.robustness.slices.spot_merging import Spot

if TYPE_CHECKING:
    from isonomia.robustness.slices.weak_spots import Search


#: Maximum number of findings; the table has all.
FINDINGS = 10


def findings_of(search: Search) -> tuple[Finding, ...]:
    """A finding for each of the worst spots."""
    return tuple(_finding(search, spot) for spot in search.spots[:FINDINGS])


def _test(search: Search, spot: Spot) -> tuple[str, str, int] | None:
    """The row of the table of slices with the smallest p-value among those of a spot; None for a pair of features."""
    row = 0
    for part in search.singles:
        here = np.flatnonzero(part.cells.n > 0)
        if part.names == tuple(spot.slices):
            codes = np.array(spot.slices[part.names[0]])
            best = codes[np.argmin(part.p_value[codes])]
            return "weak_spots", "slices", row + int(np.searchsorted(here, best))
        row += here.size
    return None


def _graded(search: Search, spot: Spot) -> Severity:
    """How serious a spot is: a notice where the scores predict as many errors."""
    if search.rows.scored and search.excess(search.spots.index(spot)).p_value * search.n_tests >= search.limits.alpha:
        return "notice"
    return "critical" if spot.severity > search.limits.critical else "warning"


def _finding(search: Search, spot: Spot) -> Finding:
    limits, metric = search.limits, search.parts.metric
    measured = search.parts.measure(spot.cells, search.picked_level)
    overall = float(search.parts.value(search.overall.sums))
    # a pair was picked out of many cells that no table lists: its p-value is reported after adjusting for all of them
    p_value = spot.p_value if len(spot.slices) == 1 else spot.p_adjusted
    figure = Estimate(
        float(measured.value),
        float(measured.low),
        float(measured.high),
        n=int(measured.n),
        method="wilson" if search.parts.kind == "rate" else "normal",
        level=limits.level,
    )
    people = _people(search, spot, figure, overall)
    return Finding(
        "weak_spots.slice",
        _graded(search, spot),
        _sentence(search, spot, figure, overall, people),
        figure,
        who=spot.texts(search.columns),
        n=int(measured.n),
        magnitude=spot.severity / limits.severity if limits.severity else 1.0 + spot.severity,
        p_value=p_value,
        p_adjusted=spot.p_adjusted,
        test=_test(search, spot),
        threshold=float(as_error(metric, as_error(metric, overall) * (1 + limits.severity))),  # its own inverse
        evidence="weak_spots/weak_spots",
        format=metric.format,
        remedy="review_rows",
        people=people,
    )


def _sentence(search: Search, spot: Spot, figure: Estimate, overall: float, people: Estimate) -> Message:
    metric = search.parts.metric
    facts: dict[str, Any] = {
        "metric": metric.title,
        "value": figure.value,
        "overall": overall,
        "n": figure.n,
        "slice": People(tuple(spot.texts(search.columns).items())),
    }
    if people.value is not None and people.low is not None and overall > 0:
        return msg(
            "For {slice} ({n:int} in all), {value:pct} of decisions are wrong: {times:num} times the overall "
            "{overall:pct}. At the overall rate {people:int} fewer would be wrong ({low:int} to {high:int}).",
            times=float(figure) / overall,
            people=people.value,
            low=max(people.low, 0.0),
            high=people.high,
            **facts,
        )
    if metric.format == "pct":
        return msg("{metric} is {value:pct} for {slice} ({n:int} in all) and {overall:pct} overall.", **facts)
    return msg("{metric} is {value:num} for {slice} ({n:int} in all) and {overall:num} overall.", **facts)


def _people(search: Search, spot: Spot, figure: Estimate, overall: float) -> Estimate:
    """The errors in a slice beyond those of the overall rate."""
    if search.parts.metric.id != "error_rate":
        return Estimate.missing(NO_COUNT, n=figure.n)
    return beyond(figure, overall, figure.n, weighted=search.parts.rows.weights is not None)
