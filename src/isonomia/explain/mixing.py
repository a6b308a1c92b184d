"""The output of people who keep some columns and take the others from the background: v(S), for many S at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import sum_by
from isonomia.events import Progress
from isonomia.explain.players import Players
from isonomia.explain.space import Space
from isonomia.languages import msg
from isonomia.typing import Bools, Floats, Indices

#: Coalitions on which it is tried whether rows repeat.
TRIED = 16
#: Rows are only compared where at least this share of them repeats.
WORTH = 0.2


@dataclass(frozen=True, eq=False)
class _Block:
    """Some people and background rows of one coalition, each combination to be asked about once."""

    coalition: int
    mask: Bools
    people: Indices
    of_person: Indices
    backs: Indices
    shares: Floats

    def __len__(self) -> int:
        return len(self.people) * len(self.backs)


def coalition_values(
    space: Space,
    rows: Floats,
    background: Floats,
    weights: Floats,
    coalitions: Bools,
    progress: Progress | None = None,
) -> Floats:
    """v(S) = sum over b of w_b f(x_S, b_rest) for rows (n, D) and coalitions (C, M): an array (n, C, K).

    Rows that are equal in a coalition's columns, and background rows equal in the others, are asked about once.
    """
    events = Progress.of(progress)
    out = np.empty((len(rows), len(coalitions), space.width))
    pending: list[_Block] = []
    size = 0
    with events.stage("coalitions", msg("Querying the model about altered rows"), total=len(coalitions)) as stage:
        for block in _blocks(space, rows, background, weights, coalitions):
            if size and size + len(block) > space.batch:
                _ask(space, rows, background, pending, out)
                stage.at(block.coalition)
                pending, size = [], 0
            pending.append(block)
            size += len(block)
        _ask(space, rows, background, pending, out)
        stage.at(len(coalitions))
    return out


def model_rows(space: Space, rows: Floats, background: Floats, coalitions: Bools) -> int:
    """How many rows `coalition_values` asks about."""
    weights = np.ones(len(background))
    return sum(len(block) for block in _blocks(space, rows, background, weights, coalitions))


def _blocks(space: Space, rows: Floats, background: Floats, weights: Floats, coalitions: Bools) -> Iterator[_Block]:
    masks = space.players.coordinates(coalitions)
    ours, theirs = _keys(space.players, rows, background)
    repeat = _repeats(ours, theirs, coalitions)
    everyone, everything = np.arange(len(rows)), np.arange(len(background))
    for index, coalition in enumerate(coalitions):
        people, of_person, backs, shares = everyone, everyone, everything, weights
        if repeat:
            people, of_person = _first(ours[:, coalition])
            backs, of_back = _first(theirs[:, ~coalition])
            shares = sum_by(of_back, weights, len(backs))
        step = max(1, space.batch // len(backs))
        for start in range(0, len(people), step):
            whole = len(people) <= step
            part = of_person if whole else np.where(of_person // step == start // step, of_person - start, -1)
            yield _Block(index, masks[index], people[start : start + step], part, backs, shares)


def _ask(space: Space, rows: Floats, background: Floats, blocks: list[_Block], out: Floats) -> None:
    """Ask about several blocks in one call and write the means over the background."""
    mixed = np.empty((sum(map(len, blocks)), rows.shape[1]))
    at = 0
    for block in blocks:
        part = mixed[at : at + len(block)].reshape(len(block.people), len(block.backs), -1)
        part[...] = background[block.backs]
        part[:, :, block.mask] = rows[block.people][:, None, block.mask]
        at += len(block)
    answer = space.ask(mixed)
    at = 0
    for block in blocks:
        part = answer[at : at + len(block)].reshape(len(block.people), len(block.backs), -1)
        mean = np.einsum("ubk,b->uk", part, block.shares)
        here = block.of_person >= 0
        out[here, block.coalition] = mean[block.of_person[here]]
        at += len(block)


def _keys(players: Players, rows: Floats, background: Floats) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """A random 64-bit number for every value of every player: equal sums are equal combinations of values."""
    rng = np.random.default_rng(0)
    keys = np.empty((len(rows) + len(background), len(players)), dtype=np.uint64)
    both = np.concatenate([rows, background])
    for index in range(len(players)):
        own = both[:, players.owner == index]
        _, codes = np.unique(own, axis=0, return_inverse=True)
        codes = codes.ravel()
        keys[:, index] = rng.integers(2**64, size=int(codes.max()) + 1, dtype=np.uint64)[codes]
    return keys[: len(rows)], keys[len(rows) :]


def _first(keys: NDArray[np.uint64]) -> tuple[Indices, Indices]:
    """One row of every distinct combination, and the combination of every row."""
    total = keys.sum(axis=1, dtype=np.uint64)
    _, first, inverse = np.unique(total, return_index=True, return_inverse=True)
    return first, inverse


def _repeats(ours: NDArray[Any], theirs: NDArray[Any], coalitions: Bools) -> bool:
    some = coalitions[np.linspace(0, len(coalitions) - 1, min(TRIED, len(coalitions))).astype(np.intp)]
    distinct = sum(len(_first(ours[:, one])[0]) * len(_first(theirs[:, ~one])[0]) for one in some)
    return distinct < (1 - WORTH) * len(some) * len(ours) * len(theirs)
