"""A subgroup that the generator made is among the first three of every method that looks for its kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import isonomia as iso
from isonomia.data.synthetic import generate
from isonomia.discovery import find_subgroups

OPTIONS: dict[str, dict[str, Any]] = {
    "sliceline": {"metric": "fnr", "alpha": 0.95},
    "divexplorer": {"metric": "fnr"},
    "slicefinder": {"metric": "fnr", "approach": "lattice"},
}


def _effect(errors: Any, inside: Any) -> float:
    """SliceFinder's effect size of a subgroup, by its definition."""
    mine, others = errors[inside], errors[~inside]
    return float(np.sqrt(2) * (mine.mean() - others.mean()) / np.sqrt(mine.var(ddof=1) + others.var(ddof=1)))


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
    options = dict(OPTIONS[method])
    if method == "slicefinder":  # lists the largest slices above its threshold: set just under what was injected
        options["epsilon"] = 0.9 * _effect((said == 0)[truth == 1].astype(float), injected[truth == 1])
    result = find_subgroups(columns, method=method, y_true=truth, y_pred=said, k=3, min_support=0.05, **options)
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


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_the_generators_subgroup_is_among_the_first_three_of_every_method(seed: int) -> None:
    """About 880 of 6,600 rows (13%) refused 95% of the time, against 50% of the others."""
    pair = {"a": {"sex": "F", "race": "d"}, "b": {"sex": "M", "race": "d"}, "bias": -4.0}
    made = generate(SCHEMA, pairs=[pair], n_samples=300, n_background=6_000, seed=seed)
    injected = made.truth.biased[0].matches(made.frame)
    outcome = np.asarray(made.frame["outcome"], dtype=float)
    refused = 1.0 - outcome
    data = made.dataset.with_roles(features=("sex", "race", "job"))
    given: dict[str, dict[str, Any]] = {
        "sliceline": {"errors": refused},
        "divexplorer": {"errors": refused},
        "slicefinder": {"errors": refused, "approach": "lattice", "epsilon": 0.9 * _effect(refused, injected)},
        "biasscan": {"y_true": outcome},
        "gerryfair": {"y_pred": outcome},
        "naivebayes": {"y_true": outcome},
    }
    for method, options in given.items():
        result = find_subgroups(data, method=method, k=3, min_support=0.03, **options)
        assert max(_jaccard(result.mask(index), injected) for index in range(len(result.subgroups))) == 1.0, method


@pytest.mark.parametrize("seed", [2, 3])
def test_a_model_of_the_generators_people_is_shown_unfair(seed: int) -> None:
    """Verification compares the groups of one attribute: sex, injected; job, not protected, left alone."""
    pair = {"a": {"sex": "F"}, "b": {"sex": "M"}, "bias": -4.0}
    made = generate(SCHEMA, pairs=[pair], n_samples=300, n_background=6_000, seed=seed)
    data = made.dataset.with_roles(features=("sex", "race", "job"))
    frame = made.frame.select("sex", "race", "job")
    model = make_pipeline(OneHotEncoder(sparse_output=False), DecisionTreeClassifier(max_depth=6, random_state=0))
    model.set_output(transform="polars").fit(frame, np.asarray(made.frame["outcome"]).astype(int))
    result = find_subgroups(data, model, method="verifair", population="copula", seed=seed)
    first = next(iter(result.tables["subgroups"].rows()))
    assert (first["slice"], first["compared_with"], first["verdict"]) == ("sex = F", "sex = M", "unfair")


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
