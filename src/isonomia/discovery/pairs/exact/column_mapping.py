"""Which feature of a person each column that trees see is computed from, and how.

Every step of a pipeline must work column by column, so that each column that the trees see depends on one feature. The
pipeline itself transforms every value of a feature with few values; for one with many, thresholds are located by
bisection (such steps preserve the order of numbers).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import IsonomiaError, NotApplicable
from isonomia.models import TreeEnsemble, estimators
from isonomia.probing import Oracle
from isonomia.probing.features import Feature
from isonomia.typing import Floats

#: Functions that preserve the order of numbers.
_FUNCTIONS = ("log", "log1p", "log2", "log10", "sqrt", "cbrt", "exp", "expm1", "arcsinh", "tanh")
#: Features with more values than this are searched by bisection.
MAX_VALUES = 4096
#: Rows transformed at once.
PORTION = 20_000


class ColumnMapping:
    """How the columns that trees see are computed from the features of a domain.

    Attributes
    ----------
    source : array
        The feature that each column depends on; -1 for a constant column.
    values : list
        For each feature with few values, the columns at each value (values, columns); None for one with many.
    """

    def __init__(self, oracle: Oracle, steps: list[Any], trees: TreeEnsemble) -> None:
        self.oracle, self.domain, self.steps, self.trees = oracle, oracle.domain, steps, trees
        names = list(self.domain.names)
        self.passed: dict[str, set[str]] = {name: set() for name in names}
        for index, step in enumerate(steps):
            for name, kinds in _steps_by_feature(step, names, first=index == 0).items():
                self.passed[name] |= kinds
        self._direct = not steps and trees.prepare is None
        self._levels = [self._codes_of(index, feature) for index, feature in enumerate(self.domain.features)]
        self._transform_values()

    def see(self, rows: Floats) -> Floats:
        """The columns that the trees see for rows of the domain."""
        if self._direct:
            return self._directly(rows)
        parts = [self._through(rows[start : start + PORTION]) for start in range(0, len(rows), PORTION)]
        return np.concatenate(parts)

    def _through(self, rows: Floats) -> Floats:
        table: Any = self.oracle.model_input(rows)
        try:
            for step in self.steps:
                table = table if step is None or isinstance(step, str) else step.transform(table)
            return self.trees.encode(table)
        except IsonomiaError:
            raise
        except Exception as error:  # any error of a transformer on valid people makes the trees unreadable
            raise NotApplicable(f"the steps before the trees raised {type(error).__name__}: {error}") from error

    def _directly(self, rows: Floats) -> Floats:
        """The columns themselves, categories as the codes that the library gives them."""
        table = rows.copy()
        for index, codes in enumerate(self._levels):
            if codes is not None:
                table[:, index] = codes[rows[:, index].astype(np.intp)]
            elif _is_short(self.domain.features[index]):
                table[:, index] = rows[:, index].astype(np.float32)
        return table

    def _codes_of(self, index: int, feature: Feature) -> Floats | None:
        """The code of each category for trees that see the feature itself."""
        if feature.kind != "category" or not self._direct:
            return None
        codes = self.trees.categories
        known = codes[index] if index < len(codes) else None
        if known is not None:
            lookup = {str(level): float(code) for code, level in enumerate(known)}
            return np.array([np.nan if level is None else lookup.get(str(level), np.nan) for level in feature.levels])
        try:
            return np.array([np.nan if level is None else float(level) for level in feature.levels])
        except (TypeError, ValueError):
            raise NotApplicable(
                f"the model takes '{feature.name}' as text, and the code of each value is not known"
            ) from None

    # transformed values ----------------------------------------------------------------------------------------

    def _transform_values(self) -> None:
        """Transform every value of features with few values, and the bounds of the others, once."""
        domain = self.domain
        base = np.clip(np.floor((domain.low + domain.high) / 2), domain.low, domain.high)
        points = [_points(feature) for feature in domain.features]
        rows = np.tile(base, (sum(map(len, points)), 1))
        starts = np.concatenate([[0], np.cumsum([len(part) for part in points])])
        for index, part in enumerate(points):
            rows[starts[index] : starts[index + 1], index] = part
        encoded = self.see(rows)
        self.base = base
        self.source = np.full(encoded.shape[1], -1, dtype=np.int64)
        self.values: list[Floats | None] = []
        for index, feature in enumerate(domain.features):
            part = encoded[starts[index] : starts[index + 1]]
            moves = ~((part == part[:1]) | (np.isnan(part) & np.isnan(part[:1]))).all(axis=0)
            if (self.source[moves] >= 0).any():
                raise NotApplicable(
                    f"a column that the trees see depends on more than one feature, among them '{feature.name}'"
                )
            self.source[moves] = index
            self.values.append(part if _is_listed(feature) else None)

    def many(self, feature: NDArray[np.int64], column: NDArray[np.int64], value: Floats) -> Floats:
        """The value of one column where one feature has a value, for many features, columns and values at once."""
        if self._direct:
            short = np.array([_is_short(one) for one in self.domain.features])[feature]
            return np.where(short, value.astype(np.float32), value)
        rows = np.tile(self.base, (len(value), 1))
        rows[np.arange(len(value)), feature] = value
        return np.asarray(self.see(rows)[np.arange(len(value)), column])

    def check_order(self, feature: int) -> None:
        """Check that a feature with many values goes only through steps that preserve the order of numbers."""
        name = self.domain.names[feature]
        other = sorted(kind for kind in self.passed[name] if kind in estimators.COLUMNWISE)
        if other:
            raise NotApplicable(
                f"'{name}' has more than {MAX_VALUES:,} values and goes through {', '.join(other)}, which need not "
                "preserve the order of numbers; make it a whole number or a category with fewer values"
            )


def _points(feature: Feature) -> Floats:
    """All values of a feature with few values, else its bounds and some values between."""
    if _is_listed(feature):
        return np.arange(feature.low, feature.high + 1)
    points = np.linspace(feature.low, feature.high, 9)
    return np.asarray(np.floor(points) if feature.kind == "integer" else points)


def _is_listed(feature: Feature) -> bool:
    return feature.kind == "category" or (feature.size is not None and feature.size <= MAX_VALUES)


def _is_short(feature: Feature) -> bool:
    """Whether the frame stores the feature as 32-bit numbers."""
    return feature.kind != "category" and str(feature.dtype) == "Float32"


def _steps_by_feature(step: Any, names: list[str], *, first: bool) -> dict[str, set[str]]:
    """The steps that each feature may go through; `first`: the step's columns are the features themselves."""
    if step is None or isinstance(step, str):
        return {}
    if hasattr(step, "transformers_"):
        merged: dict[str, set[str]] = {name: set() for name in names}
        for _, inner, columns in step.transformers_:
            own = _columns(columns, names) if first else names
            for name, kinds in _steps_by_feature(inner, own, first=first).items():
                merged[name] |= kinds
        return merged
    if hasattr(step, "steps") or hasattr(step, "transformer_list"):
        apart = hasattr(step, "transformer_list")
        parts = [one[1] for one in (step.transformer_list if apart else step.steps)]
        merged = {name: set() for name in names}
        for index, inner in enumerate(parts):
            for name, kinds in _steps_by_feature(inner, names, first=first and (apart or index == 0)).items():
                merged[name] |= kinds
        return merged
    return {name: {_kind(step)} for name in names}


def _kind(step: Any) -> str:
    kind = type(step).__name__
    if kind == "FunctionTransformer":
        func = step.func
        if func is None or (isinstance(func, np.ufunc) and func.__name__ in _FUNCTIONS):
            return "StandardScaler"  # preserves the order of numbers, like a scaler
        if isinstance(func, np.ufunc):
            return "Binarizer"  # column by column, like a binarizer
        raise NotApplicable("the pipeline has a FunctionTransformer whose function may mix columns")
    if kind not in (*estimators.ORDER_PRESERVING, *estimators.COLUMNWISE):
        raise NotApplicable(
            f"the pipeline has a {kind}; exact answers need steps that work column by column: "
            f"{', '.join((*estimators.ORDER_PRESERVING, *estimators.COLUMNWISE))}"
        )
    return kind


def _columns(columns: Any, names: list[str]) -> list[str]:
    """The names of a ColumnTransformer's columns."""
    if isinstance(columns, str):
        return [columns]
    if isinstance(columns, slice):
        if isinstance(columns.start, str) or isinstance(columns.stop, str):
            start = names.index(columns.start) if columns.start is not None else 0
            stop = names.index(columns.stop) + 1 if columns.stop is not None else len(names)
            return names[start:stop]
        return names[columns]
    if isinstance(columns, int | np.integer):
        return [names[int(columns)]]
    given = np.asarray(columns)
    if given.dtype == bool:
        return [name for name, taken in zip(names, given, strict=True) if taken]
    return [str(one) if isinstance(one, str) else names[int(one)] for one in given.tolist()]
