"""A digest of a table's content that does not depend on the kind of frame that contains it.

A column goes in as one of three forms: numbers (and booleans, moments, durations) as 64-bit floats, whole numbers
beyond 2^53 as 64-bit integers, everything else as its distinct texts in order of appearance and a code a row. Missing
values count as one, whatever a library calls them.
"""

from __future__ import annotations

import hashlib
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.data.columns import numbers

_EXACT = 1 << 53


def fingerprint(table: nw.DataFrame[Any]) -> str:
    """A sha256 over names and values, columns in the order of their names."""
    digest = hashlib.sha256()
    for name in sorted(table.columns):
        form, parts = _form(table[name])
        digest.update(_sized(name.encode("utf-8", "surrogatepass")) + form + len(table).to_bytes(8, "little"))
        for part in parts:
            digest.update(part)
    return digest.hexdigest()


def _form(column: nw.Series[Any]) -> tuple[bytes, list[Any]]:
    dtype = column.dtype
    if dtype == nw.Boolean:
        return b"b", [_floats(numbers(column))]
    wide = dtype in (nw.Int128, nw.UInt128)  # of which NumPy has none: beyond 2^53 they go in as texts
    if dtype.is_integer() and not wide and _beyond_exact(column):
        missing = column.is_null().to_numpy()
        whole = column.fill_null(0).to_numpy()
        return b"i", [
            np.packbits(missing).tobytes(),
            whole.astype("<u8" if whole.dtype.kind == "u" else "<i8").tobytes(),
        ]
    if dtype.is_numeric() and not (wide and _beyond_exact(column)):
        return b"n", [_floats(numbers(column))]
    if dtype == nw.Date or dtype == nw.Datetime:
        moments = column.cast(nw.Datetime("us")) if dtype == nw.Date else column
        return b"t", [_floats(numbers(moments.dt.timestamp("us")))]
    if dtype == nw.Duration:
        return b"d", [_floats(numbers(column))]
    codes, labels = _coded(column)
    sizes = np.fromiter(map(len, labels), dtype="<u4", count=len(labels))
    return b"s", [_sized(sizes.tobytes()), "".join(labels).encode("utf-8", "surrogatepass"), codes.tobytes()]


def _floats(values: NDArray[np.float64]) -> bytes:
    plain = np.ascontiguousarray(values, dtype="<f8") + 0.0  # -0.0 becomes 0.0
    plain[np.isnan(plain)] = np.nan  # one kind of NaN
    return plain.tobytes()


def _beyond_exact(column: nw.Series[Any]) -> bool:
    low, high = column.min(), column.max()
    return low is not None and low == low and (low < -_EXACT or high > _EXACT)


def _coded(column: nw.Series[Any]) -> tuple[NDArray[np.uint32], list[str]]:
    """Codes in order of first appearance, and the texts behind them; hashed by the library that contains the column."""
    native = column.to_native()
    root = type(native).__module__.split(".")[0]
    if root == "pandas":
        import pandas as pd

        if native.dtype == object or not _is_comparable(native.dtype):
            known = zip(native, native.notna(), strict=True)
            written = [_text(value) if there else None for value, there in known]
            native = np.array(written, dtype=object)  # not a column of texts, which refuses half characters
        codes, uniques = pd.factorize(native, use_na_sentinel=True)
        labels = uniques.tolist()
    elif root == "polars":
        import polars as pl

        plain = not native.dtype.is_nested() and native.dtype not in (pl.Object, pl.Binary)
        texts = native.cast(pl.String) if plain else None
        if texts is None:
            texts = pl.Series([None if value is None else _text(value) for value in native.to_list()], dtype=pl.String)
        first = pl.DataFrame({"text": texts.drop_nulls().unique(maintain_order=True)}).with_row_index("code")
        found = pl.DataFrame({"text": texts}).join(first, on="text", how="left", maintain_order="left")["code"]
        codes, labels = found.cast(pl.Int64).fill_null(-1).to_numpy(), first["text"].to_list()
    else:
        import pyarrow as pa

        whole = native.combine_chunks() if isinstance(native, pa.ChunkedArray) else native
        if pa.types.is_dictionary(whole.type):
            whole = whole.dictionary_decode()
        if not pa.types.is_string(whole.type) and not pa.types.is_large_string(whole.type):
            whole = pa.array([None if value is None else _text(value) for value in whole.to_pylist()], pa.string())
        encoded = whole.dictionary_encode()
        codes, labels = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), encoded.dictionary.to_pylist()
    return np.asarray(codes).astype("<i4").view("<u4"), labels if set(map(type, labels)) <= {str} else list(
        map(_text, labels)
    )


def _is_comparable(dtype: Any) -> bool:
    """Whether pandas can tell the values of a type apart: not lists, structs, maps and runs of Arrow."""
    kind = getattr(dtype, "pyarrow_dtype", None)
    if kind is None:
        return True
    import pyarrow as pa

    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    return not inner.num_fields and not pa.types.is_run_end_encoded(inner)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value)


def _sized(raw: bytes) -> bytes:
    return len(raw).to_bytes(8, "little") + raw
