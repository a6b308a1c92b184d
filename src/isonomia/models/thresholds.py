"""A threshold for each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import index_of, listed
from isonomia.errors import DataError
from isonomia.typing import Floats


@dataclass(frozen=True, eq=False)
class GroupThresholds:
    """Where the decision about each group cuts its probabilities (or scores).

    Attributes
    ----------
    groups : Codes
        The group of each row.
    values : tuple of float
        The threshold of each group, in the order of ``groups.labels``.

    Examples
    --------
    >>> sex = Codes.encode(["F", "M", "F"], name="sex")
    >>> thresholds = GroupThresholds.of(sex, {"F": 0.4, "M": 0.6})
    >>> thresholds.by_row.tolist(), thresholds.to_dict()
    ([0.4, 0.6, 0.4], {'sex': {'F': 0.4, 'M': 0.6}})
    """

    groups: Codes
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.values) != self.groups.size:
            raise DataError(
                f"'{self.groups.name}' has {self.groups.size} groups, but there are {len(self.values)} thresholds."
            )
        if not np.isfinite(self.values).all():
            raise DataError(f"Thresholds must be finite numbers; got {listed(self.values)}.")

    @classmethod
    def of(cls, groups: Codes, thresholds: Mapping[Any, float]) -> GroupThresholds:
        """Thresholds by the groups' values; every group that occurs needs one."""
        known: Sequence[Any] = list(thresholds)
        found = [index_of(label, known) for label in groups.labels]
        without = [label for label, index in zip(groups.labels, found, strict=True) if index is None]
        if without:
            raise DataError(f"There is no threshold for {listed(without)} in '{groups.name}'. Give one per group.")
        return cls(groups, tuple(float(thresholds[known[index]]) for index in found if index is not None))

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def by_row(self) -> Floats:
        """The threshold of each row's group."""
        return np.array(self.values, dtype=float)[self.groups.codes]

    def take(self, rows: NDArray[Any]) -> GroupThresholds:
        """The same thresholds for some of the rows."""
        return GroupThresholds(self.groups.take(rows), self.values)

    def to_dict(self) -> dict[str, Any]:
        """The column and each group's threshold, for records and reports."""
        return {
            self.groups.name: {str(text): value for text, value in zip(self.groups.texts, self.values, strict=True)}
        }
