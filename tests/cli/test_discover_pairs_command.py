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
    assert "another sex alone changes the decision" in " ".join(shown.output.split())
    assert "→" in shown.output


def test_json_a_file_and_a_ledger(files: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "pairs.csv"
    words = [
        "--method",
        "exact",
        "--json",
        "--out",
        str(out),
        "--ledger-dir",
        str(tmp_path / "kept"),
        "--analysis",
        "one",
    ]
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
        (["--method", "limi", "--option", "early_stop=perhaps"], "`early_stop` must be True or False; got 'perhaps'"),
        (
            ["--method", "expga", "--option", "population=10.5"],
            "`population` must be a whole number of at least 2; got 10.5",
        ),
        (["--method", "expga", "--option", "cross_rate=high"], "`cross_rate` must be a number in [0, 1]; got 'high'"),
    ],
)
def test_bad_words_are_explained(files: tuple[Path, Path], words: list[str], told: str) -> None:
    shown = call(files, *words)
    assert shown.exit_code == 2
    assert told in shown.output


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("auto", ["exact=no", "lift=False", "max_boxes=50", "natural=no"]),
        ("auto", ["exact=true", "lift=on", "natural=yes"]),
        ("limi", ["early_stop=yes", "n_approx_samples=400", "confidence=0.6", "generator=pca"]),
        ("themis", ["error=null", "min_tests=10", "batch=50"]),
        ("aequitas", ["mode=semi", "nominal_moves=any", "step_size=2"]),
    ],
)
def test_options_are_read_as_what_they_are(files: tuple[Path, Path], method: str, words: list[str]) -> None:
    options = [part for word in words for part in ("--option", word)]
    shown = call(files, "--method", method, "--max-tests", "100", "--json", *options)
    assert shown.exit_code == 0, shown.output
    assert json.loads(shown.stdout)["metrics"]["TSN"] > 0


def test_what_methods_lists_can_be_given_back(files: tuple[Path, Path]) -> None:
    """Defaults as `isonomia methods` writes them are options as `isonomia discover` reads them."""
    for method in ("auto", "limi", "expga", "adf"):
        listed = [
            line.split()[1] for line in runner.invoke(app, ["methods", method]).stdout.splitlines() if "=" in line
        ]
        options = [part for word in listed for part in ("--option", word)]
        assert options
        shown = call(files, "--method", method, "--max-tests", "60", *options)
        assert shown.exit_code == 0, shown.output
