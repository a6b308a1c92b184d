"""The lattice equals brute force, by every route, at every memory budget, however wide the data."""

from __future__ import annotations

import tracemalloc
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isonomia.counting import Cells, Codes, Lattice, Level
from isonomia.errors import DataError, SpecError
from isonomia.events import Clock


def brute_force(
    columns: list[Codes], quantities: list[np.ndarray[Any, Any]], min_size: float, max_l: int, weights: Any = None
) -> dict[tuple[tuple[int, int], ...], list[float]]:
    weight = np.ones(len(columns[0])) if weights is None else weights
    out = {}
    for length in range(1, max_l + 1):
        for chosen in combinations(range(len(columns)), length):
            for codes in product(*(range(columns[i].size) for i in chosen)):
                mask = np.ones(len(columns[0]), dtype=bool)
                for feature, code in zip(chosen, codes, strict=True):
                    mask &= columns[feature].codes == code
                if weight[mask].sum() >= min_size:
                    key = tuple(zip(chosen, codes, strict=True))
                    out[key] = [weight[mask].sum(), *((weight * q)[mask].sum() for q in quantities)]
    return out


def walked(lattice: Lattice, max_l: int, **choices: Any) -> dict[tuple[tuple[int, int], ...], list[float]]:
    found = {}
    for level in lattice.walk(max_l, **choices):
        for row, sums in zip(level.items, level.sums, strict=True):
            found[tuple(sorted(lattice.conditions(row).items()))] = sums.tolist()
    return found


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[Codes], list[np.ndarray[Any, Any]], float, int, Any]:
    seed = draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    n = draw(st.integers(1, 90))
    columns = [
        Codes.encode(rng.integers(0, draw(st.integers(1, 5)), n), name=f"x{i}") for i in range(draw(st.integers(1, 5)))
    ]
    binary = [rng.integers(0, 2, n).astype(float) for _ in range(draw(st.integers(0, 3)))]
    real = [rng.exponential(size=n)] if draw(st.booleans()) else []
    weights = rng.integers(0, 4, n).astype(float) if draw(st.booleans()) else None
    return columns, binary + real, float(draw(st.integers(1, 8))), draw(st.integers(1, 4)), weights


@given(problem=problems(), route=st.sampled_from(["auto", "bits", "cells"]), budget=st.sampled_from([1, 2000, 10**8]))
def test_equal_to_brute_force(problem: Any, route: Any, budget: int) -> None:
    columns, quantities, min_size, max_l, weights = problem
    names = {f"q{i}": q for i, q in enumerate(quantities)}
    lattice = Lattice(columns, names, min_size=min_size, weights=weights, route=route, budget=budget)
    if route == "bits" and lattice._classes is None:
        return
    expected = brute_force(columns, quantities, min_size, min(max_l, len(columns)), weights)
    found = walked(lattice, max_l)
    assert found.keys() == expected.keys()
    for key, sums in expected.items():
        np.testing.assert_allclose(found[key], sums, rtol=1e-12, atol=1e-12)


def test_whole_numbers_are_exactly_the_same_by_both_routes(rng: np.random.Generator) -> None:
    columns = [Codes.encode(rng.integers(0, 9, 3000), name=f"x{i}") for i in range(6)]
    quantities = {"a": rng.integers(0, 2, 3000), "b": rng.integers(0, 2, 3000)}
    bits = walked(Lattice(columns, quantities, min_size=20, route="bits"), 4)
    cells = walked(Lattice(columns, quantities, min_size=20, route="cells"), 4)
    assert bits == cells
    assert len(bits) > 500


def test_a_conjunction_whose_parent_was_not_kept_is_not_looked_at(rng: np.random.Generator) -> None:
    columns = [Codes.encode(rng.integers(0, 3, 500), name=f"x{i}") for i in range(4)]
    lattice = Lattice(columns, {}, min_size=1)

    def without_first(level: Level) -> Any:
        return (level.items != 0).all(axis=1)

    found = walked(lattice, 3, keep=without_first)
    assert all((0, 0) not in key for key in found if len(key) > 1)
    assert any(len(key) == 3 for key in found)


def test_candidates_bring_the_smallest_sums_of_their_parents(rng: np.random.Generator) -> None:
    columns = [Codes.encode(rng.integers(0, 3, 400), name=f"x{i}") for i in range(4)]
    lattice = Lattice(columns, {"q": rng.integers(0, 2, 400)}, min_size=5)
    seen: dict[Any, Any] = {}

    def admit(level: Level) -> Any:
        for row, sums in zip(level.items, level.sums, strict=True):
            seen[tuple(sorted(lattice.conditions(row).items()))] = sums.tolist()
        return np.ones(len(level), dtype=bool)

    found = walked(lattice, 3, admit=admit)
    for key in [key for key in seen if len(key) == 3 and key in found]:
        parents = [found[tuple(item for item in key if item != left)] for left in key]
        assert seen[key] == np.min(parents, axis=0).tolist()


def test_wide_data_has_exact_places(rng: np.random.Generator) -> None:
    n = 4000
    columns = [Codes.encode(rng.integers(0, 12, n), name=f"x{i}") for i in range(40)]
    planted = (columns[3].codes == 7) & (columns[21].codes == 2) & (columns[39].codes == 11)
    lattice = Lattice(columns, {"wrong": planted.astype(float)}, min_size=1)
    best: dict[Any, float] = {}

    def with_errors(level: Level) -> Any:
        return level.sums[:, 1] > 0

    for level in lattice.walk(3, admit=with_errors, keep=with_errors):
        top = int(np.argmax(level.sums[:, 1] ** 2 / level.sums[:, 0]))  # all of them, and nothing else
        best = lattice.conditions(level.items[top])
    assert best == {3: 7, 21: 2, 39: 11}


def test_possible_counts_every_conjunction(rng: np.random.Generator) -> None:
    columns = [Codes.encode(np.arange(60) % size, name=str(size)) for size in (2, 3, 4)]
    assert Lattice(columns, {}).possible(1) == 9
    assert Lattice(columns, {}).possible(2) == 9 + 6 + 8 + 12
    assert Lattice(columns, {}).possible(3) == 9 + 26 + 24


def test_the_time_limit_cuts_the_walk_and_says_so(rng: np.random.Generator) -> None:
    columns = [Codes.encode(rng.integers(0, 12, 5000), name=f"x{i}") for i in range(12)]
    lattice = Lattice(columns, {}, clock=Clock(1e-9))
    assert [level.length for level in lattice.walk(4)] == [1]
    assert not lattice.complete


def test_a_level_too_large_for_the_budget_is_cut_and_said_so(rng: np.random.Generator) -> None:
    columns = [Codes.encode(rng.integers(0, 12, 5000), name=f"x{i}") for i in range(12)]
    whole = walked(Lattice(columns, {}), 3)
    lattice = Lattice(columns, {}, budget=8 * 1024**2)
    levels = list(lattice.walk(3))
    assert not lattice.complete
    assert sum(level.nbytes for level in levels[1:]) <= 8 * 1024**2
    assert len(whole) > sum(len(level) for level in levels)


def test_wrong_routes_are_told() -> None:
    column = Codes.encode(np.arange(40), name="x")
    with pytest.raises(SpecError, match="`route` must be"):
        Lattice([column], {}, route="fast")  # type: ignore[arg-type]
    lattice = Lattice([column, column], {"q": np.arange(40.0)}, route="bits")
    with pytest.raises(SpecError, match="bits cannot count them"):
        list(lattice.walk(2))


def test_portions_of_a_level_change_nothing(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = [Codes.encode(rng.integers(0, 4, 400), name=f"x{i}") for i in range(5)]
    quantities = {"q": rng.integers(0, 2, 400)}
    whole = walked(Lattice(columns, quantities, min_size=3), 4)
    monkeypatch.setattr("isonomia.counting.lattice._JOIN", 7)
    assert walked(Lattice(columns, quantities, min_size=3), 4) == whole


def test_an_item_that_follows_from_another_needs_no_counting(rng: np.random.Generator) -> None:
    fine = rng.integers(0, 8, 600)
    columns = [Codes.encode(values, name=name) for name, values in (("fine", fine), ("coarse", fine // 2))]
    columns += [Codes.encode(rng.integers(0, 3, 600), name=f"x{i}") for i in range(3)]
    lattice = Lattice(columns, {"q": rng.integers(0, 2, 600)}, min_size=2)
    found = walked(lattice, 5)
    assert found == brute_force(columns, [lattice._values[0]], 2, 5)
    assert lattice.counted < len(found)


@given(problem=problems(), route=st.sampled_from(["auto", "cells"]))
def test_cells_and_counted_rows_give_what_rows_give(problem: Any, route: Any) -> None:
    columns, quantities, min_size, max_l, weights = problem
    names = {f"q{i}": q for i, q in enumerate(quantities)}
    rows = walked(Lattice(columns, names, min_size=min_size, weights=weights, route=route), max_l)
    cells = Cells.of(columns, weights=weights, values=names)
    counts = np.arange(len(columns[0])) % 3
    index = np.repeat(np.arange(len(counts)), counts)
    repeated = Lattice(
        [column.take(index) for column in columns],
        {name: q[index] for name, q in names.items()},
        min_size=min_size,
        weights=None if weights is None else weights[index],
        route=route,
    )
    counted = Lattice(columns, names, min_size=min_size, weights=weights, counts=counts, route=route)
    for one, other in [
        (walked(Lattice(cells, min_size=min_size, route=route), max_l), rows),
        (walked(counted, max_l), walked(repeated, max_l)),
    ]:
        assert one.keys() == other.keys()
        for key, sums in other.items():
            np.testing.assert_allclose(one[key], sums, rtol=1e-12, atol=1e-12)


def test_cells_bring_their_own_sums() -> None:
    column = Codes.encode([0, 1], name="x")
    with pytest.raises(DataError, match="already have counts"):
        Lattice(Cells.of([column]), {"q": np.ones(2)})


@pytest.mark.parametrize("route", ["auto", "cells"])
def test_the_budget_is_kept_however_wide_the_data(route: Any, rng: np.random.Generator) -> None:
    budget, n = 2 * 1024**2, 30_000
    columns = [Codes.encode(rng.integers(0, 3, n), name=str(i)) for i in range(120)]  # 3.6 MB of codes
    quantities = {"error": (rng.random(n) < 0.1).astype(float)}
    tracemalloc.start()
    try:
        lattice = Lattice(columns, quantities, min_size=n // 3.1, route=route, budget=budget)
        counted = sum(len(level) for level in lattice.walk(2))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert counted > 100
    assert peak < 2 * budget + 8 * quantities["error"].nbytes
