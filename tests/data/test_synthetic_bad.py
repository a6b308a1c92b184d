"""Bad input to the generator gets a sentence that says what was found and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from isonomia import IsonomiaError
from isonomia.data.synthetic import (
    Between,
    Copula,
    GroundTruth,
    OneOf,
    Outcome,
    Schema,
    credit,
    generate,
    holds,
    read_conditions,
)
from isonomia.data.synthetic.truth import Subgroup

TWO = {"categories": {"F": 0.5, "M": 0.5}}
NUMBER = {"normal": {"mean": 0, "sd": 1}}


def schema(**changes: Any) -> dict[str, Any]:
    return {"columns": {"sex": TWO, "pay": NUMBER}, "protected": ["sex"], **changes}


SCHEMAS: list[tuple[dict[str, Any], str]] = [
    (schema(columns={"sex": {"categories": {"F": 0.5, "M": 0.4}}}), "must sum to 1; they sum to 0.9"),
    (schema(columns={"sex": {"categories": {"F": -0.5, "M": 1.5}}}), r"numbers in \[0, 1\]"),
    (schema(columns={"sex": {"categories": {}}}), r"numbers in \[0, 1\]"),
    (schema(columns={"sex": TWO, "pay": {"normal": {"mean": 0, "sd": 0}}}), "`sd` must be above 0"),
    (schema(columns={"sex": TWO, "pay": {"normal": {"mean": 0}}}), "normal takes"),
    (schema(columns={"sex": TWO, "pay": {"normal": {"mean": 0, "sdd": 1}}}), "Did you mean 'sd'"),
    (schema(columns={"sex": TWO, "pay": {"normall": {}}}), "must name one of categories, normal"),
    (schema(columns={"sex": TWO, "pay": {"normal": {"mean": 0, "sd": 1, "low": 3, "high": 1}}}), "low < high"),
    (
        schema(columns={"sex": TWO, "pay": {"normal": {"mean": 0, "sd": 1, "low": 30, "high": 31}}}),
        "contain none of",
    ),
    (schema(columns={"sex": TWO, "pay": {"uniform": {"low": 0}}}), "needs finite"),
    (schema(columns={"sex": TWO, "pay": {"lognormal": {"median": -1, "sigma": 1}}}), "above 0"),
    (schema(columns={"sex": TWO, "pay": {**NUMBER, "missing": 1.0}}), r"must lie in \[0, 1\)"),
    (schema(columns={"sex": TWO, "pay": 3}), "must be a distribution"),
    (schema(columns={}), "at least one column"),
    (schema(protected=["sx"]), "got 'sx'"),
    (schema(correlation=[("sex", "pey", 0.3)]), "Did you mean 'pay'"),
    (schema(correlation=[("sex", "pay", 1.3)]), r"numbers in \[-1, 1\]"),
    (schema(correlation=[("sex", "sex", 0.3)]), "diagonal"),
    (schema(correlation=np.eye(3)), "must be 2 x 2"),
    (schema(correlations=[]), "Did you mean 'correlation'"),
    (
        schema(
            columns={"sex": TWO, "x": NUMBER, "y": NUMBER},
            correlation=[("sex", "x", 0.9), ("x", "y", 0.9), ("sex", "y", -0.9)],
        ),
        "not positive semi-definite",
    ),
]


@pytest.mark.parametrize(("given", "message"), SCHEMAS, ids=[message for _, message in SCHEMAS])
def test_bad_schemas(given: dict[str, Any], message: str) -> None:
    with pytest.raises(IsonomiaError, match=message):
        generate(given, n_pairs=1, n_samples=5, n_background=5)


def test_all_problems_of_a_schema_are_told_together() -> None:
    with pytest.raises(IsonomiaError) as caught:
        Schema({"a": {"categories": {"x": 2}}, "b": {"normal": {"mean": 0, "sd": -1}}}, protected=["c"])
    assert len(caught.value.problems) == 3  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def copula() -> Copula:
    rng = np.random.default_rng(0)
    return Copula.fit(
        {
            "sex": rng.choice(["F", "M"], 3000),
            "race": rng.choice(["A", "B", "C"], 3000),
            "age": rng.integers(18, 80, 3000),
            "pay": rng.normal(3, 1, 3000),
        }
    )


OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"similarity": 1.5}, r"`similarity` must lie in \[0, 1\]; got 1.5"),
    ({"similarity": (0.5, 0.1)}, "low <= high"),
    ({"similarity": "much"}, "must be a number"),
    ({"similarity": float("nan")}, "must lie in"),
    ({"intersectionality": 0}, r"`intersectionality` must lie in \[1, 2\]"),
    ({"intersectionality": 1.5}, "must be whole"),
    ({"granularity": 3}, r"`granularity` must lie in \[0, 2\]"),
    ({"n_samples": -1}, "`n_samples` must lie in"),
    ({"n_samples": [1, 2]}, r"one number per pair \(3\); got 2"),
    ({"n_pairs": -1}, "`n_pairs` must be a whole number"),
    ({"n_background": 1.5}, "`n_background` must be a whole number"),
    ({"n_samples": 0, "n_background": 0}, "no row at all"),
    ({"aleatoric": -1}, "`aleatoric` must lie in"),
    ({"epistemic": -1}, "`epistemic` must lie in"),
    ({"bias": "strong"}, "`bias` must be a number"),
    ({"outcome": "binry"}, "Did you mean 'binary'"),
    ({"applies": "all"}, "`applies` must be one of matching, members"),
    ({"protected": ["gender"]}, "got 'gender'"),
    ({"protected": []}, "at least one attribute"),
    ({"n_pairs": 50, "intersectionality": 1, "granularity": 0}, "distinct subgroup pairs could be formed"),
    ({"pairs": [{"a": {"sex": "F"}, "b": {"sex": "F"}}]}, "do not differ in a protected attribute"),
    ({"pairs": [{"a": {"sex": "X"}, "b": {"sex": "F"}}]}, "never has the value 'X'"),
    ({"pairs": [{"a": {"age": (200, 300)}, "b": {"sex": "F"}}], "protected": ["sex", "age"]}, "support is empty"),
    ({"pairs": [{"first": 1}]}, "A pair has `a`, `b`"),
    ({"outcome": Outcome(target="pay")}, "a name that the generator writes itself"),
    ({"outcome": Outcome(weights={"pey": 1})}, "Did you mean 'pay'"),
    ({"outcome": Outcome(weights={"pay": "much"})}, "must be a number"),
]


@pytest.mark.parametrize(("options", "message"), OPTIONS, ids=[message for _, message in OPTIONS])
def test_bad_options(copula: Copula, options: dict[str, Any], message: str) -> None:
    with pytest.raises(IsonomiaError, match=message):
        generate(copula, **{"protected": ["sex", "race"], "n_pairs": 3, "n_samples": 5, "n_background": 5, **options})


CONDITIONS: list[tuple[Any, str]] = [
    ({"gender": "F"}, "not a column of the generator"),
    ({"sex": "X"}, "never has the value 'X'"),
    ({"sex": (0, 1)}, "cannot lie in an interval"),
    ({"sex": []}, "allows no value"),
    ({"age": (90, 95)}, "support is empty"),
    ({"age": (30.2, 30.8)}, "support is empty"),
    ({"pay": (100, None)}, "support is empty"),
    ({"pay": 3.21}, "support is empty"),
    ({"pay": "much"}, "contains numbers"),
    ({"age": (40, 30)}, "low < high"),
    ({"age": (1, 2, 3)}, r"must be \(low, high\)"),
    ({"age": ("a", "b")}, "must contain numbers"),
    ({"age": None}, "which has none"),
    ([OneOf("sex", ("F",)), OneOf("sex", ("M",))], "more than once"),
    (["sex"], "must be a mapping"),
    ({"sex": Between("age", 1, 2)}, "is about 'age'"),
]


@pytest.mark.parametrize(("conditions", "message"), CONDITIONS, ids=[message for _, message in CONDITIONS])
def test_bad_conditions(copula: Copula, conditions: Any, message: str) -> None:
    with pytest.raises(IsonomiaError, match=message):
        copula.sample(5, given=conditions)


SOURCES: list[tuple[Any, str]] = [
    ({"a": [1]}, "at least 2 rows"),
    ({"a": [None, None, None], "b": [1, 2, 3]}, "has no values"),
    ({"a": [1.0, np.inf, 2.0]}, "infinite"),
    ({"a": [str(i) for i in range(1500)]}, "1,500 different values"),
    ({"a": np.arange("2024-01", "2024-03", dtype="datetime64[D]")}, "contains dates"),
]


@pytest.mark.parametrize(("source", "message"), SOURCES, ids=[message for _, message in SOURCES])
def test_bad_sources(source: Any, message: str) -> None:
    with pytest.raises(IsonomiaError, match=message):
        Copula.fit(source)


def test_other_mistakes(copula: Copula) -> None:
    with pytest.raises(IsonomiaError, match="Did you mean 'sex'"):
        Copula.fit({"sex": ["F", "M"]}, columns=["sx"])
    with pytest.raises(IsonomiaError, match="`n` must be a whole number of at least 1"):
        copula.sample(0)
    with pytest.raises(IsonomiaError, match=r"shape \(n, 4\)"):
        copula.from_latent(np.zeros((3, 2)))
    with pytest.raises(IsonomiaError, match="has no column 'race'"):
        copula.log_density({"sex": ["F"]})
    with pytest.raises(IsonomiaError, match="at least 100"):
        credit(5)
    with pytest.raises(IsonomiaError, match="three labels"):
        Outcome("multiclass", labels=("a", "b"))
    with pytest.raises(IsonomiaError, match=r"`rate` must be a number in \(0, 1\)"):
        Outcome(rate=1.0)
    with pytest.raises(IsonomiaError, match="is for categories"):
        Copula.fit({"a": [1, 2, 3]}, orders={"a": [3, 2, 1]})
    with pytest.raises(IsonomiaError, match="not a subgroup"):
        Subgroup.from_dict({"id": "P01A"})
    with pytest.raises(IsonomiaError, match="A ground truth has"):
        GroundTruth.from_dict({})
    with pytest.raises(IsonomiaError, match="Unknown subgroup 'P09A'"):
        GroundTruth((), 0)["P09A"]
    with pytest.raises(IsonomiaError, match="which is not in the data"):
        holds(read_conditions({"sx": "F"}), {"sex": ["F"]})


def test_hostile_names_and_values_come_through() -> None:
    odd = {"<script>": ["a|b", 'q"uote', "new\nline", "😀", "", "'; drop"] * 20, "x": list(range(120))}
    made = generate(odd, protected=["<script>"], n_pairs=2, n_samples=5, n_background=30, intersectionality=1)
    assert set(made.frame["<script>"]) <= set(odd["<script>"])
    assert GroundTruth.from_dict(made.truth.to_dict()).to_dict() == made.truth.to_dict()


def test_a_constant_column_and_a_tiny_table_are_no_problem() -> None:
    sample = Copula.fit({"a": ["x", "x", "x"], "b": [1.0, 2.0, 3.0], "c": [True, None, False]}).sample(20, seed=0)
    assert set(sample["a"]) == {"x"}
