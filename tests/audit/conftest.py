"""Audits that several tests look at: made once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import isonomia as iso

HOSTILE = '</script>{0} "a|b"\u202e\x07'


def make_people(n: int = 160) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    return {
        "sex": rng.choice(["F", "M"], n),
        "race": np.where(rng.random(n) < 0.1, None, rng.choice(["a", HOSTILE], n)),
        "pay": rng.normal(50, 9, n),
        "hours": rng.integers(20, 60, n),
    }


@cache
def make_report(task: str, checks: str) -> iso.Report:
    """An audit of few people with hostile names, with a model of each task."""
    frame = make_people()
    features = np.column_stack([frame["pay"], frame["hours"]])
    if task == "regression":
        frame["y"] = frame["pay"] + 4 * (frame["sex"] == "M")
        model: Any = RandomForestRegressor(5, max_depth=3, random_state=0)
    else:
        edges = [50] if task == "binary" else [45, 55]
        frame["y"] = np.digitize(frame["pay"] + 6 * (frame["sex"] == "M"), edges)
        model = RandomForestClassifier(5, max_depth=3, random_state=0)
    model.fit(features, frame["y"])
    data = iso.Dataset(
        frame, target="y", protected=["sex", "race"], features=["pay", "hours"], task=task, name=f"{task} {HOSTILE}"
    )
    few = {"n_trials": 2}
    options = {"scenarios": few, "perturb": few, "sensitivity": few, "pairs": {"max_tests": 200}}
    chosen = [check.id for check in iso.audit.choose_checks(checks)]
    return iso.audit(
        data,
        lambda rows: model.predict(np.column_stack([rows["pay"], rows["hours"]])),
        checks=chosen,
        policy="eeoc",
        n_boot=20,
        options={name: given for name, given in options.items() if name in chosen},
    )


@pytest.fixture
def people() -> dict[str, Any]:
    """Columns of a few people with a hostile name among their values."""
    return make_people()


@pytest.fixture(scope="session")
def audited() -> Callable[[str, str], iso.Report]:
    """From a task and a level of checks to the report."""
    return make_report
