"""Counting several rows at a time gives what counting them one by one gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isonomia.counting._packing import count_codes


@given(st.integers(1, 300), st.integers(0, 9000), st.integers(0, 2**32 - 1))
def test_the_same_as_bincount(cells: int, rows: int, seed: int) -> None:
    codes = np.random.default_rng(seed).integers(0, cells, rows).astype(np.uint8 if cells <= 256 else np.uint16)
    assert np.array_equal(count_codes(codes, cells), np.bincount(codes, minlength=cells))


@pytest.mark.parametrize("cells", [1, 2, 6, 7, 64, 65, 256])
@pytest.mark.parametrize("rows", [4096, 4097, 4098, 4099, 131_072])
def test_at_the_edges(cells: int, rows: int) -> None:
    codes = np.full(rows, cells - 1, dtype=np.uint8)
    codes[::3] = 0
    assert np.array_equal(count_codes(codes, cells), np.bincount(codes, minlength=cells))


@pytest.mark.parametrize("cells", [3, 40])
def test_slices_that_begin_anywhere_or_skip_rows(cells: int) -> None:
    codes = np.random.default_rng(0).integers(0, cells, 20_000, dtype=np.uint8)
    for view in (codes[1:], codes[3:9001], codes[::2], codes[::-1]):
        assert np.array_equal(count_codes(view, cells), np.bincount(view, minlength=cells))
