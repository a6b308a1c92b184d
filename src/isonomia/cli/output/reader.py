"""The language of the person at the screen, which errors are written in."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar

from isonomia.errors import SpecError
from isonomia.languages import check_language

_LANGUAGE = ContextVar("language", default="en")


def reader_language() -> str:
    """The language that the options, or a spec, name; English until then."""
    return _LANGUAGE.get()


def set_reader_language(language: str) -> None:
    """Write errors in this language from now on."""
    _LANGUAGE.set(language)


def language_in(arguments: Sequence[str]) -> str:
    """The language that arguments name, before they are parsed; English where there is none, or an unknown one.

    >>> language_in(["audit", "data.csv", "--lang", "pt"]), language_in(["audit", "--lang=xx"])
    ('pt-BR', 'en')
    """
    for index, argument in enumerate(arguments):
        name, _, value = argument.partition("=")
        if name == "--lang":
            given = value or next(iter(arguments[index + 1 :]), "")
            try:
                return check_language(given)
            except SpecError:
                return "en"
    return "en"
