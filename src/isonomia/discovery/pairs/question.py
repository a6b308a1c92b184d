"""A search for pairs as a question: what it asks, what it finds, and the same answer from a store."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.method import Method
from isonomia.discovery.pairs import kept
from isonomia.discovery.pairs.dependency_table import state_dependencies
from isonomia.discovery.pairs.population import Population
from isonomia.discovery.pairs.present import build_result
from isonomia.discovery.pairs.result import PairResult, Pairs
from isonomia.discovery.pairs.searches.auto import finish
from isonomia.discovery.pairs.searches.exact import conclude
from isonomia.discovery.pairs.space import Space
from isonomia.errors import SpecError
from isonomia.events import Progress
from isonomia.languages import Message, msg
from isonomia.probing import Ledger, Loop, Oracle, Probe, Script

_NAME = re.compile(r"[\w.-]{1,100}")


@dataclass(frozen=True, eq=False, kw_only=True)
class PairQuestion:
    """Who is treated differently when only protected attributes change?

    Attributes
    ----------
    population : Population
    method : Method
    options : mapping
        The method's own.
    max_tests, max_seconds, max_model_rows
        The budget; None for no limit.
    values, gamma, one_attr_at_a_time, seed
        As in `find_pairs`.
    ledger_dir, analysis
        Where the ledger is kept, and its name.
    progress : Progress
    """

    population: Population
    method: Method
    options: Mapping[str, Any]
    max_tests: int | None
    max_seconds: float | None
    max_model_rows: int | None
    values: Mapping[str, Sequence[Any]] | None
    gamma: float
    one_attr_at_a_time: bool
    seed: int
    ledger_dir: str | os.PathLike[str] | None
    analysis: str | None
    progress: Progress

    def identity(self) -> dict[str, Any]:
        """What makes two questions the same."""
        group = self.population
        return {
            "data": group.dataset,
            "model": group.model,
            "seed": self.seed,
            "finds": "pairs",
            "method": self.method.id,
            "options": self.options,
            "protected": group.protected,
            "values": self.values,
            "domain": group.domain.describe(),
            "functions": [rule for rule in group.domain.rules if callable(rule)],
            "budget": (self.max_tests, self.max_seconds, self.max_model_rows),
            "gamma": self.gamma,
            "one_attr_at_a_time": self.one_attr_at_a_time,
        }

    def again(self, answer: Mapping[str, Any]) -> PairResult:
        """The result that a store kept."""
        return kept.result_of(answer, self.population.domain)

    def record(self, result: PairResult) -> Mapping[str, Any]:
        """What a store keeps to give the result again."""
        return kept.record_of(result)

    def search(self) -> PairResult:
        """Search, and state what was found."""
        group = self.population
        oracle = Oracle(group.model, group.domain, group.dataset)
        self.method.check_task(oracle.task)
        people, moved = group.people()
        probe = Probe(
            oracle,
            group.protected,
            values=self.values,
            gamma=self.gamma,
            one_attr_at_a_time=self.one_attr_at_a_time,
            reference=people,
        )
        ledger = self._ledger(probe)
        loop = Loop(probe, ledger)
        if not self.method.alters:  # it asks about people as they are
            ledger.test_rows = 1
        space = Space(loop=loop, people=people, rng=np.random.default_rng(self.seed), data=group.dataset)
        state_dependencies(space)
        space.notes += _notes(group, moved, probe.sampled)
        try:
            loop.drive(Script(self.method.run(space, **self.options)))
        finally:
            ledger.close()
        conclude(space)
        ledger.progress.check()
        pairs = space.facts.pop("pairs", None)
        if pairs is None:
            pairs = _pairs(probe, ledger.findings())
        finish(space, pairs.first)
        return build_result(space, pairs, method=self.method)

    def _ledger(self, probe: Probe) -> Ledger:
        """The ledger of the search; one in a folder goes on where the same search stopped."""
        group, path = self.population, _path(self.ledger_dir, self.analysis, self.method.id)
        run = {
            "method": self.method.id,
            "seed": self.seed,
            "gamma": probe.gamma,
            "one_attr_at_a_time": probe.one_attr_at_a_time,
            "protected": list(group.protected),
            "variants": probe.variants.tolist(),
            "domain": group.domain.describe(),
            "options": {name: str(value) for name, value in sorted(self.options.items())},
            "data": None if group.dataset is None or path is None else group.dataset.fingerprint,
        }
        return Ledger(
            max_tests=self.max_tests,
            max_seconds=self.max_seconds,
            max_model_rows=self.max_model_rows,
            path=path,
            run=run if path is not None else {},
            progress=self.progress,
        )


def _notes(group: Population, moved: int, sampled: Sequence[str]) -> list[Message]:
    """Who was left out or moved, and which attributes were tried in part."""
    notes = []
    if group.n_infinite:
        notes.append(
            msg(
                "{n:# person with an infinite number was|# people with infinite numbers were} left out.",
                n=group.n_infinite,
            )
        )
    if listed := group.listed():
        notes.append(
            msg("Of {columns}, only values in the data were tried, none between them.", columns=", ".join(listed))
        )
    if moved:
        notes.append(
            msg(
                "{n:# row of the data lies outside the domain and was|# rows of the data lie outside the domain and "
                "were} moved to its edge.",
                n=moved,
            )
        )
    return notes + [
        msg("{name} has many values; nine of them, spread over its distribution, were tried.", name=name)
        for name in sampled
    ]


def _pairs(probe: Probe, found: Mapping[str, NDArray[Any]]) -> Pairs:
    """The findings of a ledger as pairs of people; the one treated better second."""
    if not found:
        none, nothing = np.empty((0, len(probe.domain))), np.empty(0)
        codes = np.empty(0, np.int64)
        return Pairs(
            first=none,
            columns=probe.altered,
            other=none[:, probe.altered],
            outcome_first=codes,
            outcome_second=codes,
            score_first=nothing,
            score_second=nothing,
            gap=nothing,
        )
    variants = [found[side].astype(np.intp) for side in "ab"]
    regression = probe.oracle.task == "regression"
    outcome = [found[f"{'score' if regression else 'label'}_{side}"] for side in "ab"]
    return Pairs(
        first=probe.as_variant(found["row"], variants[0]),
        columns=probe.altered,
        other=probe.altered_values[variants[1]],
        outcome_first=outcome[0],
        outcome_second=outcome[1],
        score_first=found["score_a"],
        score_second=found["score_b"],
        gap=found["gap"],
    )


def _path(ledger_dir: str | os.PathLike[str] | None, analysis: str | None, method: str) -> Path | None:
    if ledger_dir is None:
        return None
    name = analysis or method
    if not _NAME.fullmatch(name) or name.startswith("."):
        raise SpecError(f"`analysis` may contain letters, digits, '_', '-' and '.'; got {name!r}.")
    folder = Path(ledger_dir)
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name}.ledger"
