"""Errors in the language of the reader.

The text of an exception is English: people search for it, logs and tests match it. Where a person reads it (the command
line, a report) it is recognised by the literal parts of its template and becomes a `Message`, which every language
writes. The templates are those of the catalogs ``<locale>/errors/<room>.po``; a test reads them off the source and
fails on an error without an entry. A text of anybody else's (a dependency, a model) stays as it is.
"""

from __future__ import annotations

import re
import string
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

from isonomia.languages.locales import SOURCE, catalog, check_language, error_catalog, languages
from isonomia.languages.message import Message

#: A longer text is not ours.
MAX_LENGTH = 20_000
#: Texts within texts, at most.
MAX_DEPTH = 12
#: Ways to read a text that are tried at most: values that repeat our words cannot cost more.
MAX_TRIES = 1_000
#: Gaps for texts of ours alone: a sentence that may be missing ("Did you mean ...?"), the word for a kind of entry.
OURS = ("suggestion", "word")
#: What does not stand in a gap of a name: more than a number, more than a word, another choice, the end of quotes.
NOT_IN: Mapping[str, re.Pattern[str]] = {
    "at_least": re.compile(r"\s"),
    "word": re.compile(","),
    "hint": re.compile(", or "),
    "filename": re.compile("'"),
}
#: Templates with fewer letters of their own join others, and would fit texts of anybody.
JOINING = 8
QUOTES = ("'", '"', "`")
_NUMBER = re.compile(r"[0-9]{1,3}(,[0-9]{3}){0,6}", re.ASCII)
#: What stands before each of several problems.
BULLET = "  - "


def error_text(error: BaseException | str, language: str) -> str:
    """The text of an error in a language.

    >>> error_text("Unknown language 'xx'. Available: 'en', 'pt-BR'.", "pt-BR")
    "Idioma desconhecido: 'xx'. Disponíveis: 'en', 'pt-BR'."
    >>> error_text("a text of a dependency", "pt-BR")
    'a text of a dependency'
    """
    return str(error) if check_language(language) == SOURCE else error_message(error).text(language)


def error_message(error: BaseException | str) -> Message:
    """The text of an error as a message; the values in it are data, also for what escapes them."""
    given = getattr(error, "message", None)  # of NotApplicable
    if isinstance(given, Message):
        return given
    text = str(error)
    return _Reading().recognised(text, MAX_DEPTH) or Message("{text}", {"text": text})


@dataclass(frozen=True)
class _Gap:
    name: str
    form: str
    quoted: bool
    between: bool = False  # of a template that only joins others: "{first} or {rest}"

    def takes(self, text: str) -> bool:
        """Whether a text that is not ours may fill this gap."""
        if self.name in OURS:
            return not text
        return not self.between or " " not in text.replace(", ", "") or text[0] in QUOTES


class _Template:
    """A template as literal parts with gaps between them: one literal more than there are gaps."""

    def __init__(self, template: str) -> None:
        self.template = template
        self.literals = [""]
        self.gaps: list[_Gap] = []
        for literal, name, form, _ in string.Formatter().parse(template):
            self.literals[-1] += literal
            if name is not None:
                self.gaps.append(_Gap(name, form or "", self.literals[-1].endswith(QUOTES)))
                self.literals.append("")
        self.letters = sum(letter.isalpha() for literal in self.literals for letter in literal)
        if 0 < self.letters < JOINING:
            self.gaps = [replace(gap, between=True) for gap in self.gaps]

    @cached_property
    def key(self) -> str:
        """The longest literal part: a text without it cannot be this one."""
        return max(self.literals, key=len)

    @cached_property
    def size(self) -> int:
        """Characters of all literal parts."""
        return sum(map(len, self.literals))

    def may_be(self, text: str) -> bool:
        """Whether a text could be this one, by what is quick to see."""
        if not self.gaps:
            return text == self.literals[0]
        return (
            text.startswith(self.literals[0])
            and text.endswith(self.literals[-1])
            and self.key in text
            and len(text) >= self.size
        )


class _Reading:
    """One text being read, with the tries that are left."""

    def __init__(self) -> None:
        self.tries = MAX_TRIES

    def recognised(self, text: str, depth: int) -> Message | None:
        """The text as a message of ours, or None."""
        if depth < 0 or not text or len(text) > MAX_LENGTH:
            return None
        if text.startswith(BULLET):
            return self.listed(text, depth)
        known = _templates()
        for template in known[bisect_left(known, -len(text), key=lambda one: -one.size) :]:  # no longer than the text
            if template.may_be(text) and (found := self.filled(template, text, depth)) is not None:
                return found
        return None

    def listed(self, text: str, depth: int) -> Message:
        """Several problems below each other, each recognised on its own."""
        parts = text.removeprefix(BULLET).split(f"\n{BULLET}")
        known = {f"part{index}": self.recognised(part, depth - 1) or part for index, part in enumerate(parts)}
        return Message("\n".join(f"{BULLET}{{{name}}}" for name in known), known)

    def filled(self, template: _Template, text: str, depth: int) -> Message | None:
        """A template with what the text has in its gaps; None where it does not fit."""
        within = text[len(template.literals[0]) : len(text) - len(template.literals[-1])]
        for values in self.splits(within, template.literals[1:-1]) if template.gaps else [[]]:
            params: dict[str, object] = {}
            for gap, value in zip(template.gaps, values, strict=True):
                if (found := self.value(gap, value, depth)) is None:
                    break
                params[gap.name] = found
            else:
                return Message(template.template, params)
        return None

    def splits(self, text: str, literals: Sequence[str]) -> Iterator[list[str]]:
        """What may stand between these parts, the shortest first."""
        if not literals:
            yield [text]
            return
        at = text.find(literals[0])
        while at >= 0 and self.tries > 0:
            self.tries -= 1
            for rest in self.splits(text[at + len(literals[0]) :], literals[1:]):
                yield [text[:at], *rest]
            at = text.find(literals[0], at + 1)

    def value(self, gap: _Gap, text: str, depth: int) -> object:
        """What fills a gap: a number, a message of ours or a text of the data; None where it cannot be this gap."""
        if gap.form == "int":
            return int(text.replace(",", "")) if _NUMBER.fullmatch(text) else None
        if gap.name in NOT_IN and NOT_IN[gap.name].search(text):
            return None
        if gap.quoted:
            return text
        found = self.recognised(text, depth - 1)
        if found is None and gap.form == "first":
            found = self.recognised(text[:1].lower() + text[1:], depth - 1)
        return found or (text if gap.takes(text) else None)


@cache
def _templates() -> tuple[_Template, ...]:
    """The templates of all languages' catalogs, those with the most literal characters first."""
    errors = {template for language in languages()[1:] for template in error_catalog(language)}
    others = {template for language in languages()[1:] for template in catalog(language)} - errors
    known = [_Template(template) for template in errors]
    for one in map(_Template, others):  # sentences of a report, such as the reason why a check did not apply
        if one.letters >= JOINING and all(gap.form in ("", "int", "first") for gap in one.gaps):
            known.append(one)
    return tuple(sorted(known, key=lambda one: (-one.size, one.template)))
