"""Metrics of slices from sums, against the same metrics computed slice by slice."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from isonomia.counting import Codes
from isonomia.errors import SpecError
from isonomia.evidence.mean_intervals import hall_ends
from isonomia.metrics import METRICS, Metric, Rows, RowSums, evaluate_all, of_class
from isonomia.metrics.derivatives import derivative, table_derivative
from isonomia.models import Surface
from isonomia.robustness.row_metrics import MEASURES, measure_named


def classes(rng: np.random.Generator, n: int = 400, k: int = 3) -> Rows:
    truth = rng.integers(0, k, n).astype(np.uint8)
    table = rng.dirichlet(np.ones(k), n)
    return Rows(truth, Surface.of_probabilities(table if k > 2 else table[:, 1], classes=tuple("abcdef"[:k])))


@pytest.mark.parametrize("name", ["accuracy", "recall", "precision", "f1", "matthews_corrcoef", "logloss"])
@pytest.mark.parametrize("weighted", [False, True])
def test_values_equal_those_of_each_slice_alone(name: str, weighted: bool, rng: np.random.Generator) -> None:
    outcome = classes(rng, k=2)
    weights = rng.uniform(0.5, 2, len(outcome)) if weighted else None
    slices = Codes.encode(rng.integers(0, 4, len(outcome)), name="s")
    weighing = replace(outcome, weights=weights)
    meter = RowSums(METRICS[name], weighing)
    measured = meter.measure(meter.over([slices]))
    for code in range(4):
        rows = slices.codes == code
        alone = RowSums(METRICS[name], weighing.take(rows))
        whole = alone.measure(alone.over([Codes.encode(np.zeros(int(rows.sum()), dtype=int))]))
        assert measured.value[code] == pytest.approx(whole.value[0], abs=1e-12)
        assert measured.error[code] == pytest.approx(whole.error[0], abs=1e-9)


def test_standard_error_and_test_of_means_are_those_of_scipy(rng: np.random.Generator) -> None:
    truth, said = rng.normal(size=300), rng.normal(size=300)
    outcome = Rows(truth, Surface.of_numbers(said))
    slices = Codes.encode(rng.integers(0, 3, 300), name="s")
    meter = RowSums(MEASURES["mae"], outcome)
    cells = meter.over([slices])
    measured = meter.measure(cells, 0.9)
    p = meter.compare(cells, cells.total() - cells)
    for code in range(3):
        here, rest = (np.abs(truth - said)[rows] for rows in (slices.codes == code, slices.codes != code))
        assert measured.value[code] == pytest.approx(here.mean())
        assert measured.error[code] == pytest.approx(stats.sem(here))
        skewness = stats.skew(here) * np.sqrt((here.size - 1) ** 3 / here.size**4)  # of the mean, with sem's variance
        ends = hall_ends(here.mean(), stats.sem(here), skewness, here.size - 1, 0.05, positive=True)
        assert (measured.low[code], measured.high[code]) == pytest.approx(ends)
        low, high = stats.t.interval(0.9, here.size - 1, here.mean(), stats.sem(here))
        assert (measured.low[code], measured.high[code]) == pytest.approx((low, high), abs=0.2 * (high - low))
        assert p[code] == pytest.approx(stats.ttest_ind(here, rest, equal_var=False).pvalue, rel=0.2)


@pytest.mark.parametrize("name", ["f1", "matthews_corrcoef", "balanced_accuracy"])
def test_standard_error_of_tables_is_near_the_bootstrap(name: str, rng: np.random.Generator) -> None:
    outcome = classes(rng, n=800, k=2)
    meter = RowSums(METRICS[name], outcome)
    cells = meter.over([])
    assert meter.kind == "table"
    shares = cells.sums / cells.sums.sum()
    draws = meter.value(rng.multinomial(800, shares, size=4000).astype(float))
    assert float(meter.measure(cells).error) == pytest.approx(float(np.nanstd(draws)), rel=0.08)


def test_weights_of_two_are_rows_given_twice(rng: np.random.Generator) -> None:
    outcome = classes(rng)
    slices = Codes.encode(rng.integers(0, 3, len(outcome)), name="s")
    twice = np.repeat(np.arange(len(outcome)), 2)
    heavy = RowSums(METRICS["logloss"], replace(outcome, weights=np.full(len(outcome), 2.0)))
    double = RowSums(METRICS["logloss"], outcome.take(twice))
    a, b = heavy.measure(heavy.over([slices])), double.measure(double.over([slices.take(twice)]))
    np.testing.assert_allclose(a.value, b.value)
    assert (a.error > b.error).all()  # weights are no further people


def test_cells_of_a_pair_add_up_to_their_margins(rng: np.random.Generator) -> None:
    outcome = classes(rng)
    one, two = (Codes.encode(rng.integers(0, k, len(outcome)), name=f"f{k}") for k in (3, 5))
    for name in ("error_rate", "mse", "log_loss"):
        meter = RowSums(measure_named(name, outcome.surface), replace(outcome, weights=rng.uniform(1, 2, len(outcome))))
        both = meter.over([one, two])
        for axis, column in ((1, one), (0, two)):
            margin = meter.over([column])
            np.testing.assert_allclose(both.total(axis).sums, margin.sums)
            np.testing.assert_allclose(both.total(axis).squares, margin.squares)


def test_metrics_that_cannot_be_measured_on_slices_are_refused(rng: np.random.Generator) -> None:
    surface = classes(rng, k=2).surface
    for name, told in {
        "auc": "does not add up",
        "selection_rate": "is descriptive",
        "r2": "is for regression",
        "acuracy": "Did you mean 'accuracy'",
    }.items():
        with pytest.raises(SpecError, match=told):
            measure_named(name, surface)
    with pytest.raises(SpecError, match="needs probability"):
        measure_named("log_loss", Surface.of_labels(["a", "b"], classes=("a", "b")))


@pytest.mark.parametrize(
    "metric", [metric for metric in METRICS if metric.from_counts is not None], ids=lambda metric: metric.id
)
def test_derivatives_of_tables_are_those_of_small_steps(metric: Metric, rng: np.random.Generator) -> None:
    k = 2 if "binary" in metric.tasks else 3
    table = rng.dirichlet(np.ones(k * k), 5)
    assert metric.from_counts is not None
    compute = metric.from_counts

    def of_shares(shares: np.ndarray) -> np.ndarray:
        return compute(shares.reshape(*shares.shape[:-1], k, k))

    steps = 1e-6 * np.eye(k * k)
    expected = [(of_shares(table + step) - of_shares(table - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(derivative(of_shares, table), np.stack(expected, axis=-1), atol=1e-6)


@pytest.mark.parametrize(
    "metric",
    [metric for metric in METRICS if metric.from_counts is not None and "multiclass" in metric.tasks]
    + [of_class(METRICS[name], 1, "b") for name in ("tpr", "precision", "f1", "selection_rate", "npv")],
    ids=lambda metric: metric.id,
)
def test_derivatives_through_the_margins_are_those_by_every_cell(metric: Metric, rng: np.random.Generator) -> None:
    tables = rng.dirichlet(np.ones(36), 4).reshape(4, 6, 6)
    tables[1, 2] = tables[1, :, 2] = 0  # a class that does not occur
    tables[2, :, 3] = 0  # one that is never predicted
    compute = metric.from_counts
    assert compute is not None
    assert metric.of_margins
    by_cell = table_derivative(compute, tables, of_margins=False)
    np.testing.assert_allclose(table_derivative(compute, tables, of_margins=True)[0], by_cell[0], atol=1e-12)
    occurs = (tables.sum(axis=-1) > 0)[..., :, None] & (tables.sum(axis=-2) > 0)[..., None, :]
    through = np.where(occurs, np.nan_to_num(table_derivative(compute, tables, of_margins=True)), 0)
    np.testing.assert_allclose(through, np.where(occurs, np.nan_to_num(by_cell), 0), atol=1e-12)


def test_many_classes_take_little_memory(rng: np.random.Generator) -> None:
    names = np.array([f"diagnosis {i}" for i in range(400)])
    true = rng.integers(0, 400, 4000)
    predicted = np.where(rng.random(4000) < 0.7, true, rng.integers(0, 400, 4000))
    tracemalloc.start()
    try:
        found = evaluate_all(names[true], names[predicted], metrics=["accuracy", "macro_f1", "cohens_kappa"])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 200e6, "400 classes have 160,000 cells: nothing may be of cells x cells"
    assert found["accuracy"].value == pytest.approx((true == predicted).mean())
    assert found["cohens_kappa"].value == pytest.approx(cohen_kappa_score(true, predicted))


def test_the_derivative_of_r2_is_exact_where_labels_are_far_from_zero(rng: np.random.Generator) -> None:
    truth = 1e6 + rng.normal(size=200)
    rows = Rows(truth, Surface.of_numbers(truth + rng.normal(size=200)))
    meter = RowSums(METRICS["r2"], rows)
    error = meter.measure(meter.over([])).error
    residual, centred = (np.asarray(rows.surface.continuous) - truth) ** 2, (truth - truth.mean()) ** 2
    each = (residual - residual.sum() / centred.sum() * centred) / centred.sum()
    assert float(error) == pytest.approx(np.sqrt((each**2).sum() * 200 / 199), rel=1e-10)


def test_a_metric_that_casts_complex_numbers_is_refused() -> None:
    with pytest.raises(SpecError, match="keep complex numbers"):
        derivative(lambda table: table.real.sum(axis=-1), np.ones(3))
