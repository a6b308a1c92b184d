"""The census codes of the published experiments, and models fitted to them once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

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
#: Columns whose codes stand for categories.
NOMINAL = ["workclass", "marital", "occupation", "relationship", "race", "country"]
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
        self.categories = Dataset(
            frame, target="income", protected=["sex"], kinds=dict.fromkeys(NOMINAL, "category")
        )  # the same with categories declared
        self._fitted: dict[Any, Any] = {}

    def model(self, kind: str) -> Any:
        """A fitted model: "tree", "forest" (10 trees, as the papers had), "linear", "net", "small net" (AEQUITAS')."""
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
            "small net": lambda: MLPClassifier((7, 5), solver="lbfgs", alpha=1e-5, random_state=1),
        }
        if kind not in self._fitted:
            self._fitted[kind] = _fit(makers[kind](), self.X, self.y)
        return self._fitted[kind]

    def published_net(self, seed: int) -> Any:
        """A net of the shape that ADF was published on, fitted to 3,000 people for 40 rounds.

        Long enough to treat as many uniform people differently as the published one did, which is not to be had (10.9,
        9.8 and 3.1% by age, race and sex; these 10, 5 and 2.5% on average).
        """
        if seed not in self._fitted:
            rows = np.random.default_rng(seed).choice(len(self.X), 3000, replace=False)
            self._fitted[seed] = _fit(published_net(seed, 40, 200), self.X.iloc[rows], self.y.iloc[rows])
        return self._fitted[seed]


def published_net(seed: int, rounds: int, batch: int) -> Any:
    """The layers of the net that ADF was published on (64-32-16-8-4), not fitted."""
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    net = MLPClassifier(
        (64, 32, 16, 8, 4),
        batch_size=batch,
        learning_rate_init=0.003,
        max_iter=rounds,
        n_iter_no_change=rounds,
        random_state=seed,
    )
    return make_pipeline(StandardScaler(), net)


class Credit:
    """The German credit data as ADF coded them, and nets of the published shape.

    Fitted for 20 rounds: 20 and 9% of uniform people treated differently by age and sex; the published net 28 and 8%.
    """

    def __init__(self) -> None:
        pytest.importorskip("pandas")
        from tests.german_codes import adf_codes

        self.frame = adf_codes().rename(columns={"i": "sex", "m": "age", "u": "good"})

    def published_net(self, seed: int) -> Any:
        return _fit(published_net(seed, 20, 50), self.frame.drop(columns="good"), self.frame["good"])


def _fit(model: Any, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nets are stopped before they have converged: good enough, and quick
        return model.fit(X, y)


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Matrices are small here, and test processes run beside each other: threads would wait for one another."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def census(shared_data: Path) -> Census:
    """The census codes; skipped where the folder of public data is absent."""
    return Census(shared_data)


@pytest.fixture(scope="session")
def credit() -> Credit:
    """The credit codes."""
    return Credit()
