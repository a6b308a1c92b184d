"""Roles of columns as they are written on a command line."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from isonomia.errors import SpecError

#: A comma that begins a new ``name=value``, and not one inside a value such as "[25, 60)".
_NEXT_PAIR = re.compile(r",(?=[^,=]+=)")

#: A number as people write it.
_EDGE = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def read_protected(given: Sequence[str]) -> dict[str, list[float] | None]:
    """Protected attributes: names with commas between them, numeric ones with the edges of their bands.

    A name that holds a comma or a colon is written as JSON.

    >>> read_protected(["sex,age:25,60,race"])
    {'sex': None, 'age': [25.0, 60.0], 'race': None}
    >>> read_protected(['{"age, in years": [40], "sex": null}'])
    {'age, in years': [40], 'sex': None}
    """
    named: dict[str, list[float] | None] = {}
    for text in given:
        found = _mapping(text, "--protected") if text.lstrip().startswith("{") else _listed(text)
        for name, bands in found.items():
            if name in named:
                raise SpecError(f"`--protected` names {name!r} more than once.")
            named[name] = bands
    return named


def _listed(text: str) -> dict[str, list[float] | None]:
    named: dict[str, list[float] | None] = {}
    edges: list[float] | None = None
    for part in (piece.strip() for piece in text.split(",")):
        number = _number(part)
        if edges is not None and number is not None:
            edges.append(number)
            continue
        name, colon, first = part.partition(":")
        edges = None
        if colon:
            number = _number(first)
            if number is None:
                raise SpecError(
                    f"`--protected` takes names, and bands as in age:25,60; got {part!r}. "
                    "Write a name with a colon or a comma as JSON: '{\"odd: name\": null}'."
                )
            edges = [number]
        if not name:
            raise SpecError(f"`--protected` takes names with commas between them; got {text!r}, where one is empty.")
        if name in named:
            raise SpecError(f"`--protected` names {name!r} more than once.")
        named[name] = edges
    return named


def read_names(given: str | Sequence[str], option: str) -> list[str]:
    """Names with commas between them; a name that contains a comma is written in a list of JSON.

    >>> read_names(["age,city", "pay"], "--features"), read_names('["age, in years"]', "--features")
    (['age', 'city', 'pay'], ['age, in years'])
    """
    names: list[str] = []
    for text in [given] if isinstance(given, str) else given:
        if text.lstrip().startswith("["):
            try:
                found = json.loads(text)
            except json.JSONDecodeError as error:
                raise SpecError(f"`{option}` starts with '[' but is not a JSON list ({error}); got {text!r}.") from None
            names += map(str, found)
        else:
            names += [part.strip() for part in text.split(",")]
    if not all(names):
        raise SpecError(f"`{option}` takes names with commas between them; got {list(given)!r}, where one is empty.")
    return names


def read_positive(given: Sequence[str]) -> str | list[str] | None:
    """The favourable outcome as it is written, or several of them where the option is repeated.

    Whether a comma stands between two classes or within the name of one is known once the data are read.

    >>> read_positive(["yes"]), read_positive(["approved,in part"]), read_positive(["approved", "yes, in part"])
    ('yes', 'approved,in part', ['approved', 'yes, in part'])
    """
    return given[0] if len(given) == 1 else list(given) or None


def read_privileged(given: Sequence[str]) -> dict[str, list[str]]:
    """Privileged values: ``name=value``, repeated for other attributes or further values.

    >>> read_privileged(["sex=Male,race=White", "age=[25, 60)", "race=Asian"])
    {'sex': ['Male'], 'race': ['White', 'Asian'], 'age': ['[25, 60)']}
    """
    named: dict[str, list[str]] = {}
    for text in given:
        if text.lstrip().startswith("{"):
            for name, value in _mapping(text, "--privileged").items():
                named.setdefault(name, []).extend(value if isinstance(value, list) else [value])
            continue
        for pair in _NEXT_PAIR.split(text):
            name, equals, value = pair.partition("=")
            if not (name.strip() and equals):
                raise SpecError(f"`--privileged` takes attribute=value, such as sex=Male; got {pair!r}.")
            named.setdefault(name.strip(), []).append(value.strip())
    return named


def read_score(given: Sequence[str]) -> str | list[str] | Mapping[str, str] | None:
    """Score columns: one, several in the order of the sorted classes, or ``class=column`` for each.

    >>> read_score(["p"]), read_score(["p_a,p_b"]), read_score(["a=p_a", "b=p_b"])
    ('p', ['p_a', 'p_b'], {'a': 'p_a', 'b': 'p_b'})
    """
    parts = [part.strip() for text in given for part in text.split(",")]
    if not parts:
        return None
    if all("=" in part for part in parts):
        return dict(part.split("=", 1) for part in parts)
    return parts[0] if len(parts) == 1 else parts


def _mapping(text: str, option: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise SpecError(f"`{option}` starts with '{{' but is not a JSON object ({error}); got {text!r}.") from None
    return {str(name): value for name, value in found.items()}


def _number(text: str) -> float | None:
    """The edge of a band; None for what is a name, also where Python would read it as a number ("Infinity", "1_0")."""
    return float(text) if _EDGE.fullmatch(text) else None
