"""Every function of the room reads a Dataset, a frame, arrays and a Subject the same way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import isonomia as iso
from isonomia import fairness
from isonomia.subject import Subject

N, DROPPED = 300, 7
ROLES: dict[str, Any] = {"target": "y", "positive": "yes", "prediction": "p", "score": "s", "protected": ["sex"]}
FAST: dict[str, Any] = {"n_boot": 20, "seed": 3}


def columns() -> dict[str, list[Any]]:
    rng = np.random.default_rng(1)
    sex, score = np.where(rng.random(N) < 0.4, "F", "M"), rng.random(N).round(3)
    truth = np.where(rng.random(N) < 0.2 + 0.6 * score, "yes", "no").astype(object)
    truth[rng.choice(N, DROPPED, replace=False)] = None
    said = np.where(score + 0.1 * (sex == "M") > 0.5, "yes", "no")
    job = rng.choice(["a", "b", "c"], N)
    when = rng.integers(0, 4, N)
    found = {
        "sex": sex,
        "job": job,
        "pay": rng.integers(1, 9, N) * 1.0,
        "when": when,
        "y": truth,
        "p": said,
        "s": score,
    }
    return {name: list(values.tolist()) for name, values in found.items()}


DATA = columns()
FEATURES = {name: DATA[name] for name in ("job", "pay", "when")}
ARRAYS: dict[str, Any] = {"sensitive_features": {"sex": DATA["sex"]}, "positive": "yes"}

CRITERIA = (
    "demographic_parity",
    "disparate_impact",
    "equal_opportunity",
    "equalized_odds",
    "predictive_parity",
    "predictive_equality",
    "negative_predictive_parity",
    "overall_accuracy_equality",
    "treatment_equality",
)
#: Functions of outcomes and groups, with options that hold at every door.
OF_OUTCOMES: dict[str, dict[str, Any]] = {
    "group_metrics": {},
    **{name: {"min_per_group": 10} for name in CRITERIA},
    "suite": {},
    "equivalence": {},
    "incompatibility": {},
    "distribution_parity": {},
    "generalized_entropy": {},
}
#: Functions of features and predictions.
OF_PEOPLE: dict[str, dict[str, Any]] = {"consistency": {}, "awareness": {"max_pairs": 2000}}
#: Functions of the rows of a table.
OF_TABLES: dict[str, dict[str, Any]] = {
    "label_bias": {},
    "proxies": {"folds": 2, "rounds": 3},
    "duplicates": {"columns": ["job", "pay"]},
    "representation": {},
    "missingness": {},
    "group_calibration": {},
    "conditional_statistical_parity": {"control": "job", "min_per_group": 10},
    "over_time": {"time": "when"},
}
EVERY = {**OF_OUTCOMES, **OF_PEOPLE, **OF_TABLES}


def frames() -> dict[str, Callable[[], Any]]:
    return {
        "pandas": lambda: pd.DataFrame(DATA),
        "polars": lambda: pl.DataFrame(DATA),
        "pyarrow": lambda: pa.table(DATA),
    }


def figures(result: Any) -> dict[str, Any]:
    return {name: [repr(row) for row in table.rows()] for name, table in result.tables.items()}


def states_dropped(result: Any) -> bool:
    return any(f"{DROPPED} rows without a target are left out." in note.text() for note in result.notes)


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    data = iso.Dataset(pd.DataFrame(DATA), **ROLES)
    return {name: getattr(fairness, name)(data, **options, **FAST) for name, options in EVERY.items()}


@pytest.mark.parametrize("name", EVERY)
def test_rows_without_a_target_are_stated(name: str, expected: dict[str, Any]) -> None:
    assert states_dropped(expected[name]) == (name != "missingness")


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("name", EVERY)
def test_a_frame_with_roles(name: str, kind: str, expected: dict[str, Any]) -> None:
    found = getattr(fairness, name)(frames()[kind](), **ROLES, **EVERY[name], **FAST)
    assert figures(found) == figures(expected[name])
    assert states_dropped(found) == (name != "missingness")


@pytest.mark.parametrize("name", EVERY)
def test_a_subject(name: str, expected: dict[str, Any]) -> None:
    subject = Subject.of(iso.Dataset(pd.DataFrame(DATA), **ROLES), **FAST)
    assert figures(getattr(fairness, name)(subject, **EVERY[name])) == figures(expected[name])


@pytest.mark.parametrize("name", OF_OUTCOMES)
def test_arrays(name: str, expected: dict[str, Any]) -> None:
    found = getattr(fairness, name)(DATA["y"], DATA["p"], y_score=DATA["s"], **ARRAYS, **OF_OUTCOMES[name], **FAST)
    assert figures(found) == figures(expected[name])
    assert states_dropped(found)


@pytest.mark.parametrize("name", OF_PEOPLE)
def test_features_and_predictions(name: str, expected: dict[str, Any]) -> None:
    given = {"y_true": DATA["y"], "y_score": DATA["s"], **ARRAYS}
    found = getattr(fairness, name)(pd.DataFrame(FEATURES), DATA["p"], **given, **OF_PEOPLE[name], **FAST)
    assert figures(found) == figures(expected[name])
    assert states_dropped(found)


def test_probabilities_and_moments_as_arrays(expected: dict[str, Any]) -> None:
    found = fairness.group_calibration(DATA["y"], DATA["s"], **ARRAYS, **FAST)
    assert figures(found) == figures(expected["group_calibration"])
    given = {"y_score": DATA["s"], **ARRAYS, **FAST}
    over = fairness.over_time(DATA["y"], DATA["p"], time=DATA["when"], **given)
    assert figures(over) == figures(expected["over_time"])
    assert states_dropped(over)


def test_a_complete_target_has_no_note() -> None:
    known = [row for row, label in enumerate(DATA["y"]) if label is not None]
    rows = {name: [values[row] for row in known] for name, values in DATA.items()}
    found = fairness.group_metrics(rows["y"], rows["p"], sensitive_features=rows["sex"], positive="yes", n_boot=0)
    assert not states_dropped(found)
    assert found.values["rows"] == N - DROPPED


def test_other_labels_are_refused_at_every_door() -> None:
    wrong = ["Yes" if label == "yes" else label for label in DATA["p"]]
    with pytest.raises(iso.DataError):
        fairness.group_metrics(DATA["y"], wrong, **ARRAYS)
    with pytest.raises(iso.DataError):
        fairness.group_metrics({**DATA, "p": wrong}, **ROLES)
