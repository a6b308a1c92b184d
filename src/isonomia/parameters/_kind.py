"""What a kind of values is: what it accepts, the sentence about what it refuses, and its JSON schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, NoReturn, TypeVar

from isonomia.errors import SpecError

T = TypeVar("T")
Schema = dict[str, Any]

#: Characters of a value that an error repeats, at most.
_SHOWN = 200


class Unfit(ValueError):  # noqa: N818  caught by `check`
    """A value is not of the kind; `suggestion` follows the usual sentence, `sentence` replaces it."""

    def __init__(self, suggestion: str = "", *, sentence: str = "") -> None:
        self.suggestion, self.sentence = suggestion, sentence
        super().__init__(suggestion or sentence)


class Kind(Generic[T]):
    """What values an option takes. A subclass says what it expects, reads a value and describes itself to JSON."""

    @property
    def expected(self) -> str:
        """What completes the sentence "`name` must be ..."."""
        raise NotImplementedError

    def read(self, value: Any) -> T:
        """The value as plain Python, or `Unfit`."""
        raise NotImplementedError

    def schema(self) -> Schema:
        """The JSON schema of the values that JSON can write."""
        raise NotImplementedError

    def check(self, name: str, value: Any) -> T:
        """The value as plain Python, or a `SpecError` that says what was expected and what came."""
        try:
            return self.read(value)
        except Unfit as unfit:
            if unfit.sentence:
                raise SpecError(unfit.sentence) from None
            raise refusal(name, self.expected, value, unfit.suggestion) from None

    def or_none(self, meaning: str = "") -> Maybe[T]:
        """The same kind, or None; `meaning` says what None stands for ("for no limit")."""
        return Maybe(self, meaning)


@dataclass(frozen=True)
class Maybe(Kind[T | None]):
    """A value of a kind, or None."""

    kind: Kind[T]
    meaning: str = ""

    @property
    def expected(self) -> str:
        return f"{self.kind.expected}, or None{' ' if self.meaning else ''}{self.meaning}"

    def read(self, value: Any) -> T | None:
        return None if value is None else self.kind.read(value)

    def schema(self) -> Schema:
        own = self.kind.schema()
        if not own:
            return own
        return {"anyOf": [*own.get("anyOf", (own,)), {"type": "null"}]}


def known(**facts: Any) -> Schema:
    return {name: value for name, value in facts.items() if value is not None}


def refuse(name: str, expected: str, value: Any, more: str = "") -> NoReturn:
    """Raise the error about a value that is not what was expected.

    >>> refuse("every", "a month or a year", "day")
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: `every` must be a month or a year; got 'day'.
    """
    raise refusal(name, expected, value, more)


def refusal(name: str, expected: str, value: Any, more: str = "") -> SpecError:
    """The error that `refuse` raises."""
    shown = repr(value)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
    return SpecError(f"`{name}` must be {expected}; got {shown}.{more}")
