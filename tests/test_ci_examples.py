"""The files to copy for continuous integration: well-formed, and every command and option in them exists."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from isonomia.cli.app import app

FOLDER = Path(__file__).parents[1] / "examples" / "ci"
FILES = sorted(FOLDER.glob("*.yaml"))


def commands(text: str) -> Iterator[list[str]]:
    """Every call of the program in a text."""
    for found in re.finditer(r"^\s*isonomia [^\n|;&`]*", text, re.MULTILINE):
        yield shlex.split(found[0])[1:]


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts(item)


def check(words: list[str]) -> None:
    """That a command and its options exist."""
    command: Any = typer.main.get_command(app)
    given = list(words)
    while hasattr(command, "commands"):
        name = given.pop(0)
        assert name in command.commands, f"isonomia {' '.join(words)}: there is no command {name!r}"
        command = command.commands[name]
    known = {option for parameter in command.params for option in parameter.opts}
    assert [word for word in given if word.startswith("-") and word not in known] == []


def test_there_are_files_for_both() -> None:
    assert [file.name for file in FILES] == ["github-actions.yaml", "pre-commit.yaml"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_command_exists(file: Path) -> None:
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    found = [words for text in texts(content) for words in commands(text)]
    assert len(found) >= 2
    for words in found:
        check(words)


def test_a_command_that_does_not_exist_is_noticed() -> None:
    with pytest.raises(AssertionError, match="there is no command"):
        check(["judge", "spec.yaml"])
    with pytest.raises(AssertionError):
        check(["run", "spec.yaml", "--fail-over"])


def test_the_workflow_is_one_of_github_actions() -> None:
    workflow = yaml.load((FOLDER / "github-actions.yaml").read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    assert workflow["on"] == {"pull_request": ""}
    steps = workflow["jobs"]["audit"]["steps"]
    assert all(("uses" in step) != ("run" in step) for step in steps)
    assert workflow["permissions"] == {"contents": "read"}


def test_the_page_names_options_that_exist() -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"`(isonomia [^`]+)`", page)
    assert len(named) >= 4
    for text in named:
        check([word for word in shlex.split(text)[1:] if word not in (">", "...")])
