"""A look into an ONNX file without building anything from it.

ONNX files are protocol buffers. The few fields that matter here (is data kept outside the file, which class labels are
written down) are read from the wire format, so that nothing has to be trusted, or installed, to look.
Field numbers are those of onnx.proto (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from isonomia.errors import ModelError

#: For each kind of message: field number -> kind of message stored there.
_INSIDE: dict[str, dict[int, str]] = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
}
_MAX_DEPTH = 64
#: Runs of single numbers in an attribute (fields 7 and 8): a forest has millions, and none holds anything else.
_NUMBERS = re.compile(rb"(?:\x3d[\x00-\xff]{4}|\x40[\x80-\xff]{0,9}[\x00-\x7f])+")


@dataclass
class OnnxLook:
    """What a look into an ONNX file shows."""

    has_graph: bool = False
    external: bool = False
    classes: list[tuple[Any, ...]] = field(default_factory=list)


def look_into_onnx(content: bytes, *, name: str) -> OnnxLook:
    """Whether this is an ONNX model, whether it keeps data in other files, and the class labels it names."""
    look = OnnxLook()
    stack: list[tuple[str, memoryview, int]] = [("model", memoryview(content), 0)]
    try:
        while stack:
            kind, message, depth = stack.pop()
            if depth > _MAX_DEPTH:
                raise ValueError("messages nested too deeply")
            if kind == "attribute" and (labels := _class_labels(message)):
                look.classes.append(labels)
            inside = _INSIDE.get(kind, {})
            for number, value in _fields(message, skip_numbers=kind == "attribute"):
                if kind == "model" and number == 7 and isinstance(value, memoryview):
                    look.has_graph = True
                if kind == "tensor" and (number == 13 or (number == 14 and value == 1)):
                    look.external = True
                if number in inside and isinstance(value, memoryview):
                    stack.append((inside[number], value, depth + 1))
    except (ValueError, IndexError, UnicodeDecodeError) as error:
        raise ModelError(f"'{name}' is not a readable ONNX model: {error}.") from error
    return look


def _class_labels(message: memoryview) -> tuple[Any, ...]:
    """The labels in an attribute whose name, which is written first, begins with "classlabels"."""
    fields = _fields(message)
    number, name = next(fields, (0, 0))
    if number != 1 or not isinstance(name, memoryview) or bytes(name[:11]) != b"classlabels":
        return ()
    texts: list[str] = []
    numbers: list[int] = []
    for number, value in fields:
        if number == 9 and isinstance(value, memoryview):
            texts.append(bytes(value).decode("utf-8"))
        elif number == 8:
            numbers.extend([value] if isinstance(value, int) else _packed(value))
    return tuple(texts) or tuple(value - (1 << 64) if value >= 1 << 63 else value for value in numbers)


def _fields(message: memoryview, *, skip_numbers: bool = False) -> Iterator[tuple[int, int | memoryview]]:
    offset = 0
    while offset < len(message):
        if skip_numbers and (run := _NUMBERS.match(message, offset)):
            offset = run.end()
            continue
        key, offset = _varint(message, offset)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, offset = _varint(message, offset)
            yield number, value
            continue
        size = {1: 8, 5: 4}.get(wire)
        if wire == 2:
            size, offset = _varint(message, offset)
        if size is None or number == 0:
            raise ValueError(f"wire type {wire} of field {number} is unknown")
        if offset + size > len(message):
            raise ValueError("it ends too early")
        if wire == 2:
            yield number, message[offset : offset + size]
        offset += size


def _packed(message: memoryview) -> list[int]:
    values, offset = [], 0
    while offset < len(message):
        value, offset = _varint(message, offset)
        values.append(value)
    return values


def _varint(message: memoryview, offset: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[offset]
        offset += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, offset
        shift += 7
        if shift > 63:
            raise ValueError("a number is too long")
