"""Every metric of many trials, and the gaps of some of them between groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isonomia.evidence.intervals import extremes
from isonomia.metrics import Metric, Rows, TrialMeasure, TrialSums, check_applicable
from isonomia.robustness.stress.situation import Situation
from isonomia.typing import Floats


class Measures:
    """Measures metrics, and the gaps of some of them between groups, over trials.

    Parameters
    ----------
    base : Situation
        The situation as it is.
    metrics : sequence of Metric
        All must apply to the base.
    gaps : sequence of Metric
        Metrics that add up over rows whose largest difference between groups is wanted.
    min_per_group : int
        Smaller groups do not count in gaps.
    """

    def __init__(
        self, base: Situation, metrics: Sequence[Metric], gaps: Sequence[Metric] = (), *, min_per_group: int = 30
    ) -> None:
        self.base, self.metrics, self.gaps = base, tuple(metrics), tuple(gaps)
        self.groups = tuple((column, column.counts() >= min_per_group) for column in base.attributes)
        self._measure = TrialMeasure(_rows(base), (*self.metrics, *self.gaps), base.attributes if self.gaps else ())

    def read(self, now: Situation) -> TrialSums:
        """The counts and sums of one trial."""
        return self._measure.read(_rows(now))

    def values(self, trials: Sequence[TrialSums]) -> Floats:
        """(trials, metrics); NaN where a metric is undefined in a trial."""
        out = np.full((len(trials), len(self.metrics)), np.nan)
        for index, metric in enumerate(self.metrics if trials else ()):
            out[:, index] = self._measure.values(metric, trials)
        return out

    def gap_values(self, trials: Sequence[TrialSums]) -> Floats:
        """(trials, attributes, gap metrics): largest less smallest over the groups that are large enough."""
        out = np.full((len(trials), len(self.groups), len(self.gaps)), np.nan)
        for a, (_, enough) in enumerate(self.groups):
            for g, metric in enumerate(self.gaps):
                out[:, a, g] = extremes(self._measure.values(metric, trials, a)[:, enough])[0]
        return out


def _rows(now: Situation) -> Rows:
    return Rows(now.truth, now.surface, now.weights)


def applicable(base: Situation, metrics: Sequence[Metric]) -> tuple[tuple[Metric, ...], dict[str, str]]:
    """The metrics that have an answer in the base situation, and the reasons why the others have none."""
    reasons: dict[str, Any] = {m.id: check_applicable(m, base.truth, base.surface, base.weights) for m in metrics}
    fitting = tuple(m for m in metrics if reasons[m.id] is None)
    return fitting, {name: reason for name, reason in reasons.items() if reason is not None}
