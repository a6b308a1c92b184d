"""AEQUITAS: random people, then walks around those treated differently that learn where to go."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import sum_by
from isonomia.discovery.pairs.method import pair_method
from isonomia.discovery.pairs.space import NOMINAL_MOVES, NominalMoves, Space
from isonomia.parameters import Choice, Integer, Number, validated
from isonomia.probing import Search
from isonomia.typing import Floats

#: How much one step teaches.
LEARN = 0.001
#: Steps (of all walks together) tested in one batch. A walk goes on whatever came out, so only the learning waits.
BATCH = 2048


@pair_method(
    "aequitas",
    "uniform people, then walks that learn which attribute and direction to move",
    reference="Udeshi, Arora & Chattopadhyay, Automated directed fairness testing, ASE 2018",
)
@validated(
    mode=Choice(("random", "semi", "full")),
    max_global=Integer(1),
    max_local=Integer(0),
    step_size=Number(above=0),
    nominal_moves=Choice(NOMINAL_MOVES),
)
def aequitas(
    space: Space,
    *,
    mode: Literal["random", "semi", "full"] = "full",
    max_global: int = 500,
    max_local: int = 2000,
    step_size: float = 1.0,
    nominal_moves: NominalMoves = "unit",
) -> Search:
    """Search as in the paper, with all walks in step.

    `max_global` people are drawn uniformly from the domain. From each one treated differently a walk of `max_local`
    steps starts: pick an attribute by probability, move it by one unit down (with its own probability) or up, test,
    and stay there whatever came out. "semi" learns the direction of each attribute, "full" also which attributes
    pay; the probabilities are shared by all walks and updated after every batch of about two thousand steps (the paper
    walks one seed after another; its released code updates in the wrong direction, this does not).

    Parameters
    ----------
    mode
        What the walks learn: nothing (random), directions (semi), directions and attributes (full).
    max_global
        People drawn uniformly.
    max_local
        Steps of each walk.
    step_size
        How many units one step is.
    nominal_moves
        Move of a category: to the next value (unit) or any other (any).
    """
    answer = yield space.drawn(max_global)
    space.facts.update(uniform_tests=int(answer.fresh.sum()), uniform_found=int((answer.found & answer.fresh).sum()))
    walkers = answer.discovered
    columns = space.movable
    if len(walkers) == 0 or len(columns) == 0:
        return
    everyone = np.arange(len(walkers))
    weight = np.full(len(columns), 1.0 / len(columns))
    down = np.full(len(columns), 0.5)
    stride = max(1, BATCH // len(walkers))
    for start in range(0, max_local, stride):
        shape = (min(stride, max_local - start), len(walkers))
        choice = space.rng.choice(len(columns), size=shape, p=weight)
        direction = np.where(space.rng.random(shape) < down[choice], -1, 1)
        path = np.empty((*shape, walkers.shape[1]))
        change = space.steps(columns[choice], direction, size=step_size, nominal_moves=nominal_moves)
        for index in range(shape[0]):
            moved = change(walkers, index)
            if space.domain.restricted:
                value = moved[everyone, columns[choice[index]]]
                stay = np.flatnonzero(~space.allowed(walkers, everyone, columns[choice[index]], value))
                moved[stay] = walkers[stay]  # columns that follow from others do so when they are tested
            walkers = path[index] = moved
        answer = yield path.reshape(-1, walkers.shape[1])
        if mode != "random":
            _learn(weight, down, choice.ravel(), direction.ravel(), answer.found, full=mode == "full")


def _learn(
    weight: Floats, down: Floats, choice: NDArray[Any], direction: NDArray[Any], found: NDArray[Any], *, full: bool
) -> None:
    """Shift the shared probabilities by what one step of all walks showed."""
    toward = np.where(found == (direction < 0), LEARN, -LEARN)
    down += sum_by(choice, toward, len(down))
    np.clip(down, 0.0, 1.0, out=down)
    if full:
        weight += LEARN * sum_by(choice, found.astype(float), len(weight))
        weight /= weight.sum()
