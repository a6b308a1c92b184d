"""A search for subgroups as a question: what it asks, what it finds, and the same answer from a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from isonomia.counting import Binning, Bins
from isonomia.data import Dataset
from isonomia.discovery.method import Method
from isonomia.discovery.subgroups import _reading, kept, present
from isonomia.discovery.subgroups.held_out import with_holdout
from isonomia.discovery.subgroups.method import Search
from isonomia.discovery.subgroups.one_by_one import check_one_by_one, one_by_one
from isonomia.discovery.subgroups.problem import Problem
from isonomia.discovery.subgroups.pulled import PulledRows, codes_fit
from isonomia.discovery.subgroups.rates import is_counted
from isonomia.discovery.subgroups.result import SubgroupResult
from isonomia.errors import NotApplicable
from isonomia.events import Clock, Progress
from isonomia.languages import Message, msg
from isonomia.models import Model
from isonomia.subject import Subject, read_dataset

#: With `max_overlap` a method is run for this many times `k`, so that enough are left.
_SPARE = 8


@dataclass(frozen=True, eq=False, kw_only=True)
class Rows:
    """What is searched, as it was given; the model is asked where `subject` is first used.

    Attributes
    ----------
    data, model, features, errors
        As in `find_subgroups`.
    reading : mapping
        Roles of a bare frame, and columns given as arrays.
    progress : Progress
    """

    data: Any
    model: Any
    features: Sequence[str] | None
    reading: Any
    errors: Any
    progress: Progress
    _asked_before: tuple[Any, int, int] = field(init=False)

    def __post_init__(self) -> None:
        given = self.data.model if isinstance(self.data, Subject) else self.model
        known = (given, given.n_rows, given.n_calls) if isinstance(given, Model) else (None, 0, 0)
        object.__setattr__(self, "_asked_before", known)

    @property
    def sent(self) -> tuple[int, int]:
        """Rows sent to the model since, and in how many calls."""
        model, (before, n_rows, n_calls) = self.subject.model, self._asked_before
        if model is None:
            return 0, 0
        return (model.n_rows - n_rows, model.n_calls - n_calls) if model is before else (model.n_rows, model.n_calls)

    @cached_property
    def subject(self) -> Subject:
        """The rows with truth, predictions and weights."""
        return _reading.read_subject(self.data, self.model, self.features, self.reading, self.progress)

    def identity(self) -> dict[str, Any]:
        """What makes two tables and models the same."""
        known = isinstance(self.data, Dataset | Subject)
        return {
            "data": self.data if known else read_dataset(self.data, self.reading),
            "model": self.model,
            "columns": {**self.reading, "errors": self.errors},
            "features": self.features,
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class SubgroupQuestion:
    """Which subgroups does a model treat differently?

    Attributes
    ----------
    rows : Rows
    method : Method
    options : mapping
        The method's own, all of them.
    limits : tuple
        `k`, `max_l` and `min_support`.
    bins, binning, metric, holdout, max_overlap, one_by_one, max_memory, seed
        As in `find_subgroups`.
    clock : Clock
        The time limit, and where events go.
    notes : tuple of Message
        Why this method was chosen.
    """

    rows: Rows
    method: Method
    options: Mapping[str, Any]
    limits: tuple[int, int | None, float | int | None]
    bins: Bins
    binning: Binning
    metric: str | Sequence[str] | None
    holdout: float | None
    max_overlap: float | None
    one_by_one: bool
    clock: Clock
    max_memory: int
    seed: int
    notes: tuple[Message, ...]

    def identity(self) -> dict[str, Any]:
        """What makes two questions the same."""
        return {
            **self.rows.identity(),
            "seed": self.seed,
            "finds": "subgroups",
            "method": self.method.id,
            "options": self.options,
            "limits": (*self.limits, self.clock.max_seconds, self.max_memory),
            "bins": (self.bins, self.binning),
            "metric": self.metric,
            "holdout": self.holdout,
            "max_overlap": self.max_overlap,
            "one_by_one": self.one_by_one,
        }

    def again(self, answer: Mapping[str, Any]) -> SubgroupResult:
        """The result that a store kept."""
        return kept.result_of(answer, lambda: self.problem)

    def record(self, result: SubgroupResult) -> Mapping[str, Any]:
        """What a store keeps to give the result again."""
        return kept.record_of(result)

    @cached_property
    def problem(self) -> Problem:
        """What the method is given, in rows."""
        return self._read(self.rows.subject.in_rows()) if self._pulled is None else self._pulled

    @cached_property
    def _pulled(self) -> Problem | None:
        """All rows of an engine as codes; None where these do not fit into memory, or are not enough."""
        subject = self.rows.subject
        reads_rows = self.rows.errors is not None or (self.method.asks and subject.model is not None)
        if subject.counts is None or reads_rows or not codes_fit(subject.data):
            return None
        try:
            return self._read(subject, PulledRows(subject.data))
        except NotApplicable:  # a column whose values hardly repeat; counted, it is left out with a note
            return None

    def _read(self, subject: Subject, pulled: PulledRows | None = None) -> Problem:
        bins = self.bins
        if self.holdout is not None and self.method.nested and isinstance(bins, int):
            bins = 2 * bins  # ranges of several narrow bins are looked for
        return _reading.read_problem(
            subject,
            self.method,
            errors=_reading.read_errors(self.rows.errors, subject),
            limits=self.limits,
            bins=bins,
            binning=self.binning,
            pulled=pulled,
            metric=self.metric,
            seed=self.seed,
            clock=self.clock,
            max_memory=self.max_memory,
            options=self.options,
        )

    def search(self) -> SubgroupResult:
        """Search, and state what was found.

        Of rows that an engine has: in memory, as codes, where these fit; else where the rows are counted, where that is
        enough; else in rows, which may be a sample.
        """
        if self.one_by_one:
            check_one_by_one(self.method)
        subject = self.rows.subject
        if self._pulled is not None:
            return self._searched(subject, self._pulled)
        if subject.counts is not None and self._counts:
            try:
                return self._searched(subject, self._read(subject))
            except NotApplicable as error:  # more combinations than memory allows: rows, which may be a sample
                note = msg("Rows were read for this search instead of counted: {reason}.", reason=error.message)
            found = self._searched(subject.in_rows(), self.problem)
            return replace(found, notes=(*found.notes, note))
        return self._searched(subject.in_rows(), self.problem)

    @property
    def _counts(self) -> bool:
        """Whether counts and sums over conjunctions are all that is asked for."""
        metrics = [self.metric] if isinstance(self.metric, str) or self.metric is None else self.metric
        return (
            self.method.counts
            and not self.one_by_one
            and self.rows.errors is None
            and self.binning != "tree"
            and all(metric is None or is_counted(metric) for metric in metrics)
        )

    def _searched(self, subject: Subject, problem: Problem) -> SubgroupResult:
        overlap = self.max_overlap
        widened = problem if overlap is None or self.one_by_one else replace(problem, k=problem.k * _SPARE)
        with self.clock.progress.stage(self.method.id, msg("Searching for subgroups"), total=1) as stage:
            if self.holdout is None:
                found = one_by_one(self.method, problem) if self.one_by_one else self.method.run(widened)
                search = present.without_repeats(found, problem, overlap, problem.k)
                search = search if self.method.describe is None else self.method.describe(problem, search)
            else:
                search = with_holdout(
                    self.method, widened, self.holdout, overlap, problem.k, one_by_one=self.one_by_one
                )
            stage.at(1)
        search = replace(search, notes=(*self.notes, *search.notes))
        return subject.noted(_assemble(self.method, problem, search, self.clock, self.rows.sent))


def _assemble(
    method: Method,
    problem: Problem,
    search: Search,
    clock: Clock,
    sent: tuple[int, int],
) -> SubgroupResult:
    table, found = present.subgroup_table(problem, search), search.subgroups
    notes: list[Message] = [*search.notes, *(() if problem.counted is None else problem.counted.notes)]
    if not search.complete and clock.over:
        notes.append(msg("The time limit ended the search early: subgroups not reached may be worse than those shown."))
    elif not search.complete:
        notes.append(
            msg(
                "The memory limit ({limit:int} MB) ended the search early: subgroups not reached may be worse than "
                "those shown.",
                limit=problem.max_memory >> 20,
            )
        )
    if not search.subgroups:
        notes.append(msg("This method found no subgroup that differs."))
    return SubgroupResult(
        code=f"subgroups.{method.id}",
        title=msg("Subgroups that differ most ({method})", method=method.id),
        tables={"subgroups": table, **search.tables},
        values=search.values,
        findings=present.findings_of(method.id, search, table, problem.by_name),
        pictures=(*present.pictures_of(table), *search.pictures),
        notes=tuple(notes),
        method=method.id,
        metrics=present.metrics_of(problem, search, clock, sent),
        complete=search.complete,
        subgroups=search.subgroups,
        features=problem.by_name,
        measures=tuple({str(one): one for one in (each.measure or search.measure for each in found)}.values()),
        details=search.details,
        outcome=problem.outcome if problem.counted is None else None,
    )
