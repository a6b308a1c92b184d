"""Kinds of options made of other kinds: lists, mappings, alternatives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from isonomia.parameters._kind import Kind, Schema, T, Unfit, known


@dataclass(frozen=True)
class Several(Kind[list[T]]):
    """A list of values of one kind (a tuple, an array or a range of them is read too); at least `at_least`.

    With `single` a value alone stands for a list of one.

    >>> from isonomia.parameters import Number, Text
    >>> Several(Text("a name"), single=True).check("features", "age")
    ['age']

    >>> Several(Number(at_least=0)).check("levels", (0.1, 0.2))
    [0.1, 0.2]
    >>> Several(Number(at_least=0)).check("levels", 0.1)
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: `levels` must be a list, each a finite number of at least 0; got 0.1.
    """

    of: Kind[T]
    at_least: int = 0
    single: bool = False

    @property
    def expected(self) -> str:
        if self.single:
            return f"{self.of.expected}, or a list of {f'at least {self.at_least} of ' if self.at_least else ''}them"
        minimum = f" of at least {self.at_least}" if self.at_least else ""
        return f"a list{minimum}, each {self.of.expected}"

    def read(self, value: Any) -> list[T]:
        if isinstance(value, str | bytes | Mapping | set | frozenset) or not isinstance(value, Iterable):
            if self.single:
                return [self.of.read(value)]
            raise Unfit
        items = list(value)
        if len(items) < self.at_least:
            raise Unfit
        return [self.of.read(item) for item in items]

    def schema(self) -> Schema:
        array = known(type="array", items=self.of.schema(), minItems=self.at_least or None)
        return {"anyOf": [self.of.schema(), array]} if self.single else array


@dataclass(frozen=True)
class Keyed(Kind[dict[str, T]]):
    """A mapping of texts to values of one kind.

    >>> from isonomia.parameters import Number
    >>> Keyed(Number(above=0)).check("unit", {"income": 0})
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: `unit` must be a mapping, each value a finite number above 0; got {'income': 0}.
    """

    of: Kind[T]

    @property
    def expected(self) -> str:
        return f"a mapping, each value {self.of.expected}"

    def read(self, value: Any) -> dict[str, T]:
        if not isinstance(value, Mapping) or any(not isinstance(key, str) for key in value):
            raise Unfit
        return {key: self.of.read(item) for key, item in value.items()}

    def schema(self) -> Schema:
        return {"type": "object", "additionalProperties": self.of.schema()}


@dataclass(frozen=True)
class Either(Kind[Any]):
    """A value of one of several kinds, the first that fits.

    >>> from isonomia.parameters import Integer, Number
    >>> Either(Integer(2), Several(Number())).check("at", 1)
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: `at` must be a whole number of at least 2, or a list, each a finite number; got 1.
    """

    kinds: tuple[Kind[Any], ...]

    def __init__(self, *kinds: Kind[Any]) -> None:
        object.__setattr__(self, "kinds", kinds)

    @property
    def expected(self) -> str:
        return ", or ".join(kind.expected for kind in self.kinds)

    def read(self, value: Any) -> Any:
        problems = []
        for kind in self.kinds:
            try:
                return kind.read(value)
            except Unfit as unfit:
                problems.append(unfit)
        raise next((unfit for unfit in problems if unfit.args[0]), problems[0])

    def schema(self) -> Schema:
        options = [found for kind in self.kinds if (found := kind.schema()) != {"not": {}}]
        return options[0] if len(options) == 1 else {"anyOf": options}
