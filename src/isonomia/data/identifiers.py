"""Columns that name a row rather than describe it: application numbers, keys, tax numbers, free texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.data.columns import numbers

if TYPE_CHECKING:
    from isonomia.data.engines.engine import Engine

#: Fewer rows than this say nothing: values of any column may all be different.
MIN_ROWS = 50
#: The share of different values from which a column names its rows.
NEARLY_UNIQUE = 0.95
#: Whole numbers above this do not fit a float: nobody measures anything with them.
_BEYOND_FLOATS = 2**53
_HEAD = 2000
_WORDS = re.compile(
    r"(^|[^a-z])(ids?|identifier|uuid|guid|key|index|idx|numbers?|num|nr|no|ssn|cpf|cnpj|rg|codigo|código|matr[ií]cula|"
    r"protocolo|proposta|chave|n[uú]mero|registro)($|[^a-z])"
)


def is_identifier(column: nw.Series[Any], name: str) -> bool:
    """Whether a column of texts or whole numbers is different in nearly every row and looks like a name for it.

    Texts do when they are nearly unique. Whole numbers do when, besides, the column is called like one (``id``,
    ``application_number``, ``cpf``), they count the rows, rise or fall from row to row, or are too large for
    quantities.

    >>> series = nw.new_series("x", [i * i % 1009 for i in range(100)], backend="polars")
    >>> is_identifier(series, "area"), is_identifier(series, "client_id"), is_identifier(series.sort(), "area")
    (False, True, True)
    """
    text = column.dtype in (nw.String, nw.Object)
    if len(column) < MIN_ROWS or not (text or column.dtype.is_integer()):
        return False
    first = column.head(_HEAD)
    few = int(first.n_unique()) < NEARLY_UNIQUE * MIN_ROWS  # the usual case: one look is enough
    if few or not _nearly_unique(first) or not _nearly_unique(column):
        return False
    if text or _named_like_one(name):
        return True
    values = numbers(column)
    values = values[np.isfinite(values)]
    low, high = float(values.min()), float(values.max())
    steps = np.diff(values)
    counted = high - low + 1 == values.size == np.unique(values).size
    return max(-low, high) > _BEYOND_FLOATS or counted or bool((steps > 0).all() or (steps < 0).all())


def counted_identifiers(engine: Engine, names: Sequence[str]) -> tuple[str, ...]:
    """Which of these columns of an engine are identifiers: values are counted there, the first rows are looked at.

    Whole numbers rise or fall from row to row where they do in the first rows; otherwise the rule is `is_identifier`'s.
    """
    profile = engine.profile()
    names = [name for name in names if engine.schema[name] == nw.String or engine.schema[name].is_integer()]
    if profile.rows < MIN_ROWS or not names:
        return ()
    first = nw.from_native(engine.head(names, _HEAD), eager_only=True)
    names = [name for name in names if _nearly_unique(first[name])]
    different = engine.distinct(names) if names else {}
    known = {name: profile.rows - profile.missing[name] for name in names}
    names = [name for name in names if different[name] >= max(MIN_ROWS, NEARLY_UNIQUE * known[name])]
    plain = [name for name in names if engine.schema[name] != nw.String and not _named_like_one(name)]
    ends = engine.profile(ends=plain).ends if plain else {}
    out = []
    for name in names:
        if name in plain:
            low, high = ends[name] or (0.0, 0.0)
            steps = np.diff(numbers(first[name].drop_nulls()))
            counted = high - low + 1 == known[name] == different[name]
            rising = bool((steps > 0).all() or (steps < 0).all())
            if not (counted or rising or max(-low, high) > _BEYOND_FLOATS):
                continue
        out.append(name)
    return tuple(out)


def _nearly_unique(column: nw.Series[Any]) -> bool:
    present = column.drop_nulls()
    return len(present) >= MIN_ROWS and int(present.n_unique()) >= NEARLY_UNIQUE * len(present)


def _named_like_one(name: str) -> bool:
    """Whether a column is called like an identifier; words are apart by marks or capitals.

    >>> [_named_like_one(name) for name in ("clientId", "application_number", "education_num", "width", "Nº")]
    [True, True, True, False, False]
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return _WORDS.search(spaced.lower()) is not None
