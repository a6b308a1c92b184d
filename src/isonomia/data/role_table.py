"""A table whose columns have roles: what there is to read. `Dataset` says how one is made, and what is made of it.

The table is in memory. It contains the rows; or, where an engine counts them, one row per combination of the values of
the columns that have a role, and `counts` says how many rows each of these stands for.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from hashlib import sha256
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.data._fingerprint import fingerprint
from isonomia.data._notes import bands_note, notes_on, one_value_notes
from isonomia.data.columns import distinct, is_searchable, numbers
from isonomia.data.engines.engine import Engine
from isonomia.data.engines.role_counts import score_ends
from isonomia.data.frames import Backend
from isonomia.data.identifiers import counted_identifiers, is_identifier
from isonomia.data.labels import ordered
from isonomia.data.other_answers import OtherAnswers
from isonomia.data.packed import Packed
from isonomia.data.roles import RoleOptions, Roles, check_column
from isonomia.data.schema import Kind, Task
from isonomia.data.weights import mean_weight, relative_weights
from isonomia.errors import DataError
from isonomia.languages import Message, Words


class RoleTable:
    """What a `Dataset` contains.

    Attributes
    ----------
    engine : Engine or None
        Counts the rows; None where they are in memory.
    counts : array of int or None
        How many rows of the source each row of the table stands for; None where each is a row of its own.
    score_bins : int
        How many bins the scores of an engine were counted in; 0 where they are as they are.
    roles : Roles
        What each column is for.
    kinds, given_kinds : mapping
        The kind of every column; those that the user gave.
    task
        The kind of task.
    favourable : tuple
        The favourable values of the target: one of two classes, those that were named of several, none of numbers.
    ignored : tuple of str
        Columns that are not features because the user said so.
    left_out : tuple of str
        Columns that no role names and that cannot be features, since their cells contain lists or the like.
    proposed : frozenset of str
        Protected attributes whose bands were proposed, not given.
    reading_notes : tuple of Message
        Sentences about how the table was read from a file; `isonomia.read` sets them.
    other_answers : "error", "unfavourable" or "apart"
        How predictions are counted that are none of the target's values.
    name, labels, words
        What the data, their columns and values are called in a report.
    """

    engine: Engine | None
    counts: NDArray[np.int64] | None
    score_bins: int
    roles: Roles
    kinds: dict[str, Kind]
    given_kinds: Mapping[str, Kind]
    task: Task | None
    favourable: tuple[Any, ...]
    ignored: tuple[str, ...]
    left_out: tuple[str, ...]
    proposed: frozenset[str]
    reading_notes: tuple[Message, ...]
    name: str | None
    labels: Mapping[str, Any]
    other_answers: OtherAnswers
    words: Words
    backend: Backend
    _packed: Packed
    _features_given: bool
    _score_classes: tuple[Any, ...]
    _classes_before: tuple[Any, ...] = ()

    @property
    def _table(self) -> nw.DataFrame[Any]:
        """The table with its texts as texts, kept so from now on."""
        self._packed = self._packed.unpack()
        return self._packed.table

    def __len__(self) -> int:
        return self.height if self.engine is None else self.engine.profile().rows

    @property
    def height(self) -> int:
        """How many rows are in memory: all, or one per combination of values where an engine counted them."""
        return len(self._packed.table)

    def __repr__(self) -> str:
        parts = [f"{len(self)} rows"]
        if self.target is not None:
            positive = f" (positive: {', '.join(map(repr, self.favourable))})" if self.favourable else ""
            parts.append(f"{self.task} target '{self.target}'{positive}")
        if self.protected:
            parts.append("protected: " + ", ".join(self.protected))
        return f"Dataset({', '.join(parts)})"

    @property
    def frame(self) -> Any:
        """The table in the kind the user gave; the engine where rows are not in memory."""
        return self._table.to_native() if self.engine is None else self.engine

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns."""
        return tuple(self.kinds)

    @property
    def target(self) -> str | None:
        """The column of true outcomes."""
        return self.roles.target

    @property
    def positive(self) -> Any:
        """The favourable value of two; None where there are several classes, or numbers."""
        return self.favourable[0] if self.favourable and self.task != "multiclass" else None

    @cached_property
    def classes(self) -> tuple[Any, ...]:
        """The classes of the target in these rows, and in those that they were taken from; none of numbers."""
        if self.target is None or self.task in (None, "regression"):
            return ()
        own = distinct(self.column(self.target))
        return tuple(own) if set(self._classes_before) <= set(own) else ordered([*own, *self._classes_before])

    @property
    def protected(self) -> tuple[str, ...]:
        """The protected attributes."""
        return self.roles.protected

    @property
    def privileged(self) -> Mapping[str, tuple[Any, ...]]:
        """The privileged values of protected attributes, where the user named them."""
        return self.roles.privileged

    @property
    def features(self) -> tuple[str, ...]:
        """What a model sees."""
        return self.roles.features

    @cached_property
    def searchable(self) -> tuple[str, ...]:
        """The features that searches and comparisons of people use.

        Columns with infinite numbers, without any value, and identifiers are left out.
        """
        if self.engine is None:
            return tuple(name for name in self.descriptive if is_searchable(self.packed_column(name)))
        profile = self.engine.profile()
        return tuple(
            name for name in self.descriptive if not profile.infinite[name] and profile.missing[name] < profile.rows
        )

    @property
    def descriptive(self) -> tuple[str, ...]:
        """The features that describe people: all but identifiers."""
        return tuple(name for name in self.features if name not in self.identifiers)

    @cached_property
    def identifiers(self) -> tuple[str, ...]:
        """The features that name a row rather than describe it; none where the user listed the features."""
        if self._features_given:
            return ()
        named = {*self.protected, *self.roles.bands}
        free = [name for name in self.features if name not in named]
        if self.engine is not None:
            return counted_identifiers(self.engine, free)
        return tuple(name for name in free if is_identifier(self.packed_column(name), name))

    def column(self, name: str) -> nw.Series[Any]:
        """One column, wrapped by narwhals."""
        return self._packed.text_column(self.packed_column(name))

    def packed_column(self, name: str) -> nw.Series[Any]:
        """One column as it is kept, where texts may be categories: what counts values takes no more memory for it."""
        if name not in self._wrapped:
            check_column(self.columns, name, "column")
            if self.engine is not None and name not in self._packed.table.columns:
                raise DataError(
                    f"The column '{name}' is not in memory: rows are counted by {self.source}. Read it with rows()."
                )
            self._wrapped[name] = self._packed.table.get_column(name)
        return self._wrapped[name]

    @cached_property
    def _wrapped(self) -> dict[str, nw.Series[Any]]:
        """Columns by name, each wrapped once: a search looks at every column several times."""
        return {}

    @property
    def source(self) -> str:
        """What counts the rows: "memory", or the name of an engine."""
        return "memory" if self.engine is None else self.engine.name

    def group_column(self, name: str) -> Any:
        """A protected attribute as groups: its bands where it has any, its native column otherwise."""
        column = self.column(name)
        bands = self.roles.bands.get(name)
        return column.to_native() if bands is None else bands.cut(numbers(column))

    def feature_frame(self) -> Any:
        """The features alone, in the kind of frame the user gave: what a model is handed."""
        return self._table.select(self.roles.features).to_native()

    @cached_property
    def weights(self) -> np.ndarray[Any, Any] | None:
        """One weight per row in units of `weight_unit`, or None."""
        given = self._given_weights
        return None if given is None else relative_weights(given, unit=self.weight_unit)

    @cached_property
    def weight_unit(self) -> float:
        """The mean of the weights above 0 of all rows; every table that is counted from them has the same."""
        return 0.0 if self._given_weights is None else mean_weight(self._given_weights, self.counts)

    @property
    def _given_weights(self) -> np.ndarray[Any, Any] | None:
        return None if self.roles.weight is None else numbers(self.column(self.roles.weight))

    @property
    def score_edges(self) -> np.ndarray[Any, Any] | None:
        """The edges of the bins that an engine counted scores in; None where scores are as they are."""
        if not self.score_bins or self.engine is None:
            return None
        low, high = score_ends(self.engine.profile(), self.roles.score[0])
        return low + (high - low) * (np.arange(self.score_bins + 1) / self.score_bins)

    @property
    def score_classes(self) -> tuple[Any, ...]:
        """The class of each score column, where `score` was given as a mapping."""
        return self._score_classes

    @cached_property
    def fingerprint(self) -> str:
        """A sha256 over column names and values: the same content gives the same text.

        It does not depend on the kind of frame the values are held in, nor on the order of the columns. Where an engine
        counts the rows, it is one over the counts of the columns that have a role, and not on the order of the rows.
        """
        if self.engine is None or self.counts is None:
            return fingerprint(self._table)
        types = sorted((name, str(dtype)) for name, dtype in self.engine.schema.items())
        return sha256(f"{fingerprint(self._table)} {self.counts.tolist()} {types}".encode()).hexdigest()

    @property
    def first_notes(self) -> tuple[Message, ...]:
        """What a user should know before the work begins: how the table was read, one class, one group, bands."""
        return (*self.reading_notes, *one_value_notes(self), *self.band_notes)

    @property
    def band_notes(self) -> tuple[Message, ...]:
        """Which attributes were put in bands that nobody gave."""
        return tuple(bands_note(name, self.roles.bands[name]) for name in self.protected if name in self.proposed)

    @cached_property
    def notes(self) -> tuple[Message, ...]:
        """What a reader of the results should know: missing values of roles, one class, one group, infinities."""
        return tuple(notes_on(self))

    @property
    def _positive_option(self) -> Any:
        """The favourable values as `positive` takes them."""
        if self.task == "multiclass":
            return list(self.favourable) or None
        return self.positive if self.task == "binary" else None

    def options(self) -> RoleOptions:
        """The keyword arguments that make this dataset from its frame."""
        score: Any = dict(zip(self._score_classes, self.roles.score, strict=True)) if self._score_classes else None
        if score is None and self.roles.score:
            score = self.roles.score if len(self.roles.score) > 1 else self.roles.score[0]
        return {
            "target": self.roles.target,
            "positive": self._positive_option,
            "protected": {column: self.roles.bands.get(column) for column in self.roles.protected},
            "privileged": dict(self.roles.privileged),
            "prediction": self.roles.prediction,
            "score": score,
            "weight": self.roles.weight,
            "time": self.roles.time,
            "features": self.roles.features if self._features_given else None,
            "ignore": self.ignored or None,
            "kinds": dict(self.kinds if self.engine is None else self.given_kinds),
            "task": self.task,
            "name": self.name,
            "labels": self.labels or None,
            "other_answers": self.other_answers,
        }
