"""Benchmarks still run: what they call may have changed since somebody ran them at full size.

Nothing is asked of other libraries, whose environments take minutes to set up, nor of a server: our own part runs, and
the row says that the other was not measured.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks.__main__ import discover
from benchmarks.bench import BENCHMARKS, Scale
from benchmarks.binned import FEATURES

import isonomia as iso
from benchmarks import engines, pairs, peer, store
from isonomia.data import catalog

discover()

#: Benchmarks that are not run here, and why.
LEFT_OUT = {
    "contest_quick": "runs a whole grid, as tests/benchmark do on smaller ones",
    "engines_spark": "starts a Spark session, which needs Java",
    "store_kills": "kills processes for minutes, as tests/store do a few times",
    "study": "needs the published tables, and minutes",
}
#: What a server of its own would answer.
SERVER = dict.fromkeys(("cpu_own", "cpu_both", "took", "statements", "mb_received"), 1.0)


def some_people(name: str, **options: Any) -> iso.Dataset:
    """Few people with the columns that benchmarks name, in place of a public dataset."""
    rng = np.random.default_rng(len(name))
    columns: dict[str, Any] = {feature: rng.choice(list("abc"), 400) for feature in FEATURES}
    for number in ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week", "fnlwgt", "AGEP", "WKHP"):
        columns[number] = rng.integers(0, 40, 400)
    for attribute in ("sex", "SEX", "marital"):
        columns[attribute] = rng.choice(["Female", "Male"], 400)
    favoured = rng.random(400) < 0.2 + 0.01 * columns["education-num"] + 0.2 * (columns["sex"] == "Male")
    columns["income"] = np.where(favoured, ">50K", "<=50K") if name == "adult" else favoured.astype(int)
    positive = ">50K" if name == "adult" else 1
    return iso.Dataset(pd.DataFrame(columns), target="income", positive=positive, protected=["sex", "race"])


def in_this_process(work: str, file: str) -> dict[str, float]:
    """What a work of the engines took; without PostgreSQL."""
    return SERVER if work.startswith("postgres") else engines._clocked(lambda: engines._WORKS[work](file))


def test_what_is_left_out_is_there() -> None:
    assert LEFT_OUT.keys() <= BENCHMARKS.keys()


@pytest.mark.parametrize("name", [name for name in BENCHMARKS if name not in LEFT_OUT])
def test_it_runs(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(catalog, "load", some_people)
    monkeypatch.setattr(engines, "measured", in_this_process)
    monkeypatch.setattr(peer, "python_of", lambda environment: tmp_path / "bin" / "python")
    monkeypatch.setattr(store, "find_programs", lambda: None)
    pairs.coded.cache_clear()
    rows = list(BENCHMARKS[name].run(Scale(quick=True)))
    assert rows
    for row in rows:
        assert row.value is None or math.isfinite(row.value)
        assert row.outcome != "differs", row
