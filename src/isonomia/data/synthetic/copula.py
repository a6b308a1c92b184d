"""A Gaussian copula over mixed columns: fitted to a table or to a schema, sampled freely or under conditions.

Each column is a function of one standard normal (its marginal), and the normals correlate. A column of numbers with
missing values has a second normal that decides whether the value is there; in a category, missing is one of the levels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.data.dataset import Dataset
from isonomia.data.frames import Backend, backend_of, default_backend, to_frame, wrap
from isonomia.data.schema import Kind
from isonomia.data.synthetic.conditions import Condition, OneOf, read_conditions
from isonomia.data.synthetic.dependence import (
    hermite,
    latent_correlation,
    nearest_correlation,
    pairwise_correlation,
)
from isonomia.data.synthetic.marginals import Levels, Marginal, Regions
from isonomia.data.synthetic.naturalness import log_rectangles
from isonomia.data.synthetic.reading import codes_of, kinds_of, order_levels, read_column
from isonomia.data.synthetic.schema import Schema
from isonomia.data.synthetic.truncated import box_probability, sample_box
from isonomia.errors import DataError, close_to
from isonomia.parameters import SEED, Integer
from isonomia.typing import Floats

#: Rows of the table that a schema is turned into before a copula is fitted to it.
SEED_ROWS = 50_000

Coded = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Copula:
    """A joint distribution of mixed columns.

    Attributes
    ----------
    marginals : mapping of Marginal
        One per column, in the order of the columns.
    missing : mapping of float
        The share of missing values of columns of numbers that have any; each adds a latent dimension.
    correlation : array, shape (d, d)
        Of the latent normals: the columns first, then the missing shares.
    backend : "pandas", "polars" or "pyarrow"
        The kind of frame that samples are.

    References
    ----------
    Nelsen, *An Introduction to Copulas* (2006); Patki, Wedge and Veeramachaneni, "The synthetic data vault" (DSAA
    2016).

    Examples
    --------
    >>> copula = Copula.fit({"sex": ["F", "M"] * 50, "age": list(range(100))})
    >>> sample = copula.sample(5, seed=1, given={"sex": "F", "age": (30, 40)})
    >>> sorted(set(sample["sex"])), bool(((sample["age"] >= 30) & (sample["age"] < 40)).all())
    (['F'], True)
    """

    marginals: Mapping[str, Marginal]
    missing: Mapping[str, float]
    correlation: Floats
    backend: Backend

    @classmethod
    def fit(
        cls,
        data: Any,
        *,
        columns: Sequence[str] | None = None,
        kinds: Mapping[str, Kind] | None = None,
        orders: Mapping[str, Sequence[Any]] | None = None,
    ) -> Copula:
        """Learn marginals and latent correlations from a table (the descriptive mode).

        Parameters
        ----------
        data : Dataset or any frame
        columns : sequence of str, optional
            What to model; by default the features of a dataset, all columns of a frame.
        kinds : mapping, optional
            Overrides of inferred kinds.
        orders : mapping, optional
            The order of a category's values. Others are put in order along what the other columns have in common.
        """
        table = wrap(data.frame if isinstance(data, Dataset) else data)
        names = tuple(columns) if columns is not None else _columns(data, table)
        for name in names:
            if name not in table.columns:
                raise DataError(
                    f"`columns` must name columns of the data; got {name!r}.{close_to(name, table.columns)}"
                )
        if len(table) < 2:
            raise DataError(f"A copula is fitted to at least 2 rows; got {len(table)}.")
        known = {**(data.kinds if isinstance(data, Dataset) else {}), **(kinds or {})}
        read = [read_column(table[name], name, kind) for name, kind in kinds_of(table, names, known).items()]
        marginals, codes = order_levels([m for m, _ in read], [c for _, c in read], orders or {})
        return cls._from_codes(marginals, codes, backend_of(table) or default_backend())

    @classmethod
    def from_schema(
        cls, schema: Schema | Mapping[str, Any], *, seed: int = 0, rows: int = SEED_ROWS, backend: Backend | None = None
    ) -> Copula:
        """Learn from a schema (the prescriptive mode): a large seed table is drawn from it, and fitted."""
        plan = schema if isinstance(schema, Schema) else Schema.of(schema)
        frame = plan.seed_frame(rows, seed=seed, backend=backend or default_backend())
        orders = {
            name: list(getattr(c, "shares", ()))
            for name, c in plan.columns.items()
            if c.kind in ("category", "boolean")
        }
        present = wrap(frame)
        seen = {name: set(present[name].unique().to_list()) for name in orders}
        return cls.fit(
            frame,
            kinds={name: distribution.kind for name, distribution in plan.columns.items()},
            orders={name: [value for value in values if value in seen[name]] for name, values in orders.items()},
        )

    @classmethod
    def _from_codes(cls, marginals: list[Marginal], codes: list[NDArray[Any]], backend: Backend) -> Copula:
        empty = [_is_missing(marginal, code) for marginal, code in zip(marginals, codes, strict=True)]
        missing = {m.name: float(e.mean()) for m, e in zip(marginals, empty, strict=True) if e.any()}
        flags = [_flag(share, name) for name, share in missing.items()]
        ranks = [_midranks(marginal, code) for marginal, code in zip(marginals, codes, strict=True)]
        ranks += [e.astype(float) for e in empty if e.any()]
        steps = hermite([marginal.cells() for marginal in [*marginals, *flags]])
        latent = latent_correlation(steps, pairwise_correlation(np.stack(ranks, axis=1)))
        return cls({m.name: m for m in marginals}, missing, nearest_correlation(latent), backend)

    # sampling -------------------------------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.marginals)

    def sample(self, n: int, *, seed: int = 0, given: Mapping[str, Any] | Sequence[Condition] = ()) -> Any:
        """`n` new rows as a frame, each satisfying the conditions `given` exactly.

        Conditions are a mapping (``{"sex": "F", "race": ["Black", "Other"], "age": (25, 40)}``: a value, a list of
        values, an interval [low, high)) or `OneOf` and `Between` objects. Constrained latent normals are drawn inside
        their intervals, the others from their conditional normal distribution: nothing is rejected.
        """
        Integer(1).check("n", n)
        SEED.check("seed", seed)
        coded = self.draw(n, np.random.default_rng(seed), read_conditions(given))
        return self.frame(coded)

    def draw(self, n: int, rng: np.random.Generator, conditions: Sequence[Condition] = ()) -> Coded:
        """Rows as codes (levels) and numbers (curves): what `frame` turns into values."""
        coded = self.decode(self._latent(n, rng, conditions))
        for condition in conditions:
            name = condition.column
            if not _asks_missing(condition, self.marginals[name]):
                coded[name] = self.marginals[name].keep(condition, coded[name])
        return coded

    def probability(self, given: Mapping[str, Any] | Sequence[Condition], *, seed: int = 0, n: int = 4096) -> float:
        """The share of rows that satisfy conditions, estimated without bias by sequential sampling.

        >>> copula = Copula.fit({"sex": ["F", "M"] * 50, "age": list(range(100))})
        >>> round(copula.probability({"sex": "F"}), 3)
        0.5
        """
        boxes = self._boxes(read_conditions(given))
        if not boxes:
            return 1.0
        index = sorted(boxes, key=lambda dim: _mass(boxes[dim]))
        inner = self.correlation[np.ix_(index, index)]
        return box_probability(inner, [boxes[dim] for dim in index], n, np.random.default_rng(seed))

    def _latent(self, n: int, rng: np.random.Generator, conditions: Sequence[Condition]) -> Floats:
        boxes = self._boxes(conditions)
        if not boxes:
            return np.asarray(rng.standard_normal((n, self._dims)) @ self._factor.T, dtype=float)
        # the rarest first: sequential sampling then wastes the least weight
        index = sorted(boxes, key=lambda dim: _mass(boxes[dim]))
        rest = [dim for dim in range(self._dims) if dim not in boxes]
        inner = self.correlation[np.ix_(index, index)]
        fixed = sample_box(inner, [boxes[dim] for dim in index], n, rng)
        z = np.empty((n, self._dims))
        z[:, index] = fixed
        if rest:
            cross = self.correlation[np.ix_(index, rest)]
            slope = np.linalg.solve(inner, cross)
            left = self.correlation[np.ix_(rest, rest)] - cross.T @ slope
            z[:, rest] = fixed @ slope + rng.standard_normal((n, len(rest))) @ _root(left).T
        return z

    def _boxes(self, conditions: Sequence[Condition]) -> dict[int, Regions]:
        names = self.columns
        boxes: dict[int, Regions] = {}
        for condition in conditions:
            name = condition.column
            if name not in self.marginals:
                raise DataError(
                    f"A condition names {name!r}, which is not a column of the generator.{close_to(name, names)}"
                )
            marginal = self.marginals[name]
            wants = (
                isinstance(condition, OneOf) and None in condition.values and marginal.kind in ("integer", "numeric")
            )
            if wants and (name not in self.missing or len(getattr(condition, "values", ())) > 1):
                raise DataError(
                    f"The condition {condition} asks for missing values of '{name}'"
                    + (", which has none." if name not in self.missing else " beside others; ask for one or the other.")
                )
            if name in self.missing:
                flag = _flag(self.missing[name], name)
                dim = len(names) + list(self.missing).index(name)
                boxes[dim] = flag.regions(OneOf(name, (bool(wants),)))
            if not wants:
                boxes[names.index(name)] = marginal.regions(condition)
        return boxes

    @property
    def _dims(self) -> int:
        return len(self.marginals) + len(self.missing)

    @cached_property
    def _factor(self) -> Floats:
        return np.asarray(np.linalg.cholesky(self.correlation), dtype=float)

    # between rows and latent normals ----------------------------------------------------------------------------

    def decode(self, z: Floats) -> Coded:
        """Latent normals, shape (n, d), as codes and numbers by column."""
        coded = {name: marginal.draw(z[:, j]) for j, (name, marginal) in enumerate(self.marginals.items())}
        for k, (name, share) in enumerate(self.missing.items()):
            empty = _flag(share, name).draw(z[:, len(self.marginals) + k]) == 1
            coded[name][empty] = -1 if isinstance(self.marginals[name], Levels) else np.nan
        return coded

    def frame(self, coded: Mapping[str, NDArray[Any]], extra: Mapping[str, NDArray[Any]] | None = None) -> Any:
        """Codes and numbers as a frame of values, with further columns at the end."""
        values = {name: self.marginals[name].values_of(codes) for name, codes in coded.items()}
        return to_frame({**values, **(extra or {})}, self.backend)

    def from_latent(self, z: Floats) -> Any:
        """Any latent points, shape (n, d), as valid rows."""
        points = np.asarray(z, dtype=float)
        if points.ndim != 2 or points.shape[1] != self._dims or not np.isfinite(points).all():
            raise DataError(
                f"Latent points must be a finite array of shape (n, {self._dims}); got shape {points.shape}."
            )
        return self.frame(self.decode(points))

    def to_latent(self, data: Any) -> Floats:
        """The normal scores of mid-ranks of rows, shape (n, d); NaN where a number is missing or a value unknown."""
        columns = []
        flags = {}
        for name, marginal, codes, strange in self._read(data):
            columns.append(np.where(strange, np.nan, marginal.scores(codes)))
            if name in self.missing:
                empty = _is_missing(marginal, codes).astype(np.int32)
                flags[name] = np.where(strange, np.nan, _flag(self.missing[name], name).scores(empty))
        return np.stack([*columns, *(flags[name] for name in self.missing)], axis=1)

    def log_density(self, data: Any, *, draws: int = 32, seed: int = 0) -> Floats:
        """How natural each row is: the log of its density under the copula.

        The probability of the row's levels (and of what is missing) times the density of its continuous numbers, in the
        numbers' own units. Levels make it the probability of a rectangle of correlated normals, simulated with `draws`
        sequential draws a row. A value never seen, or a number out of range, gives -inf.

        >>> copula = Copula.fit({"sex": ["F", "M", "M", "M"] * 25, "team": ["a", "b", "b", "b"] * 25})
        >>> likely, unlikely = copula.log_density({"sex": ["M", "M"], "team": ["b", "a"]})
        >>> bool(likely > unlikely)
        True
        """
        lows, highs = [], []
        flags: dict[str, tuple[Floats, Floats]] = {}
        total: Any = 0.0
        for name, marginal, codes, strange in self._read(data):
            low, high, add = marginal.cell(codes)
            empty = _is_missing(marginal, codes)
            if name in self.missing:
                flags[name] = _flag(self.missing[name], name).cell(empty.astype(np.int32))[:2]
            never = strange | (empty if name not in self.missing else False)
            total = total + np.where(never, -np.inf, add)
            lows.append(low)
            highs.append(high)
        lows += [flags[name][0] for name in self.missing]
        highs += [flags[name][1] for name in self.missing]
        # continuous columns first: their narrow intervals leave nothing to chance for the ones after them
        names = self.columns
        order = sorted(range(self._dims), key=lambda j: j >= len(names) or isinstance(self.marginals[names[j]], Levels))
        inner = self.correlation[np.ix_(order, order)]
        low, high = np.stack(lows, axis=1)[:, order], np.stack(highs, axis=1)[:, order]
        return np.asarray(total + log_rectangles(inner, low, high, draws=draws, seed=seed), dtype=float)

    def codes(self, data: Any) -> Coded:
        """Rows of a table as codes and numbers, the opposite of `frame`; a value never seen counts as missing."""
        return {
            name: np.where(strange, -1 if isinstance(marginal, Levels) else np.nan, codes)
            for name, marginal, codes, strange in self._read(data)
        }

    def _read(self, data: Any) -> Iterator[tuple[str, Marginal, NDArray[Any], NDArray[np.bool_]]]:
        """Each column of a table as codes, and which of its values were never seen."""
        table = wrap(data.frame if isinstance(data, Dataset) else data)
        for name, marginal in self.marginals.items():
            if name not in table.columns:
                raise DataError(f"The data has no column {name!r}, which the generator was fitted to.")
            codes, strange = codes_of(table[name], marginal)
            yield name, marginal, codes, strange


def _columns(data: Any, table: nw.DataFrame[Any]) -> tuple[str, ...]:
    return data.features if isinstance(data, Dataset) else tuple(table.columns)


def _is_missing(marginal: Marginal, codes: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(codes < 0 if isinstance(marginal, Levels) else np.isnan(codes), dtype=bool)


def _asks_missing(condition: Condition, marginal: Marginal) -> bool:
    return isinstance(condition, OneOf) and None in condition.values and marginal.kind in ("integer", "numeric")


def _midranks(marginal: Marginal, codes: NDArray[Any]) -> Floats:
    if isinstance(marginal, Levels):
        return np.asarray(np.append(marginal.cells()[1], np.nan)[codes], dtype=float)
    low, high = marginal.span(codes)
    return np.where(np.isnan(codes), np.nan, (low + high) / 2)


def _flag(share: float, name: str) -> Levels:
    """Whether a value is missing, as a column of its own."""
    return Levels(name, "boolean", (False, True), np.array([1 - share, share]))


def _mass(regions: Regions) -> float:
    from scipy.special import ndtr

    return float((ndtr(regions[1]) - ndtr(regions[0])).sum())


def _root(matrix: Floats) -> Floats:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)), dtype=float)
