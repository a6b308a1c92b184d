"""Universal Binary JSON as XGBoost writes it: read within bounds, before its own reader follows any length.

Every length, type and key is looked at; whatever XGBoost does not write is refused, so that its reader and this one
cannot understand a file differently. Typed arrays stay arrays. The format: https://ubjson.org (draft 12).
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

#: Markers of numbers with their types, big-endian; `U` and the others are those of the specification.
_NUMBERS = {"i": ">i1", "U": ">u1", "I": ">i2", "l": ">i4", "L": ">i8", "d": ">f4", "D": ">f8"}
_WORDS = {"Z": None, "T": True, "F": False}
#: A model of XGBoost is about ten levels deep.
_MAX_DEPTH = 32


def read_ubjson(content: bytes) -> Any:
    """The value that the whole content holds: dicts, lists, texts, numbers, and arrays where numbers share a type.

    Raises
    ------
    ValueError
        Where it is anything else.

    Examples
    --------
    >>> read_ubjson(b"{L" + bytes(7) + b"\\x01a[$i#L" + bytes(7) + b"\\x02\\x05\\xff}")["a"].tolist()
    [5, -1]
    """
    reader = _Reader(content)
    value = reader.value(reader.marker(), 0)
    if reader.at != len(content):
        raise ValueError(f"{len(content) - reader.at} bytes follow its end")
    return value


class _Reader:
    """A position in a content that is never left."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def take(self, n: int) -> bytes:
        if n < 0 or n > len(self.content) - self.at:
            raise ValueError("it ends too early")
        self.at += n
        return self.content[self.at - n : self.at]

    def marker(self) -> str:
        return self.take(1).decode("latin-1")

    def length(self) -> int:
        if self.marker() != "L":
            raise ValueError("a length in it is malformed")
        return int(struct.unpack(">q", self.take(8))[0])

    def text(self) -> str:
        return self.take(self.length()).decode("utf-8")

    def value(self, marker: str, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise ValueError("it is nested too deeply")
        if marker == "{":
            return self.mapping(depth)
        if marker == "[":
            return self.array(depth)
        if marker == "S":
            return self.text()
        if marker in _NUMBERS:
            return np.frombuffer(self.take(np.dtype(_NUMBERS[marker]).itemsize), _NUMBERS[marker])[0].item()
        if marker in _WORDS:
            return _WORDS[marker]
        raise ValueError(f"it contains a value of an unknown type {marker!r}")

    def mapping(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self.content[self.at : self.at + 1] != b"}":
            key = self.text()
            if key in found:
                raise ValueError(f"the key {key!r:.80} appears twice")
            found[key] = self.value(self.marker(), depth + 1)
        self.at += 1
        return found

    def array(self, depth: int) -> Any:
        first = self.marker()
        if first == "$":
            dtype = np.dtype(_NUMBERS.get(kind := self.marker(), "V"))
            if dtype.kind == "V" or self.marker() != "#":
                raise ValueError(f"it contains an array of an unknown type {kind!r}")
            n = self.length()
            return np.frombuffer(self.take(n * dtype.itemsize), dtype)
        if first != "#":
            raise ValueError("an array in it has no length")
        n = self.length()
        if n > len(self.content) - self.at:  # each value takes a byte at least
            raise ValueError("it ends too early")
        return [self.value(self.marker(), depth + 1) for _ in range(n)]
