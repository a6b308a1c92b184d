"""Intervals of F1, kappa and other functions of a confusion table: against theory, and their coverage."""

from __future__ import annotations

import numpy as np
import pytest

from isonomia.metrics import METRICS
from isonomia.metrics._table_figures import Tables, of_counts

BINARY = ("f1", "matthews_corrcoef", "cohens_kappa", "balanced_accuracy")


def _truth(base: float, found: float = 0.7, alarms: float = 0.1) -> np.ndarray:
    return np.array([[(1 - base) * (1 - alarms), (1 - base) * alarms], [base * (1 - found), base * found]])


def _tables(counts: np.ndarray, squares: np.ndarray | None = None, rows: np.ndarray | None = None) -> Tables:
    weighted = squares is not None and rows is not None
    return Tables(counts, squares if weighted else counts, rows if weighted else counts, weighted)


def test_the_error_of_kappa_is_that_of_fleiss_cohen_and_everitt() -> None:
    counts = np.array([[[4000.0, 500.0], [700.0, 3000.0]]])
    p = counts[0] / counts.sum()
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    observed, chance = np.trace(p), rows @ columns
    kappa = (observed - chance) / (1 - chance)
    # Fleiss, Cohen and Everitt (1969), Psychol. Bull. 72:323
    a = sum(p[i, i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in range(2))
    b = (1 - kappa) ** 2 * sum(p[i, j] * (columns[i] + rows[j]) ** 2 for i in range(2) for j in range(2) if i != j)
    c = (kappa - chance * (1 - kappa)) ** 2
    expected = np.sqrt((a + b - c) / counts.sum()) / (1 - chance)
    found = of_counts(METRICS["cohens_kappa"], _tables(counts), 0.95)
    assert found.value[0] == pytest.approx(kappa)
    assert found.error is not None
    assert found.error[0] == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize(("base", "n"), [(0.5, 30), (0.5, 300), (0.05, 30), (0.05, 100), (0.05, 1000)])
def test_intervals_cover_also_rare_outcomes(name: str, base: float, n: int) -> None:
    truth = _truth(base)
    counts = np.random.default_rng(5).multinomial(n, truth.ravel(), size=3000).reshape(-1, 2, 2).astype(float)
    found = of_counts(METRICS[name], _tables(counts), 0.95)
    at = METRICS[name].from_counts(truth)
    given = ~np.isnan(found.low)
    assert np.array_equal(given, ~np.isnan(found.value))
    covered = ((found.low <= at) & (at <= found.high))[given].mean()
    assert covered >= 0.935 - 3 * np.sqrt(0.935 * 0.065 / given.sum())
    if base * n >= 5:
        assert covered <= 0.985
    assert (found.high - found.low)[given].min() > 0


def test_weights_count_by_their_squares() -> None:
    rng = np.random.default_rng(1)
    cells = rng.choice(4, (1500, 400), p=_truth(0.2).ravel())
    w = rng.lognormal(0, 0.8, cells.shape)
    counts, squares, rows = (
        np.stack([(part * (cells == cell)).sum(axis=1) for cell in range(4)], axis=1).reshape(-1, 2, 2)
        for part in (w, w * w, np.ones_like(w))
    )
    for name in BINARY:
        found = of_counts(METRICS[name], _tables(counts, squares, rows), 0.95)
        at = METRICS[name].from_counts(_truth(0.2))
        assert 0.935 <= ((found.low <= at) & (at <= found.high)).mean() <= 0.98, name
    plain = of_counts(METRICS["f1"], _tables(counts), 0.95)
    heavy = of_counts(METRICS["f1"], _tables(7 * counts, 49 * counts, counts), 0.95)
    np.testing.assert_allclose(heavy.low, plain.low, rtol=1e-9)


def test_several_classes_need_five_rows_each() -> None:
    truth = np.array([[0.5, 0.03, 0.02], [0.05, 0.2, 0.05], [0.03, 0.02, 0.1]])
    counts = np.random.default_rng(2).multinomial(100, truth.ravel(), size=2000).reshape(-1, 3, 3).astype(float)
    for name in ("macro_f1", "cohens_kappa", "macro_precision"):
        found = of_counts(METRICS[name], _tables(counts), 0.95)
        at = METRICS[name].from_counts(truth)
        assert 0.93 <= ((found.low <= at) & (at <= found.high))[~np.isnan(found.low)].mean() <= 0.98, name
    few = np.array([[[20.0, 1, 1], [2, 20, 1], [0, 1, 3]]])
    found = of_counts(METRICS["macro_f1"], _tables(few), 0.95)
    assert np.isnan(found.low[0])
    assert "fewer than 5 rows" in str(found.unsure[0])
