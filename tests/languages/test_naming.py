"""Names: a key everywhere, read in the reader's language, and nothing of the data in them taken for a word of ours."""

from __future__ import annotations

import copy
import json
import pickle

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isonomia.counting import MISSING, Codes
from isonomia.data import Bands
from isonomia.evidence import Table
from isonomia.fairness.groups.grouping import condition, form_groups
from isonomia.languages import Name, msg
from isonomia.languages.naming import as_text, is_in, is_value, together
from isonomia.report.texts import who

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(TEXTS, TEXTS)
def test_a_name_is_its_english_text(column: str, value: str) -> None:
    name = is_value(column, value)
    assert name == str(name) == name.text("en")
    assert {name: 1}[str(name)] == 1
    assert name.text("pt-BR") == name  # nothing in it is a word of ours
    assert json.loads(json.dumps(name)) == name


def test_copies_remember_what_they_say() -> None:
    name = together([is_in("age", "[25, 60)"), is_value("race", MISSING)])
    assert name == "age in [25, 60), race=missing"
    for other in (pickle.loads(pickle.dumps(name)), copy.deepcopy(name)):
        assert isinstance(other, Name)
        assert other == name
        assert other.text("pt-BR") == "age em [25, 60), race=ausente"


def test_frames_take_them_for_texts() -> None:
    names = [is_value("race", MISSING), "sex=F", None]
    assert pl.Series(names).to_list() == pa.array(names).to_pylist() == ["race=missing", "sex=F", None]


def test_a_value_that_is_called_missing_stays_as_it_is() -> None:
    codes = Codes.encode(["missing", None, "x"], name="race")
    assert codes.texts == ("missing", "x", "missing")
    shown = [condition("race", text) for text in codes.texts]
    table = Table.of({"group": shown})
    assert [table["group"].text(row, "pt-BR") for row in range(3)] == ["race=missing", "race=x", "race=ausente"]
    assert who({"race": codes.texts[0]}, "pt-BR") == "missing"
    assert who({"race": codes.texts[2]}, "pt-BR") == "race ausente"


def test_groups_and_sentences_are_told_in_the_language() -> None:
    age = Codes.cut([18, 30, None], [18, 25, 60], name="age")
    group = form_groups([age, Codes.encode(["F", None, "F"], name="sex")], by="all").groups[-1]
    said = msg("{name}", name=group.name)
    assert said.text("en") == group.name
    assert "missing" not in said.text("pt-BR")
    assert said.text("pt-BR", escape=str.upper) == group.name.text("pt-BR", escape=str.upper)  # type: ignore[attr-defined]
    assert as_text("plain") == "plain"


def test_ranges_are_written_as_numbers_of_the_language_are() -> None:
    pay = Codes.cut([0.5, 1.5, 3.25], [0.5, 1.5, 3.25], name="pay")
    assert pay.texts == ("[0.5, 1.5)", "[1.5, 3.25]")
    assert [text.text("pt-BR") for text in pay.texts] == ["[0,5; 1,5)", "[1,5; 3,25]"]  # type: ignore[attr-defined]
    bands = Bands((18.5, 60)).labels
    assert bands == ("< 18.5", "[18.5, 60)", ">= 60")
    assert [condition("age", band).text("pt-BR") for band in bands] == [  # type: ignore[attr-defined]
        "age < 18,5",
        "age em [18,5; 60)",
        "age ≥ 60",
    ]
    assert Bands((2.5,), ("1.5 or so", "more")).labels == ("1.5 or so", "more")  # names of the user's stay as they are
    half = Codes.encode([0.5, 1.0], name="dose").texts[0]
    assert (half, half.text("pt-BR")) == ("0.5", "0,5")  # type: ignore[attr-defined]


@pytest.mark.parametrize("value", ["F", ">= 3.5", Name(msg("missing"))])
def test_the_text_of_a_name_is_what_its_message_says(value: str) -> None:
    one = is_value("race", value)
    both = together([one, is_in("age", "[25, 60)"), "sex=F"])
    assert isinstance(both, Name)
    for name in (one, both):
        assert str(name) == name.message.text()
