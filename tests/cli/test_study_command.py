"""`isonomia study`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from isonomia.cli.app import app
from isonomia.errors import SpecError

SPEC = """
datasets:
  mine: {path: people.csv, target: granted, positive: 1, protected: [sex], privileged: {sex: M}}
measures: [statistical_parity, counterfactual]
fixes: [reweighing]
explainers: [linear_independent]
explained: 20
n_boot: 20
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    sex, pay = rng.choice(["F", "M"], 200), rng.normal(size=200)
    frame = pd.DataFrame({"sex": sex, "pay": pay, "granted": (pay + (sex == "M") > 0).astype(int)})
    frame.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "study.yaml").write_text(SPEC)
    return tmp_path / "study.yaml"


def test_run_then_report(spec: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ["study", "run", str(out), "--spec", str(spec), "--models", "logistic", "--seeds", "2", "--json"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "agreement" in json.loads(done.stdout)["results"]
    assert len(list((out / "cells").glob("*.json"))) == 4
    assert (out / "pt-BR" / "report.html").is_file()
    again = CliRunner().invoke(app, ["study", "report", str(out), "--lang", "pt-BR", "--n-boot", "0"])
    assert again.exit_code == 0, again.output
    assert "paridade estatística" in again.stdout


def test_options_of_the_command_line_replace_those_of_the_spec(
    spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, object] = {}

    def stop(folder: Path, **options: object) -> None:
        given.update(options)
        raise SpecError("enough")

    monkeypatch.setattr("isonomia.study.run_study", stop)
    command = ["study", "run", str(tmp_path), "--spec", str(spec), "--tolerance", "0.1", "--max-seconds", "9"]
    CliRunner().invoke(app, command)
    assert (given["tolerance"], given["max_seconds"], given["n_boot"]) == (0.1, 9, 20)


def test_bad_input_is_exit_code_2(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["study", "run", str(tmp_path), "--datasets", "adlut"])
    assert done.exit_code == 2
    assert "Did you mean 'adult'" in done.output
    done = CliRunner().invoke(app, ["study", "report", str(tmp_path)])
    assert done.exit_code == 2
