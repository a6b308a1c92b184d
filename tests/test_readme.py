"""The README and the tutorial tell the truth: their Python examples and commands run as they are written."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from isonomia.cli.app import app

ROOT = Path(__file__).parents[1]


def blocks(name: str) -> list[tuple[str, str]]:
    """The blocks of code of a page, each with its language."""
    return re.findall(r"^```(\w*)\n(.*?)^```", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands(name: str) -> list[str]:
    """The commands of a page, one line each."""
    plain = (text.replace("\\\n", " ") for kind, text in blocks(name) if not kind)
    return [line for text in plain for line in text.splitlines() if line.startswith("isonomia ")]


BLOCKS = blocks("README.md")
PYTHON = [text for kind, text in BLOCKS if kind == "python"]
COMMANDS = commands("README.md")
TUTORIAL = commands("docs/tutorial.md")

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


def test_the_tutorial_runs(after_the_demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One command after the other, as a reader would; the demo itself has run."""
    monkeypatch.chdir(after_the_demo)
    assert TUTORIAL[0] == "isonomia demo --rows 3000"
    ended = {line: runner.invoke(app, shlex.split(line)[1:]) for line in TUTORIAL[1:]}
    assert {line: one.output for line, one in ended.items() if one.exit_code not in (0, 1, 3)} == {}
    written = ("first/report.html", "rule/report.html", "why/explain.html", "fix/mitigation.html")
    assert [name for name in written if not (after_the_demo / "out" / name).is_file()] == []
    assert ended[TUTORIAL[2]].exit_code == 1  # the planted bias breaks the rule


@pytest.mark.parametrize(
    "page", [*sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("*.md"))], ids=lambda page: page.name
)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_target_of_make_that_is_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"\bmake ([a-z]+)\b", "\n".join(text for kind, text in BLOCKS if not kind)))
    assert named
    assert all(re.search(rf"^{name}:", makefile, re.MULTILINE) for name in named)
