"""The stability index without its noise: its interval covers, and with many rows it is the plain index."""

from __future__ import annotations

import numpy as np
import pytest

from isonomia.evidence import Estimate
from isonomia.robustness.shift.stability import psi, stability
from isonomia.robustness.shift.two_sample import with_training_noise


@pytest.mark.parametrize("moved", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("n", [100, 1000])
def test_the_interval_covers(n: int, moved: float) -> None:
    rng = np.random.default_rng(int(10 * moved) + n)
    p = np.full(10, 0.1)
    q = p * np.exp(moved * np.linspace(-1, 1, 10))
    q /= q.sum()
    truth = float(((q - p) * np.log(q / p)).sum())
    found = [stability(rng.multinomial(n, p), rng.multinomial(n, q)) for _ in range(400)]
    assert np.mean([item.low <= truth <= item.high for item in found]) > 0.925  # type: ignore[operator]
    assert all(item.low <= item.value <= item.high for item in found)  # type: ignore[operator]
    assert np.mean([item.value for item in found]) == pytest.approx(truth, abs=0.4 * 9 * 2 / n)  # noise: 9 (1/n + 1/n)


def test_noise_alone_is_not_worth_a_warning() -> None:
    """The plain index of 100 rows without drift is above 0.1 in most samples."""
    rng = np.random.default_rng(0)
    draws = [(rng.multinomial(100, np.full(10, 0.1)), rng.multinomial(100, np.full(10, 0.1))) for _ in range(300)]
    assert np.mean([psi(a, b) >= 0.1 for a, b in draws]) > 0.7
    assert np.mean([(stability(a, b).value or 0.0) >= 0.1 for a, b in draws]) < 0.15


def test_of_very_many_rows_it_is_the_plain_index() -> None:
    a, b = np.array([4e6, 6e6]), np.array([5e6, 5e6])
    found = stability(a, b)
    assert found.value == pytest.approx(psi(a, b), rel=1e-4)
    assert stability([5], [9]) == Estimate(0.0, 0.0, 0.0, n=14, method="one bin")


def test_training_noise_widens_the_interval_and_keeps_the_value() -> None:
    plain = Estimate(0.6, 0.55, 0.65)
    wide = with_training_noise(plain, 5)
    logit = [np.log(x / (1 - x)) for x in (0.55, 0.6, wide.low, wide.value)]
    assert (logit[3] - logit[2]) / (logit[1] - logit[0]) == pytest.approx(1.5)
    perfect = Estimate(1.0, 0.98, 1.0)
    assert with_training_noise(perfect, 5) == perfect
