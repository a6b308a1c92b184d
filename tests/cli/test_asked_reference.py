"""At a terminal an audit asks once whom groups are compared with; nowhere else does it wait for an answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import isonomia as iso
from isonomia.cli.app import app
from isonomia.cli.output import asking


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """900 people of the north, of whom 40% are granted, and 600 of the south, of whom 70% are."""
    rng = np.random.default_rng(0)
    origin = np.repeat(["north", "south"], [900, 600])
    granted = (rng.random(1500) < np.where(origin == "north", 0.4, 0.7)).astype(int)
    lines = ["origin,granted", *(f"{one},{other}" for one, other in zip(origin, granted, strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(lines))
    return tmp_path / "people.csv"


def audit(file: Path, *more: str, answer: str | None = None) -> tuple[str, set[str]]:
    """What is printed, and whom groups are compared with."""
    out = file.parent / "report"
    words = ["audit", str(file), "--prediction", "granted", "--protected", "origin", "--positive", "1"]
    done = CliRunner().invoke(app, [*words, "--checks", "group_fairness", "--out", str(out), *more], input=answer)
    assert done.exit_code == 0, done.output
    table = iso.Report.load(out / "report.json")["group_fairness"].tables["comparisons"]
    return done.output, set(table["reference"].values)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "at_a_terminal", lambda: True)


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(("answer", "reference"), [("\n", "south"), ("origin=north\n", "north")])
def test_the_best_off_group_is_proposed_and_asked_for_once(file: Path, answer: str, reference: str) -> None:
    text, used = audit(file, answer=answer)
    assert text.count("Groups are compared with the best-off one: people with origin south (600).") == 1
    assert used == {f"origin={reference}"}


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(
    "more", [["--quiet"], ["--json"], ["--privileged", "origin=north"], ["--set", "reference=largest"]]
)
def test_nobody_is_asked_who_said_it_or_does_not_read(file: Path, more: list[str]) -> None:
    text, used = audit(file, *more, answer="origin=nowhere\n")
    assert "Press Enter" not in text
    assert used == ({"origin=north"} if len(more) > 1 else {"origin=south"})


def test_nobody_is_asked_where_nobody_is(file: Path) -> None:
    text, used = audit(file, answer="origin=north\n")
    assert "Press Enter" not in text
    assert used == {"origin=south"}
