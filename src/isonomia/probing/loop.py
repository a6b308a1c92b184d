"""The loop around a search: a strategy asks for rows, the loop tests them, the strategy gets the answers.

A strategy knows nothing of models, variants, budgets or clocks. It is written as a generator that yields rows and is
sent what came out; `Script` gives it `ask()` and `tell()`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from isonomia.languages import msg
from isonomia.models import LARGEST_CALL, Pace
from isonomia.probing.key_map import distinct_keys, first_keys
from isonomia.probing.ledger import OUTCOMES, Ledger
from isonomia.probing.oracle import Predictions
from isonomia.probing.probe import Probe
from isonomia.typing import Floats

#: Bytes one call's rows may take.
CALL_BYTES = 64_000_000


@dataclass(frozen=True, eq=False)
class Answer:
    """The outcomes of the requested rows, in their order.

    Attributes
    ----------
    rows : matrix
        The rows as requested (invalid ones included), columns that follow from others as they follow.
    fresh : array of bool
        True the first time a person is tested, False for one tested before.
    outcomes : array (m, 4)
        `ProbeResult.outcome` of the distinct people, and a last row of NaN for those not tested (not valid, or the
        budget ended).
    person : array of int
        Which of them every row is.
    noted : matrix, optional
        The rows of `discovered`, where the ledger has recorded exactly these.
    """

    rows: Floats
    fresh: NDArray[np.bool_]
    outcomes: Floats
    person: NDArray[np.intp]
    noted: Floats | None = None

    @cached_property
    def margin(self) -> Floats:
        """Above 0 where treated differently, below it the farther from that; see `ProbeResult.margin`."""
        return np.asarray(self.outcomes[:, 0][self.person])

    @property
    def gap(self) -> Floats:
        """The widest difference between two variants."""
        return np.asarray(self.outcomes[:, 1][self.person])

    @property
    def extremes(self) -> NDArray[np.intp]:
        """The variants with the lowest and the highest score, (n, 2); only for rows with an answer."""
        return np.nan_to_num(self.outcomes[:, 2:4])[self.person].astype(np.intp)

    @cached_property
    def found(self) -> NDArray[np.bool_]:
        """Rows treated differently, tested before or not."""
        return np.asarray(self.margin > 0)

    @cached_property
    def discovered(self) -> Floats:
        """The people treated differently who were not tested before; read-only."""
        return self.rows.compress(self.found & self.fresh, axis=0) if self.noted is None else self.noted

    @property
    def tested(self) -> NDArray[np.bool_]:
        """Rows that have an answer."""
        return ~np.isnan(self.margin)


@dataclass(frozen=True, eq=False)
class Untested:
    """Valid rows that were compared with the ledger already: distinct people, none of them tested; see `Loop.untested`.

    A search may request them instead of plain rows; the loop then need not look them up again.
    """

    rows: Floats
    keys: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, indices: NDArray[np.intp]) -> Untested:
        """Some of them."""
        return Untested(self.rows.take(indices, axis=0), self.keys.take(indices))


Request = Floats | Untested
Search = Generator[Request, Answer, None]


class BudgetSpent(Exception):  # noqa: N818  a signal to the loop, never seen by a user
    """A question to the model would exceed the budget: the search ends here."""


class Strategy(Protocol):
    """A search: requests rows to test, and learns from the answers."""

    def ask(self) -> Request | None:
        """The next rows, or None when the search has ended."""

    def tell(self, answer: Answer) -> None:
        """The answer for the last request."""


class Script:
    """A strategy written as a generator."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._answer: Answer | None = None
        self._started = False

    def ask(self) -> Request | None:
        """The next rows."""
        try:
            if not self._started:
                self._started = True
                return next(self._search)
            if self._answer is None:
                raise RuntimeError("tell() must be called between two asks.")
            return self._search.send(self._answer)
        except StopIteration:
            return None

    def tell(self, answer: Answer) -> None:
        """Keep the answer for the next ask."""
        self._answer = answer


class Loop:
    """Tests what a strategy asks for, within the budget, each person once.

    >>> from isonomia.probing import Domain, Oracle
    >>> domain = Domain({"sex": ["F", "M"], "age": (18, 30)}, backend="polars")
    >>> model = lambda frame: ((frame["age"] > 25) & (frame["sex"] == "M")).to_numpy()
    >>> loop = Loop(Probe(Oracle(model, domain), ["sex"]), Ledger(max_tests=100))
    >>> answer = loop.test(domain.sample(50, np.random.default_rng(0)))
    >>> loop.ledger.tsn, loop.ledger.dsn
    (13, 5)
    """

    def __init__(self, probe: Probe, ledger: Ledger) -> None:
        self.probe, self.ledger = probe, ledger
        self._stage = ledger.progress.stage("pairs", msg("Searching for pairs"), total=ledger.max_tests or 0)
        self._counted = self._sent()  # what the ledger knows of
        ledger.times_asked, at_most = probe.oracle.times_asked
        self._reserve = at_most // ledger.times_asked  # ties may be asked about again
        ledger.test_rows = probe.n_variants * self._reserve
        largest = min(LARGEST_CALL, CALL_BYTES // (8 * len(probe.domain)))
        self._pace = Pace(probe.n_variants, max(probe.n_variants, largest))
        for value in ledger.classes[len(probe.oracle.classes) :]:
            probe.oracle._code(value)

    def drive(self, strategy: Strategy) -> None:
        """Run a strategy until it ends or the budget is spent."""
        with self._stage:
            while not self.ledger.spent:
                try:
                    rows = strategy.ask()
                except BudgetSpent:
                    break
                if rows is None:
                    break
                strategy.tell(self.test(rows))
            self.count_outside()
            self._stage.at(self.ledger.tsn)

    def test(self, rows: Request) -> Answer:
        """Test rows: valid ones, each person once, as far as the budget goes."""
        if isinstance(rows, Untested):
            answers, noted = self._ask(rows.rows, rows.keys)
            outcomes = np.concatenate([answers, np.full((1, OUTCOMES), np.nan)])
            return Answer(
                rows=rows.rows,
                fresh=~np.isnan(answers[:, 0]),
                outcomes=outcomes,
                person=np.arange(len(rows)),
                noted=noted,
            )
        rows = self.probe.domain.complete(np.ascontiguousarray(rows, dtype=float).reshape(-1, len(self.probe.domain)))
        fresh = np.zeros(len(rows), dtype=bool)
        valid = np.flatnonzero(self.probe.valid(rows))
        everyone = len(valid) == len(rows)
        keys, first, person = distinct_keys(self.probe.key(rows if everyone else rows[valid]))
        outcomes = np.full((len(keys) + 1, OUTCOMES), np.nan)
        known, outcomes[:-1] = self.ledger.tests.look(keys)
        new = np.flatnonzero(~known)
        requested = valid[first[new]]
        order = np.argsort(requested)  # in the order requested, so that a cut budget keeps the first ones
        new, requested = new[order], requested[order]
        answers, noted = self._ask(rows.take(requested, axis=0), keys.take(new))
        outcomes[new] = answers
        fresh[requested] = ~np.isnan(answers[:, 0])
        if not everyone:
            of_valid, person = person, np.full(len(rows), len(keys), dtype=np.intp)
            person[valid] = of_valid
        return Answer(rows=rows, fresh=fresh, outcomes=outcomes, person=person, noted=noted)

    def untested(self, keys: NDArray[np.uint64]) -> NDArray[np.intp]:
        """Indices of keys that were not tested before, the first of each person, in order."""
        distinct, first = first_keys(keys)
        new = np.zeros(len(keys), dtype=bool)
        new[first[~self.ledger.tests.holds(distinct)]] = True
        return np.flatnonzero(new)

    def _ask(self, rows: Floats, keys: NDArray[np.uint64]) -> tuple[Floats, Floats | None]:
        """Distinct new people: from the record of an interrupted run, or from the model.

        Beside the outcomes the rows of those found, where one call of the model answered them all.
        """
        known, outcomes = self.ledger.recall(keys)
        todo = None if not known.any() else np.flatnonzero(~known)  # all of them, mostly
        done, end = 0, len(keys) if todo is None else len(todo)
        noted = None
        self.count_outside()
        while done < end and not self.ledger.spent:
            budget = min(self.ledger.tests_left, self.ledger.rows_left(self.ledger.test_rows))
            size = min(max(1, self._pace.rows // self.probe.n_variants), budget, end - done)
            if size <= 0:
                break
            part = slice(done, done + size) if todo is None else todo[done : done + size]
            result = self.probe.test(rows[part])
            outcomes[part] = result.outcome
            self._note(keys[part], result.outcome, result.found)
            noted = result.found["row"] if size == len(keys) else None
            done += size
        return outcomes, noted

    def _note(self, keys: NDArray[np.uint64], outcome: Floats, found: dict[str, NDArray[Any]]) -> None:
        usage = self._newly_sent()
        self.ledger.classes = [_plain(value) for value in self.probe.oracle.classes]
        self.ledger.record(keys, outcome, found, usage)
        self._pace.learn(usage[0], usage[2])
        self._stage.at(self.ledger.tsn)

    def consult(self, rows: Floats) -> Predictions:
        """Ask the model about rows as they are: counted as model rows, not as tests, and recorded too."""
        digest = ""
        if self.ledger.on_disk:
            digest = hashlib.blake2b(np.ascontiguousarray(rows).tobytes(), digest_size=16).hexdigest()
        if digest in self.ledger.answers:
            known = self.ledger.answers[digest]
            return Predictions(known.get("label"), known.get("score"))
        predicted: list[Predictions] = []
        used = np.zeros(3)
        done = 0
        self.count_outside()
        if len(rows) > self.ledger.rows_left(1):
            raise BudgetSpent
        while done < len(rows):
            size = min(self._pace.rows, self.ledger.rows_left(self._reserve))
            if self.ledger.late or size == 0:
                raise BudgetSpent
            part = rows[done : done + size]
            predicted.append(self.probe.consult(part))
            done += len(part)
            usage = self._newly_sent()
            self.ledger.use(usage)
            used += usage
            self._pace.learn(usage[0], usage[2])
            self._stage.at(self.ledger.tsn)
        arrays: dict[str, NDArray[np.float64]] = {}
        for name in ("label", "score"):
            parts = [getattr(one, name) for one in predicted]
            if parts and parts[0] is not None:
                arrays[name] = np.concatenate(parts)
        self.ledger.remember(digest, arrays, (int(used[0]), int(used[1]), float(used[2])))
        return Predictions(arrays.get("label"), arrays.get("score"))  # type: ignore[arg-type]

    def count_outside(self) -> None:
        """Count what the model was asked outside tests and questions (to compare trees with it) in the budget."""
        self.ledger.use(self._newly_sent())

    def _sent(self) -> tuple[int, int, float]:
        """Rows, calls and seconds of the model so far."""
        oracle = self.probe.oracle
        return oracle.rows, oracle.calls, oracle.seconds

    def _newly_sent(self) -> tuple[int, int, float]:
        """What was sent since the last time, which the ledger has yet to count."""
        before, self._counted = self._counted, self._sent()
        rows, calls, seconds = self._counted
        return rows - before[0], calls - before[1], seconds - before[2]


def _plain(value: object) -> object:
    return value if isinstance(value, str | int | float | bool | None) else str(value)
