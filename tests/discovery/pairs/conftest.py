"""The census codes of the published experiments, and models fitted to them once."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from isonomia import Dataset

NAMES = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "marital",
    "occupation",
    "relationship",
    "race",
    "sex",
    "gain",
    "loss",
    "hours",
    "country",
    "income",
]
BOUNDS = [(1, 9), (0, 7), (0, 39), (0, 15), (0, 6), (0, 13), (0, 5), (0, 4), (0, 1), (0, 99), (0, 39), (0, 99), (0, 39)]


class Census:
    """The census as the papers coded it: data, declared domain, models."""

    def __init__(self, folder: Path) -> None:
        pandas = pytest.importorskip("pandas")
        frame = pandas.read_csv(folder / "methods" / "census_codes.csv.gz")
        frame.columns = NAMES
        self.X, self.y = frame[NAMES[:-1]], frame["income"]
        self.data = Dataset(frame, target="income", protected=["sex"])
        self.domain = dict(zip(NAMES, BOUNDS, strict=False))
        self._fitted: dict[str, Any] = {}

    def model(self, kind: str) -> Any:
        """A fitted model: "tree", "forest" (10 trees, as the papers had), "linear" or "net"."""
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.linear_model import LogisticRegression
        from sklearn.neural_network import MLPClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        from sklearn.tree import DecisionTreeClassifier

        makers = {
            "tree": lambda: DecisionTreeClassifier(random_state=0),
            "forest": lambda: RandomForestClassifier(10, random_state=0),
            "linear": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
            "net": lambda: make_pipeline(
                StandardScaler(),
                MLPClassifier((32, 16), activation="tanh", max_iter=12, random_state=0, early_stopping=True),
            ),
        }
        if kind not in self._fitted:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the net is stopped before it has converged: good enough, and quick
                self._fitted[kind] = makers[kind]().fit(self.X, self.y)
        return self._fitted[kind]


@pytest.fixture(scope="session")
def census(shared_data: Path) -> Census:
    """The census codes; skipped where the folder of public data is absent."""
    return Census(shared_data)
