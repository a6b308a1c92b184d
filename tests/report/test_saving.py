"""Files on disk and lines in a terminal."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from isonomia.errors import IsonomiaError, MissingExtraError, SpecError
from isonomia.report import Document, dumps, save, summary, to_html, to_markdown, to_pdf


def test_three_files_are_written(document: Document, tmp_path: Path) -> None:
    paths = save(document, tmp_path / "out" / "deep", language="pt-BR")
    assert sorted(path.name for path in (tmp_path / "out" / "deep").iterdir()) == [
        "report.html",
        "report.json",
        "report.md",
    ]
    assert paths["html"].read_text(encoding="utf-8") == to_html(document, "pt-BR")
    assert paths["json"].read_text(encoding="utf-8") == dumps(document)
    assert paths["md"].read_text(encoding="utf-8") == to_markdown(document, "pt-BR")


def test_the_first_page_is_a_file_of_its_own(document: Document, tmp_path: Path) -> None:
    paths = save(document, tmp_path, formats=["summary"], language="pt-BR")
    assert paths["summary"].name == "summary.html"
    page = paths["summary"].read_text(encoding="utf-8")
    assert page == to_html(document, "pt-BR", extent="first_page")
    assert "<script" not in page
    assert len(page) < 50_000
    with pytest.raises(SpecError, match="Only a report has a first page; got Section"):
        to_html(document.sections[0], extent="first_page")


def test_a_file_holds_one_form_of_its_suffix(document: Document, tmp_path: Path) -> None:
    mail = tmp_path / "mail.html"
    assert save(document, mail, formats=["summary"]) == {"summary": mail}
    assert mail.read_text(encoding="utf-8") == to_html(document, extent="first_page")
    for path, formats in (("mail.html", ["json"]), ("mail.html", ["html", "summary"]), ("mail.json", ["summary"])):
        with pytest.raises(SpecError, match="One file holds one form"):
            save(document, tmp_path / path, formats=formats)  # type: ignore[arg-type]
    assert [file.name for file in tmp_path.iterdir()] == ["mail.html"]


def test_a_pdf_needs_a_browser(document: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISONOMIA_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        MissingExtraError, match=r"none of chromium, chromium-browser, google-chrome is on the path\. Install"
    ):
        save(document, tmp_path, formats=["pdf"])
    monkeypatch.setenv("ISONOMIA_CHROMIUM", str(tmp_path / "none"))
    with pytest.raises(MissingExtraError, match="ISONOMIA_CHROMIUM names"):
        save(document, tmp_path, formats=["pdf"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("script", "message"),
    [("sleep 5", "did not print the report within 0.2 seconds"), ("echo broken >&2; exit 3", r"code 3 .* \(broken\)")],
)
def test_a_browser_that_does_not_print(
    script: str, message: str, document: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = tmp_path / "browser"
    browser.write_text(f"#!/bin/sh\n{script}\n")
    browser.chmod(0o755)
    monkeypatch.setenv("ISONOMIA_CHROMIUM", str(browser))
    with pytest.raises(IsonomiaError, match=message):
        to_pdf(document, seconds=0.2 if "sleep" in script else 10)


def test_only_what_is_asked_for_is_written_over_what_was_there(document: Document, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text("old")
    save(document, tmp_path, formats=["json"])
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]
    assert json.loads((tmp_path / "report.json").read_text())["schema_version"] == "1.0"


def test_hostile_names_can_be_written(hostile: Document, tmp_path: Path) -> None:
    save(Document("half a pair \ud800", {"x": "\udfff"}), tmp_path / "half")
    for path in save(hostile, tmp_path).values():
        path.read_text(encoding="utf-8")


def test_nothing_is_left_behind_when_writing_fails(
    document: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, target: Path) -> None:
        raise OSError("no space")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="no space"):
        save(document, tmp_path, formats=["json"])
    assert list(tmp_path.iterdir()) == []


def test_wrong_wishes_are_refused(document: Document, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="got 'docx'"):
        save(document, tmp_path, formats=["docx"])  # type: ignore[list-item]
    (tmp_path / "file").write_text("")
    with pytest.raises(SpecError, match="is a file"):
        save(document, tmp_path / "file", formats=["json"])
    with pytest.raises(SpecError, match="Unknown language"):
        save(document, tmp_path, language="tlh")


@pytest.mark.parametrize("width", [40, 80, 140])
def test_the_summary_reads_without_colour(document: Document, width: int) -> None:
    stream = io.StringIO()
    Console(file=stream, width=width, no_color=True).print(summary(document, "pt-BR", findings=1))
    text = stream.getvalue()
    assert "\x1b" not in text
    said = " ".join(text.split())
    assert "Ultrapassa os limites da política" in said
    assert "crítico" in said
    assert "... e mais 13 achados" in said


def test_the_summary_takes_names_as_texts(hostile: Document) -> None:
    """Neither rich's own markup nor the terminal's control characters come through."""
    stream = io.StringIO()
    Console(file=stream, width=200, force_terminal=False).print(summary(hostile, findings=99))
    assert "\x1b" not in stream.getvalue()
    assert "<script>alert(1)</script>" in stream.getvalue()
