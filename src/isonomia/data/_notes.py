"""What a reader of the results should know about a table: nothing here is wrong, and all of it matters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.data.bands import Bands
from isonomia.data.columns import distinct, numbers
from isonomia.languages import Message, msg
from isonomia.languages.naming import together

if TYPE_CHECKING:
    from isonomia.data.role_table import RoleTable


def notes_on(data: RoleTable) -> Iterator[Message]:
    """One sentence per fact: how the table was read, then the target, the groups, the features."""
    yield from data.reading_notes
    if data.target is not None:
        column = data.column(data.target)
        n = _missing(column, data.counts)
        if n:
            yield msg("The target {column} is missing in {n:# row|# rows}.", column=data.target, n=n)
    yield from one_value_notes(data)
    for name in data.protected:
        n = _missing(data.column(name), data.counts)
        if n:
            yield msg(
                "The protected attribute {column} is missing in {n:# row, which forms a group of its own|# rows, which "
                "form a group of their own}.",
                column=name,
                n=n,
            )
    yield from data.band_notes
    for name in data.left_out:
        yield msg("The column {column} contains nested values and is not used as a feature.", column=name)
    for name in data.identifiers:
        yield msg(
            "The column {column} looks like an identifier (nearly every row has a value of its own): searches and "
            "slices leave it out. List it among the features to include it.",
            column=name,
        )
    for name in data.features:
        if name not in data.searchable and name not in data.identifiers:
            yield msg(
                "The feature {column} contains infinite values, or no value at all: searches and comparisons of people "
                "leave it out.",
                column=name,
            )
    if data.engine is not None:
        yield from data.engine.notes


def one_value_notes(data: RoleTable) -> Iterator[Message]:
    """That the target or a protected attribute has one value only, so that little can be said."""
    if data.target is not None and data.task != "regression" and len(distinct(data.column(data.target))) == 1:
        yield msg("The target {column} has only one value: there is nothing to predict.", column=data.target)
    for name in data.protected:
        column = data.column(name)
        if len(distinct(column)) == 1 and not _missing(column, data.counts):
            yield msg(
                "The protected attribute {column} has only one value: there are no groups to compare.", column=name
            )


def bands_note(name: str, bands: Bands) -> Message:
    """That the groups of an attribute are bands which nobody gave."""
    return msg(
        "{column} has many different values and no bands were given: its groups are {bands}. Give bands of your own to "
        "change them.",
        column=name,
        bands=together(bands.labels),
    )


def _missing(column: nw.Series[Any], counts: NDArray[np.int64] | None) -> int:
    absent = np.isnan(numbers(column)) if column.dtype in (nw.Float32, nw.Float64) else column.is_null().to_numpy()
    return int(absent.sum() if counts is None else counts[absent].sum())
