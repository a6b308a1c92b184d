"""`--set`: options of checks on the command line, the same for `audit` and `run`; and checks named by their room."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import isonomia as iso
from isonomia.audit import CHECKS, choose_checks
from isonomia.cli.app import app

runner = CliRunner()


def table(path: Path, *, age: float, seed: int) -> Path:
    """300 people; their mean age is given, all else is alike."""
    rng = np.random.default_rng(seed)
    rows = zip(
        rng.choice(["F", "M"], 300),
        rng.normal(age, 5, 300).round(1),
        rng.normal(0, 1, 300).round(3),
        rng.choice(["no", "yes"], 300),
        rng.choice(["no", "yes"], 300),
        strict=True,
    )
    path.write_text(
        "\n".join(["sex,age,merit,hired,said", *(",".join(map(str, row)) for row in rows)]), encoding="utf-8"
    )
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    table(folder / "now.csv", age=50, seed=1)
    table(folder / "before.csv", age=30, seed=2)
    spec = {
        "dataset": "now.csv",
        "target": "hired",
        "positive": "yes",
        "prediction": "said",
        "protected": ["sex"],
        "checks": "representation",
    }
    (folder / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    return folder


def audited(folder: Path, *more: str) -> list[str]:
    roles = ["--target", "hired", "--positive", "yes", "--prediction", "said", "--protected", "sex"]
    return ["audit", str(folder / "now.csv"), *roles, "--checks", "representation", *more]


@pytest.mark.parametrize("door", ["audit", "run"])
def test_an_option_of_a_check_asks_for_the_check(folder: Path, tmp_path: Path, door: str) -> None:
    """Ages of now against ages of before: 20 years apart; nothing else moved."""
    set_it = [
        "--set",
        f"drift.reference={folder / 'before.csv'}",
        "--set",
        "weak_spots.pairs=yes",
        "--out",
        str(tmp_path),
    ]
    asked = audited(folder, *set_it) if door == "audit" else ["run", str(folder / "spec.json"), *set_it]
    done = runner.invoke(app, [*asked, "-q"])
    assert done.exit_code == 0, done.output
    report = iso.Report.load(tmp_path)
    assert set(report.keys()) == {"representation", "drift", "weak_spots"}
    moved = report["drift"].to_frame("variables")
    assert moved.loc[moved["drifted"] == True, "variable"].tolist() == ["age"]  # noqa: E712  a column
    assert "pairs" in report["weak_spots"].tables


def test_a_file_of_the_shell_is_found_from_there(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for asked in (["run", "spec.json"], audited(folder)):
        done = runner.invoke(app, [*asked, "--set", "drift.reference=before.csv", "--out", str(tmp_path), "-q"])
        assert done.exit_code == 0, done.output
        assert iso.Report.load(tmp_path)["drift"].values["drifted_features"] == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("drfit.reference=x.csv", "Did you mean 'drift'"),
        ("drift.refrence=x.csv", "Did you mean 'reference'?"),
        ("drift.bins=many", "`options.drift.bins` must be a whole number"),
        ("n_bot=10", "Did you mean 'n_boot'?"),
        ("drift.reference=nowhere.csv", "nowhere.csv"),
        ("n_boot=many", "`n_boot` must be a whole number"),
    ],
)
def test_a_wrong_name_or_value_is_named(folder: Path, change: str, words: str) -> None:
    done = runner.invoke(app, audited(folder, "--set", change))
    assert done.exit_code == 2
    assert words in " ".join(done.output.split())


def test_settings_of_an_audit_can_be_set(folder: Path, tmp_path: Path) -> None:
    changes = ["--set", "level=0.5", "--set", "min_per_group=200", "--checks", "group_fairness"]
    done = runner.invoke(app, audited(folder, *changes, "--out", str(tmp_path), "-q"))
    assert done.exit_code == 0, done.output
    data = iso.read(folder / "now.csv", target="hired", positive="yes", prediction="said", protected=["sex"])
    same = iso.audit(data, checks="group_fairness", level=0.5, min_per_group=200)["group_fairness"]
    assert iso.Report.load(tmp_path)["group_fairness"].tables["by_group"].to_dict() == same.tables["by_group"].to_dict()


def test_a_room_stands_for_its_checks() -> None:
    """D3's own words: tests=["robustness", "fairness"], here with a set and a single check."""
    rooms = {code.id for code in choose_checks(["robustness", "fairness"])}
    assert rooms == {
        entry.id for entry in CHECKS if entry.within != "named" and entry.room in ("robustness", "fairness")
    }
    assert {"drift", "weak_spots", "group_fairness", "label_bias"} <= rooms
    assert "impact_ratios" not in rooms, "runs only where it is named"
    mixed = [entry.id for entry in choose_checks(["explain", "quick", "drift"])]
    assert set(mixed) == {*(entry.id for entry in choose_checks("quick")), "explain_gap", "explain_sensitive", "drift"}
    assert mixed == [entry.id for entry in CHECKS if entry.id in mixed], "in the order of the registry"
    assert [entry.id for entry in choose_checks("explain, drift")] == ["explain_sensitive", "explain_gap", "drift"]
    assert all(entry.room for entry in CHECKS)


def test_rooms_are_taken_by_every_door(folder: Path, tmp_path: Path) -> None:
    done = runner.invoke(
        app,
        [
            "run",
            str(folder / "spec.json"),
            "--set",
            "checks=[explain, representation]",
            "--out",
            str(tmp_path / "run"),
            "-q",
        ],
    )
    assert done.exit_code == 0, done.output
    done = runner.invoke(app, [*audited(folder)[:-1], "explain,representation", "--out", str(tmp_path / "audit"), "-q"])
    assert done.exit_code == 0, done.output
    data = iso.read(folder / "now.csv", target="hired", positive="yes", prediction="said", protected=["sex"])
    codes = ("representation", "explain_sensitive", "explain_gap")
    assert iso.audit(data, checks=["explain", "representation"]).keys() == codes
    assert iso.Report.load(tmp_path / "run").keys() == iso.Report.load(tmp_path / "audit").keys() == codes
    with pytest.raises(iso.SpecError, match="Did you mean 'robustness'"):
        iso.audit(data, checks=["robustnes", "fairness"])


def test_the_metric_of_a_spec_is_one_of_an_audit() -> None:
    rng = np.random.default_rng(0)
    frame = {"sex": rng.choice(["F", "M"], 200), "merit": rng.normal(size=200)}
    frame["hired"] = (frame["merit"] + rng.normal(size=200) > 0).astype(int)
    data = iso.Dataset(frame, target="hired", protected=["sex"])
    model = iso.Model.of(lambda rows: (np.asarray(rows["merit"]) > 0).astype(int), classes=(0, 1))
    few = {"perturb": {"n_trials": 1}}

    def judged(**given: Any) -> str:
        return str(next(iter(iso.audit(data, model, checks="perturb", **given)["perturb"].to_text().splitlines()[2:])))

    assert judged(metric="f1", options=few) == judged(options={"perturb": {"n_trials": 1, "metric": "f1"}})
    assert judged(metric="f1", options=few) != judged(options=few)
    with pytest.raises(iso.SpecError, match="Did you mean 'accuracy'"):
        iso.audit(data, metric="acuracy")


def test_out_is_a_file_or_a_folder(folder: Path, tmp_path: Path) -> None:
    done = runner.invoke(app, audited(folder, "--out", str(tmp_path / "new" / "x.html"), "-q"))
    assert done.exit_code == 0, done.output
    assert (tmp_path / "new" / "x.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    for wrong in (["--out", str(tmp_path / "x.docx")], ["--out", str(tmp_path / "x.html"), "--pdf"]):
        done = runner.invoke(app, audited(folder, *wrong))
        assert done.exit_code == 2
        assert "folder" in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
