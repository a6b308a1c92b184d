"""The ground truth of a synthetic dataset: whom it is biased against, by how much, and in which rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.data.frames import Backend, to_frame
from isonomia.data.synthetic.conditions import Condition, condition_from_dict, holds
from isonomia.errors import DataError, SpecError, close_to

Rows = NDArray[np.int64]
Side = Literal["A", "B"]


@dataclass(frozen=True, eq=False)
class Subgroup:
    """One side of a pair: its conditions, what was done to it, and its rows.

    Attributes
    ----------
    id : str
        "P01A" is side A of pair 1. Side A carries the bias, side B is its comparable partner.
    conditions : tuple of Condition
    bias : float
        Added to the score (log-odds, or units of a regression outcome) of its rows; negative is unfavourable.
    similarity : float
        The share of defining values that both sides of the pair have in common.
    share : float
        The share of the population that satisfies the conditions, under the copula.
    aleatoric, epistemic : float
        The mean standard deviation of noise in the score of its rows, and of the score over the ensemble; None where it
        has no rows.
    members : array
        Positions of the rows drawn for this subgroup.
    rows : array
        Positions of the rows that carry its bias: every row that satisfies the conditions, or the members alone.
    """

    id: str
    pair: int
    side: Side
    conditions: tuple[Condition, ...]
    bias: float
    similarity: float
    share: float
    aleatoric: float | None
    epistemic: float | None
    members: Rows
    rows: Rows

    def __str__(self) -> str:
        return " and ".join(map(str, self.conditions))

    def __repr__(self) -> str:
        return f"Subgroup({self.id}: {self}; bias {self.bias:+.3g}, {self.rows.size} rows)"

    def matches(self, frame: Any) -> NDArray[np.bool_]:
        """Which rows of any frame satisfy the conditions."""
        return holds(self.conditions, frame)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe."""
        return {
            "id": self.id,
            "pair": self.pair,
            "side": self.side,
            "text": str(self),
            "conditions": [condition.to_dict() for condition in self.conditions],
            "bias": self.bias,
            "similarity": self.similarity,
            "share": self.share,
            "aleatoric": self.aleatoric,
            "epistemic": self.epistemic,
            "members": self.members.tolist(),
            "rows": self.rows.tolist(),
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Subgroup:
        """What `to_dict` wrote, read back."""
        try:
            return cls(
                id=str(given["id"]),
                pair=int(given["pair"]),
                side=given["side"],
                conditions=tuple(condition_from_dict(condition) for condition in given["conditions"]),
                bias=float(given["bias"]),
                similarity=float(given["similarity"]),
                share=float(given["share"]),
                aleatoric=None if given["aleatoric"] is None else float(given["aleatoric"]),
                epistemic=None if given["epistemic"] is None else float(given["epistemic"]),
                members=np.asarray(given["members"], dtype=np.int64),
                rows=np.asarray(given["rows"], dtype=np.int64),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise SpecError(f"This is not a subgroup of a ground truth: {type(error).__name__}: {error}.") from None


@dataclass(frozen=True, eq=False)
class GroundTruth:
    """What was injected into a synthetic dataset, for methods to be measured against.

    Attributes
    ----------
    subgroups : tuple of Subgroup
        Both sides of every pair, pair by pair.
    n_rows : int
    settings : mapping
        The options and the seed that made the data.
    """

    subgroups: tuple[Subgroup, ...]
    n_rows: int
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.subgroups)

    def __getitem__(self, id: str) -> Subgroup:  # noqa: A002  the field's own name
        for subgroup in self.subgroups:
            if subgroup.id == id:
                return subgroup
        raise DataError(f"Unknown subgroup {id!r}.{close_to(id, [subgroup.id for subgroup in self.subgroups])}")

    @property
    def biased(self) -> tuple[Subgroup, ...]:
        """The subgroups that a method should find: those with a bias other than 0."""
        return tuple(subgroup for subgroup in self.subgroups if subgroup.bias != 0)

    def partner(self, id: str) -> Subgroup:  # noqa: A002
        """The other side of a subgroup's pair."""
        own = self[id]
        return next(other for other in self.subgroups if other.pair == own.pair and other.side != own.side)

    def matches(self, frame: Any, id: str) -> NDArray[np.bool_]:  # noqa: A002
        """Which rows of any frame satisfy the conditions of one subgroup."""
        return self[id].matches(frame)

    def table(self, backend: Backend | None = None) -> Any:
        """A row a subgroup: id, pair, side, subgroup, bias, similarity, share, aleatoric, epistemic, members, rows."""
        columns: dict[str, list[Any]] = {
            "id": [s.id for s in self.subgroups],
            "pair": [s.pair for s in self.subgroups],
            "side": [s.side for s in self.subgroups],
            "subgroup": [str(s) for s in self.subgroups],
            "bias": [s.bias for s in self.subgroups],
            "similarity": [s.similarity for s in self.subgroups],
            "share": [s.share for s in self.subgroups],
            "aleatoric": [s.aleatoric for s in self.subgroups],
            "epistemic": [s.epistemic for s in self.subgroups],
            "members": [int(s.members.size) for s in self.subgroups],
            "rows": [int(s.rows.size) for s in self.subgroups],
        }
        return to_frame(columns, backend)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe."""
        return {
            "n_rows": self.n_rows,
            "settings": dict(self.settings),
            "subgroups": [subgroup.to_dict() for subgroup in self.subgroups],
        }

    def to_json(self) -> str:
        """The same as JSON text."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> GroundTruth:
        """What `to_dict` wrote, read back."""
        if not {"n_rows", "subgroups"} <= set(given):
            raise SpecError(f"A ground truth has n_rows, settings and subgroups; got {', '.join(map(str, given))}.")
        subgroups = tuple(Subgroup.from_dict(subgroup) for subgroup in given["subgroups"])
        return cls(subgroups, int(given["n_rows"]), dict(given.get("settings") or {}))
