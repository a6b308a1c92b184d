"""What a subgroup method is given: encoded features, outcomes, weights, and the limits of the search."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, sum_by
from isonomia.counting.lattice import DEFAULT_BUDGET
from isonomia.data import Backend, Dataset, Task
from isonomia.data.engines.engine import part_of
from isonomia.discovery.subgroups.mass import Mass
from isonomia.errors import DataError
from isonomia.events import Clock
from isonomia.typing import Bools, Floats

if TYPE_CHECKING:
    from isonomia.discovery.subgroups.counted import CountedRows


@dataclass(frozen=True, eq=False)
class Problem:
    """The rows to search, and what is known about each.

    Attributes
    ----------
    features : tuple of Codes
        The features that conditions may be on; numeric ones are binned.
    task : "binary", "multiclass", "regression" or None
        None where only errors are given.
    classes : tuple
        (negative, positive) for two classes.
    truth : array or None
        True outcomes: class codes, or numbers.
    label : array or None
        Decisions as class codes, or predicted numbers for a regression.
    probability : array or None
        (n,) of the positive class, or (n, K).
    errors : array or None
        One non-negative error a row, where the caller gave them.
    weights : array or None
        One weight per row, scaled so that their mean is 1.
    counts : array of int or None
        How many identical rows each row stands for, where an engine counted them.
    numbers : array of int or None
        The numbers of the rows in their source; None where they are 0, 1, 2, ...
    expected : array or None
        The share of errors that scores let expect of each row, where an engine counted by scores.
    counted : CountedRows or None
        Where the rows are counted: `features` then have the codes of their own cells, outcomes, weights and counts
        are those of everyone, and `on` gives the cells of some features.
    protected : tuple of str
        Protected features.
    metric : str or None
        The requested outcome rate.
    k, max_l : int
        How many subgroups are requested; how many conditions one may have.
    min_support : float, int or callable
        The minimum size of a subgroup: a share, a number of rows, or a function of the rows there are. See `min_rows`.
    seed : int
    clock
        The time limit, and where the search reports.
    max_memory : int
        Bytes a search over conjunctions may work with.
    options : mapping
        The method's own parameters, defaults filled in.
    taken : tuple of (str, array of bool)
        The metric and the rows of subgroups found before; `rates.quantity` compares with what they explain.
    data, model
        The dataset and the model as given, for methods that ask a model about new rows.
    """

    features: tuple[Codes, ...]
    task: Task | None = None
    classes: tuple[Any, ...] = ()
    truth: NDArray[Any] | None = None
    label: NDArray[Any] | None = None
    probability: Floats | None = None
    errors: Floats | None = None
    weights: Floats | None = None
    counts: NDArray[np.int64] | None = None
    numbers: NDArray[np.int64] | None = None
    expected: Floats | None = None
    counted: CountedRows | None = None
    protected: tuple[str, ...] = ()
    metric: str | Sequence[str] | None = None
    k: int = 5
    max_l: int = 3
    min_support: float | int | Callable[[int], float] = 1
    seed: int = 0
    clock: Clock = field(default_factory=Clock)
    max_memory: int = DEFAULT_BUDGET
    options: Mapping[str, Any] = field(default_factory=dict)
    taken: tuple[tuple[str, Bools], ...] = ()
    data: Dataset | None = None
    model: Any = None

    @property
    def length(self) -> int:
        """How many rows there are, each of them once."""
        return len(self.features[0]) if self.counts is None else int(self.counts.size)

    @property
    def backend(self) -> Backend | None:
        """The kind of frame that was searched; None for arrays."""
        return None if self.data is None else self.data.backend

    @property
    def n(self) -> int:
        """Rows, with those that a row stands for."""
        return self.mass.n

    @cached_property
    def mass(self) -> Mass:
        """How much each row counts."""
        return Mass(self.length, self.weights, self.counts)

    def on(self, names: Iterable[str]) -> Problem:
        """The problem with all rows by these features: itself, or their cells where an engine counts the rows."""
        return next(problem for _, problem in self.on_each([tuple(names)]))

    def on_each(self, sets: Sequence[tuple[str, ...]], *, least: int = 1) -> Iterator[tuple[int, Problem]]:
        """The problem by each of these sets of features with the index of the set, in any order.

        Combinations of fewer than `least` rows may be left out.
        """
        if self.counted is None:
            return ((index, self) for index in range(len(sets)))
        return self.counted.problems(self, sets, least=least)

    def parts(self, shares: Sequence[float], chosen: Sequence[Collection[int]]) -> list[Problem]:
        """Of a random split at these shares of the rows, the problems on some parts."""
        if self.counted is not None:
            return self.counted.split(self, shares, chosen)
        numbers = np.arange(self.length) if self.numbers is None else self.numbers
        part = part_of(numbers, shares, self.seed)
        everyone = len(shares) + 1
        return [self if len(own) == everyone else self.take(np.flatnonzero(np.isin(part, list(own)))) for own in chosen]

    @property
    def min_rows(self) -> float:
        """Rows (scaled weights) a subgroup must hold."""
        if callable(self.min_support):
            return float(self.min_support(self.n))
        return max(1.0, self.min_support * self.n) if isinstance(self.min_support, float) else float(self.min_support)

    @cached_property
    def by_name(self) -> Mapping[str, Codes]:
        """The features by name."""
        return {column.name: column for column in self.features}

    @cached_property
    def shared(self) -> dict[str, Any]:
        """What several steps of a search read, by name: quantities are computed once."""
        return {}

    @cached_property
    def outcome(self) -> Floats:
        """The outcome each row gets: 1 for the favourable decision, the predicted number, or the error.

        Where there are no predictions it is the true outcome. For several classes it is 1 where the decision is wrong;
        without labels to tell, 1 where it is the most frequent class.
        """
        if self.task in ("binary", "regression"):
            values = self.label if self.label is not None else self.truth
            if values is not None:
                return np.asarray(values, dtype=float)
        if self.errors is not None:
            return self.errors
        if self.label is not None and self.truth is not None:
            return np.asarray(self.label != self.truth, dtype=float)
        values = self.label if self.label is not None else self.truth
        if values is None:
            raise DataError(
                "There is nothing to search by: give predictions (a model or y_pred), labels (y_true) or errors."
            )
        classes = Codes.encode(values)
        frequent = sum_by(
            classes.codes, np.ones(self.length) if self.counts is None else self.counts, classes.size
        ).argmax()
        return np.asarray(classes.codes == frequent, dtype=float)

    def loss(self) -> Floats:
        """One non-negative error a row: as given, 0/1 for classes, the absolute error for a regression."""
        if self.errors is not None:
            return self.errors
        if self.truth is None or self.label is None:
            raise DataError("Errors need labels and predictions: give y_true and y_pred (or a model), or errors.")
        if self.task == "regression":
            return np.asarray(np.abs(self.label - self.truth), dtype=float)
        return np.asarray(self.label != self.truth, dtype=float)

    def take(self, rows: NDArray[Any]) -> Problem:
        """The same problem on some of the rows; weights keep their mean of 1."""

        def part(values: NDArray[Any] | None) -> Any:
            return None if values is None else values[rows]

        mass = self.mass.take(rows)
        return replace(
            self,
            features=tuple(column if self.counted is not None else column.take(rows) for column in self.features),
            truth=part(self.truth),
            label=part(self.label),
            probability=part(self.probability),
            errors=part(self.errors),
            weights=mass.mean_one,
            counts=mass.counts,
            numbers=part(self.numbers),
            expected=part(self.expected),
            taken=tuple((metric, inside[rows]) for metric, inside in self.taken),
        )
