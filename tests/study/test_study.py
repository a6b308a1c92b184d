"""The study on small made-up data: own datasets, models and measures, resuming, files, clear errors."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import isonomia as iso
from isonomia import DataError, ModelError, SpecError
from isonomia.evidence import Column, Table
from isonomia.report import to_csv, to_latex
from isonomia.study import STUDY_DATA, STUDY_FIXES, STUDY_MODELS, encode, read_study, read_study_spec, run_study
from isonomia.study.fixes import train
from isonomia.study.matrices import members_of, outcomes_of
from isonomia.study.published import beside


def people(seed: int = 0, n: int = 400) -> iso.Dataset:
    """Women are granted less often, by the model's own columns and directly."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], n)
    pay = rng.normal(2.0 + (sex == "M"), 1.0)
    town = rng.choice(["a", "b", None], n)
    granted = rng.random(n) < 1 / (1 + np.exp(-(pay - 2.5 + 0.8 * (sex == "M"))))
    frame = pd.DataFrame({"sex": sex, "pay": pay, "town": town, "granted": np.where(granted, "yes", "no")})
    return iso.Dataset(frame, target="granted", positive="yes", protected=["sex"], privileged={"sex": "M"})


def small(folder: Path | None = None, **options: Any) -> iso.study.Study:
    return run_study(
        folder,
        **{
            "datasets": {"one": people(0), "two": people(1)},
            "models": ["logistic", "forest"],
            "measures": ["statistical_parity", "counterfactual", "generalized_entropy"],
            "fixes": ["reweighing"],
            "seeds": [0],
            "explained": 20,
            "n_boot": 100,
            **options,
        },
    )


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[iso.study.Study, Path]:
    folder = tmp_path_factory.mktemp("study")
    return small(folder), folder


def test_encoding_is_that_of_pandas_and_scikit_learn() -> None:
    data = people()
    made = encode(data, name="x", seed=3)
    frame = pd.concat([made.train.frame, made.test.frame])
    assert len(made.test) == 80
    assert set(made.train.columns) == {"sex", "granted", "pay", "town_a", "town_b", "town_missing"}
    assert np.allclose(frame[["town_a", "town_b", "town_missing"]].sum(axis=1), 1)
    assert made.train.frame["pay"].mean() == pytest.approx(0)
    assert made.train.frame["pay"].std(ddof=0) == pytest.approx(1)
    assert frame["sex"].mean() == pytest.approx((data.frame["sex"] == "M").mean())
    assert frame["granted"].mean() == pytest.approx((data.frame["granted"] == "yes").mean())
    again = encode(data, name="x", seed=3)
    pd.testing.assert_frame_equal(made.test.frame, again.test.frame)


def test_fixes_do_what_they_are_called() -> None:
    made = encode(people(n=2000), name="x")

    def rates(rows: Any, weight: Any) -> list[float]:
        y, member = outcomes_of(rows), members_of(rows)
        w = np.ones(len(y)) if weight is None else weight
        return [float(np.average(y[member == side], weights=w[member == side])) for side in (False, True)]

    before = rates(*STUDY_FIXES["unmitigated"].prepare(made, 0))
    assert before[0] < before[1] - 0.1
    for name in ("reweighing", "undersampling_0"):
        low, high = rates(*STUDY_FIXES[name].prepare(made, 0))
        assert low == pytest.approx(high, abs=0.01)
    low, high = rates(*STUDY_FIXES["undersampling_-1"].prepare(made, 0))
    assert (low, high) == pytest.approx((before[1], before[0]), abs=0.01)


def test_figures_of_a_cell_by_another_route(found: tuple[iso.study.Study, Path]) -> None:
    made = encode(people(0), name="one", seed=0)
    trained = train(STUDY_MODELS["logistic"].make(0), STUDY_FIXES["unmitigated"], made, 0)
    test = made.test.frame
    inputs = test.drop(columns="granted")
    said, member = trained.estimator.predict(inputs), (test["sex"] == 1).to_numpy()
    flipped = trained.estimator.predict(inputs.assign(sex=0.0))
    rows = found[0].rows.frame("pandas").query("dataset == 'one' and model == 'logistic' and fix == 'unmitigated'")
    assert len(rows) == 3  # kernel, linear independent and correlated
    row = rows.set_index("explainer").loc["linear_independent"]
    assert row["statistical_parity"] == pytest.approx(said[~member].mean() - said[member].mean())
    assert row["counterfactual"] == pytest.approx((flipped - said)[member].mean())
    assert row["accuracy"] == pytest.approx((said == test["granted"]).mean())
    weight = trained.estimator.coef_[0][list(inputs.columns).index("sex")]
    assert row["disparity"] == pytest.approx(-weight)
    benefit = 1 + said - test["granted"]
    assert row["generalized_entropy"] == pytest.approx(((benefit / benefit.mean()) ** 2 - 1).mean() / 2)


def test_a_stopped_run_goes_on_and_gives_the_same(found: tuple[iso.study.Study, Path], tmp_path: Path) -> None:
    study, folder = found
    cells = sorted((folder / "cells").glob("*.json"))
    assert len(cells) == 2 * 2 * 2
    done: list[Any] = []

    def stop(event: Any) -> None:
        if event.result is not None:
            done.append(event.result)
            if len(done) == 3:
                progress.cancel()

    progress = iso.Progress(stop)
    with pytest.raises(iso.Cancelled):
        small(tmp_path, progress=progress)
    kept = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "cells").glob("*.json")}
    assert 0 < len(kept) < len(cells)
    (tmp_path / "cells" / "half.json").write_text('{"key": ')
    again = small(tmp_path)
    assert {name: (tmp_path / "cells" / name).stat().st_mtime_ns for name in kept} == kept
    assert again.rows.to_dict() == study.rows.to_dict()
    (tmp_path / "cells" / "other.json").write_text('{"key": 1}')
    read = read_study(tmp_path, n_boot=100)
    assert read.agreement.to_dict() == read_study(folder, n_boot=100).agreement.to_dict()
    assert [one.split(":")[0] for one in read.unread] == ["half.json", "other.json"]
    notes = " ".join(note.text() for note in read.document.results[-1].notes)
    assert "could not be read and is left out: half.json" in notes
    assert "other.json: it is not a cell of the study" in notes


def test_another_effort_computes_cells_again(found: tuple[iso.study.Study, Path], tmp_path: Path) -> None:
    options: dict[str, Any] = {"datasets": {"one": people(0)}, "models": ["logistic"], "fixes": ["reweighing"]}
    small(tmp_path, **options)
    stamp = {path: path.stat().st_mtime_ns for path in (tmp_path / "cells").glob("*.json")}
    small(tmp_path, **{**options, "explained": 30})
    assert all(path.stat().st_mtime_ns != before for path, before in stamp.items())


def test_other_data_or_another_function_of_the_same_name_computes_cells_again(tmp_path: Path) -> None:
    def first(subject: Any) -> float:
        return float(subject.surface.label.mean())

    def second(subject: Any) -> float:
        return float(1 - subject.surface.label.mean())

    def figures(data: iso.Dataset, measure: Any) -> list[float]:
        options = {"models": ["logistic"], "fixes": ["unmitigated"], "seeds": [0], "measures": {"mine": measure}}
        study = small(tmp_path, datasets={"mine": data}, **options)
        return [cell["measures"]["mine"]["value"] for cell in study.cells]

    before = figures(people(0), first)
    stamp = {path: path.stat().st_mtime_ns for path in (tmp_path / "cells").glob("*.json")}
    assert figures(people(0), first) == before
    assert {path: path.stat().st_mtime_ns for path in stamp} == stamp, "nothing is computed twice"
    assert figures(people(0), second) == pytest.approx([1 - value for value in before])
    assert figures(people(1), first) != before
    assert figures(people(0).with_roles(privileged={"sex": "F"}), first) != before


def test_a_model_is_an_estimator_or_what_makes_one() -> None:
    made = {"class": LogisticRegression, "function": lambda: LogisticRegression(), "itself": LogisticRegression()}
    piped = {"piped": make_pipeline(StandardScaler(), LogisticRegression())}
    study = small(
        datasets={"mine": people(2)}, models=made | piped, fixes=["reweighing"], measures=["equal_opportunity"]
    )
    rows = study.rows.frame("pandas").query("explainer == 'kernel'")
    assert rows.groupby(["fix", "seed"])["equal_opportunity"].nunique().max() <= 2
    assert set(rows["model"]) == {*made, "piped"}


def test_what_a_user_wrote_and_fails_is_named() -> None:
    class Stubborn(LogisticRegression):  # type: ignore[misc]
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            raise RuntimeError("not today")

    options: dict[str, Any] = {"datasets": {"mine": people(2)}, "fixes": ["unmitigated"], "seeds": [0]}
    with pytest.raises(ModelError, match="Training Stubborn on 'mine' with the fix 'unmitigated' failed"):
        small(**options, models={"mine": Stubborn()})
    with pytest.raises(SpecError, match="The model 'mine' of the study could not be made"):
        small(**options, models={"mine": lambda: 1 / 0})
    with pytest.raises(ModelError, match="with the fix 'reweighing' failed"):
        small(**options | {"fixes": ["reweighing"]}, models={"mine": KNeighborsClassifier()})
    for measure, problem in ((lambda _: {}["x"], "failed. KeyError: 'x'"), (lambda _: [1], "must return one number")):
        with pytest.raises(SpecError, match=f"The measure 'mine' {problem}"):
            small(**options, models=["logistic"], measures={"mine": measure})


def test_own_models_and_measures() -> None:
    study = small(
        datasets={"mine": people(2)},
        models={"tree": DecisionTreeClassifier(max_depth=3), "logistic": None, "plain": LogisticRegression(C=0.1)},
        measures={"statistical_parity": None, "granted": lambda subject: float(subject.surface.label.mean())},
        unsigned=["granted"],
        fixes=["reweighing"],
    )
    rows = study.rows.frame("pandas")
    assert set(rows["model"]) == {"tree", "logistic", "plain"}
    assert set(rows.query("model == 'tree'")["explainer"]) == {"kernel", "tree"}
    assert rows["granted"].between(0.1, 0.95).all()
    scenarios = study.agreement.to_frame("scenarios").query("measure == 'granted'")
    assert set(scenarios["scenario"]) == {"equal", "unequal"}


def test_a_measure_that_fails_is_missing_with_its_reason() -> None:
    def broken(subject: Any) -> float:
        raise DataError("no such column")

    study = small(
        datasets={"mine": people(2)}, models=["logistic"], measures={"statistical_parity": None, "broken": broken}
    )
    assert study.missing == ("broken: no such column",)
    assert all(cell["measures"]["broken"]["value"] is None for cell in study.cells)


def test_files_of_a_study(found: tuple[iso.study.Study, Path], tmp_path: Path) -> None:
    study = found[0]
    written = study.save(tmp_path)
    assert {"en/html", "pt-BR/html", "en/md", "table/agreement-agreement.csv"} <= set(written)
    with written["table/agreement-agreement.csv"].open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    table = study.agreement.to_frame("agreement", "pandas")
    assert [float(row["agree"]) for row in rows] == table["agree"].tolist()
    latex = written["table/agreement-agreement.pt-BR.tex"].read_text(encoding="utf-8")
    assert latex.startswith(r"\begin{tabular}")
    assert "disparidade do SHAP" in latex
    assert "As explicações e as medidas de equidade concordam?" in written["pt-BR/md"].read_text(encoding="utf-8")
    figures = [path for name, path in written.items() if name.startswith("figure/")]
    assert figures
    assert all("<svg" in path.read_text(encoding="utf-8") for path in figures)
    report = json.loads(written["en/json"].read_text(encoding="utf-8"))
    assert list(report["results"])[:1] == ["agreement"]


def test_hostile_texts_are_escaped() -> None:
    table = Table((Column("name", ["=1+1", r"a\b & c_d"]), Column("x", [-0.5, 2.0], format="num")))
    assert "'=1+1,-0.5" in to_csv(table)
    assert r"a\textbackslash{}b \& c\_d" in to_latex(table)


def test_a_spec_with_own_parts(tmp_path: Path) -> None:
    people(5).frame.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "study.yaml").write_text(
        "datasets:\n  mine: {path: people.csv, target: granted, positive: 'yes', protected: [sex],"
        " privileged: {sex: M}}\n"
        "models:\n  plain: sklearn.linear_model:LogisticRegression\n"
        "measures: [statistical_parity]\nfixes: [reweighing]\nseeds: [0]\nexplained: 10\nn_boot: 0\n"
    )
    study = run_study(tmp_path / "out", **read_study_spec(tmp_path / "study.yaml", trust=True))
    assert set(study.rows.frame("pandas")["dataset"]) == {"mine"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("dataset: [adult]", "Did you mean 'datasets'"),
        ("datasets: {mine: people.csv}", "datasets.mine: must be a mapping with 'path'"),
        ("models: {mine: no_such_module:thing}", "models.mine"),
        ("measures: {mine: 3}", "must be 'module:name'"),
    ],
)
def test_problems_of_a_spec(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "study.yaml").write_text(text)
    with pytest.raises(SpecError, match=problem):
        read_study_spec(tmp_path / "study.yaml")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"datasets": ["adlut"]}, "Did you mean 'adult'"),
        ({"models": {"mine": 3}}, "must be an estimator"),
        ({"measures": {"mine": 3}}, "must be a function"),
        ({"datasets": {"mine": people().frame}}, "must be a Dataset"),
        ({"datasets": {"mine": people().with_roles(privileged={})}}, "privileged"),
        ({"models": []}, "at least one model"),
        ({"fixes": ["reweighting"]}, "reweighing"),
        ({"paper_only": True}, "give their folder"),
        ({"unsigned": ["counterfactuals"]}, "Did you mean 'counterfactual'"),
    ],
)
def test_errors_say_what_to_do(options: dict[str, Any], text: str) -> None:
    with pytest.raises(SpecError, match=text):
        small(**options)


def test_a_folder_without_cells(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no finished cells"):
        read_study(tmp_path)


def test_no_time_gives_an_error_not_an_empty_report(ticking: Any) -> None:
    ticking(10.0)
    with pytest.raises(DataError, match="No cell"):
        small(max_seconds=1.0)


def test_the_six_datasets_are_registered() -> None:
    assert STUDY_DATA.ids() == ("adult", "compas", "default", "german", "pnad_sex", "pnad_race")


def test_measures_are_compared_whatever_explains_the_model() -> None:
    key = {"dataset": "d", "model": "m", "fix": "f"}
    published = [{**key, "explainer": "kernel", "statistical_parity": 0.5, "disparity": 0.1}]
    obtained = [
        {**key, "explainer": explainer, "seed": seed, "statistical_parity": 0.4 + 0.1 * seed, "disparity": 0.1}
        for seed in range(3)
        for explainer in ("linear_independent", "linear_correlated")
    ]
    rows = list(beside(published, obtained).rows())
    assert [(row["measure"], row["seeds"], row["reproduced"]) for row in rows] == [("statistical_parity", 3, True)]
    assert rows[0]["obtained"] == pytest.approx(0.5)
    far = [{**row, "statistical_parity": 2.0} for row in published]
    assert next(beside(far, obtained).rows())["reproduced"] is False
    one = next(beside(far, obtained[:1]).rows())
    assert "one seed" in str(one["reproduced"])
