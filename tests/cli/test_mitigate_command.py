"""`isonomia mitigate`: fixes tried from the command line, the exit code is the verdict of the best one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import isonomia as iso
from isonomia.cli.app import app

runner = CliRunner()


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hiring with a bonus for men, and scores that know it."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M"], 3000)
    skill = rng.normal(size=3000)
    bonus = 0.8 * (sex == "M")
    hired = skill + bonus + rng.normal(size=3000) > 0.5
    score = 1 / (1 + np.exp(-1.7 * (skill + bonus - 0.5)))
    frame = pl.DataFrame({"sex": sex, "skill": skill, "hired": np.where(hired, "yes", "no"), "score": score})
    path = tmp_path_factory.mktemp("people") / "people.csv"
    frame.write_csv(path)
    return path


ROLES = ["--target", "hired", "--positive", "yes", "--protected", "sex"]
SCORES = [*ROLES, "--score", "score", "--methods", "thresholds,level_up"]


def test_a_fix_that_meets_the_limit_ends_with_0_and_is_written(people: Path, tmp_path: Path) -> None:
    words = ["mitigate", str(people), *SCORES, "--allow-attribute", "--limit", "0.15", "--out", str(tmp_path / "out")]
    done = runner.invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "meets the limit of 0.15 for Demographic parity by sex" in " ".join(done.stdout.split())
    assert "<svg" in (tmp_path / "out" / "mitigation.html").read_text(encoding="utf-8")
    record = json.loads((tmp_path / "out" / "mitigation.json").read_text(encoding="utf-8"))
    assert record["verdict"] == "meets"
    assert record["best"] in ("thresholds", "level_up")
    fix = iso.mitigation.load(tmp_path / "out" / "fix.json")
    assert type(fix).__name__ == "ThresholdFix"


def test_without_permission_to_read_the_attribute_nothing_is_tried_and_the_reason_is_shown(people: Path) -> None:
    done = runner.invoke(app, ["mitigate", str(people), *SCORES, "--limit", "0.02"])
    assert done.exit_code == 1, done.output
    shown = " ".join(done.stdout.split())
    assert "Not tried: thresholds, level_up" in shown
    assert "attribute" in shown.partition("Not tried")[2]


def test_json_is_the_result(people: Path) -> None:
    words = [*SCORES, "--allow-attribute", "--goal", "equal_opportunity", "--limit", "0.2", "--json"]
    done = runner.invoke(app, ["mitigate", str(people), *words])
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    assert record["code"] == "mitigation"
    assert record["verdict"] == "meets"


@pytest.mark.parametrize("estimator", ["logistic", "sklearn.linear_model:LogisticRegression"])
def test_an_estimator_is_trained(people: Path, estimator: str, tmp_path: Path) -> None:
    if ":" in estimator:  # takes numbers only
        frame = pl.read_csv(people).with_columns(age=pl.col("skill"))
        people = tmp_path / "numbers.csv"
        frame.with_columns(sex=pl.col("sex") == "F").with_columns(sex=pl.col("sex").cast(int)).write_csv(people)
    words = ["mitigate", str(people), *ROLES, "--estimator", estimator, "--methods", "reweighing", "--folds", "2"]
    done = runner.invoke(app, [*words, "--limit", "0.2"])
    assert done.exit_code in (0, 3), done.output
    assert "Reweighing" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--estimator", "logstic"], "Did you mean 'logistic'?"),
        (["--goal", "demographic_party"], "demographic_parity"),
        (["--methods", "reweighting"], "reweighing"),
        (["--estimator", "no_such_module:make"], "could not be imported"),
    ],
)
def test_wrong_words_are_clear_errors(people: Path, words: list[str], message: str) -> None:
    done = runner.invoke(app, ["mitigate", str(people), *ROLES, *words])
    assert done.exit_code == 2
    assert message in done.stderr


def test_found_subgroups_are_the_groups_of_fixes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    town, skill, sex = rng.choice(["north", "south"], 4000), rng.normal(size=4000), rng.choice(["F", "M"], 4000)
    paid = skill + 1.5 * (town == "north") > 0.3
    frame = {"town": town, "skill": skill, "sex": sex, "paid": paid.astype(int), "score": 1 / (1 + np.exp(-skill))}
    pl.DataFrame(frame).write_csv(tmp_path / "towns.csv")
    words = ["mitigate", str(tmp_path / "towns.csv"), "--target", "paid", "--positive", "1", "--protected", "sex"]
    words += ["--score", "score", "--methods", "thresholds", "--allow-attribute", "--groups", "found", "--folds", "2"]
    done = runner.invoke(app, [*words, "--goal", "equal_opportunity", "--limit", "0.2", "--json"])
    record = json.loads(done.stdout)
    assert "found" in record["tables"]
    assert done.exit_code in (0, 1, 3)
