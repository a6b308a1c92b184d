"""Audits of frames with awkward types and numbers: every check ends, and says what it left out."""

from __future__ import annotations

import datetime as dt
import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import isonomia as iso
from isonomia.data import _files
from isonomia.errors import DataError

N = 120
LEVELS = ["standard", "full"]


def people(**columns: Any) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {
        "x": rng.normal(size=N),
        "sex": rng.choice(["F", "M"], N),
        "y": rng.integers(0, 2, N),
        "score": rng.random(N),
        **columns,
    }


def failed(frame: Any, level: str, model: Any = None, **roles: Any) -> list[tuple[str, str]]:
    given = {"target": "y", "protected": ["sex"], **({} if model is not None else {"score": "score"}), **roles}
    report = iso.audit(iso.Dataset(frame, **given), model, checks=level)
    return [(one.code, str(one.reason)) for one in report.document.sections if one.outcome == "failed"]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("protected", [False, True])
def test_durations_are_numbers_of_seconds(level: str, protected: bool) -> None:
    waited = [None if i % 7 == 0 else dt.timedelta(minutes=i % (3 if protected else 50)) for i in range(N)]
    frame = pl.DataFrame(people(waited=waited))
    assert iso.Dataset(frame, target="y").kinds["waited"] == "numeric"
    assert failed(frame, level, protected=["sex", "waited"] if protected else ["sex"]) == []


@pytest.mark.parametrize("level", LEVELS)
def test_times_decimals_and_nested_values(level: str) -> None:
    frame = pl.DataFrame(
        people(
            time=[dt.time(i % 24, i % 60) for i in range(N)],
            pay=pl.Series([f"{i / 3:.3f}" for i in range(N)]).cast(pl.Decimal(10, 3)),
            many=[[1, 2]] * N,
            struct=[{"a": 1}] * N,
            raw=[b"ab"] * N,
            nothing=[None] * N,
            when=[dt.datetime(2020, 1, 1) + dt.timedelta(days=i) for i in range(N)],
        )
    )
    assert failed(frame, level) == []


@pytest.mark.parametrize("level", LEVELS)
def test_whole_numbers_beyond_what_a_float_holds(level: str) -> None:
    wide = pa.table({name: pa.array(values) for name, values in people().items()})
    wide = wide.append_column("id", pa.array([2**60 + i for i in range(N)], pa.int64()))
    wide = wide.append_column("area", pa.array([None if i % 5 == 0 else 2**60 + i % 2 for i in range(N)], pa.int64()))
    wide = wide.append_column("code", pa.array([2**63 + i for i in range(N)], pa.uint64()))
    assert failed(wide, level, protected=["sex", "area"]) == []
    assert len(iso.Dataset(wide, target="y").fingerprint) == 64


class Scorer:
    """A model that takes every feature and survives infinite numbers."""

    classes_ = (0, 1)

    def predict_proba(self, frame: Any) -> Any:
        p = 1 / (1 + np.exp(-np.asarray(frame["x"], dtype=float)))
        return np.column_stack([1 - p, p])

    def predict(self, frame: Any) -> Any:
        return (self.predict_proba(frame)[:, 1] > 0.5).astype(int)


@pytest.mark.parametrize("with_model", [False, True])
def test_columns_with_infinite_numbers_are_left_out_of_searches(with_model: bool) -> None:
    infinite = np.where(np.arange(N) % 10 == 0, np.inf, np.arange(N, dtype=float))
    frame = pl.DataFrame(people(infinite=infinite, none=np.full(N, np.nan)))
    data = iso.Dataset(frame.drop("score"), target="y", protected=["sex"])
    assert data.searchable == ("x", "sex")
    left_out = [str(note) for note in data.notes if "leave it out" in str(note)]
    assert [name in note for name, note in zip(("infinite", "none"), left_out, strict=True)] == [True, True]
    given = frame.drop("score") if with_model else frame
    assert failed(given, "full", Scorer() if with_model else None) == []


def test_pairs_leave_people_with_infinite_numbers_out() -> None:
    infinite = np.where(np.arange(N) % 10 == 0, np.inf, np.arange(N, dtype=float))
    data = iso.Dataset(pl.DataFrame(people(infinite=infinite)).drop("score"), target="y", protected=["sex"])
    found = iso.discovery.find_pairs(data, Scorer(), max_tests=200)
    assert any("12 people with infinite numbers were left out" in str(note) for note in found.notes)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # overflow is what is tried here
@pytest.mark.parametrize("rows", [5, 60])
@pytest.mark.parametrize("size", [1e308, 1e59, np.inf])
def test_numbers_whose_powers_overflow(rows: int, size: float) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=rows), rng.normal(size=rows) * (size if size == 1e59 else 1)
    x[0] = size
    frame = pl.DataFrame({"x": x, "sex": rng.choice(["F", "M"], rows), "y": y, "p": rng.normal(size=rows)})
    data = iso.Dataset(frame, target="y", prediction="p", protected=["sex"], task="regression")
    report = iso.audit(data, checks="full")
    assert [one.code for one in report.document.sections if one.outcome == "failed"] == []


@pytest.mark.parametrize("column", ["y", "p"])
@pytest.mark.parametrize("size", [1e61, -1e200])
def test_outcomes_too_large_to_be_squared_are_refused(column: str, size: float) -> None:
    rng = np.random.default_rng(0)
    frame = {"x": rng.normal(size=20), "y": rng.normal(size=20), "p": rng.normal(size=20)}
    frame[column][7] = size
    with pytest.raises(DataError, match=r"1 of 20 .* are beyond 1e\+60 \(the first at row 7: .*Rescale them"):
        iso.audit(pl.DataFrame(frame), target="y", prediction="p", task="regression")


def test_several_classes_two_rows_three_attributes() -> None:
    frame = {"a": ["x", "y"], "b": ["u", "v"], "c": ["p", "q"], "y": ["k", "l"], "z": ["k", "k"]}
    for labels in (["k", "l"], ["l", "k"], ["k", "k"]):
        data = iso.Dataset(
            pl.DataFrame({**frame, "z": labels}), target="y", prediction="z", protected=list("abc"), task="multiclass"
        )
        report = iso.audit(data, checks="full")
        assert [one.code for one in report.document.sections if one.outcome == "failed"] == []


def test_a_packed_file_that_grows_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_files, "ALWAYS_UNPACKED", 100_000)
    bomb, plain = tmp_path / "bomb.csv.gz", tmp_path / "plain.csv.gz"
    bomb.write_bytes(gzip.compress(b"a,b\n" + b"0,0\n" * 100_000))
    with pytest.raises(DataError, match=r"more than 100,000 bytes once unpacked.*max_bytes"):
        iso.read(bomb)
    assert len(iso.read(bomb, max_bytes=1_000_000)) == 100_000, "who trusts it may raise the limit"
    rng = np.random.default_rng(0)
    plain.write_bytes(
        gzip.compress(b"a,b\n" + b"".join(b"%d,%d\n" % tuple(pair) for pair in rng.integers(0, 9, (60_000, 2))))
    )
    assert len(iso.read(plain)) == 60_000, "ordinary data do not shrink that much"


def decided(n: int = 600) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = {name: rng.integers(0, 2, n) for name in ("y", "p")}
    frame |= {"sex": rng.choice(["F", "M"], n), "race": rng.choice(["W", "B"], n)}
    return pd.DataFrame({**frame, "when": [f"2024-{month:02d}-15" for month in rng.integers(1, 7, n)]})


OUTCOME = {"target": "y", "prediction": "p", "positive": 1, "n_boot": 20}


@pytest.mark.parametrize("policy", ["us-lending", "nyc-ll144", None])
def test_nobody_is_of_all_privileged_groups_at_once(policy: str | None) -> None:
    """Men and White people are privileged, and no White man is in the data."""
    frame = decided()
    frame = frame[(frame["sex"] != "M") | (frame["race"] != "W")]
    roles = {"protected": ["sex", "race"], "privileged": {"sex": "M", "race": "W"}}
    report = iso.audit(frame, policy=policy, **roles, **OUTCOME)
    assert not [section for section in report.document.sections if section.outcome == "failed"]
    notes = " ".join(map(str, report["group_fairness"].notes))
    assert "nobody of the reference by sex x race: these groups are compared with the largest of them" in notes


def test_a_month_without_anybody_of_the_reference_has_no_gap() -> None:
    frame = decided()
    frame = frame[(frame["sex"] != "M") | (frame["when"] != "2024-03-15")]
    report = iso.audit(frame, protected=["sex"], privileged={"sex": "M"}, time="when", checks="over_time", **OUTCOME)
    result = report["over_time"]
    assert "Nobody is of the reference in 2024-03-15" in " ".join(map(str, result.notes))
    assert {row["period"] for row in result.tables["gaps"].rows()} == {
        f"2024-{month:02d}-15" for month in (1, 2, 4, 5, 6)
    }
    assert "2024-03-15" in {row["period"] for row in result.tables["series"].rows()}


@pytest.mark.parametrize("role", ["feature", "protected", "target", "prediction", "time", "score"])
def test_sparse_columns_are_columns(role: str) -> None:
    frame = decided(200)
    frame["z"] = pd.arrays.SparseArray(frame["p"].to_numpy() if role == "prediction" else frame["y"].to_numpy())
    roles: dict[str, Any] = {**OUTCOME, "protected": ["sex", "z"] if role == "protected" else ["sex"]}
    if role not in ("feature", "protected"):
        roles[role] = "z"
    dense = frame.assign(z=frame["z"].sparse.to_dense())
    assert iso.audit(frame, **roles).findings == iso.audit(dense, **roles).findings


def test_times_that_are_missing_as_pandas_has_it_and_durations_as_outcomes() -> None:
    frame = decided(90)
    frame["when"] = pd.Series([True, pd.NA, False] * 30, dtype="boolean")
    report = iso.audit(frame, protected=["sex"], time="when", checks="over_time", **OUTCOME)
    assert len(report["over_time"].tables["series"])
    frame["y"] = pd.to_timedelta(np.arange(90), unit="h")
    with pytest.raises(iso.DataError, match="'y' contains durations"):
        iso.audit(frame, protected=["sex"], target="y")
