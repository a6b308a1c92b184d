"""The result of a search for discriminating pairs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.result import SearchResult
from isonomia.evidence import free_name
from isonomia.probing import Domain
from isonomia.typing import Floats


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs as arrays: two people each, and their predictions.

    `first` and `second` are rows of the domain, the second kept as its values in the `columns` where the two may
    differ; `outcome_*` class codes (or numbers of a regression), `score_*` NaN where the model gives none, `gap` how
    differently the two are treated. `attribute` is the column across whose groups real people were matched, where that
    was done, for one attribute after another.
    """

    first: Floats
    columns: NDArray[np.intp]
    other: Floats
    outcome_first: NDArray[Any]
    outcome_second: NDArray[Any]
    score_first: Floats
    score_second: Floats
    gap: Floats
    attribute: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def second(self) -> Floats:
        """The other person of each pair."""
        rows = self.first.copy()
        rows[:, self.columns] = self.other
        return rows

    def column(self, column: int) -> tuple[Floats, Floats]:
        """One feature of both."""
        first = self.first[:, column]
        index = np.flatnonzero(self.columns == column)
        return first, self.other[:, index[0]] if index.size else first

    def take(self, rows: NDArray[Any]) -> Pairs:
        """Some of the pairs."""
        parts = {name: getattr(self, name) for name in self.__dataclass_fields__}
        whole = ("columns",) if self.attribute is not None else ("columns", "attribute")
        return Pairs(**{name: part if name in whole else part[rows] for name, part in parts.items()})


@dataclass(frozen=True, repr=False)
class PairResult(SearchResult):
    """Pairs of people who differ only in protected attributes and are treated differently.

    ``table`` has two rows per pair: the features, ``indv_key`` (values joined by "|"), ``outcome``, ``score``,
    ``couple_key`` (both keys, joined by "-"), ``diff_outcome``, ``case_id`` (the pair), and the run's ``TSN``, ``DSN``,
    ``SUR`` and ``DSS``; of "fliptest" also ``protected_attribute``, and the counts are those of that attribute.

    Attributes
    ----------
    metrics : mapping
        ``TSN`` distinct people tested, ``DSN`` those of them treated differently, ``SUR`` = DSN / TSN, ``DSS`` seconds
        a finding, ``total_time``, ``n_model_rows``, ``n_model_calls``, ``model_seconds``, ``dsn_by_attr_value``,
        ``stopped`` (why it ended), and the method's own.
    pairs : Pairs
        One pair per finding, unique, as arrays.
    domain : Domain
        What the rows of `pairs` mean.
    classes : tuple
        What outcome codes mean; empty for a regression.
    trace : tuple of (int, int)
        Rows sent to the model, and people found by then, after every batch that found someone.
    """

    pairs: Pairs = field(default=None)  # type: ignore[assignment]
    domain: Domain = field(default=None)  # type: ignore[assignment]
    classes: tuple[Any, ...] = ()
    trace: tuple[tuple[int, int], ...] = ()

    @property
    def table(self) -> Any:
        """Two rows per pair, as a frame of the kind the user gave."""
        return self._table

    @cached_property
    def _table(self) -> Any:
        pairs, n = self.pairs, len(self.pairs)
        rows = np.stack([pairs.first, pairs.second], axis=1).reshape(2 * n, len(self.domain))
        people = nw.from_native(self.domain.decode(rows), eager_only=True)
        keys = row_keys(self.domain, rows)
        couples = np.repeat(keys[0::2] + "-" + keys[1::2], 2)
        outcome = np.stack([pairs.outcome_first, pairs.outcome_second], axis=1).ravel()
        columns: dict[str, Any] = {
            "indv_key": keys,
            "outcome": self.outcomes(outcome),
            "score": np.stack([pairs.score_first, pairs.score_second], axis=1).ravel(),
            "couple_key": couples,
            "diff_outcome": np.repeat(self.differences(), 2),
            "case_id": np.repeat(np.arange(n), 2),
        }
        names = None if pairs.attribute is None else [self.domain.names[index] for index in pairs.attribute.tolist()]
        for name in ("TSN", "DSN", "SUR", "DSS"):
            if names is None:
                value = self.metrics[name]
                columns[name] = np.full(2 * n, np.nan if value is None else value)
            else:  # each attribute has its own; of these every one has found a pair
                own = [self.metrics["attribute_metrics"][one][name] for one in names]
                columns[name] = np.repeat(np.array(own, dtype=None if own else float), 2)
        if names is not None:
            columns["protected_attribute"] = np.repeat(np.array(names, dtype=object), 2)
        backend = self.domain.backend
        people = people.rename({name: free_name(name, columns) for name in people.columns})
        extra = [nw.new_series(name, _frameable(values), backend=backend) for name, values in columns.items()]
        return people.with_columns(*extra).to_native()

    def differences(self) -> NDArray[Any]:
        """How differently the two of each pair are treated: 1 for different classes, else the gap in numbers."""
        if not self.classes:
            return self.pairs.gap
        differ = self.pairs.outcome_first != self.pairs.outcome_second
        return np.where(differ, 1.0, self.pairs.gap)

    def outcomes(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Outcome codes as classes."""
        if not self.classes:
            return codes
        table = np.empty(len(self.classes), dtype=object)
        table[:] = self.classes
        return np.asarray(table[codes.astype(np.intp)])

    @property
    def witnesses(self) -> Any:
        """The widest pairs, one per row, in original units; changed cells read "before → after"."""
        return self.tables["witnesses"].frame()

    def __repr__(self) -> str:
        found, tested = self.metrics.get("DSN", 0), self.metrics.get("TSN", 0)
        return f"PairResult({self.method}: {found:,} of {tested:,} people tested are treated differently)"


def row_keys(domain: Domain, rows: Floats) -> NDArray[Any]:
    """The values of each row as text, joined by "|".

    >>> row_keys(Domain({"age": (18, 30), "sex": ["F", "M"]}), np.array([[20.0, 1.0]])).tolist()
    ['20|M']
    """
    columns = []
    for index, feature in enumerate(domain.features):
        distinct, back = np.unique(rows[:, index], return_inverse=True)
        texts = np.array([feature.text(value) for value in distinct.tolist()], dtype=object)
        columns.append(texts[back].tolist())
    return np.array(list(map("|".join, zip(*columns, strict=True))), dtype=object)


def _frameable(values: NDArray[Any]) -> Any:
    if values.dtype != object:
        return values
    kinds = {type(value) for value in values}
    return list(values) if len(kinds) <= 1 else [str(value) for value in values]
