"""Rows of a search that an engine counts: a subgroup is its conditions and its cells, nothing is drawn or masked.

Every set of features that a search asks about is one `GROUP BY` of these features and the outcome; what comes back is a
problem of a few rows that stand for many. Levels of a lattice are counted so, and what was found is measured so.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, Lattice, smallest, sum_by
from isonomia.counting.bins import DEFAULT_BINS, FEW_INTEGERS, Binning, Bins, check_bins
from isonomia.counting.cuts import Cut
from isonomia.data import Kind
from isonomia.data.engines.engine import Key
from isonomia.data.engines.role_counts import EXACT_ROWS, GROUP_BYTES, too_many
from isonomia.discovery.subgroups.mass import Mass
from isonomia.discovery.subgroups.problem import Problem
from isonomia.errors import NotApplicable
from isonomia.events import Clock
from isonomia.languages import Message, msg
from isonomia.metrics import ScoreLevels
from isonomia.subject import Subject
from isonomia.subject.counted_columns import TOGETHER, CountedColumns, Cutting, key_of
from isonomia.typing import Floats

#: What a part of a random split is called among the columns that are counted by.
PART = "isonomia part"
#: Cells that are kept to be asked about again, at most.
KEPT = 500_000
#: Sets of features that are looked at together, and the share of the memory that one `GROUP BY` of several may take.
AT_ONCE, SHARE = 512, 8

T = TypeVar("T")

#: The rows that count, of a problem, and what a lattice sums over them.
Terms = Callable[[Problem], tuple[Problem, Mapping[str, Floats]]]


@dataclass(frozen=True, eq=False, kw_only=True)
class CountedRows:
    """Rows that an engine counts.

    Attributes
    ----------
    subject : Subject
        In counts.
    cuts : mapping of Cut
        How each feature is cut.
    features : tuple of Codes
        The features, on their own cells.
    notes : tuple of Message
        What the cuts leave out.
    scored : bool
        Whether errors are compared with those that scores let expect.
    levels : ScoreLevels or None
        What they let expect of these rows.
    split, side
        The key of a random split, and the parts of it that these rows are.
    """

    subject: Subject
    cuts: Mapping[str, Cut]
    features: tuple[Codes, ...]
    notes: tuple[Message, ...] = ()
    scored: bool = False
    levels: ScoreLevels | None = None
    split_key: Key | None = None
    side: tuple[int, ...] = ()
    _kept: dict[Any, Problem] = field(default_factory=dict)
    #: Cells as they were counted, by what they were counted by: all parts of a split read the same ones.
    _answers: dict[tuple[Any, ...], dict[Any, Subject]] = field(default_factory=dict)

    @classmethod
    def of(cls, subject: Subject, *, bins: Bins, binning: Binning, scored: bool) -> CountedRows:
        """Those of a subject in counts, with its features cut as `counting.encode_features` cuts rows."""
        names = subject.data.searchable
        special = check_bins(bins, names)
        default = DEFAULT_BINS if isinstance(bins, Mapping) else bins

        def few(kind: Kind, most: int) -> int:
            return max(most, FEW_INTEGERS) if kind == "integer" else most

        def labels(kind: Kind, column: Codes, rows: NDArray[Any]) -> tuple[Any, ...]:
            return tuple(label for label in column.labels if label is not None)

        assert binning != "tree"  # which looks at rows
        cutting = Cutting(
            binning=binning, bins=lambda name: special.get(name, default), few=few, labels=labels, empty=True
        )
        columns = CountedColumns(subject, names, cutting)
        cuts = {cut.name: _whole_days(cut) for cut in columns.cuts}
        alone = columns.parts([(name,) for name in cuts])
        features = tuple(cut.codes(part.known) for cut, part in zip(cuts.values(), alone, strict=True))
        first: dict[Any, Subject] = {}
        if subject.weights is None:  # sums of weights are rounded: a pair and its features need the same cells
            first = {frozenset({(one.name, one.edges)}): part for one, part in zip(features, alone, strict=True)}
        return cls(
            subject=subject, cuts=cuts, features=features, notes=columns.notes, scored=scored, _answers={(): first}
        )

    def everyone(self, problem: Problem) -> Problem:
        """The problem with the outcomes of these rows, by no feature."""
        subject, levels = self.subject, self.levels
        if self.split_key is not None or self.scored:
            subject = self._of_nothing()
        part, rows = self._read(problem, subject)
        if self.scored:
            levels = ScoreLevels.of(subject.take(rows), self.subject.data.score_edges)
            if levels is None:
                raise NotApplicable(msg("only scores of two classes are counted"))
            part = replace(part, expected=levels.expected(subject.take(rows)))
        own = replace(self, levels=levels, _kept={})
        return replace(part, features=problem.features, counted=own)

    def _of_nothing(self) -> Subject:
        """The outcomes of all rows by their part of the split, and by scores."""
        also = self._also(scores=False)
        known = self._answers.setdefault((*also, *(("scores",) if self.scored else ())), {})
        if frozenset() not in known:
            (found,) = self.subject.beside([[]], scores=self.scored, also=also)
            if found is None:
                raise too_many([PART])
            known[frozenset()] = found
        return known[frozenset()]

    def split(self, problem: Problem, shares: Sequence[float], chosen: Sequence[Collection[int]]) -> list[Problem]:
        """The problems on some parts of a random split at these shares of the rows."""
        key = Key(column=PART, form="part", edges=tuple(shares), seed=problem.seed)
        return [replace(self, split_key=key, side=tuple(own)).everyone(problem) for own in chosen]

    def problems(
        self, problem: Problem, sets: Sequence[tuple[str, ...]], *, least: int = 1
    ) -> Iterator[tuple[int, Problem]]:
        """For each set of features its index, and a problem by these and perhaps more features; in any order.

        Sets are counted together while their cells are few: one `GROUP BY` of four features answers for all triples
        of them. Combinations of fewer than `least` rows are left out where a set is counted alone.
        """
        left = dict(enumerate(sets))
        marks = {index: self._mark(problem, names) for index, names in left.items()}
        for mark, kept in list(self._kept.items()):
            for index in [index for index in left if marks[index] <= mark]:
                del left[index]
                yield index, kept
        for mark, part in self._counted_before():
            if found := [index for index in left if marks[index] <= mark]:
                here = [column.name for column in problem.features if (column.name, column.edges) in mark]
                kept = self._kept[self._mark(problem, here)] = self._problem(problem, part, here)
                for index in found:
                    del left[index]
                    yield index, kept
        while left:
            some = [frozenset(left[index]) for index in list(left)[:AT_ONCE]]
            for batch, own in self._batches(problem, some, least):
                for names, cells in zip(batch, self._fetched(problem, batch, own), strict=True):
                    for index in [index for index, other in left.items() if names.issuperset(other)]:
                        del left[index]
                        yield index, cells

    def _batches(
        self, problem: Problem, sets: Sequence[frozenset[str]], least: int
    ) -> Iterator[tuple[list[frozenset[str]], int]]:
        """Sets of features that are counted in one statement, and the fewest rows of a combination."""
        limit = self._max_cells
        joined = joined_sets(sets, lambda names: self._cells(problem, names) <= limit // SHARE)
        for alone in (False, True):
            own = [names for names in joined if (least > 1 and names in sets) == alone]
            while own:
                count = 1
                while count < min(len(own), TOGETHER) and self._most(problem, own[: count + 1]) <= limit // (count + 1):
                    count += 1
                yield own[:count], least if alone else 1
                own = own[count:]

    @property
    def _max_cells(self) -> int:
        """How many cells the memory given allows."""
        engine = self.subject.data.engine
        assert engine is not None
        return max(EXACT_ROWS, engine.memory // GROUP_BYTES)

    def _most(self, problem: Problem, sets: Sequence[frozenset[str]]) -> int:
        return max(self._cells(problem, names) for names in sets)

    def _cells(self, problem: Problem, names: Collection[str]) -> int:
        """How many cells a set of features can have, at most."""
        levels = 1 if self.levels is None else len(self.levels.changes) + 3
        outcomes = (len(problem.classes) + 1) ** 2 if problem.classes else 1
        cells = outcomes * levels * (1 if self.split_key is None else len(self.split_key.edges) + 1)
        for name in names:
            column = problem.by_name[name]
            cells *= len(column) if self.cuts[name].kind == "datetime" else column.size + 1
        return min(cells, self.subject.n_given)

    def _fetched(self, problem: Problem, sets: Sequence[frozenset[str]], least: int) -> list[Problem]:
        ordered = [[column.name for column in problem.features if column.name in names] for names in sets]
        keys = [[self._key(name, problem.by_name[name].edges) for name in names] for names in ordered]
        also = self._also(scores=self.scored)
        if least > 1:
            parts = self.subject.frequent(keys, least, also=also)
            return [
                _none_of(problem, names) if part is None else self._problem(problem, part, names)
                for names, part in zip(ordered, parts, strict=True)
            ]
        found = []
        for names, part in zip(ordered, self.subject.beside(keys, also=also), strict=True):
            if part is None:
                raise too_many(names)
            mark = self._mark(problem, names)
            found.append(self._problem(problem, part, names))
            self._kept[mark], self._counted[mark] = found[-1], part
        _keep_few(self._kept, lambda one: one.length)
        _keep_few(self._counted, lambda one: one.known.height)
        return found

    @property
    def _counted(self) -> dict[Any, Subject]:
        """The cells that were counted by the same columns beside features."""
        return self._answers.setdefault(tuple(self._also(scores=self.scored)), {})

    def _counted_before(self) -> list[tuple[Any, Subject]]:
        """Those, and the cells of all parts of a split, which are cells of all rows."""
        found = list(self._counted.items())
        if self.split_key is None:
            also = tuple(self._also(scores=self.scored))
            for key, cells in self._answers.items():
                split = len(key) == len(also) + 1 and isinstance(key[0], Key) and key[0].form == "part"
                found += cells.items() if split and key[1:] == also else ()
        return found

    def _mark(self, problem: Problem, names: Collection[str]) -> frozenset[Any]:
        return frozenset((name, problem.by_name[name].edges) for name in names)

    def _problem(self, problem: Problem, subject: Subject, names: Sequence[str]) -> Problem:
        part, rows = self._read(problem, subject)
        expected = None if self.levels is None else self.levels.expected(subject)[rows]
        features = tuple(self._codes(name, subject.known, problem.by_name[name]).take(rows) for name in names)
        return replace(part, features=features, expected=expected)

    def _read(self, problem: Problem, subject: Subject) -> tuple[Problem, NDArray[np.intp]]:
        """Outcomes, weights and counts of the cells that are on this side of the split; and which they are."""
        surface, counts = subject.outcome.surface, subject.counts
        assert counts is not None
        rows = np.arange(counts.size)
        if self.split_key is not None:
            rows = np.flatnonzero(np.isin(subject.known.column(PART).to_numpy(), self.side))
        mass = Mass(counts.size, subject.weights, counts).take(rows)
        outcome = subject.outcome.take(rows)
        part = replace(
            problem,
            truth=outcome.truth,
            label=outcome.surface.label,
            probability=None if surface.probability is None else outcome.surface.probability,
            weights=mass.mean_one,
            counts=mass.counts,
            counted=None,
        )
        return part, rows

    def _codes(self, name: str, data: Any, like: Codes) -> Codes:
        """A feature of some cells in the codes of the problem, whose bins may be wider than its own."""
        cut = self.cuts[name]
        column = (cut if like.edges is None else replace(cut, edges=like.edges)).codes(data)
        index = {label: code for code, label in enumerate(like.labels)}
        table = np.array([index[label] for label in column.labels], dtype=smallest(like.size))
        return Codes(name, table[column.codes], like.labels, like.edges)

    def _key(self, name: str, edges: tuple[float, ...] | None) -> Key:
        cut = self.cuts[name]
        return key_of(cut if edges is None else replace(cut, edges=edges))

    def _also(self, *, scores: bool) -> list[Key]:
        """What all sets are counted by, too: the part of the split, and the levels of the score."""
        keys = [] if self.split_key is None else [self.split_key]
        if scores:
            assert self.levels is not None
            roles = self.subject.data.roles
            edges = {*self.levels.changes, *((0.5,) if roles.prediction is None else ())}
            keys.append(Key(column=roles.score[0], form="bands", edges=tuple(sorted(edges)) or (0.5,)))
        return keys


def _keep_few(cells: dict[Any, T], size: Callable[[T], int]) -> None:
    """Forget the cells that were counted first, while they are too many."""
    total = sum(map(size, cells.values()))
    while total > KEPT:
        total -= size(cells.pop(next(iter(cells))))


def joined_sets(sets: Sequence[frozenset[str]], fits: Callable[[frozenset[str]], bool]) -> list[frozenset[str]]:
    """Fewer sets that contain all of these: each takes in the feature that completes most others, while it fits.

    >>> pairs = [frozenset(pair) for pair in ("ab", "ac", "bc", "cd")]
    >>> [sorted(one) for one in joined_sets(pairs, lambda names: len(names) <= 3)]
    [['a', 'b', 'c'], ['c', 'd']]
    """
    left, out = list(sets), []
    while left:
        union = left[0]
        while True:
            missing = Tally(next(iter(one - union)) for one in left if len(one - union) == 1)
            wider = (union | {name} for name, _ in sorted(missing.items(), key=lambda item: (-item[1], item[0])))
            found = next((names for names in wider if fits(names)), None)
            if found is None:
                break
            union = found
        out.append(union)
        left = [one for one in left if not one <= union]
    return out


def lattice_of(problem: Problem, terms: Terms, *, min_size: float) -> Lattice:
    """All conjunctions over the features of a problem, with the sums of some terms."""
    own: dict[str, Any] = {"min_size": min_size, "budget": problem.max_memory, "clock": problem.clock}
    if problem.counted is not None:
        return Lattice(problem.features, counter=_Cells(problem, terms), **own)
    part, values = terms(problem)
    return Lattice(part.features, values, weights=part.weights, **own)


class _Cells:
    """Sums over rows that an engine counts, for a lattice: the cells of every set of features are asked for once."""

    def __init__(self, problem: Problem, terms: Terms) -> None:
        self._problem, self._terms = problem, terms
        part, values = terms(problem)
        self.rows = part.n
        self.totals = np.array([part.mass.total, *(part.mass.sum(value) for value in values.values())])
        self._alone = dict(problem.on_each([(column.name,) for column in problem.features]))

    def of_codes(self, feature: int) -> Floats:
        """The sizes and sums of each code of a feature."""
        part, sums = self._sums(self._alone[feature])
        column = part.by_name[self._problem.features[feature].name]
        return np.column_stack([sum_by(column.codes, value, column.size) for value in sums])

    def count(self, features: NDArray[Any], codes: NDArray[Any], min_size: float, clock: Clock) -> tuple[Floats, int]:
        """The sizes and sums of conjunctions, a statement for some sets of features at a time."""
        out = np.full((len(features), self.totals.size), np.nan)
        sets, number = np.unique(features, axis=0, return_inverse=True)
        columns = self._problem.features
        names = [tuple(columns[feature].name for feature in own) for own in sets.tolist()]
        least = 1 if self._problem.weights is not None else max(1, int(np.ceil(min_size)))
        for done, (index, rows) in enumerate(self._problem.on_each(names, least=least), 1):
            members = np.flatnonzero(number.ravel() == index)
            part, sums = self._sums(rows)
            shape = [columns[feature].size for feature in sets[index]]
            cells, inverse = np.unique(
                _joint([part.by_name[name].codes for name in names[index]], shape), return_inverse=True
            )
            keys = _joint(list(codes[members].T), shape)
            found = np.searchsorted(cells, keys)
            there = found < cells.size
            there[there] = cells[found[there]] == keys[there]
            out[members] = 0.0
            for term, value in enumerate(sums):
                out[members[there], term] = sum_by(inverse, value, cells.size)[found[there]]
            if clock.over and done < len(names):
                break
        missing = np.flatnonzero(np.isnan(out[:, 0]))
        return out, int(missing[0]) if missing.size else len(out)

    def _sums(self, rows: Problem) -> tuple[Problem, list[Floats]]:
        part, values = self._terms(rows)
        return part, [part.mass.w, *(part.mass.w * value for value in values.values())]


def _none_of(problem: Problem, names: Sequence[str]) -> Problem:
    """A problem without rows."""
    nothing = np.empty(0, dtype=np.intp)
    features = tuple(problem.by_name[name].take(nothing) for name in names)
    return replace(problem.take(nothing), features=features, counted=None)


def _joint(codes: Sequence[NDArray[Any]], shape: Sequence[int]) -> NDArray[np.int64]:
    """One number per combination of codes."""
    out = np.zeros(len(codes[0]), dtype=np.int64)
    for column, size in zip(codes, shape, strict=True):
        out = out * size + column.astype(np.int64)
    return out


def _whole_days(cut: Cut) -> Cut:
    """Days have no fractions: edges of dates are days."""
    if cut.kind != "datetime" or cut.edges is None:
        return cut
    days = np.unique(np.ceil(cut.edges))
    return replace(cut, edges=tuple(days.tolist()) if days.size > 1 else (float(days[0]), float(days[0]) + 1))
