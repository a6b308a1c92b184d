"""Tallies: sums of several columns of values at once, and counting in threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isonomia.counting import Codes, tally, threads
from isonomia.counting._summing import CHUNK_ROWS


def coded(rng: np.random.Generator, name: str, size: int, rows: int) -> Codes:
    return Codes(name, rng.integers(0, size, rows).astype(np.uint8), tuple(range(size)))


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.sampled_from([0, 1, 50, 4095, 4096, 6000]),
    k=st.integers(1, 6),
    weighted=st.booleans(),
    counted=st.booleans(),
)
def test_columns_of_values_are_summed_as_each_alone(
    seed: int, rows: int, k: int, weighted: bool, counted: bool
) -> None:
    rng = np.random.default_rng(seed)
    columns = [coded(rng, "a", 3, rows), coded(rng, "b", 4, rows)]
    values = rng.normal(size=(rows, k))
    options = {
        "weights": rng.uniform(0, 2, rows) if weighted else None,
        "counts": rng.integers(0, 5, rows) if counted else None,
    }
    together = tally(columns, values={"v": values}, **options)
    alone = tally(columns, values={f"v{i}": one for i, one in enumerate(values.T)}, **options)
    assert together.sums["v"].shape == (3, 4, k)
    for i in range(k):
        assert np.array_equal(together.sums["v"][..., i], alone.sums[f"v{i}"])
    assert np.array_equal(together.n, alone.n)
    margin = together.over("b")
    assert margin.sums["v"].shape == (4, k)
    assert margin.sums["v"] == pytest.approx(together.sums["v"].sum(axis=0))


def test_columns_of_values_in_several_chunks() -> None:
    rng = np.random.default_rng(0)
    rows = CHUNK_ROWS + 5000
    column, values = coded(rng, "a", 7, rows), rng.normal(size=(rows, 5))
    found = tally([column], values={"v": values}).sums["v"]
    assert found == pytest.approx(np.array([values[column.codes == code].sum(axis=0) for code in range(7)]), abs=1e-9)


def test_columns_of_values_without_any_axis() -> None:
    values = np.arange(6.0).reshape(3, 2)
    assert tally([], values={"v": values}).sums["v"].tolist() == [6.0, 9.0]


@pytest.mark.parametrize("n_rows", [10, threads.MANY_ROWS])
def test_threads_keep_the_order_and_pass_errors_on(n_rows: int) -> None:
    assert threads.in_threads(lambda item: item * 2, range(50), n_rows) == list(range(0, 100, 2))
    with pytest.raises(ZeroDivisionError):
        threads.in_threads(lambda item: 1 // item, [1, 0], n_rows)
