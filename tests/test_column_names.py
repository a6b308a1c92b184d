"""Columns of the user's that are called as a table's own: both are there, each with its values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import isonomia as iso
from isonomia.evidence import Column, Table

N = 400
OWN = [
    "group",
    "by",
    "n",
    "small",
    "accuracy",
    "tpr",
    "outcome",
    "size",
    "note",
    "gap",
    "case_id",
    "score",
    "first_row",
]


def data(name: str) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 3, N)
    outcome = (values + rng.normal(size=N) > 1).astype(int)
    return pd.DataFrame({"sex": rng.choice(["F", "M"], N), name: values, "y": outcome, "p": (values > 1).astype(int)})


def model(name: str) -> Any:
    return lambda rows: (np.asarray(rows[name]) + (np.asarray(rows["sex"]) == "M") > 1).astype(int)


def values_of(table: Table, name: str) -> set[Any]:
    (found,) = [column for column in table.columns if column.name in (name, f"{name} (column)") and not column.title]
    return {str(value) for value in found.values if value is not None}


@pytest.mark.parametrize("name", OWN)
def test_groups(name: str) -> None:
    frame = data(name)
    roles: dict[str, Any] = {"target": "y", "prediction": "p", "protected": [name]}
    expected = frame.groupby(name)["p"].mean()
    for table in (
        iso.fairness.group_metrics(frame, **roles).tables["by_group"],
        iso.fairness.suite(frame, **roles).tables["by_group"],
        iso.audit(frame, **roles)["group_fairness"].tables["by_group"],
    ):
        assert values_of(table, name) == {"0", "1", "2"}
        assert table["selection_rate"].values == pytest.approx(expected.to_numpy())
        assert sum(table["n"].values) == N


def own_columns() -> list[str]:
    """All columns that tables of groups, comparisons and tests have of their own."""
    roles: dict[str, Any] = {"target": "y", "prediction": "p", "protected": ["sex"], "control": ["factor"]}
    measured = iso.fairness.group_metrics(data("factor"), **roles)
    equivalence = iso.fairness.equivalence(data("factor"), **roles)
    tables = [*measured.named_tables().values(), *equivalence.tables.values(), iso.fairness.homogeneity(measured)]
    return sorted({name for table in tables for name in table.names} - {"sex", "factor"})


@pytest.mark.parametrize("name", own_columns())
def test_factors(name: str) -> None:
    roles: dict[str, Any] = {"target": "y", "prediction": "p", "protected": ["sex"], "control": [name]}
    measured, found = (door(data(name), **roles) for door in (iso.fairness.group_metrics, iso.fairness.equivalence))
    assert set(found.table["group"]) <= {"sex=F", "sex=M"}
    for table in (*measured.named_tables().values(), *found.tables.values(), iso.fairness.homogeneity(measured)):
        factor = name if f"{name} (column)" not in table else f"{name} (column)"
        assert {str(value) for value in table[factor].values} == {"0", "1", "2"}


@pytest.mark.parametrize("name", OWN)
def test_searches(name: str) -> None:
    people = iso.Dataset(data(name).drop(columns="p"), target="y", protected=["sex"])
    pairs = iso.discovery.find_pairs(people, model(name), max_tests=200)
    assert pairs.metrics["DSN"] > 0
    assert len(pairs.table.columns) == len(set(pairs.table.columns)) == 12
    changed = name if f"{name} (column)" not in pairs.table else f"{name} (column)"
    assert set(pairs.table[changed]) <= {0, 1, 2}
    assert values_of(pairs.tables["witnesses"], name) <= {"0", "1", "2"}
    found = iso.discovery.find_subgroups(people, model(name), method="sliceline")
    assert values_of(found.tables["subgroups"], name) <= {"0", "1", "2"}


@pytest.mark.parametrize("name", ["n", "first_row", "mean_label"])
def test_duplicates(name: str) -> None:
    found = iso.fairness.duplicates(data(name).drop(columns="p"), target="y", protected=["sex"])
    sets = found.tables["sets"]
    assert values_of(sets, name) == {"0", "1", "2"}
    assert sum(sets["n"].values) == N


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="different names; got n, n"):
        Table((Column("n", [1]), Column("n", [2])))
