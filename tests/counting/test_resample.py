"""The bootstrap on counts against the bootstrap of rows."""

from __future__ import annotations

import numpy as np
import pytest

from isonomia.counting import Codes, resample, resample_counts, resample_sums, tally
from isonomia.errors import SpecError


def test_counts_have_the_moments_of_resampled_rows() -> None:
    n = np.array([[5, 0], [40, 155]])
    draws = resample_counts(n, 20_000, seed=0)
    p = n / n.sum()
    np.testing.assert_allclose(draws.mean(axis=0), n, atol=0.2)
    np.testing.assert_allclose(draws.var(axis=0), n.sum() * p * (1 - p), rtol=0.05, atol=1e-9)
    covariance = np.cov(draws[:, 1, 0], draws[:, 1, 1])[0, 1]
    assert covariance == pytest.approx(-200 * p[1, 0] * p[1, 1], rel=0.06)
    assert (draws.sum(axis=(1, 2)) == 200).all()


def test_weighted_counts_have_the_moments_of_resampled_rows() -> None:
    rng = np.random.default_rng(1)
    group, weights = rng.integers(0, 2, 300), rng.gamma(1.0, 2.0, 300)
    table = tally([Codes.encode(group, name="g")], weights=weights)
    draws = resample(table, 8000, seed=0)
    rows = np.array(
        [np.bincount(group[i], weights[i], minlength=2) for i in (rng.integers(0, 300, 300) for _ in range(8000))]
    )
    np.testing.assert_allclose(draws.mean(axis=0), rows.mean(axis=0), rtol=0.01)
    np.testing.assert_allclose(draws.std(axis=0), rows.std(axis=0), rtol=0.05)


def test_sums_have_the_covariance_of_resampled_rows() -> None:
    rng = np.random.default_rng(2)
    group = rng.integers(0, 2, 200)
    rows = np.column_stack([rng.normal(3, 1, 200), rng.exponential(2, 200)])
    n = np.bincount(group)
    sums = np.stack([rows[group == g].sum(axis=0) for g in (0, 1)])
    products = np.stack([rows[group == g].T @ rows[group == g] for g in (0, 1)])
    m, drawn = resample_sums(n, sums, products, 8000, seed=0)
    again = [rng.integers(0, 200, 200) for _ in range(8000)]
    truth = np.array([[rows[i][group[i] == g].sum(axis=0) for g in (0, 1)] for i in again])
    assert (m.sum(axis=1) == 200).all()
    np.testing.assert_allclose(drawn.mean(axis=0), truth.mean(axis=0), rtol=0.01)
    np.testing.assert_allclose(drawn.std(axis=0), truth.std(axis=0), rtol=0.05)
    ours, theirs = (np.corrcoef(x[:, 0, 0], x[:, 0, 1])[0, 1] for x in (drawn, truth))
    assert ours == pytest.approx(theirs, abs=0.03)


def test_the_same_seed_draws_the_same() -> None:
    n = np.array([3, 4, 5])
    np.testing.assert_array_equal(resample_counts(n, 5, seed=7), resample_counts(n, 5, seed=7))
    assert resample_counts(np.zeros(3, dtype=int), 2, seed=0).sum() == 0
    with pytest.raises(SpecError, match="n_boot"):
        resample_counts(n, 0, seed=0)
