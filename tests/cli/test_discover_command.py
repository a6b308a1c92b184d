"""`isonomia discover subgroups` and `isonomia methods`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from isonomia.cli.app import app
from isonomia.counting.lattice import DEFAULT_BUDGET
from isonomia.discovery import METHODS

runner = CliRunner()


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"sex": rng.choice(["F", "M"], 900), "race": rng.choice(["a", "b", "c"], 900)})
    truth = rng.integers(0, 2, 900)
    hit = ((frame["sex"] == "F") & (frame["race"] == "c")).to_numpy() & (truth == 0)
    frame = frame.with_columns(y=truth, said=np.where(hit, 1, truth))
    path = tmp_path / "people.csv"
    frame.write_csv(path)
    return path


ROLES = ["--target", "y", "--prediction", "said", "--protected", "sex"]


def test_the_subgroup_is_shown(people: Path) -> None:
    shown = runner.invoke(app, ["discover", "subgroups", str(people), *ROLES, "--metric", "fpr", "--k", "1"])
    assert shown.exit_code == 0, shown.output
    assert "sex = F, race = c" in shown.stdout
    first, question = shown.stdout.splitlines()[:2]
    assert first == "1 of 1 subgroup is more than chance."
    assert question == "The question: which subgroups differ most from everyone by false positive rate?"


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_subgroups_that_may_be_chance_are_called_so_first(tmp_path: Path, language: str) -> None:
    """Errors that have nothing to do with anybody: the method lists the five worst, and none of them stands."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 900)
    said = np.where(rng.random(900) < 0.2, 1 - y, y)
    columns = {name: rng.choice(["a", "b", "c"], 900) for name in ("sex", "race", "job")}
    path = tmp_path / "chance.csv"
    pl.DataFrame(columns | {"y": y, "said": said}).write_csv(path)
    words = ["discover", "subgroups", str(path), *ROLES, "--method", "divexplorer", "--metric", "error_rate"]
    shown = runner.invoke(app, [*words, "--lang", language])
    told = {"en": "None of 5 is more than chance.", "pt-BR": "Nenhum dos 5 vai além do acaso."}[language]
    assert shown.stdout.splitlines()[0] == told


def test_json_and_a_file(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "found.csv"
    words = ["discover", "subgroups", str(people), *ROLES, "--method", "divexplorer", "--json", "--out", str(out)]
    told = json.loads(runner.invoke(app, [*words, "--option", "direction=high", "--min-support", "0.1"]).stdout)
    assert told["method"] == "divexplorer"
    assert told["metrics"]["DSN"] == len(told["tables"]["subgroups"]["columns"][0]["values"])
    assert pl.read_csv(out)["slice"][0] == "sex = F, race = c"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--method", "slicelin"], "Did you mean 'sliceline'"),
        (["--option", "alpha"], "takes name=value"),
        (["--option", "k=0"], "is one of the command itself"),
        (["--option", "alfa=1"], "Did you mean 'alpha'"),
        (["--min-support", "much"], "must be a share"),
        (["--k", "0"], "`--k` must be"),
    ],
)
def test_wrong_words_end_with_two(people: Path, words: list[str], told: str) -> None:
    wrong = runner.invoke(app, ["discover", "subgroups", str(people), *ROLES, *words])
    assert wrong.exit_code == 2
    assert told in wrong.stderr


def test_methods_are_listed_and_described() -> None:
    shown = runner.invoke(app, ["methods"]).stdout
    listed = json.loads(runner.invoke(app, ["methods", "--json"]).stdout)
    assert [entry["method"] for entry in listed] == list(METHODS.ids())
    assert all(entry["method"] in shown for entry in listed)
    assert "--option alpha=0.95" in runner.invoke(app, ["methods", "sliceline"]).stdout
    assert json.loads(runner.invoke(app, ["methods", "slicefinder", "--json"]).stdout)["finds"] == "subgroups"
    assert "Did you mean 'sliceline'" in runner.invoke(app, ["methods", "slicelin"]).stderr


def test_the_memory_of_a_search_is_limited_and_stated(people: Path) -> None:
    for given, expected in (([], DEFAULT_BUDGET), (["--max-memory", "64"], 64 << 20)):
        shown = runner.invoke(app, ["discover", "subgroups", str(people), *ROLES, *given, "--json"])
        assert shown.exit_code == 0, shown.output
        assert json.loads(shown.stdout)["metrics"]["max_memory"] == expected
