"""Columns that no generator can model and no float can hold keep nobody from being searched."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from isonomia.discovery import find_pairs

N = 3000
RNG = np.random.default_rng(0)
SEX, PAY = RNG.choice(["F", "M"], N), RNG.lognormal(size=N)


def approves_men(rows: Any) -> Any:
    """Approved from a pay of 1 on, men from 0.5."""
    pay, sex = np.asarray(rows["pay"], dtype=float), np.asarray(rows["sex"])
    return (pay + 0.5 * (sex == "M") > 1).astype(int)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("born", pd.Timestamp("1980-01-01") + pd.to_timedelta(RNG.integers(0, 3000, N), unit="D")),
        ("smoker", pd.array(RNG.choice([True, False, None], N), dtype="boolean")),
        ("town", [f"town {i}" for i in RNG.integers(0, 2500, N)]),
        ("empty", np.full(N, np.nan)),
        ("waited", pd.to_timedelta(RNG.integers(0, 5000, N), unit="s")),
        ("account", RNG.integers(2**60, 2**62, N)),
        ("huge", RNG.choice([0.0, 1e300, -1e308], N)),
    ],
)
def test_the_combined_search_takes_every_kind_of_column(name: str, column: Any) -> None:
    frame = pd.DataFrame({"sex": SEX, "pay": PAY, name: column})
    found = find_pairs(frame, approves_men, protected=["sex"], method="auto", max_tests=2000)
    assert found.metrics["DSN"] > 100
    assert 0 < found.metrics["naturalness"] < 1
    tried_as_listed = "only values in the data were tried" in "".join(map(str, found.notes))
    assert tried_as_listed == (name in ("account", "huge", "waited"))
    listed = set(frame[name]) if tried_as_listed else set()
    assert not listed or set(found.table[name]) <= listed

    moved = find_pairs(frame, approves_men, protected=["sex"], method="limi", max_tests=1000)
    assert moved.metrics["DSN"] > 20


def test_whole_decimals_go_back_as_decimals() -> None:
    price = pa.array([Decimal(int(i)) for i in RNG.integers(0, 90, N)], pa.decimal128(6, 2))
    table = pa.table({"sex": SEX, "pay": PAY, "price": price})
    kinds = set()

    def model(rows: Any) -> Any:
        kinds.add(rows.schema.field("price").type)
        return approves_men({name: rows[name].to_pylist() for name in ("sex", "pay")})

    assert find_pairs(table, model, protected=["sex"], method="auto", max_tests=500).metrics["DSN"] > 10
    assert kinds == {pa.decimal128(6, 2)}


def test_naturalness_is_the_same_whatever_categories_are_called() -> None:
    job = RNG.choice(["clerk", "guard", "nurse"], N, p=[0.7, 0.2, 0.1])
    days = {"clerk": dt.datetime(2001, 1, 1), "guard": dt.datetime(2002, 1, 1), "nurse": dt.datetime(2003, 1, 1)}
    likely = [
        find_pairs(
            pd.DataFrame({"sex": SEX, "pay": PAY, "job": values}),
            approves_men,
            protected=["sex"],
            method="auto",
            max_tests=2000,
        ).metrics["naturalness"]
        for values in (job, [days[one] for one in job])
    ]
    assert likely[0] == likely[1]
