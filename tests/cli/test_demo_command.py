"""`isonomia demo` and `isonomia synth`: data with known bias, and what an audit sees of it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from isonomia.cli.app import app
from isonomia.cli.commands.demo import nearest
from isonomia.counting import Codes
from isonomia.data import read
from isonomia.data.synthetic import GroundTruth
from isonomia.evidence import Estimate, Finding
from isonomia.languages import msg

runner = CliRunner()


def test_the_demo_shows_what_the_audit_saw(tmp_path: Path) -> None:
    ended = runner.invoke(app, ["demo", "--out", str(tmp_path / "demo"), "--rows", "4000"])
    assert ended.exit_code == 0, ended.stderr
    assert "yes: people with age below 25" in ended.stdout
    assert "report.html" in ended.stdout
    names = {path.name for path in (tmp_path / "demo").iterdir()}
    written = {"report.html", "report.json", "report.md", "applications.csv", "model.skops"}
    assert written | {"mitigation.html", "mitigation.json"} == names - {"fix.skops"}
    assert "Reweighing" in ended.stdout.partition("What helps")[2]
    assert "report.html#check-mitigation" in "".join(ended.stdout.split())
    page = (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")
    assert 'id="check-mitigation"' in page
    assert 'href="#table-mitigation-methods">Show what was tried' in page
    again = runner.invoke(
        app,
        [
            "audit",
            str(tmp_path / "demo" / "applications.csv"),
            "--model",
            str(tmp_path / "demo" / "model.skops"),
            "--target",
            "decision",
            "--positive",
            "granted",
            "--protected",
            "sex,ethnicity,age:25,60",
            "--json",
        ],
    )
    assert again.exit_code == 0, again.stderr
    record = json.loads((tmp_path / "demo" / "report.json").read_text(encoding="utf-8"))
    first, second = (one["checks"]["performance"]["result"]["values"] for one in (record, json.loads(again.stdout)))
    assert first == second


def finding(**who: str) -> Finding:
    return Finding("group_fairness.selection_rate", "warning", msg("yes"), Estimate(0.1), who)


def test_nearest_findings() -> None:
    sex = Codes.encode(["F"] * 50 + ["M"] * 50, name="sex")
    race = Codes.encode(["A", "B"] * 50, name="race")
    women_a = (sex.codes == sex.texts.index("F")) & (race.codes == race.texts.index("A"))
    few = women_a & (np.arange(100) < 10)

    def told(inside: np.ndarray, *findings: Finding) -> str:
        return str(nearest(inside, (sex, race), findings))

    assert told(women_a, finding(sex="F"), finding(sex="F", race="A")) == "yes: women with race A"
    assert told(few, finding(sex="F"), finding(sex="F", race="A")) == "only within a larger group: women with race A"
    assert told(few, finding(sex="M"), finding()) == "no"
    assert told(few, finding(city="X")) == "no"
    assert told(few) == "no"


@pytest.mark.parametrize("name", ["credit.csv", "credit.csv.gz", "credit.parquet"])
def test_synth_writes_data_and_truth(tmp_path: Path, name: str) -> None:
    ended = runner.invoke(app, ["synth", str(tmp_path / name), "--rows", "500", "--seed", "3", "--json"])
    assert ended.exit_code == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert told["rows"] == 500
    data = read(tmp_path / name, target=told["target"], positive=told["positive"], protected=told["protected"])
    truth = GroundTruth.from_dict(json.loads(Path(told["truth"]).read_text(encoding="utf-8")))
    assert (len(data), truth.n_rows, len(truth.biased)) == (500, 500, 3)
    for subgroup in truth.biased:
        assert np.array_equal(np.flatnonzero(subgroup.matches(data.frame)), np.sort(subgroup.rows))


def test_the_same_seed_writes_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.csv.gz", "b.csv.gz", "c.csv.gz"):
        runner.invoke(
            app, ["synth", str(tmp_path / name), "--rows", "300", "--seed", "1" if name != "c.csv.gz" else "2"]
        )
    a, b, c = ((tmp_path / name).read_bytes() for name in ("a.csv.gz", "b.csv.gz", "c.csv.gz"))
    assert a == b != c


def test_synth_from_a_schema_and_from_data(tmp_path: Path) -> None:
    (tmp_path / "schema.yaml").write_text(
        "columns:\n  sex: {categories: {F: 0.5, M: 0.5}}\n  pay: {normal: {mean: 3, sd: 1}}\nprotected: [sex]\n",
        encoding="utf-8",
    )
    options = ["--rows", "300", "--pairs", "2", "--samples", "40", "--json"]
    made = runner.invoke(app, ["synth", str(tmp_path / "a.csv"), "--schema", str(tmp_path / "schema.yaml"), *options])
    assert made.exit_code == 0, made.stderr
    assert json.loads(made.stdout)["rows"] == 300 + 2 * 2 * 40
    like = runner.invoke(
        app,
        [
            "synth",
            str(tmp_path / "b.parquet"),
            "--like",
            str(tmp_path / "a.csv"),
            "--target",
            "outcome",
            "--positive",
            "1",
            "--protected",
            "sex",
            "--columns",
            "sex, pay",
            *options,
        ],
    )
    assert like.exit_code == 0, like.stderr
    told = json.loads(like.stdout)
    assert (told["rows"], told["target"], told["positive"]) == (460, "outcome", 1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["x.xls"], "must end in .csv"),
        (["nowhere/x.csv"], "no folder"),
        (["x.csv", "--like", "a.csv", "--schema", "b.yaml"], "not both"),
        (["x.csv", "--like", "a.csv"], "--protected"),
        (["x.csv", "--protected", "sex"], "own columns"),
        (["x.csv", "--schema", "nothing.yaml"], "nothing.yaml"),
        (["x.csv", "--schema", "b.yaml", "--target", "y"], "--like"),
        (["x.csv", "--rows", "10"], "at least 100"),
        (["x.csv", "--rows", "0"], "--rows"),
    ],
)
def test_what_synth_cannot_do_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = runner.invoke(app, ["synth", *arguments])
    assert ended.exit_code == 2
    assert said in ended.stderr
    assert list(tmp_path.iterdir()) == []
