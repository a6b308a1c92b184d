"""A naive Bayes classifier over categorical features and two outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isonomia.counting import Codes, cross_sum, sum_by
from isonomia.errors import DataError, SpecError
from isonomia.typing import Floats


@dataclass(frozen=True, eq=False)
class NaiveBayes:
    """P(d) and P(value | d), P(value | not d) of each feature, d being the favourable decision.

    Attributes
    ----------
    prior : float
        P(d).
    tables : tuple of arrays
        For each feature an array (2, values): row 0 is P(value | not d), row 1 is P(value | d).
    names : tuple of str
        The features.

    Examples
    --------
    >>> network = NaiveBayes(0.2, (np.array([[0.5, 0.5], [0.2, 0.8]]),), ("x",))
    >>> round(float(network.predict_proba([[1]])[0]), 4)
    0.2857
    """

    prior: float
    tables: tuple[Floats, ...]
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 < self.prior < 1:
            raise DataError(
                f"A naive Bayes classifier needs both outcomes; the share of the favourable one is {self.prior:g}."
            )
        for index, table in enumerate(self.tables):
            if table.ndim != 2 or table.shape[0] != 2 or (table < 0).any() or not np.allclose(table.sum(axis=1), 1):
                raise SpecError(
                    f"Table {index} of a naive Bayes classifier must have two rows of shares that sum to 1."
                )
        if not self.names:
            object.__setattr__(self, "names", tuple(f"x{index + 1}" for index in range(len(self.tables))))

    @classmethod
    def fit(
        cls, features: Sequence[Codes], decision: Any, *, weights: Floats | None = None, smoothing: float = 0.0
    ) -> NaiveBayes:
        """The most likely parameters.

        Parameters
        ----------
        features : sequence of Codes
        decision : array
            1 for the favourable decision, 0 for the other.
        weights : array, optional
            One weight per row.
        smoothing : float
            Added to each count of a value.
        """
        chosen = np.asarray(decision, dtype=np.int64)
        weight = np.ones(len(chosen)) if weights is None else weights
        tables = []
        total = sum_by(chosen, weight, 2)
        if (total == 0).any():
            raise DataError(
                "A naive Bayes classifier needs both outcomes; one of them never occurs. Give rows with both."
            )
        for column in features:
            counts = cross_sum(chosen, column.codes, (2, column.size), weight) + smoothing
            tables.append(counts / counts.sum(axis=1, keepdims=True))
        return cls(float(total[1] / total.sum()), tuple(tables), tuple(column.name for column in features))

    def swapped_prior(self) -> NaiveBayes:
        """The same with the two priors the wrong way round, as the published figures were made."""
        return NaiveBayes(prior=1 - self.prior, tables=self.tables, names=self.names)

    def _logs(self, codes: Any) -> Floats:
        """log P(decision, row): shape (rows, 2)."""
        rows = np.asarray(codes, dtype=np.int64)
        out = np.empty((len(rows), 2))
        out[:] = np.log([1 - self.prior, self.prior])
        with np.errstate(divide="ignore"):
            for index, table in enumerate(self.tables):
                out += np.log(table[:, rows[:, index]]).T
        return out

    def predict_proba(self, codes: Any) -> Floats:
        """P(d | row), from codes (rows, features); NaN for rows that cannot be."""
        logs = self._logs(codes)
        with np.errstate(invalid="ignore"):
            return np.asarray(1 / (1 + np.exp(logs[:, 0] - logs[:, 1])), dtype=float)

    def log_likelihood(self, codes: Any, decision: Any, weights: Floats | None = None) -> float:
        """The log of the probability of rows with their decisions."""
        logs = self._logs(codes)
        own = logs[np.arange(len(logs)), np.asarray(decision, dtype=np.int64)]
        return float(own.sum() if weights is None else own @ weights)
