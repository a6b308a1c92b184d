"""`make doors` leaves nothing out: every command of the program is walked, and every page that a newcomer reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typer
from doors.__main__ import problems
from doors.installs import INSTALLS, ROOT
from doors.steps import Step, lines, steps

from isonomia.cli.app import app

#: Commands that are not walked, and why.
LEFT_OUT = {
    "datasets fetch": "asks the network",
    "study run": "takes minutes; its tests run it on small data",
    "study report": "reads what a study wrote",
}


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """The commands of the program, as they are typed."""
    if not hasattr(group, "commands"):
        yield " ".join(path)
        return
    for name, command in group.commands.items():
        yield from commands(command, (*path, name))


def test_every_command_is_walked() -> None:
    typed = [step.name for step in steps()]
    walked = {name for name in commands(typer.main.get_command(app)) if any(f"isonomia {name}" in one for one in typed)}
    assert set(commands(typer.main.get_command(app))) - walked == set(LEFT_OUT)


def test_pages_are_walked_as_printed() -> None:
    names = [step.name for step in steps()]
    assert {"README.md", "docs/guide-files.md", "docs/guide-python.md"} <= set(names)
    for page in ("README.md", "docs/tutorial.md"):
        assert set(lines(ROOT / page)) <= set(names)


def ended(code: int, said: str = "", **more: Any) -> dict[str, Any]:
    return {"code": code, "said": said, "shown": "", "wrote": [], "missing": [], **more}


STEP = Step("isonomia audit", needs=frozenset({"table"}), ends=(0, 1), writes=("out/report.html",))
REFUSED = "Tables need pandas, Polars or PyArrow. Install one: pip install 'isonomia[pandas]'"


@pytest.mark.parametrize(
    ("install", "found", "says"),
    [
        ("pandas", ended(0), ""),
        ("pandas", ended(2), "not 0 or 1"),
        ("pandas", ended(5), "ended with 5"),
        ("pandas", ended(-11), "ended with -11"),
        ("pandas", ended(0, missing=["out/report.html"]), "did not write out/report.html"),
        ("core", ended(2, REFUSED), ""),
        ("core", ended(5, REFUSED), "ended with 5"),
        ("core", ended(0), "not 2"),
        ("core", ended(2, "File not found."), "does not say what to install"),
        ("core", ended(2, REFUSED, wrote=["out/half.csv"]), "before it was refused"),
        ("core", ended(2, REFUSED * 10), "more than a sentence"),
    ],
)
def test_what_is_wrong_with_a_step(install: str, found: dict[str, Any], says: str) -> None:
    told = problems(STEP, found, INSTALLS[install])
    assert told == [] if not says else any(says in one for one in told)
