"""Halving several times in one call: the same brackets as halving once after another."""

from __future__ import annotations

import numpy as np
import pytest

from isonomia.evidence import halving
from isonomia.typing import Bools, Floats


@pytest.mark.parametrize("at_once", [1, 64, 4096])
def test_brackets_are_those_of_plain_halving(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halving, "AT_ONCE", at_once)
    root = np.random.default_rng(0).uniform(-1, 3, (2, 6))

    def passes(x: Floats) -> Bools:
        return (x > root) ^ (np.sin(40 * x) > 0.9)  # not from one point on: the path of halving decides

    start, end = np.full(root.shape, -1.0), np.full(root.shape, 3.0)
    found = halving.halve(passes, start, end, 17)
    for _ in range(17):
        middle = (start + end) / 2
        passed = passes(middle)
        start, end = np.where(passed, start, middle), np.where(passed, middle, end)
    np.testing.assert_allclose(found, (start, end), rtol=0, atol=1e-15)
