"""Texts that come from data, made tame: of bounded length, on one line, of one direction.

Column names and categories are hostile until shown otherwise: five thousand characters, line breaks, characters that
turn the direction of everything after them. What each form of the report must escape on top (HTML, Markdown, the markup
in Plotly's labels) is its own business.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from isonomia.evidence import Estimate, Result
from isonomia.evidence.table import yes_no
from isonomia.languages import Message, Words, locale, msg
from isonomia.languages.message import write_interval, write_number
from isonomia.languages.naming import shown

#: How many characters of one text from the data a sentence or a cell shows; `report.json` has all of them.
LONGEST = 120


def tame(text: object, longest: int = LONGEST, *, middle: bool = False) -> str:
    """A text on one line, cut to `longest` characters, without control characters, its direction kept to itself.

    With `middle` it is cut in the middle: names of groups often differ at their ends alone.

    >>> tame("two\\nlines\\u202e"), tame("abcdefgh", 5), tame("abcdefgh", 6, middle=True)
    ('two lines', 'abcd…', 'abc…gh')
    """
    raw = str(text)
    if len(raw) <= longest and raw.isascii() and raw.isprintable():  # nearly every text there is
        return " ".join(raw.split())
    return _tamed(raw, longest, middle)


@lru_cache(maxsize=1024)
def _tamed(raw: str, longest: int, middle: bool) -> str:
    # cut first: what is far from what is shown need not be looked at, character by character
    reach = 2 * longest + 2
    head = raw[:reach]
    tail = raw[max(reach, len(raw) - reach) :] if middle else ""
    line = " ".join("".join(map(_visible, head + tail)).split())
    if len(line) > longest or len(raw) > len(head + tail):
        end = (longest - 1) * 2 // 5 if middle else 0
        line = line[: longest - 1 - end].rstrip() + "…" + line[len(line) - end :].lstrip()
    if any(unicodedata.bidirectional(char) in ("R", "AL", "AN") for char in line):
        return f"\u2068{line}\u2069"
    return line


def _visible(char: str) -> str:
    kind = unicodedata.category(char)
    if kind in ("Cc", "Zl", "Zp"):
        return " "
    # format characters that change direction go; those that join emoji and letters stay
    if kind == "Cs" or (kind == "Cf" and char not in "\u200c\u200d"):
        return ""
    return char


def sentence(text: Message | str | None, language: str, escape: Callable[[str], str] = tame) -> str:
    """A message in a language with every text from data made tame; a plain text made tame as a whole."""
    if text is None:
        return ""
    return text.text(language, escape=escape) if isinstance(text, Message) else shown(text, language, escape)


def who(
    people: Mapping[str, str], language: str, file_words: Words | None = None, escape: Callable[[str], str] = tame
) -> str:
    """People in the words of the file; everyone where no value is named.

    >>> who({"race": "Black", "sex": "Female"}, "en"), who({"sex": "F"}, "en"), who({}, "pt-BR")
    ('Black, Female', 'sex F', 'todas as pessoas')
    """
    return (file_words or Words()).shared(people).text(language, escape=escape)


def figure(estimate: Estimate, language: str, style: str = "num") -> str:
    """A value with its interval, or the reason why there is none.

    >>> figure(Estimate(0.5, 0.25, 0.75), "pt-BR"), figure(Estimate.missing("no positives"), "en")
    ('0,500 [0,250; 0,750]', 'not available: no positives')
    """
    if estimate.value is None:
        return f"{write_number(None, style, language)}: {sentence(estimate.note, language)}"
    value = with_unit(estimate.value, style, language)
    return f"{value}{interval(estimate, language, style)}"


def with_unit(value: float | None, style: str, language: str) -> str:
    """A number with its unit where its format has one that is not written with it.

    >>> with_unit(-0.123, "points", "pt-BR")
    '-12,3 p.p.'
    """
    text = write_number(value, style, language)
    return msg("{number} points", number=text).text(language) if style == "points" and value is not None else text


def interval(estimate: Estimate, language: str, style: str = "num") -> str:
    """The interval after a value, with a space before it; empty where there is none."""
    written = write_interval(estimate.low, estimate.high, style, language)
    return f" {written}" if written else ""


def moment(iso: str, language: str) -> str:
    """A time as a language writes it; a text that is not an ISO time as it is.

    >>> moment("2026-11-15T12:00:00+00:00", "pt-BR"), moment("yesterday", "en")
    ('15 de novembro de 2026 12:00 UTC', 'yesterday')
    """
    try:
        time = datetime.fromisoformat(iso)
    except ValueError:
        return tame(iso)
    return f"{locale(language).write_day(time)} {time:%H:%M} {time.tzname() or ''}".strip()


def rows(n: int, language: str) -> str:
    """How many rows a finding is about; a dash where it is about none in particular.

    >>> rows(1500, "pt-BR"), rows(0, "en")
    ('1.500', '—')
    """
    return write_number(n, "int", language) if n else "—"


def headline(result: Result, name: str, language: str, escape: Callable[[str], str] = tame) -> str:
    """One of a result's headline figures, written as its format asks."""
    value, style = result.values[name], result.style(name)
    if isinstance(value, Estimate):
        return figure(value, language, style)
    if isinstance(value, float) and not isinstance(value, bool):
        return with_unit(value, style, language)
    return readable(value, language, escape)


def readable(value: Any, language: str, escape: Callable[[str], str] = tame) -> str:
    """Any value of a subject, a fingerprint or a headline as a person reads it.

    >>> readable(True, "pt-BR"), readable(48842, "en"), readable(["sex", "race"], "en"), readable({"sex": "Male"}, "en")
    ('sim', '48,842', 'sex, race', 'sex = Male')
    """
    if value is None:
        return "—"
    if isinstance(value, Message | str):
        return sentence(value, language, escape)
    if isinstance(value, bool):
        return yes_no(value).text(language)
    if isinstance(value, Estimate):
        return figure(value, language)
    if isinstance(value, int):
        return write_number(value, "int", language)
    if isinstance(value, float):
        return write_number(value, "num", language)
    if isinstance(value, Mapping):
        return ", ".join(f"{escape(str(name))} = {readable(item, language, escape)}" for name, item in value.items())
    if isinstance(value, Sequence):
        return ", ".join(readable(item, language, escape) for item in value)
    return shown(value, language, escape)
