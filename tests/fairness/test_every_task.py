"""Every measure on every task, weighted, with two attributes, three groups and missing values: figures with intervals.

What a measure cannot tell it says: "not applicable because ..." for the whole of it, a note for a single figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import isonomia as iso
from isonomia import fairness
from isonomia.evidence import Estimate, Result
from isonomia.report.figures import draw

FEATURES = ["sex", "race", "skill", "job"]


@dataclass
class Case:
    """One task: people, what was true, what a model says."""

    task: str
    frame: pd.DataFrame
    model: Any
    said: np.ndarray[Any, Any]
    scores: np.ndarray[Any, Any]
    kinds: dict[str, Any]
    shared: dict[str, Any]
    data: iso.Dataset

    @property
    def people(self) -> pd.DataFrame:
        return self.frame[FEATURES]


@cache
def case(task: str) -> Case:
    rng = np.random.default_rng(0)
    n = 600
    sex, race = rng.choice(["F", "M"], n), rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2]).astype(object)
    race[rng.random(n) < 0.03] = None
    skill, job = rng.normal(size=n).round(1), rng.choice(list("xyz"), n)
    s = skill + 0.8 * (sex == "M") + rng.normal(size=n)
    y: Any = {
        "binary": np.where(s > 0.4, "yes", "no"),
        "multiclass": np.digitize(s, [0, 1]).astype(str),
        "regression": 50 + 10 * s,
    }[task]
    frame = pd.DataFrame(
        {
            "sex": sex,
            "race": race,
            "skill": skill,
            "job": job,
            "month": rng.integers(0, 4, n),
            "w": rng.integers(1, 4, n),
            "y": y,
        }
    )
    learner = LinearRegression() if task == "regression" else LogisticRegression(max_iter=1000)
    one_hot = OneHotEncoder(handle_unknown="ignore")
    encode = make_column_transformer((one_hot, ["sex", "race", "job"]), remainder="passthrough")
    model = make_pipeline(encode, learner).fit(frame[FEATURES], y)
    said = model.predict(frame[FEATURES])
    scores = said if task == "regression" else model.predict_proba(frame[FEATURES])
    kinds = {"positive": "yes"} if task == "binary" else {}
    shared = {"sensitive_features": frame[["sex", "race"]], "weights": frame["w"], "n_boot": 30, **kinds}
    data = iso.Dataset(frame, target="y", task=task, protected=["sex", "race"], weight="w", features=FEATURES, **kinds)
    return Case(task, frame, model, said, scores[:, 1] if task == "binary" else scores, kinds, shared, data)


def _simple(c: Case) -> dict[str, Any]:
    return {
        "protected": ["sex", "race"],
        "sensitive_features": c.frame[["sex", "race"]],
        "weights": c.frame["w"],
        **c.kinds,
    }


def _predicted(c: Case, part: slice) -> iso.Dataset:
    frame = c.frame.drop(columns="month").assign(p=c.said)[part]
    return iso.Dataset(frame, target="y", prediction="p", task=c.task, protected=["sex", "race"], weight="w", **c.kinds)


MEASURES: dict[str, Callable[[Case], Any]] = {
    "group_metrics": lambda c: fairness.group_metrics(c.frame["y"], c.said, by="all", **c.shared),
    "against the best": lambda c: fairness.group_metrics(c.frame["y"], c.said, by="all", reference="best", **c.shared),
    "held fixed": lambda c: fairness.group_metrics(
        c.frame["y"], c.said, by="each", control=c.frame[["job"]], **c.shared
    ),
    "demographic_parity": lambda c: fairness.demographic_parity(c.said, **c.shared),
    "disparate_impact": lambda c: fairness.disparate_impact(c.said, **c.shared),
    **{
        name: (lambda c, name=name: getattr(fairness, name)(c.frame["y"], c.said, **c.shared))
        for name in (
            "equal_opportunity",
            "equalized_odds",
            "predictive_parity",
            "negative_predictive_parity",
            "predictive_equality",
            "overall_accuracy_equality",
            "treatment_equality",
        )
    },
    "conditional": lambda c: fairness.conditional_statistical_parity(c.said, control=c.frame["job"], **c.shared),
    "distribution_parity": lambda c: fairness.distribution_parity(
        c.scores[:, 0] if c.scores.ndim == 2 else c.scores,
        sensitive_features=c.frame[["sex", "race"]],
        weights=c.frame["w"],
        by="all",
        reference="best",
        control=c.frame["job"],
        n_boot=30,
    ),
    "suite": lambda c: fairness.suite(c.frame["y"], c.said, config="full", **c.shared),
    "group_calibration": lambda c: fairness.group_calibration(c.frame["y"], c.scores, by="all", **c.shared),
    "consistency": lambda c: fairness.consistency(c.people, c.said, **_simple(c)),
    "awareness": lambda c: fairness.awareness(c.people, c.said, **_simple(c)),
    "entropy": lambda c: fairness.generalized_entropy(c.frame["y"], c.said, **c.shared),
    "equivalence": lambda c: fairness.equivalence(c.frame["y"], c.said, by="all", **c.shared),
    "incompatibility": lambda c: fairness.incompatibility(c.frame["y"], c.said, **c.shared),
    "over_time": lambda c: fairness.over_time(c.frame["y"], c.said, time=c.frame["month"], by="all", **c.shared),
    "change_between": lambda c: fairness.change_between(
        _predicted(c, slice(0, 300)), _predicted(c, slice(300, None)), by="all", n_boot=30
    ),
    "representation": lambda c: fairness.representation(
        c.data, population={"sex": {"F": 1, "M": 1}, "race": {"a": 5, "b": 4}}
    ),
    "label_bias": lambda c: fairness.label_bias(c.data, by="all", n_boot=30),
    "missingness": lambda c: fairness.missingness(c.data),
    "proxies": lambda c: fairness.proxies(c.data, by="all", folds=2),
    "duplicates": lambda c: fairness.duplicates(c.data),
    "counterfactual": lambda c: fairness.counterfactual(c.data, c.model, graph=[["sex", "skill"]]),
}
TWO_CLASSES = {"incompatibility"}
#: Criteria about decisions, which a regression does not make.
DECISIONS = {
    "disparate_impact",
    "equal_opportunity",
    "equalized_odds",
    "predictive_parity",
    "negative_predictive_parity",
    "predictive_equality",
    "overall_accuracy_equality",
    "treatment_equality",
    "group_calibration",
}


def _silent(found: Result) -> Iterator[str]:
    """Figures that are missing, or lack an interval, without a word."""
    for name, value in found.values.items():
        if isinstance(value, Estimate) and (value.value is None or value.low is None) and not value.note:
            yield f"values[{name}]"
    told = " ".join(str(note) for note in found.notes)
    for name, table in found.tables.items():
        for column, low in ((c.name, c.ends[0]) for c in table.columns if c.low is not None):
            for row in table.rows():
                if row[low] is not None or row.get("note") is not None:
                    continue
                excused = (column == "ratio" and "no ratios" in told) or (column == "change" and "no direction" in told)
                if not excused:
                    yield f"tables[{name}].{column}: {row}"
                    break


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
@pytest.mark.parametrize("name", list(MEASURES))
def test_it_tells_a_figure_with_an_interval_or_why_not(name: str, task: str) -> None:
    not_here = (task != "binary" and name in TWO_CLASSES) or (task == "regression" and name in DECISIONS)
    if not_here:
        with pytest.raises(iso.NotApplicable) as refused:
            MEASURES[name](case(task))
        assert len(refused.value.reason) > 20
        return
    found = MEASURES[name](case(task))
    assert isinstance(found, Result)
    assert found.tables
    assert list(_silent(found)) == []
    assert found.pictures
    for picture in found.pictures:
        draw(picture, found.tables[picture.table], "pt-BR")
