"""Metrics by group, read as Fairlearn's ``MetricFrame`` is: one metric, the gaps, the extremes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import SpecError
from isonomia.evidence import Estimate, Table
from isonomia.evidence.estimate import finite
from isonomia.languages import msg
from isonomia.metrics import METRICS, Measured


class FrameAccess:
    """What `GroupMetrics` answers beside its tables."""

    tables: Mapping[str, Table]
    measured: Mapping[str, Measured]
    sizes: NDArray[np.int64]
    min_per_group: int

    def disparity(self, metric: str, by: Sequence[str] | None = None) -> tuple[Estimate, Estimate]:
        """Largest - smallest and smallest / largest over the groups of one way of grouping."""
        raise NotImplementedError

    def __getitem__(self, metric: str) -> Any:
        """One metric of each group with its interval, as a frame of the kind the user gave."""
        table, own = self.tables["by_group"], self._name(metric)
        return table.select([name for name in table.names if name not in self.measured or name == own]).frame()

    def difference(self, metric: str | None = None, *, by: str | Sequence[str] | None = None) -> Any:
        """The largest less the smallest value over the groups, as an estimate; of every metric where none is named.

        `by` names the attributes, where groups were formed in several ways.
        """
        return self._of_each(metric, lambda name: self.disparity(name, self._way(by))[0])

    def ratio(self, metric: str | None = None, *, by: str | Sequence[str] | None = None) -> Any:
        """The smallest over the largest value over the groups, as `difference`."""
        return self._of_each(metric, lambda name: self.disparity(name, self._way(by))[1])

    def group_min(self, metric: str | None = None) -> Any:
        """The smallest value of a group with enough rows, as an estimate; of every metric where none is named."""
        return self._of_each(metric, lambda name: self._extreme(name, min))

    def group_max(self, metric: str | None = None) -> Any:
        """The largest value of a group with enough rows, as `group_min`."""
        return self._of_each(metric, lambda name: self._extreme(name, max))

    def _of_each(self, metric: str | None, figure: Callable[[str], Estimate]) -> Any:
        return {name: figure(name) for name in self.measured} if metric is None else figure(self._name(metric))

    def _name(self, metric: str) -> str:
        """The name under which a metric was measured; another of its names is enough."""
        names = [{entry.id, *entry.aliases} for entry in METRICS if metric in (entry.id, *entry.aliases)]
        same = {metric}.union(*names)
        found = next((name for name in self.measured if name in same), None)
        if found is None:
            raise SpecError(
                f"The metric {metric!r} was not measured; measured are {', '.join(self.measured)}. Ask for it: "
                "metrics=[...]."
            )
        return found

    def _way(self, by: str | Sequence[str] | None) -> Sequence[str] | None:
        """The way of grouping; one has to be named where there are several."""
        ways = list(dict.fromkeys(self.tables["disparities"]["by"].keys or ()))
        if by is None and len(ways) > 1:
            listed = "; ".join(", ".join(way) for way in ways)
            raise SpecError(f"Groups were formed in several ways: {listed}. Name the attributes of one: by=[...].")
        return [by] if isinstance(by, str) else by

    def _extreme(self, metric: str, choose: Callable[..., int]) -> Estimate:
        """The smallest or the largest value of a group that is not small."""
        column = self.tables["by_group"][metric]
        values = [finite(value) for value in column.values]
        known = [row for row, value in enumerate(values) if value is not None and self.sizes[row] >= self.min_per_group]
        if not known:
            return Estimate.missing(msg("no group with enough rows has a value"))
        return column.estimate(choose(known, key=lambda row: values[row]))
