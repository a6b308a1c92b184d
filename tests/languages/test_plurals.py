"""A noun agrees with the number before it, as each language has it."""

from __future__ import annotations

import re

import pytest

from isonomia.languages import Message, msg
from isonomia.languages.locales import catalog

#: A number that need not be whole, and a noun after it that would have to agree: "{x:num} vezes".
BARE = re.compile(r"\{\w+:(?:num4?|points|\.\df)\} (\w+(?:s|ões)-?\b)")
#: Words after a number that are not counted by it.
NOT_COUNTED = {"mas", "mais", "menos", "nos", "nas", "dos", "das", "aos", "às", "depois", "antes"}
TIMES = [(0.67, "0,67 vez"), (1, "1,00 vez"), (1.39, "1,39 vez"), (1.99, "1,99 vez"), (2, "2,00 vezes")]


@pytest.mark.parametrize(("value", "said"), [*TIMES, (3.5, "3,50 vezes"), (1.996, "2,00 vezes"), (0, "0 vezes")])
def test_the_portuguese_plural_begins_at_two(value: float, said: str) -> None:
    given = {"slice": "x", "share": 0.1, "worst": 0.2, "lift": value}
    template = "{slice:first} are {share:pct} of the data and {worst:pct} of the worst cases ({lift:num} times the"
    sentence = next(text for text in catalog("pt-BR") if text.startswith(template))
    assert f"({said} o esperado)" in Message(sentence, given).text("pt-BR")
    assert f"({said.split()[0].replace(',', '.')} times the expected share)" in Message(sentence, given).text()


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.0067, "0,7 ponto"), (0.0139, "1,4 ponto"), (0.0199, "2,0 pontos"), (0.02, "2,0 pontos"), (-0.01, "-1,0 ponto")],
)
def test_points_are_counted_as_they_are_shown(value: float, said: str) -> None:
    assert msg("{x:points} points", x=value).text("pt-BR") == said


def test_whole_numbers_keep_their_two_forms() -> None:
    sentence = msg("{n:# run|# runs}", n=0)
    assert [Message(sentence.template, {"n": n}).text("pt-BR") for n in (0, 1, 2)] == [
        "0 execuções",
        "1 execução",
        "2 execuções",
    ]
    assert [Message(sentence.template, {"n": n}).text() for n in (0, 1, 2)] == ["0 runs", "1 run", "2 runs"]


def test_a_missing_number_takes_the_plural() -> None:
    assert Message("{x:num:# time|# times}", {"x": None}).text() == "not available times"
    assert Message("{x:num:# time|# times}", {"x": float("nan")}).text() == "not available times"
    assert Message("{x:num:# time|# times}", {"x": 1.39}).text() == "1.39 times"


def test_no_portuguese_noun_after_a_number_is_left_without_agreement() -> None:
    left = [
        (word, said) for said in catalog("pt-BR").values() for word in BARE.findall(said) if word not in NOT_COUNTED
    ]
    assert left == []
