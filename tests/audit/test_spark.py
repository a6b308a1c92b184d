"""An audit of a Spark DataFrame: the same report, few jobs, and no Python on the cluster."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.audit.test_counted_checks import answer_of, spotted_table, turned_table
from tests.discovery.test_counted_subgroups import HELD_OUT, codes_alone_fit, found_in, nothing_fits, written
from tests.engine_sources import TABLES, adult_table, assert_same, plain_table

import isonomia as iso
from isonomia.robustness import failure_modes

pytest.importorskip("pyspark", reason="Spark is an extra that needs Java: pip install 'isonomia[spark]'")
pytestmark = [
    pytest.mark.spark,
    pytest.mark.socket,  # Python speaks with the Java process over loopback
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

#: Java for minutes, not for days: no compiler that optimises what runs a few times, one thread for garbage.
JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A local session, started once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        folder = tmp_path_factory.mktemp("spark")
        (folder / "log4j2.properties").write_text("rootLogger.level = off\n")
        builder = SparkSession.builder.master("local[1]").appName("tests")
        for name, value in {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.memory": "768m",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.extraJavaOptions": f"{JVM} -Dlog4j2.configurationFile={folder / 'log4j2.properties'}",
            "spark.sql.shuffle.partitions": "1",
            "spark.sql.caseSensitive": "true",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.warehouse.dir": str(folder),
        }.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    yield session
    session.stop()


def jobs(spark: Any, name: str) -> int:
    return len(spark.sparkContext.statusTracker().getJobIdsForGroup(name))


@pytest.mark.parametrize("name", ["plain", "nasty", "classes", "credit"])
def test_the_report_from_spark_is_that_from_memory(name: str, spark: Any, tmp_path: Path) -> None:
    frame, roles = TABLES[name]()
    file = tmp_path / "table.parquet"
    frame.write_parquet(file)
    roles = {key: value for key, value in roles.items() if value is not None}
    expected = iso.audit(iso.read(file, **roles), n_boot=50).to_dict()
    rows = spark.read.parquet(str(file))
    spark.sparkContext.setJobGroup(name, name)
    data = iso.Dataset(rows, name="table", **roles)
    found = iso.audit(data, n_boot=50).to_dict()
    assert found["subject"]["engine"] == "pyspark"
    assert_same(expected, found)
    assert 0 < jobs(spark, name) <= 8


def test_adult_and_its_subgroups_from_spark(shared_data: Path, spark: Any, tmp_path: Path) -> None:
    frame, roles = adult_table(shared_data, 4000)
    file = tmp_path / "adult.parquet"
    frame.write_parquet(file)
    expected = iso.read(file, **roles)
    behind = iso.Dataset(spark.read.parquet(str(file)), name="adult", **roles)
    assert_same(iso.audit(expected, n_boot=50).to_dict(), iso.audit(behind, n_boot=50).to_dict())
    assert_same(*(iso.discovery.find_subgroups(data).tables["subgroups"].to_dict() for data in (expected, behind)))


@pytest.mark.parametrize("name", ["plain", "nasty"])
def test_subgroups_from_spark_are_those_from_memory(name: str, spark: Any, tmp_path: Path) -> None:
    frame, roles = TABLES[name]()
    file = tmp_path / "table.parquet"
    frame.write_parquet(file)
    behind = iso.Dataset(spark.read.parquet(str(file)), name="table", **roles)
    method = "divexplorer" if name == "nasty" else "sliceline"
    found = [iso.discovery.find_subgroups(data, method=method, k=4) for data in (iso.read(file, **roles), behind)]
    assert len(found[0].tables["subgroups"]) > 0
    assert_same(*(one.tables["subgroups"].to_dict() for one in found))


@pytest.mark.parametrize(
    ("table", "asked"),
    [
        ("unweighted", "divexplorer"),
        ("unweighted", "sliceline"),
        ("spotted", "sliceline"),  # weights, gaps, dates
        ("nasty", HELD_OUT),  # 13 statements; the other searches with rows held out take 19 to 59
    ],
)
def test_subgroups_of_rows_that_do_not_fit_are_counted_by_spark(
    table: str, asked: str, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, roles, _ = written(table, tmp_path)
    expected = found_in(iso.read(file, **roles), asked)
    nothing_fits(monkeypatch)
    before = dict(spark.conf.getAll)
    found = found_in(iso.Dataset(spark.read.parquet(str(file)), name=table, **roles), asked)
    assert_same(expected, found)
    assert dict(spark.conf.getAll) == before  # the user's session is as it was


@pytest.mark.parametrize(("table", "asked"), [("spotted", "sliceline"), ("nasty", HELD_OUT)])
def test_subgroups_of_codes_from_spark_are_those_from_memory(
    table: str, asked: str, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, roles, _ = written(table, tmp_path)
    expected = found_in(iso.read(file, **roles), asked)
    codes_alone_fit(monkeypatch)
    found = found_in(iso.Dataset(spark.read.parquet(str(file)), name=table, **roles), asked)
    assert_same(expected, found)


def test_a_set_with_too_many_groups_leaves_the_others_whole(spark: Any, tmp_path: Path) -> None:
    from isonomia.data.engines.engine import Key
    from isonomia.data.engines.lazy import LazyEngine

    frame = pl.DataFrame({"id": range(300), "few": ["a", "b", None] * 100, "x": [0.5, float("nan"), None] * 100})
    frame.write_parquet(tmp_path / "rows.parquet")
    engine = LazyEngine(spark.read.parquet(str(tmp_path / "rows.parquet")))
    sets = [[Key(column="id")], [Key(column="few")], [Key(column="few"), Key(column="x")]]
    many, few, pairs = engine.grouped_each(sets, limit=20)
    assert many is None
    assert few is not None
    assert pairs is not None
    assert sorted(str(value) for value in few.frame["few"].tolist()) in (["None", "a", "b"], ["a", "b", "nan"])
    assert few.n.tolist() == pairs.n.tolist() == [100, 100, 100]


def test_rows_that_do_not_fit_are_counted_by_spark(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, roles = spotted_table(1200)
    file = tmp_path / "table.parquet"
    frame.write_parquet(file)
    asked = ("weak_spots", "missingness", "duplicates")
    expected = {name: answer_of(name, iso.read(file, **roles)) for name in asked}
    report = iso.audit(iso.read(file, **roles), n_boot=50).to_dict()
    monkeypatch.setattr(iso.Dataset, "rows_fit", property(lambda data: data.engine is None))
    rows = spark.read.parquet(str(file))
    for name in asked:
        data = iso.Dataset(rows, name="table", **roles)
        assert_same(expected[name], answer_of(name, data), where=name)
    before = spark.conf.get("spark.sql.adaptive.enabled")
    spark.sparkContext.setJobGroup("counted", "counted")
    found = iso.audit(iso.Dataset(rows, name="table", **roles), n_boot=50).to_dict()
    assert_same(report, found)
    assert 0 < jobs(spark, "counted") <= 8
    assert spark.conf.get("spark.sql.adaptive.enabled") == before


@pytest.mark.parametrize("table", ["spotted", "turned"])
def test_failures_beyond_memory_are_exact(
    table: str, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights and decisions, or scores alone; rows are numbered on from partition to partition."""
    frame, roles = spotted_table(1200) if table == "spotted" else turned_table(1200)
    roles = {key: value for key, value in roles.items() if value is not None}
    files = [tmp_path / f"{name}.parquet" for name in ("all", "first", "second")]
    for file, part in zip(files, (frame, frame[:500], frame[500:]), strict=True):
        part.write_parquet(file)
    expected = failure_modes(iso.read(files[0], **roles), top_k=100)
    nothing_fits(monkeypatch)
    monkeypatch.setattr("isonomia.data.engines.role_counts.EXACT_ROWS", 500)
    first, second = (spark.read.parquet(str(file)) for file in files[1:])
    data = iso.Dataset(first.union(second), name="all", **roles)
    assert data.score_bins == 1000
    assert_same(expected.to_dict(), failure_modes(data, top_k=100).to_dict())


def test_nothing_but_spark_runs_on_the_rows(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from isonomia.data.engines.engine import Key, sample_order
    from isonomia.data.engines.lazy import LazyEngine

    frame, _ = plain_table(600)
    frame.write_parquet(tmp_path / "rows.parquet")
    engine = LazyEngine(spark.read.parquet(str(tmp_path / "rows.parquet")))
    plans: list[str] = []
    original = type(spark.range(1)).collect

    def collect(self: Any) -> Any:
        plans.append(self._jdf.queryExecution().toString())
        return original(self)

    monkeypatch.setattr(type(spark.range(1)), "collect", collect)
    keys = [Key(column="sex"), Key(column="age", form="bands", edges=(30.0,))]
    keys.append(Key(column="score", form="bins", edges=(0.0, 1.0), bins=100))
    groups = engine.grouped(keys, weight="weight", limit=10_000)
    assert groups is not None
    assert groups.n.sum() == 600
    found = engine.sample(["income"], 100, seed=1)
    expected = np.sort(np.argsort(sample_order(np.arange(600), seed=1), kind="stable")[:100])
    np.testing.assert_array_equal(
        np.asarray(found["income"], dtype=float), frame["income"].to_numpy()[expected].astype(float)
    )
    parts = list(engine.batches(["region"], 100))
    assert [len(part) for part in parts] == [100] * 6
    assert [value for part in parts for value in part["region"]] == frame["region"].to_list()
    assert plans
    assert not any("Python" in plan for plan in plans)  # no user-defined function
