"""What can be fixed, end to end: estimators of other makes, models behind an address, predictions in a file, numbers.

And every kind of fix as a file: what is loaded decides as what was saved.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from typer.testing import CliRunner

import isonomia as iso
from isonomia import DataError, Dataset, SpecError, mitigate, mitigation
from isonomia.cli.app import app
from isonomia.mitigation import MITIGATIONS

NUMBERS = ["skill", "proxy"]


def command(words: list[str]) -> int:
    """The exit code of a command line."""
    return CliRunner().invoke(app, words).exit_code


def applicants(n: int = 1500, seed: int = 0) -> pd.DataFrame:
    """Hiring, pay and grades with a bonus for men, which a proxy gives away."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "skill": rng.normal(size=n)})
    man = (frame.sex == "M").to_numpy()
    frame["proxy"] = man + rng.normal(scale=0.4, size=n)
    merit = frame.skill + man + rng.normal(size=n)
    grade = np.array(["low", "mid", "high"])[np.digitize(merit, [0.0, 1.0])]
    return frame.assign(hired=np.where(merit > 0.5, "yes", "no"), pay=1000 * merit, grade=grade)


def data(frame: pd.DataFrame, target: str = "hired", **roles: Any) -> Dataset:
    more: dict[str, Any] = {"positive": "yes"} if target == "hired" else {}
    return Dataset(frame, target=target, protected="sex", features=NUMBERS, **more, **roles)


def estimators() -> dict[str, Any]:
    catboost = pytest.importorskip("catboost", reason="catboost is not installed")
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    return {
        "catboost": catboost.CatBoostClassifier(iterations=25, verbose=0, allow_writing_files=False, thread_count=1),
        "lightgbm": lightgbm.LGBMClassifier(n_estimators=15, verbose=-1, n_jobs=1),
    }


@pytest.mark.parametrize("name", ["catboost", "lightgbm"])
def test_estimators_of_other_makes(name: str) -> None:
    """Weights reach them, thresholds are tuned on their scores, and what is fitted on all rows decides."""
    frame = applicants()
    found = mitigate(
        data(frame),
        estimators()[name],
        limit=0.1,
        folds=2,
        methods=["reweighing", "sampling", "massaging", "minimax", "thresholds", "match", "calibrate"],
        attribute_at_decision=True,
    )
    table = found.table.set_index("method")
    assert (table.verdict != "not_tried").all(), table["note"].to_dict()
    assert table.loc["thresholds", "gap"] < table.loc["none", "gap"] - 0.1
    assert table.loc["reweighing", "gap"] < table.loc["none", "gap"] - 0.05
    said = found.fitted["reweighing"].predict(frame[NUMBERS])
    assert set(np.ravel(said)) == {"yes", "no"}


@pytest.mark.parametrize("name", ["catboost", "lightgbm"])
def test_reduction_takes_them(name: str) -> None:
    frame = applicants(800)
    fair = mitigation.Reduce(estimators()[name], eps=0.05, rounds=8)
    fair.fit(frame[NUMBERS], frame.hired, sensitive_features=frame.sex)
    said = fair.predict(frame[NUMBERS]) == "yes"
    plain = estimators()[name].fit(frame[NUMBERS], frame.hired).predict(frame[NUMBERS]) == "yes"
    man = (frame.sex == "M").to_numpy()
    assert abs(said[man].mean() - said[~man].mean()) < abs(plain[man].mean() - plain[~man].mean()) - 0.1


@pytest.fixture
def served() -> Iterator[tuple[str, LogisticRegression]]:
    """A model behind an address."""
    frame = applicants()
    model = LogisticRegression().fit(frame[NUMBERS].to_numpy(), frame.hired)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            rows = np.array([[row[name] for name in NUMBERS] for row in content["instances"]])
            body = json.dumps(model.predict_proba(rows)[:, 1].tolist()).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/predict", model
    server.shutdown()
    server.server_close()


@pytest.mark.socket
def test_a_model_behind_an_address_is_fixed_by_its_answers(served: Any, tmp_path: Path) -> None:
    address, model = served
    people = applicants(1200, seed=1)
    found = mitigate(
        data(people),
        model=iso.models.endpoint(address, output="probability"),
        limit=0.1,
        folds=2,
        attribute_at_decision=True,
    )
    table = found.table.set_index("method")
    assert table.loc["thresholds", "gap"] < table.loc["none", "gap"] - 0.1
    assert "only its predictions" in str(table.loc["reweighing", "note"])
    fix = mitigation.load(found.save(tmp_path / "fix.json", "thresholds"))
    scores = model.predict_proba(people[NUMBERS].to_numpy())[:, 1]
    said = fix.predict(scores, sensitive_features={"sex": people.sex})
    again = found.fitted["thresholds"].predict_scores(scores, sensitive_features={"sex": people.sex})
    assert said.tolist() == again.tolist()
    assert set(said) == {"yes", "no"}


def test_predictions_in_a_file_are_fixed(tmp_path: Path) -> None:
    """Scores in a column, without any model; the fix is written and decides about the scores of others."""
    frame = applicants()
    model = LogisticRegression().fit(frame[NUMBERS], frame.hired)
    frame["score"] = model.predict_proba(frame[NUMBERS])[:, 1]
    frame.drop(columns=NUMBERS).to_csv(tmp_path / "scored.csv", index=False)
    words = ["mitigate", str(tmp_path / "scored.csv"), "--target", "hired", "--positive", "yes", "--protected", "sex"]
    words += ["--score", "score", "--limit", "0.3", "--folds", "2", "--allow-attribute", "--methods", "thresholds"]
    assert command([*words, "--out", str(tmp_path)]) == 0
    fix = mitigation.load(tmp_path / "fix.json")
    others = applicants(900, seed=2)
    said = fix.predict(model.predict_proba(others[NUMBERS])[:, 1], sensitive_features={"sex": others.sex})
    man = (others.sex == "M").to_numpy()
    assert abs((said == "yes")[man].mean() - (said == "yes")[~man].mean()) < 0.3


AFTER = [entry.id for entry in MITIGATIONS if entry.stage == "after"]
TASKS = {"hired": LogisticRegression(), "grade": LogisticRegression(max_iter=500), "pay": LinearRegression()}


@pytest.mark.parametrize("target", TASKS)
def test_every_kind_of_fix_is_saved_and_decides_the_same(target: str, tmp_path: Path) -> None:
    """All methods that apply: skops for each, and JSON for those after training."""
    frame = applicants(900)
    skipped = {"adversarial", "representation"}  # slow: in test_training and test_features
    task = {"hired": "binary", "grade": "multiclass", "pay": "regression"}[target]
    methods = [entry.id for entry in MITIGATIONS if task in entry.tasks and entry.id not in skipped]
    found = mitigate(
        data(frame, target),
        TASKS[target],
        limit=0.4 if target != "pay" else 900.0,
        folds=2,
        methods=methods,
        attribute_at_decision=True,
        randomised=True,
        seed=3,
    )
    assert set(found.fitted) == set(methods), found.table.set_index("method")["note"].to_dict()
    rows, who = frame[NUMBERS], {"sex": frame.sex}
    for name in methods:
        fitted = found.fitted[name]
        given = {"sensitive_features": who} if "attribute" in MITIGATIONS[name].needs else {}
        said = fitted.predict(rows, **given)
        again = mitigation.load(found.save(tmp_path / f"{name}.skops", name))
        assert again.predict(rows, **given).tolist() == said.tolist(), name
        if name in AFTER:
            fix = mitigation.load(found.save(tmp_path / f"{name}.json", name))
            estimator = fitted.estimator_
            scores = estimator.predict(rows) if target == "pay" else estimator.predict_proba(rows)
            assert fix.predict(scores, sensitive_features=who).tolist() == said.tolist(), name
        else:
            with pytest.raises(DataError, match="Save it as skops"):
                found.save(tmp_path / f"{name}.json", name)


@pytest.mark.parametrize("method", ["logistic", "multicalibration"])
def test_other_maps_of_probabilities_in_files(method: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    score, sex = rng.random(2000), rng.choice(["F", "M"], 2000)
    y = rng.random(2000) < score ** np.where(sex == "F", 0.5, 2.0)
    fair = mitigation.CalibrateByGroup(method=method).fit_scores(score, y, sensitive_features={"sex": sex})
    fix = mitigation.load(mitigation.save(fair, tmp_path / "fix.json"))
    assert fix == fair.fix_
    given: dict[str, Any] = {"sensitive_features": {"sex": sex}}
    assert fix.predict(score, **given).tolist() == fair.predict_scores(score, **given).tolist()


def test_the_engineering_policy_of_numbers(tmp_path: Path) -> None:
    """Mean errors and the ratio of absolute errors are judged; calibration by group meets both, with its verdict."""
    frame = applicants(3000)
    frame["pay"] = 1000 * (frame.skill + 1.5 * (frame.sex == "M") + np.random.default_rng(4).normal(size=3000))
    skill = Dataset(frame, target="pay", protected="sex", features=["skill"])
    found = mitigate(
        skill,
        LinearRegression(),
        policy="engineering-regression",
        folds=3,
        methods=["calibrate", "reduction", "match"],
        attribute_at_decision=True,
    )
    assert found.judged is not None
    assert [(goal.criterion, round(goal.limit, 6)) for goal in found.judged.goals] == [
        ("mean_error_equality", round(0.1 * float(np.std(frame.pay)), 6)),
        ("error_ratio", 0.8),
    ]
    table = found.table.set_index("method")
    assert table.loc["none", "criterion"] == "mean_error_equality"
    assert table.loc["none", "verdict"] == table.loc["match", "verdict"] == "exceeds"
    assert (found.best, found.verdict) == ("calibrate", "meets")
    plain = LinearRegression().fit(frame[["skill"]], frame.pay).predict(frame[["skill"]]) - frame.pay
    assert table.loc["none", "gap"] == pytest.approx(abs(np.diff(plain.groupby(frame.sex).mean())[0]), rel=0.02)
    sizes = np.abs(plain).groupby(frame.sex).mean()
    ratio = found.to_frame("criteria").query("method == 'none' and criterion == 'error_ratio'")["before"].item()
    assert ratio == pytest.approx(sizes.min() / sizes.max(), rel=0.02)
    assert not any("Rules of the policy that fixes are not judged by" in note.text() for note in found.notes)
    frame[["sex", "skill", "pay"]].to_csv(tmp_path / "pay.csv", index=False)
    words = ["mitigate", str(tmp_path / "pay.csv"), "--target", "pay", "--protected", "sex", "--features", "skill"]
    words += ["--policy", "engineering-regression", "--folds", "3", "--estimator", "logistic"]
    assert command([*words, "--methods", "calibrate", "--allow-attribute", "--out", str(tmp_path)]) == 0
    assert command([*words, "--methods", "minimax"]) == 1
    fix = mitigation.load(tmp_path / "fix.json")
    moved = fix.predict(np.zeros(2), sensitive_features={"sex": ["F", "M"]})
    assert moved[1] > moved[0]
    with pytest.raises(SpecError, match="no balanced accuracy"):
        mitigate(skill, LinearRegression(), objective="balanced_accuracy")


def test_mean_errors_of_a_reduction() -> None:
    """The mean errors of groups come within the limit on the training rows, where features tell the groups."""
    frame = applicants(2000)
    fair = mitigation.Reduce(LinearRegression(), goal="mean_error_equality", eps=50.0)
    X, y = frame[["skill", "proxy"]], frame["pay"] + 700 * (frame.sex == "M")
    plain = LinearRegression().fit(X, y).predict(X) - y
    fair.fit(X, y, sensitive_features=frame.sex)
    errors = pd.Series(fair.predict(X) - y).groupby(frame.sex).mean()
    assert abs(np.diff(plain.groupby(frame.sex).mean())[0]) > 100
    assert abs(errors["F"] - errors["M"]) <= 50.0
    assert fair.gap_ == pytest.approx(abs(errors["F"] - errors["M"]))


def test_equalized_odds_of_several_classes_end_to_end() -> None:
    frame = applicants(4000)
    merit = frame.skill + 1.5 * frame.proxy + np.random.default_rng(1).normal(size=4000)
    frame["grade"] = np.array(["low", "mid", "high"])[np.digitize(merit, [0.3, 1.5])]
    found = mitigate(
        data(frame, "grade"),
        LogisticRegression(max_iter=500),
        goal="equalized_odds",
        limit=0.3,
        folds=2,
        methods=["thresholds", "reweighing"],
        attribute_at_decision=True,
    )
    table = found.table.set_index("method")
    assert table.loc["thresholds", "aim"] == "equalized_odds"
    assert table.loc["thresholds", "gap"] < table.loc["none", "gap"] - 0.05
    criteria = set(found.to_frame("criteria")["criterion"])
    assert {"equalized_odds", "predictive_equality", "predictive_parity"} <= criteria
    balanced = mitigate(
        data(frame, "grade"),
        LogisticRegression(max_iter=500),
        folds=2,
        methods=["reweighing"],
        objective="balanced_accuracy",
    )
    assert balanced.judged is not None
    truth = frame["grade"].to_numpy()
    classes = np.array(sorted(set(truth)))
    recalls = [np.mean(classes[balanced.decisions["reweighing"]][truth == k] == k) for k in classes]
    before = balanced.to_frame("groups").query("method == 'none' and group == 'everyone'").set_index("metric")["before"]
    wanted = np.mean([before[f"tpr[{k}]"] for k in classes]) - np.mean(recalls)
    assert balanced.judged.loss("reweighing") == pytest.approx(wanted)
