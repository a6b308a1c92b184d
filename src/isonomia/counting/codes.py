"""Dictionary-encoded columns: each value becomes a small whole number, once.

Everything that counts works on these codes. A code is the smallest unsigned integer that fits, labels are sorted,
missing values are a label of their own (`None`, always the last one).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.counting.by_code import count_by
from isonomia.data import Bands, index_of, to_numpy
from isonomia.data.frames import installed
from isonomia.errors import DataError
from isonomia.languages import Name, msg
from isonomia.languages.naming import between, number

CodeArray = NDArray[np.unsignedinteger[Any]]

#: Whole numbers spread over at most this range are encoded through a table instead of a sort.
_TABLE_RANGE = 1 << 16
#: So many different numbers fit in a byte.
_BYTE = 256
#: Numbers that the processor's cache holds.
_CACHED = 1 << 14
#: Up to so many edges of bins are compared with all numbers rather than searched, where there are so many numbers.
_FEW_EDGES, _MANY_NUMBERS = 32, 4096
#: Names of a missing value, of an empty text, and of values that a column did not have when it was encoded.
MISSING, EMPTY, UNSEEN = Name(msg("missing")), Name(msg("(empty)")), Name(msg("(not seen)"))


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """One column as codes 0..size-1.

    Attributes
    ----------
    name : str
        The column's name.
    codes : array of unsigned integers
        One code per row.
    labels : tuple
        The value behind each code; `None` stands for missing and comes last.
    edges : tuple of float, optional
        For a binned numeric column: bin i contains values in [edges[i], edges[i + 1]).

    Examples
    --------
    >>> sex = Codes.encode(["M", "F", None, "F"], name="sex")
    >>> sex.labels, sex.codes.tolist(), sex.codes.dtype.name
    (('F', 'M', None), [1, 0, 2, 0], 'uint8')
    """

    name: str
    codes: CodeArray
    labels: tuple[Any, ...]
    edges: tuple[float, ...] | None = None

    @classmethod
    def encode(cls, values: Any, *, name: str = "") -> Codes:
        """Encode an array, a list or a column of any kind of frame."""
        native = values.to_native() if isinstance(values, nw.Series) else values
        codes, labels = _factorize(native)
        return cls(name, codes, labels)

    @classmethod
    def cut(cls, values: Any, edges: Sequence[float], *, name: str = "") -> Codes:
        """Bin numbers at given edges; the last bin is closed, values outside join the end bins.

        >>> age = Codes.cut([18, 25, 61, None], [18, 25, 60, 80], name="age")
        >>> age.texts, age.codes.tolist()
        (('[18, 25)', '[25, 60)', '[60, 80]', 'missing'), [0, 1, 2, 3])
        """
        bounds = np.unique(np.asarray(edges, dtype=float))
        if bounds.size < 2 or not np.isfinite(bounds).all():
            raise DataError(f"Bins of '{name}' need at least two different finite edges; got {list(edges)}.")
        numbers = to_numpy(values).astype(float, copy=False)
        n_bins = bounds.size - 1
        index = _edges_up_to(numbers, bounds[1:-1]).astype(smallest(n_bins + 1), copy=False)
        missing = np.isnan(numbers)
        labels: tuple[Any, ...] = tuple(range(n_bins))
        if missing.any():
            index[missing] = n_bins
            labels = (*labels, None)
        return cls(name, index, labels, tuple(bounds.tolist()))

    @classmethod
    def bands(cls, values: Any, bands: Bands, *, name: str = "") -> Codes:
        """Cut numbers into named bands, in the order of the bands; empty bands are left out."""
        full = cls.cut(values, [-np.finfo(float).max, *bands.edges, np.finfo(float).max], name=name)
        named = cls(name, full.codes, tuple(None if label is None else bands.labels[label] for label in full.labels))
        return named.observed()

    def __len__(self) -> int:
        return int(self.codes.size)

    @property
    def size(self) -> int:
        """How many different values there are, missing included."""
        return len(self.labels)

    @property
    def missing(self) -> int | None:
        """The code of missing values, if there are any."""
        return self.size - 1 if self.labels and self.labels[-1] is None else None

    @property
    def texts(self) -> tuple[str, ...]:
        """Labels as a person reads them, in original units."""
        return tuple(self._text(label) for label in self.labels)

    def text(self, code: int) -> str:
        """One label as a person reads it."""
        return self._text(self.labels[code])

    def counts(self) -> NDArray[np.int64]:
        """How many rows have each code."""
        return count_by(self.codes, self.size)

    def code_of(self, value: Any) -> int | None:
        """The code of a value by the rule of `index_of`; None where there is no such value."""
        return index_of(value, self.labels)

    def like(self, values: Any) -> Codes:
        """Other values of the same column in the same codes.

        Numbers outside the bins join the end bins; a value that has no code here gets one after the last, so that it
        belongs to no subgroup found on these rows.

        >>> Codes.encode(["a", "b"], name="x").like(["b", "c", None]).codes.tolist()
        [1, 2, 2]
        """
        if self.edges is not None:
            cut = Codes.cut(values, self.edges, name=self.name)
            index = [self.size if code is None else code for code in map(self.code_of, cut.labels)]
        else:
            cut = Codes.encode(values, name=self.name)
            table = {label: code for code, label in enumerate(self.labels)}
            index = [table.get(label, self.size) for label in cut.labels]
        codes = np.asarray(index, dtype=smallest(self.size + 1))[cut.codes]
        labels = (*self.labels, UNSEEN) if (codes == self.size).any() else self.labels
        return Codes(self.name, codes, labels, self.edges)

    def take(self, rows: NDArray[Any]) -> Codes:
        """The same labels for some of the rows."""
        return Codes(self.name, self.codes[rows], self.labels, self.edges)

    def observed(self) -> Codes:
        """Without the labels that no row has."""
        used = self.counts() > 0
        if used.all():
            return self
        table = (np.cumsum(used) - 1).astype(smallest(int(used.sum())))
        labels = tuple(label for label, kept in zip(self.labels, used, strict=True) if kept)
        return Codes(self.name, table[self.codes], labels)

    def _text(self, label: Any) -> str:
        if label is None:
            return MISSING
        if self.edges is not None:
            low, high = self.edges[label], self.edges[label + 1]
            return between(low, high, closed=label == len(self.edges) - 2)
        if isinstance(label, str):
            return label or EMPTY
        if isinstance(label, float | np.floating):
            return number(float(label))
        return str(label)


def smallest(size: int) -> np.dtype[np.unsignedinteger[Any]]:
    """The smallest unsigned integer type for codes 0..size-1.

    >>> smallest(256).name, smallest(257).name
    ('uint8', 'uint16')
    """
    return np.min_scalar_type(max(size - 1, 0))


def _edges_up_to(numbers: NDArray[Any], edges: NDArray[Any]) -> NDArray[Any]:
    """How many of the edges, which are in order, each number reaches; of a missing number any count.

    Few edges are compared with all numbers one after the other: a search takes several times as long, since the
    processor cannot foresee where it turns.
    """
    if edges.size > _FEW_EDGES or numbers.size < _MANY_NUMBERS:
        return np.searchsorted(edges, numbers, side="right")
    index = np.zeros(numbers.size, dtype=np.uint8)
    for edge in edges:
        index += numbers >= edge
    return index


def _factorize(values: Any) -> tuple[CodeArray, tuple[Any, ...]]:
    root = type(values).__module__.split(".")[0]
    if root == "pandas":
        return _from_pandas(values)
    if root == "polars":
        return _from_polars(values)
    if root == "pyarrow":
        return _from_arrow(values)
    array = to_numpy(values)
    if array.ndim != 1:
        raise DataError(f"A column must have one dimension; got an array of shape {array.shape}.")
    if array.dtype.kind in "iub":
        return _from_integers(array)
    if array.dtype.kind == "f":
        return _from_floats(array)
    if array.dtype.kind in "mM":
        return _from_unique(array, np.isnat(array))
    return _from_texts(array)


def _from_integers(array: NDArray[Any]) -> tuple[CodeArray, tuple[Any, ...]]:
    if array.dtype == bool:
        codes = array.view(np.uint8)
        return _compact(codes, (False, True))
    if array.size == 0:
        return array.astype(np.uint8), ()
    first = array[:_GLANCE]
    if int(first.max()) - int(first.min()) < _BYTE:
        codes, low, high = _in_bytes(array)
        if high - low < _BYTE:
            return _compact(codes, range(low, high + 1))
    else:
        low, high = int(array.min()), int(array.max())
    if high - low < _TABLE_RANGE:
        dtype = smallest(high - low + 1)
        codes = (array if low == 0 else array - low).astype(dtype)
        return _compact(codes, range(low, high + 1))
    return _from_unique(array, None)


def _in_bytes(array: NDArray[Any]) -> tuple[NDArray[np.uint8], int, int]:
    """How far each number lies above the smallest, modulo 256, and the smallest and the largest number.

    In chunks that stay in the processor's cache, so that the numbers are read from memory once.
    """
    codes, ends = np.empty(array.size, dtype=np.uint8), []
    for start in range(0, array.size, _CACHED):
        part = array[start : start + _CACHED]
        ends += [int(part.min()), int(part.max())]
        codes[start : start + _CACHED] = part.astype(np.uint8, copy=False)
    low = min(ends)
    if low % _BYTE:
        codes -= np.uint8(low % _BYTE)
    return codes, low, max(ends)


def _from_floats(array: NDArray[Any]) -> tuple[CodeArray, tuple[Any, ...]]:
    missing = np.isnan(array)
    return _from_unique(array, missing if missing.any() else None)


def _from_unique(array: NDArray[Any], missing: NDArray[np.bool_] | None) -> tuple[CodeArray, tuple[Any, ...]]:
    present = array if missing is None else array[~missing]
    values, inverse = np.unique(present, return_inverse=True)
    labels = tuple(values.tolist())
    if missing is None or not missing.any():
        return inverse.astype(smallest(len(labels))), labels
    codes = np.full(array.size, len(labels), dtype=smallest(len(labels) + 1))
    codes[~missing] = inverse
    return codes, (*labels, None)


def _from_texts(array: NDArray[Any]) -> tuple[CodeArray, tuple[Any, ...]]:
    """Texts and mixed objects, hashed by pandas where installed (a sort of texts is many times slower)."""
    if installed("pandas"):
        import pandas as pd

        return _from_hashed(*pd.factorize(array.astype(object), use_na_sentinel=True))
    table: dict[Any, int] = {}
    codes = np.fromiter(
        (-1 if value is None or value != value else table.setdefault(value, len(table)) for value in array.tolist()),
        dtype=np.int64,
        count=array.size,
    )
    return _from_hashed(codes, list(table))


def _from_pandas(values: Any) -> tuple[CodeArray, tuple[Any, ...]]:
    import pandas as pd

    if isinstance(values, pd.Index):
        values = values.to_series()
    if isinstance(values.dtype, pd.SparseDtype):
        values = values.sparse.to_dense()
    if isinstance(values.dtype, pd.CategoricalDtype):
        return _from_hashed(values.array.codes, values.array.categories.tolist())
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "iubf":
        return _factorize(values.to_numpy())
    if values.dtype.kind in "iub" and not values.hasnans:
        return _factorize(values.to_numpy(dtype=values.dtype.numpy_dtype))
    codes, uniques = pd.factorize(values, use_na_sentinel=True)
    return _from_hashed(codes, uniques.tolist())


def _from_polars(values: Any) -> tuple[CodeArray, tuple[Any, ...]]:
    import polars as pl

    wide = values.dtype in (pl.Int128, getattr(pl, "UInt128", pl.Int128))  # NumPy has none of 128 bits
    if not wide and (values.dtype.is_numeric() or values.dtype == pl.Boolean):
        if values.null_count() == 0:
            return _factorize(values.to_numpy())
        if values.dtype.is_float():
            return _factorize(values.fill_null(float("nan")).to_numpy())
    elif values.dtype not in (pl.Categorical, pl.Enum):
        dense = values.rank("dense")
        labels = values.drop_nulls().unique().sort().to_list()
        codes = dense.fill_null(0).to_numpy().astype(np.int64) - 1
        return _from_hashed(codes, labels)
    elif isinstance(values.dtype, pl.Enum):
        return _from_hashed(_filled(values.to_physical()), values.dtype.categories.to_list())
    ranked = values.cast(pl.String) if values.dtype == pl.Categorical else values
    physical = values.to_physical() if values.dtype == pl.Categorical else None
    if physical is not None:
        first = ranked.gather(physical.arg_unique()).drop_nulls()
        order = physical.gather(physical.arg_unique()).drop_nulls()
        gone = int(order.max() or 0) + 1
        table = np.full(gone + 1, -1, dtype=np.int32)
        table[order.to_numpy()] = np.arange(len(order))
        return _from_hashed(table[physical.cast(pl.UInt32).fill_null(gone).to_numpy()], first.to_list())
    return _from_texts(np.array(values.to_list(), dtype=object))


def _filled(physical: Any) -> NDArray[np.int64]:
    import polars as pl

    return physical.cast(pl.Int64).fill_null(-1).to_numpy()  # type: ignore[no-any-return]


def _from_arrow(values: Any) -> tuple[CodeArray, tuple[Any, ...]]:
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if isinstance(values, pa.ChunkedArray):  # no chunk at all
        values = pa.array([], type=values.type)
    if pa.types.is_integer(values.type) and values.null_count == 0:
        return _factorize(values.to_numpy(zero_copy_only=False))
    if pa.types.is_floating(values.type):
        return _factorize(values.to_numpy(zero_copy_only=False))
    encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return _from_hashed(codes, encoded.dictionary.to_pylist())


def _from_hashed(codes: NDArray[Any], labels: Any) -> tuple[CodeArray, tuple[Any, ...]]:
    """Codes in order of appearance (-1 = missing) -> codes in the order of the labels, used ones only."""
    values = [item.item() if isinstance(item, np.generic) else item for item in labels]
    order = sorted(range(len(values)), key=lambda index: _rank(values[index]))
    has_missing = bool(codes.size) and int(codes.min()) < 0
    in_order = [values[index] for index in order]
    dtype = smallest(len(values) + has_missing)
    if order == list(range(len(values))) and not has_missing:
        same = codes.dtype.kind in "iu" and codes.dtype.itemsize == dtype.itemsize
        return _compact(codes.view(dtype) if same else codes.astype(dtype), in_order)
    table = np.empty(len(values) + 1, dtype=dtype)
    table[order] = np.arange(len(values))
    if has_missing:
        table[-1] = len(values)  # where code -1 lands
        in_order.append(None)
    return _compact(table[codes], in_order)


def _compact(codes: CodeArray, labels: Sequence[Any]) -> tuple[CodeArray, tuple[Any, ...]]:
    """Drop labels that no row has."""
    if np.bincount(codes[:_GLANCE], minlength=len(labels)).all():  # the first rows show them all: the usual case
        return codes, tuple(labels)
    used = np.flatnonzero(count_by(codes, len(labels)))
    kept = tuple(labels[index] for index in used.tolist())
    table = np.zeros(len(labels), dtype=smallest(used.size))
    table[used] = np.arange(used.size)
    return table[codes], kept


#: How many rows are looked at before the whole column is searched for labels that no row has.
_GLANCE = 4096


def _rank(value: Any) -> tuple[int, Any]:
    if isinstance(value, bool | int | float):
        return (0, value)
    return (1, value) if isinstance(value, str) else (2, str(value))
