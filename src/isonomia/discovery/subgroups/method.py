"""What a subgroup method returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.evidence import Column, Estimate, Picture, Table
from isonomia.languages import Message, take_texts

if TYPE_CHECKING:
    from isonomia.discovery.subgroups.problem import Problem


@dataclass(frozen=True, eq=False)
class Subgroup:
    """One subgroup as a method found it.

    Attributes
    ----------
    conditions : mapping
        Feature name -> the codes it may have (one for "=", several for a set of values or a range of bins). Features
        not named may have any value.
    stats : mapping
        The method's own columns.
    estimate : Estimate
        The quantity examined, in the subgroup, with its interval.
    overall : float or None
        The same for everyone (or for whom the subgroup is compared with).
    p_value, p_adjusted : float or None
        The test behind it; adjusted over everything the search looked at.
    text : str, optional
        How it reads, where it is not a conjunction.
    without : tuple of mappings
        Conjunctions, each as `conditions`, whose rows are not part of it.
    member : callable, optional
        Features -> who is in it, where it is not a conjunction.
    message : Message, optional
        What a finding about it says, where the common sentence does not fit.
    measure : Message, optional
        What was examined, where a search examines several measures; else `Search.measure`.
    measured : Problem, optional
        The rows its figures come from, where they do not come from all.
    """

    conditions: Mapping[str, tuple[int, ...]]
    stats: Mapping[str, Any] = field(default_factory=dict)
    estimate: Estimate = field(default_factory=lambda: Estimate.missing("not measured"))
    overall: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    text: str | None = None
    without: tuple[Mapping[str, tuple[int, ...]], ...] = ()
    member: Callable[[Mapping[str, Codes]], NDArray[np.bool_]] | None = None
    message: Message | None = None
    measure: Message | None = None
    measured: Problem | None = None

    def __post_init__(self) -> None:
        take_texts(self, "message", "measure")

    @property
    def names(self) -> tuple[str, ...]:
        """The features that it is about."""
        return tuple(dict.fromkeys([*self.conditions, *(name for others in self.without for name in others)]))

    def mask(self, features: Mapping[str, Codes]) -> NDArray[np.bool_]:
        """Which rows are in it, of the data that the features are columns of."""
        if self.member is not None:
            return self.member(features)
        inside = _rows_of(self.conditions, features)
        for others in self.without:
            inside &= ~_rows_of(others, features)
        return inside


def _rows_of(conditions: Mapping[str, tuple[int, ...]], features: Mapping[str, Codes]) -> NDArray[np.bool_]:
    inside: NDArray[np.bool_] | None = None
    for name, codes in conditions.items():
        column = features[name]
        if len(codes) == 1:
            matches = column.codes == codes[0]
        else:
            table = np.zeros(column.size, dtype=bool)
            table[list(codes)] = True
            matches = table[column.codes]
        inside = matches if inside is None else np.logical_and(inside, matches, out=inside)
    if inside is None:
        return np.ones(len(next(iter(features.values()))), dtype=bool)
    return inside


@dataclass(frozen=True, eq=False)
class Search:
    """What a method's search came to.

    Attributes
    ----------
    subgroups : tuple of Subgroup
        The best first.
    tested : int
        Distinct candidate subgroups whose figures were computed: TSN.
    nodes : int
        Nodes of the search that were looked at, pruned ones included.
    complete : bool
        False where a limit of time or memory cut the search short: what is there is right, what is missing is unknown.
    measure : Message
        What was examined, in words ("false positive rate"); a plain text will do.
    style : "pct" or "num"
        How that quantity is written.
    columns : tuple of Column
        The columns of `Subgroup.stats`: how they are written and headed.
    tables, pictures, notes, values
        What the method has to show besides.
    details : object
        What the method has to offer for further questions (DivExplorer: all its subgroups).
    discriminating : tuple of Subgroup, optional
        All that were found, where `subgroups` are only the first k of them; their number is DSN.
    """

    subgroups: tuple[Subgroup, ...]
    measure: Message
    tested: int
    nodes: int = 0
    complete: bool = True
    style: Literal["pct", "num"] = "pct"
    columns: tuple[Column, ...] = ()
    tables: Mapping[str, Table] = field(default_factory=dict)
    pictures: tuple[Picture, ...] = ()
    notes: tuple[Message, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    details: Any = None
    discriminating: tuple[Subgroup, ...] | None = None

    def __post_init__(self) -> None:
        take_texts(self, "measure", "notes")
