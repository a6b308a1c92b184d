"""People, and models that are broken on purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from isonomia import Dataset

MakeData = Callable[..., Dataset]


def broken(n: int, task: str, rng: np.random.Generator, where: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """Columns with a target and predictions that are good everywhere but where told."""
    columns: dict[str, Any] = {
        "income": rng.uniform(0, 100, n),
        "age": rng.integers(18, 80, n),
        "city": rng.choice(["north", "south", "east"], n),
        "tenure": rng.exponential(5, n),
    }
    bad = where(columns)
    if task == "regression":
        columns["y"] = columns["income"] * 2 + rng.normal(0, 1, n)
        columns["said"] = columns["income"] * 2 + np.where(bad, rng.normal(0, 6, n), 0)
        return columns
    classes = np.array(["no", "yes"] if task == "binary" else ["a", "b", "c"])
    truth = rng.integers(0, len(classes), n)
    wrong = rng.random(n) < np.where(bad, 0.6, 0.1)
    said = np.where(wrong, (truth + 1) % len(classes), truth)
    table = np.full((n, len(classes)), 0.2 / (len(classes) - 1))
    table[np.arange(n), said] = 0.8
    columns["y"], columns["said"] = classes[truth], classes[said]
    columns |= {f"p_{name}": table[:, place] for place, name in enumerate(classes)}
    return columns


def roles(task: str) -> dict[str, Any]:
    """The roles of such columns."""
    features = ["income", "age", "city", "tenure"]
    if task == "regression":
        return {"target": "y", "prediction": "said", "features": features}
    if task == "binary":
        return {"target": "y", "positive": "yes", "prediction": "said", "score": "p_yes", "features": features}
    return {"target": "y", "prediction": "said", "score": {c: f"p_{c}" for c in "abc"}, "features": features}


@pytest.fixture
def make_broken(rng: np.random.Generator) -> MakeData:
    """A dataset of a task whose predictions are bad where told: incomes of 30 to 45 unless said otherwise."""

    def make(n: int = 6000, task: str = "binary", where: Any = None, **more: Any) -> Dataset:
        place = where or (lambda c: (c["income"] >= 30) & (c["income"] < 45))
        return Dataset(broken(n, task, rng, place), **{**roles(task), **more})

    return make


@pytest.fixture(scope="session")
def people() -> Callable[..., tuple[Dataset, Any]]:
    """A maker of people with two groups and moments, and of a model fitted to them."""

    def make(n: int = 1500, task: str = "binary", seed: int = 0, **more: Any) -> tuple[Dataset, Any]:
        """People with a target that follows from their features, and a model fitted to them."""
        rng = np.random.default_rng(seed)
        columns: dict[str, Any] = {
            "x": rng.normal(size=n),
            "z": rng.integers(0, 6, n),
            "sex": rng.integers(0, 2, n),
            "when": np.arange(n) // max(1, n // 10),
        }
        score = 1.5 * columns["x"] + 0.4 * columns["z"] - 1 + 0.5 * columns["sex"] + rng.normal(size=n)
        X = np.column_stack([columns[name] for name in ("x", "z", "sex")]).astype(float)
        if task == "regression":
            columns["y"] = score
            model: Any = LinearRegression().fit(X, score)
        else:
            cuts = [0.0] if task == "binary" else [-1.0, 1.0]
            columns["y"] = np.digitize(score, cuts)
            model = LogisticRegression(max_iter=500).fit(X, columns["y"])
        roles = {"target": "y", "protected": ["sex"], "time": "when", "features": ["x", "z", "sex"], "task": task}
        return Dataset(columns, **{**roles, **more}), model

    return make
