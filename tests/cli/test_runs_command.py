"""`--store`, `--analysis` and `isonomia runs`: from audits to lists, trends and alerts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import isonomia as iso
from isonomia.cli.app import app

runner = CliRunner()
ROLES = ["--target", "hired", "--positive", "yes", "--prediction", "said", "--protected", "sex"]
AUDIT = [*ROLES, "--policy", "eeoc", "--checks", "performance,group_fairness"]


def people(path: Path, *, gap: float, seed: int) -> Path:
    """Women and men, selected at rates that differ by a gap."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], 1500)
    said = rng.random(1500) < np.where(sex == "F", 0.5 - gap, 0.5)
    frame = pl.DataFrame({"sex": sex, "x": rng.normal(size=1500), "said": np.where(said, "yes", "no")})
    frame.with_columns(hired=pl.col("said")).write_csv(path)
    return path


def call(*words: Any, **environment: str) -> Any:
    return runner.invoke(app, [str(word) for word in words], env=environment)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with three audits, the last one with a gap, watched by a chart."""
    folder = tmp_path_factory.mktemp("runs")
    place = folder / "runs.db"
    watched = call("runs", "watch", "loans", "--add", "chart", "--metric", "selection_rate", "--store", place)
    assert watched.exit_code == 0, watched.output
    for number, gap in enumerate([0.0, 0.0, 0.4]):
        data = people(folder / f"{number}.csv", gap=gap, seed=number)
        done = call("audit", data, *AUDIT, "--store", place, "--analysis", "loans", "--out", folder / str(number))
        assert done.exit_code in ((1,) if gap else (0, 3)), done.output
        assert "Kept as run" in done.output
    alerts = [json.loads(line)["alert"] for line in done.stderr.splitlines() if line.startswith("{")]
    assert {"sex=F"} <= {alert["who_key"] for alert in alerts}
    return place


def test_runs_are_listed(store: Path) -> None:
    done = call("runs", "list", "loans", ISONOMIA_STORE=str(store))
    assert done.exit_code == 0, done.output
    assert "3 runs" in done.output
    listed = json.loads(call("runs", "list", "--store", store, "--limit", 2, "--json").stdout)
    assert [run["analysis"] for run in listed] == ["loans", "loans"]
    assert listed[0]["verdict"] == "exceeds"
    assert "3 execuções" in call("runs", "list", "--store", store, "--lang", "pt-BR").output


def test_a_run_is_shown_and_written_again(store: Path, tmp_path: Path) -> None:
    done = call("runs", "show", "loans", "--store", store, "--out", tmp_path)
    assert done.exit_code == 1
    written = (store.parent / "2" / "report.json").read_bytes()
    assert (tmp_path / "report.json").read_bytes() == written
    assert "Since the last run" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert json.loads(call("runs", "show", "loans", "--store", store, "--json").stdout) == json.loads(written)


def test_two_runs_are_compared(store: Path) -> None:
    last, _, first = (run["id"] for run in json.loads(call("runs", "list", "--store", store, "--json").stdout))
    worse = call("runs", "compare", first, last, "--store", store)
    assert worse.exit_code == 1
    assert "gaps got worse." in worse.output
    assert call("runs", "compare", first, first, "--store", store).exit_code == 0


def test_a_figure_is_shown_over_time(store: Path) -> None:
    done = call("runs", "trend", "loans", "selection_rate", "--who", "sex=F", "--store", store, "--json")
    assert done.exit_code == 0, done.output
    values = json.loads(done.stdout)["tables"]["history"]["columns"][1]["values"]
    assert len(values) == 3
    assert values[2] < 0.2 < 0.4 < min(values[:2])
    shown = call("runs", "trend", "loans", "selection_rate", "--who", "sex=F", "--store", store)
    assert "outside the limits" in " ".join(shown.output.split())
    wrong = call("runs", "trend", "loans", "selection_rate", "--who", "sex", "--store", store)
    assert (wrong.exit_code, "COLUMN=VALUE" in wrong.output) == (2, True)


def test_open_alerts_are_lines_of_json_and_an_exit_code(store: Path) -> None:
    done = call("runs", "watch", "loans", "--store", store, "--json")
    assert done.exit_code == 1
    alerts = [json.loads(line) for line in done.stdout.splitlines()]
    assert {alert["state"] for alert in alerts} == {"open"}
    assert call("runs", "watch", "loans", "--store", store, "--close", alerts[0]["id"]).exit_code == 2  # without a note
    for alert in alerts:
        words = ["--close", alert["id"], "--note", "known"]
        done = call("runs", "watch", "loans", "--store", store, *words)
    assert done.exit_code == 0
    assert "0 open alerts" in done.output


def test_export_import_and_remove(store: Path, tmp_path: Path) -> None:
    assert "Wrote 3 runs" in call("runs", "export", tmp_path / "out", "--store", store).output
    other = tmp_path / "other.db"
    assert "Added 3 runs" in call("runs", "import", tmp_path / "out", "--store", other).output
    assert call("runs", "rm", "loans", "--store", other).exit_code != 0  # nobody said yes
    assert "Removed run" in call("runs", "rm", "loans", "--store", other, "--yes").output
    assert len(json.loads(call("runs", "list", "--store", other, "--json").stdout)) == 2
    assert "up to date" in call("runs", "upgrade", "--store", other).output


def test_a_spec_is_kept_too(store: Path, tmp_path: Path) -> None:
    spec = {"dataset": str(store.parent / "0.csv"), "target": "hired", "positive": "yes", "protected": ["sex"]}
    spec |= {"checks": ["performance"]}
    data = {"path": spec["dataset"], "prediction": "said"}
    (tmp_path / "spec.json").write_text(json.dumps({**spec, "dataset": data}))
    done = call("run", tmp_path / "spec.json", "--store", tmp_path / "a.db", "--analysis", "from-a-spec")
    assert done.exit_code == 0, done.output
    with iso.store.open(tmp_path / "a.db") as opened:
        assert [run.analysis for run in opened.runs()] == ["from-a-spec"]


def test_searches_and_fixes_are_kept(store: Path, tmp_path: Path) -> None:
    place = tmp_path / "a.db"
    keep = ["--store", place, "--analysis", "loans"]
    data = store.parent / "2.csv"
    for _ in range(2):
        done = call("discover", "subgroups", data, *ROLES, "--method", "divexplorer", *keep, "--reuse")
        assert done.exit_code == 0, done.output
    frame = pl.read_csv(data).with_columns(score=pl.col("x").rank() / 1501)
    frame.write_csv(tmp_path / "scored.csv")
    words = ["--target", "hired", "--positive", "yes", "--protected", "sex", "--score", "score"]
    fixed = call("mitigate", tmp_path / "scored.csv", *words, "--methods", "thresholds", "--allow-attribute", *keep)
    assert fixed.exit_code in (0, 1, 3), fixed.output
    with iso.store.open(place) as opened:
        assert sorted(run.kind for run in opened.runs("loans")) == ["discovery", "mitigation"]
        mitigation = next(run for run in opened.runs() if run.kind == "mitigation")
        assert "methods" in opened.load(mitigation).tables
    assert call("runs", "show", mitigation.id, "--store", place).exit_code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--store", "a.db"], "--analysis NAME"),
        (["--store", "a.db", "--analysis", "No Good"], "`--analysis` must be a name"),
        (["--analysis", "loans"], "No store was named"),
        (["--store", "mysql://ann:secret@host/db", "--analysis", "loans"], "in 'mysql' is not supported"),
    ],
)
def test_a_wrong_store_is_refused_before_the_audit(
    store: Path, words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ISONOMIA_STORE", raising=False)
    done = call("audit", store.parent / "0.csv", *AUDIT, *words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert "secret" not in done.output
