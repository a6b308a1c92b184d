"""Roles as they are written on a command line."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isonomia.cli.options.roles import read_privileged, read_protected, read_score
from isonomia.errors import SpecError

names = st.text(st.characters(categories=["L", "N"], include_characters="_- "), min_size=1).filter(
    lambda text: text == text.strip() and not re.fullmatch(r"-?\d+([eE]-?\d+)?", text)
)
edges = st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=1, max_size=4)


@given(st.dictionaries(names, st.none() | edges, min_size=1, max_size=5))
def test_what_is_written_is_read(wanted: dict[str, Any]) -> None:
    written = ",".join(
        name if bands is None else f"{name}:{','.join(map(str, bands))}" for name, bands in wanted.items()
    )
    assert read_protected([written]) == wanted
    apart = [name if bands is None else f"{name}:{','.join(map(str, bands))}" for name, bands in wanted.items()]
    assert read_protected(apart) == wanted


@pytest.mark.parametrize("name", ["INFINITY", "nan", "inf", "1_0", "²"])
def test_what_is_no_plain_number_is_a_name(name: str) -> None:
    assert read_protected([f"age:25,{name}"]) == {"age": [25.0], name: None}


def test_a_number_without_bands_before_it_is_a_name() -> None:
    assert read_protected(["2020,sex,60"]) == {"2020": None, "sex": None, "60": None}


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        (["sex,,race"], "one is empty"),
        ([""], "one is empty"),
        ([":25"], "one is empty"),
        (["age:old"], "age:25,60"),
        (["sex,sex"], "more than once"),
        (["sex", "sex"], "more than once"),
        (["{sex"], "is not a JSON object"),
    ],
)
def test_what_cannot_be_read_is_told(given_: list[str], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        read_protected(given_)


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        (["sex=Male"], {"sex": ["Male"]}),
        (["sex=Male,race=White"], {"sex": ["Male"], "race": ["White"]}),
        (["age=[25, 60)", "sex=a=b"], {"age": ["[25, 60)"], "sex": ["a=b"]}),
        (['{"sex": ["M", "X"], "race": "W"}'], {"sex": ["M", "X"], "race": ["W"]}),
        (["sex="], {"sex": [""]}),
    ],
)
def test_privileged(given_: list[str], expected: dict[str, list[str]]) -> None:
    assert read_privileged(given_) == expected


@pytest.mark.parametrize("wrong", ["Male", "=Male", ""])
def test_a_privileged_value_needs_its_attribute(wrong: str) -> None:
    with pytest.raises(SpecError, match="sex=Male"):
        read_privileged([wrong])


def test_scores() -> None:
    assert read_score([]) is None
    assert read_score(["low=p1,high=p2"]) == {"low": "p1", "high": "p2"}
