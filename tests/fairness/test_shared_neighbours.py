"""The variance of averages over people and their neighbours: pair by pair, and by simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from isonomia.fairness import encode_people
from isonomia.fairness.people.neighbours import Neighbours, nearest
from isonomia.fairness.people.shared_neighbours import variance_with_neighbours


def pair_by_pair(near: Neighbours, asked: Any, y: Any, w: Any, s: Any, pool: Any) -> float:
    """The same by listing every pair."""
    n = near.row.size
    y, s, u = y.reshape(n, -1), s.reshape(len(asked), -1), w[asked] / w[asked].sum()
    pairs = []
    for a, i in enumerate(asked):
        v = np.zeros(n)
        for entry in range(near.start[near.query[a]], near.start[near.query[a] + 1]):
            members = np.flatnonzero((near.row == near.index[entry]) & pool)
            v[members] += near.share[entry] / members.size * w[members]
        v /= v.sum()
        pairs += [(i, j, u[a] * v[j], (s[a] * (y[i] - y[j])).sum()) for j in np.flatnonzero(v) if j != i]
    first, second, v, x = np.array(pairs).T
    e = v * (x - v @ x / v.sum())
    people = np.zeros(n)
    np.add.at(people, first.astype(int), e)
    np.add.at(people, second.astype(int), e)
    return max(float(people @ people - e @ e), float(e @ e))


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("others", [False, True])
def test_it_is_the_sum_over_pairs(rng: np.random.Generator, ties: bool, weighted: bool, others: bool) -> None:
    n = 60
    x = rng.integers(0, 12, n).astype(float) if ties else rng.normal(size=n)
    w = rng.integers(0, 3, n).astype(float) if weighted else np.ones(n)
    pool = (w > 0) & (rng.random(n) < 0.6) if others else w > 0
    asked = np.flatnonzero(w > 0)[::2]
    near = nearest(encode_people({"x": x}), 4, rows=asked, pool=pool)
    y = rng.normal(size=n)
    sign = np.where(y[asked] >= near.mean(y, w), 1.0, -1.0)
    found = variance_with_neighbours(near, asked, y, weights=w, sign=sign)
    assert found == pytest.approx(pair_by_pair(near, asked, y, w, sign, pool))
    classes = np.eye(3)[rng.integers(0, 3, n)]
    half = np.where(classes[asked] > 0, 0.5, -0.5)
    found = variance_with_neighbours(near, asked, classes, weights=w, sign=half)
    assert found == pytest.approx(pair_by_pair(near, asked, classes, w, half, pool))


def test_it_is_the_variance_over_samples(rng: np.random.Generator) -> None:
    """Labels independent of everything, people fixed: the mean estimate is the variance of the difference."""
    near = nearest(encode_people({"x": rng.normal(size=200)}), 5, rows=np.arange(60), pool=np.arange(200) >= 60)
    labels = (rng.random((400, 200)) < 0.4).astype(float)
    found = [variance_with_neighbours(near, np.arange(60), y) for y in labels]
    gaps = [float((y[:60] - near.mean(y)).mean()) for y in labels]
    assert np.mean(found) == pytest.approx(np.var(gaps), rel=0.15)
