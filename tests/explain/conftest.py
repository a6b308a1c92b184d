"""Small data, models of several kinds, and Shapley values by the definition."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import isonomia as iso

Function = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def brute_force(
    f: Function, x: NDArray[np.float64], background: NDArray[np.float64], weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Shapley values of one row by the definition: a loop over players and coalitions."""
    players = x.size
    shares = np.full(len(background), 1 / len(background)) if weights is None else weights / weights.sum()

    def worth(inside: tuple[int, ...]) -> float:
        mixed = background.copy()
        mixed[:, list(inside)] = x[list(inside)]
        return float(shares @ f(mixed))

    phi = np.zeros(players)
    for player in range(players):
        others = [one for one in range(players) if one != player]
        for size in range(players):
            weight = math.factorial(size) * math.factorial(players - size - 1) / math.factorial(players)
            for inside in combinations(others, size):
                phi[player] += weight * (worth((*inside, player)) - worth(inside))
    return phi


@pytest.fixture
def people() -> pd.DataFrame:
    """60 people with a number, a count and two categories."""
    rng = np.random.default_rng(0)
    n = 60
    frame = pd.DataFrame(
        {
            "age": rng.normal(size=n),
            "sex": rng.choice(["F", "M"], n),
            "job": rng.choice(["a", "b", "c"], n),
            "debts": rng.integers(0, 5, n),
        }
    )
    frame["good"] = (frame["age"] + (frame["sex"] == "M") + rng.normal(size=n) > 0).astype(int)
    return frame


@pytest.fixture
def data(people: pd.DataFrame) -> iso.Dataset:
    """The people as a dataset."""
    return iso.Dataset(people, target="good", protected=["sex"], privileged={"sex": "M"})
