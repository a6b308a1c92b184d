"""A release is prepared of what is committed, with links that hold anywhere, and its part of the changelog."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from release.package import absolute_links, with_addresses
from release.texts import notes_of, undated, version_of

from isonomia import __version__

ROOT = Path(__file__).parents[1]
CHANGELOG = "# Changelog\n\n## [0.2.0] - 2027-01-01\n\nNew.\n\n### More\n- This.\n\n## [0.1.0]\n\nFirst.\n"


def test_the_changelog_has_a_part_for_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert version_of((ROOT / "src/isonomia/_version.py").read_text(encoding="utf-8")) == __version__
    assert len(notes_of(text, __version__)) > 500


def test_a_page_for_a_version() -> None:
    """An entry is a line that a user reads; the page is one screen or two."""
    notes = notes_of((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), __version__)
    entries = re.findall(r"^- (.*)", notes, re.MULTILINE)
    assert 10 < len(entries) < 40
    assert max(len(entry.split()) for entry in entries) <= 25


def test_notes_are_the_part_of_one_version() -> None:
    assert notes_of(CHANGELOG, "0.2.0") == "New.\n\n### More\n- This.\n"
    assert notes_of(CHANGELOG, "0.1.0") == "First.\n"
    assert notes_of(CHANGELOG, "0.3.0") == ""
    assert not undated(CHANGELOG, "0.2.0")
    assert undated(CHANGELOG, "0.1.0")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[a](docs/x.md)", "[a](https://h/i/blob/v1/docs/x.md)"),
        ("[a](docs/x.md#part)", "[a](https://h/i/blob/v1/docs/x.md#part)"),
        ("[a](#part) [b](https://else.where/x)", "[a](#part) [b](https://else.where/x)"),
        ("f(docs/x.md)", "f(docs/x.md)"),
    ],
)
def test_links_hold_away_from_the_repository(text: str, wanted: str) -> None:
    assert absolute_links(text, "https://h/i/", "1") == wanted


def test_a_copy_of_the_source_has_its_addresses(tmp_path: Path) -> None:
    for name in ("README.md", "pyproject.toml"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    with_addresses(tmp_path, "https://host.example/isonomia", "0.1.0")
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(project["urls"]) == {"Homepage", "Documentation", "Changelog", "Source", "Issues"}
    assert project["authors"]
    assert project["keywords"]
    linked = re.findall(r"\]\(([^)]+)\)", (tmp_path / "README.md").read_text(encoding="utf-8"))
    assert linked
    assert all(address.startswith(("https://", "#")) for address in linked)
    for address in linked:
        local = address.partition("#")[0].removeprefix("https://host.example/isonomia/blob/v0.1.0/")
        assert address.startswith("#") or (ROOT / local).exists()
