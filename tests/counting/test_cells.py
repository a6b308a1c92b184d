"""Cells stand for rows: whatever is counted from cells equals what is counted from the rows they were made of."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isonomia.counting import Cells, Codes, Tally, resample, resample_sums, tally
from isonomia.errors import DataError


@st.composite
def rows(draw: st.DrawFn) -> tuple[list[Codes], Any, dict[str, Any]]:
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n = draw(st.integers(1, 120))
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    columns = [
        Codes(f"x{i}", rng.integers(0, size, n).astype(np.uint8), tuple(range(size))) for i, size in enumerate(sizes)
    ]
    weights = rng.integers(0, 5, n) / 4 if draw(st.booleans()) else None
    values = {"u": rng.integers(-3, 9, n) / 8, "v": rng.integers(0, 2, n) * 1.0} if draw(st.booleans()) else {}
    return columns, weights, values


def by_hand(columns: list[Codes], weights: Any, values: dict[str, Any]) -> dict[tuple[int, ...], dict[Any, float]]:
    out: dict[tuple[int, ...], dict[Any, float]] = defaultdict(lambda: defaultdict(float))
    for i in range(len(columns[0])):
        cell = out[tuple(int(column.codes[i]) for column in columns)]
        w = 1.0 if weights is None else weights[i]
        cell["n"] += 1
        cell["w"] += w
        cell["w2"] += w * w
        for u, first in values.items():
            cell[u] += w * first[i]
            cell[u,] += w * w * first[i]
            for v, second in values.items():
                cell[u, v] += w * w * first[i] * second[i]
    return out


def equal(one: Tally, other: Tally) -> None:
    assert one.axes == other.axes
    assert one.weighted == other.weighted
    np.testing.assert_array_equal(one.n, other.n)
    np.testing.assert_allclose(one.w, other.w, rtol=1e-12)
    np.testing.assert_allclose(one.w2, other.w2, rtol=1e-12)
    assert one.sums.keys() == other.sums.keys()
    for name, total in one.sums.items():
        np.testing.assert_allclose(total, other.sums[name], rtol=1e-12, atol=1e-12)


@given(rows())
def test_cells_are_the_distinct_rows_with_their_sums(given_rows: Any) -> None:
    columns, weights, values = given_rows
    cells = Cells.of(columns, weights=weights, values=values, products=True)
    expected = by_hand(columns, weights, values)
    keys = list(zip(*(column.codes.tolist() for column in cells.columns), strict=True))
    assert keys == sorted(expected)
    assert cells.rows == len(columns[0])
    found = {"n": cells.n, "w": cells.w, "w2": cells.w2, **cells.sums, **cells.products}
    for name, array in found.items():
        np.testing.assert_allclose(array, [expected[key][name] for key in keys], rtol=1e-12, atol=1e-12)


@given(rows(), st.data())
def test_a_tally_from_cells_equals_that_from_rows(given_rows: Any, data: Any) -> None:
    columns, weights, values = given_rows
    cells = Cells.of(columns, weights=weights, values=values)
    equal(tally(cells), tally(columns, weights=weights, values=values))
    names = data.draw(st.lists(st.sampled_from([c.name for c in columns]), unique=True))
    some = [next(c for c in columns if c.name == name) for name in names]
    if some:
        equal(tally(cells.over(*names)), tally(some, weights=weights, values=values))
    assert cells.over().n.tolist() == [len(columns[0])]


@given(rows(), st.data())
def test_rows_with_counts_equal_the_rows_repeated(given_rows: Any, data: Any) -> None:
    columns, weights, values = given_rows
    counts = np.array(data.draw(st.lists(st.integers(0, 4), min_size=len(columns[0]), max_size=len(columns[0]))))
    index = np.repeat(np.arange(len(columns[0])), counts)
    repeated = [column.take(index) for column in columns]
    again = {name: value[index] for name, value in values.items()}
    weight = None if weights is None else weights[index]
    equal(
        tally(columns, weights=weights, values=values, counts=counts),
        tally(repeated, weights=weight, values=again),
    )
    one = Cells.of(columns, weights=weights, values=values, counts=counts, products=True)
    other = Cells.of(repeated, weights=weight, values=again, products=True)
    equal(tally(one), tally(other))
    for key, total in one.products.items():
        np.testing.assert_allclose(total, other.products[key], rtol=1e-12, atol=1e-12)


def test_the_bootstrap_of_cells_is_that_of_rows(rng: np.random.Generator) -> None:
    columns = [Codes.encode(rng.integers(0, 3, 500), name="g"), Codes.encode(rng.integers(0, 2, 500), name="y")]
    weights = rng.gamma(2.0, 1.0, 500)
    cells = Cells.of(columns, weights=weights)
    ours, theirs = (resample(table, 50, 3) for table in (tally(cells), tally(columns, weights=weights)))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_moments_feed_the_bootstrap_of_means(rng: np.random.Generator) -> None:
    group, weights, value = rng.integers(0, 2, 300), rng.gamma(2.0, 1.0, 300), rng.normal(3, 1, 300)
    cells = Cells.of([Codes.encode(group, name="g")], weights=weights, values={"v": value}, products=True)
    per_row = np.column_stack([weights, weights * value])
    sums = np.stack([per_row[group == g].sum(axis=0) for g in (0, 1)])
    products = np.stack([per_row[group == g].T @ per_row[group == g] for g in (0, 1)])
    found_sums, found_products = cells.moments("v")
    np.testing.assert_allclose(found_sums, sums)
    np.testing.assert_allclose(found_products, products)
    _, drawn = resample_sums(cells.n, found_sums, found_products, 2000, seed=0)
    means = drawn[:, :, 1] / drawn[:, :, 0]
    np.testing.assert_allclose(means.mean(axis=0), sums[:, 1] / sums[:, 0], rtol=0.01)


def test_many_sparse_combinations_cost_what_occurs(rng: np.random.Generator) -> None:
    columns = [Codes.encode(rng.integers(0, 900, 1000), name=f"x{i}") for i in range(6)]
    cells = Cells.of(columns)
    wide = np.stack([column.codes for column in columns], axis=1)
    distinct, n = np.unique(wide, axis=0, return_counts=True)
    np.testing.assert_array_equal(np.stack([column.codes for column in cells.columns], axis=1), distinct)
    np.testing.assert_array_equal(cells.n, n)
    assert cells.over("x2", "x0").rows == 1000


def test_an_axis_as_long_as_its_code_type() -> None:
    columns = [Codes.encode(np.zeros(512, int), name="one"), Codes.encode(np.arange(512) % 256, name="byte")]
    assert tally(columns).n.tolist() == [[2] * 256]
    assert len(Cells.of(columns).over("one", "byte")) == 256


def test_no_rows_no_cells() -> None:
    empty = Codes("x", np.zeros(0, np.uint8), ())
    assert len(Cells.of([empty])) == 0
    assert tally(Cells.of([empty])).n.shape == (0,)


def test_wrong_counts_and_axes_are_refused() -> None:
    column = Codes.encode(["F", "M"], name="sex")
    for counts in ([1.5, 2], [-1, 2], [np.nan, 1], ["a", "b"]):
        with pytest.raises(DataError, match="whole numbers of at least 0"):
            Cells.of([column], counts=counts)
    with pytest.raises(DataError, match="lengths differ"):
        tally([column], counts=[1])
    cells = Cells.of([column], values={"v": [1.0, 2.0]})
    with pytest.raises(DataError, match="no axis 'sez'"):
        cells.over("sez")
    with pytest.raises(DataError, match="products=True"):
        cells.moments("v")
    with pytest.raises(DataError, match="already have counts"):
        tally(cells, weights=np.ones(2))
