"""Languages as data: a folder per language with a ``locale.toml`` and catalogs, ``<room>.po`` and ``errors/<room>.po``.

To add a language, add its folder. Nothing else in the package names languages.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from isonomia.errors import SpecError, close_to
from isonomia.languages.po_files import read_po

#: A language's code, as `languages` lists them: "en", "pt-BR".
Language = str
#: The language that messages are written in.
SOURCE: Language = "en"


@dataclass(frozen=True, kw_only=True)
class Locale:
    """How a language writes numbers and days, from its ``locale.toml``.

    `plural_from` is the number from which a noun is plural, for languages that say "1.39 time"; 0 where only 1 is
    singular.
    """

    code: Language
    name: str
    decimal: str
    thousands: str
    separator: str
    months: tuple[str, ...]
    day: str
    first_day: str = "1"
    plural_from: float = 0
    of: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """The code as the language's folder spells it: "pt_BR"."""
        return self.code.replace("-", "_")

    def write_of(self, text: str) -> str:
        """A noun phrase after "of", which some languages join with an article: by the first word of the phrase.

        >>> locale("pt-BR").write_of("homens com idade abaixo de 30"), locale("en").write_of("men")
        ('dos homens com idade abaixo de 30', 'of men')
        """
        return f"{self.of.get(text.split(' ')[0], self.of.get('', 'of'))} {text}"

    def is_one(self, number: float) -> bool:
        """Whether a noun after a number is singular: after 1, and after all from 0 up to where its plural begins.

        >>> [locale("pt-BR").is_one(number) for number in (0, 0.67, 1, 1.99, 2)]
        [False, True, True, True, False]
        >>> [locale("en").is_one(number) for number in (0, 0.67, 1, 1.99, 2)]
        [False, False, True, False, False]
        """
        return number == 1 or 0 < abs(number) < self.plural_from

    def write_day(self, day: date) -> str:
        """A day with the name of its month.

        >>> locale("pt-BR").write_day(date(2027, 12, 2))
        '2 de dezembro de 2027'
        >>> locale("pt-BR").write_day(date(2026, 11, 1))
        '1º de novembro de 2026'
        """
        first = self.first_day if day.day == 1 else str(day.day)
        return self.day.format(day=first, month=self.months[day.month - 1], year=day.year)

    def write(self, number: str) -> str:
        """A number in English digits ("1,234.5") with the marks of the language.

        >>> locale("pt-BR").write("1,234.5")
        '1.234,5'
        """
        return number.translate(str.maketrans(",.", self.thousands + self.decimal))


def folder() -> Traversable:
    """Where the languages' folders are."""
    return files("isonomia.languages")


@cache
def _locales() -> Mapping[Language, Locale]:
    found = []
    for item in folder().iterdir():
        if item.is_dir() and item.joinpath("locale.toml").is_file():
            given = tomllib.loads(item.joinpath("locale.toml").read_text(encoding="utf-8"))
            found.append(Locale(**{**given, "months": tuple(given["months"])}))
    return {one.code: one for one in sorted(found, key=lambda one: (one.code != SOURCE, one.code))}


def languages() -> tuple[Language, ...]:
    """The codes of all languages, English first.

    >>> languages()
    ('en', 'pt-BR')
    """
    return tuple(_locales())


def locale(language: str) -> Locale:
    """How a language writes numbers."""
    return _locales()[check_language(language)]


def check_language(language: str) -> Language:
    """The language under its usual spelling, or an error that lists the languages.

    >>> check_language("pt_br")
    'pt-BR'
    """
    known = languages()
    if language in known:
        return language
    tag = language.replace("_", "-").lower()
    for code in known:
        if tag in (code.lower(), code.split("-")[0].lower()):
            return code
    raise SpecError(f"Unknown language {language!r}.{close_to(language, known)}")


def translate(text: str, language: str = SOURCE) -> str:
    """A template in another language; the English one where the catalog has none."""
    code = check_language(language)
    return text if code == SOURCE else catalog(code).get(text, text)


@cache
def catalog(language: Language) -> Mapping[str, str]:
    """All translations of one language, from its ``.po`` files."""
    return {**error_catalog(language), **_read_folder(folder().joinpath(locale(language).folder))}


@cache
def error_catalog(language: Language) -> Mapping[str, str]:
    """The translations of errors' texts, from the ``.po`` files in ``errors``; none without such a folder."""
    errors = folder().joinpath(locale(language).folder, "errors")
    return _read_folder(errors) if errors.is_dir() else {}


def _read_folder(where: Traversable) -> dict[str, str]:
    table: dict[str, str] = {}
    for path in sorted(where.iterdir(), key=lambda item: item.name):
        if path.name.endswith(".po"):
            table |= read_po(path.read_text(encoding="utf-8"))
    return table
