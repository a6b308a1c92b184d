"""Every sentence of ours has its translation, with the same gaps in it."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from datetime import date
from importlib.resources import files
from pathlib import Path

import pytest
from babel.dates import format_date
from babel.messages.pofile import read_po
from tests.languages.raised_texts import modules

import isonomia
from isonomia.languages import languages
from isonomia.languages.locales import catalog, locale

SOURCE = Path(str(files(isonomia)))
#: A template's calls of `_("...")`, which Jinja reads as its own language, not as Python.
CALL = re.compile(r"""\b_\(\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*\)""")
OTHERS = [language for language in languages() if language != "en"]


def calls() -> Iterator[tuple[str, ast.Call]]:
    """Where, and what: each call of `msg` in the package's code."""
    for module in modules():
        yield from ((f"{module.path.relative_to(SOURCE)}:{node.lineno}", node) for node in module.calls["msg"])


def in_code() -> Iterator[tuple[str, str]]:
    """Where, and what: each template given to `msg`."""
    for where, node in calls():
        first = node.args[0] if node.args else None
        assert isinstance(first, ast.Constant), f"{where}: the template of msg() must be a literal"
        assert isinstance(first.value, str), f"{where}: the template of msg() must be a text"
        yield where, first.value


def in_templates() -> Iterator[tuple[str, str]]:
    """The same for the pages' templates."""
    for path in sorted(SOURCE.rglob("templates/*.html")):
        text = path.read_text(encoding="utf-8")
        assert "{% trans" not in text, f"{path.name}: write _() instead of trans blocks, so that this test reads it"
        found = CALL.findall(text)
        assert len(found) == len(re.findall(r"\b_\(", text)), f"{path.name}: _() takes one literal text"
        yield from ((str(path.relative_to(SOURCE)), ast.literal_eval(each)) for each in found)


def gaps(template: str) -> set[tuple[str, str]]:
    """The named gaps of a template with their formats; a plural, and what comes first, are matters of the language."""
    named = [(name, form or "") for _, name, form, _ in string.Formatter().parse(template) if name is not None]
    return {(name, _kind_of_gap(form)) for name, form in named}


def _kind_of_gap(form: str) -> str:
    if "|" in form:
        style = form.partition(":")[0]
        return "plural" if "#" in style or "|" in style else style  # {x:num:# time|# times} is the number of {x:num}
    return "" if form in ("first", "inner", "of") else form


def test_every_gap_of_a_sentence_is_given() -> None:
    """A name in a template without its keyword would fail only when somebody reads that sentence."""
    lacking = []
    for where, node in calls():
        given = {keyword.arg for keyword in node.keywords}
        template = node.args[0].value if isinstance(node.args[0], ast.Constant) else ""
        if None not in given and {name for name, _ in gaps(str(template))} - given:
            lacking.append(f"{where}: {template!r}")
    assert lacking == []


def test_there_is_something_to_translate() -> None:
    assert len(list(in_code())) > 20
    assert len(list(in_templates())) > 20


@pytest.mark.parametrize("language", OTHERS)
def test_every_sentence_is_translated(language: str) -> None:
    known = catalog(language)  # type: ignore[arg-type]
    missing = [f"{where}: {text!r}" for where, text in [*in_code(), *in_templates()] if not known.get(text)]
    assert not missing, f"no {language} translation for:\n" + "\n".join(missing)


#: Gaps that a translation may have besides: "Black people" names no column; Portuguese, which would have to inflect the
#: value, says "pessoas de cor preta".
BESIDES = {"{value} {people}": {("column", "")}}


@pytest.mark.parametrize("language", OTHERS)
def test_translations_have_the_same_gaps(language: str) -> None:
    wrong = [
        text
        for text, said in catalog(language).items()
        if gaps(text) != gaps(said) - BESIDES.get(text, set())  # type: ignore[arg-type]
    ]
    assert not wrong, f"gaps differ in the {language} translation of: {wrong}"


@pytest.mark.parametrize("language", OTHERS)
def test_catalogs_agree_with_each_other(language: str) -> None:
    """A sentence that two rooms share is said in one way."""
    seen: dict[str, tuple[str, str]] = {}
    for path in sorted((SOURCE / "languages" / language.replace("-", "_")).rglob("*.po")):
        with path.open("rb") as stream:
            for entry in read_po(stream, locale=language.replace("-", "_")):
                if not entry.id:
                    continue
                assert isinstance(entry.id, str)
                assert entry.string, f"{path.name}: {entry.id!r} is empty"
                assert not entry.fuzzy, f"{path.name}: {entry.id!r} is marked fuzzy"
                other, said = seen.setdefault(entry.id, (path.name, str(entry.string)))
                assert said == entry.string, f"{entry.id!r} is {said!r} in {other} and {entry.string!r} in {path.name}"


@pytest.mark.parametrize("language", OTHERS)
def test_catalogs_are_named_after_rooms(language: str) -> None:
    rooms = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").is_file()}
    found = {path.stem for path in (SOURCE / "languages" / language.replace("-", "_")).glob("*.po")}
    assert found <= rooms, f"not rooms of the package: {sorted(found - rooms)}"


@pytest.mark.parametrize("language", OTHERS)
def test_catalogs_are_read_as_babel_reads_them(language: str) -> None:
    theirs: dict[str, str] = {}
    for path in sorted((SOURCE / "languages" / language.replace("-", "_")).rglob("*.po")):
        with path.open("rb") as stream:
            theirs |= {str(one.id): str(one.string) for one in read_po(stream) if one.id and one.string}
    assert dict(catalog(language)) == theirs


def test_days_are_written_as_babel_writes_them() -> None:
    for language in languages():
        for month in range(1, 13):
            day = date(2026, month, 3)
            assert locale(language).write_day(day) == format_date(day, "long", locale=language.replace("-", "_"))
