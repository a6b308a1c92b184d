"""What a user may set, checked in one place: whole numbers, numbers, yes or no, one of several words.

Each function hands back the value in its plain kind, or raises a `SpecError` that says what was expected and what came.
"""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any, Literal, NoReturn, Union

from isonomia.errors import SpecError, did_you_mean

#: Characters of a value that an error repeats, at most.
_SHOWN = 200


def check_whole(name: str, value: Any, least: int | None = 1, most: int | None = None, *, hint: str = "") -> int:
    """A whole number, of Python or of NumPy, of at least `least` and at most `most`.

    >>> check_whole("bins", 10)
    10
    >>> check_whole("bins", 2.5, hint=", or None for all values")
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: `bins` must be a whole number of at least 1, or None for all values; got 2.5.
    """
    number = int(value) if _is(Integral, value) else None
    if number is None or (least is not None and number < least) or (most is not None and number > most):
        lower = "" if least is None else f" of at least {least}"
        upper = "" if most is None else f" and at most {most}" if lower else f" of at most {most}"
        refuse(name, f"a whole number{lower}{upper}{hint}", value)
    return number


def check_number(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
    hint: str = "",
) -> float:
    """A finite number, of Python or of NumPy, within its bounds.

    >>> check_number("alpha", 0.05, above=0, at_most=1)
    0.05
    >>> check_number("alpha", 0, above=0, at_most=1)
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: `alpha` must be a number in (0, 1]; got 0.
    >>> check_number("penalty", float("inf"), at_least=0)
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: `penalty` must be a finite number of at least 0; got inf.
    """
    try:
        number = float(value) if _is(Real, value) else math.nan
    except OverflowError:  # a whole number beyond all floats
        number = math.nan
    if not (
        math.isfinite(number)
        and (above is None or number > above)
        and (at_least is None or number >= at_least)
        and (below is None or number < below)
        and (at_most is None or number <= at_most)
    ):
        refuse(name, _range(above, at_least, below, at_most) + hint, value)
    return number


def _is(kind: type, value: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _range(above: float | None, at_least: float | None, below: float | None, at_most: float | None) -> str:
    low, high = (above if at_least is None else at_least), (below if at_most is None else at_most)
    if low is not None and high is not None:
        return f"a number in {'(' if at_least is None else '['}{low:g}, {high:g}{')' if at_most is None else ']'}"
    if low is not None:
        return f"a finite number {'above' if at_least is None else 'of at least'} {low:g}"
    if high is not None:
        return f"a finite number {'below' if at_most is None else 'of at most'} {high:g}"
    return "a finite number"


def check_yes_no(name: str, value: Any) -> bool:
    """True or False, of Python or of NumPy; no number and no word stands for them.

    >>> check_yes_no("exact", "no")
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: `exact` must be True or False; got 'no'.
    """
    from numpy import bool_

    if not isinstance(value, bool | bool_):
        refuse(name, "True or False", value)
    return bool(value)


def check_choice(name: str, value: Any, choices: Iterable[str], *, hint: str = "") -> str:
    """One of several words.

    >>> check_choice("solver", "batch", ("auto", "batches"))
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: `solver` must be one of auto, batches; got 'batch'. Did you mean 'batches'?
    """
    known = tuple(choices)
    if not isinstance(value, str) or value not in known:
        refuse(name, f"one of {', '.join(known)}{hint}", value, did_you_mean(value, known))
    return value


def check_kinds(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Values of the kinds that a function's annotations ask for, as plain values of Python.

    True or False for `bool`, a whole number for `int`, a finite number for `float`, one of the words of a `Literal`,
    each of them or None where the annotation says so. Other annotations, and bounds, are left to the function itself.

    >>> def search(*, population: int = 100, early_stop: bool = False, limit: float | None = None): ...
    >>> check_kinds(search, {"population": 50, "limit": None})
    {'population': 50, 'limit': None}
    >>> check_kinds(search, {"early_stop": 0})
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: `early_stop` must be True or False; got 0.
    """
    try:
        kinds = typing.get_type_hints(function)
    except (NameError, TypeError):  # names for type checkers alone, or no plain function
        return dict(given)
    return {name: _check_kind(name, value, kinds.get(name, Any)) for name, value in given.items()}


def _check_kind(name: str, value: Any, kind: Any) -> Any:
    several = typing.get_origin(kind) in (Union, types.UnionType)
    kinds = [one for one in (typing.get_args(kind) if several else (kind,)) if one is not types.NoneType]
    optional = several and types.NoneType in typing.get_args(kind)
    if len(kinds) != 1 or (optional and value is None):
        return value
    hint = ", or None" if optional else ""
    if kinds[0] is bool:
        return check_yes_no(name, value)
    if kinds[0] is int:
        return check_whole(name, value, None, hint=hint)
    if kinds[0] is float:
        return check_number(name, value, hint=hint)
    if typing.get_origin(kinds[0]) is Literal:
        return check_choice(name, value, typing.get_args(kinds[0]), hint=hint)
    return value


def refuse(name: str, expected: str, value: Any, more: str = "") -> NoReturn:
    """Raise the error about a value that is not what was expected.

    >>> refuse("every", "a month or a year", "day")
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: `every` must be a month or a year; got 'day'.
    """
    shown = repr(value)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
    raise SpecError(f"`{name}` must be {expected}; got {shown}.{more}")
