"""GerryFair's auditor: the violation by its definition, exact thresholds, gerrymandered groups, chance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

import isonomia as iso
from isonomia.counting import Codes
from isonomia.discovery import find_subgroups
from isonomia.errors import DataError, SpecError


def rows_of(result: Any) -> list[dict[str, Any]]:
    return list(result.tables["subgroups"].rows())


def violation(decision: Any, inside: Any, defined: Any = None) -> float:
    """Size times gap, by the definition."""
    known = np.ones(len(decision), dtype=bool) if defined is None else defined
    mine = inside & known
    if not mine.any():
        return 0.0
    return float(mine.mean() * abs(decision[known].mean() - decision[mine].mean()))


def audit(data: Any, **options: Any) -> Any:
    return find_subgroups(data, method="gerryfair", **{"n_randomisations": 0, **options})


def test_one_number_gives_the_best_threshold(rng: np.random.Generator) -> None:
    for seed in range(15):
        rng = np.random.default_rng(seed)
        n = 300
        age = rng.integers(0, 12, n).astype(float)
        said = (rng.random(n) < 0.3 + 0.4 * (age > rng.integers(2, 9))).astype(int)
        edges = list(range(13))
        result = audit({"age": age}, y_pred=said, protected=["age"], metric="selection_rate", bins={"age": edges})
        best = max(violation(said, age >= cut) for cut in range(1, 12))
        best = max(best, max(violation(said, age < cut) for cut in range(1, 12)))
        assert rows_of(result)[0]["violation"] == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("metric", ["selection_rate", "fpr"])
def test_the_violation_is_that_of_the_group_shown(metric: str, rng: np.random.Generator) -> None:
    n = 1500
    data = {"sex": rng.choice(["F", "M"], n), "race": rng.choice(list("abc"), n), "age": rng.integers(18, 80, n)}
    y = rng.integers(0, 2, n)
    said = (rng.random(n) < 0.4 + 0.3 * ((data["sex"] == "F") & (data["race"] == "b"))).astype(int)
    result = audit(data, y_true=y, y_pred=said, protected=list(data), metric=metric)
    defined = None if metric == "selection_rate" else y == 0
    for i, row in enumerate(rows_of(result)):
        mask = result.mask(i)
        assert row["violation"] == pytest.approx(violation(said, mask, defined), abs=1e-12)
        assert row["size"] == mask.sum()
        assert row["rate"] == pytest.approx(said[mask if defined is None else mask & defined].mean())
        assert (row["rate"] > row["base_rate"]) == (row["direction"] == "high")


def test_close_to_the_best_of_all_groups_of_cells() -> None:
    shares = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        n = 400
        a, b = rng.integers(0, 2, n), rng.integers(0, 3, n)
        said = (rng.random(n) < rng.uniform(0.1, 0.9, (2, 3))[a, b]).astype(int)
        data = {"a": [f"a{i}" for i in a], "b": [f"b{i}" for i in b]}
        found = rows_of(audit(data, y_pred=said, protected=["a", "b"], metric="selection_rate"))[0]["violation"]
        cell = a * 3 + b
        most = max(
            violation(said, np.array(chosen, dtype=bool)[cell]) for chosen in product([0, 1], repeat=6) if any(chosen)
        )
        assert found <= most + 1e-12  # no group of cells is worse, linear or not
        shares.append(found / most)
    assert np.mean(shares) > 0.85


def test_a_gerrymandered_group_is_found_that_no_attribute_shows() -> None:
    rng = np.random.default_rng(0)
    n = 4000
    parts = {name: rng.integers(0, 2, n) for name in ("u", "v", "w")}
    inside = sum(parts.values()) >= 2  # a majority: a linear threshold, no conjunction
    said = (rng.random(n) < np.where(inside, 0.35, 0.65)).astype(int)
    data = {name: np.where(values == 1, "yes", "no") for name, values in parts.items()}
    result = audit(data, y_pred=said, protected=list(data), n_randomisations=39)
    low = next(i for i, row in enumerate(rows_of(result)) if row["direction"] == "low")
    assert (result.mask(low) == inside).all()
    assert rows_of(result)[low]["p_adjusted"] == pytest.approx(1 / 40)
    assert rows_of(result)[low]["p_value"] < 1e-6
    assert "u = yes" in rows_of(result)[low]["slice"]
    assert result.findings
    assert "grupo" in result.findings[0].message.text("pt-BR")


def test_the_generator_s_subgroup_is_among_the_first_three() -> None:
    rng = np.random.default_rng(1)
    n = 2000
    source = {
        "sex": rng.choice(["F", "M"], n),
        "race": rng.choice(["a", "b", "c"], n),
        "work": rng.choice(list("xyz"), n),
    }
    made = iso.synth(
        source,
        protected=["sex", "race"],
        pairs=[{"a": {"sex": "F", "race": "b"}, "b": {"sex": "M", "race": "b"}, "bias": -3.0}],
        n_samples=600,
        n_background=4000,
        seed=3,
    )
    result = audit(made.dataset, metric="base_rate", k=3)
    planted = np.zeros(len(made.dataset), dtype=bool)
    planted[made.truth.biased[0].rows] = True
    best = max(
        (result.mask(i) & planted).sum() / (result.mask(i) | planted).sum() for i in range(len(result.subgroups))
    )
    assert best > 0.8


def test_chance_alone_is_seldom_significant() -> None:
    alarms = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        data = {"sex": rng.choice(["F", "M"], 200), "race": rng.choice(list("abc"), 200)}
        result = audit(data, y_pred=rng.integers(0, 2, 200), protected=["sex", "race"], n_randomisations=19, seed=seed)
        alarms += any(row["p_adjusted"] <= 0.1 for row in rows_of(result))
    assert alarms <= 17  # 0.1 of 100 is 10, more than 17 has a chance of 1%; one run in four would be seen


def _features(data: dict[str, Any], n: int) -> dict[str, Codes]:
    """The first rows as columns with the codes of all."""
    whole = {name: Codes.encode(values, name=name) for name, values in data.items()}
    return {name: replace(column, codes=column.codes[:n]) for name, column in whole.items()}


def test_weights_holdout_labels_alone_and_time(rng: np.random.Generator, ticking: Callable[[float], None]) -> None:
    n = 1200
    data = {"sex": rng.choice(["F", "M"], n), "race": rng.choice(list("abc"), n)}
    said = (rng.random(n) < np.where(data["sex"] == "F", 0.3, 0.7)).astype(int)
    weight = rng.integers(0, 3, n)
    more = np.repeat(np.arange(n), weight)
    weighted = audit(data, y_pred=said, protected=["sex", "race"], weights=weight)
    repeated = audit(
        {name: values[more] for name, values in data.items()}, y_pred=said[more], protected=["sex", "race"]
    )
    assert rows_of(weighted)[0]["violation"] == pytest.approx(rows_of(repeated)[0]["violation"])
    held = audit(data, y_pred=said, protected=["sex", "race"], holdout=0.5)
    assert rows_of(held)[0]["p_adjusted"] < 0.01
    assert len(held.mask(0)) == n  # over all rows, not those held out
    assert held.mask(0)[: n // 2].tolist() == held.subgroups[0].mask(_features(data, n // 2)).tolist()
    alone = audit(data, y_true=said, protected=["sex", "race"])
    assert rows_of(alone)[0]["metric"] == "base_rate"
    ticking(0.1)
    cut = audit(data, y_pred=said, protected=["sex", "race"], n_randomisations=100_000, max_seconds=0.4)
    assert not cut.complete


def test_several_classes_and_numbers(rng: np.random.Generator) -> None:
    n = 2000
    data = {"sex": rng.choice(["F", "M"], n), "race": rng.choice(list("abc"), n)}
    women = data["sex"] == "F"
    classes = np.where(women & (rng.random(n) < 0.5), "low", rng.choice(["low", "mid", "high"], n))
    several = rows_of(audit(data, y_pred=classes, task="multiclass", protected=["sex", "race"]))
    assert several[0]["metric"] == "selection_rate:low"
    by_hand = women.mean() * ((classes == "low")[women].mean() - (classes == "low").mean())
    assert several[0]["violation"] == pytest.approx(by_hand)
    numbers = rng.normal(size=n) + 2.0 * women
    real = rows_of(audit(data, y_pred=numbers, task="regression", protected=["sex", "race"], n_randomisations=99))
    assert (real[0]["metric"], real[0]["p_adjusted"]) == ("prediction", 0.01)
    assert real[0]["violation"] == pytest.approx(women.mean() * (numbers[women].mean() - numbers.mean()))


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"gamma": 2}, SpecError, "`gamma` must be"),
        ({"n_randomisations": -1}, SpecError, "`n_randomisations` must be"),
        ({"protected": None}, DataError, "protected"),
        ({"metric": "fpr"}, DataError, "y_true|true outcomes|labels"),
        ({"k": 0}, SpecError, "`k`"),
    ],
)
def test_bad_input(options: dict[str, Any], error: type[Exception], words: str) -> None:
    given = {"y_pred": [0, 1, 1, 0], "protected": ["sex"], **options}
    with pytest.raises((error, SpecError), match=words):
        find_subgroups({"sex": list("FMFM"), "one": list("aaaa")}, method="gerryfair", **given)


def test_equal_treatment_and_constant_attributes() -> None:
    assert not len(audit({"sex": list("FMFM")}, y_pred=[1, 1, 1, 1], protected=["sex"], metric="selection_rate").table)
    assert not len(audit({"one": list("aaaa")}, y_pred=[0, 1, 1, 0], protected=["one"]).table)
