"""What a reader concludes from the first page in every situation: at every door, in both languages."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.conclusions import fair, odd, unfair  # noqa: F401  (they declare their situations)
from tests.conclusions.situation import LANGUAGES, SITUATIONS, Asked, FirstPage, Situation, groups_of, reads
from typer.testing import CliRunner

import isonomia as iso
from isonomia.cli.app import app

each = pytest.mark.parametrize("one", SITUATIONS, ids=lambda one: one.name)
by_command = pytest.mark.parametrize(
    "one", [one for one in SITUATIONS if "command line" in one.doors], ids=lambda one: one.name
)


def concludes(one: Situation, report: iso.Report, language: str) -> None:
    """The first page of a report is what follows from the truth."""
    page = FirstPage.of(report, language)
    groups = groups_of(report.document)
    told = f"{one.truth}\n\n{page.text}"
    if one.nobody:
        named = [group for group in groups if re.search(rf"\b{re.escape(group)}\b", page.matters)]
        assert not named, f"names {named}: {told}"
    if one.first:
        first = re.search(reads(one.first, language), page.leading)
        assert first, f"leads with: {page.leading!r}\n{told}"
        before = [group for group in groups if group in page.leading[: first.start()]]
        assert not before, f"leads with {before}: {page.leading!r}\n{told}"
        assert re.search(reads(one.about, language), page.leading), f"leads with: {page.leading!r}\n{told}"
    for pattern in one.says:
        assert re.search(reads(pattern, language), page.text), f"does not say {pattern}: {told}"
    for pattern in one.never:
        assert not re.search(reads(pattern, language), page.text), f"says {pattern}: {told}"


@each
@pytest.mark.parametrize("language", LANGUAGES)
def test_python(one: Situation, language: str) -> None:
    report = one.report()
    verdict = report.document.verdict
    assert (None if verdict is None else verdict.outcome) == one.outcome, FirstPage.of(report, "en").text
    assert report.exit_code == one.exit_code
    concludes(one, report, language)


@each
def test_stored(one: Situation, tmp_path: Path) -> None:
    one.report().save(tmp_path, formats=["json"])
    again = iso.Report.load(tmp_path / "report.json")
    assert again.exit_code == one.exit_code
    for language in LANGUAGES:
        assert FirstPage.of(again, language) == FirstPage.of(one.report(), language)


@by_command
def test_command_line(one: Situation, tmp_path: Path) -> None:
    asked = one.make()
    done = CliRunner().invoke(app, command(asked, tmp_path), env={"COLUMNS": "400"})
    assert done.exit_code == one.exit_code, done.output
    text = " ".join(done.output.split())
    verdict = one.report().document.verdict
    if verdict is not None:
        assert verdict.reason.text() in text
    if one.first:
        assert re.search(reads(one.first, "en"), text), text


def command(asked: Asked, folder: Path) -> list[str]:
    """The words of the command that asks the same."""
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(asked.rows)
        writer.writerows(zip(*asked.rows.values(), strict=True))
    words = ["audit", str(folder / "people.csv")]
    for option, value in {**asked.roles, **asked.options}.items():
        if option == "policy" and isinstance(value, dict):
            (folder / "policy.json").write_text(json.dumps(value), encoding="utf-8")
            value = folder / "policy.json"
        words += [f"--{option}", option_word(value)]
    return words


def option_word(value: Any) -> str:
    """A value as the command line has it: names, a privileged value, numbers in bands."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    if isinstance(value, dict):
        return ",".join(
            f"{key}:{option_word(one)}" if isinstance(one, list) else f"{key}={one}" for key, one in value.items()
        )
    return str(value)
