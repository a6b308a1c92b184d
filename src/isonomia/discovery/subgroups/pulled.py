"""Rows of an engine as codes: columns are read in batches, cut here, and kept as a byte or two per row.

Where these fit into the memory given, a search is one in memory, of all rows, whatever the method; the engine reads
every column once. Edges are those of the numbers themselves, so the codes are those of rows that were read whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from isonomia.counting import Binning, Bins, Codes, encode_features
from isonomia.counting.bins import DEFAULT_BINS, check_bins
from isonomia.data import Dataset
from isonomia.data.engines.role_counts import too_many
from isonomia.data.roles import RoleOptions
from isonomia.subject import Subject
from isonomia.typing import Bools, Floats

#: Columns that are read together take at most this share of the memory, until they are codes.
TOGETHER = 4
#: Bytes per row that a search works with, beside those of codes: errors, weights, bitsets, the order of rows.
WORKING = 96
#: Bytes of a code, at most: conditions are on features with fewer values.
CODE = 2
#: Bytes of a value until it is a code: of a number, and of a text that stands for many.
NUMBER, TEXT = 8, 4
#: Rows in a batch.
BATCH = 1 << 17


class PulledRows:
    """The rows of a dataset of an engine, read into memory as codes.

    Parameters
    ----------
    data : Dataset
        Of an engine, with codes that fit (`codes_fit`).
    """

    def __init__(self, data: Dataset) -> None:
        self._data = data
        self._frames = (_read(data, names) for names in _passes(data))
        self._first = next(self._frames)

    def outcomes(self) -> Subject:
        """A subject with the outcomes, scores and weights of the rows, and nothing else."""
        names = _role_columns(self._data)
        alone: RoleOptions = {
            **self._data.options(),
            "protected": (),
            "privileged": None,
            "time": None,
            "features": [],
            "ignore": None,
            "kinds": self._kinds(names),
            "labels": None,
        }
        return Subject.of(Dataset(self._first.select(names), **alone))

    def features(self, known: Bools, *, bins: Bins, binning: Binning, target: Floats | None) -> tuple[Codes, ...]:
        """The features as codes, on rows with a known target; see `counting.encode_features`. They are read once."""
        special = check_bins(bins, self._data.searchable)
        found: dict[str, Codes] = {}
        frame, self._first = self._first, None
        while frame is not None:
            for name in [name for name in frame.columns if name in self._data.searchable]:
                own = {name: special[name]} if name in special else DEFAULT_BINS if isinstance(bins, Mapping) else bins
                table = self._table(frame, name)
                rows = table if known.all() else table.take(known)
                (found[name],) = encode_features(rows, [name], bins=own, binning=binning, target=target)
                if found[name].codes.itemsize > CODE:
                    raise too_many([name])
            frame = next(self._frames, None)
        return tuple(found[name] for name in self._data.searchable)

    def _table(self, frame: Any, name: str) -> Dataset:
        """One of the columns as a dataset."""
        bands = self._data.roles.bands
        protected = {name: bands[name]} if name in bands else ()
        return Dataset(frame.select(name), features=[name], protected=protected, kinds=self._kinds([name]))

    def _kinds(self, names: Sequence[str]) -> dict[str, Any]:
        return {name: kind for name, kind in self._data.given_kinds.items() if name in names}


def codes_fit(data: Dataset) -> bool:
    """Whether all rows of an engine can be searched in memory as codes.

    Codes of all features and what a search works with take at most half of the memory; outcomes, scores and weights as
    they are read at most a quarter, and all columns where an engine may give its rows in another order the next time.
    """
    roles = _role_columns(data)
    if data.engine is None or not data.searchable or not roles:
        return False
    working = 2 * (CODE * len(data.searchable) + WORKING)
    together = _width(data, roles if data.engine.repeatable else [*roles, *data.searchable])
    return len(data) * max(working, TOGETHER * together) <= data.engine.memory


def _role_columns(data: Dataset) -> list[str]:
    """The columns of outcomes, scores and weights."""
    names = (data.roles.target, data.roles.prediction, data.roles.weight, *data.roles.score)
    return list(dict.fromkeys(name for name in names if name is not None))


def _passes(data: Dataset) -> Iterator[list[str]]:
    """The columns of outcomes and the features, in as few parts as may be read at once."""
    assert data.engine is not None
    some = _role_columns(data)
    for name in data.searchable:
        wider = list(dict.fromkeys([*some, name]))
        if some and _width(data, wider) * len(data) > data.engine.memory // TOGETHER:
            yield some
            wider = [name]
        some = wider
    yield some


def _width(data: Dataset, names: Sequence[str]) -> int:
    """Bytes that a row of some columns takes as they are read."""
    assert data.engine is not None
    types = [data.engine.schema[name] for name in names]
    return sum(NUMBER if dtype.is_numeric() or dtype.is_temporal() else TEXT for dtype in types)


def _read(data: Dataset, names: Sequence[str]) -> Any:
    """Some columns of all rows; texts are categories, so that each is kept once."""
    import polars as pl

    assert data.engine is not None
    batches = data.engine.batches(names, BATCH, backend="polars")
    return pl.concat([batch.with_columns(pl.col(pl.String).cast(pl.Categorical)) for batch in batches])
