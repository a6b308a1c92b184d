"""All valid people, as rows of a matrix."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.data import Backend, Dataset, default_backend, from_columns, wrap
from isonomia.errors import DataError, SpecError, close_to
from isonomia.probing.constraints import Constraint
from isonomia.probing.dependencies import Dependencies
from isonomia.probing.features import Feature
from isonomia.typing import Floats

Rule = str | Callable[[Any], Any]

#: Draws that may be rejected by constraints before the domain is called empty.
MAX_DRAWS = 2_000_000


class Domain:
    """Every valid person: categories from their list, whole numbers whole, bounds and constraints kept.

    A person is a row of floats: the index of a category in its list, or the number itself.

    Parameters
    ----------
    features : mapping
        Name to ``(low, high)`` (two whole numbers: whole; two floats: real), a list of categories, or a `Feature`.
    constraints : sequence, optional
        Rules as text (``"age >= 18 and education_years <= age - 5"``), or functions from a frame to a boolean per row.
    backend : "pandas", "polars" or "pyarrow", optional
        The kind of frame a model is handed.

    Attributes
    ----------
    dependencies : Dependencies, optional
        What the data rule out beside the constraints; see `from_data`.

    Examples
    --------
    >>> domain = Domain({"age": (18, 20), "sex": ["F", "M"]}, backend="polars")
    >>> domain.size
    6
    >>> people = domain.sample(4, np.random.default_rng(0))
    >>> domain.valid(people).all(), domain.decode(people).columns
    (np.True_, ['age', 'sex'])
    >>> bool((domain.encode(domain.decode(people)) == people).all())
    True
    """

    def __init__(
        self, features: Mapping[str, Any], *, constraints: Sequence[Rule] = (), backend: Backend | None = None
    ) -> None:
        if not features:
            raise DataError("A domain needs at least one feature.")
        self.features = tuple(Feature.of(str(name), values) for name, values in features.items())
        self.backend: Backend = backend or default_backend()
        self.names = tuple(feature.name for feature in self.features)
        self.low = np.array([feature.low for feature in self.features])
        self.high = np.array([feature.high for feature in self.features])
        self.step = np.array([feature.step for feature in self.features])
        self.whole = np.array([feature.kind != "real" for feature in self.features])
        self.nominal = np.array([feature.kind == "category" for feature in self.features])
        self._span = np.where(self.whole, self.high - self.low + 1, self.high - self.low)
        self.may_miss = np.array([feature.missing for feature in self.features])
        # one block of 64-bit whole numbers is by far the quickest frame for scikit-learn
        self._plain_integers = self.backend == "pandas" and all(
            feature.kind == "integer" and feature.dtype in (None, nw.Int64) and feature.extension is None
            for feature in self.features
        )
        self._header: Any = None
        self.rules = tuple(
            rule if callable(rule) else Constraint(rule, columns=list(self.names)) for rule in constraints
        )
        self.dependencies: Dependencies | None = None

    @classmethod
    def from_data(
        cls,
        data: Any,
        *,
        features: Sequence[str] | None = None,
        constraints: Sequence[Rule] = (),
        overrides: Mapping[str, Any] | None = None,
        dependencies: bool = False,
    ) -> Domain:
        """The domain that a dataset (or a frame of features) spans: observed categories, minimum to maximum.

        `overrides` replaces the span of some features: ``{"age": (18, 99)}``. With `dependencies` it has the people
        that contradict no dependency of the data only (see `Dependencies`).
        """
        dataset = data if isinstance(data, Dataset) else None
        table = wrap(dataset.frame if dataset is not None else data)
        columns = table.columns
        names = tuple(features or (dataset.features if dataset is not None else columns))
        for name in (*names, *(overrides or {})):
            if name not in columns:
                near = close_to(name, columns)
                raise DataError(f"`features` must name columns of the data; got {name!r}.{near}")
        kinds = dataset.kinds if dataset is not None else {}
        spans: dict[str, Any] = {}
        for name in names:
            as_category = kinds.get(name) in ("category", "boolean", "datetime")
            observed = Feature.from_column(table.get_column(name), as_category=as_category)
            spans[name] = _override(observed, (overrides or {})[name]) if name in (overrides or {}) else observed
        backend: Backend = table.implementation.name.lower()
        domain = cls(spans, constraints=constraints, backend=backend)
        if dependencies:
            domain.learn_dependencies(domain.encode(table.to_native()))
        return domain

    def learn_dependencies(self, rows: Floats, leading: Sequence[str] = ()) -> None:
        """Restrict the domain to people who contradict no dependency of rows of data.

        The columns `leading` are altered on purpose: they do not move along with others.
        """
        columns = [self.index(name) for name in leading]
        self.dependencies = Dependencies.learn(self, self.snap(rows), leading=columns) or None

    def __len__(self) -> int:
        return len(self.features)

    def __repr__(self) -> str:
        return f"Domain({len(self)} features, {self.size:,} people)" if self.size else f"Domain({len(self)} features)"

    @property
    def size(self) -> int | None:
        """How many different people there are before constraints; None with a real feature."""
        sizes = [feature.size for feature in self.features]
        return None if None in sizes else math.prod(size for size in sizes if size is not None)

    @property
    def restricted(self) -> bool:
        """Whether there are constraints or dependencies: not every combination of values is a person."""
        return bool(self.rules) or self.dependencies is not None

    @property
    def followers(self) -> NDArray[np.intp]:
        """Columns whose values follow from those of others."""
        return np.empty(0, dtype=np.intp) if self.dependencies is None else self.dependencies.followers

    def complete(self, rows: Floats, *, copy: bool = True) -> Floats:
        """Rows whose columns that follow from others have the values that follow; without `copy` these rows."""
        return rows if self.dependencies is None else self.dependencies.complete(rows, copy=copy)

    def repaired(self, rows: Floats, rng: np.random.Generator) -> Floats:
        """Rows that contradict no dependency, as far as there are values that do not."""
        return rows if self.dependencies is None else self.dependencies.repaired(rows, self.whole, rng)

    def index(self, name: str) -> int:
        """The column of a feature."""
        if name not in self.names:
            raise DataError(f"Unknown feature {name!r} of the domain.{close_to(name, self.names)}")
        return self.names.index(name)

    # between frames and rows ------------------------------------------------------------------------------------

    def encode(self, frame: Any) -> Floats:
        """Rows of a frame as a matrix; a category that the domain does not have is an error."""
        table = wrap(frame)
        rows = np.empty((len(self), len(table))).T  # filled, and mostly read, column by column
        columns = table.columns
        for index, feature in enumerate(self.features):
            if feature.name not in columns:
                raise DataError(
                    f"The frame has no column for the feature {feature.name!r}.{close_to(feature.name, columns)}"
                )
            column = table.get_column(feature.name)
            rows[:, index] = feature.encode(column)
            if feature.kind == "category" and np.isnan(rows[:, index]).any():
                strange = column.to_list()[int(np.flatnonzero(np.isnan(rows[:, index]))[0])]
                raise DataError(
                    f"{strange!r} is not a value of '{feature.name}' in the domain; widen it or drop the row."
                )
        return rows

    def compact(self, rows: Floats) -> NDArray[Any]:
        """Valid rows in the numbers that `decode` puts into a frame: to be repeated or altered before it does."""
        return rows.astype(np.int64) if self._plain_integers and not self.may_miss.any() else rows

    def decode(self, rows: NDArray[Any]) -> Any:
        """Rows as a frame with the columns, dtypes and kind the model expects."""
        if self._plain_integers and (rows.dtype == np.int64 or not np.isnan(rows).any()):
            import pandas as pd

            if self._header is None:
                self._header = pd.Index(list(self.names))
            return pd.DataFrame(rows.astype(np.int64, copy=False), columns=self._header, copy=False)
        columns = {
            feature.name: feature.decode(np.ascontiguousarray(rows[:, index]), self.backend)
            for index, feature in enumerate(self.features)
        }
        return from_columns(columns, self.backend)

    # what is valid ----------------------------------------------------------------------------------------------

    def snap(self, rows: Floats) -> Floats:
        """The nearest rows inside the bounds, whole where they must be, what follows as it follows; missing stays."""
        inside: Floats = np.maximum(rows, self.low)
        np.minimum(inside, self.high, out=inside)
        if self.whole.all():
            np.rint(inside, out=inside)
        elif self.whole.any():
            inside[:, self.whole] = np.rint(inside[:, self.whole])
        inside += 0.0  # no minus zeros
        return self.complete(inside, copy=False)

    def valid(self, rows: Floats) -> NDArray[np.bool_]:
        """Which rows are valid people."""
        inside = rows >= self.low
        inside &= rows <= self.high
        if self.whole.any():
            inside &= (rows == np.rint(rows)) | ~self.whole
        if inside.all():  # the usual case, and faster than testing every row
            return self.coherent(rows)
        good = np.asarray((inside | (np.isnan(rows) & self.may_miss)).all(axis=1))
        some = np.flatnonzero(good)
        good[some] = self.coherent(rows.take(some, axis=0))
        return good

    def coherent(self, rows: Floats) -> NDArray[np.bool_]:
        """Which rows inside the bounds keep to the constraints and contradict no dependency."""
        good = np.ones(len(rows), dtype=bool) if self.dependencies is None else self.dependencies.consistent(rows)
        if self.rules and good.any():
            some = np.flatnonzero(good)
            good[some] = self.obeys(rows.take(some, axis=0))
        return good

    def obeys(self, rows: Floats) -> NDArray[np.bool_]:
        """Which rows inside the bounds keep to the constraints."""
        good = np.ones(len(rows), dtype=bool)
        for rule in self.rules:
            if isinstance(rule, Constraint):
                good &= rule.holds({name: self._readable(rows, name) for name in rule.columns})
            else:
                answer = np.asarray(rule(self.decode(rows)))
                if answer.shape != (len(rows),) or answer.dtype != bool:
                    raise SpecError(
                        f"A constraint function must give True or False per row; got shape {answer.shape} "
                        f"of {answer.dtype} for {len(rows)} rows."
                    )
                good &= answer
        return good

    def _readable(self, rows: Floats, name: str) -> NDArray[Any]:
        index = self.index(name)
        feature = self.features[index]
        if feature.kind != "category":
            return rows[:, index]
        return np.array([*feature.levels, None], dtype=object)[:-1][rows[:, index].astype(np.intp)]

    # making people ----------------------------------------------------------------------------------------------

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        """`n` people drawn uniformly from the domain.

        With dependencies they are drawn column by column, each uniformly among the values that the columns before it
        leave open.
        """
        if not self.restricted:
            return self._draw(n, rng)
        kept: list[Floats] = []
        count = drawn = 0
        while count < n:
            accepted = max(count / drawn, 0.1) if drawn else 1.0
            size = (1000 if drawn else 100) + int(1.1 * (n - count) / accepted)
            batch = self.repaired(self._draw(size, rng), rng)
            good = batch[self.coherent(batch)]
            kept.append(good)
            count, drawn = count + len(good), drawn + len(batch)
            if count == 0 and drawn >= MAX_DRAWS:
                raise DataError(
                    f"No valid person was found in {drawn:,} draws from the domain: the constraints "
                    "exclude almost everyone. Check them against the bounds of the features."
                )
        return np.concatenate(kept)[:n]

    def _draw(self, n: int, rng: np.random.Generator) -> Floats:
        rows = rng.random((n, len(self)))
        rows *= self._span
        rows += self.low
        return np.asarray(np.where(self.whole, np.minimum(np.floor(rows), self.high), rows))

    def values(self, columns: NDArray[np.intp], rng: np.random.Generator) -> Floats:
        """A uniformly drawn value of each of the columns, which may be named more than once."""
        drawn = self.low[columns] + rng.random(len(columns)) * self._span[columns]
        return np.asarray(np.where(self.whole[columns], np.minimum(np.floor(drawn), self.high[columns]), drawn))

    def texts(self, row: Floats) -> list[str]:
        """One row as text."""
        return [feature.text(float(value)) for feature, value in zip(self.features, row, strict=True)]

    def describe(self) -> dict[str, Any]:
        """Plain values that identify the domain (for a ledger's header)."""
        return {
            "features": [
                [f.name, f.kind, f.low, f.high, [str(level) for level in f.levels], f.missing] for f in self.features
            ],
            "rules": [rule.text if isinstance(rule, Constraint) else "function" for rule in self.rules],
            **({} if self.dependencies is None else {"dependencies": self.dependencies.digest}),
        }


def _override(observed: Feature, given: Any) -> Feature:
    wanted = Feature.of(observed.name, given)
    if wanted.kind == "category":
        dtype = observed.dtype if observed.kind == "category" else None
        return Feature(
            name=observed.name, kind="category", low=wanted.low, high=wanted.high, levels=wanted.levels, dtype=dtype
        )
    kind = "real" if observed.kind == "real" else wanted.kind
    return replace(observed, kind=kind, low=wanted.low, high=wanted.high, levels=wanted.levels, series=None)
