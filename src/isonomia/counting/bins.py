"""Columns of any kind as codes: categories as they are, numbers in bins that read in original units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from isonomia.counting.codes import Codes
from isonomia.data import Dataset, to_numpy
from isonomia.errors import DataError, SpecError, close_to
from isonomia.parameters import Choice, Either, Integer, Keyed, Number, Several, validated

Binning = Literal["quantile", "uniform", "tree"]
BINNINGS: tuple[Binning, ...] = get_args(Binning)

#: What `bins` may be: a number of bins, None (every value on its own), or per column a number or edges.
Bins = int | None | Mapping[str, int | Sequence[float] | None]
BINS = Either(Integer(1), Keyed(Either(Integer(1), Several(Number(), 2)).or_none())).or_none(
    "for every value on its own"
)

DEFAULT_BINS = 10
#: Whole numbers with at most this many different values are taken as they are, not binned.
FEW_INTEGERS = 20
#: Rows that are looked at before all values of a column are.
_GLANCE = 4096


@validated(binning=Choice(BINNINGS), bins=Integer(1))
def bin_edges(
    values: Any,
    *,
    binning: Binning = "quantile",
    bins: int = DEFAULT_BINS,
    target: NDArray[np.float64] | None = None,
    smallest: int | None = None,
) -> tuple[float, ...]:
    """Edges e0 < e1 < ... of at most `bins` bins over the finite values; equal edges are merged.

    Parameters
    ----------
    values : column of numbers
    binning : "quantile", "uniform" or "tree"
        Equal shares of rows, equal widths, or the cuts of a small regression tree on `target`.
    bins : int
        Maximum number of bins.
    target : array, needed for "tree"
        What the tree predicts: the errors of a model, or its outcome.
    smallest : int, optional
        Fewest rows of a leaf of the tree; by default a twentieth of the rows, at most 30.

    Examples
    --------
    >>> bin_edges([1, 2, 3, 4, 100], bins=2)
    (1.0, 3.0, 100.0)
    >>> bin_edges([0, 0, 0, 0, 1, 5], bins=4)
    (0.0, 0.75, 5.0)
    """
    numbers = to_numpy(values).astype(float, copy=False)
    known = np.isfinite(numbers)
    finite = numbers if known.all() else numbers[known]
    if not finite.size:
        raise DataError("A column without finite numbers cannot be binned; leave it out.")
    low, high = float(finite.min()), float(finite.max())
    if low == high:
        return (low, float(np.nextafter(high, np.inf)))
    if binning == "uniform":
        edges = np.linspace(low, high, bins + 1)
    elif binning == "quantile":
        edges = np.quantile(finite, np.linspace(0, 1, bins + 1))
    else:
        if target is None:
            raise SpecError("`binning='tree'` needs a target to fit the tree to: give errors, labels or predictions.")
        cuts = _tree_cuts(finite, np.asarray(target, dtype=float)[known], bins, smallest)
        edges = np.array([low, *cuts, high])
    return tuple(np.unique(edges).tolist())


def encode_features(
    data: Dataset,
    names: Sequence[str] | None = None,
    *,
    bins: Bins = DEFAULT_BINS,
    binning: Binning = "quantile",
    target: NDArray[np.float64] | None = None,
) -> tuple[Codes, ...]:
    """Features of a dataset as codes.

    Categories, booleans and whole numbers with few different values keep their values; other numbers are binned;
    protected attributes with bands keep their bands; dates are binned like numbers of days.

    Parameters
    ----------
    data : Dataset
    names : sequence of str, optional
        Which columns; by default the features that searches use (`Dataset.searchable`).
    bins : int, None or mapping
        At most this many bins; None keeps every value; a mapping gives single columns a number or edges, the others
        the default.
    binning, target
        See `bin_edges`.
    """
    wanted = tuple(names if names is not None else data.searchable)
    special = check_bins(bins, wanted)
    default = DEFAULT_BINS if isinstance(bins, Mapping) else bins
    return tuple(_encode(data, name, special.get(name, default), binning, target) for name in wanted)


def check_bins(bins: Bins, names: Sequence[str]) -> Mapping[str, Any]:
    """The bins of single columns, which must be among those named."""
    special: Mapping[str, Any] = bins if isinstance(bins, Mapping) else {}
    for name in special:
        if name not in names:
            raise SpecError(f"`bins` names {name!r}, which is not a feature.{close_to(name, names)}")
    return special


def _encode(data: Dataset, name: str, bins: Any, binning: Binning, target: NDArray[np.float64] | None) -> Codes:
    column = data.packed_column(name)
    kind = data.kinds[name]
    if name in data.roles.bands:
        return Codes.bands(column.to_numpy(), data.roles.bands[name], name=name)
    if isinstance(bins, Sequence) and not isinstance(bins, str):
        return Codes.cut(column.to_numpy(), list(bins), name=name)
    if bins is not None:
        Integer(1, hint=f", edges, or None (column '{name}')").check("bins", bins)
    if bins is None or kind in ("category", "boolean"):
        return Codes.encode(column, name=name)
    if kind == "datetime":
        return _cut_dates(to_numpy(column).astype("datetime64[D]"), name, binning, bins, target)
    few = max(bins, FEW_INTEGERS) if kind == "integer" else bins
    if int(column.head(_GLANCE).n_unique()) <= few + 1:  # else the first rows alone have more, and nothing is sorted
        encoded = Codes.encode(column, name=name)
        if encoded.size - (encoded.missing is not None) <= few:
            return encoded
    numbers = to_numpy(column).astype(float, copy=False)
    return Codes.cut(numbers, bin_edges(numbers, binning=binning, bins=bins, target=target), name=name)


def _cut_dates(
    days: NDArray[np.datetime64], name: str, binning: Binning, bins: int, target: NDArray[np.float64] | None
) -> Codes:
    """Dates in bins whose names are dates: "[2024-01-01, 2024-03-15)"."""
    numbers = np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(float))
    edges = np.unique(np.ceil(bin_edges(numbers, binning=binning, bins=bins, target=target)))
    edges = edges if edges.size > 1 else np.array([edges[0], edges[0] + 1])
    cut = Codes.cut(numbers, edges.tolist(), name=name)
    dates = edges.astype(np.int64).astype("datetime64[D]").astype(str)
    last = len(dates) - 2
    names = [f"[{dates[i]}, {dates[i + 1]}{']' if i == last else ')'}" for i in range(last + 1)]
    return Codes(name, cut.codes, tuple(None if label is None else names[label] for label in cut.labels))


def _tree_cuts(
    values: NDArray[np.float64], target: NDArray[np.float64], bins: int, smallest: int | None
) -> list[float]:
    smallest = max(1, min(30, values.size // 20)) if smallest is None else smallest
    if bins < 2 or values.size < 2 * smallest:
        return []
    from sklearn.tree import DecisionTreeRegressor

    tree = DecisionTreeRegressor(max_leaf_nodes=bins, min_samples_leaf=smallest, random_state=0)
    tree.fit(values.reshape(-1, 1), target)
    inner = tree.tree_.feature >= 0
    return sorted(set(tree.tree_.threshold[inner].tolist()))
