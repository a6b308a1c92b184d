"""What a search for subgroups returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.discovery.result import SearchResult
from isonomia.discovery.subgroups.method import Subgroup
from isonomia.errors import SpecError
from isonomia.evidence import Result
from isonomia.evidence.power import ALPHA
from isonomia.languages import Message, msg


@dataclass(frozen=True, repr=False)
class SubgroupResult(SearchResult):
    """Subgroups, the best first, and what it took to find them.

    ``table`` has one row per subgroup: a column per feature (None = any), ``subgroup_key`` (values joined by "|", "*" =
    any), ``slice`` (how it reads), ``size`` (rows), ``support`` (their share), ``p_value``, ``p_adjusted`` (over
    everything the search looked at), ``outcome``, ``diff_outcome`` (minus the outcome of everyone), ``overlap``
    (largest share of common rows with a better subgroup: intersection over union) and the method's own columns.

    Attributes
    ----------
    metrics : mapping
        ``TSN`` candidates examined, ``DSN`` subgroups found, ``SUR`` (= ``DSR``) DSN / TSN, ``DSS`` seconds a subgroup
        (None where none was found), ``total_time`` (= ``RUNTIME``), ``dsn_by_attr_value``, ``nodes_visited``,
        ``n_model_rows``, ``n_model_calls``.
    complete : bool
        False where the limit of time or memory cut the search short.
    subgroups : tuple of Subgroup
        The conditions as codes, row by row of the table.
    measures : tuple of Message
        What was examined: "errors", "false positives".
    details : object
        What the method has to offer for further questions (DivExplorer: all frequent subgroups).
    """

    complete: bool = True
    subgroups: tuple[Subgroup, ...] = ()
    features: Mapping[str, Codes] = field(default_factory=dict)
    measures: tuple[Message, ...] = ()
    details: Any = None
    outcome: NDArray[np.float64] | None = None

    @property
    def lead(self) -> tuple[Message, ...]:
        """The question that the search answers, and how many subgroups are more than chance."""
        asked = self._question()
        p_values = np.asarray(self.tables["subgroups"]["p_adjusted"].values, dtype=float)
        tested = p_values[~np.isnan(p_values)]
        if not tested.size:
            return asked
        stand, n = int((tested < ALPHA).sum()), int(tested.size)
        if not stand:
            return (msg("{n:The one subgroup listed is not|None of # is} more than chance.", n=n), *asked)
        return (msg("{stand:int} of {n:# subgroup is|# subgroups are} more than chance.", stand=stand, n=n), *asked)

    def _question(self) -> tuple[Message, ...]:
        if not self.measures:
            return ()
        named = self.measures[0]
        for one in self.measures[1:]:
            named = Message("{measures}, {one}", {"measures": named, "one": one})
        return (msg("The question: which subgroups differ most from everyone by {measures}?", measures=named),)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features that conditions may be on."""
        return tuple(self.features)

    def mask(self, index: int) -> NDArray[np.bool_]:
        """Which rows of the data are in the subgroup at a row of the table."""
        if self.outcome is None:
            raise SpecError("An engine counted the rows, so there is no mask; use the conditions in `subgroups`.")
        return self.subgroups[index].mask(self.features)

    def around(self, index: int, *, k: int = 10) -> Result:
        """The neighbours of a subgroup: without one of its conditions, and with one more.

        Parameters
        ----------
        index : int
            A row of the table.
        k : int
            How many of those with one more condition: the ones whose outcome departs most, among those of at least 30
            rows.
        """
        from isonomia.discovery.subgroups.around import around

        return around(self, index, k=k)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe."""
        return {**super().to_dict(), "complete": self.complete}

    def __repr__(self) -> str:
        partial = "" if self.complete else ", cut short"
        tested = self.metrics.get("TSN", 0)
        if "comparisons" in self.tables:  # verdicts come from samples, of which no subgroup is one
            groups = len(self.tables["comparisons"])
            return f"SubgroupResult({self.method}: {len(self.subgroups)} unfair of {groups:,} comparisons{partial})"
        return f"SubgroupResult({self.method}: {len(self.subgroups)} of {tested:,} subgroups{partial})"
