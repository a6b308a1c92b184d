"""Names and values that attack whoever reads the outputs: nothing live in any of them, XML whole, formulas guarded."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from typer.testing import CliRunner

import isonomia as iso
from isonomia.cli.app import app
from isonomia.cli.output.junit import comparison_junit, to_junit
from isonomia.report import csv_of, to_csv
from isonomia.report.page import paper_html

HOSTILE = [
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "@SUM(1+1)",
    "+1+1",
    "\uff1d1+1",
    "\t=1",
    "\n=1",
    "<img src=x onerror=alert(1)>",
    "[a](javascript:alert(1))",
    "]]></failure><!-- & \x00\x0b\ufffe",
    "\x1b[2J\x1b]0;owned\x07",
    "\u202eright\u2066to left",
    "{0.__class__} {x:pct} %s",
    "x" * 5000,
]


@cache
def report(kind: int) -> iso.Report:
    """People in groups of hostile names, in columns of hostile names."""
    rng = np.random.default_rng(kind)
    group, column, other = (HOSTILE[(kind + step) % len(HOSTILE)] for step in (0, 1, 2))
    frame: dict[str, Any] = {
        column: np.array([group, "M"] * 100, dtype=object).tolist(),
        f"feature {other}": rng.normal(size=200),
        "y": rng.integers(0, 2, 200),
        "p": (rng.random(200) < np.where(np.arange(200) % 2, 0.2, 0.7)).astype(int),
    }
    data = iso.Dataset(frame, target="y", protected=[column], prediction="p", name=group)
    return iso.audit(data, checks=["performance", "weak_spots"], policy="nyc-ll144", n_boot=20)


class Tags(HTMLParser):
    """The elements of a page that could do something."""

    def __init__(self) -> None:
        super().__init__()
        self.live: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        led = ("href", "src", "action", "data", "xlink:href")
        names = [name for name, value in attributes if name.startswith("on") or (name in led and ":" in (value or ""))]
        if tag in ("img", "iframe", "object", "embed", "form") or names:
            self.live.append(f"{tag} {names}")
        if tag == "script" and attributes and dict(attributes).get("type") != "application/gzip":
            self.live.append(f"{tag} {attributes}")


def live(page: str) -> list[str]:
    tags = Tags()
    tags.feed(page)
    return [*tags.live, *re.findall(r"<script>alert", page)]


def commands(text: str) -> list[str]:
    """Characters that a terminal or a reader obeys instead of showing."""
    kept = "\n\u200c\u200d\u2060\u2068\u2069"
    return [char for char in text if unicodedata.category(char) in ("Cc", "Cf", "Cs") and char not in kept]


@pytest.mark.parametrize("kind", range(len(HOSTILE)), ids=lambda kind: ascii(HOSTILE[kind])[:24])
@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_nothing_is_live(kind: int, language: str, tmp_path: Path) -> None:
    found = report(kind)
    saved = found.save(tmp_path, language=language)
    for page in (saved["html"].read_text("utf-8"), found.to_html(language, page=False)):
        assert live(page) == []
    assert live(paper_html(found.document, language, "whole")) == []
    text = saved["md"].read_text("utf-8")
    assert not re.search(r"(?<!\\)<(script|img)", text)
    assert not re.search(r"(?<!\\)\]\(javascript", text)
    assert commands(text) == []
    for xml in (to_junit(found.document, language), comparison_junit(iso.compare(found, found), language)):
        assert len(ET.fromstring(xml.encode("utf-8")))
    shown = CliRunner().invoke(app, ["compare", str(saved["json"]), str(saved["json"]), "--lang", language])
    assert commands(shown.output) == []
    for name in ("card.md", "card.html", "card.csv"):
        ended = CliRunner().invoke(app, ["card", str(tmp_path), "--out", str(tmp_path / name), "--lang", language])
        assert ended.exit_code == 0, ended.output
    assert live((tmp_path / "card.html").read_text("utf-8")) == []
    assert not re.search(r"(?<!\\)<(script|img)", (tmp_path / "card.md").read_text("utf-8"))
    assert formulas((tmp_path / "card.csv").read_text("utf-8")) == []


def formulas(text: str) -> list[str]:
    """Cells that a spreadsheet would compute."""
    cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    return [cell for cell in cells if cell[:1] in "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20" and cell and not number(cell)]


def number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("place", ["name", "value"])
def test_half_of_a_surrogate_pair_is_refused_by_name(backend: Any, place: str) -> None:
    columns = {"a \ud800": ["x", "y"]} if place == "name" else {"a": ["x \ud800", "y"]}
    with pytest.raises(iso.DataError, match=r"half of a surrogate pair \('\\ud800'\)"):
        iso.data.to_frame(columns, backend)


def test_cells_and_headers_of_csv_are_guarded() -> None:
    rows = [{name: name for name in HOSTILE}, dict.fromkeys(HOSTILE, -1.5)]
    text = csv_of(rows, HOSTILE)
    assert formulas(text) == []
    assert "'=cmd" in text.splitlines()[0]
    assert "-1.5" in text
    for kind in range(len(HOSTILE)):
        for section in report(kind):
            for table in () if section.result is None else section.result.tables.values():
                assert formulas(to_csv(table)) == []
