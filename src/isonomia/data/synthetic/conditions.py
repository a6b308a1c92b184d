"""Conditions on columns: what defines a subgroup, and what a conditional sample must satisfy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.data.frames import wrap
from isonomia.errors import DataError, SpecError, close_to


@dataclass(frozen=True, slots=True)
class OneOf:
    """A column contains one of some values; `None` among them stands for a missing value.

    >>> print(OneOf("race", ("Black", "Other")), "and", OneOf("sex", ("F",)))
    race in {Black, Other} and sex = F
    """

    column: str
    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise SpecError(f"The condition on '{self.column}' allows no value at all; name at least one.")

    def __str__(self) -> str:
        texts = ["missing" if value is None else str(value) for value in self.values]
        return f"{self.column} = {texts[0]}" if len(texts) == 1 else f"{self.column} in {{{', '.join(texts)}}}"

    def holds(self, column: nw.Series[Any]) -> NDArray[np.bool_]:
        """Which rows of a column satisfy it."""
        present = [value for value in self.values if value is not None]
        empty = _missing(column)
        inside = np.asarray(column.is_in(present).to_numpy(), dtype=bool) if present else np.zeros(len(column), bool)
        return (inside & ~empty) | (empty if None in self.values else False)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe."""
        plain = [value.item() if isinstance(value, np.generic) else value for value in self.values]
        return {"column": self.column, "values": plain}


@dataclass(frozen=True, slots=True)
class Between:
    """A number lies in [low, high); either end may be infinite.

    >>> print(Between("age", 25, 40), "|", Between("age", high=25), "|", Between("age", 60))
    25 <= age < 40 | age < 25 | age >= 60
    """

    column: str
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise SpecError(
                f"The condition on '{self.column}' must be an interval [low, high) with low < high; "
                f"got [{self.low:g}, {self.high:g})."
            )

    def __str__(self) -> str:
        if math.isinf(self.low):
            return f"{self.column} < {self.high:g}"
        if math.isinf(self.high):
            return f"{self.column} >= {self.low:g}"
        return f"{self.low:g} <= {self.column} < {self.high:g}"

    def holds(self, column: nw.Series[Any]) -> NDArray[np.bool_]:
        """Which rows of a column satisfy it; a missing number satisfies no interval."""
        if not column.dtype.is_numeric():
            raise DataError(f"'{self.column}' contains no numbers, so an interval cannot apply. Name values.")
        numbers = column.to_numpy().astype(float)
        return np.asarray((numbers >= self.low) & (numbers < self.high), dtype=bool)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe; an infinite end is null."""
        low, high = (None if math.isinf(end) else float(end) for end in (self.low, self.high))
        return {"column": self.column, "low": low, "high": high}


Condition = OneOf | Between


def read_conditions(given: Mapping[str, Any] | Sequence[Condition]) -> tuple[Condition, ...]:
    """Read conditions from a mapping, a column each.

    A tuple of two numbers (either may be None) is an interval [low, high), a list or a set is a set of values, anything
    else one value; a mapping is what `to_dict` of a condition wrote.

    >>> [str(condition) for condition in read_conditions({"sex": "F", "race": ["B", "O"], "age": (25, None)})]
    ['sex = F', 'race in {B, O}', 'age >= 25']
    """
    if not isinstance(given, Mapping):
        conditions = tuple(given)
        if any(not isinstance(condition, OneOf | Between) for condition in conditions):
            raise SpecError("Conditions must be a mapping such as {'sex': 'F', 'age': (25, 40)}, or OneOf and Between.")
    else:
        conditions = tuple(_read_one(str(column), value) for column, value in given.items())
    names = [condition.column for condition in conditions]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise SpecError(
            f"Conditions name {', '.join(map(repr, repeated))} more than once; give one condition per column."
        )
    return conditions


def condition_from_dict(given: Mapping[str, Any]) -> Condition:
    """What `to_dict` of a condition wrote, read back.

    >>> condition_from_dict(Between("age", 25).to_dict())
    Between(column='age', low=25.0, high=inf)
    """
    if "values" in given:
        return OneOf(str(given["column"]), tuple(given["values"]))
    return _interval(str(given["column"]), given.get("low"), given.get("high"))


def holds(conditions: Sequence[Condition], frame: Any) -> NDArray[np.bool_]:
    """Which rows of a frame satisfy every condition.

    >>> holds([OneOf("sex", ("F",)), Between("age", 30)], {"sex": ["F", "F", "M"], "age": [20, 30, 40]}).tolist()
    [False, True, False]
    """
    table = wrap(frame)
    rows = np.ones(len(table), dtype=bool)
    for condition in conditions:
        if condition.column not in table.columns:
            raise DataError(
                f"A condition names the column {condition.column!r}, which is not in the data."
                f"{close_to(condition.column, table.columns)}"
            )
        rows &= condition.holds(table[condition.column])
    return rows


def _read_one(column: str, value: Any) -> Condition:
    if isinstance(value, OneOf | Between):
        if value.column != column:
            raise SpecError(f"The condition under '{column}' is about '{value.column}'; name the same column.")
        return value
    if isinstance(value, Mapping):
        return condition_from_dict({"column": column, **value})
    if isinstance(value, tuple):
        if len(value) != 2:
            raise SpecError(f"The interval of '{column}' must be (low, high); got {value!r}. Use a list for values.")
        return _interval(column, *value)
    if isinstance(value, list | set | frozenset):
        return OneOf(column, tuple(sorted(value, key=str) if not isinstance(value, list) else value))
    return OneOf(column, (value,))


def _interval(column: str, low: Any, high: Any) -> Between:
    try:
        bottom = -math.inf if low is None else float(low)
        top = math.inf if high is None else float(high)
    except (TypeError, ValueError):
        raise SpecError(f"The interval of '{column}' must contain numbers; got ({low!r}, {high!r}).") from None
    return Between(column, bottom, top)


def _missing(column: nw.Series[Any]) -> NDArray[np.bool_]:
    empty = np.asarray(column.is_null().to_numpy(), dtype=bool)
    if column.dtype.is_float():
        empty = empty | np.isnan(column.to_numpy().astype(float))
    return empty
