"""How large rows are that an engine hands over."""

from __future__ import annotations

from collections.abc import Mapping

import narwhals.stable.v2 as nw

#: Bytes that a text takes in memory, roughly; numbers and moments take eight.
_TEXT_BYTES = 48


def row_bytes(schema: Mapping[str, nw.dtypes.DType]) -> int:
    """Bytes that one row takes in memory, roughly.

    >>> row_bytes({"age": nw.Int64(), "sex": nw.String(), "old": nw.Boolean()})
    57
    """
    return sum(_bytes(dtype) for dtype in schema.values() if not dtype.is_nested())


def _bytes(dtype: nw.dtypes.DType) -> int:
    if dtype == nw.Boolean:
        return 1
    return 8 if dtype.is_numeric() or dtype.is_temporal() else _TEXT_BYTES
