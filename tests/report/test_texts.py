"""Laws of texts from data, whatever they hold."""

from __future__ import annotations

import html
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isonomia.evidence import Estimate
from isonomia.languages import Words, msg
from isonomia.languages.naming import at_least
from isonomia.report import Document, Section, summary
from isonomia.report.figures.labels import label
from isonomia.report.markdown import escape
from isonomia.report.page import _json, _packed
from isonomia.report.texts import figure, moment, readable, tame, who

ANY = st.text(st.characters(), max_size=400)


@given(ANY, st.integers(5, 60), st.booleans())
def test_tame_texts_are_short_and_on_one_line(text: str, longest: int, middle: bool) -> None:
    shown = tame(text, longest, middle=middle)
    inside = shown.strip("\u2068\u2069")
    assert len(inside) <= longest
    assert "\n" not in shown
    assert not [char for char in inside if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")]
    assert not set(inside) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    assert tame(inside, longest, middle=middle).strip("\u2068\u2069") == inside


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=30))
def test_ordinary_texts_stay_as_they_are(text: str) -> None:
    assert tame(text) == text


@given(ANY)
def test_escaped_texts_end_no_cell_and_start_no_markup(text: str) -> None:
    assert not re.search(r"[|<>`*_\[\]]", re.sub(r"\\.", "", escape(text)))


@given(ANY)
def test_labels_carry_no_markup_and_lose_nothing_but_length(text: str) -> None:
    shown = label(text, 600)
    assert "<" not in shown
    assert ">" not in shown
    assert html.unescape(shown) == tame(text, 600, middle=True)


@given(ANY)
def test_data_in_a_script_cannot_end_it(text: str) -> None:
    inside = _packed(_json({"x": text}))
    assert inside.isascii()
    assert not set(inside) & set("<>&")


@pytest.mark.parametrize(
    ("value", "en", "pt"),
    [
        (None, "—", "—"),
        (True, "yes", "sim"),
        (1234, "1,234", "1.234"),
        (0.5, "0.500", "0,500"),
        (["a", 2], "a, 2", "a, 2"),
        ({"a": None}, "a = —", "a = —"),
        (msg("yes"), "yes", "sim"),
        (Estimate(0.5, 0.25, 0.75), "0.500 [0.250, 0.750]", "0,500 [0,250; 0,750]"),
        (object, "<class 'object'>", "<class 'object'>"),
    ],
)
def test_values_are_said(value: object, en: str, pt: str) -> None:
    assert (readable(value, "en"), readable(value, "pt-BR")) == (en, pt)


def test_people_and_times() -> None:
    assert who({"town": "New\nYork"}, "en") == "New York"
    words = Words(values={"sex": {"F": "women"}}, columns={"dti": "debt to income"})
    assert who({"sex": "F", "dti": at_least(3)}, "en", words) == "women, debt to income 3 or more"
    assert moment("2026-01-02T03:04:05", "en") == "January 2, 2026 03:04"
    assert moment("<script>", "en") == "<script>"
    assert figure(Estimate(0.5, None, 0.7), "en") == "0.500"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "One check has no result: Calibration."),
        ("pt-BR", "Uma verificação não tem resultado: Calibração."),
    ],
)
def test_a_terminal_names_the_checks_without_a_result(language: str, said: str) -> None:
    from rich.console import Console

    ran = Section("performance", msg("Performance"), msg("x"), "passed")
    left = Section("calibration", msg("Calibration"), msg("x"), "not_applicable", reason="no scores")
    console = Console(width=100, no_color=True)
    with console.capture() as shown:
        console.print(summary(Document("Audit", {}, (ran, left)), language))
    assert said in shown.get()
