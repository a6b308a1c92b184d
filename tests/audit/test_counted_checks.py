"""Checks of rows that do not fit into memory: counted by an engine, they find what they find in rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.engine_sources import assert_same, load_postgres, nasty_table, plain_table, unweighted_table

import isonomia as iso
from isonomia.data import Dataset
from isonomia.fairness import duplicates, missingness
from isonomia.robustness import (
    conformal,
    drift,
    failure_modes,
    metric_disagreement,
    overfit,
    threshold_sweep,
    weak_spots,
)

Found = Callable[[Any], Any]
#: What is asked of rows that stay where they are, and has to be the answer of rows in memory.
ASKED: dict[str, Found] = {
    "weak_spots": weak_spots,
    "weak_spots of pairs": lambda data: weak_spots(data, pairs=True, min_samples=20),
    "weak_spots, uniform": lambda data: weak_spots(data, slicing="uniform", bins=7, metric="accuracy"),
    "threshold_sweep": lambda data: threshold_sweep(data, n_boot=50, thresholds=21),
    "metric_disagreement": metric_disagreement,
    "metric_disagreement of features": lambda data: metric_disagreement(data, features=["income", "age", "region"]),
    "missingness": lambda data: missingness(data, by="all"),
    "duplicates": lambda data: duplicates(data, columns=["region", "member"], by="all"),
    "failure_modes": failure_modes,
    "failure_modes of few": lambda data: failure_modes(data, top_k=7, share=0.2, confident=0.7, far=1.5, rare=0.3),
    "duplicates of few": lambda data: duplicates(data, columns=["age_in_days", "region"], by="all"),
}
WITHOUT_SCORES = ("weak_spots", "weak_spots of pairs", "metric_disagreement", "missingness", "failure_modes")


def spotted_table(n: int = 3000) -> tuple[pl.DataFrame, dict[str, Any]]:
    """A model that errs where incomes are high (as wealth is) and, in the west, among members."""
    frame, roles = plain_table(n, seed=5)
    rng = np.random.default_rng(6)
    rich = (frame["income"].fill_null(0) > 35).to_numpy()
    west = ((frame["region"] == "west") & frame["member"]).to_numpy()
    wrong = (rich & (rng.random(n) < 0.5)) | (west & (rng.random(n) < 0.4))
    granted = np.where(wrong, 1 - frame["granted"].to_numpy(), frame["granted"].to_numpy())
    more = {
        "granted": granted,
        "wealth": (frame["income"] * 2 + pl.Series(rng.normal(0, 0.5, n))).round(1),
        "since": np.datetime64("2020-01-01") + rng.integers(0, 900, n),
        "note": np.array(["a", " ? ", "", "b", None], dtype=object)[rng.integers(0, 5, n)].tolist(),
        "stars": rng.integers(1, 6, n),
        "debt": np.exp(4 * rng.normal(size=n)),
        "age_in_days": rng.integers(6500, 6500 + 8 * n, n),
    }
    return frame.with_columns(*(pl.Series(name, values) for name, values in more.items())), roles


TABLES = {"spotted": spotted_table, "unweighted": unweighted_table, "nasty": nasty_table}


@pytest.fixture
def too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of an engine do not fit into memory, however few they are."""
    monkeypatch.setattr(Dataset, "rows_fit", property(lambda data: data.engine is None))
    monkeypatch.setattr(Dataset, "_most_rows", property(lambda data: 200))


def answer_of(asked: str, data: Dataset) -> dict[str, Any]:
    """A result as JSON, without the numbers of rows, which an engine does not know."""
    found: dict[str, Any] = ASKED[asked](data).to_dict()
    for table in found["tables"].values():
        table["columns"] = [column for column in table["columns"] if column["name"] != "first_row"]
    return without_order(found)


def without_order(found: dict[str, Any]) -> dict[str, Any]:
    """A result without the note that a table of a database has no order."""
    return {**found, "notes": [note for note in found["notes"] if "has no order" not in str(note)]}


def asked_of(table: str) -> list[str]:
    if table == "nasty":
        return list(WITHOUT_SCORES)
    return [asked for asked in ASKED if table == "spotted" or asked != "duplicates of few"]


def cases() -> list[tuple[str, str, str]]:
    tables = {"duckdb": tuple(TABLES), "polars": ("spotted",)}
    return [(kind, table, asked) for kind in tables for table in tables[kind] for asked in asked_of(table)]


@pytest.fixture(scope="module")
def in_memory(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], tuple[Path, dict[str, Any], Any]]:
    """Answers from rows in memory, made once."""
    folder, found = tmp_path_factory.mktemp("tables"), {}

    def answer(table: str, asked: str) -> tuple[Path, dict[str, Any], Any]:
        frame, roles = TABLES[table]()
        roles = {key: value for key, value in roles.items() if value is not None}
        file = folder / f"{table}.parquet"
        if not file.exists():
            frame.write_parquet(file)
        if (table, asked) not in found:
            found[table, asked] = answer_of(asked, iso.read(file, **roles))
        return file, roles, found[table, asked]

    return answer


@pytest.mark.usefixtures("too_large")
@pytest.mark.parametrize(("kind", "table", "asked"), cases())
def test_rows_in_files_are_counted(kind: str, table: str, asked: str, in_memory: Any) -> None:
    file, roles, expected = in_memory(table, asked)
    if kind == "duckdb":
        data = iso.read(file, engine="duckdb", memory="256MB", **roles)
    else:
        data = iso.Dataset(pl.scan_parquet(file), name=table, **roles)
    assert_same(expected, answer_of(asked, data))


@pytest.mark.postgres
@pytest.mark.usefixtures("too_large")
@pytest.mark.parametrize("table", TABLES)
def test_rows_in_a_database_are_counted(table: str, in_memory: Any, postgres_url: str) -> None:
    load_postgres(postgres_url, TABLES[table]()[0])
    for asked in asked_of(table):
        _, roles, expected = in_memory(table, asked)
        found = answer_of(asked, iso.read(postgres_url, table="loans", **roles))
        assert_same(expected, found, where=asked)


@pytest.mark.usefixtures("too_large")
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("kinds", [("duckdb", "duckdb"), ("polars", "polars"), ("memory", "duckdb")])
def test_drift_is_counted(kinds: tuple[str, str], table: str, tmp_path: Path) -> None:
    frame, roles = TABLES[table]()
    roles = {key: value for key, value in roles.items() if value is not None}
    files = tmp_path / "before.parquet", tmp_path / "now.parquet"
    half = frame.height // 2
    moved = [pl.col(name) + 3 for name in ("income", "stars") if name in frame.columns]
    frame[:half].write_parquet(files[0])
    frame[half:].with_columns(*moved).write_parquet(files[1])

    def opened(kind: str, file: Path) -> Dataset:
        if kind == "polars":
            return iso.Dataset(pl.scan_parquet(file), name=file.stem, **roles)
        return iso.read(file, engine=None if kind == "memory" else "duckdb", memory="256MB", **roles)

    expected = drift(*(iso.read(file, **roles) for file in files), joint=False)
    found = drift(*map(opened, kinds, files), joint=False)
    assert_same(expected.to_dict(), found.to_dict())
    assert table == "nasty" or expected.values["drifted_features"] > 0


@pytest.mark.parametrize(
    ("trained_in", "table"), [*(("duckdb", table) for table in TABLES), ("memory", "spotted"), ("polars", "unweighted")]
)
def test_overfitting_is_counted(trained_in: str, table: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    frame, roles = TABLES[table]()
    roles = {key: value for key, value in roles.items() if value is not None}
    half = frame.height // 2
    learnt = frame[:half]
    if table == "spotted":  # by heart, where incomes are high
        right = pl.when(pl.col("income") > 35).then(pl.coalesce("paid", "granted")).otherwise(pl.col("granted"))
        learnt = learnt.with_columns(right.alias("granted"))
    files = tmp_path / "train.parquet", tmp_path / "test.parquet"
    learnt.write_parquet(files[0])
    frame[half:].write_parquet(files[1])

    def opened(kind: str, file: Path) -> Dataset:
        if kind == "polars":
            return iso.Dataset(pl.scan_parquet(file), name=file.stem, **roles)
        return iso.read(file, engine=None if kind == "memory" else "duckdb", memory="256MB", **roles)

    pairs = trained_in == "duckdb" and table != "unweighted"  # with weights, and with names that look like code
    options: dict[str, Any] = {"pairs": pairs, "min_samples": 20, "gap": 0.05}
    expected = overfit(*(iso.read(file, **roles) for file in files), **options)
    request.getfixturevalue("too_large")
    found = overfit(opened(trained_in, files[0]), opened("duckdb", files[1]), **options)
    assert not any("were examined" in str(note) for note in found.notes)
    assert_same(expected.to_dict(), found.to_dict())
    assert table != "spotted" or len(expected.tables["worst"]) > 0


@pytest.mark.usefixtures("too_large")
@pytest.mark.parametrize("table", ["spotted", "unweighted"])
@pytest.mark.parametrize("by_group", [False, True])
def test_coverage_is_counted(by_group: bool, table: str) -> None:
    frame, roles = TABLES[table]()
    roles = {key: value for key, value in roles.items() if value is not None}
    halves = frame[: frame.height // 2], frame[frame.height // 2 :]
    here = [iso.Dataset(half, **roles) for half in halves]
    there = [iso.Dataset(half.lazy(), **roles) for half in halves]
    expected = conformal(here[0], calibration=here[1], by_group=by_group, alpha=0.2)
    found = conformal(there[0], calibration=there[1], by_group=by_group, alpha=0.2)
    assert_same(expected.to_dict(), found.to_dict())
    split = conformal(iso.Dataset(frame.lazy(), **roles), by_group=by_group, alpha=0.2)
    coverage = split.values["coverage"]
    assert coverage.low - 0.03 < 0.8 < coverage.high + 0.03
    known = frame["paid"].is_not_null().sum()
    assert coverage.n + split.values["calibration_rows"] == known


@pytest.mark.usefixtures("too_large")
def test_numbers_with_too_many_values_are_compared_in_bins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isonomia.data.engines.role_counts.EXACT_ROWS", 500)
    monkeypatch.setattr("isonomia.data.engines.role_counts.GROUP_BYTES", 10**12)
    rng = np.random.default_rng(8)
    frames = [pl.DataFrame({"x": rng.normal(shift, 1, 4000), "y": rng.integers(0, 2, 4000)}) for shift in (0, 0.1)]
    expected = next(
        drift(*(iso.Dataset(frame, target="y") for frame in frames), joint=False).tables["variables"].rows()
    )
    monkeypatch.setattr("isonomia.robustness.shift.samples.FINE_BINS", 400)
    monkeypatch.setattr("isonomia.robustness.shift.drift.FINE_BINS", 400)
    lazy = [iso.Dataset(frame.lazy(), target="y") for frame in frames]
    result = drift(*lazy, joint=False)
    found = next(result.tables["variables"].rows())
    assert "counted in 400 bins" in " ".join(map(str, result.notes))
    share = max(np.histogram(frame["x"], 400)[0].max() for frame in frames) / 4000
    assert 0 <= expected["statistic"] - found["statistic"] <= share
    assert found["wasserstein"] == pytest.approx(expected["wasserstein"], abs=0.02)
    assert found["psi"] == pytest.approx(expected["psi"], abs=0.01)
    assert found["mean_current"] == pytest.approx(expected["mean_current"], abs=0.01)


def test_weak_spots_are_there_to_be_found() -> None:
    """What the comparisons above compare is not empty: spots of one feature, of a pair, and one seen as another."""
    frame, roles = spotted_table()
    data = iso.Dataset(frame, **roles)
    rows = list(ASKED["weak_spots"](data).tables["weak_spots"].rows())
    assert {"income", "wealth"} & {row["feature"] for row in rows}
    assert any(row["also"] for row in rows)
    pairs = ASKED["weak_spots of pairs"](data).tables["weak_spots"].rows()
    assert any(" x " in row["feature"] for row in pairs)


def turned_table(n: int) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Probabilities of the unfavourable class, rounded so that many rows are served equally badly; no decisions."""
    frame, roles = unweighted_table(n)
    return frame.with_columns(pl.col("score").round(2)), {**roles, "score": {0: "score"}}


def steep_table(n: int) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Decisions of their own beside scores that differ by the last digits, near 0, near 1 and in between."""
    frame, roles = spotted_table(n)
    rng = np.random.default_rng(9)
    near = np.array([0.0, 1e-300, 1e-17, 3e-17, 0.1, 0.5, 0.9, 1 - 2**-53, 1.0])[rng.integers(0, 9, frame.height)]
    score = np.where(rng.random(frame.height) < 0.5, near, rng.beta(0.3, 0.3, frame.height))
    return frame.with_columns(pl.Series("score", score)), {**roles, "weight": None}


@pytest.mark.usefixtures("too_large")
@pytest.mark.parametrize("made", [spotted_table, turned_table, steep_table])
@pytest.mark.parametrize("kind", ["duckdb", "polars", pytest.param("postgres", marks=pytest.mark.postgres)])
def test_failures_beyond_memory_are_exact(
    kind: str, made: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Scores are counted in bins, but the worst rows and the edge between them and others are those of the rows."""
    monkeypatch.setattr("isonomia.data.engines.role_counts.EXACT_ROWS", 500)
    monkeypatch.setattr("isonomia.data.engines.spread.BINS", 512)
    monkeypatch.setattr("isonomia.data.engines.spread.SINGLE_ROWS", 50)
    frame, roles = made(1500)  # few enough for PostgreSQL to keep them in the order in which they came
    roles = {key: value for key, value in roles.items() if value is not None}
    file = tmp_path / "rows.parquet"
    frame.write_parquet(file)
    if kind == "postgres":
        url = request.getfixturevalue("postgres_url")
        load_postgres(url, frame, "rows")
        data = iso.read(url, table="rows", **roles)
    elif kind == "polars":
        data = iso.Dataset(pl.scan_parquet(file), name="rows", **roles)
    else:
        data = iso.read(file, engine="duckdb", memory="256MB", **roles)
    assert data.score_bins == 1000
    for options in ({}, {"share": 0.4, "top_k": 400, "confident": 0.6}, {"share": 0.9, "top_k": 1}):
        expected = failure_modes(iso.read(file, **roles), **options)
        assert_same(expected.to_dict(), without_order(failure_modes(data, **options).to_dict()))
        assert len(expected.tables["rows"]) == options.get("top_k", 20)
