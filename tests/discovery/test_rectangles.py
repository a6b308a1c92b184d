"""Rectangles of two features: against a loop over all of them, and what they find across the edges of bins."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from isonomia.counting import Codes
from isonomia.discovery import find_subgroups
from isonomia.discovery.subgroups.problem import Problem
from isonomia.discovery.subgroups.rates import quantity
from isonomia.discovery.subgroups.rectangles import best_rectangles, departures


@pytest.mark.parametrize("weighted", [False, True])
def test_the_best_rectangle_is_that_of_a_loop(weighted: bool) -> None:
    rng = np.random.default_rng(3)
    x, kind = rng.random(400), rng.choice(["a", "b", "c"], 400)
    column = Codes.cut(x, np.linspace(0, 1, 6).tolist(), name="x")
    other = Codes.encode(kind, name="kind")
    weights = rng.uniform(0.5, 1.5, 400) if weighted else None
    errors = (rng.random(400) < np.where((x > 0.4) & (x < 0.8) & (kind == "b"), 0.7, 0.3)).astype(float)
    problem = Problem(features=(column, other), errors=errors, min_support=10, weights=weights)
    examined = quantity(problem, "error")
    (found,) = best_rectangles(problem, "error", 5, upwards=True)
    departure, variance = departures(problem, examined, upwards=True)
    scores = {}
    for (first, last), code in product([(i, j) for i in range(5) for j in range(i, 5) if j - i < 4], range(3)):
        inside = (column.codes >= first) & (column.codes <= last) & (other.codes == code)
        size = inside.sum() if weights is None else weights[inside].sum()
        if size >= 10:
            z = departure[inside].sum() / np.sqrt(variance[inside].sum())
            scores[tuple(range(first, last + 1)), (code,)] = z * abs(z) / 2 + np.log(size)  # small ones are many
    assert (found["x"], found["kind"]) == max(scores, key=lambda key: scores[key])


def test_a_range_across_the_edges_of_bins_is_found_with_its_category() -> None:
    rng = np.random.default_rng(5)
    n = 20_000
    x, job = rng.random(n), rng.choice(list("abcde"), n)
    inside = (x >= 0.44) & (x < 0.59) & (job == "b")
    wrong = (rng.random(n) < np.where(inside, 0.35, 0.2)).astype(int)
    frame = {"x": x, "z": rng.random(n), "job": job}
    found = find_subgroups(frame, errors=wrong, k=5, holdout=0.5, max_overlap=0.6, alpha=0.99)
    first = found.subgroups[0]
    assert set(first.conditions) == {"x", "job"}
    assert first.p_adjusted is not None
    assert first.p_adjusted < 0.01
    mask = first.mask(found.features)
    assert (mask & inside).sum() / (mask | inside).sum() > 0.5
