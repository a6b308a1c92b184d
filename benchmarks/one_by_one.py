"""AEQUITAS and KOSEI as their papers' code works: one person, one variant, one `predict` at a time.

Only what a reader of the papers would write; the update of AEQUITAS is the right way round (the released one is not).
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np


class OneByOne:
    """Tests people one after another; counts distinct ones, as the batched version does."""

    def __init__(self, model: Any, low: np.ndarray, high: np.ndarray, protected: int) -> None:
        self.model, self.low, self.high, self.protected = model, low, high, protected
        self.seen: dict[tuple[int, ...], bool] = {}

    def test(self, person: list[int]) -> bool:
        """Whether any two variants of one person are decided differently."""
        key = tuple(value for place, value in enumerate(person) if place != self.protected)
        said = set()
        for value in range(self.low[self.protected], self.high[self.protected] + 1):
            variant = list(person)
            variant[self.protected] = value
            said.add(int(self.model.predict(np.array([variant]))[0]))
        self.seen[key] = len(said) > 1
        return len(said) > 1

    @property
    def found(self) -> int:
        """Distinct people treated differently."""
        return sum(self.seen.values())

    def draw(self, rng: np.random.Generator) -> list[int]:
        """A person drawn uniformly, from the same stream of chance as the batched version: both begin with the same."""
        return [int(value) for value in self.low + np.floor(rng.random(len(self.low)) * (self.high - self.low + 1))]


def aequitas(world: OneByOne, tests: int, *, n_global: int, n_local: int, seed: int) -> None:
    """Global sampling, then fully directed walks one seed after another, until so many distinct people are tested."""
    rng = np.random.default_rng(seed)
    seeds = [person for person in (world.draw(rng) for _ in range(n_global)) if world.test(person)]
    free = [place for place in range(len(world.low)) if place != world.protected]
    weight = np.full(len(free), 1 / len(free))
    down = np.full(len(free), 0.5)
    for person in seeds:
        for _ in range(n_local):
            if len(world.seen) >= tests:
                return
            choice = int(rng.choice(len(free), p=weight))
            direction = -1 if rng.random() < down[choice] else 1
            place = free[choice]
            person[place] = int(np.clip(person[place] + direction, world.low[place], world.high[place]))
            found = world.test(person)
            down[choice] = np.clip(down[choice] + (0.001 if found == (direction < 0) else -0.001), 0, 1)
            if found:
                weight[choice] += 0.001
                weight /= weight.sum()


def kosei(world: OneByOne, tests: int, *, n_global: int, seed: int) -> None:
    """Global sampling, then a breadth-first flood, until so many distinct people are tested."""
    rng = np.random.default_rng(seed)
    queue = deque(person for person in (world.draw(rng) for _ in range(n_global)) if world.test(person))
    free = [place for place in range(len(world.low)) if place != world.protected]
    while queue and len(world.seen) < tests:
        person = queue.popleft()
        for place in free:
            for direction in (-1, 1):
                if len(world.seen) >= tests:
                    return
                near = list(person)
                near[place] += direction
                if not world.low[place] <= near[place] <= world.high[place]:
                    continue
                key = tuple(value for column, value in enumerate(near) if column != world.protected)
                if key not in world.seen and world.test(near):
                    queue.append(near)
