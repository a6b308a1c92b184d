"""A subgroup that the generator made is among the first three of every method that looks for its kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import isonomia as iso
from isonomia.data.synthetic import generate
from isonomia.discovery import find_subgroups

OPTIONS: dict[str, dict[str, Any]] = {
    "sliceline": {"metric": "fnr", "alpha": 0.95},
    "divexplorer": {"metric": "fnr"},
    "slicefinder": {"metric": "fnr", "approach": "lattice", "epsilon": 1.4},
}


def _jaccard(a: Any, b: Any) -> float:
    return float((a & b).sum() / (a | b).sum())


@pytest.mark.parametrize("method", list(OPTIONS))
@pytest.mark.parametrize("n", [3_000, 20_000])
def test_the_injected_subgroup_is_among_the_first_three(method: str, n: int) -> None:
    rng = np.random.default_rng(n)
    columns: dict[str, Any] = {
        "sex": rng.choice(["F", "M"], n),
        "race": rng.choice(["a", "b", "c", "d"], n),
        "job": rng.choice(list("uvwxyz"), n),
        "age": rng.integers(18, 80, n),
        "pay": rng.normal(size=n),
    }
    injected = (columns["sex"] == "F") & (columns["race"] == "d")
    truth = (columns["pay"] + rng.normal(0, 0.5, n) > 0).astype(int)
    said = np.where(injected & (rng.random(n) < 0.7), 0, truth)  # they are refused, whatever they earn
    result = find_subgroups(columns, method=method, y_true=truth, y_pred=said, k=3, min_support=0.05, **OPTIONS[method])
    best = max(_jaccard(result.mask(index), injected) for index in range(len(result.subgroups)))
    assert best > 0.99
    assert result.findings[0].sure


SCHEMA = {
    "columns": {
        "sex": {"categories": {"F": 0.5, "M": 0.5}},
        "race": {"categories": {"a": 0.4, "b": 0.2, "c": 0.2, "d": 0.2}},
        "job": {"categories": {"u": 0.3, "v": 0.3, "w": 0.4}},
        "pay": {"normal": {"mean": 3, "sd": 1}},
    },
    "protected": ["sex", "race"],
    "privileged": {"sex": "M", "race": "a"},
}


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("sliceline", {}),
        ("divexplorer", {}),
        ("slicefinder", {"approach": "lattice", "epsilon": 0.9}),
    ],
)
def test_the_generators_subgroup_is_among_the_first_three(method: str, options: dict[str, Any]) -> None:
    pair = {"a": {"sex": "F", "race": "d"}, "b": {"sex": "M", "race": "d"}, "bias": -4.0}
    made = generate(SCHEMA, pairs=[pair], n_samples=300, n_background=6_000, seed=2)
    injected = made.truth.biased[0].matches(made.frame)
    refused = 1.0 - np.asarray(made.frame["outcome"], dtype=float)
    data = made.dataset.with_roles(features=("sex", "race", "job"))
    result = find_subgroups(data, method=method, errors=refused, k=3, min_support=0.03, **options)
    assert max(_jaccard(result.mask(index), injected) for index in range(len(result.subgroups))) == 1.0


def test_a_model_is_asked_once(rng: np.random.Generator) -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300)})
    truth = (frame["a"] + frame["b"] ** 2 > 0.5).astype(int)
    model = LogisticRegression().fit(frame, truth)
    result = find_subgroups(frame, model, method="sliceline", y_true=truth, k=2, min_support=0.05)
    assert (result.metrics["n_model_calls"], result.metrics["n_model_rows"]) == (1, 300)
    again = find_subgroups(frame, method="sliceline", y_true=truth, y_pred=model.predict(frame), k=2, min_support=0.05)
    assert list(again.table["slice"]) == list(result.table["slice"])
    assert again.metrics["n_model_rows"] == 0
    data = iso.Dataset(frame.assign(y=truth), target="y")
    assert list(find_subgroups(data, model, method="sliceline", k=2, min_support=0.05).table["slice"]) == list(
        result.table["slice"]
    )
