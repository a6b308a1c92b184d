"""Sentences that can be written in every language of the report.

A sentence is an English template with named gaps, and the values for them. Where code writes ``msg("...")`` the
template is a literal, and a catalog in ``languages/<locale>/<room>.po`` has its translation; a test fails on any
template without one.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from isonomia.errors import DataError, kind_of
from isonomia.languages.encoding import Encoded, decode, encode
from isonomia.languages.field_types import check_fields
from isonomia.languages.locales import check_language, locale, translate

#: What HTML or Markdown would take for more than words; no template of ours has it.
_MARKUP = re.compile(r"<[A-Za-z/!?]|\]\(|&#?\w+;")


@dataclass(frozen=True)
class Message(Encoded, kind="message"):
    """A sentence with gaps and the values for them.

    Gaps take the formats ``pct`` (0.123 as 12%), ``points`` (0.123 as 12), ``num`` (two digits below 1, else three),
    ``num4`` (four decimals; from 10 on five digits), ``int`` (1,234), ``p`` (a p-value), ``date`` (a day in ISO form)
    and none (a text, or another message). A missing number is written as a word. ``{n:# row|# rows}`` is a singular and
    a plural; ``#`` is the number. ``{x:num:# time|# times}`` is the same with a number in another format; from which
    number on a noun is plural is a matter of the language. ``{group:first}`` begins a sentence with a capital,
    ``{metric:inner}`` stands within one, ``{group:of}`` follows "of" (in a translation, where the language joins it
    with an article).

    Examples
    --------
    >>> gap = Message("{group}: {rate:pct} of {n:int}", {"group": "women", "rate": 0.1234, "n": 1500})
    >>> gap.text(), gap.text("pt-BR")
    ('women: 12% of 1,500', 'women: 12% of 1.500')
    >>> [Message("{n:# row is|# rows are} left out", {"n": n}).text() for n in (1, 1500)]
    ['1 row is left out', '1,500 rows are left out']
    """

    template: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def text(self, language: str = "en", *, escape: Callable[[str], str] | None = None) -> str:
        """The sentence in a language; `escape` is applied to every text that comes from data."""
        return _Sentence(check_language(language), escape).vformat(translate(self.template, language), (), self.params)

    def to_dict(self) -> dict[str, Any]:
        """The English text, the template and its parameters, for JSON."""
        return {"text": self.text(), "template": self.template, "params": encode(dict(self.params))}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Message:
        """The message that `to_dict` wrote; its text is made anew, and must be a text without markup."""
        values = {"template": given["template"], "params": decode(given["params"])}
        check_fields(Message, values)
        if _MARKUP.search(values["template"]) or not values["template"].replace("\n", "").isprintable():
            raise DataError("a sentence has markup or control characters")
        message = cls(**values)
        try:
            message.text()
        except Exception as error:
            raise DataError(f"a sentence cannot be written: {kind_of(error)}") from None
        return message

    def __repr__(self) -> str:
        """The English text as a text is shown: lists of messages can be read."""
        return repr(self.text())

    @classmethod
    def literal(cls, text: str) -> Message:
        """A text without gaps: braces in it mean nothing.

        >>> Message.literal("at most {5}").text()
        'at most {5}'
        """
        return cls(text.replace("{", "{{").replace("}", "}}"))

    @classmethod
    def join(cls, parts: Iterable[Message | str]) -> Message | str | None:
        """Several remarks as one, each once, with semicolons between them; None without any.

        >>> str(Message.join([msg("small group"), "no positives", msg("small group")]))
        'small group; no positives'
        """
        distinct: list[Message | str] = []
        distinct.extend(part for part in parts if part not in distinct)
        if not distinct:
            return None
        joined, *rest = distinct
        for part in rest:
            joined = cls("{before}; {remark}", {"before": joined, "remark": part})
        return joined

    def __str__(self) -> str:
        return self.text()


def as_message(text: Message | str) -> Message:
    """A message as it is; a plain text as one without gaps, which reads the same in every language.

    >>> as_message("Shortlists {2024}").text("pt-BR")
    'Shortlists {2024}'
    """
    if isinstance(text, Message):
        return text
    known = getattr(text, "message", None)  # of a `Name`
    return known if isinstance(known, Message) else Message.literal(text)


def take_texts(made: object, *names: str) -> None:
    """Put messages in place of plain texts in some fields of a frozen dataclass; each is one, several, or a mapping."""
    for name in names:
        given = getattr(made, name)
        taken = given
        if isinstance(given, str):
            taken = as_message(given)
        elif isinstance(given, tuple | list) and any(isinstance(one, str) for one in given):
            taken = tuple(map(as_message, given))
        elif isinstance(given, Mapping) and any(isinstance(one, str) for one in given.values()):
            taken = {key: as_message(one) for key, one in given.items()}
        if taken is not given:
            object.__setattr__(made, name, taken)


def once(notes: Iterable[Message]) -> tuple[Message, ...]:
    """Each note once, in order.

    >>> [str(note) for note in once([msg("sampled"), msg("small"), msg("sampled")])]
    ['sampled', 'small']
    """
    kept: list[Message] = []
    kept.extend(note for note in notes if note not in kept)
    return tuple(kept)


def msg(template: str, /, **params: Any) -> Message:
    """A sentence to be translated; the template must be a literal so that the catalogs can be checked."""
    return Message(template, params)


def write_number(value: float | None, style: str, language: str = "en", *, brief: bool = False) -> str:
    """A number as a language writes it: three digits in a table, two in a sentence (`brief`).

    In a sentence shares and points are whole from 10 on (but for shares beyond 99%), and numbers below 1 have two
    digits; from 1 on they keep three, as amounts in a unit.

    >>> write_number(1234.5678, "num"), write_number(0.00004, "p"), write_number(1234.5, "num", "pt-BR")
    ('1,235', '< 0.0001', '1.234')
    >>> write_number(None, "pct"), write_number(-0.0002, "pct")
    ('not available', '0.0%')
    >>> [write_number(x, "pct", brief=True) for x in (0.3849, 0.0512, 0.996)], write_number(0.799, "num", brief=True)
    (['38%', '5.1%', '99.6%'], '0.80')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return translate("not available", language)
    styles = {**_STYLES, **_BRIEF} if brief else _STYLES
    text = styles[style](float(value)) if style in styles else format(value, style)
    return locale(language).write(text)


def write_interval(low: float | None, high: float | None, style: str, language: str = "en") -> str:
    """An interval as a language writes it; empty where an end is missing.

    >>> write_interval(0.25, 0.75, "pct", "pt-BR")
    '[25,0%; 75,0%]'
    """
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return ""
    separator = locale(language).separator
    return f"[{write_number(low, style, language)}{separator}{write_number(high, style, language)}]"


def write_date(iso: str, language: str = "en") -> str:
    """A day as a language writes it.

    >>> write_date("2027-12-02"), write_date("2027-12-02", "pt-BR")
    ('December 2, 2027', '2 de dezembro de 2027')
    """
    return locale(language).write_day(date.fromisoformat(iso))


def _significant(value: float) -> str:
    if value == 0 or math.isinf(value):
        return f"{value:g}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}" if digits <= 8 else f"{value:.2e}"


def _brief(value: float) -> str:
    """Two digits of a number below 1; two decimals where it rounds to them."""
    if not 0 < abs(value) < 1:
        return _significant(value)
    digits = 1 - math.floor(math.log10(abs(value)))
    return f"{value:.{digits}f}" if digits <= 8 else f"{value:.1e}"


def _brief_share(value: float) -> str:
    size = abs(100 * value)
    return f"{100 * value:z,.{0 if 9.95 <= size <= 99 or size >= 99.95 else 1}f}"


def _four_decimals(value: float) -> str:
    if not 10 <= abs(value) < math.inf:
        return f"{value:z,.4f}"
    return f"{value:,.{max(0, 4 - math.floor(math.log10(abs(value))))}f}"


_STYLES: dict[str, Callable[[float], str]] = {
    "pct": lambda value: f"{100 * value:z,.1f}%",  # z: what rounds to 0 has no sign
    "points": lambda value: f"{100 * value:z,.1f}",
    "pct3": lambda value: f"{100 * value:z,.1f}%",
    "points3": lambda value: f"{100 * value:z,.1f}",
    "num": _significant,
    "num4": _four_decimals,
    "int": lambda value: f"{value:z,.0f}",
    "p": lambda value: "< 0.0001" if value < 0.0001 else f"{value:.4f}",
}

#: The same in a sentence; "pct3" and "points3" are there for a figure that two digits do not tell from its limit.
_BRIEF: dict[str, Callable[[float], str]] = {
    "pct": lambda value: f"{_brief_share(value)}%",
    "points": _brief_share,
    "num": _brief,
}


def _counted(value: float | None, format_spec: str, language: str) -> str:
    """A number and its noun: the number as it is shown decides which form the noun has."""
    style, _, forms = format_spec.partition(":")
    if style not in _STYLES:
        style, forms = "int", format_spec
    one, several = forms.split("|")
    said = write_number(value, style, language, brief=True)
    known = value is not None and not math.isnan(value)
    singular = known and locale(language).is_one(_as_shown(float(value), style))  # type: ignore[arg-type]
    return (one if singular else several).replace("#", said)


def _as_shown(value: float, style: str) -> float:
    """The number that a reader sees: 1.996 is 2.00."""
    return float({**_STYLES, **_BRIEF}[style](value).replace(",", "").strip("<% "))


class _Sentence(string.Formatter):
    """Fills the gaps of one sentence in one language."""

    def __init__(self, language: str, escape: Callable[[str], str] | None) -> None:
        self.language = language
        self.escape = escape or (lambda text: text)

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, str]:
        return kwargs[field_name], field_name  # no attribute or item access from a template

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec == "first":
            text = self.format_field(value, "")
            return text[:1].upper() + text[1:]
        if format_spec == "of":
            return locale(self.language).write_of(self.format_field(value, ""))
        if format_spec == "inner":
            text = self.format_field(value, "")
            return text[:1].lower() + text[1:] if text[1:2].islower() else text
        if isinstance(value, Message):
            return value.text(self.language, escape=self.escape)
        if isinstance(message := getattr(value, "message", None), Message):  # a name: data with words of ours
            return message.text(self.language, escape=self.escape)
        if "|" in format_spec:
            return _counted(value, format_spec, self.language)
        if format_spec == "date":
            return write_date(value, self.language)
        if format_spec:
            return write_number(value, format_spec, self.language, brief=True)
        return self.escape("—" if value is None else str(value))
