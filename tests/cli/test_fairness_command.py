"""`isonomia fairness`: predictions in a file, without a model."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import isonomia as iso
from isonomia.cli.app import app

runner = CliRunner()
ROLES = ["--target", "hired", "--positive", "yes", "--prediction", "said", "--protected", "sex,race"]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    n = 2000
    sex, race = rng.choice(["F", "M"], n), rng.choice(["A", "B\x1b[31m"], n)
    truth = rng.random(n) < np.where(sex == "F", 0.35, 0.5)
    said = rng.random(n) < np.where(truth, 0.7, 0.3) - 0.15 * (sex == "F")
    words = np.array(["no", "yes"])
    path = tmp_path_factory.mktemp("data") / "people.csv"
    lines = [",".join(row) for row in zip(sex, race, words[truth.astype(int)], words[said.astype(int)], strict=True)]
    path.write_text("\n".join(["sex,race,hired,said", *lines]), encoding="utf-8")
    return path


def test_json_is_what_python_gives(people: Path) -> None:
    done = runner.invoke(app, ["fairness", str(people), *ROLES, "--n-boot", "50", "--json", "--margin", "0.05"])
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    data = iso.read(people, target="hired", positive="yes", prediction="said", protected=["sex", "race"])
    found = iso.fairness.suite(
        data.column("hired").to_native(),
        data.column("said").to_native(),
        positive="yes",
        n_boot=50,
        sensitive_features={name: data.column(name).to_native() for name in ("sex", "race")},
    )
    assert record["suite"]["overall_fairness_score"]["value"] == pytest.approx(found.overall_fairness_score)
    assert record["suite"]["critical_issues"] == [str(message) for message in found.critical_issues]
    assert record["equivalence"]["values"]["margin"] == 0.05
    assert record["incompatibility"]["tables"]["conflicts"]["columns"]


def test_people_read_along_in_their_language(people: Path) -> None:
    arguments = ["fairness", str(people), *ROLES, "--n-boot", "20", "--privileged", "sex=M", "--use", "hiring"]
    english = runner.invoke(app, arguments)
    assert english.exit_code == 0, english.output
    assert "Overall fairness score" in english.stdout
    assert "Critical issues" in english.stdout
    assert "not a statement of compliance" in english.stdout
    assert "Base rates differ by sex" in english.stdout
    assert "\x1b[31m" not in english.stdout, "texts of the data command no terminal"
    portuguese = runner.invoke(app, [*arguments, "--lang", "pt-BR"])
    assert "Pontuação geral de equidade" in portuguese.stdout
    assert "Problemas críticos" in portuguese.stdout


def test_a_report_is_saved(people: Path, tmp_path: Path) -> None:
    done = runner.invoke(app, ["fairness", str(people), *ROLES, "--n-boot", "20", "--out", str(tmp_path / "out"), "-q"])
    assert done.exit_code == 0, done.output
    record = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert set(record["checks"]) >= {"fairness_suite", "equivalence", "incompatibility"}


def test_decisions_alone_and_bad_input(people: Path) -> None:
    alone = runner.invoke(
        app,
        [
            "fairness",
            str(people),
            "--prediction",
            "said",
            "--positive",
            "yes",
            "--protected",
            "sex",
            "--n-boot",
            "0",
            "--config",
            "quick",
            "--json",
        ],
    )
    assert alone.exit_code == 0, alone.output
    assert "incompatibility" not in json.loads(alone.stdout)
    for arguments, said in (
        (["--prediction", "said", "--positive", "yes"], "--protected"),
        ([*ROLES, "--use", "sports"], "credit"),
        ([*ROLES[:-1], "sx"], "Did you mean 'sex'"),
        ([*ROLES, "--margin", "2"], "margin"),
    ):
        done = runner.invoke(app, ["fairness", str(people), *arguments])
        assert done.exit_code == 2, done.output
        assert said in done.stderr


def test_every_part_states_the_rows_that_are_left_out(people: Path, tmp_path: Path) -> None:
    lines = people.read_text(encoding="utf-8").splitlines()
    lines[1:4] = [",".join([*line.split(",")[:2], "", line.split(",")[3]]) for line in lines[1:4]]
    partly = tmp_path / "partly.csv"
    partly.write_text("\n".join(lines), encoding="utf-8")
    done = runner.invoke(app, ["fairness", str(partly), *ROLES, "--n-boot", "20", "--json", "--margin", "0.05"])
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    for part in ("suite", "incompatibility", "equivalence"):
        assert sum("3 rows without a target are left out" in str(note) for note in record[part]["notes"]) == 1, part


def test_groups_are_named_in_words(tmp_path: Path) -> None:
    table = tmp_path / "loans.csv"
    table.write_text("sex,y,p\n" + "female,1,0\nmale,1,1\nfemale,0,0\nmale,0,1\n" * 50, encoding="utf-8")
    words = ["fairness", str(table), "--target", "y", "--positive", "1", "--prediction", "p", "--protected", "sex"]
    shown = runner.invoke(app, [*words, "--margin", "0.1"])
    assert shown.exit_code == 0, shown.output
    assert "female" in shown.stdout
    assert "sex=" not in shown.stdout
