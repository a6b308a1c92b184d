"""An abstract schema: columns with distributions and correlations, for data without a source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.data.frames import Backend, to_frame
from isonomia.data.synthetic.distributions import Distribution, read_distribution
from isonomia.errors import SpecError, close_to
from isonomia.parameters import gathered
from isonomia.typing import Floats


@dataclass(frozen=True)
class Schema:
    """Columns, the correlations between them, and which of them are protected.

    Parameters
    ----------
    columns : mapping of Categories, Normal, LogNormal, Uniform
        Or plain mappings, so that a schema can come from JSON or YAML: ``{"categories": {"F": 0.5, "M": 0.5}}``,
        ``{"normal": {"mean": 40, "sd": 12, "low": 18, "whole": True}}``.
    correlation : mapping from pairs of columns to numbers, sequence of (column, column, number), or a matrix
        Correlations of the latent normals, in the order of the columns for a matrix. Pairs left out are 0.
    protected : sequence of str, or mapping with bands
    privileged : mapping

    Examples
    --------
    >>> Schema({"sex": {"categories": {"F": 0.5, "M": 0.5}}, "pay": {"lognormal": {"median": 3000, "sigma": 0.5}}},
    ...        correlation=[("sex", "pay", 0.2)], protected=["sex"]).matrix().tolist()
    [[1.0, 0.2], [0.2, 1.0]]
    """

    columns: Mapping[str, Distribution]
    correlation: Any = ()
    protected: Sequence[str] | Mapping[str, Any] = ()
    privileged: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        problems: list[str] = []
        columns: dict[str, Distribution] = {}
        for name, given in self.columns.items():
            try:
                columns[str(name)] = read_distribution(given)
            except SpecError as error:
                problems.append(f"Column '{name}': {error}")
        if not self.columns:
            problems.append("A schema needs at least one column.")
        for name in [*self.protected, *self.privileged]:
            if name not in self.columns:
                problems.append(f"`protected` must name columns; got {name!r}.{close_to(name, self.columns)}")
        if problems:
            raise gathered(problems)
        object.__setattr__(self, "columns", columns)
        self.matrix()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Schema:
        """Read a plain mapping with `columns`, and maybe `correlation`, `protected`, `privileged`."""
        allowed = [item.name for item in fields(cls)]
        unknown = [key for key in given if key not in allowed]
        if unknown or "columns" not in given:
            hint = close_to(unknown[0], allowed) if unknown else ""
            raise SpecError(f"A schema has {', '.join(allowed)}; got {', '.join(map(str, given))}.{hint}")
        return cls(**given)

    def matrix(self) -> Floats:
        """The latent correlation matrix; checked to be one."""
        names = list(self.columns)
        matrix = np.eye(len(names))
        given = self.correlation
        if isinstance(given, np.ndarray) or (
            given
            and np.ndim(given[0] if isinstance(given, list) else 0) == 1
            and all(isinstance(x, int | float) for x in given[0])
        ):
            matrix = np.array(given, dtype=float)
            if matrix.shape != (len(names), len(names)):
                raise SpecError(f"The correlation matrix must be {len(names)} x {len(names)}; got {matrix.shape}.")
        else:
            triples = [(*pair, r) for pair, r in given.items()] if isinstance(given, Mapping) else given
            for first, second, r in triples:
                for name in (first, second):
                    if name not in names:
                        raise SpecError(f"`correlation` must name columns; got {name!r}.{close_to(name, names)}")
                i, j = names.index(first), names.index(second)
                matrix[i, j] = matrix[j, i] = float(r)
        if not np.isfinite(matrix).all() or np.abs(matrix).max() > 1 or not np.allclose(matrix, matrix.T):
            raise SpecError("Correlations must be numbers in [-1, 1] and the matrix symmetric.")
        if not np.allclose(np.diag(matrix), 1):
            raise SpecError("A column correlates with itself at 1; the diagonal of `correlation` must be 1.")
        smallest = float(np.linalg.eigvalsh(matrix).min())
        if smallest < -1e-8:
            raise SpecError(
                "The correlations contradict one another: the matrix is not positive semi-definite "
                f"(smallest eigenvalue {smallest:.3g}). Make the strongest ones weaker, or drop one "
                "of a contradicting three."
            )
        return matrix

    def seed_frame(self, n: int, *, seed: int = 0, backend: Backend | None = None) -> Any:
        """A frame of `n` rows with these distributions and correlations: what a copula is then fitted to."""
        from scipy.special import ndtr

        rng = np.random.default_rng(seed)
        values, vectors = np.linalg.eigh(self.matrix())
        z = (rng.standard_normal((n, values.size)) * np.sqrt(np.maximum(values, 0))) @ vectors.T
        u = np.clip(ndtr(z), 1e-12, 1 - 1e-12)
        columns: dict[str, NDArray[Any]] = {}
        for j, (name, distribution) in enumerate(self.columns.items()):
            column = distribution.quantile(u[:, j])
            if distribution.missing:
                empty = rng.random(n) < distribution.missing
                column = column.astype(float) if column.dtype.kind in "iuf" else column.astype(object)
                column[empty] = np.nan if column.dtype.kind == "f" else None
            columns[name] = column
        return to_frame(columns, backend)
