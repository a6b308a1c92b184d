"""From a table to marginals and codes: what a copula learns of each column by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.data.columns import numbers
from isonomia.data.schema import Kind, kind_of
from isonomia.data.synthetic.dependence import pairwise_correlation
from isonomia.data.synthetic.marginals import Curve, Levels, Marginal, reorder, shares_of
from isonomia.errors import DataError, SpecError, close_to

#: More levels than this in a column of texts is an identifier, not a category.
MAX_LEVELS = 1000
#: Numbers that repeat this much are levels (every value kept as it is), others a curve.
_MAX_ATOMS = 1000
_FEW_ATOMS = 50
#: Rows used to put unordered categories in order.
_ORDER_ROWS = 20_000


def read_column(column: nw.Series[Any], name: str, kind: Kind) -> tuple[Marginal, NDArray[Any]]:
    """The marginal of a column and its rows as codes (or numbers, for a curve); missing numbers are -1 or NaN."""
    if kind == "datetime":
        raise DataError(f"'{name}' contains dates, which the generator cannot model. Leave it out with `columns=`.")
    if kind in ("integer", "numeric"):
        return _read_numbers(column, name, kind)
    return _read_levels(column, name, kind)


def codes_of(column: nw.Series[Any], marginal: Marginal) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Rows of another table as codes of a known marginal, and which rows it does not know."""
    name = marginal.name
    if isinstance(marginal, Curve) or marginal.kind in ("integer", "numeric"):
        numbers = _numbers(column, name)
        missing = np.isnan(numbers)
        if isinstance(marginal, Curve):
            return numbers, np.zeros(numbers.size, dtype=bool)
        known = np.asarray(marginal.values, dtype=float)
        codes = np.minimum(np.searchsorted(known, numbers), known.size - 1).astype(np.int32)
        codes[missing] = -1
        return codes, ~missing & (known[codes] != numbers)
    table = {_key(value): code for code, value in enumerate(marginal.values)}
    values = _values(column)
    known_levels = {value: table.get(_key(value), -1) for value in dict.fromkeys(values)}
    codes = np.fromiter(map(known_levels.__getitem__, values), dtype=np.int32, count=len(values))
    return codes, codes < 0


def order_levels(
    marginals: list[Marginal], codes: list[NDArray[Any]], orders: Mapping[str, Sequence[Any]]
) -> tuple[list[Marginal], list[NDArray[Any]]]:
    """Put categories in an order: the one given, else along the first principal component of the other columns.

    A latent normal sees a category as an ordered one, so the order decides how much of its dependence can be kept.
    """
    for name in orders:
        if name not in {marginal.name for marginal in marginals}:
            raise SpecError(
                f"`orders` names {name!r}, which is not a column.{close_to(name, [m.name for m in marginals])}"
            )
    for j, marginal in enumerate(marginals):
        if marginal.name in orders and marginal.kind not in ("category", "boolean"):
            raise SpecError(f"`orders` is for categories; '{marginal.name}' contains numbers, which have an order.")
        if isinstance(marginal, Levels) and marginal.name in orders:
            wanted = [marginal._code_of(value) for value in orders[marginal.name]]
            rest = [code for code in range(len(marginal.values)) if code not in set(wanted)]
            marginals[j], codes[j] = reorder(marginal, codes[j], [*wanted, *rest])
    loose = [
        j
        for j, marginal in enumerate(marginals)
        if isinstance(marginal, Levels)
        and marginal.kind == "category"
        and marginal.name not in orders
        and len(marginal.values) > 2
    ]
    if not loose or len(marginals) < 2:
        return marginals, codes
    step = max(1, codes[0].size // _ORDER_ROWS)
    scores = np.stack([m.scores(c[::step]) for m, c in zip(marginals, codes, strict=True)], axis=1)
    for _ in range(3):
        for j in loose:
            component = _component(scores, j)
            marginal, rows = marginals[j], codes[j][::step]
            assert isinstance(marginal, Levels)
            # `counting` is above `data` and cannot be used here
            counts = np.maximum(np.bincount(rows, minlength=len(marginal.values)), 1)
            means = np.bincount(rows, weights=component, minlength=len(marginal.values)) / counts
            marginals[j], codes[j] = reorder(marginal, codes[j], np.argsort(means, kind="stable").tolist())
            scores[:, j] = marginals[j].scores(codes[j][::step])
    return marginals, codes


def _component(scores: NDArray[np.float64], left_out: int) -> NDArray[np.float64]:
    """The first principal component of the other columns, its sign fixed so that the same data gives the same order."""
    others = np.delete(scores, left_out, axis=1)
    vector = np.linalg.eigh(pairwise_correlation(others))[1][:, -1]
    vector = vector * (1 if vector[np.abs(vector).argmax()] > 0 else -1)
    spread = np.nanstd(others, axis=0)
    return np.asarray(np.nan_to_num(others / np.where(spread > 0, spread, 1.0)) @ vector, dtype=float)


def _read_numbers(column: nw.Series[Any], name: str, kind: Kind) -> tuple[Marginal, NDArray[Any]]:
    numbers = _numbers(column, name)
    present = numbers[~np.isnan(numbers)]
    if present.size == 0:
        raise DataError(f"'{name}' has no values: every row is missing. Leave it out with `columns=`.")
    if not np.isfinite(present).all():
        raise DataError(f"'{name}' contains infinite values. Replace them, or leave the column out with `columns=`.")
    values, counts = np.unique(present, return_counts=True)
    limit = _MAX_ATOMS if kind == "integer" else min(_MAX_ATOMS, max(_FEW_ATOMS, present.size // 20))
    if values.size > limit:
        return Curve.through(name, kind, present), numbers
    codes = np.minimum(np.searchsorted(values, numbers), values.size - 1).astype(np.int32)
    codes[np.isnan(numbers)] = -1
    plain = values.astype(np.int64).tolist() if kind == "integer" else values.tolist()
    return Levels(name, kind, tuple(plain), counts / present.size), codes


def _read_levels(column: nw.Series[Any], name: str, kind: Kind) -> tuple[Marginal, NDArray[Any]]:
    values = _values(column)
    try:
        raw_levels = dict.fromkeys(values, 0)
    except TypeError:
        raise DataError(f"'{name}' contains lists or other compound values. Leave it out with `columns=`.") from None
    seen: dict[Any, int] = {}
    for value in raw_levels:
        raw_levels[value] = seen.setdefault(_key(value), len(seen))
    raw = np.fromiter(map(raw_levels.__getitem__, values), dtype=np.int32, count=len(values))
    if set(seen) == {None}:
        raise DataError(f"'{name}' has no values: every row is missing. Leave it out with `columns=`.")
    if len(seen) > MAX_LEVELS:
        raise DataError(
            f"'{name}' has {len(seen):,} different values, more than the {MAX_LEVELS:,} a category may have. "
            "Is it an identifier? Leave it out with `columns=`."
        )
    found = list(seen)
    order = sorted(range(len(found)), key=lambda index: _sort_key(found[index]))
    levels = Levels(name, kind, tuple(found), shares_of(raw, len(found)))
    return reorder(levels, raw, order)


def _numbers(column: nw.Series[Any], name: str) -> NDArray[np.float64]:
    if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
        raise DataError(f"'{name}' was numeric when the generator was fitted and contains other values here.")
    return numbers(column)


def _values(column: nw.Series[Any]) -> list[Any]:
    """The values of a column, None where they are missing (pandas has a value for that which equals nothing)."""
    values = column.to_list()
    for row in np.flatnonzero(column.is_null().to_numpy()).tolist():
        values[row] = None
    return values


def _key(value: Any) -> Any:
    """A value as a plain, hashable one; missing as None."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or value != value:
        return None
    return value if isinstance(value, str | bool | int | float) else str(value)


def _sort_key(value: Any) -> tuple[int, Any]:
    """Where a level goes by default: numbers, then texts, missing last."""
    if value is None:
        return (2, 0)
    return (1, value) if isinstance(value, str) else (0, value)


def kinds_of(table: nw.DataFrame[Any], columns: Sequence[str], kinds: Mapping[str, Kind]) -> dict[str, Kind]:
    """The kind of each column, given or read off its dtype; a category of numbers may be declared."""
    return {name: kinds.get(name) or kind_of(table[name]) for name in columns}
