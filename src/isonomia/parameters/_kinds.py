"""The kinds of values an option may have."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from isonomia.errors import SpecError, did_you_mean
from isonomia.parameters._kind import Kind, Schema, Unfit, known
from isonomia.registry import Registry


def _is(kind: type, value: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


@dataclass(frozen=True)
class Integer(Kind[int]):
    """A whole number, of Python or of NumPy, within its bounds.

    >>> Integer(1).check("bins", 10)
    10
    >>> Integer(1).or_none("for all values").check("bins", 2.5)
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: `bins` must be a whole number of at least 1, or None for all values; got 2.5.
    """

    at_least: int | None = None
    at_most: int | None = None
    hint: str = ""

    @property
    def expected(self) -> str:
        low = "" if self.at_least is None else f" of at least {self.at_least}"
        high = "" if self.at_most is None else f" and at most {self.at_most}" if low else f" of at most {self.at_most}"
        return f"a whole number{low}{high}{self.hint}"

    def read(self, value: Any) -> int:
        number = int(value) if _is(Integral, value) else None
        if (
            number is None
            or (self.at_least is not None and number < self.at_least)
            or (self.at_most is not None and number > self.at_most)
        ):
            raise Unfit
        return number

    def schema(self) -> Schema:
        return known(type="integer", minimum=self.at_least, maximum=self.at_most)


@dataclass(frozen=True, kw_only=True)
class Number(Kind[float]):
    """A finite number, of Python or of NumPy, within its bounds.

    >>> Number(above=0, at_most=1).check("alpha", 0.05)
    0.05
    >>> Number(above=0, at_most=1).check("alpha", 0)
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: `alpha` must be a number in (0, 1]; got 0.
    >>> Number(at_least=0).check("penalty", float("inf"))
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: `penalty` must be a finite number of at least 0; got inf.
    """

    above: float | None = None
    at_least: float | None = None
    below: float | None = None
    at_most: float | None = None
    hint: str = ""

    @property
    def expected(self) -> str:
        low = self.above if self.at_least is None else self.at_least
        high = self.below if self.at_most is None else self.at_most
        if low is not None and high is not None:
            ends = "(" if self.at_least is None else "[", ")" if self.at_most is None else "]"
            return f"a number in {ends[0]}{low:g}, {high:g}{ends[1]}{self.hint}"
        if low is not None:
            return f"a finite number {'above' if self.at_least is None else 'of at least'} {low:g}{self.hint}"
        if high is not None:
            return f"a finite number {'below' if self.at_most is None else 'of at most'} {high:g}{self.hint}"
        return f"a finite number{self.hint}"

    def read(self, value: Any) -> float:
        try:
            number = float(value) if _is(Real, value) else math.nan
        except OverflowError:  # an integer beyond all floats
            number = math.nan
        if not (
            math.isfinite(number)
            and (self.above is None or number > self.above)
            and (self.at_least is None or number >= self.at_least)
            and (self.below is None or number < self.below)
            and (self.at_most is None or number <= self.at_most)
        ):
            raise Unfit
        return number

    def schema(self) -> Schema:
        return known(
            type="number",
            minimum=self.at_least,
            exclusiveMinimum=self.above,
            maximum=self.at_most,
            exclusiveMaximum=self.below,
        )


@dataclass(frozen=True)
class Boolean(Kind[bool]):
    """True or False, of Python or of NumPy; neither a number nor a word stands for them.

    >>> Boolean().check("exact", "no")
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: `exact` must be True or False; got 'no'.
    """

    @property
    def expected(self) -> str:
        return "True or False"

    def read(self, value: Any) -> bool:
        from numpy import bool_

        if not isinstance(value, bool | bool_):
            raise Unfit
        return bool(value)

    def schema(self) -> Schema:
        return {"type": "boolean"}


def _id_of(value: Any) -> Any:
    """The id of an entry of a registry, which stands for it; anything else as it is."""
    name = getattr(value, "id", None)
    return name if isinstance(name, str) and not isinstance(value, str) else value


@dataclass(frozen=True)
class Choice(Kind[str]):
    """One of several words: a tuple, or a function that lists them when they are needed.

    Where they are too many for a sentence, `what` says what they are ("the name of a metric").

    >>> Choice(("auto", "batches")).check("solver", "batch")
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: `solver` must be one of auto, batches; got 'batch'. Did you mean 'batches'?
    """

    choices: Iterable[str] | Callable[[], Iterable[str]]
    hint: str = ""
    what: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The words."""
        return tuple(self.choices() if callable(self.choices) else self.choices)

    @property
    def expected(self) -> str:
        names = self.names
        words = self.what or (repr(names[0]) if len(names) == 1 else f"one of {', '.join(names)}")
        return f"{words}{self.hint}"

    def read(self, value: Any) -> str:
        value = _id_of(value)
        if not isinstance(value, str) or value not in self.names:
            raise Unfit(did_you_mean(value, self.names))
        return value

    def schema(self) -> Schema:
        return {"enum": list(self.names)}


@dataclass(frozen=True)
class Entry(Kind[str]):
    """The name of an entry of a registry, or the entry.

    >>> from isonomia.metrics import METRICS
    >>> Entry(METRICS).check("metric", "acuracy")
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: Unknown metric 'acuracy'. Did you mean 'accuracy' ...
    """

    registry: Registry[Any]

    @property
    def expected(self) -> str:
        return f"the name of a {self.registry.word}"

    def read(self, value: Any) -> str:
        value = _id_of(value)
        if not isinstance(value, str):
            raise Unfit
        try:
            self.registry[value]
        except SpecError as error:
            raise Unfit(sentence=str(error)) from None
        return value

    def schema(self) -> Schema:
        return {"enum": list(self.registry.names())}


@dataclass(frozen=True)
class Text(Kind[str]):
    """A text.

    >>> Text("the name of a column").check("time", 3)
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: `time` must be the name of a column; got 3.
    """

    words: str = "a text"

    @property
    def expected(self) -> str:
        return self.words

    def read(self, value: Any) -> str:
        if not isinstance(value, str):
            raise Unfit
        return str(value)

    def schema(self) -> Schema:
        return {"type": "string"}


@dataclass(frozen=True)
class File(Kind[Any]):
    """Data: the path of a file (in a spec, relative to the spec file), or in Python also a dataset or a frame."""

    @property
    def expected(self) -> str:
        return "a file, a Dataset or a frame"

    def read(self, value: Any) -> Any:
        if isinstance(value, Path):
            return str(value)
        if value is None or isinstance(value, bool | Real | bytes | list | tuple | Mapping):
            raise Unfit
        return value

    def schema(self) -> Schema:
        return {"type": "string"}


@dataclass(frozen=True)
class Anything(Kind[Any]):
    """A value that only its function can judge (a function, a causal graph); `words` describe it."""

    words: str = "a value"

    @property
    def expected(self) -> str:
        return self.words

    def read(self, value: Any) -> Any:
        return value

    def schema(self) -> Schema:
        return {}


@dataclass(frozen=True)
class Made(Kind[Any]):
    """An object of Python that a spec cannot write: a function, a `Domain`.

    >>> Made(callable, "a function of two frames").check("metric", 3)
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: `metric` must be a function of two frames; got 3.
    """

    test: Callable[[Any], bool]
    words: str = "an object"

    @property
    def expected(self) -> str:
        return self.words

    def read(self, value: Any) -> Any:
        if not self.test(value):
            raise Unfit
        return value

    def schema(self) -> Schema:
        return {"not": {}}
