"""Scans over conjunctions find the same from cells as from the rows that the cells were made of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isonomia.counting import Cells, Codes, Lattice
from isonomia.discovery.subgroups.problem import Problem
from isonomia.discovery.subgroups.rates import quantity
from isonomia.discovery.subgroups.searches import slicefinder, sliceline
from isonomia.discovery.subgroups.searches.divergence import Patterns, lay_out


def problem(seed: int, weighted: bool) -> Problem:
    rng = np.random.default_rng(seed)
    n = 400
    features = tuple(Codes.encode(rng.integers(0, 3, n), name=f"x{i}") for i in range(4))
    truth = rng.integers(0, 2, n)
    planted = (features[0].codes == 1) & (features[2].codes == 0)
    label = np.where(rng.random(n) < np.where(planted, 0.6, 0.15), 1 - truth, truth)
    weights = rng.integers(1, 5, n) / 2 if weighted else None
    if weights is not None:
        weights = weights * (n / weights.sum())
    return Problem(
        features=features,
        task="binary",
        classes=(0, 1),
        truth=truth,
        label=label,
        weights=weights,
        options={"alpha": 0.9},
    )


def found(lattice: Lattice, best: Any) -> list[tuple[float, dict[int, int]]]:
    return [(round(score, 9), lattice.conditions(items)) for score, _, items in best.entries]


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.booleans())
def test_sliceline(seed: int, weighted: bool) -> None:
    asked = problem(seed, weighted)
    error = asked.loss()
    total = float(error.sum() if asked.weights is None else error @ asked.weights)
    rows = Lattice(asked.features, {"error": error}, min_size=10, weights=asked.weights)
    from_rows = sliceline._walk(rows, np.ones(rows.n_items), asked, total)
    cells = Cells.of([*asked.features, Codes.encode(error, name="error")], weights=asked.weights)
    *features, errors = cells.columns
    of_cells = np.asarray(errors.labels, dtype=float)[errors.codes]
    lattice = Lattice(features, {"error": of_cells}, min_size=10, weights=cells.w / cells.n, counts=cells.n)
    assert lattice.n < rows.n
    assert found(lattice, sliceline._walk(lattice, np.ones(lattice.n_items), asked, total)) == found(rows, from_rows)
    assert from_rows.entries


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.booleans())
def test_divexplorer(seed: int, weighted: bool) -> None:
    asked = problem(seed, weighted)
    quantities = [quantity(asked, name) for name in ("fpr", "fnr", "error_rate")]
    sums, columns = lay_out(quantities, asked.weights)
    rows = Patterns(Lattice(asked.features, sums, min_size=10, weights=asked.weights), quantities, 3, columns)
    lattice = Lattice(Cells.of(asked.features, weights=asked.weights, values=sums), min_size=10)
    cells = Patterns(lattice, quantities, 3, columns)
    for ours, theirs in zip(cells.levels, rows.levels, strict=True):
        np.testing.assert_array_equal(ours.items, theirs.items)
        np.testing.assert_allclose(ours.sums, theirs.sums, rtol=1e-12, atol=1e-9)
    for one, other in zip(cells.divergences, rows.divergences, strict=True):
        for name in ("rows", "rate", "divergence", "t", "p_value"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_slicefinder(weighted: bool) -> None:
    asked = replace(problem(7, weighted), errors=np.random.default_rng(7).integers(0, 9, 400) / 8)
    loss = slicefinder._Loss(asked, quantity(asked, "error"), "paper")
    sums = {"loss": loss.centred, "square": loss.centred**2}
    rows = Lattice(asked.features, sums, min_size=10, weights=asked.weights)
    cells = Lattice(Cells.of(asked.features, weights=asked.weights, values=sums), min_size=10)
    for ours, theirs in zip(cells.walk(3), rows.walk(3), strict=True):
        one, other = loss.effects(ours.sums), loss.effects(theirs.sums)
        for name in ("size", "mean", "effect", "p_value"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-9, atol=1e-9)
