"""Trials of scenarios: each with a generator of its own, many trials in one call of the model."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.data import wrap
from isonomia.errors import IsonomiaError, NotApplicable, SpecError
from isonomia.robustness.stress.measures import Measures
from isonomia.robustness.stress.scenario import Planned
from isonomia.robustness.stress.situation import Situation, check_changed
from isonomia.typing import Floats

#: Altered rows of several trials are put into one call of the model up to this many.
BATCH_ROWS = 50_000


@dataclass(frozen=True, eq=False)
class Run:
    """All trials of one scenario.

    Attributes
    ----------
    plan : Planned
        The scenario, its level and options.
    values : (trials, metrics) array, NaN where a metric is undefined in a trial
    gaps : (trials, attributes, gap metrics) array
    """

    plan: Planned
    values: Floats
    gaps: Floats

    @property
    def name(self) -> str:
        """What it is called among the others."""
        return self.plan.name

    @property
    def n_trials(self) -> int:
        """How many trials there were."""
        return len(self.values)


def generator(seed: int, name: str, trial: int) -> np.random.Generator:
    """The generator of one trial: of the seed, the scenario and the trial's number alone.

    So trial 7 is the same whether 10 or 1,000 are requested, and whatever else is run; levels of one scenario share
    their random numbers, which makes their curves smooth.
    """
    return np.random.default_rng([seed, zlib.crc32(name.encode()), trial])


def play(planned: Planned, measures: Measures, n_trials: int, seed: int) -> Run:
    """Play a scenario and measure every trial.

    Raises
    ------
    NotApplicable
        Where the scenario has no answer for this situation.
    """
    reason = planned.scenario.reason(measures.base)
    if reason is not None:
        raise NotApplicable(reason)
    stage = measures.base.progress.stage(planned.name, planned.scenario.title, total=n_trials)
    readings = [
        measures.read(now) for now in stage.over(_answered(_situations(planned, measures.base, n_trials, seed)))
    ]
    return Run(planned, measures.values(readings), measures.gap_values(readings))


def _situations(planned: Planned, base: Situation, n_trials: int, seed: int) -> Iterator[Situation]:
    for trial in range(n_trials):
        yield check_changed(planned.scenario.id, base, _changed(planned, base, seed, trial))


def _changed(planned: Planned, base: Situation, seed: int, trial: int) -> Any:
    rng = generator(seed, planned.scenario.id, trial)
    try:
        return planned.change(base, rng)
    except IsonomiaError:
        raise
    except Exception as error:  # a function of the caller may raise anything
        if planned.scenario.own:
            raise
        cause = f"{type(error).__name__}: {error}"
        raise SpecError(f"The scenario '{planned.scenario.id}' failed in trial {trial}: {cause}") from error


def _answered(situations: Iterator[Situation]) -> Iterator[Situation]:
    """The situations in their order, with predictions wherever a scenario changed features."""
    buffer: list[Situation] = []
    rows = 0
    for now in situations:
        buffer.append(now)
        rows += 0 if now.query is None else len(now.query.rows)
        if rows >= BATCH_ROWS or rows == 0:
            yield from _ask(buffer)
            buffer, rows = [], 0
    yield from _ask(buffer)


def _ask(buffer: Sequence[Situation]) -> Iterator[Situation]:
    waiting = [now for now in buffer if now.query is not None]
    tables = [_table(now) for now in waiting]
    answers: dict[int, Any] = {}
    start = 0
    while start < len(tables):  # frames of one kind together: a missing value can make a column of whole numbers real
        stop = start + 1
        while stop < len(tables) and tables[stop].schema == tables[start].schema:
            stop += 1
        part = tables[start:stop]
        whole = part[0] if len(part) == 1 else nw.maybe_reset_index(nw.concat(part, how="vertical"))
        surface = waiting[start].predict(whole.to_native())
        ends = np.cumsum([len(table) for table in part])
        for now, end, table in zip(waiting[start:stop], ends, part, strict=True):
            answers[id(now)] = surface.take(np.arange(end - len(table), end))
        start = stop
    for now in buffer:
        yield now if now.query is None else now.answered(answers[id(now)])


def _table(now: Situation) -> nw.DataFrame[Any]:
    assert now.query is not None
    table = nw.maybe_reset_index(wrap(now.query.frame))
    if len(table) != len(now.query.rows):
        raise SpecError(
            f"A scenario must return one row of features per row: expected {len(now.query.rows)}, got {len(table)}."
        )
    return table
