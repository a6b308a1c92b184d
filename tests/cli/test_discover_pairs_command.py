"""`isonomia discover pairs`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from isonomia.cli.app import app

runner = CliRunner()


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Data, and a model of them that looks at sex."""
    skops = pytest.importorskip("skops.io")
    pandas = pytest.importorskip("pandas")
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"sex": rng.integers(0, 2, 300), "skill": rng.integers(0, 40, 300)})
    frame["hired"] = ((frame["skill"] + 8 * frame["sex"]) > 25).astype(int)
    model = LogisticRegression(max_iter=1000).fit(frame[["sex", "skill"]], frame["hired"])
    skops.dump(model, tmp_path / "model.skops")
    frame.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv", tmp_path / "model.skops"


def call(files: tuple[Path, Path], *words: str) -> Any:
    data, model = files
    options = ["--model", str(model), "--protected", "sex", "--target", "hired"]
    return runner.invoke(app, ["discover", "pairs", str(data), *options, *words])


def test_pairs_are_shown(files: tuple[Path, Path]) -> None:
    shown = call(files, "--method", "observed")
    assert shown.exit_code == 0, shown.output
    assert "treated differently when only sex is changed" in shown.output
    assert "→" in shown.output


def test_json_a_file_and_a_ledger(files: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "pairs.csv"
    words = ["--method", "exact", "--json", "--out", str(out), "--store", str(tmp_path / "kept"), "--analysis", "one"]
    told = json.loads(call(files, *words).stdout)
    assert told["metrics"]["status"] == "pair"
    assert told["metrics"]["share_low"] == told["metrics"]["share_high"]
    assert len(pl.read_csv(out)) == 2 * told["metrics"]["DSN"]
    assert (tmp_path / "kept" / "one.ledger").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--method", "kosi"], "kosei"),
        (["--option", "nothing"], "name=value"),
        (["--constraint", "skill >"], "could not be read"),
    ],
)
def test_bad_words_are_explained(files: tuple[Path, Path], words: list[str], told: str) -> None:
    shown = call(files, *words)
    assert shown.exit_code == 2
    assert told in shown.output
