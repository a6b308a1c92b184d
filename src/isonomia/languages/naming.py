"""Names of groups and values: one text wherever they are a key, read in the reader's language where they are shown.

A group's name is data and a few words of ours: "age in [25, 60), race=missing". Frames, JSON and lookups keep that
text; only "in" and "missing" are translated, and the ends of a range are written as its numbers
are: "[18,5; 30)".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from isonomia.languages.encoding import Encoded
from isonomia.languages.message import Message, msg

#: Shares closer to 0 or 1 than this are written as 0.0% and 100.0%.
UNWRITTEN = 0.0005


class Name(str, Encoded, kind="name"):
    """A text with words of ours in it: equal to its English text, and shown by `text` in a language.

    Examples
    --------
    >>> nobody = Name(msg("missing"))
    >>> nobody == "missing", nobody.text("pt-BR")
    (True, 'ausente')
    """

    __slots__ = ("message",)
    message: Message

    def __new__(cls, message: Message, english: str | None = None) -> Name:
        """The English text, where it is known already, which remembers the message it was made of."""
        name = super().__new__(cls, message.text() if english is None else english)
        name.message = message
        return name

    @classmethod
    def literal(cls, text: str) -> Name:
        """A text of ours that is declared as data: the purpose of an entry, the help of an option.

        >>> Name.literal("share of rows decided right").text("pt-BR")
        'parcela de registros com decisão correta'
        """
        return cls(Message.literal(text), text)

    def to_dict(self) -> dict[str, Any]:
        """The English text, and the template and parameters it was made of, for JSON."""
        return {**self.message.to_dict(), "text": str(self)}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Name:
        """The name that `to_dict` wrote."""
        return cls(Message.from_dict(given), given["text"])

    def __getnewargs__(self) -> tuple[Any]:
        """What a copy is made of."""
        return (self.message,)

    def text(self, language: str = "en", *, escape: Callable[[str], str] | None = None) -> str:
        """The name in a language; `escape` is applied to every text that comes from data."""
        return self.message.text(language, escape=escape)


def as_text(message: Message | str) -> str:
    """A message as a text that remembers it; a plain text as it is."""
    return Name(message) if isinstance(message, Message) else message


def is_value(column: str, value: str, sign: str = "=") -> Name:
    """That a column has a value.

    >>> is_value("race", Name(msg("missing"))).text("pt-BR"), is_value("sex", "F", " = ")
    ('race=ausente', 'sex = F')
    """
    if (span := span_of(value)) is not None and None in (span.low, span.high):
        sign = " "
    return Name(Message(f"{{column}}{sign}{{value}}", {"column": column, "value": value}), f"{column}{sign}{value}")


def is_in(column: str, values: str) -> Name:
    """That a column's value lies within a range, or among some values.

    >>> is_in("age", between(25, 60)).text("pt-BR")
    'age em [25; 60)'
    """
    return Name(msg("{column} in {values}", column=column, values=values))


def between(low: float, high: float, *, closed: bool = False) -> Name:
    """A range of numbers, without its upper end unless it is `closed`.

    >>> between(18.5, 30), between(18.5, 30, closed=True).text("pt-BR")
    ('[18.5, 30)', '[18,5; 30]')
    """
    return Name(
        msg("[{low:g}, {high:g}]", low=low, high=high) if closed else msg("[{low:g}, {high:g})", low=low, high=high)
    )


def below(edge: float) -> Name:
    """The numbers below an edge.

    >>> below(18.5), below(18.5).text("pt-BR")
    ('< 18.5', '< 18,5')
    """
    return Name(msg("< {edge:g}", edge=edge))


def at_least(edge: float) -> Name:
    """An edge and the numbers above it.

    >>> at_least(3.5), at_least(3.5).text("pt-BR")
    ('>= 3.5', '≥ 3,5')
    """
    return Name(msg(">= {edge:g}", edge=edge))


@dataclass(frozen=True, slots=True)
class Span:
    """A range of numbers: an end that is None has no limit; the upper end belongs to it only where it is `closed`."""

    low: float | None
    high: float | None
    closed: bool = False


def span_of(value: object) -> Span | None:
    """The range that `between`, `below` or `at_least` named; None for any other text, whatever it looks like.

    >>> span_of(between(25, 60)), span_of("[25, 60)")
    (Span(low=25, high=60, closed=False), None)
    """
    if not isinstance(value, Name):
        return None
    template, ends = value.message.template, value.message.params
    if template in (_HALF_OPEN, _CLOSED):
        return Span(ends["low"], ends["high"], template == _CLOSED)
    if template == _BELOW:
        return Span(None, ends["edge"])
    return Span(ends["edge"], None) if template == _AT_LEAST else None


def among(values: Iterable[str], *, more: int = 0) -> Name:
    """Several values of a column, one of which people have; `more` says how many are not written.

    >>> among(["a", "b"]), among(["a", "b"], more=3)
    ('{a, b}', '{a, b, ... 3 more}')
    """
    named = together(values)
    if more:
        return Name(msg("{{{named}, ... {n:int} more}}", named=named, n=more))
    return Name(Message("{{{named}}}", {"named": named}))


def members(value: object) -> tuple[str, int] | None:
    """The values that `among` named, and how many it did not write; None for any other text.

    >>> members(among(["a", "b"])), members("{a, b}")
    (('a, b', 0), None)
    """
    if not isinstance(value, Name) or value.message.template not in _AMONG:
        return None
    return value.message.params["named"], value.message.params.get("n", 0)


def number(value: float) -> Name:
    """A number that is a name.

    >>> number(3.5), number(3.5).text("pt-BR")
    ('3.5', '3,5')
    """
    return Name(Message("{value:g}", {"value": value}))


def together(names: Iterable[str], between: str = ", ") -> str:
    """Several names as one.

    >>> together([is_in("age", "[25, 60)"), "sex=F"]).text("pt-BR")
    'age em [25, 60), sex=F'
    """
    parts = list(names)
    if len(parts) == 1:
        return parts[0]
    if not any(isinstance(part, Name) for part in parts):
        return between.join(parts)
    message = Message("{part}", {"part": parts[0]})
    for part in parts[1:]:
        message = Message(f"{{message}}{between}{{part}}", {"message": message, "part": part})
    return Name(message, between.join(parts))


def shown(value: object, language: str, escape: Callable[[str], str] | None = None) -> str:
    """Any text as it is shown: a name in the language, another one escaped."""
    if isinstance(value, Name):
        return value.text(language, escape=escape)
    return escape(str(value)) if escape is not None else str(value)


def either(parts: Iterable[Message]) -> Message:
    """Several things of which one is enough: "a or b".

    >>> either([msg("label"), msg("score")]).text("pt-BR")
    'rótulo ou escore'
    """
    first, *rest = parts
    for part in rest:
        first = msg("{one} or {other}", one=first, other=part)
    return first


def both(parts: Iterable[Message]) -> Message:
    """Several things together: "a and b".

    >>> both([msg("label"), msg("score")]).text()
    'label and score'
    """
    first, *rest = parts
    for part in rest:
        first = msg("{one} and {other}", one=first, other=part)
    return first


#: By these templates a name is known to be a range of numbers or a set of values.
_HALF_OPEN, _CLOSED, _BELOW, _AT_LEAST = (
    name.message.template for name in (between(0, 1), between(0, 1, closed=True), below(0), at_least(0))
)
_AMONG = frozenset(name.message.template for name in (among(["a"]), among(["a"], more=1)))
