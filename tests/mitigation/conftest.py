"""Real data as the figures of the literature are computed on: encoded features, split by row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler


@dataclass(frozen=True)
class People:
    """Features as numbers (standardised on the training rows; the last column is the protected attribute).

    `y` is 1 for the favourable outcome, `who` is 1 for the privileged group; `units` are what the columns of X were
    divided by.
    """

    X: NDArray[Any]
    y: NDArray[Any]
    who: NDArray[Any]
    train: NDArray[Any]
    units: NDArray[Any]

    def figures(self, predicted: NDArray[Any]) -> list[float]:
        """Accuracy, favourable rates (unprivileged, privileged), gaps of TPR and FPR, on the test rows."""
        y, who = self.y[~self.train], self.who[~self.train]
        rates = [float(predicted[who == g].mean()) for g in (0, 1)]
        gaps = [
            float(predicted[(who == 0) & (y == c)].mean() - predicted[(who == 1) & (y == c)].mean()) for c in (1, 0)
        ]
        return [float((predicted == y).mean()), *rates, *gaps]


def _people(frame: pd.DataFrame, y: Any, who: Any, train: Any) -> People:
    texts = frame.select_dtypes(exclude="number")
    numbers = frame.drop(columns=texts.columns).to_numpy(float)
    scaler = StandardScaler().fit(numbers[train])
    dummies = pd.get_dummies(texts, dtype=float).to_numpy() if texts.shape[1] else np.empty((len(frame), 0))
    group = np.asarray(who, dtype=int)
    X = np.column_stack([scaler.transform(numbers), dummies, group])
    units = np.r_[scaler.scale_, np.ones(X.shape[1] - numbers.shape[1])]
    return People(X, np.asarray(y, dtype=int), group, np.asarray(train), units)


def _adult(folder: Path) -> People:
    frame = pd.read_csv(folder / "adult.csv.gz", keep_default_na=False)
    kept = frame.drop(columns=["fnlwgt", "education", "sex", "income"])
    return _people(kept, frame["income"] == ">50K", frame["sex"] == "Male", np.arange(len(frame)) < 32_561)


def _compas(folder: Path, *, everyone: bool = False) -> People:
    frame = pd.read_csv(folder / "compas.csv.gz")
    filtered = frame["days_b_screening_arrest"].between(-30, 30) & (frame["is_recid"] != -1)  # ProPublica's filter
    filtered &= frame["c_charge_degree"] != "O"
    two_races = frame["race"].isin(["African-American", "Caucasian"])
    frame = frame[filtered & (two_races | everyone)].reset_index(drop=True)
    kept = ["sex", "age", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count", "c_charge_degree"]
    train = np.arange(len(frame)) % 10 < 7
    return _people(frame[kept], frame["two_year_recid"] == 0, frame["race"] == "Caucasian", train)


def _german(folder: Path) -> People:
    frame = pd.read_csv(folder / "german.csv.gz", keep_default_na=False)
    kept = frame.drop(columns=["age", "sex", "credit_risk"])
    return _people(kept, frame["credit_risk"] == 1, frame["age"] > 25, np.arange(len(frame)) % 10 < 7)


def _german_by_sex(folder: Path) -> People:
    frame = pd.read_csv(folder / "german.csv.gz", keep_default_na=False)
    kept = frame.drop(columns=["sex", "credit_risk"])
    return _people(kept, frame["credit_risk"] == 1, frame["sex"] == "male", np.arange(len(frame)) % 10 < 7)


def _default(folder: Path) -> People:
    frame = pd.read_csv(folder / "default.csv.gz", keep_default_na=False)
    target = "default payment next month"
    kept = frame.drop(columns=["ID", "SEX", target])
    return _people(kept, frame[target] == 0, frame["SEX"] == 1, np.arange(len(frame)) % 10 < 7)


LOADERS: dict[str, Callable[[Path], People]] = {
    "adult": _adult,
    "compas": _compas,
    "compas, all races": partial(_compas, everyone=True),
    "german": _german,
    "german by sex": _german_by_sex,
    "default": _default,
}


@pytest.fixture(scope="session")
def people(shared_data: Path) -> Callable[[str], People]:
    """One of the four datasets by its name, read once."""
    read: dict[str, People] = {}

    def load(name: str) -> People:
        if name not in read:
            read[name] = LOADERS[name](shared_data)
        return read[name]

    return load
