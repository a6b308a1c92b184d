"""Shares of neighbours: leaving people out one by one, and errors against the spread over samples."""

from __future__ import annotations

import numpy as np
import pytest

from isonomia.fairness import awareness
from isonomia.fairness.people.encoding import encode_people
from isonomia.fairness.people.neighbours import nearest
from isonomia.fairness.people.replacements import Replacements, keys_of, within

K = 3


def neighbours(X: np.ndarray) -> set[tuple[int, int]]:
    """Every pair in which one is among the K nearest of the other, by sorting all distances."""
    apart = np.abs(X[:, None] - X[None]).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    return {(min(i, j), max(i, j)) for i, row in enumerate(np.argsort(apart, axis=1)[:, :K].tolist()) for j in row}


def test_replacements_are_the_pairs_that_come_when_somebody_goes(rng: np.random.Generator) -> None:
    X = rng.normal(size=(40, 2))
    found = nearest(encode_people(X, metric="manhattan", standardise="none"), K + 2)
    one, other = np.repeat(found.who, np.diff(found.start)), found.index
    row = np.argsort(found.row)  # rows differ: each distinct row is one of the data
    one, other = row[one], row[other]
    inside, following = within(found, np.abs(X[one] - X[other]).sum(axis=1), K + 1)
    keys = np.unique(keys_of(one, other, 40)[inside & (one != other)])
    assert {(key // 40, key % 40) for key in keys.tolist()} == neighbours(X)
    come = Replacements.of((one, other), inside, following, 40, keys, keys)
    for person in range(40):
        left = np.delete(np.arange(40), person)
        without = {(left[i], left[j]) for i, j in neighbours(X[left])}
        pairs = come.pair[come.without == person]
        assert {(come.first[pair], come.second[pair]) for pair in pairs.tolist()} == without - neighbours(X)


def test_a_tie_at_the_edge_needs_no_replacement() -> None:
    found = nearest(encode_people({"x": [0.0, 1.0, 1.0, -1.0, 5.0]}, standardise="none"), 4)
    x = np.array([0.0, 1.0, 1.0, -1.0, 5.0])
    distinct = np.array([x[found.row == code][0] for code in range(found.row.max() + 1)])
    one = np.repeat(found.who, np.diff(found.start))
    inside, following = within(found, np.abs(distinct[one] - distinct[found.index]), 3)
    zero = distinct[one] == 0.0
    assert sorted(distinct[found.index[zero & inside]].tolist()) == [-1.0, 0.0, 1.0]  # four rows for three
    assert not following[zero].any()


KINDS = {
    "chances that grow": lambda x, rng: 1 / (1 + np.exp(-1.5 * x[:, 0])),
    "arbitrary for half of the people": lambda x, rng: np.where(x[:, 1] > 0, rng.random(len(x)), 0.5),
    "decisions at a limit": lambda x, rng: (x[:, 0] > 0).astype(float),
}


@pytest.mark.parametrize("kind", KINDS)
def test_errors_of_shares_of_neighbours_are_those_of_samples(kind: str) -> None:
    rng = np.random.default_rng(5)
    shares, errors = [], []
    for _ in range(80):
        x = rng.normal(size=(120, 3))
        near = awareness(x, y_score=KINDS[kind](x, rng)).near
        shares.append(near.value)
        errors.append((near.high - near.low) / (2 * 1.96))
    assert 0.85 < np.mean(errors) / np.std(shares) < 1.25  # covariances of people in common alone: 1.2 to 1.6


def test_a_metric_of_ones_own_is_not_asked_about_nobody() -> None:
    asked = []

    def metric(one: object, other: object) -> np.ndarray:
        asked.append(len(one))  # type: ignore[arg-type]
        return np.abs(one["x"].to_numpy() - other["x"].to_numpy())  # type: ignore[index]

    found = awareness({"x": [0.0, 0.1, 1.0]}, y_score=[0.1, 0.9, 0.6], metric=metric, k=2)
    assert asked == [3]  # everyone is a neighbour of everyone: there is nobody to take a place
    assert found.near.value == pytest.approx(1 / 3)
