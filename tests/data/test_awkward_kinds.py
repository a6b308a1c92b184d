"""Columns of kinds that libraries have and few tables use: read, left out with a note, or refused by name."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import isonomia as iso
from isonomia.errors import IsonomiaError

N = 60
RNG = np.random.default_rng(0)
K = RNG.integers(0, 3, N).tolist()
BASE: dict[str, Any] = {
    "x": RNG.normal(size=N),
    "sex": RNG.choice(["F", "M"], N).tolist(),
    "y": RNG.integers(0, 2, N),
    "p": RNG.integers(0, 2, N),
}
ARROW: dict[str, Callable[[], Any]] = {
    "decimal128": lambda: pa.array([Decimal(i) for i in K], pa.decimal128(38, 2)),
    "decimal256": lambda: pa.array([Decimal(i) for i in K], pa.decimal256(70, 2)),
    "binary": lambda: pa.array([b"\xff%d" % i for i in K]),
    "list": lambda: pa.array([[i] for i in K]),
    "list view": lambda: pa.array([[i] for i in K], pa.list_view(pa.int64())),
    "struct": lambda: pa.array([{"a": i} for i in K]),
    "map": lambda: pa.array([[("a", i)] for i in K], pa.map_(pa.string(), pa.int64())),
    "runs": lambda: pa.RunEndEncodedArray.from_arrays(pa.array([20, 40, N], pa.int32()), pa.array([1, 2, 3])),
    "dictionary of lists": lambda: pa.DictionaryArray.from_arrays(pa.array(K, pa.int32()), pa.array([[0], [1], [2]])),
}
POLARS: dict[str, Callable[[], Any]] = {
    "int128": lambda: pl.Series("z", [i + 2**70 for i in K], dtype=pl.Int128),
    "small int128": lambda: pl.Series("z", K, dtype=pl.Int128),
    "binary": lambda: pl.Series("z", [b"\xff\xfe%d" % i for i in K]),
    "list": lambda: pl.Series("z", [[i] for i in K]),
    "object": lambda: pl.Series("z", [frozenset([i]) for i in K], dtype=pl.Object),
}
PANDAS: dict[str, Callable[[], Any]] = {
    "lone surrogates": lambda: pd.Series(["a\ud800" if i else "b" for i in K], dtype=object),
    "whole numbers of 70 bits": lambda: pd.Series([i + 2**70 for i in K], dtype=object),
    "bytes": lambda: pd.Series([b"\xff%d" % i for i in K]),
}


def tables() -> dict[str, Callable[[], Any]]:
    made: dict[str, Callable[[], Any]] = {}
    for name, build in ARROW.items():
        made[f"pyarrow {name}"] = lambda build=build: pa.table(BASE).append_column("z", build())
        made[f"pandas of Arrow {name}"] = lambda build=build: pd.DataFrame(BASE).assign(
            z=pd.arrays.ArrowExtensionArray(pa.chunked_array([build()]))
        )
    for name, build in POLARS.items():
        made[f"polars {name}"] = lambda build=build: pl.DataFrame(BASE).with_columns(build())
    for name, build in PANDAS.items():
        made[f"pandas {name}"] = lambda build=build: pd.DataFrame(BASE).assign(z=build())
    return made


@pytest.mark.parametrize("role", ["feature", "ignored", "protected"])
@pytest.mark.parametrize("kind", tables())
def test_nothing_of_a_library_reaches_the_user(kind: str, role: str) -> None:
    frame = tables()[kind]()
    roles: dict[str, Any] = {"protected": ["sex", "z"] if role == "protected" else ["sex"]}
    if role == "ignored":
        roles["ignore"] = ["z"]
    try:
        report = iso.audit(frame, target="y", prediction="p", checks="standard", **roles)
    except IsonomiaError as error:
        refusal: str | None = str(error)
    else:
        refusal = None
    if refusal is not None:
        assert (role, "'z'" in refusal) == ("protected", True)
        return
    assert [one.code for one in report.document.sections if one.outcome == "failed"] == []
    assert report.to_html()
    assert report.document.fingerprint["data_sha256"]
