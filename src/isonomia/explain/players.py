"""Who shares a prediction out: the columns of the dataset, or every encoded column by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from isonomia.errors import SpecError, close_to
from isonomia.typing import Bools, Floats, Indices

#: Whether one-hot columns belong together (to their column of the dataset), or each is a player by itself.
By = Literal["columns", "encoded"]


@dataclass(frozen=True, eq=False)
class Players:
    """The players, and which of them every coordinate of a row belongs to.

    Attributes
    ----------
    names : tuple of str
        Columns of the dataset, or encoded columns.
    owner : (D,) array
        The player of each coordinate. A coordinate that is equal in all rows at hand may belong to anyone.

    Examples
    --------
    >>> players = Players(("age", "race"), np.array([0, 1, 1]))
    >>> players.total(np.array([[1.0, 2.0, 3.0]])).tolist()
    [[1.0, 5.0]]
    >>> players.coordinates(np.array([[False, True]])).tolist()
    [[False, True, True]]
    """

    names: tuple[str, ...]
    owner: Indices

    def __len__(self) -> int:
        return len(self.names)

    def indices(self, names: Sequence[str]) -> Indices:
        """The positions of some players."""
        for name in names:
            if name not in self.names:
                raise SpecError(
                    f"`columns` must name columns that the model takes; got {name!r}.{close_to(name, self.names)}"
                )
        return np.array([self.names.index(name) for name in names], dtype=np.intp)

    def merged(self, names: Sequence[str]) -> Players:
        """The players with some of them as one, who comes last.

        >>> Players(("age", "race", "job"), np.array([0, 1, 1, 2])).merged(["age", "job"]).owner.tolist()
        [1, 0, 0, 1]
        """
        block = self.indices(names)
        rest = [index for index in range(len(self.names)) if index not in block]
        inverse = np.full(len(self.names), len(rest), dtype=np.intp)
        inverse[rest] = np.arange(len(rest))
        return Players((*(self.names[index] for index in rest), " + ".join(names)), inverse[self.owner])

    def coordinates(self, coalitions: Bools) -> Bools:
        """Coalitions (C, M) of players as masks (C, D) of coordinates."""
        return np.asarray(coalitions[..., self.owner])

    def total(self, values: Floats) -> Floats:
        """Values (..., D) of coordinates added up by player: (..., M)."""
        if len(self.owner) == len(self.names) and (self.owner == np.arange(len(self.names))).all():
            return values
        member = np.zeros((len(self.owner), len(self.names)))
        member[np.arange(len(self.owner)), self.owner] = 1.0
        return np.asarray(values @ member)
