"""The listings in Portuguese: headings, purposes, what options are for."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from isonomia.cli.app import app
from isonomia.cli.commands.listings import LISTINGS
from isonomia.cli.output.headings import HEADINGS
from isonomia.data import catalog

runner = CliRunner()
COMMANDS = (*LISTINGS, "policies", "datasets")
#: Words that no Portuguese sentence has.
ENGLISH = re.compile(r"\b(the|of|and|with|which|each|every|rows|whether|share|whose|needed|purpose)\b")


def shown(*words: str) -> str:
    done = runner.invoke(app, [*words, "--lang", "pt-BR"])
    assert done.exit_code == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_a_listing_has_no_english(command: str) -> None:
    assert ENGLISH.findall(shown(command)) == []


@pytest.mark.parametrize("command", LISTINGS)
def test_an_entry_in_full_has_no_english(command: str) -> None:
    entries = json.loads(runner.invoke(app, [command, "--json"]).stdout)
    for entry in entries:
        lines = shown(command, entry[command[:-1]]).splitlines()
        told = [line for line in lines if not line.startswith(("referência", "outros nomes"))]  # titles of papers
        names = re.compile(r"--option \S+=[^ ].*?  |um de .*")  # what a person types
        assert [ENGLISH.findall(names.sub("", line)) for line in told] == [[]] * len(told), entry


@pytest.mark.parametrize("name", catalog.names())
def test_a_dataset_is_described_in_portuguese(name: str) -> None:
    of_data = ("citação", "protegidos", "privilegiado")  # titles of papers, values of columns
    told = [line for line in shown("datasets", "show", name).splitlines() if not line.startswith(of_data)]
    assert ENGLISH.findall("\n".join(told)) == []


def test_numbers_have_the_marks_of_the_language() -> None:
    assert re.search(r"nível +0,1\b", shown("scenarios", "label_noise"))
    assert re.search(r"nível máximo +infinito", shown("scenarios", "score_noise"))


def test_machines_read_the_same_in_every_language() -> None:
    for command in COMMANDS:
        english = runner.invoke(app, [command, "--json"]).stdout
        assert runner.invoke(app, [command, "--json", "--lang", "pt-BR"]).stdout == english


def test_every_heading_is_used_by_a_listing() -> None:
    fields = set()
    for command in COMMANDS:
        for entry in json.loads(runner.invoke(app, [command, "--json"]).stdout):
            fields |= set(entry)
    fields |= set(json.loads(runner.invoke(app, ["datasets", "show", "adult", "--json"]).stdout))
    assert set(HEADINGS) <= fields
