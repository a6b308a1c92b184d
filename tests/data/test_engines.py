"""Engines: what they count equals what is counted from the rows, and samples are the same rows everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine_sources import LABELS, NASTY, nasty_table, plain_table

import isonomia as iso
from isonomia.counting import quantiles
from isonomia.data.engines.engine import Engine, Key, sample_order
from isonomia.data.engines.fetching import explained
from isonomia.data.engines.files import open_parquet
from isonomia.data.engines.lazy import LazyEngine
from isonomia.data.engines.memory import read_memory
from isonomia.data.engines.role_counts import spread_weights
from isonomia.errors import DataError, SourceError, SpecError

MEMORY = 256 * 10**6


def opened(kind: str, frame: pl.DataFrame, folder: Path) -> Engine:
    file = folder / "rows.parquet"
    frame.write_parquet(file)
    return open_parquet([file], memory=MEMORY) if kind == "duckdb" else LazyEngine(pl.scan_parquet(file))


@pytest.fixture(params=["duckdb", "polars"])
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def listed(frame: Any, names: list[str]) -> list[tuple[Any, ...]]:
    columns = [[None if value is None or value != value else value for value in list(frame[name])] for name in names]
    return list(zip(*columns, strict=True))


def test_groups_are_those_of_the_rows(kind: str, tmp_path: Path) -> None:
    frame, _ = plain_table(700)
    engine = opened(kind, frame, tmp_path)
    found = engine.grouped([Key(column="sex"), Key(column="granted")], weight="weight", limit=100)
    assert found is not None
    assert found.w is not None
    assert found.w2 is not None
    expected = frame.group_by("sex", "granted").agg(
        pl.len().alias("n"), pl.col("weight").sum().alias("w"), (pl.col("weight") ** 2).sum().alias("w2")
    )
    by_key = {(sex, granted): (n, w, w2) for sex, granted, n, w, w2 in expected.iter_rows()}
    for key, n, w, w2 in zip(listed(found.frame, ["sex", "granted"]), found.n, found.w, found.w2, strict=True):
        assert by_key.pop(key) == pytest.approx((n, w, w2), rel=1e-12)
    assert not by_key
    assert engine.grouped([Key(column="sex"), Key(column="granted")], limit=5) is None  # there are six


def test_bands_and_bins_have_their_edges_where_numpy_has_them(kind: str, tmp_path: Path) -> None:
    score = np.concatenate([np.arange(1001) / 1000, np.random.default_rng(0).random(3000)])
    gone = np.append(score, [np.nan, np.nan])
    frame = pl.DataFrame({"s": gone, "age": np.append(np.arange(score.size) % 90, [25, 60])})
    frame = frame.with_columns(pl.col("s").fill_nan(None))
    engine = opened(kind, frame, tmp_path)
    binned = engine.grouped([Key(column="s", form="bins", edges=(0.0, 1.0), bins=1000)], limit=2000)
    assert binned is not None
    edges = np.arange(1001) / 1000
    expected = np.bincount(np.minimum(np.searchsorted(edges, score, side="right") - 1, 999), minlength=1000)
    means = np.asarray(binned.frame["s"], dtype=float)
    known = ~np.isnan(means)
    found = np.zeros(1000, dtype=int)
    found[np.minimum(np.searchsorted(edges, means[known], side="right") - 1, 999)] = binned.n[known]
    assert found.tolist() == expected.tolist()
    assert binned.n[~known].tolist() == [2]
    banded = engine.grouped([Key(column="age", form="bands", edges=(25.0, 60.0))], limit=10)
    assert banded is not None
    assert sorted(zip(np.asarray(banded.frame["age"]).tolist(), banded.n.tolist(), strict=True)) == [
        (0, int((frame["age"] < 25).sum())),
        (25, int(((frame["age"] >= 25) & (frame["age"] < 60)).sum())),
        (60, int((frame["age"] >= 60).sum())),
    ]


def test_a_profile_counts_what_is_missing_infinite_and_at_the_ends(kind: str, tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "x": [1.0, None, float("nan"), float("inf"), -3.0],
            "text": ["a", None, "", "b", None],
            "i": [1, 2, None, 4, 5],
        }
    )
    engine = opened(kind, frame, tmp_path)
    assert dict(engine.profile().ends) == {}
    profile = engine.profile(ends=["x", "i", "text"])
    assert engine.profile(ends=["i"]) is profile
    assert profile.rows == 5
    assert dict(profile.missing) == {"x": 2, "text": 2, "i": 1}
    assert dict(profile.infinite) == {"x": 1, "text": 0, "i": 0}
    assert dict(profile.ends) == {"x": (-3.0, 1.0), "i": (1.0, 5.0)}


def test_what_is_not_a_number_is_found_in_files_of_any_writer(kind: str, tmp_path: Path) -> None:
    """Statistics of Parquet files leave NaN out; DuckDB alone would believe that there is none."""
    x = np.arange(3000.0)
    x[5] = np.nan
    engine = opened(kind, pl.DataFrame({"x": x, "y": np.arange(3000) % 2}), tmp_path)
    profile = engine.profile(ends=["x"])
    assert (profile.missing["x"], profile.infinite["x"], profile.ends["x"]) == (1, 0, (0.0, 2999.0))
    groups = engine.grouped([Key(column="x", form="bands", edges=(2000.0,))], limit=10)
    assert groups is not None
    assert sorted(groups.n.tolist()) == [1, 1000, 1999]
    (absent,) = engine.grouped_each([[Key(column="x", form="absent")]], limit=10)
    assert absent is not None
    assert sorted(absent.n.tolist()) == [1, 2999]
    found = engine.ranges({"x": [(0.0, 2999.0)]}, bins=10, known="x")["x"]
    assert found.n.sum() == 2999


def test_names_and_labels_that_look_like_code_come_back_as_they_are(kind: str, tmp_path: Path) -> None:
    frame, _ = nasty_table()
    engine = opened(kind, frame, tmp_path)
    assert list(engine.schema) == frame.columns
    found = engine.grouped([Key(column=NASTY[0]), Key(column=NASTY[2])], limit=100)
    assert found is not None
    assert {label for label, _ in listed(found.frame, [NASTY[0], NASTY[2]])} == {*LABELS, None}
    (rows,) = engine.batches(frame.columns)
    assert list(rows.columns) == frame.columns
    assert listed(rows, [NASTY[0], NASTY[1]]) == list(zip(frame[NASTY[0]], frame[NASTY[1]], strict=True))


def test_a_sample_has_the_same_rows_on_every_engine(tmp_path: Path) -> None:
    frame = pl.DataFrame({"x": np.arange(20_000)})
    order = sample_order(np.arange(20_000), seed=3)
    expected = np.sort(np.argsort(order, kind="stable")[:500])
    for kind in ("duckdb", "polars"):
        found = opened(kind, frame, tmp_path).sample(["x"], 500, seed=3)
        assert list(found["x"]) == expected.tolist(), kind


def test_batches_are_all_rows_in_their_order(kind: str, tmp_path: Path) -> None:
    frame, _ = plain_table(1000)
    parts = list(opened(kind, frame, tmp_path).batches(["income", "region"], 300))
    assert all(len(part) <= 300 for part in parts)
    assert [row for part in parts for row in listed(part, ["income", "region"])] == list(
        zip(frame["income"], frame["region"], strict=True)
    )


@given(
    st.lists(
        st.lists(st.floats(0, 1e6, allow_subnormal=False), min_size=1, max_size=8).filter(lambda row: sum(row) > 1e-3),
        min_size=1,
        max_size=5,
    )
)
def test_two_rows_of_a_group_have_the_weights_of_all(groups: list[list[float]]) -> None:
    n = np.array([len(group) for group in groups])
    w, w2 = (np.array([sum(value**power for value in group) for group in groups]) for power in (1, 2))
    group, rows, weights = spread_weights(n, w, w2)
    assert (weights >= 0).all()
    assert np.bincount(group, weights=rows).tolist() == n.tolist()
    assert np.bincount(group).max() <= 2
    np.testing.assert_allclose(np.bincount(group, weights=rows * weights), w, rtol=1e-9)
    np.testing.assert_allclose(np.bincount(group, weights=rows * weights**2), w2, rtol=1e-9)


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 6)), min_size=1, max_size=12))
def test_quantiles_of_counted_values_are_those_of_the_rows(pairs: list[tuple[int, int]]) -> None:
    values, counts = np.array([v for v, _ in pairs], dtype=float), np.array([c for _, c in pairs])
    shares = np.linspace(0, 1, 11)
    expected = np.quantile(np.repeat(values, counts), shares)
    np.testing.assert_allclose(quantiles(values, shares, counts), expected, rtol=0, atol=1e-12)


def test_memory_is_read_as_people_write_it() -> None:
    assert read_memory("2GiB") == 2 << 30
    assert read_memory(" 1.5 gb") == 1_500_000_000
    assert read_memory(None) >= 128 * 10**6
    for wrong in ("", "lots", "-1GB", "12 parsecs", True, "1MB"):
        with pytest.raises(SpecError, match="`memory` must be"):
            read_memory(wrong)


# what goes wrong -----------------------------------------------------------------------------------------------------


def test_a_protected_column_with_too_many_values_is_refused(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("isonomia.data.engines.role_counts.EXACT_ROWS", 1000)
    monkeypatch.setattr("isonomia.data.engines.role_counts.GROUP_BYTES", 10**12)
    n = 5000
    frame = pl.DataFrame({"id": [f"u{i}" for i in range(n)], "y": np.arange(n) % 2, "p": np.arange(n) % 2})
    with pytest.raises(DataError, match=r"'id' has more than 1,000 different values. Is it an identifier"):
        iso.Dataset(opened(kind, frame, tmp_path), target="y", prediction="p", protected=["id"])


def test_a_type_that_cannot_be_counted_is_refused_in_a_role_and_left_out_elsewhere(kind: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"y": [0, 1], "p": [0, 1], "tags": [["a"], ["b", "c"]]})
    engine = opened(kind, frame, tmp_path)
    with pytest.raises(DataError, match="'tags' contains values of a type that cannot be counted"):
        iso.Dataset(engine, target="y", prediction="p", protected=["tags"])
    data = iso.Dataset(engine, target="y", prediction="p")
    assert data.left_out == ("tags",)
    assert data.features == ()


def test_bad_weights_are_refused_before_anything_is_counted(kind: str, tmp_path: Path) -> None:
    for wrong in ([1.0, -1.0], [0.0, 0.0], [1.0, None], [1.0, float("inf")], ["a", "b"]):
        frame = pl.DataFrame({"y": [0, 1], "p": [0, 1], "w": wrong})
        with pytest.raises(DataError, match="weights in 'w' must be finite numbers of at least 0"):
            iso.Dataset(opened(kind, frame, tmp_path), target="y", prediction="p", weight="w")


def test_a_truncated_file_and_files_that_differ_are_refused(tmp_path: Path) -> None:
    frame, roles = plain_table(300)
    one, two = tmp_path / "a.parquet", tmp_path / "b.parquet"
    frame.write_parquet(one)
    frame.drop("income").write_parquet(two)
    with pytest.raises(DataError, match=r"must have the same columns.*'income'"):
        iso.read(tmp_path / "*.parquet", engine="duckdb", **roles)
    two.write_bytes(one.read_bytes()[:-100])
    with pytest.raises(DataError, match="truncated"):
        iso.read(tmp_path / "*.parquet", engine="duckdb", **roles)
    two.write_bytes(one.read_bytes()[:200] + b"\0" * 300 + one.read_bytes()[500:])
    with pytest.raises(DataError, match=r"could not be read|cannot be read"):
        iso.audit(iso.read(two, engine="duckdb", **roles))
    with pytest.raises(DataError, match="No file matches"):
        iso.read(tmp_path / "no*.parquet", engine="duckdb", **roles)


def test_a_file_that_changes_meanwhile_is_said_in_the_report(tmp_path: Path) -> None:
    frame, roles = plain_table(400)
    file = tmp_path / "rows.parquet"
    frame.write_parquet(file)
    data = iso.read(file, engine="duckdb", **roles)
    assert data.engine is not None
    assert data.engine.moved() is None
    plain_table(400, seed=9)[0].write_parquet(file)
    moved = data.engine.moved()
    assert moved is not None
    assert "rows.parquet" in str(moved)
    report = iso.audit(data, checks=["representation"])
    assert any("data changed while they were examined" in str(note) for note in report.document.balance_sheet.notes)
    file.unlink()
    assert data.engine.moved() is not None


def test_a_full_temporary_folder_ends_with_a_clear_error(tmp_path: Path) -> None:
    import duckdb

    small = {"memory_limit": "20MB", "temp_directory": str(tmp_path), "max_temp_directory_size": "1MB", "threads": 1}
    rows = duckdb.connect(config=small).sql("SELECT 'person ' || range AS id FROM range(2000000)")
    with pytest.raises(SourceError, match=r"temporary files .*TMPDIR"):
        LazyEngine(rows, memory="256MB").grouped([Key(column="id")], limit=10**7)
    assert "temporary files is full" in str(explained(OSError(28, "No space left on device")))


def test_ten_million_values_of_a_protected_column_are_refused() -> None:
    import duckdb

    connection = duckdb.connect(config={"memory_limit": "400MB", "threads": 1})
    rows = connection.sql("SELECT 'u' || range AS id, range % 2 AS y FROM range(10000000)")
    with pytest.raises(DataError, match=r"'id' has more than 1,000 different values. Is it an identifier"):
        iso.Dataset(LazyEngine(rows, memory="256MB"), target="y", protected=["id"])


def test_a_file_beyond_the_memory_is_counted_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, roles = plain_table(400)
    file, text = tmp_path / "rows.parquet", tmp_path / "rows.csv"
    frame.write_parquet(file)
    frame.write_csv(text)
    assert iso.read(file, **roles).source == "memory"
    monkeypatch.setattr("isonomia.data.reading.IN_MEMORY", {"parquet": 10**6, "csv": 10**6})
    for path in (file, text):
        data = iso.read(path, memory="128MB", **roles)
        assert data.source == "duckdb"
        assert "more than the memory given (128 MB)" in " ".join(map(str, data.notes))
        assert iso.read(path, memory="128MB", engine="memory", **roles).source == "memory"


def test_scores_of_many_rows_are_counted_in_bins_with_a_stated_bound(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame, roles = plain_table(1500)
    rng = np.random.default_rng(5)
    frame = frame.with_columns(
        pl.Series("score", rng.beta(2, 3, 1500)), (pl.Series("granted", rng.integers(0, 2, 1500)))
    )
    exact = iso.audit(iso.Dataset(frame, **roles), checks=["performance", "calibration"], n_boot=50)
    monkeypatch.setattr("isonomia.data.engines.role_counts.EXACT_ROWS", 100)
    monkeypatch.setattr("isonomia.data.engines.role_counts.SCORE_BINS", (50,))
    data = iso.Dataset(opened(kind, frame, tmp_path), **roles)
    assert data.score_bins == 50
    found = iso.audit(data, checks=["performance", "calibration"], n_boot=50)
    one, other = exact["performance"].values, found["performance"].values
    auc, brier = other["auc"], other["brier_score"]
    bound = float(str(auc.note).split("exact to ")[1])
    assert 0 < abs(auc.value - one["auc"].value) <= bound < 0.05
    assert 0 < one["brier_score"].value - brier.value <= 1 / 50**2 / 4 + 1e-12
    assert other["accuracy"].value == pytest.approx(one["accuracy"].value, rel=1e-12)
    assert other["accuracy"].low == pytest.approx(one["accuracy"].low, rel=1e-9)  # weights keep their squares
    for name in ("ece", "gap"):
        assert found["calibration"].values[name].value == pytest.approx(
            exact["calibration"].values[name].value, abs=1e-12
        ), name


def test_rows_beyond_the_memory_are_sampled_and_the_report_says_so(tmp_path: Path) -> None:
    frame, roles = plain_table(2000)
    frame.write_parquet(tmp_path / "rows.parquet")
    engine = open_parquet([tmp_path / "rows.parquet"], memory=MEMORY)
    engine.memory = 6 * 200 * 300  # a few hundred rows, and fewer codes than there are rows
    data = iso.Dataset(engine, **roles)
    report = iso.audit(data, checks=["group_fairness", "weak_spots", "failure_modes", "proxies"], n_boot=50)
    said = [str(note) for note in report["proxies"].notes]
    assert any("of 2,000 rows were examined" in note for note in said)
    for counted in ("group_fairness", "weak_spots", "failure_modes"):
        assert not any("were examined" in str(note) for note in report[counted].notes)
    sampled = iso.discovery.find_subgroups(data, method="slicefinder", k=2)
    assert any("of 2,000 rows were examined" in str(note) for note in sampled.notes)
    counted_there = iso.discovery.find_subgroups(data, method="sliceline", k=2)
    assert not any("were examined" in str(note) for note in counted_there.notes)


def test_identifiers_are_spotted_where_the_rows_are(kind: str, tmp_path: Path) -> None:
    n, rng = 3000, np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "name": [f"person {i * 7919 % n}" for i in range(n)],
            "client_id": rng.permutation(n) * 3,
            "counter": rng.permutation(n),
            "rising": np.cumsum(rng.integers(1, 9, n)),
            "huge": rng.permutation(n) + 2**60,
            "area": rng.permutation(n) * 2 + rng.integers(0, 2, n),
            "city": [f"city {i % 40}" for i in range(n)],
            "pay": rng.normal(size=n),
            "y": np.arange(n) % 2,
        }
    )
    expected = iso.Dataset(frame, target="y")
    found = iso.Dataset(opened(kind, frame, tmp_path), target="y")
    assert expected.identifiers == ("name", "client_id", "counter", "rising", "huge")
    assert found.identifiers == expected.identifiers
    assert found.searchable == expected.searchable == ("area", "city", "pay")
    assert sum("looks like an identifier" in str(note) for note in found.notes) == 5


@pytest.mark.parametrize("single_rows", [0, 100_000])
def test_quantiles_found_by_counting_are_those_of_the_rows(
    single_rows: int, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from isonomia.data.engines import spread

    monkeypatch.setattr(spread, "SINGLE_ROWS", single_rows)
    n, rng = 20_000, np.random.default_rng(1)
    columns = {
        "normal": rng.normal(size=n),
        "heavy": np.exp(8 * rng.normal(size=n)),
        "cauchy": rng.standard_cauchy(n) * 1e6,
        "spike": np.where(rng.random(n) < 0.5, 0.0, rng.random(n) * 1e12),
        "whole": rng.integers(0, 50, n),
        "apart": rng.integers(0, 9, n) * 1e9 + rng.integers(0, 2, n) * 1e-3,
        "wide": rng.integers(-(2**62), 2**62, n),
        "same": np.ones(n),
    }
    known = rng.random(n) < 0.9
    frame = pl.DataFrame(columns).with_columns(
        pl.when(pl.Series(rng.random(n) < 0.8)).then(pl.col("normal")).alias("normal"),
        pl.when(pl.Series(known)).then(pl.lit(1)).alias("y"),
    )
    shares = np.linspace(0, 1, 11)
    found = spread.spread_of(opened(kind, frame, tmp_path), list(columns), shares.tolist(), few=20, known="y")
    for name in columns:
        values = frame.filter(pl.col("y").is_not_null())[name].drop_nulls().to_numpy().astype(float)
        np.testing.assert_array_equal(found[name].quantiles, np.quantile(values, shares), err_msg=name)
        assert found[name].rank_error == 0
        few = np.unique(values)
        if few.size <= 20:
            np.testing.assert_array_equal(found[name].values, few)
        else:
            assert found[name].values is None


def test_edges_that_are_not_exact_say_how_far_off_they_are(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from isonomia.data.engines import spread

    monkeypatch.setattr(spread, "PASSES", 1)
    monkeypatch.setattr(spread, "BINS", 64)
    values = np.random.default_rng(2).normal(size=5000)
    shares = [0.1, 0.5, 0.9]
    found = spread.spread_of(opened(kind, pl.DataFrame({"x": values}), tmp_path), ["x"], shares)["x"]
    assert 0 < found.rank_error < 0.1
    ranks = np.searchsorted(np.sort(values), found.quantiles) / values.size
    assert np.abs(ranks - shares).max() <= found.rank_error


def test_bands_of_numbers_with_many_values_are_those_of_the_rows(kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    n = 4000
    frame = pl.DataFrame({"pay": rng.gamma(2.0, 900.0, n), "zip": rng.integers(0, 99_999, n), "y": np.arange(n) % 2})
    expected = iso.Dataset(frame, target="y", protected=["pay", "zip"])
    found = iso.Dataset(opened(kind, frame, tmp_path), target="y", protected=["pay", "zip"])
    assert found.roles.bands == expected.roles.bands
    assert found.proposed == expected.proposed == {"pay", "zip"}
    assert list(map(str, found.band_notes)) == list(map(str, expected.band_notes))


def test_columns_in_memory_do_not_go_with_rows_that_are_not(kind: str, tmp_path: Path) -> None:
    frame, roles = plain_table(300)
    data = iso.Dataset(opened(kind, frame, tmp_path), **roles)
    with pytest.raises(SpecError, match="`y_pred` is a column in memory"):
        iso.audit(data, y_pred=frame["granted"])
    with pytest.raises(SpecError, match="The predictions are in memory, but the rows stay in the engine"):
        iso.audit(data, frame["granted"].to_numpy())
    with pytest.raises(DataError, match="'income' is not in memory"):
        data.column("income")
    with pytest.raises(DataError, match="only columns with a role are counted"):
        iso.Dataset(opened(kind, frame, tmp_path))


def test_labels_may_name_columns_that_stay_where_they_are(kind: str, tmp_path: Path) -> None:
    frame, roles = plain_table(300)
    labels = {"region": "part of the country", "sex": {"F": "women", "M": "men"}}
    data = iso.Dataset(opened(kind, frame, tmp_path), labels=labels, **roles)
    assert data.words.columns["region"] == "part of the country"
    with pytest.raises(SpecError, match=r"`labels\.sex` must name values"):
        iso.Dataset(opened(kind, frame, tmp_path), labels={"sex": {"X": "others"}}, **roles)
