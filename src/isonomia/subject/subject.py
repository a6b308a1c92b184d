"""What is examined: truth, predictions, groups and weights, read once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, encode_features
from isonomia.data import Backend, Dataset, Task
from isonomia.data.display_names import spelled
from isonomia.data.engines.engine import Key
from isonomia.errors import DataError, NotApplicable, SpecError, close_to
from isonomia.events import Progress, ProgressLike
from isonomia.evidence import Result
from isonomia.languages import Message, Words, msg
from isonomia.models import Model, Surface
from isonomia.subject.attributes import read_attributes
from isonomia.subject.best_off import BestOff, favour_of
from isonomia.subject.counts import CountColumns, read_counts
from isonomia.subject.engine_rows import read_counted
from isonomia.subject.fingerprint import fingerprint_of
from isonomia.subject.options import AllOptions, CountOptions, Settings, SubjectOptions, split_options
from isonomia.subject.outcome import Outcome
from isonomia.subject.reading import is_column
from isonomia.subject.single_rows import SAMPLED, in_rows
from isonomia.subject.sources import read_parts
from isonomia.typing import Bools, Floats

T = TypeVar("T")
R = TypeVar("R", bound=Result)


@dataclass(frozen=True, eq=False)
class Subject:
    """Data and what a model predicted about them. Make one with `Subject.of`.

    Attributes
    ----------
    dataset : Dataset or None
        All rows given; None where only arrays were given.
    model : Model or None
        Who predicts; None where predictions were given.
    predictions : Surface
        Predictions about all rows, from one call of the model; empty where there are none.
    outcome : Outcome
        True outcomes and predictions of the rows with a known target.
    attributes : tuple of Codes
        The protected attributes of these rows.
    weights : array or None
        Their weights, in units of the mean weight of the rows given.
    rows : array of bool
        Which of the rows given have a known target and a weight above 0. The others are left out of everything but
        `predictions`.
    settings : Settings
        What all comparisons share.
    favourable : tuple
        The favourable classes: the second of two, of several those that were named; empty where none were.
    given_counts : array of int or None
        How many identical rows each of the rows given stands for; None where each is a row of its own.
    best_off : BestOff or None
        Who is best off among all rows, also where the subject is made of some of them.
    """

    dataset: Dataset | None
    model: Model | None
    predictions: Surface
    outcome: Outcome
    attributes: tuple[Codes, ...]
    weights: Floats | None
    rows: Bools
    settings: Settings
    backend: Backend | None
    notes: tuple[Message, ...] = ()
    favourable: tuple[Any, ...] = ()
    given_counts: NDArray[np.int64] | None = None
    best_off: BestOff | None = None
    progress: Progress = field(default_factory=Progress)
    cache: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        data: Any,
        model: Any = None,
        *,
        progress: ProgressLike = None,
        counted: bool = False,
        **given: Unpack[AllOptions],
    ) -> Subject:
        """Read what is examined, and ask the model once.

        Parameters
        ----------
        data : Dataset, frame, column or Subject
            A `Dataset`; a plain frame (pandas, Polars, PyArrow, a mapping of columns, a matrix) with its roles as
            keywords (``target="hired", protected=["sex"]``); or a column of true outcomes, None where there are none.
        model : model, Surface, column or None
            Anything that predicts, its predictions as a `Surface`, or a column of predictions. None where the data
            carry predictions.
        progress : callable or Progress, optional
            Receives an `Event` as the model predicts; a `Progress` can end the work. What is done with the subject
            reports to it too.
        counted : bool
            Whether the caller reads `counts`. Otherwise a subject made of counts is repeated row by row.
        **given
            How to read the data (see `Reading`), and the settings of comparisons (see `Settings`).

        Notes
        -----
        Rows without a target and rows of weight 0 are left out, and counted in `notes`. Labels of different sources are
        matched by `isonomia.data.index_of`, the positive class is found by `two_classes`, weights are checked by
        `check_weights`.

        Examples
        --------
        >>> subject = Subject.of(["no", "yes", None], ["yes", "yes", "no"], positive="yes")
        >>> subject.truth.tolist(), subject.outcome.surface.label.tolist(), subject.n_dropped
        ([0, 1], [1, 1], 1)
        >>> frame = {"sex": ["F", "M", "F"], "y": [0, 1, 1], "p": [0, 1, 0]}
        >>> Subject.of(frame, target="y", prediction="p", protected="sex")
        Subject(3 rows, binary, by sex)
        """
        reading, changes = split_options(given)
        if isinstance(data, Subject):
            again = data._again(model, reading, changes)
            again = again if counted else again.in_rows()
            return again if progress is None else replace(again, progress=Progress.of(progress))
        parts = read_parts(data, model, reading, Settings(**changes), Progress.of(progress))
        subject = cls(**parts.fields())
        return subject if counted else subject.in_rows()

    @classmethod
    def of_predictions(
        cls,
        data: Any,
        model: Any = None,
        *,
        progress: ProgressLike = None,
        counted: bool = False,
        **given: Unpack[SubjectOptions],
    ) -> Subject:
        """As `of`, for questions about predictions alone: a column given by itself holds predictions."""
        if model is None and data is not None and is_column(data):
            data, model = None, data
        return cls.of(data, model, progress=progress, counted=counted, **given)

    @classmethod
    def from_counts(
        cls,
        table: Any,
        *,
        prediction: str | None = None,
        target: str | None = None,
        protected: str | Sequence[str] | None = None,
        count: str | None = None,
        weight: str | None = None,
        **given: Unpack[CountOptions],
    ) -> Subject:
        """A subject made of counts alone: a table with a row per combination of group, target and prediction.

        Parameters
        ----------
        table : frame or mapping of columns
            Groups, true outcomes and decisions, with the number of rows that each combination stands for.
        prediction, target : str, optional
            The columns of decisions and of true outcomes; by default those called ``prediction`` and ``truth`` (or
            ``predicted``, ``decision``, ``y_pred``; ``target``, ``outcome``, ``actual``, ``y_true``). Without a column
            of true outcomes these are not known.
        protected : sequence of str, optional
            The columns of protected attributes; by default all that are left.
        count : str, optional
            The column of counts; by default the one called ``n`` or ``count``.
        weight : str, optional
            The column of the sums of weights; the rows of a combination are taken to have equal weights.
        **given
            `task`, `positive` and `privileged`, and the settings of comparisons (see `Settings`).

        Notes
        -----
        Whatever needs outcomes and groups gives the same figures as with the rows; what needs features or a model
        does not apply. Metrics of decisions are computed from the counts, however large they are; what needs single
        rows repeats them, up to a limit.

        Examples
        --------
        >>> table = {"sex": ["F", "F", "M"], "truth": [1, 0, 1], "prediction": [0, 0, 1], "count": [30, 50, 40]}
        >>> Subject.from_counts(table)
        Subject(120 rows, binary, by sex)
        """
        reading, changes = split_options(given)
        columns = CountColumns(prediction=prediction, target=target, protected=protected, count=count, weight=weight)
        subject = cls(**read_counts(table, columns, reading, Settings(**changes)).fields())
        return subject.in_rows() if subject.task == "regression" else subject

    def _again(self, model: Any, reading: Mapping[str, Any], changes: Mapping[str, Any]) -> Subject:
        """The same subject for another function, which need not repeat its notes."""
        if model is not None or reading:
            given = ", ".join(["model"] * (model is not None) + list(reading))
            raise SpecError(f"A Subject already has its data and model; leave out {given}.")
        return replace(self, settings=self.settings | changes, notes=())

    def __repr__(self) -> str:
        parts = [f"{len(self)} rows", self.task]
        if self.attributes:
            parts.append("by " + ", ".join(column.name for column in self.attributes))
        return f"Subject({', '.join(parts)})"

    def __len__(self) -> int:
        return int(np.count_nonzero(self.rows) if self.counts is None else self.counts.sum())

    @property
    def counts(self) -> NDArray[np.int64] | None:
        """How many identical rows each row with a known target stands for; None where each is a row of its own."""
        return None if self.given_counts is None else self.given_counts[self.rows]

    @property
    def n_given(self) -> int:
        """How many rows were given, those without a target included."""
        return int(self.rows.size if self.given_counts is None else self.given_counts.sum())

    def in_rows(self) -> Subject:
        """The same subject with each of its rows on its own, where it was made of counts."""
        return in_rows(self)

    def fitting(self) -> Subject:
        """The same subject in rows where all of them fit into memory, in counts otherwise."""
        data = self.dataset
        return self if data is None or data.engine is None or not data.rows_fit else self.in_rows()

    def beside(
        self,
        sets: Sequence[Sequence[Key]],
        *,
        scores: bool = False,
        also: Sequence[Key] = (),
        means: Sequence[str] = (),
        weighted: bool = True,
    ) -> list[Subject | None]:
        """Subjects whose rows an engine counted by these keys, too (see `Dataset.beside`); in one statement."""
        return self._of_parts(self.data.beside(sets, scores=scores, also=also, means=means, weighted=weighted))

    def frequent(self, sets: Sequence[Sequence[Key]], least: int, *, also: Sequence[Key] = ()) -> list[Subject | None]:
        """As `beside`, of combinations that at least so many rows have (see `Dataset.frequent`)."""
        return self._of_parts(self.data.frequent(sets, least, also=also))

    def _of_parts(self, found: Sequence[Dataset | None]) -> list[Subject | None]:
        return [
            None
            if data is None
            else replace(Subject(**read_counted(data, self.settings).fields()), best_off=self.best_off)
            for data in found
        ]

    def sampled(self) -> tuple[Message, ...]:
        """That rows were sampled, where they were since this was asked last."""
        notes: tuple[Message, ...] = self.cache.pop(SAMPLED, ())
        return notes

    def by_time(self) -> Subject:
        """The same subject with the moments of its rows, where an engine counts them."""
        if self.dataset is None or self.dataset.engine is None or self.given_counts is None:
            return self
        data = self.dataset.by_time()
        if data is self.dataset:
            return self
        found = self.shared("by_time", lambda: Subject.of(data, counted=True))
        return replace(
            found,
            model=self.model,
            settings=self.settings,
            best_off=self.best_off,
            progress=self.progress,
            notes=self.notes,
        )

    @property
    def reference(self) -> Any:
        """Whom groups are compared with: what the settings name, and the best-off group where they name nobody."""
        given, best = self.settings.reference, self.best_off
        names = {column.name for column in self.attributes}
        if best is None or not names <= {*best}:
            return "largest" if isinstance(given, str) and given == "best" else given
        least = self.settings.min_per_group
        if isinstance(given, str) and given == "best":
            return replace(best, least=least, known={})
        if isinstance(given, Mapping) and not isinstance(given, BestOff) and not names <= {*given}:
            several = (list, tuple, set)
            named = {name: list(value) if isinstance(value, several) else [value] for name, value in given.items()}
            return replace(best, least=least, named=named, known={})
        return given

    @property
    def task(self) -> Task:
        """The kind of task."""
        return self.outcome.task

    @property
    def surface(self) -> Surface:
        """Predictions of the rows with a known target; nothing that needs them can go on without."""
        if not self.outcome.surface.kinds:
            raise DataError(
                "There are no predictions: give a model, or name the columns that hold predictions (`prediction`) or "
                "scores (`score`)."
            )
        return self.outcome.surface

    @cached_property
    def words(self) -> Words:
        """What columns, values and outcomes are called in sentences."""
        known = Words() if self.dataset is None else self.dataset.words
        if self.task != "binary" or len(self.outcome.surface.classes) != 2:
            return known
        bad, good = (spelled(label) for label in self.outcome.surface.classes)
        return replace(known, favourable=good, unfavourable=bad)

    @property
    def n_dropped(self) -> int:
        """How many rows have no target, or weigh nothing, and are left out."""
        return self.n_given - len(self)

    @property
    def name(self) -> str:
        """What to call the data in a report."""
        return "" if self.dataset is None else self.dataset.name or ""

    @property
    def fingerprint(self) -> str:
        """A sha256 over the data: of the dataset, else of the columns, classes and thresholds given."""
        if self.dataset is not None:
            return self.dataset.fingerprint
        extra = (self.weights, self.counts)
        return fingerprint_of(self.outcome.truth, self.outcome.surface, extra, self.attributes)

    @property
    def data(self) -> Dataset:
        """All rows given; what needs the table of features does not apply without it."""
        if self.dataset is None:
            raise NotApplicable(msg("there are no features, only outcomes and groups; pass a Dataset or a frame"))
        return self.dataset

    @cached_property
    def known(self) -> Dataset:
        """The rows with a known target."""
        return self.data if self.rows.all() else self.data.take(self.rows)

    @property
    def truth(self) -> NDArray[Any]:
        """The true outcomes; what needs them does not apply without."""
        if self.outcome.truth is None:
            raise NotApplicable(msg("the data have no target, so there are no true outcomes to compare with"))
        return self.outcome.truth

    def needs_outcomes(self) -> Subject:
        """The subject itself, where it has both predictions and true outcomes."""
        _ = self.surface, self.truth  # each raises an error that says what is missing
        return self

    def needs_model(self) -> Model:
        """The model; what asks it about changed rows does not apply to predictions alone."""
        if self.model is None:
            raise NotApplicable(msg("it needs the model, not only its predictions"))
        return self.model

    def needs_attributes(self) -> tuple[Codes, ...]:
        """The protected attributes; what needs them does not apply without."""
        if not self.attributes:
            raise NotApplicable(msg("the data have no protected attribute"))
        return self.attributes

    def needs_decisions(self) -> None:
        """A check of decisions does not apply to a classifier's scores alone."""
        if self.task != "regression" and self.surface.label is None:
            raise NotApplicable(msg("there are scores but no decisions; pass a prediction column or a threshold"))

    def take(self, rows: NDArray[Any]) -> Subject:
        """Some of the rows with a known target."""
        outcome = self.outcome.take(rows)
        return replace(
            self,
            dataset=None if self.dataset is None else self.known.take(rows),
            predictions=outcome.surface,
            outcome=outcome,
            attributes=tuple(column.take(rows).observed() for column in self.attributes),
            weights=None if self.weights is None else self.weights[rows],
            rows=np.ones(len(outcome), dtype=bool),
            given_counts=None if self.counts is None else self.counts[rows],
            cache={},
        )

    def with_attributes(self, columns: Sequence[Codes]) -> Subject:
        """The same rows with other groups."""
        best = BestOff(
            tuple(columns), favour_of(self.outcome.surface, self.favourable), weights=self.weights, counts=self.counts
        )
        return replace(self, attributes=tuple(columns), best_off=best, cache={})

    def columns(self, given: Any, what: str) -> tuple[Codes, ...]:
        """Other columns of the same rows as codes: columns given, or names of columns of the data (numbers in bins).

        Factors that comparisons are made within, for example.
        """
        names = [given] if isinstance(given, str) else given
        listed = isinstance(names, list | tuple) and len(names) != self.rows.size
        if self.dataset is not None and listed and all(isinstance(name, str) for name in names):
            present = self.dataset.columns
            if unknown := [name for name in names if name not in present]:
                near = close_to(unknown[0], present)
                raise SpecError(f"`{what}` must name columns of the data; got {unknown[0]!r}.{near}")
            return tuple(encode_features(self.known, names))
        found = () if given is None else read_attributes(given, what=what, length=self.rows.size)
        return found if self.rows.all() else tuple(column.take(self.rows).observed() for column in found)

    def shared(self, key: Hashable, make: Callable[[], T]) -> T:
        """What several checks use, made once for this subject."""
        if key not in self.cache:
            self.cache[key] = make()
        found: T = self.cache[key]
        return found

    def like(self, other: Any) -> Subject:
        """Other rows (a Dataset, or a frame with the same columns) with the same model, predicted once."""
        if isinstance(other, Subject):
            return other
        data = other if isinstance(other, Dataset) else self.data.replace(other)
        if data is self.dataset:
            return self
        counted = self.given_counts is not None
        return self.shared(
            ("like", data.fingerprint, repr(data.options())),
            lambda: replace(
                Subject.of(data, self.model, progress=self.progress, counted=counted),
                settings=self.settings,
                best_off=self.best_off,
            ),
        )

    def noted(self, result: R) -> R:
        """A result that states which rows were left out, unless its notes already say so."""
        return replace(result, notes=(*result.notes, *self.notes)) if self.notes else result
