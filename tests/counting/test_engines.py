"""Engines: what they count equals what is counted from the rows, on every kind of frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isonomia.counting import Cells, Codes, Condition, Dimension, Engine, MemoryEngine, tally
from isonomia.counting.engines.engine import sample_order
from isonomia.data import Bands, Dataset, to_frame
from isonomia.errors import DataError

ROWS: dict[str, list[Any]] = {
    "sex": ["F", "M", None, "F", "M", "F", "M", None],
    "age": [18.0, 61.0, 33.0, None, 25.0, 40.0, 59.0, 17.0],
    "hired": [1, 0, 1, 1, 0, 0, 1, 0],
    "pay": [10.0, 12.0, 9.0, 20.0, None, 11.0, 10.0, 8.0],
    "weight": [1.0, 2.0, 0.5, 1.0, 1.0, 3.0, 1.0, 1.0],
}
SEX, HIRED = Dimension(column="sex"), Dimension(column="hired")


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def engine(request: pytest.FixtureRequest) -> Engine:
    return MemoryEngine(Dataset(to_frame(ROWS, request.param), target="hired", protected=["sex"], weight="weight"))


def test_cells_of_values_bins_and_bands(engine: Engine) -> None:
    cells = engine.cells([SEX, Dimension(column="age", edges=(18, 30, 60)), HIRED])
    sex, age = Codes.encode(ROWS["sex"], name="sex"), Codes.cut(ROWS["age"], [18, 30, 60], name="age")
    hired = Codes.encode(ROWS["hired"], name="hired")
    expected = tally([sex, age, hired], weights=np.array(ROWS["weight"]))
    found = tally(cells)
    assert found.axes == expected.axes
    np.testing.assert_array_equal(found.n, expected.n)
    np.testing.assert_allclose(found.w, expected.w)
    np.testing.assert_allclose(found.w2, expected.w2)
    bands = engine.cells([Dimension(column="age", bands=Bands((25,), ("young", "older")))])
    assert bands.columns[0].labels == ("young", "older", None)
    assert bands.n.tolist() == [2, 5, 1]


def test_sums_of_rows_that_meet_the_conditions(engine: Engine) -> None:
    cells = engine.cells([HIRED], ["pay"], [Condition(column="pay"), Condition(column="sex", values=("F",))])
    assert cells.n.tolist() == [1, 2]
    assert cells.sums["pay"].tolist() == [3 * 11.0, 30.0]
    assert cells.products["pay", "pay"].tolist() == [9 * 121.0, 500.0]
    everyone = engine.cells([HIRED], where=[Condition(column="sex", missing=True)])
    assert everyone.rows == 8
    assert engine.cells([HIRED], where=[Condition(column="sex")]).rows == 6
    with pytest.raises(DataError, match=r"'pay' cannot be summed.*Condition\(column='pay'\)"):
        engine.cells([HIRED], ["pay"])


def test_codes_come_in_chunks_with_the_labels_of_the_whole_column(engine: Engine) -> None:
    whole = Codes.encode(ROWS["sex"], name="sex")
    chunks = list(engine.codes([SEX, HIRED], budget=6))
    assert [len(chunk[0]) for chunk in chunks] == [3, 3, 2]
    assert all(chunk[0].labels == whole.labels for chunk in chunks)
    assert np.concatenate([chunk[0].codes for chunk in chunks]).tolist() == whole.codes.tolist()


def test_a_sample_is_the_same_every_time_and_another_with_another_seed(engine: Engine) -> None:
    first, again, other = (MemoryEngine(Dataset(engine.sample(4, seed))).data for seed in (1, 1, 2))
    assert first.fingerprint == again.fingerprint != other.fingerprint
    assert len(first) == 4
    assert len(Dataset(engine.sample(100, 1))) == 8


def test_the_sampling_order_is_a_permutation_and_even() -> None:
    order = sample_order(np.arange(200_000), seed=5)
    assert np.unique(order).size == 200_000
    prime = 2**31 - 1
    x = (123 + 1 + 5 * 7919) % prime  # the same by Python's whole numbers, which never overflow
    for factor, shift in ((48_271, 12_820_163), (69_621, 1_812_433_253)):
        x = (pow(x, 5, prime) * factor + shift) % prime
    assert order[123] == x
    chosen = np.argsort(order)[:20_000]
    parts = np.bincount(chosen // 20_000, minlength=10)
    assert ((parts - 2000) ** 2 / 2000).sum() < 40, "a tenth of every stretch of keys"
    assert abs(np.corrcoef(order[:-1], order[1:])[0, 1]) < 0.01
    both = np.intersect1d(chosen, np.argsort(sample_order(np.arange(200_000), seed=6))[:20_000]).size
    assert 1700 < both < 2300, "another seed draws independently"


def test_the_schema_names_the_source(engine: Engine) -> None:
    schema = engine.schema()
    assert (schema.rows, schema.kinds["sex"], schema.kinds["age"]) == (8, "category", "numeric")
    assert len(schema.fingerprint) == 64


@given(st.integers(0, 10**6), st.booleans())
def test_groups_counted_elsewhere_make_the_same_cells(seed: int, weighted: bool) -> None:
    """A database groups by raw values: more groups than cells, in any order, each with its own sums."""
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 9, 60) * 1.0, rng.integers(0, 3, 60)
    w, v = rng.integers(1, 4, 60) * 1.0, rng.integers(0, 5, 60) * 1.0
    axes = [Dimension(column="x", edges=(0, 3, 9)), Dimension(column="y")]
    rows = Cells.of(
        [axes[0].encode(x), axes[1].encode(y)], weights=w if weighted else None, values={"v": v}, products=True
    )
    keys, group = np.unique(np.column_stack([x, y]), axis=0, return_inverse=True)
    order = rng.permutation(len(keys))
    w = w if weighted else np.ones(60)

    def sums(values: Any) -> Any:
        return np.bincount(group.ravel(), values)[order]

    found = Cells.from_groups(
        [axes[0].encode(keys[order, 0]), axes[1].encode(keys[order, 1].astype(int))],
        n=sums(np.ones(60)),
        w=sums(w) if weighted else None,
        w2=sums(w * w) if weighted else None,
        sums={"v": sums(w * v)},
        products={("v",): sums(w * w * v), ("v", "v"): sums(w * w * v * v)},
    )
    for one, other in zip(found.columns, rows.columns, strict=True):
        assert (one.labels, one.codes.tolist()) == (other.labels, other.codes.tolist())
    np.testing.assert_array_equal(found.n, rows.n)
    for ours, theirs in zip(found.moments("v"), rows.moments("v"), strict=True):
        np.testing.assert_allclose(ours, theirs)
