"""Keys of rows and the map that remembers them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from isonomia.probing import Domain, Keyer, KeyMap
from isonomia.probing.key_map import distinct_keys, first_keys


@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=40), max_size=12))
def test_the_map_remembers_like_a_dictionary(batches: list[list[int]]) -> None:
    known: dict[int, float] = {}
    mapped = KeyMap(1)
    for number, batch in enumerate(batches):
        fresh = [key for key in dict.fromkeys(batch) if key not in known]
        known |= {key: float(number) for key in fresh}
        mapped.add(np.array(fresh, dtype=np.uint64), np.full((len(fresh), 1), float(number)))
        asked = np.array([*batch, *range(5)], dtype=np.uint64)
        there, values = mapped.look(asked)
        assert there.tolist() == [int(key) in known for key in asked]
        assert values[there, 0].tolist() == [known[int(key)] for key in asked[there]]
        assert mapped.holds(asked).tolist() == there.tolist()
    assert len(mapped) == len(known)


def test_exact_keys_are_one_to_one() -> None:
    domain = Domain({"a": (0, 4), "b": (3, 9), "c": ["x", "y"]}, backend="polars")
    grid = np.array([[a, b, c] for a in range(5) for b in range(3, 10) for c in range(2)], dtype=float)
    keyer = Keyer(domain, np.array([0, 1, 2], dtype=np.intp))
    assert keyer.exact
    assert len(set(keyer(grid).tolist())) == 70
    assert sorted(keyer._number(grid, keyer._parts or []).tolist()) == list(range(70))


def test_hashed_keys_tell_rows_apart_and_ignore_other_columns(rng: np.random.Generator) -> None:
    domain = Domain({"a": (0.0, 1.0), "b": (0.0, 1.0), "sex": ["F", "M"]}, backend="polars")
    keyer = Keyer(domain, np.array([0, 1], dtype=np.intp))
    assert not keyer.exact
    rows = domain.sample(200_000, rng)
    assert len(np.unique(keyer(rows))) == len(rows)
    flipped = rows.copy()
    flipped[:, 2] = 1 - flipped[:, 2]
    assert (keyer(flipped) == keyer(rows)).all()
    assert (keyer(np.array([[0.0, np.nan, 0]])) == keyer(np.array([[-0.0, -np.nan, 1]]))).all()


@given(st.lists(st.sampled_from([0, 1, 2, 5 << 40, (5 << 40) + 1, 2**63, 2**64 - 1]), max_size=30))
def test_distinct_keys_are_those_of_numpy(some: list[int]) -> None:
    """Keys that share their first bits included, which are sorted another way."""
    keys = np.array(some, dtype=np.uint64)
    wanted = np.unique(keys, return_index=True, return_inverse=True)
    for got, part in zip(distinct_keys(keys), wanted, strict=True):
        np.testing.assert_array_equal(got, part)
    for got, part in zip(first_keys(keys), wanted, strict=False):
        np.testing.assert_array_equal(got, part)


def test_moved_keys_are_those_of_the_rows_made(rng: np.random.Generator) -> None:
    for spans in ({"a": (-3, 9), "b": (0, 4000), "c": ["x", "y"]}, {"a": (-3, 9), "b": (0.0, 1.0), "c": ["x", "y"]}):
        domain = Domain(spans, backend="polars")
        keyer = Keyer(domain, np.arange(3))
        rows = domain.sample(50, rng)
        column = rng.integers(3, size=40)
        every = domain.sample(50, rng)[:, column] - rows[:, column]
        same = np.where(domain.whole[column], 1.0, 0.25)  # outside the bounds for some
        for change in (every, same):
            place = rng.permutation(50 * 40)[:200]
            row, move = np.divmod(place, 40)
            made = rows[row]
            made[np.arange(200), column[move]] += np.broadcast_to(change, (50, 40))[row, move]
            inside = domain.valid(made)
            keys = keyer.moved(rows, column, change, place[inside])
            np.testing.assert_array_equal(keys, keyer(made[inside]))
