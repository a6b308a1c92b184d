"""What a reader of the results should know about a table: nothing here is wrong, and all of it matters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.data.columns import distinct, numbers
from isonomia.languages import Message, msg

if TYPE_CHECKING:
    from isonomia.data.dataset import Dataset


def notes_on(data: Dataset) -> Iterator[Message]:
    """One sentence a fact, target first."""
    if data.target is not None:
        column = data.column(data.target)
        n = _missing(column)
        if n:
            yield msg("The target {column} is missing in {n:# row|# rows}.", column=data.target, n=n)
        if data.task != "regression" and len(distinct(column)) == 1:
            yield msg("The target {column} has only one value: there is nothing to predict.", column=data.target)
    for name in data.protected:
        column = data.column(name)
        if len(distinct(column)) == 1:
            yield msg(
                "The protected attribute {column} has only one value: there are no groups to compare.", column=name
            )
        n = _missing(column)
        if n:
            yield msg(
                "The protected attribute {column} is missing in {n:# row|# rows}, which form a group of their own.",
                column=name,
                n=n,
            )
    for name in data.left_out:
        yield msg("The column {column} contains nested values and is not used as a feature.", column=name)
    for name in data.features:
        if name not in data.searchable:
            yield msg(
                "The feature {column} contains infinite values, or no value at all: searches and comparisons of people "
                "leave it out.",
                column=name,
            )


def _missing(column: nw.Series[Any]) -> int:
    if column.dtype in (nw.Float32, nw.Float64):
        return int(np.isnan(numbers(column)).sum())
    return int(column.null_count())
