"""Disparity, importance and rank of the sensitive attribute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import isonomia as iso
from isonomia.errors import BudgetError, NotApplicable, SpecError


@pytest.fixture
def pipeline(people: pd.DataFrame) -> Pipeline:
    encode = make_column_transformer((OneHotEncoder(), ["sex", "job"]), (StandardScaler(), ["age", "debts"]))
    return make_pipeline(encode, LogisticRegression()).fit(people.drop(columns="good"), people["good"])


def test_figures_are_those_of_the_values(data: iso.Dataset, people: pd.DataFrame, pipeline: Pipeline) -> None:
    values = iso.explain.shapley(data, pipeline)
    phi, women = values.values[:, 1], (people["sex"] == "F").to_numpy()
    found = iso.explain.sensitive(data, pipeline)
    assert found.disparity.value == pytest.approx(phi[women].mean() - phi[~women].mean(), abs=1e-12)
    assert found.importance.value == pytest.approx(np.abs(phi).mean(), abs=1e-12)
    size = np.abs(values.values).mean(axis=0)
    assert found.rank.value == 1 + (size > size[1]).sum()
    assert found.disparity.low < found.disparity.value < found.disparity.high
    assert found.importance_bound.value <= found.importance.value + 1e-12
    assert found.method == "enumeration"
    assert found.sampling_error is None
    assert found.table["group"].tolist() == ["M", "F"]
    assert "reference" in found.table["note"][0]
    assert found.title.text("pt-BR") == "O que sex acrescenta: probabilidade"


def test_swapping_the_reference_flips_the_sign(data: iso.Dataset, pipeline: Pipeline) -> None:
    one, other = (iso.explain.sensitive(data, pipeline, reference={"sex": [name]}).disparity for name in "FM")
    assert one.value == pytest.approx(-other.value, abs=1e-12)
    assert one.low == pytest.approx(-other.high, abs=1e-12)


def test_direct_sampling_equals_the_values(data: iso.Dataset, pipeline: Pipeline) -> None:
    exact = iso.explain.sensitive(data, pipeline)
    found = iso.explain.sensitive(data, pipeline, method="direct", error=0.002)
    assert found.sampling_error is not None
    assert found.sampling_error <= 0.002
    assert abs(found.disparity.value - exact.disparity.value) < 1.5 * found.sampling_error
    assert found.disparity.high - found.disparity.low == pytest.approx(
        exact.disparity.high - exact.disparity.low, rel=0.35
    )
    assert found.importance_bound.low <= exact.importance.value <= found.importance.high
    assert abs(found.rank.value - exact.rank.value) <= 1
    short = iso.explain.sensitive(data, pipeline, method="direct", error=1e-5, max_model_rows=4000)
    assert "allow more model rows" in " ".join(note.text() for note in short.notes)
    assert "permita mais consultas" in " ".join(note.text("pt-BR") for note in short.notes)


def test_direct_sampling_of_another_background_and_with_weights(people: pd.DataFrame, pipeline: Pipeline) -> None:
    weighted = iso.Dataset(
        people.assign(w=np.linspace(1, 3, len(people))), target="good", protected=["sex"], weight="w"
    )
    back = people.drop(columns="good").iloc[:25]
    for background in ("data", back):
        exact = iso.explain.sensitive(weighted, pipeline, background=background)
        found = iso.explain.sensitive(
            weighted, pipeline, background=background, method="direct", error=0.002, importance=False
        )
        assert abs(found.disparity.value - exact.disparity.value) < 0.005
        assert found.rank.value is None


def test_more_than_two_groups(data: iso.Dataset, people: pd.DataFrame, pipeline: Pipeline) -> None:
    jobs = data.with_roles(protected=["job"], privileged={"job": "b"})
    phi = iso.explain.shapley(jobs, pipeline).values[:, 2]
    means = pd.Series(phi).groupby(people["job"]).mean()
    for method in ("auto", "direct"):
        found = iso.explain.sensitive(jobs, pipeline, method=method, error=0.003)
        slack = 1e-12 if method == "auto" else 0.006
        table = found.to_frame("groups").set_index("group")
        assert found.table["group"].tolist() == ["b", "a", "c"]
        assert table.loc["a", "disparity"] == pytest.approx(means["a"] - means["b"], abs=slack)
        assert found.disparity.value == pytest.approx(means.max() - means.min(), abs=slack)
        assert found.disparity.method == "simultaneous"


def test_a_black_box_is_sampled_when_values_cost_too_much(people: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    names = [f"x{at}" for at in range(14)]
    frame = pd.DataFrame(rng.normal(size=(60, 14)), columns=names).assign(sex=people["sex"], y=people["good"])
    frame["sex"] = (frame["sex"] == "M").astype(int)
    features = [*names, "sex"]
    forest = RandomForestClassifier(20, random_state=0).fit(frame[features].to_numpy(), frame["y"])
    data = iso.Dataset(frame, target="y", protected=["sex"])

    def box(rows: pd.DataFrame) -> Any:
        return forest.predict_proba(rows[features].to_numpy())[:, 1]

    found = iso.explain.sensitive(data, box, error=0.01, max_model_rows=100_000)
    assert found.method == "direct"
    assert found.model_rows <= 100_500
    assert found.importance.value is not None
    assert found.importance.value > 0


def test_a_forest_is_exact_and_sampling_agrees(people: pd.DataFrame) -> None:
    frame = people.assign(sex=(people["sex"] == "M").astype(int))[["age", "sex", "debts", "good"]]
    features = ["age", "sex", "debts"]
    forest = RandomForestClassifier(20, max_depth=4, random_state=0).fit(frame[features], frame["good"])
    data = iso.Dataset(frame, target="good", protected=["sex"])
    found = iso.explain.sensitive(data, forest)
    every = iso.explain.sensitive(data, forest, method="enumeration")
    assert found.method == "trees"
    for figure in ("disparity", "importance", "importance_bound"):
        ours, theirs = getattr(found, figure), getattr(every, figure)
        assert (ours.value, ours.low, ours.high) == pytest.approx((theirs.value, theirs.low, theirs.high), abs=1e-10)
    direct = iso.explain.sensitive(data, forest, method="direct", error=0.003, importance=False)
    assert abs(direct.disparity.value - found.disparity.value) < 0.006


def test_nothing_to_measure_is_stated(data: iso.Dataset, people: pd.DataFrame, pipeline: Pipeline) -> None:
    blind = LogisticRegression().fit(people[["age", "debts"]], people["good"])
    found = iso.explain.sensitive(data, blind)
    assert found.disparity.value == 0.0
    assert "does not use sex" in found.notes[0].text()
    assert "não usa sex" in found.notes[0].text("pt-BR")
    constant = iso.Dataset(people.assign(sex="F"), target="good", protected=["sex"])
    found = iso.explain.sensitive(constant, pipeline)
    assert found.disparity.value is None
    assert found.disparity.note == "all rows have the same value of sex"
    with pytest.raises(NotApplicable, match="no protected attribute"):
        iso.explain.sensitive(people, pipeline, target="good")
    with pytest.raises(SpecError, match="Did you mean 'sex'"):
        iso.explain.sensitive(data, pipeline, attribute="sexo")
    with pytest.raises(SpecError, match="The reference of 'sex' must be"):
        iso.explain.sensitive(data, pipeline, reference={"sex": ["X"]})


def test_an_unused_column_adds_nothing(people: pd.DataFrame, data: iso.Dataset) -> None:
    def blind(rows: pd.DataFrame) -> Any:
        return 1 / (1 + np.exp(-rows["age"].to_numpy()))

    for method in ("auto", "direct"):
        found = iso.explain.sensitive(data, blind, method=method)
        assert found.disparity.value == pytest.approx(0, abs=1e-12)
        assert found.importance.value == pytest.approx(0, abs=1e-12)


def test_a_group_of_one_person_has_no_interval(people: pd.DataFrame, pipeline: Pipeline) -> None:
    some = people[people["job"] != "c"].head(30)
    one = pd.concat([some, people[people["job"] == "c"].head(1)], ignore_index=True)
    found = iso.explain.sensitive(iso.Dataset(one, target="good", protected=["job"]), pipeline)
    without = iso.explain.sensitive(
        iso.Dataset(some.reset_index(drop=True), target="good", protected=["job"]), pipeline, background=one
    )
    rows = {row["group"]: row for row in found.tables["groups"].rows()}
    assert rows["c"]["contribution_low"] is None
    assert found.disparity.value == pytest.approx(abs(without.disparity.value), abs=1e-12)  # a and b alone
    assert any("Groups of one person (c)" in str(note) for note in found.notes)
    assert not any("only 1 row" in str(note) for note in found.notes)  # it has no interval that could be rough


def test_a_budget_for_hardly_any_draw_is_refused(data: iso.Dataset, pipeline: Pipeline) -> None:
    with pytest.raises(BudgetError, match=r"Draws for 2 groups need at least 240 model rows; .* leaves 100"):
        iso.explain.sensitive(data, pipeline, method="direct", importance=False, max_model_rows=100)
    found = iso.explain.sensitive(data, pipeline, method="direct", importance=False, max_model_rows=240)
    assert found.disparity.low < found.disparity.high
