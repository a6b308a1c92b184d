"""One feature of a person: which values it may take, and how they become numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.counting import MISSING, Codes
from isonomia.data import Backend, index_of, kind_of, to_frame
from isonomia.errors import DataError
from isonomia.languages.naming import number
from isonomia.typing import Floats

FeatureKind = Literal["category", "integer", "real"]

#: Beyond this, whole numbers are no longer exact as floats.
MAX_WHOLE = 2**53
#: A step along a real feature is its range over this.
REAL_STEPS = 100


@dataclass(frozen=True, eq=False)
class Feature:
    """The values one column of a valid person may take.

    Attributes
    ----------
    name : str
    kind : "category", "integer" or "real"
        A category is encoded as the index of its value in `levels`; other kinds are the number itself.
    low, high : float
        Bounds of that number, both allowed.
    levels : tuple
        The values of a category.
    missing : bool
        Whether a number may be missing (NaN). It is preserved where a row has it, and never generated.

    Examples
    --------
    >>> Feature.of("age", (18, 90))
    Feature(age: whole numbers 18 to 90)
    >>> Feature.of("sex", ["F", "M"]).size, Feature.of("height", (1.4, 2.1)).size
    (2, None)
    """

    name: str
    kind: FeatureKind
    low: float
    high: float
    levels: tuple[Any, ...] = ()
    missing: bool = False
    #: How the frame stores it: the distinct values (category) or the dtype (numbers).
    series: nw.Series[Any] | None = field(default=None, repr=False)
    dtype: Any = field(default=None, repr=False)
    nulls: bool = field(default=False, repr=False)
    #: pandas' own dtype of numbers, where it is not one of NumPy's (nullable integers).
    extension: Any = field(default=None, repr=False)

    @classmethod
    def of(cls, name: str, values: Any) -> Feature:
        """A feature given by hand: ``(low, high)`` for numbers, a list for categories."""
        if isinstance(values, Feature):
            return values
        if isinstance(values, tuple) and len(values) == 2 and all(_is_number(value) for value in values):
            low, high = values
            if not (math.isfinite(low) and math.isfinite(high)) or low > high:
                raise DataError(f"The range of '{name}' must be two finite numbers, low first; got {values}.")
            whole = all(isinstance(value, int | np.integer) for value in values)
            if not _exact(low, high):
                raise DataError(
                    f"'{name}' runs from {low:g} to {high:g}, beyond what is exact as a number (2**53). "
                    "Is it an identifier? Leave it out of the features, or make it a category."
                )
            return cls(name, "integer" if whole else "real", float(low), float(high))
        if isinstance(values, Sequence) and not isinstance(values, str | bytes) and len(values) > 0:
            levels = tuple(dict.fromkeys(values))
            return cls(name, "category", 0.0, float(len(levels) - 1), levels)
        raise DataError(
            f"A feature is given as (low, high) for numbers or as a list of categories; got {values!r} for '{name}'."
        )

    @classmethod
    def from_column(cls, column: nw.Series[Any], *, as_category: bool = False) -> Feature:
        """The values that a column of data shows: those alone where they are no exact numbers, as of identifiers."""
        name, kind = column.name, kind_of(column)
        if as_category or kind in ("category", "boolean", "datetime") or column.dtype == nw.Duration:
            codes = Codes.encode(column, name=name)
            first = _first_rows(codes)
            series = nw.maybe_reset_index(column[first])
            return cls(name, "category", 0.0, float(codes.size - 1), codes.labels, series=series, dtype=column.dtype)
        numbers = column.to_numpy()
        if numbers.dtype.kind in "iu" and numbers.size:  # none of them is missing
            low, high = float(numbers.min()), float(numbers.max())
            if not _exact(low, high):
                return cls.from_column(column, as_category=True)
            return cls(name, "integer", low, high, dtype=column.dtype, extension=_extension(column))
        numbers = numbers.astype(float)
        known = numbers[np.isfinite(numbers)]
        if np.isinf(numbers).any():
            raise DataError(f"'{name}' has infinite values; a domain needs finite ones. Repair or drop these rows.")
        if known.size == 0:
            return cls.from_column(column, as_category=True)  # the one value is: missing
        low, high = float(known.min()), float(known.max())
        if not _exact(low, high):
            return cls.from_column(column, as_category=True)
        whole = kind == "integer" or bool((known == np.floor(known)).all())
        return cls(
            name,
            "integer" if whole else "real",
            low,
            high,
            missing=known.size < numbers.size,
            dtype=column.dtype,
            nulls=column.null_count() > 0,
            extension=_extension(column),
        )

    def __repr__(self) -> str:
        if self.kind == "category":
            return f"Feature({self.name}: {len(self.levels)} categories)"
        words = "whole numbers" if self.kind == "integer" else "numbers"
        return f"Feature({self.name}: {words} {self.low:g} to {self.high:g})"

    @property
    def size(self) -> int | None:
        """How many values there are; None for reals."""
        return None if self.kind == "real" else int(self.high - self.low) + 1

    @property
    def step(self) -> float:
        """One unit of movement: 1 for whole numbers and categories, a hundredth of the range for reals."""
        return (self.high - self.low) / REAL_STEPS if self.kind == "real" else 1.0

    def text(self, value: float) -> str:
        """The text of a code.

        >>> Feature.of("sex", ["F", "M"]).text(1.0), Feature.of("age", (18, 90)).text(40.0)
        ('M', '40')
        """
        if math.isnan(value):
            return MISSING
        if self.kind == "category":
            level = self.levels[int(value)]
            return MISSING if level is None else str(level)
        return str(int(value)) if self.kind == "integer" else f"{value:g}"

    def localized(self, value: float) -> str:
        """The same as `text`, with the decimals of the reader's language where it is shown.

        >>> Feature.of("pay", (0.5, 9.5)).localized(1.5).text("pt-BR")
        '1,5'
        """
        return number(value) if self.kind == "real" and not math.isnan(value) else self.text(value)

    def code(self, value: Any) -> float:
        """The code of a value, or an error that names the available ones."""
        if self.kind == "category":
            for code, level in enumerate(self.levels):
                if level is value or (level is not None and (level == value or str(level) == str(value))):
                    return float(code)
            raise DataError(
                f"{value!r} is not a value of '{self.name}'. Available: {', '.join(map(repr, self.levels[:8]))}."
            )
        if not _is_number(value) or not self.low <= float(value) <= self.high:
            raise DataError(
                f"{value!r} is not a value of '{self.name}', which ranges from {self.low:g} to {self.high:g}."
            )
        return float(value)

    def codes(self, values: Sequence[Any]) -> Floats:
        """The codes of many values; None is missing in a feature of numbers.

        >>> Feature.of("sex", ["F", "M"]).codes(["M", "F"]).tolist()
        [1.0, 0.0]
        """
        numbers = self.kind != "category"
        return np.array([np.nan if value is None and numbers else self.code(value) for value in values])

    def encode(self, column: nw.Series[Any]) -> NDArray[Any]:
        """A column of data as codes; values that the feature does not have become NaN with `valid` false."""
        if self.kind != "category":
            try:
                numbers = column.to_numpy()
                return numbers if numbers.dtype.kind in "iu" else numbers.astype(float) + 0.0
            except (TypeError, ValueError):
                raise DataError(f"'{self.name}' must contain numbers; its dtype is {column.dtype}.") from None
        codes = Codes.encode(column, name=self.name)
        indices = [index_of(label, self.levels) for label in codes.labels]
        table = np.array([np.nan if index is None else index for index in indices], dtype=float)
        return np.asarray(table[codes.codes], dtype=float)

    def decode(self, numbers: Floats, backend: Backend) -> nw.Series[Any]:
        """Codes as a column of the frame's own dtype."""
        if self.kind == "category":
            return nw.maybe_reset_index(self._levels_series(backend)[numbers.astype(np.intp)])
        if self.extension is not None and backend == "pandas":
            import pandas as pd

            kept = pd.Series(pd.array(numbers, dtype=self.extension), name=self.name)
            return nw.from_native(kept, series_only=True)
        dtype = self.dtype
        if dtype is None:
            dtype = nw.Int64 if self.kind == "integer" else nw.Float64
        values = numbers if not dtype.is_integer() or np.isnan(numbers).any() else numbers.astype(np.int64)
        series = nw.new_series(self.name, values, backend=backend)
        if self.nulls and np.isnan(numbers).any():
            series = series.fill_nan(None)  # missing as the frame's own library marks it
        return series if series.dtype == dtype else series.cast(dtype)

    def _levels_series(self, backend: Backend) -> nw.Series[Any]:
        series = self.series
        if series is None or series.implementation.name.lower() != backend:
            frame = to_frame({self.name: list(self.levels)}, backend)
            series = nw.from_native(frame, eager_only=True)[self.name]
            object.__setattr__(self, "series", series)
        return series


def _extension(column: nw.Series[Any]) -> Any:
    """pandas' own dtype of a column, None for NumPy's and for other kinds of frames."""
    dtype = column.to_native().dtype if column.implementation.is_pandas() else None
    return None if isinstance(dtype, np.dtype) else dtype


def _first_rows(codes: Codes) -> list[int]:
    first = np.full(codes.size, -1, dtype=np.int64)
    first[codes.codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return [int(row) for row in first]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _exact(low: float, high: float) -> bool:
    """Whether whole numbers in a range are different floats."""
    return max(abs(low), abs(high)) < MAX_WHOLE
