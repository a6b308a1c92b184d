"""Explanations as users meet them: pictures, the check of a full audit, the command line."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC
from typer.testing import CliRunner

import isonomia as iso
from isonomia.cli.app import app
from isonomia.errors import NotApplicable, SpecError
from isonomia.explain.pictured import dependence_table, strongest_interaction, summary_table, thirds

#: The file; the room's name "prepare" is the function.
PREPARE = import_module("isonomia.explain.prepare")
N = 600


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], N),
            "job": rng.choice(list("abc"), N),
            "skill": rng.normal(size=N).round(3),
            "age": rng.integers(18, 70, N),
        }
    )
    pay = (frame.sex == "M") * 1.0 + frame.skill + (frame.job == "a") * 0.5 + 0.3 * rng.normal(size=N)
    return frame.assign(pay=pay, hired=np.where(pay > 0.7, "yes", "no"))


@pytest.fixture(scope="module")
def model(people: pd.DataFrame) -> Pipeline:
    encoder = make_column_transformer((OneHotEncoder(), ["sex", "job"]), remainder="passthrough")
    forest = RandomForestClassifier(20, max_depth=5, random_state=0)
    return make_pipeline(encoder, forest).fit(people[["sex", "job", "skill", "age"]], people.hired)


def loans(people: pd.DataFrame) -> iso.Dataset:
    return iso.Dataset(people.drop(columns="pay"), target="hired", positive="yes", protected=["sex"])


def test_thirds_are_thirds() -> None:
    values = np.arange(300.0)
    assert np.unique(thirds(values), return_counts=True)[1].tolist() == [100, 100, 100]
    assert (thirds(np.full(5, np.nan)) == 3).all()


def test_the_summary_counts_everyone_once_and_keeps_the_means() -> None:
    rng = np.random.default_rng(1)
    phi, values = rng.normal(size=(500, 3)) * [1, 5, 0.1], rng.normal(size=(500, 3))
    rows = list(summary_table(("a", "b", "c"), phi, values, "polars").rows())
    assert list(dict.fromkeys(row["column"] for row in rows)) == ["b", "a", "c"], "the largest first"
    for index, name in enumerate("abc"):
        own = [row for row in rows if row["column"] == name]
        assert sum(row["n"] for row in own) == 500
        mean = sum(row["n"] * row["contribution"] for row in own) / 500
        assert mean == pytest.approx(phi[:, index].mean())
    assert len(rows) <= 3 * 60 * 3, "bins, not people"


def test_the_strongest_interaction_is_the_planted_one() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(size=(2000, 4))
    phi = np.zeros_like(values)
    phi[:, 0] = values[:, 0] * values[:, 2]
    assert strongest_interaction(0, phi, values) == 2
    table, other = dependence_table(("a", "b", "c", "d"), 0, phi, values, "polars")
    assert other == "c"
    mean = np.average(table["contribution"].values, weights=table["n"].values)
    assert mean == pytest.approx(phi[:, 0].mean())
    ends = {row["level"]: row["contribution"] for row in table.rows() if row["value"] < -1.5}
    assert ends["high"] < 0 < ends["low"]


def test_pictures_of_shapley_values(people: pd.DataFrame, model: Pipeline) -> None:
    found = iso.explain.shapley(loans(people), model)
    assert np.isnan(found.features[:, found.columns.index("job")]).all()
    summary = found.summary()
    assert [picture.kind for picture in summary.pictures] == ["bars", "beeswarm"]
    fragment = summary.to_html(page=False)
    assert fragment.count("<svg") >= 2
    assert len(fragment) < 200_000
    assert found.to_html("pt-BR", page=False) == summary.to_html("pt-BR", page=False)
    assert found.to_html() == summary.to_html()
    assert list(found.plot()) == list(summary.plot())
    assert type(found.plot("summary")).__name__ == "Figure"
    assert found._repr_html_() == fragment
    assert "por nível de" in found.dependence("skill").to_html("pt-BR")
    with pytest.raises(NotApplicable, match="no order"):
        found.dependence("job")
    with pytest.raises(SpecError, match="skil"):
        found.dependence("skil")


def test_the_check_finds_that_sex_is_used(people: pd.DataFrame, model: Pipeline) -> None:
    report = iso.audit(loans(people), model, checks=["explain_sensitive"])
    result = report["explain_sensitive"]
    (finding,) = result.findings
    assert finding.severity == "warning"
    direct = iso.explain.sensitive(loans(people), model)
    assert finding.estimate.value == pytest.approx(direct.disparity.value)
    assert re.fullmatch(
        r"The model uses sex itself: that alone makes the mean probability [\d.]+ points lower for women than for men "
        r"\(rank \d of 4 columns\)\.",
        str(finding.message),
    )
    assert "O modelo usa o próprio atributo sex: só por isso, a probabilidade média é" in report.to_markdown("pt-BR")
    assert [str(one.message) for one in direct.findings] == [str(finding.message)]
    assert [row["attribute"] for row in result.tables["attributes"].rows()] == ["sex"]


def test_rows_are_encoded_once_for_all_questions_about_the_same_people(
    people: pd.DataFrame, model: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    plain = PREPARE.make_space

    def counted(*given: Any, **options: Any) -> Any:
        made.append(1)
        return plain(*given, **options)

    monkeypatch.setattr(PREPARE, "make_space", counted)
    data = loans(people.head(400)).with_roles(protected=["sex", "job"])
    report = iso.audit(data, model, checks=["explain_sensitive", "explain_gap"])
    assert len(made) == 1
    rows = [row["model_rows"] for row in report["explain_sensitive"].tables["attributes"].rows()]
    alone = iso.explain.sensitive(data, model, attribute="job", max_model_rows=100_000)
    assert rows[1] == alone.model_rows  # each question counts its own


@pytest.fixture(scope="module")
def graded(people: pd.DataFrame) -> tuple[iso.Dataset, Pipeline]:
    """Three classes: the highest goes to men far more often."""
    grade = np.select([people.pay > 1.2, people.pay > 0], ["top", "mid"], "low")
    encoder = make_column_transformer((OneHotEncoder(), ["sex", "job"]), remainder="passthrough")
    features = ["sex", "job", "skill", "age"]
    model = make_pipeline(encoder, RandomForestClassifier(20, max_depth=5, random_state=0))
    data = iso.Dataset(people[features].assign(grade=grade), target="grade", protected=["sex"])
    return data, model.fit(people[features], grade)


def test_of_several_classes_the_most_unequal_one_is_explained(graded: tuple[iso.Dataset, Pipeline]) -> None:
    data, model = graded
    table = pd.DataFrame(model.predict_proba(data.frame[["sex", "job", "skill", "age"]]), columns=model.classes_)
    means = table.groupby(data.frame["sex"].to_numpy()).mean()
    widest = (means.loc["M"] - means.loc["F"]).abs().idxmax()
    report = iso.audit(data, model, checks=["explain_sensitive", "explain_gap"])
    used, gap = report["explain_sensitive"], report["explain_gap"]
    assert [row["label"] for row in used.tables["attributes"].rows()] == [widest]
    expected = iso.explain.sensitive(data, model, label=widest).disparity.value
    assert used.findings[0].estimate.value == pytest.approx(expected)
    assert str(used.findings[0].message).startswith(f"Class {widest}: The model uses sex itself")
    assert set(gap.tables["contributions"]["label"].values) == {widest}
    assert gap.values["additivity"] < 1e-12
    assert any("Of 3 classes" in str(note) for note in gap.notes)
    assert f"Classe {widest}: " in report.to_markdown("pt-BR")


def test_the_check_is_silent_about_a_model_without_the_attribute(people: pd.DataFrame) -> None:
    features = ["skill", "age"]
    blind = RandomForestRegressor(10, max_depth=4, random_state=0).fit(people[features], people.pay)
    data = iso.Dataset(people.drop(columns="hired"), target="pay", protected=["sex"], task="regression")
    result = iso.audit(data, iso.Model.of(blind, features=features), checks=["explain_sensitive"])["explain_sensitive"]
    assert result.findings == ()
    assert any("does not use sex" in str(note) for note in result.notes)


def test_the_check_of_the_gap_adds_up(people: pd.DataFrame, model: Pipeline) -> None:
    report = iso.audit(loans(people), model, checks=["explain_gap"])
    result = report["explain_gap"]
    rows = list(result.tables["contributions"].rows())
    (group,) = result.tables["groups"].rows()
    assert sum(row["contribution"] for row in rows) == pytest.approx(group["gap"], abs=1e-12)
    assert "p_value" not in rows[0], "intervals hold for all columns at once; no further tests"
    assert rows[0]["column"] == "sex", "sex is what the labels were made with"
    assert result.findings[0].columns == ("sex",)
    assert "acrescenta" in report.to_markdown("pt-BR")


def test_an_attribute_with_one_group_is_left_out_of_the_gaps(people: pd.DataFrame, model: Pipeline) -> None:
    frame = people.drop(columns="pay").assign(land="X")
    data = iso.Dataset(frame, target="hired", positive="yes", protected=["land", "sex"])
    result = iso.audit(data, model, checks=["explain_gap"])["explain_gap"]
    assert {row["attribute"] for row in result.tables["groups"].rows()} == {"sex"}
    assert any("land is left out" in str(note) for note in result.notes)


def test_the_check_of_the_gap_finds_nothing_where_there_is_none(people: pd.DataFrame, model: Pipeline) -> None:
    coin = np.random.default_rng(7).choice(["x", "y"], len(people))
    data = iso.Dataset(people.drop(columns="pay").assign(coin=coin), target="hired", positive="yes", protected=["coin"])
    assert iso.audit(data, model, checks=["explain_gap"])["explain_gap"].findings == ()


def test_the_check_needs_a_model(people: pd.DataFrame) -> None:
    data = iso.Dataset(people.assign(p=people.hired), target="hired", positive="yes", prediction="p", protected=["sex"])
    report = iso.audit(data, checks=["explain_sensitive", "explain_gap", "performance"])
    ended = {one.code: one.outcome for one in report.document.sections}
    assert ended["explain_sensitive"] == ended["explain_gap"] == "not_applicable"


def test_the_command_line(people: pd.DataFrame, model: Pipeline, tmp_path: Path) -> None:
    people.drop(columns="pay").to_csv(tmp_path / "people.csv", index=False)
    skops.io.dump(model, tmp_path / "model.skops")
    given = ["explain", str(tmp_path / "people.csv"), "--model", str(tmp_path / "model.skops"), "--target", "hired"]
    given += ["--positive", "yes", "--protected", "sex", "--rows", "200"]
    shown = CliRunner().invoke(app, [*given, "--out", str(tmp_path / "out")])
    assert shown.exit_code == 0, shown.output
    assert "What sex adds to the probability" in shown.output
    assert "What each column adds to the gap in the probability" in shown.output
    assert (tmp_path / "out" / "explain.html").read_text().count("<svg") >= 2
    record = json.loads((tmp_path / "out" / "explain.json").read_text())
    printed = json.loads(CliRunner().invoke(app, [*given, "--json"]).stdout)
    assert printed["values"] == record["values"]
    wrong = CliRunner().invoke(app, [*given[:4], "--target", "hired", "--method", "tree"])
    assert wrong.exit_code == 2


def test_a_budget_too_small_for_the_columns_leaves_the_attribute_out(people: pd.DataFrame) -> None:
    features = ["skill", "age"]

    def black_box(frame: pd.DataFrame) -> np.ndarray:
        return 1 / (1 + np.exp(-np.asarray(frame["skill"] * frame["age"] / 40, dtype=float)))

    model = iso.Model.of(black_box, features=features, task="binary")
    options = {"explain_gap": {"max_model_rows": 50}}
    report = iso.audit(loans(people), model, checks=["explain_gap", "performance"], options=options)
    ended = {one.code: (one.outcome, str(one.reason)) for one in report.document.sections}
    assert ended["explain_gap"][0] == "not_applicable"
    assert "max_model_rows" in ended["explain_gap"][1]
    assert ended["performance"][0] != "failed"


def test_an_attribute_with_one_value_is_left_out_everywhere(
    people: pd.DataFrame, model: Pipeline, tmp_path: Path
) -> None:
    men = people.drop(columns="pay").assign(sex="M")
    report = iso.audit(loans(men.assign(pay=0)), model, checks=["explain_sensitive"])
    with pytest.raises(NotApplicable, match="sex is left out: all rows have the same value of sex"):
        report["explain_sensitive"]
    men.to_csv(tmp_path / "men.csv", index=False)
    skops.io.dump(model, tmp_path / "model.skops")
    roles = ["--target", "hired", "--positive", "yes", "--protected", "sex"]
    given = [str(tmp_path / "men.csv"), "--model", str(tmp_path / "model.skops"), *roles]
    done = CliRunner().invoke(app, ["explain", *given])
    assert done.exit_code == 0, done.output
    assert "skill" in done.output
    assert "sex is left out: there are not two groups of sex with people in them." in done.output


def test_scores_are_explained_where_there_are_no_probabilities(people: pd.DataFrame) -> None:
    encoder = make_column_transformer((OneHotEncoder(), ["sex", "job"]), remainder="passthrough")
    machine = make_pipeline(encoder, SVC()).fit(people[["sex", "job", "skill", "age"]], people.hired)
    with pytest.raises(NotApplicable, match=r"no probabilities; explain it with output='decision' or output='score'"):
        iso.explain.gap(loans(people), machine)
    found = iso.explain.gap(loans(people.head(200)), machine, output="score", max_model_rows=200_000)
    assert str(found.findings[0].message).startswith("The mean score is ")
