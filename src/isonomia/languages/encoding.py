"""Values as JSON and back, without loss: messages stay templates, so a stored report can be read in another language.

JSON has texts, numbers, truth values, lists and objects. Everything else is an object whose key ``"$"`` names its kind:
``{"$": "message", "text": ..., "template": ..., "params": ...}``, ``{"$": "float", "value": "inf"}``.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, ClassVar, Self

from isonomia.errors import DataError
from isonomia.languages.field_types import check_fields

#: The key that names the kind of an object.
KIND = "$"

#: The largest whole number that is a float too.
_LARGEST = int(sys.float_info.max)

#: What reads an object of each kind.
_READERS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "float": lambda given: float(given["value"]),
    "tuple": lambda given: tuple(decode(item) for item in given["items"]),
    "set": lambda given: frozenset(decode(item) for item in given["items"]),
    "mapping": lambda given: {decode(key): decode(item) for key, item in given["items"]},
    "datetime": lambda given: datetime.fromisoformat(given["value"]),
    "date": lambda given: date.fromisoformat(given["value"]),
    "time": lambda given: time.fromisoformat(given["value"]),
    "timedelta": lambda given: timedelta(seconds=given["value"]),
    "decimal": lambda given: Decimal(given["value"]),
    "coded": lambda given: _uncoded(given["levels"], given["codes"]),
    "zipped": lambda given: list(zip(*map(decode, given["columns"]), strict=True)),
}


class Encoded:
    """A class whose objects `encode` writes as ``{"$": kind, ...}`` and `decode` reads back."""

    __slots__ = ()
    encoded_as: ClassVar[str]

    def __init_subclass__(cls, *, kind: str | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = kind or cls.__dict__.get("encoded_as")  # a dataclass with slots is made twice, the second time without
        if own is not None:
            cls.encoded_as = own
            _READERS[own] = cls.from_dict

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe; `from_dict` gives the same object again."""
        raise NotImplementedError

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Any:
        """The object that `to_dict` wrote."""
        raise NotImplementedError


class Record(Encoded):
    """A dataclass that is written field by field; a subclass without a `kind` of its own is written, and read, as its
    parent: it has what was computed on the way, which is not kept."""

    __slots__ = ()
    _written: ClassVar[type]

    def __init_subclass__(cls, *, kind: str | None = None, **options: Any) -> None:
        super().__init_subclass__(kind=kind, **options)
        if "encoded_as" in cls.__dict__:
            cls._written = cls

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe; `from_dict` gives the same object again."""
        return {field.name: _field(field.type, getattr(self, field.name)) for field in fields(self._written)}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """The object that `to_dict` wrote; keys it does not know are ignored, so that a newer minor version loads."""
        made = cls._written
        known = {field.name: field.type for field in fields(made)}
        read = {name: decode(value) for name, value in given.items() if name in known}
        values = {k: tuple(v) if isinstance(v, list) and _is_tuple(known[k]) else v for k, v in read.items()}
        check_fields(made, values)
        return made(**values)  # type: ignore[no-any-return]


def encode(value: Any) -> Any:
    """A value as JSON writes it.

    >>> encode({"a": (1, float("inf")), "b": None})
    {'a': {'$': 'tuple', 'items': [1, {'$': 'float', 'value': 'inf'}]}, 'b': None}
    """
    if isinstance(value, Encoded):
        return {KIND: value.encoded_as, **value.to_dict()}
    if value is None or isinstance(value, bool | int):
        return value if value is None or type(value) in (bool, int) else int(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {KIND: "float", "value": str(float(value))}
    if isinstance(value, Mapping):
        return _mapping(value)
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, tuple):
        return {KIND: "tuple", "items": [encode(item) for item in value]}
    if isinstance(value, set | frozenset):
        return {KIND: "set", "items": [encode(item) for item in sorted(value, key=str)]}
    return _other(value)


def encode_column(values: Iterable[Any]) -> Any:
    """A column as JSON writes it: a list, or its distinct values and their indices where texts or objects repeat.

    Tuples of one length are written as one column for each of their parts.

    >>> encode_column(["F", "M", "F"]), encode_column([0.5, 0.5])
    ({'$': 'coded', 'levels': ['F', 'M'], 'codes': [0, 1, 0]}, [0.5, 0.5])
    >>> encode_column([("a", 1), ("b", 2)])
    {'$': 'zipped', 'columns': [['a', 'b'], [1, 2]]}
    """
    given = list(values)
    if len(given) > 1 and all(type(value) is tuple and len(value) == len(given[0]) > 0 for value in given):
        return {KIND: "zipped", "columns": [encode_column(part) for part in zip(*given, strict=True)]}
    written = [encode(value) for value in given]
    if not any(isinstance(item, str | dict | list) for item in written):
        return written
    levels: dict[str, int] = {}
    codes = [levels.setdefault(json.dumps(item), len(levels)) for item in written]
    if len(levels) == len(written):
        return written
    return {KIND: "coded", "levels": [json.loads(level) for level in levels], "codes": codes}


def decode(value: Any) -> Any:
    """The value that `encode` wrote.

    >>> decode(encode({"a": (1, float("inf")), 2: "b"})) == {"a": (1, float("inf")), 2: "b"}
    True
    """
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, Mapping):
        if isinstance(value, int) and abs(value) > _LARGEST:
            raise DataError("a number is larger than any that is computed with")
        return value
    if KIND not in value:
        return {name: decode(item) for name, item in value.items()}
    read = _READERS.get(value[KIND]) if isinstance(value[KIND], str) else None
    if read is None:
        raise DataError(f"Unknown kind of value {value[KIND]!r}; a newer version wrote it, or it is damaged.")
    return read(value)


def _uncoded(levels: list[Any], codes: list[int]) -> list[Any]:
    """The column that its distinct values and their indices stand for."""
    known = [decode(level) for level in levels]
    if codes and not 0 <= min(codes) <= max(codes) < len(known):
        raise DataError(f"The record is damaged: a column of {len(known)} distinct values has an index outside them.")
    return [known[code] for code in codes]


def _field(type_: Any, value: Any) -> Any:
    return [encode(item) for item in value] if isinstance(value, tuple) and _is_tuple(type_) else encode(value)


def _is_tuple(type_: Any) -> bool:
    return str(type_).startswith("tuple")


def _mapping(value: Mapping[Any, Any]) -> dict[str, Any]:
    if all(type(name) is str for name in value) and KIND not in value:
        return {name: encode(item) for name, item in value.items()}
    return {KIND: "mapping", "items": [[encode(name), encode(item)] for name, item in value.items()]}


def _other(value: Any) -> Any:
    """Times, decimals, NumPy's scalars and arrays; anything else as its text."""
    if isinstance(value, datetime | date | time):
        return {KIND: type(value).__name__.lower().replace("timestamp", "datetime"), "value": value.isoformat()}
    if isinstance(value, timedelta):
        return {KIND: "timedelta", "value": value.total_seconds()}
    if isinstance(value, Decimal):
        return {KIND: "decimal", "value": str(value)}
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        if value.dtype.kind in "mM":  # as whole microseconds, since finer times are not Python's
            value = value.astype(f"{value.dtype.kind}8[us]")
        return encode(value.tolist())
    return str(value)
