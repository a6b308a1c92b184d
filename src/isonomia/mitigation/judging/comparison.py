"""A comparison of decisions before and after one or several fixes, with what tables and verdicts ask of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import sum_by
from isonomia.fairness import Groups
from isonomia.mitigation.judging.bands import Bands, GapChanges
from isonomia.mitigation.judging.paired import Measures
from isonomia.models import Surface
from isonomia.subject import Outcome, Subject
from isonomia.typing import Bools, Floats

#: Metrics in which more is better for the people of a group.
LEVELLED = ("selection_rate", "tpr", "accuracy", "mean_prediction")
#: Metrics in which less is.
LEVELLED_DOWN = ("mae",)

Levelling = Literal["levels_up", "trades", "levels_down", "no_change_shown"]


def levelled_metrics(measures: Measures) -> list[int]:
    """The metrics that the test of levelling down looks at; of several classes only accuracy has a direction."""
    several = any(metric.base for metric in measures.metrics)
    return [
        number
        for number, metric in enumerate(measures.metrics)
        if metric.id in (*LEVELLED, *LEVELLED_DOWN) and not (several and metric.id != "accuracy")
    ]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Everything that is known about M fixes of the same decisions.

    Attributes
    ----------
    was : (n,) array
        The decisions before, as codes (numbers for a regression).
    after : mapping of (n,) arrays
        The decisions after each fix.
    """

    subject: Subject
    groups: Groups
    was: NDArray[Any]
    after: Mapping[str, NDArray[Any]]
    measures: Measures
    gaps: GapChanges
    bands: Bands

    @property
    def names(self) -> tuple[str, ...]:
        """The fixes."""
        return tuple(self.after)

    @property
    def ways(self) -> tuple[tuple[str, ...], ...]:
        """The ways of grouping."""
        return tuple(dict.fromkeys(group.by for group in self.groups.groups))

    def decided(self, name: str) -> Subject:
        """The people with the decisions of one fix, as an audit of them sees them."""
        after, subject = self.after[name], self.subject
        surface = (
            Surface.of_numbers(after)
            if subject.task == "regression"
            else Surface(subject.task, subject.surface.classes, label=after)
        )
        outcome = Outcome(subject.outcome.truth, surface)
        return replace(subject, outcome=outcome, predictions=surface, settings=subject.settings, cache={})

    def members(self, by: tuple[str, ...]) -> list[int]:
        """The groups of one way of grouping."""
        return [number for number, group in enumerate(self.groups.groups) if group.by == by]

    def by_group(self, rows: Bools) -> Floats:
        """How many of these rows are in each group, then in all of them."""
        cells = sum_by(self.groups.cells.codes, rows.astype(float), self.n_cells)
        return np.append([cells[group.cells].sum() for group in self.groups.groups], cells.sum())

    @property
    def n_cells(self) -> int:
        """How many cells the attributes make."""
        return len(self.groups.labels)

    def share_changed(self, fix: int) -> float:
        """The share of people whose decision changed."""
        changed = self.was != list(self.after.values())[fix]
        return float(np.average(changed, weights=self.subject.weights))

    def levelling(self, fix: int, by: tuple[str, ...], metric: int) -> tuple[Levelling, list[int], list[int]]:
        """The verdict of one metric, and the groups that are raised and lowered."""
        at = levelled_metrics(self.measures).index(metric)
        up, down = self.bands.raised[fix, at], self.bands.lowered[fix, at]
        if self.measures.metrics[metric].id in LEVELLED_DOWN:
            up, down = down, up
        raised, lowered = ([g for g in self.members(by) if flags[g]] for flags in (up, down))
        verdict: Levelling = "no_change_shown"
        if raised and lowered:
            verdict = "trades"
        elif raised or lowered:
            verdict = "levels_up" if raised else "levels_down"
        return verdict, raised, lowered

    def overall_of(self, fix: int, metric: str) -> tuple[float, float, float] | None:
        """The change of a metric over everyone with its interval; None where it is not measured."""
        if metric not in [one.id for one in self.measures.metrics]:
            return None
        q, band = self.measures.index(metric), self.bands.groups
        return float(band.value[fix, q, -1]), float(band.low[fix, q, -1]), float(band.high[fix, q, -1])
