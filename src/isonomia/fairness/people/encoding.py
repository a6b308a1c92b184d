"""People as points: the columns that two of them are compared by, numbers and categories alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import kind_of, numbers, wrap
from isonomia.errors import DataError, NotApplicable, close_to
from isonomia.languages import msg
from isonomia.parameters import Choice, validated
from isonomia.subject import Subject
from isonomia.typing import Floats

Metric = Literal["euclidean", "manhattan", "gower"]
Standardise = Literal["std", "spread", "range", "none"]
METRICS: tuple[Metric, ...] = get_args(Metric)
STANDARDISE: tuple[Standardise, ...] = get_args(Standardise)

#: A text column with more values than this identifies people rather than kinds of people.
MAX_CATEGORIES = 1000


@dataclass(frozen=True, eq=False)
class Points:
    """Rows as points in a space where distance is Euclidean or Manhattan.

    Attributes
    ----------
    matrix : (n, d) array
    columns : names of the columns that went in
    p : 2 for Euclidean distance, 1 for Manhattan
    scale : what a distance is divided by (the number of columns for Gower's, so that it lies in [0, 1])
    left_out : columns left out, with the reason
    codes : (n, c) array or None
        The categories as codes, where there are any: the coordinates of `matrix` that are not numbers.
    numbers : (n, m) array or None
        The coordinates of `matrix` that are.
    apart : what one different category adds to the sum of |gap|^p
    """

    matrix: Floats
    columns: tuple[str, ...]
    p: Literal[1, 2]
    scale: float = 1.0
    left_out: tuple[tuple[str, str], ...] = ()
    codes: NDArray[np.int64] | None = None
    numbers: Floats | None = None
    apart: float = 1.0


@validated(metric=Choice(METRICS), standardise=Choice(STANDARDISE))
def encode_people(
    X: Any, *, protected: Sequence[str] | str = (), metric: Metric = "euclidean", standardise: Standardise = "std"
) -> Points:
    """Rows as points, without the protected columns.

    A number is divided by its standard deviation ("std"), four of them ("spread", nearly the range of most people), its
    range ("range") or nothing ("none"). A category becomes one column per value. Where numbers are scaled, these
    columns are scaled so that two different values lie at a distance of 1; unscaled they are 0 and 1, as
    `pandas.get_dummies` makes them. A missing number is put at the mean of its column and marked in a column of its
    own; a missing category is a value of its own. ``metric="gower"`` is the mean over columns of |a - b| / range
    (numbers) or of being different (categories), in [0, 1]; with "spread" instead of the range where that is given.

    >>> people = encode_people({"age": [20.0, 40.0], "job": ["a", "b"], "sex": ["F", "M"]}, protected="sex",
    ...                        metric="gower")
    >>> people.columns, float(np.abs(people.matrix[0] - people.matrix[1]).sum() / people.scale)
    (('age', 'job'), 1.0)
    """
    how: Standardise = "range" if metric == "gower" and standardise != "spread" else standardise
    p: Literal[1, 2] = 2 if metric == "euclidean" else 1
    table = _as_table(X)
    left = (protected,) if isinstance(protected, str) else tuple(protected)
    for name in left:
        if name not in table.columns:
            raise DataError(f"`protected` must name columns of X; got {name!r}.{close_to(name, table.columns)}")
    names = [name for name in table.columns if name not in left]
    parts: list[Floats] = []
    categories: list[NDArray[np.int64]] = []
    used: list[str] = []
    out: list[tuple[str, str]] = []
    for name in names:
        part = _column(table[name], how)
        if isinstance(part, str):
            out.append((name, part))
            continue
        (parts if part.ndim == 2 else categories).append(part)  # type: ignore[arg-type]
        used.append(name)
    if not used:
        raise NotApplicable(msg("no column is left for comparing people once the protected ones are removed"))
    plain = np.hstack(parts) if parts else np.zeros((len(table), 0))
    scale = float(len(used)) if metric == "gower" else 1.0
    if not categories:
        return Points(plain, tuple(used), p, scale, tuple(out))
    # two rows of different values differ in two columns: 1/2 each (Manhattan), 1/sqrt(2) each (Euclidean) make 1
    height = 1.0 if how == "none" else (0.5 if p == 1 else np.sqrt(0.5))
    matrix = np.hstack([plain, *(height * _one_hot(codes) for codes in categories)])
    apart = 2.0 if how == "none" else 1.0
    return Points(matrix, tuple(used), p, scale, tuple(out), np.column_stack(categories), plain, apart)


def people_of(subject: Subject) -> Any:
    """The features of the rows of a subject, protected ones included, in the kind of frame that the user gave."""
    return wrap(subject.known.frame).select(subject.known.descriptive).to_native()


def points_of(subject: Subject, metric: Metric, standardise: Standardise) -> Points:
    """The rows of a subject as points, without the protected columns."""
    data = subject.known
    hidden = [name for name in data.protected if name in data.descriptive]
    return encode_people(people_of(subject), protected=hidden, metric=metric, standardise=standardise)


def _as_table(X: Any) -> nw.DataFrame[Any]:
    if isinstance(X, np.ndarray) and X.dtype.names is None:
        if X.ndim != 2 or X.shape[1] == 0:
            raise DataError(f"`X` must be a table of rows and columns; got an array of shape {X.shape}.")
        return wrap({f"x{index}": X[:, index] for index in range(X.shape[1])})
    return wrap(X)


def _column(column: nw.Series[Any], how: Standardise) -> Floats | NDArray[np.int64] | str:
    """Numbers as columns (n, m), categories as codes (n,), or why there is neither."""
    kind = kind_of(column)
    if kind in ("numeric", "integer", "boolean"):
        return _numbers(column, how)
    if kind == "datetime":
        return "a date is not compared"
    codes = Codes.encode(column, name=column.name)
    if codes.size > MAX_CATEGORIES:
        return f"it has {codes.size:,} different texts"
    return codes.codes.astype(np.int64)


def _one_hot(codes: NDArray[np.int64]) -> Floats:
    table = np.zeros((codes.size, int(codes.max(initial=0)) + 1))
    table[np.arange(codes.size), codes] = 1.0
    return table


def _numbers(column: nw.Series[Any], how: Standardise) -> Floats | str:
    values = numbers(column).copy()
    missing = np.isnan(values)
    if np.isinf(values).any():
        return "it has infinite values"
    if missing.all():
        return "every value is missing"
    known = values[~missing]
    spread = 1.0
    if how != "none":
        deviations = {"std": 1.0, "spread": 4.0}.get(how)
        with np.errstate(over="ignore"):
            spread = float(known.max() - known.min() if deviations is None else deviations * known.std()) or 1.0
        if not np.isfinite(spread):
            return "its values are too large to be compared"
    values[missing] = known.mean()
    scaled = values / spread
    return np.column_stack([scaled, missing.astype(float)]) if missing.any() else scaled[:, None]
