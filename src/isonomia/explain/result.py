"""What `shapley` returns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from isonomia.data import Backend, to_frame
from isonomia.evidence import Column, Result, Table
from isonomia.evidence.intervals import student_interval
from isonomia.explain.outputs import OUTPUT_NAMES, Output
from isonomia.languages import Message, msg
from isonomia.typing import Floats, Indices


@dataclass(frozen=True, eq=False, kw_only=True)
class ShapleyValues:
    """Shapley values of rows.

    Attributes
    ----------
    columns : tuple of str
        The columns explained (M).
    classes : tuple
        The classes explained (K); empty for a regression.
    values : (n, M) or (n, M, K) array
        What each column adds to the output of each row; (n, M) where K is 1.
    base : (n,) or (n, K) array
        The mean output over the row's background.
    prediction : (n,) or (n, K) array
        The output of each row.
    error : array like `values`, or None
        Standard errors of sampled values; None where values are exact.
    additivity : float or None
        The largest |base + sum of values - prediction|; None where only some columns are explained.
    method, output : str
        How and what.
    model_rows : int
        How many rows the model was asked about.
    rows : (n,) array
        The explained rows' positions among the rows with a known target.
    weights : (n,) array
        Their weights.
    notes : tuple of Message
        What a reader has to know.
    """

    columns: tuple[str, ...]
    classes: tuple[Any, ...]
    values: Floats
    base: Floats
    prediction: Floats
    error: Floats | None
    additivity: float | None
    method: str
    output: Output
    model_rows: int
    rows: Indices
    weights: Floats
    backend: Backend
    level: float = 0.95
    notes: tuple[Message, ...] = ()

    def __repr__(self) -> str:
        n, columns = self.values.shape[:2]
        exact = "exact" if self.error is None else f"standard error up to {self.error.max():.2g}"
        return f"ShapleyValues({n} rows, {columns} columns, {self.output} by '{self.method}', {exact})"

    @cached_property
    def importance(self) -> Table:
        """Mean |phi| of each column, largest first; the interval is about the choice of people.

        Sampling makes |phi| larger: where values are sampled, `error` says by how much they may be off.
        """
        cube = np.abs(self.values.reshape(len(self.values), len(self.columns), -1))
        share = self.weights / self.weights.sum()
        mean = np.einsum("n,njk->jk", share, cube)
        spread = np.sqrt(np.einsum("n,njk->jk", share**2, (cube - mean) ** 2) / max(1e-300, 1 - (share**2).sum()))
        low, high = student_interval(mean, spread, 1 / (share**2).sum(), self.level)
        column, klass = (index.ravel() for index in np.indices(mean.shape))
        order = np.lexsort((-mean.ravel(), klass))
        names: list[Column] = [Column("column", [self.columns[column[at]] for at in order], title=msg("column"))]
        if len(self.classes) > 1:
            names.append(Column("class", [self.classes[klass[at]] for at in order], title=msg("class")))
        figure = Column(
            "importance",
            mean.ravel()[order],
            np.maximum(low, 0.0).ravel()[order],
            high.ravel()[order],
            format="num4",
            title=msg("mean size of the contribution"),
        )
        return Table(
            (*names, figure), msg("What each column adds to the {what}", what=OUTPUT_NAMES[self.output]), self.backend
        )

    @property
    def table(self) -> Any:
        """Mean |phi| of each column with its interval, as a frame of the kind the user gave."""
        return self.importance.frame()

    def to_frame(self, backend: Backend | None = None) -> Any:
        """One row per explained row (and class): its position, base and prediction, and a column per column."""
        cube = self.values.reshape(len(self.values), len(self.columns), -1)
        n, _, k = cube.shape
        parts: dict[str, Any] = {"row": np.repeat(self.rows, k)}
        if k > 1:
            parts["class"] = [self.classes[index % k] for index in range(n * k)]
        parts |= {"base": self.base.ravel(), "prediction": self.prediction.ravel()}
        taken = set(parts)
        for index, name in enumerate(self.columns):
            parts[f"{name}_" if name in taken else name] = cube[:, index].ravel()
        return to_frame(parts, backend or self.backend)

    @property
    def result(self) -> Result:
        """The table and notes as a section of a report."""
        return Result("shapley", msg("Why: what each column adds"), {"importance": self.importance}, notes=self.notes)
