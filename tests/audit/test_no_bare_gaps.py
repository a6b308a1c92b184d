"""A law: in a full audit of awkward data, no number is missing without a reason beside it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

import isonomia as iso
from isonomia.audit.check_registry import choose_checks
from isonomia.evidence import Column, Estimate, Result, Table

CLASSES = ["low", "mid", "top"]
#: Told once for the whole table, instead of in every row.
TOLD_ONCE = dict.fromkeys(
    ("ratio", "ratio_low", "ratio_high"), "Metrics that can be negative have differences, but no ratios."
)


def people(task: str, *, seed: int = 0, n: int = 260) -> iso.Dataset:
    """A group of a few, a group without positives, a group of the missing, a constant column, six small periods."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(np.array(["f", "m", None], dtype=object), n, p=[0.45, 0.5, 0.05])
    race = rng.choice(np.array(["a", "b", "none"], dtype=object), n, p=[0.5, 0.35, 0.15])
    race[:3] = "few"
    age = rng.integers(18, 80, n).astype(float)
    age[rng.random(n) < 0.05] = np.nan
    x = rng.normal(size=n)
    raw = x + 0.6 * (sex == "m") + rng.normal(0, 0.7, n)
    never = race == "none"
    y: Any = np.where(never, 0.0, raw)
    if task == "binary":
        y = ((raw > 0.6) & ~never).astype(int)
    elif task == "multiclass":
        y = np.where(never, "low", np.array(CLASSES)[np.digitize(raw, [-0.3, 1.0])])
    columns = {
        "sex": sex,
        "race": race,
        "age": age,
        "x": x,
        "same": np.ones(n),
        "y": y,
        "month": np.array([f"2024-{1 + k % 6:02d}-01" for k in range(n)]),
    }
    return iso.Dataset(
        columns,
        target="y",
        protected={"sex": None, "race": None, "age": [25, 60]},
        time="month",
        privileged={"sex": "m"},
        task=task,
        name="awkward",
    )  # type: ignore[arg-type]


def model(task: str, *, constant: bool) -> iso.Model:
    def score(frame: Any) -> Any:
        s = np.asarray(frame["x"], dtype=float) + 0.6 * (np.asarray(frame["sex"], dtype=object) == "m")
        return np.zeros(len(s)) if constant else np.where(np.asarray(frame["race"], dtype=object) == "none", -1.0, s)

    def probability(frame: Any) -> Any:
        return 1 / (1 + np.exp(-2 * (score(frame) - 0.6)))

    def probabilities(frame: Any) -> Any:
        s = score(frame)
        e = np.exp(np.stack([-2 * (s + 0.3), np.zeros(len(s)), 2 * (s - 1)], axis=1))
        return e / e.sum(axis=1, keepdims=True)

    if task == "multiclass":
        return iso.Model.of(probabilities, classes=CLASSES)
    return iso.Model.of(probability if task == "binary" else score)


def audited(task: str, *, constant: bool) -> iso.Report:
    options = {
        "perturb": {"n_trials": 2, "levels": [0.2]},
        "local_robustness": {"n_iterations": 3},
        "pairs": {"max_tests": 300},
        "overfit": {"train": people(task, seed=1)},
        "drift": {"reference": people(task, seed=2)},
        "scenarios": {"n_trials": 2},
        "sensitivity": {"n_trials": 2},
        "dashboard": {"n_trials": 2},
        "proxies": {"rounds": 5},
    }
    checks = [check.id for check in choose_checks("full")]
    return iso.audit(people(task), model(task, constant=constant), checks=checks, n_boot=40, options=options)


def missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def bare_cells(table: Table, told: set[str]) -> Iterator[tuple[str, ...]]:
    """Numbers of a table that are missing in a row without a note."""
    numbers = [
        column.name
        for column in table.columns
        if (column.format or "text") != "text" or any(isinstance(value, float | np.floating) for value in column.values)
    ]
    for row in table.rows():
        if not row.get("note"):
            yield from ((name,) for name in numbers if missing(row[name]) and TOLD_ONCE.get(name) not in told)


def bare_values(value: Any, *where: str) -> Iterator[tuple[str, ...]]:
    """Headline figures that are missing and do not say why."""
    if isinstance(value, Estimate):
        if missing(value.value) and not value.note:
            yield where
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from bare_values(item, *where, str(name))
    elif missing(value):
        yield where


def bare(result: Result) -> set[tuple[str, ...]]:
    told = {str(note) for note in result.notes}
    cells = {(result.code, name, *cell) for name, table in result.tables.items() for cell in bare_cells(table, told)}
    figures = {finding.code: finding.estimate for finding in result.findings}
    return cells | set(bare_values(result.values, result.code)) | set(bare_values(figures, result.code, "findings"))


@pytest.mark.parametrize(
    ("task", "constant"), [("binary", False), ("binary", True), ("multiclass", False), ("regression", False)]
)
def test_no_number_is_missing_without_a_reason(task: str, constant: bool) -> None:
    report = audited(task, constant=constant)
    results = [section.result for section in report.document.sections if section.result is not None]
    assert len(results) > 25
    found = {place for result in results for place in bare(result)}
    assert found == set()
    assert any(row.get("note") for result in results for table in result.tables.values() for row in table.rows())


def test_a_bare_gap_is_seen() -> None:
    table = Table.of({"group": ["a", "b"], "rate": [0.5, None], "note": [None, None]}, [Column("rate", format="pct")])
    assert list(bare_cells(table, set())) == [("rate",)]
    explained = Table.of(
        {"group": ["b"], "rate": [math.nan], "note": ["nobody of b has a label"]}, [Column("rate", format="pct")]
    )
    assert list(bare_cells(explained, set())) == []
    assert list(bare_values({"auc": math.nan}, "performance")) == [("performance", "auc")]
