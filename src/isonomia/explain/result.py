"""What `shapley` returns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from isonomia.data import Backend, to_frame
from isonomia.display import Shown
from isonomia.errors import NotApplicable, SpecError, close_to
from isonomia.evidence import Column, Picture, Result, Table
from isonomia.evidence.intervals import student_interval
from isonomia.explain.outputs import OUTPUT_NAMES, Output
from isonomia.explain.pictured import LEVELS, dependence_table, summary_table
from isonomia.languages import Message, msg
from isonomia.typing import Floats, Indices


@dataclass(frozen=True, eq=False, kw_only=True)
class ShapleyValues(Shown):
    """Shapley values of rows; as a page, a figure or in a notebook they are their `summary`.

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
    features : (n, M) array
        The rows' values of the columns where these are numbers; NaN for columns of categories.
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
    features: Floats
    backend: Backend | None
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

    def _contributions(self, label: Any) -> Floats:
        """The values (n, M) of one class: that named, the last of two, the only one."""
        if self.values.ndim == 2:
            return self.values
        if label is None:
            raise SpecError(f"There are several classes; name the one to draw: {', '.join(map(repr, self.classes))}.")
        if label not in self.classes:
            raise SpecError(
                f"`label` must be a class that was explained; got {label!r}.{close_to(label, self.classes)}"
            )
        return np.asarray(self.values[:, :, self.classes.index(label)])

    def summary(self, label: Any = None) -> Result:
        """Importance of all columns, and who gets which contribution (`label`: the class, of several)."""
        what = OUTPUT_NAMES[self.output]
        tables = {"importance": self.importance}
        pictures = [
            Picture(
                "bars",
                "importance",
                msg("Importance of each column"),
                {
                    "labels": "column",
                    "value": "importance",
                    **({"where": {"class": label}} if len(self.classes) > 1 else {}),
                },
            )
        ]
        if self.values.ndim == 2 or label is not None:
            tables["summary"] = summary_table(self.columns, self._contributions(label), self.features, self.backend)
            pictures.append(
                Picture(
                    "beeswarm",
                    "summary",
                    msg("Contributions to the {what}; the size of a mark is the number of people", what=what),
                    {
                        "labels": "column",
                        "value": "contribution",
                        "n": "n",
                        "color": "level",
                        "names": LEVELS,
                        "reference": 0.0,
                        "reference_label": msg("no contribution"),
                    },
                )
            )
        return Result("shapley", msg("Why: what each column adds"), tables, pictures=tuple(pictures), notes=self.notes)

    def dependence(self, column: str, label: Any = None) -> Result:
        """Mean contribution of a column along its values, coloured by the column that it interacts with most."""
        if column not in self.columns:
            raise SpecError(f"`column` must be one that was explained; got {column!r}.{close_to(column, self.columns)}")
        index = self.columns.index(column)
        if np.isnan(self.features[:, index]).any():
            raise NotApplicable(msg("{column} has no order, or missing values", column=column))
        phi = self._contributions(label)
        table, other = dependence_table(self.columns, index, phi, self.features, self.backend)
        options: dict[str, Any] = {"x": "value", "y": "contribution", "n": "n", "reference": 0.0}
        title = msg("Contribution of {column} along its values", column=column)
        if other is not None:
            options |= {"color": "level", "names": LEVELS}
            title = msg(
                "Contribution of {column} along its values, by the level of {other}", column=column, other=other
            )
        picture = Picture("scatter", "dependence", title, options)
        return Result("dependence", title, {"dependence": table}, pictures=(picture,), notes=self.notes)

    def to_html(self, language: str = "en", *, page: bool = True) -> str:
        """The summary as HTML, see `Result.to_html`."""
        return self.summary().to_html(language, page=page)

    def plot(self, name: str | None = None, language: str = "en", *, label: Any = None) -> Any:
        """The Plotly figures of the summary, see `Result.plot` (`label`: the class, of several)."""
        return self.summary(label).plot(name, language)

    @property
    def result(self) -> Result:
        """Tables, pictures and notes as a section of a report."""
        return self.summary()
