"""The commands that list registries: every entry with its purpose, and one entry with its options."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from isonomia.audit import CHECKS
from isonomia.cli.app import app
from isonomia.cli.commands.listings import LISTINGS
from isonomia.data import FILE_FORMATS
from isonomia.discovery import METHODS
from isonomia.explain import EXPLAINERS
from isonomia.mitigation import MITIGATIONS
from isonomia.models import MODEL_FORMATS
from isonomia.robustness import PERTURBERS, SCENARIOS

runner = CliRunner()
IDS = {
    "checks": CHECKS.ids(),
    "formats": (*FILE_FORMATS.ids(), *MODEL_FORMATS.ids()),
    "methods": METHODS.ids(),
    "mitigations": MITIGATIONS.ids(),
    "explainers": EXPLAINERS.ids(),
    "perturbers": PERTURBERS.ids(),
    "scenarios": SCENARIOS.ids(),
}


def listed(*words: str) -> Any:
    return json.loads(runner.invoke(app, [*words, "--json"]).stdout, parse_constant=lambda name: 1 / 0)


@pytest.mark.parametrize("command", IDS)
def test_every_entry_is_listed_and_can_be_described(command: str) -> None:
    word = command[:-1]
    assert [entry[word] for entry in listed(command)] == list(IDS[command])
    shown = runner.invoke(app, [command]).stdout
    assert all(name[:8] in shown for name in IDS[command])
    for name in IDS[command]:
        assert listed(command, name)[word] == name
        assert name in runner.invoke(app, [command, name]).stdout


def test_a_check_is_described_with_its_options() -> None:
    shown = " ".join(runner.invoke(app, ["checks", "weak_spots"]).stdout.split())
    assert "--option bins=10 Maximum number of slices of a numeric feature a whole number of at least 1" in shown
    described = listed("checks", "weak_spots")
    assert described["within"] == "standard"
    assert described["options"]["bins"]["default"] == 10


@pytest.mark.parametrize("command", LISTINGS)
def test_an_unknown_name_is_a_clear_error(command: str) -> None:
    done = runner.invoke(app, [command, "no_such_entry"])
    assert done.exit_code == 2
    assert "no_such_entry" in done.stderr
