"""The README tells the truth: its Python example and its commands run as they are written."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from isonomia.cli.app import app

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
PYTHON = [text for kind, text in BLOCKS if kind == "python"]
COMMANDS = [
    line
    for kind, text in BLOCKS
    if not kind
    for line in text.replace("\\\n", " ").splitlines()
    if line.startswith("isonomia ")
]

runner = CliRunner()


@pytest.fixture(scope="module")
def after_the_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the demo has run."""
    place = tmp_path_factory.mktemp("readme")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        ended = runner.invoke(app, ["demo", "--rows", "3000"])
    assert ended.exit_code == 0, ended.output
    return place


def test_there_are_examples() -> None:
    assert PYTHON
    assert COMMANDS


@pytest.mark.parametrize("text", PYTHON)
def test_python_examples_run(
    text: str, after_the_demo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(after_the_demo)
    exec(compile(text, "README.md", "exec"), {})
    assert "exceeds" in capsys.readouterr().out
    assert (after_the_demo / "out" / "mine" / "report.html").is_file()


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_run(line: str, after_the_demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(after_the_demo)
    ended = runner.invoke(app, shlex.split(line)[1:])
    assert ended.exit_code in (0, 1, 3), ended.output


def test_every_target_of_make_that_is_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"\bmake ([a-z]+)\b", "\n".join(text for kind, text in BLOCKS if not kind)))
    assert named
    assert all(re.search(rf"^{name}:", makefile, re.MULTILINE) for name in named)
