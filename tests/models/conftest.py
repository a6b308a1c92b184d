"""A small table of people, and frames of every kind over it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from threadpoolctl import threadpool_limits

FRAMES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: frame,
    "polars": lambda frame: pl.DataFrame({name: frame[name].tolist() for name in frame}),
    "pyarrow": lambda frame: pa.table({name: frame[name].tolist() for name in frame}),
}


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Tiny models in many test processes: threads would only wait for one another."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    n = 240
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "age": rng.integers(18, 80, n),
            "income": rng.normal(3.0, 1.0, n).round(3),
            "job": rng.choice(["clerk", "cook", "smith"], n),
        }
    )
    signal = frame["income"] + (frame["sex"] == "M") + rng.normal(0, 0.7, n)
    frame["loan"] = np.where(signal > 3.5, "granted", "refused")
    frame["band"] = np.select([signal < 3, signal < 4], ["low", "mid"], "top")
    frame["limit"] = signal * 10
    return frame


@pytest.fixture(params=sorted(FRAMES))
def as_frame(request: pytest.FixtureRequest) -> Callable[[pd.DataFrame], Any]:
    return FRAMES[request.param]
