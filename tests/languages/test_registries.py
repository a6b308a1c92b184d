"""Every purpose of an entry, and every help of an option, has its translation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from tests.languages.test_catalogs import OTHERS, SOURCE

from isonomia.languages import Message, Name, error_text
from isonomia.languages.locales import catalog
from isonomia.parameters import Parameter
from isonomia.registry import Registry

#: Where a registry is made: CHECKS: Registry[Check] = Registry(
MADE = re.compile(r"^([A-Z_]+)(?:: Registry\[\w+\])? = (?:\w+)?Registry\(", re.MULTILINE)
#: Kinds of values that are names to type, the same in every language.
NAMES_TO_TYPE = {"'evidently', or None"}


def registries() -> Iterator[tuple[str, Registry[Any]]]:
    """Each registry of the package, by the name it has where it is made."""
    for path in sorted(SOURCE.rglob("*.py")):
        for name in MADE.findall(path.read_text(encoding="utf-8")):
            module = ".".join(("isonomia", *path.relative_to(SOURCE).with_suffix("").parts))
            yield name, getattr(import_module(module), name)


def parameters_of_entry(entry: Any) -> Iterator[Parameter]:
    """The options of an entry, its strength among them."""
    yield from getattr(entry, "parameters", ())
    if (strength := getattr(entry, "strength", None)) is not None:
        yield strength


def options() -> Iterator[tuple[str, Parameter]]:
    """Where, and what: each option of each entry that comes with the package."""
    for name, registry in registries():
        for entry in registry:
            yield from ((f"{name} {entry.id} {one.name}", one) for one in parameters_of_entry(entry))


def texts() -> Iterator[tuple[str, str]]:
    """Where, and what: each purpose and each help."""
    for name, registry in registries():
        yield from ((f"{name} {entry.id}", entry.purpose) for entry in registry)
    yield from ((where, option.help) for where, option in options())


def test_all_registries_are_found() -> None:
    found = dict(registries())
    assert {"CHECKS", "METHODS", "METRICS", "MITIGATIONS", "SCENARIOS", "PERTURBERS", "CATALOG"} <= set(found)
    assert len(found) >= 20
    assert all(len(registry) > 0 for registry in found.values())


def test_every_entry_has_a_purpose_and_every_option_a_help() -> None:
    assert [where for where, text in texts() if not text.strip()] == []


@pytest.mark.parametrize("language", OTHERS)
def test_every_purpose_and_help_is_translated(language: str) -> None:
    known = catalog(language)
    missing = sorted({f"{where}: {text!r}" for where, text in texts() if Message.literal(text).template not in known})
    assert not missing, f"no {language} translation for:\n" + "\n".join(missing)


@pytest.mark.parametrize("language", OTHERS)
def test_what_an_option_takes_is_told_in_every_language(language: str) -> None:
    given = {option.kind.expected for _, option in options()} - NAMES_TO_TYPE
    english = re.compile(r"\b(of|the|or|each|least|most|for|name|number|list)\b")
    left = {text: error_text(text, language) for text in given}
    plain = {text: re.sub(r"^(um|uma) de .*?(, ou|$)", "", said) for text, said in left.items()}  # names to choose from
    assert {text: left[text] for text, said in plain.items() if english.search(said)} == {}


def test_texts_with_braces_are_declared_as_they_are() -> None:
    text = "the shares that groups should have: {attribute: {group: share}}"
    assert Name.literal(text) == text
    assert Name.literal(text).text() == text
    assert Name.literal(text).text("pt-BR").endswith("{atributo: {grupo: parcela}}")
