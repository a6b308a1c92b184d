"""The published study: its files, its models trained again, its tables to the printed digit."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.spatial import cKDTree
from tests.german_codes import write_study_matrices

from isonomia.explain import agreement, sensitive
from isonomia.explain.background import summarised
from isonomia.study import STUDY_DATA, STUDY_FIXES, STUDY_MEASURES, STUDY_MODELS, Matrices, published_rows, run_study
from isonomia.study.explainers import STUDY_EXPLAINERS, Explained, explain
from isonomia.study.fixes import train
from isonomia.study.matrices import encode, inputs_of, with_roles
from isonomia.study.published import absent_note
from isonomia.subject import Subject

FIVE = ["statistical_parity", "equal_opportunity", "counterfactual", "inconsistency", "generalized_entropy"]
#: The order of the columns in Figures 19, 20 and 26.
ORDER = ["statistical_parity", "equal_opportunity", "inconsistency", "generalized_entropy", "counterfactual"]


@pytest.fixture(scope="session")
def folder(shared_data: Path) -> Path:
    return shared_data / "study"


@pytest.fixture(scope="session")
def german(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study's matrices of German credit, made of the file in the package: here in every clone."""
    return write_study_matrices(tmp_path_factory.mktemp("german"))


@pytest.fixture(scope="session")
def published(folder: Path) -> pd.DataFrame:
    return pd.DataFrame(published_rows(folder))


def of_model(published: pd.DataFrame, dataset: str, model: str, fix: str) -> pd.DataFrame:
    return published.query("dataset == @dataset and model == @model and fix == @fix")


def matrices(folder: Path, dataset: str) -> Matrices:
    return STUDY_DATA[dataset].matrices(0, max_test=None, released=folder)


#: Figures of the study for German credit and logistic regression, in the order of FIVE.
GERMAN_LOGISTIC = {
    "unmitigated": (-0.349398, -0.355311, -0.120482, 0.183, 0.082645),
    "reweighing": (-0.142807, -0.091575, 0.006024, 0.171, 0.075336),
    "undersampling_0": (-0.142807, -0.083028, 0.024096, 0.182, 0.079431),
    "undersampling_-1": (0.025159, -0.010989, 0.150602, 0.236, 0.123722),
}


@pytest.mark.parametrize("fix", GERMAN_LOGISTIC)
def test_five_measures_of_german_credit_as_published(german: Path, fix: str) -> None:
    made = matrices(german, "german")
    subject = Subject.of(made.test, train(STUDY_MODELS["logistic"].make(0), STUDY_FIXES[fix], made, 0).estimator)
    found = [STUDY_MEASURES[name].compute(subject) for name in FIVE]
    assert found == pytest.approx(GERMAN_LOGISTIC[fix], abs=1e-5)


@pytest.mark.parametrize(("dataset", "model"), [("german", "logistic"), ("compas", "logistic"), ("compas", "svm")])
def test_five_measures_equal_the_published_files(
    folder: Path, published: pd.DataFrame, dataset: str, model: str
) -> None:
    """Of every fix; of the model that takes longest to train, of the one that weighs rows and one that drops them."""
    made = matrices(folder, dataset)
    fixes = ("reweighing", "undersampling_-1") if model == "svm" else STUDY_FIXES.ids()
    for fix in map(STUDY_FIXES.__getitem__, fixes):
        trained = train(STUDY_MODELS[model].make(0), fix, made, 0)
        subject = Subject.of(made.test, trained.estimator)
        expected = of_model(published, dataset, model, fix.id).iloc[0]
        for name in FIVE:
            near = 2e-3 if (dataset, name) == ("compas", "inconsistency") else 1e-5
            assert STUDY_MEASURES[name].compute(subject) == pytest.approx(expected[name], abs=near), (fix.id, name)


def test_german_svm_by_hand(german: Path) -> None:
    """Its published rows are not among the files: the same five measures by plain pandas."""
    made = matrices(german, "german")
    trained = train(STUDY_MODELS["svm"].make(0), STUDY_FIXES["undersampling_-1"], made, 0)
    test = made.test.frame
    inputs, truth = test.drop(columns="credit_risk"), test["credit_risk"].to_numpy()
    said, member = trained.estimator.predict(inputs), (test["age"] == 1).to_numpy()
    subject = Subject.of(made.test, trained.estimator)
    found = {name: STUDY_MEASURES[name].compute(subject) for name in FIVE}
    assert found["statistical_parity"] == pytest.approx(said[~member].mean() - said[member].mean())
    opportunity = said[~member & (truth == 1)].mean() - said[member & (truth == 1)].mean()
    assert found["equal_opportunity"] == pytest.approx(opportunity)
    flipped = trained.estimator.predict(inputs[member].assign(age=0.0))
    assert found["counterfactual"] == pytest.approx(flipped.mean() - said[member].mean())
    benefit = 1 + said - truth
    assert found["generalized_entropy"] == pytest.approx(((benefit / benefit.mean()) ** 2 - 1).mean() / 2)


def explained(made: Matrices, fix: str, explainer: str, rows: int | None) -> Any:
    trained = train(STUDY_MODELS["logistic"].make(0), STUDY_FIXES[fix], made, 0)
    given = Explained(
        subject=Subject.of(made.test, trained.estimator),
        trained=trained,
        model=STUDY_MODELS["logistic"],
        rows=np.arange(len(made.test))[:rows],
        max_model_rows=50_000_000,
        seed=0,
    )
    return explain(STUDY_EXPLAINERS[explainer], given)


def test_linear_independent_as_printed(folder: Path) -> None:
    compas = explained(matrices(folder, "compas"), "unmitigated", "linear_independent", None)
    assert compas["importance"] == pytest.approx(0.042123, abs=5e-7)
    assert compas["privileged"] == pytest.approx(-0.061910, abs=5e-7)


def test_linear_independent_of_german_credit_as_printed(german: Path) -> None:
    found = explained(matrices(german, "german"), "reweighing", "linear_independent", None)
    figures = [found[name] for name in ("importance", "unprivileged", "privileged")]
    # liblinear stops within its tolerance: with weights the sixth decimal depends on the processor
    assert figures == pytest.approx([0.032765, 0.088302, -0.021390], abs=5e-6)


def test_linear_correlated_as_stated(folder: Path, published: pd.DataFrame) -> None:
    made, found = matrices(folder, "compas"), {}
    for fix in STUDY_FIXES.ids():
        found[fix] = explained(made, fix, "linear_correlated", None)
        row = of_model(published, "compas", "logistic", fix).query("explainer == 'linear_correlated'").iloc[0]
        assert np.sign(found[fix]["disparity"]) == np.sign(row["disparity"])
        assert found[fix]["rank"] == row["rank"]
    importance = [found[fix]["importance"] for fix in STUDY_FIXES.ids()]
    assert importance == pytest.approx([0.0395, 0.1123, 0.1187, 0.2840], abs=5e-4)


def test_kernel_within_half_a_thousandth(folder: Path, published: pd.DataFrame) -> None:
    """All 1,235 test rows, as in the paper; of the coalitions 512."""
    made = matrices(folder, "compas")
    for fix in STUDY_FIXES.ids():
        found = explained(made, fix, "kernel", None)
        row = of_model(published, "compas", "logistic", fix).query("explainer == 'kernel'").iloc[0]
        assert found["disparity"] == pytest.approx(row["disparity"], abs=5e-4)
        assert found["rank"] == row["rank"]


def changes(rows: pd.DataFrame, against: str, scope: str = "all") -> list[float]:
    table = agreement(rows, measures=ORDER, n_boot=0).to_frame("changes")
    chosen = table.query("against == @against and explainer == @scope and coefficient == 'pearson'")
    return chosen.set_index("measure").loc[ORDER, "correlation"].round(3).tolist()


def test_figures_20_and_26_to_the_printed_digit(published: pd.DataFrame) -> None:
    trees = published[published.model.isin(["forest", "boosting"])]
    assert changes(trees, "disparity", "tree") == [-0.039, 0.179, 0.293, 0.161, 0.886]
    assert changes(trees, "importance", "tree") == [-0.138, 0.133, 0.272, 0.158, 0.881]
    assert changes(trees, "disparity", "kernel") == [-0.023, 0.181, 0.302, 0.155, 0.881]
    assert changes(trees, "importance", "kernel") == [-0.152, 0.127, 0.280, 0.138, 0.884]
    linear = published[published.model == "logistic"]
    assert changes(linear, "disparity", "linear_correlated") == [0.074, 0.527, 0.344, 0.306, 0.829]
    assert changes(linear, "importance", "linear_correlated") == pytest.approx([0.0, 0.455, 0.366, 0.266, 0.791])
    assert changes(linear, "disparity", "kernel") == [0.078, 0.475, 0.563, 0.232, 0.962]
    assert changes(linear, "importance", "kernel") == [0.035, 0.449, 0.526, 0.128, 0.914]


def test_kernel_and_tree_show_the_same_scenario_but_for_one_model(published: pd.DataFrame) -> None:
    found = agreement(published, measures=FIVE, n_boot=0).to_frame("explainers")
    both = found.query("first == 'kernel' and second == 'tree'").set_index("against")
    assert both.loc["disparity", ["same", "n"]].tolist() == [47, 48]
    assert both.loc["importance", "same"] == 46


def test_the_published_results_by_themselves(folder: Path) -> None:
    study = run_study(paper=folder, paper_only=True, n_boot=200)
    best = [finding for finding in study.findings if finding.code == "agreement.disparity"]
    assert "counterfactual difference" in best[0].message.text()
    assert {"agreement", "agreement_strict", "agreement_linear", "results"} == {
        one.code for one in study.document.results
    }


def test_the_page_names_the_results_that_are_not_in_the_files(folder: Path, published: pd.DataFrame) -> None:
    study = run_study(paper=folder, paper_only=True, n_boot=0)
    note = study.agreement.notes[-1]
    assert note.text() == (
        "4 results of the 144 are not in the released files: German with support vector machine, Kernel SHAP "
        "(unmitigated; reweighing; undersampling, d = 0; undersampling, d = -1). 4 of them are missing here too: they "
        "take models trained here."
    )
    assert "não estão nos arquivos" in note.text("pt-BR")
    assert "máquina de vetores" in note.text("pt-BR")
    assert "German with support vector machine" in study.document.to_html("en")


def test_results_added_from_here_are_named(published: pd.DataFrame) -> None:
    rows = published[~published.explainer.str.startswith("linear")].to_dict("records")
    added = [{"dataset": "german", "model": "svm", "fix": fix, "explainer": "kernel"} for fix in STUDY_FIXES.ids()]
    note = absent_note(rows, [*rows, *added])
    assert note is not None
    assert "and are from here: German" in note.text()
    assert absent_note([*rows, *added], [*rows, *added]) is None


#: NOT published, computed by Isonomia: the four rows of German with the support vector machine are not in the files.
#: Disparity and importance by Kernel SHAP over 50 centres, sampled once (standard error about 0.001); two of the
#: disparities are sampled again in `test_our_own_four_values`, and the measures are computed where they are used.
OURS_GERMAN_SVM = {
    "unmitigated": (-0.0609, 0.0126),
    "reweighing": (0.0110, 0.0024),
    "undersampling_0": (0.0131, 0.0028),
    "undersampling_-1": (0.0805, 0.0187),
}


@pytest.mark.parametrize("fix", ["reweighing", "undersampling_-1"])
def test_our_own_four_values(german: Path, fix: str) -> None:
    """The disparity by draws, with every training row moved to its centre as the background."""
    made = matrices(german, "german")
    trained = train(STUDY_MODELS["svm"].make(0), STUDY_FIXES[fix], made, 0)
    inputs = inputs_of(trained.rows)
    centres, shares = summarised(SimpleNamespace(encoded=True), inputs.to_numpy(), np.ones(len(inputs)), 50)
    times = np.rint(shares * len(inputs)).astype(int)
    background = pd.DataFrame(np.repeat(centres, times, axis=0), columns=inputs.columns)
    subject = Subject.of(made.test, trained.estimator)
    found = sensitive(subject, method="direct", background=background, error=0.006, importance=False)
    assert found.sampling_error <= 0.006
    assert found.disparity.value == pytest.approx(OURS_GERMAN_SVM[fix][0], abs=0.006 + 0.003)


@pytest.fixture(scope="session")
def all_144(folder: Path, published: pd.DataFrame) -> pd.DataFrame:
    made, rows = matrices(folder, "german"), []
    for fix, (disparity, importance) in OURS_GERMAN_SVM.items():
        subject = Subject.of(made.test, train(STUDY_MODELS["svm"].make(0), STUDY_FIXES[fix], made, 0).estimator)
        measured = {name: STUDY_MEASURES[name].compute(subject) for name in FIVE}
        row = {"dataset": "german", "model": "svm", "fix": fix, "explainer": "kernel", **measured}
        rows.append({**row, "disparity": disparity, "importance": importance})
    probabilities = published[published.explainer.isin(["kernel", "tree"])]
    return pd.concat([probabilities, pd.DataFrame(rows)], ignore_index=True)


def test_tables_6_and_7_to_the_printed_digit(all_144: pd.DataFrame) -> None:
    found = agreement(all_144, measures=FIVE, tolerance=0.005, n_boot=0)
    table = found.to_frame("agreement").query("explainer == 'all'").set_index(["against", "measure"]).sort_index()
    assert (table["n"] == 144).all()
    printed = {"disparity": [38.2, 44.4, 88.9, 71.5, 71.5], "importance": [58.3, 63.2, 87.5, 60.4, 60.4]}
    for against, values in printed.items():
        assert (100 * table.loc[against].loc[FIVE, "agree"]).tolist() == pytest.approx(values, abs=0.051)
    parts = found.to_frame("scenarios").query("explainer == 'all'")
    scenarios = {
        ("disparity", "statistical_parity"): [1.4, 4.9, 20.8, 50.0, 16.0, 6.9],
        ("disparity", "equal_opportunity"): [2.8, 2.8, 18.1, 37.5, 23.6, 15.3],
        ("disparity", "counterfactual"): [22.2, 4.9, 24.3, 3.5, 42.4, 2.8],
        ("disparity", "inconsistency"): [0, 0, 71.5, 28.5],
        ("importance", "statistical_parity"): [2.1, 4.2, 56.3, 37.5],
        ("importance", "equal_opportunity"): [4.2, 1.4, 59.0, 35.4],
        ("importance", "counterfactual"): [27.1, 0, 60.4, 12.5],
        ("importance", "generalized_entropy"): [0, 0, 60.4, 39.6],
    }
    for key, values in scenarios.items():
        own = parts[(parts["against"] == key[0]) & (parts["measure"] == key[1])]
        shares = 100 * own[["agree", "contradict"]].to_numpy().ravel()
        assert shares.tolist() == pytest.approx(values, abs=0.051), key


def test_figures_18_and_19(all_144: pd.DataFrame) -> None:
    """Shares to the printed digit; of correlations over Kernel SHAP four of 108 changes are our own: within 0.008."""
    found = agreement(all_144, measures=FIVE, n_boot=0)
    improved = found.to_frame("improvement").set_index("measure")["improved"] * 100
    names = ["statistical_parity", "equal_opportunity", "counterfactual", "inconsistency", "generalized_entropy"]
    printed = [88.9, 69.4, 51.9, 50.9, 33.3, 53.7, 54.6]
    assert improved[[*names, "disparity", "importance"]].tolist() == pytest.approx(printed, abs=0.051)
    near: dict[str, Any] = {"abs": 0.008}
    assert changes(all_144, "disparity") == pytest.approx([-0.033, 0.237, 0.358, 0.185, 0.906], **near)
    assert changes(all_144, "importance") == pytest.approx([-0.120, 0.203, 0.315, 0.150, 0.889], **near)
    assert changes(all_144, "disparity", "kernel") == pytest.approx([-0.028, 0.259, 0.383, 0.196, 0.913], **near)
    assert changes(all_144, "importance", "kernel") == pytest.approx([-0.108, 0.231, 0.332, 0.147, 0.893], **near)


def with_the_papers_test_rows(folder: Path, seed: int) -> Matrices:
    """Default: the paper's 1,000 test rows found in the public file, trained on 24,000 of the others."""
    whole = encode(STUDY_DATA["default"].paper(), name="default", max_test=None)
    rows = pd.concat([whole.train.frame, whole.test.frame], ignore_index=True)
    released = pd.read_csv(folder / "default_test.csv.gz")
    rows = rows.rename(columns=str.lower).rename(columns={"default payment next month": "payment_next_month"})
    rows = rows[list(released)]
    _, at = cKDTree(rows.to_numpy()).query(released.to_numpy())  # both are standardised, by slightly different rows
    assert len(set(at)) == 1000
    same = ["sex", "payment_next_month", "education_1", "marriage_1"]
    assert (rows.loc[at, same].to_numpy() == released[same].to_numpy()).all()
    others = np.random.default_rng(seed).permutation(np.setdiff1d(np.arange(len(rows)), at))[:24_000]
    roles = {"target": "payment_next_month", "sensitive": "sex"}
    train_rows, test_rows = (rows.loc[part].reset_index(drop=True) for part in (others, at))
    return Matrices("default", with_roles(train_rows, **roles), with_roles(test_rows, **roles))


def test_default_comes_out_on_the_papers_own_test_rows(
    folder: Path, published: pd.DataFrame, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal opportunity was published as -0.149; over splits of our own it is about 0: that is the test rows' doing."""
    monkeypatch.setenv("ISONOMIA_DATA", str((shared_data / "default.csv.gz").parent))
    found = []
    for seed in range(4):
        made = with_the_papers_test_rows(folder, seed)
        trained = train(STUDY_MODELS["logistic"].make(0), STUDY_FIXES["unmitigated"], made, 0)
        subject = Subject.of(made.test, trained.estimator)
        found.append([STUDY_MEASURES[name].compute(subject) for name in FIVE])
    printed = of_model(published, "default", "logistic", "unmitigated").iloc[0][FIVE].to_numpy(dtype=float)
    off = np.abs(np.mean(found, axis=0) - printed)
    assert (off <= 3 * np.std(found, axis=0, ddof=1)).all(), off
    assert off[FIVE.index("equal_opportunity")] < 0.02


def test_german_forests_come_out_again(folder: Path) -> None:
    """At least 90% of the published figures within 3 standard deviations over 5 seeds; benchmarks/study.py has all."""
    study = run_study(
        paper=folder,
        datasets=["german"],
        models=["forest"],
        fixes=["reweighing"],
        explainers=["tree"],
        seeds=range(5),
        explained=None,
        n_boot=0,
    )
    assert study.missing == ()
    assert study.reproduction is not None
    figures = study.reproduction.to_frame("figures")
    assert (figures["seeds"] == 5).all()
    assert figures["reproduced"].mean() >= 0.9
