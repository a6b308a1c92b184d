"""Errors in the reader's language: every text of ours is known, read back as it was, and safe with hostile values."""

from __future__ import annotations

import re
import string
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.languages.error_templates import shape
from tests.languages.raised_texts import texts

import isonomia
from isonomia.audit import run
from isonomia.errors import NotApplicable, SpecError, close_to
from isonomia.languages import error_texts as module
from isonomia.languages import languages, msg
from isonomia.languages.error_texts import error_message, error_text
from isonomia.languages.locales import error_catalog
from isonomia.languages.po_files import read_po

OTHERS = [language for language in languages() if language != "en"]
SOURCE = Path(str(files(isonomia)))


def own_entries(language: str) -> dict[str, str]:
    """The entries for texts of ours; those of typer, pydantic and the system have no site in the source."""
    folder = SOURCE / "languages" / language.replace("-", "_") / "errors"
    found: dict[str, str] = {}
    for path in folder.glob("*.po"):
        if path.stem != "of_others":
            found |= read_po(path.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("language", OTHERS)
def test_every_text_of_an_error_has_an_entry(language: str) -> None:
    known = {shape(template) for template in error_catalog(language)}
    missing = [f"{text.where}: {text.template!r}" for text in texts() if shape(text.template) not in known]
    assert not missing, f"no {language} text in languages/*/errors/<room>.po for:\n" + "\n".join(missing)


@pytest.mark.parametrize("language", OTHERS)
def test_every_entry_has_a_text(language: str) -> None:
    raised = {shape(text.template) for text in texts()}
    left = [template for template in own_entries(language) if shape(template) not in raised]
    assert not left, f"entries of {language} that no error has: {left}"


@pytest.mark.parametrize("language", OTHERS)
def test_catalogs_are_named_after_rooms(language: str) -> None:
    rooms = {path.stem for path in SOURCE.iterdir()} | {"of_others"}
    folder = SOURCE / "languages" / language.replace("-", "_") / "errors"
    assert {path.stem for path in folder.glob("*.po")} <= rooms


def filled(template: str, *, suggestion: str = "") -> str:
    """A template with plain values in its gaps, as an error would have it."""
    values: dict[str, object] = {}
    for number, (_, name, form, _) in enumerate(string.Formatter().parse(template)):
        if name is not None:
            own = {"suggestion": suggestion, "word": "model"}
            values[name] = 1234 + number if form == "int" else own.get(name, f"V{number}")
    return msg(template, **values).text()


def test_every_text_is_read_back_as_it_was() -> None:
    """Each is recognised, and English comes out of it letter by letter, with a suggestion and without."""
    for template in error_catalog("pt-BR"):
        for suggestion in ("", close_to("gendr", ["gender"]), close_to("x", ["a", "b"])):
            text = filled(template, suggestion=suggestion)
            message = error_message(text)
            assert message.text() == text
            assert message.template != "{text}", text


def test_the_longest_text_that_fits_is_chosen() -> None:
    """A template is never mistaken for one with fewer words of its own."""
    for template in error_catalog("pt-BR"):
        literal = sum(len(part) for part in shape(template) if not part.startswith("\0"))
        chosen = shape(error_message(filled(template)).template)
        assert sum(len(part) for part in chosen if not part.startswith("\0")) >= literal, template


HOSTILE = st.text(st.sampled_from("ab {}'`.,;:()[]\n-%\x1b<é") | st.characters(), max_size=40)


@settings(max_examples=100, deadline=None)
@given(name=HOSTILE, value=HOSTILE)
def test_hostile_values_stay_as_they_are(name: str, value: str) -> None:
    for text in (
        f"`protected` must name columns of the data; got {name!r}.{close_to(name, [value])}",
        f"The column '{name}' has no values: every row is missing.",
        f"'{name}' never has the value {value}. Did you mean '{value}'?",
        f"{name}{value}",
    ):
        assert error_message(text).text() == text
        written = error_message(text).text("pt-BR", escape=lambda part: part.replace("<", "&lt;"))
        assert "<" not in written
    assert error_text(f"The column '{name}' has no values: every row is missing.", "pt-BR") == (
        f"A coluna '{name}' não tem valores: todos os registros estão ausentes."
    )


def test_values_that_repeat_our_words_cost_little() -> None:
    reading = module._Reading()
    text = "`labels.x` must name values of 'y'; got " + "; got ".join(["'. Did you mean"] * 400) + "."
    assert error_message(text).text() == text
    reading.recognised(text, module.MAX_DEPTH)
    assert reading.tries >= 0
    assert error_text("a" * (module.MAX_LENGTH + 1), "pt-BR") == "a" * (module.MAX_LENGTH + 1)


def test_parts_are_written_too() -> None:
    assert error_text("`bins` must be a whole number of at least 1, or None for no limit; got 2.5.", "pt-BR") == (
        "`bins` deve ser um número inteiro de no mínimo 1, ou None para não ter limite; informado: 2.5."
    )
    listed = (
        "2 options are wrong:\n  - `exact` must be True or False; got 'no'.\n  - Unknown metric 'x'. Available: 'a.b'."
    )
    assert error_text(listed, "pt-BR") == (
        "2 opções estão erradas:\n  - `exact` deve ser True ou False; informado: 'no'.\n"
        "  - Métrica desconhecida: 'x'. Disponíveis: 'a.b'."
    )
    assert error_text("The file 'a' has more than 1,000,000 bytes. If you trust it, raise `max_bytes`.", "pt-BR") == (
        "O arquivo 'a' tem mais de 1.000.000 bytes. Se você confia nele, aumente `max_bytes`."
    )


def test_a_name_in_quotes_is_not_translated() -> None:
    text = "The column 'predictions' has no values: every row is missing."
    assert "'predictions'" in error_text(text, "pt-BR")


def test_a_message_keeps_its_own_words() -> None:
    error = NotApplicable(msg("there are scores but no decisions"))
    assert error_text(error, "pt-BR") == "há escores, mas não decisões"


def test_a_text_of_others_stays() -> None:
    """Also where it has words that join texts of ours."""
    assert error_text("database or disk is full", "pt-BR") == "database or disk is full"
    assert error_text("Segmentation fault", "pt-BR") == "Segmentation fault"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"checks": ["zzzzqq"]}, ("Disponíveis: 'quick', 'standard', 'full'", " e mais ")),
        ({"checks": ["group_fairnes"]}, ("Você quis dizer 'group_fairness' ou 'group_calibration' ou 'fairness'?",)),
        ({"n_trials": "many"}, ("`n_trials` deve ser um número inteiro; informado: 'many'.",)),
        ({"protectd": ["sex"]}, ("Chave desconhecida na especificação: `protectd`. Você quis dizer 'protected'?",)),
        (
            {"scenarios": ["zzzzqq"], "seed": -1},
            (
                "`scenarios`: Nome de cenário desconhecido: 'zzzzqq'. Disponíveis: ",
                "`seed` deve ser no mínimo 0; informado: -1.",
            ),
        ),
    ],
)
def test_a_list_of_problems_of_a_spec_has_no_english_left(spec: dict[str, object], expected: tuple[str, ...]) -> None:
    with pytest.raises(SpecError) as caught:
        run({"dataset": "missing.csv", "target": "y", **spec})
    text = error_text(caught.value, "pt-BR")
    for part in expected:
        assert part in text, text
    assert not re.search(
        r"\b(Available|Unknown|Did you mean|must be|more|got|missing\.)\b", text.replace("missing.csv", "")
    ), text
