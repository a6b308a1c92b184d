"""A search for pairs as a record of a store, and the same result again without a search."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.pairs.result import PairResult, Pairs
from isonomia.evidence import Result
from isonomia.languages import decode, encode
from isonomia.probing import Domain


def record_of(result: PairResult) -> dict[str, Any]:
    """What the tables of the result do not hold: the pairs as arrays, and the classes."""
    parts = {field.name: getattr(result.pairs, field.name) for field in fields(Pairs)}
    arrays = {name: _written(part) for name, part in parts.items() if part is not None}
    return {"pairs": arrays, "classes": encode(list(result.classes))}


def result_of(values: Mapping[str, Any], domain: Domain) -> PairResult:
    """The result that was kept; `domain` is that of the question, which is the same."""
    given, again = values["result"], values["again"]
    base = Result.from_dict(given)
    pairs = Pairs(**{name: _read(array) for name, array in again["pairs"].items()})
    return PairResult(
        **{field.name: getattr(base, field.name) for field in fields(Result)},
        method=given["method"],
        metrics=given["metrics"],
        pairs=pairs,
        domain=domain,
        classes=tuple(decode(again["classes"])),
    )


def _written(array: NDArray[Any]) -> dict[str, Any]:
    plain = np.ascontiguousarray(array)
    if plain.dtype.kind not in "fiub":
        raise TypeError(f"Expected an array of numbers; got dtype {plain.dtype}.")
    data = base64.b64encode(plain.astype(plain.dtype.newbyteorder("<")).tobytes()).decode("ascii")
    return {"dtype": plain.dtype.newbyteorder("<").str, "shape": list(plain.shape), "data": data}


def _read(given: Mapping[str, Any]) -> NDArray[Any]:
    dtype = np.dtype(given["dtype"])
    flat = np.frombuffer(base64.b64decode(given["data"]), dtype=dtype)
    return flat.reshape(given["shape"]).astype(dtype.newbyteorder("="))
