"""The steps of a pipeline before its last estimator, where they work column by column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.counting import Codes
from isonomia.data import Dataset
from isonomia.explain.players import By, Players
from isonomia.models import Model, split_pipeline
from isonomia.typing import Floats, Indices

#: Distinct values of a column of numbers that are tried to see which encoded columns it reaches.
TRIED = 256
#: Rows mixed at random to see that encoding mixed rows is mixing encoded rows.
MIXED = 64
#: How often.
MIXINGS = 4
#: How far the two may be apart.
TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Encoder:
    """Rows of the dataset as the matrix that the last estimator takes: all rows at hand, encoded."""

    estimator: Any
    names: tuple[str, ...]
    players: Players
    rows: Floats


def encoder(model: Model, data: Dataset, table: nw.DataFrame[Any], *, by: By) -> Encoder | None:
    """The steps as an encoder; None where they mix columns, or the result is not a matrix of numbers.

    Which encoded columns a column of the dataset reaches is observed: its values are exchanged between rows and the
    rows encoded again. Then rows mixed at random must encode as the mixture of the encoded rows does.
    """
    steps, last = split_pipeline(model.estimator)
    features = tuple(model.features or data.features)

    def matrix(rows: nw.DataFrame[Any]) -> Floats:
        found = model.inputs(data, rows.to_native())
        for step in steps:
            if step is not None and step != "passthrough":
                found = step.transform(found)
        return _dense(found)

    try:
        rows = matrix(table)
    except (ValueError, TypeError, AttributeError):  # texts, or a step that does not transform
        return None
    if not steps:
        return Encoder(last, features, Players(features, np.arange(len(features))), rows)
    names = _names(steps, features, rows.shape[1])
    if by == "encoded":
        return Encoder(last, names, Players(names, np.arange(len(names))), rows)
    owner = _owners(table, features, matrix, rows.shape[1])
    if owner is None or not _mixes(table, features, matrix, owner):
        return None
    return Encoder(last, names, Players(features, owner), rows)


def _dense(found: Any) -> Floats:
    dense = found.toarray() if hasattr(found, "toarray") else found
    return np.ascontiguousarray(np.asarray(dense, dtype=float))


def _names(steps: list[Any], features: tuple[str, ...], width: int) -> tuple[str, ...]:
    names: Any = features
    for step in steps:
        if step is None or step == "passthrough":
            continue
        try:
            names = step.get_feature_names_out(names if not hasattr(step, "feature_names_in_") else None)
        except (AttributeError, ValueError):  # a step of the user's own that does not name its columns
            return tuple(f"x{index}" for index in range(width))
    return tuple(str(name) for name in names)


def _owners(
    table: nw.DataFrame[Any], features: tuple[str, ...], matrix: Callable[[Any], Floats], width: int
) -> Indices | None:
    """The column of the dataset behind every encoded column; None where two columns reach the same one."""
    owner = np.full(width, -1, dtype=np.intp)
    for index, name in enumerate(features):
        codes = Codes.encode(table[name], name=name)
        _, rows = np.unique(codes.codes, return_index=True)
        if len(rows) > TRIED and table[name].dtype.is_numeric():
            rows = rows[np.linspace(0, len(rows) - 1, TRIED).astype(np.intp)]
        if len(rows) < 2:
            continue
        base = _rows(table, rows)
        exchanged = base.with_columns(_rows(table, np.roll(rows, 1))[name])
        with np.errstate(invalid="ignore"):
            was, now = matrix(base), matrix(exchanged)
        reached = ((was != now) & ~(np.isnan(was) & np.isnan(now))).any(axis=0)
        if (owner[reached] >= 0).any():
            return None
        owner[reached] = index
    return np.maximum(owner, 0)


def _mixes(
    table: nw.DataFrame[Any], features: tuple[str, ...], matrix: Callable[[Any], Floats], owner: Indices
) -> bool:
    """Whether rows mixed at random encode as the mixture of the encoded rows."""
    rng = np.random.default_rng(0)
    for _ in range(MIXINGS):
        one, other = (_rows(table, rng.integers(len(table), size=MIXED)) for _ in range(2))
        taken = rng.random(len(features)) < 0.5
        mixed = one.with_columns(*(other[name] for name, take in zip(features, taken, strict=True) if take))
        expected = np.where(taken[owner], matrix(other), matrix(one))
        if not np.allclose(matrix(mixed), expected, rtol=0, atol=TOLERANCE, equal_nan=True):
            return False
    return True


def _rows(table: nw.DataFrame[Any], rows: Indices) -> nw.DataFrame[Any]:
    """Some rows, numbered anew: pandas would align columns by the index."""
    return nw.maybe_reset_index(table[rows.astype(np.int64)])
