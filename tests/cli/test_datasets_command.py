"""`isonomia datasets`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from isonomia.cli.app import app
from isonomia.data import catalog

runner = CliRunner()


def test_the_catalog_is_listed() -> None:
    shown = runner.invoke(app, ["datasets"])
    assert shown.exit_code == 0
    for name in catalog.names():
        assert name in shown.stdout


def test_json_lists_the_same() -> None:
    listed = json.loads(runner.invoke(app, ["datasets", "--json"]).stdout)
    assert [row["name"] for row in listed] == list(catalog.names())


def test_one_is_described() -> None:
    shown = runner.invoke(app, ["datasets", "show", "adult"])
    assert "licence" in shown.stdout
    described = json.loads(runner.invoke(app, ["datasets", "show", "adult", "--json"]).stdout)
    assert described["target"] == "income"
    assert described["privileged"] == {"sex": "Male", "race": "White"}


@pytest.mark.parametrize("name", catalog.names())
def test_every_one_can_be_described_as_json(name: str) -> None:
    assert json.loads(runner.invoke(app, ["datasets", "show", name, "--json"]).stdout)["name"] == name


def test_an_unknown_one_is_told() -> None:
    ended = runner.invoke(app, ["datasets", "show", "adlt"])
    assert ended.exit_code == 2
    assert "Did you mean 'adult'" in ended.stderr


def test_fetch_says_where_it_is(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISONOMIA_DATA", str((shared_data / "ricci.csv.gz").parent))
    shown = runner.invoke(app, ["datasets", "fetch", "ricci", "--json"])
    assert shown.exit_code == 0, shown.stderr
    assert Path(json.loads(shown.stdout)["path"]).is_file()
