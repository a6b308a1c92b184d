"""Whether what was read back is of the types that its dataclass declares: a stored file is not believed."""

from __future__ import annotations

import math
import types
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from isonomia.errors import DataError


def check_fields(made: type, values: Mapping[str, Any]) -> None:
    """Refuse values that are not of the types of the fields of a dataclass.

    >>> from isonomia.languages.message import Message
    >>> check_fields(Message, {"template": 3})
    Traceback (most recent call last):
    ...
    isonomia.errors.DataError: the field 'template' of a Message is of type int
    """
    kinds = _kinds(made)
    for name, value in values.items():
        if name in kinds and not fits(kinds[name], value):
            raise DataError(f"the field '{name}' of a {made.__name__} is of type {type(value).__name__}")


@cache
def _kinds(made: type) -> dict[str, Any]:
    return get_type_hints(made)


def fits(kind: Any, value: Any) -> bool:
    """Whether a value is of a type; a type that says nothing about values fits any.

    >>> fits(float | None, 3), fits(float | None, True), fits(tuple[str, ...], ("a", 1)), fits(Mapping[str, float], {})
    (True, False, False, True)
    """
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return any(fits(part, value) for part in parts)
    if origin is Literal:
        return value in parts if isinstance(value, str | int | None) else False
    if origin is tuple:
        return isinstance(value, tuple) and _all(parts[0] if parts[1:] == (...,) else Any, value)
    if origin is not None:
        return _in_container(origin, parts, value)
    if kind is None or kind is type(None):
        return value is None
    if kind is float:
        return _is_number(value)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, kind) if isinstance(kind, type) else True


def _in_container(origin: Any, parts: tuple[Any, ...], value: Any) -> bool:
    if not isinstance(origin, type):
        return True
    if issubclass(origin, Mapping):
        return isinstance(value, Mapping) and _all(parts[0], value) and _all(parts[1], value.values())
    if issubclass(origin, Sequence | AbstractSet):
        return isinstance(value, origin) and not isinstance(value, str) and _all(parts[0], value)
    return isinstance(value, origin)


def _all(kind: Any, values: Any) -> bool:
    return kind is Any or all(fits(kind, value) for value in values)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value) or isinstance(value, float)
    except OverflowError:  # a whole number beyond what a float holds
        return False
