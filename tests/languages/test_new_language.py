"""A language is a folder: adding one adds it everywhere, with no change in the code."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import isonomia as iso
from isonomia.errors import SpecError
from isonomia.languages import languages, locales, msg
from isonomia.languages.message import write_interval, write_number
from isonomia.report.texts import moment

ESPERANTO = """
code = "eo"
name = "Esperanto"
decimal = ","
thousands = "\\u00a0"
separator = " ĝis "
months = [
  "januaro", "februaro", "marto", "aprilo", "majo", "junio",
  "julio", "aŭgusto", "septembro", "oktobro", "novembro", "decembro",
]
day = "{day} de {month} {year}"
"""
CATALOG = """
msgid ""
msgstr ""
"Language: eo\\n"
"Content-Type: text/plain; charset=utf-8\\n"

msgid "Balance sheet"
msgstr "Bilanco"

msgid "not available"
msgstr "ne havebla"
"""


@pytest.fixture
def esperanto(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    shutil.copytree(str(locales.folder()), tmp_path, dirs_exist_ok=True)
    folder = tmp_path / "eo"
    folder.mkdir()
    (folder / "locale.toml").write_text(ESPERANTO, encoding="utf-8")
    (folder / "audit.po").write_text(CATALOG, encoding="utf-8")
    monkeypatch.setattr(locales, "folder", lambda: tmp_path)
    locales._locales.cache_clear()
    yield
    locales._locales.cache_clear()
    locales.catalog.cache_clear()


@pytest.mark.usefixtures("esperanto")
def test_messages_numbers_and_dates() -> None:
    assert languages() == ("en", "eo", "pt-BR")
    assert msg("Balance sheet").text("eo") == "Bilanco"
    assert msg("no such sentence").text("EO") == "no such sentence"
    assert write_number(1234.5678, "num4", "eo") == "1\u00a0234,6"
    assert write_number(None, "num", "eo") == "ne havebla"
    assert write_interval(0.25, 0.5, "pct", "eo") == "[25,0% ĝis 50,0%]"
    assert "novembro" in moment("2026-11-15T12:00:00+00:00", "eo").lower()


@pytest.mark.usefixtures("esperanto")
def test_a_whole_report() -> None:
    rng = np.random.default_rng(0)
    data = {"sex": rng.choice(["F", "M"], 200), "hired": rng.integers(0, 2, 200), "said": rng.integers(0, 2, 200)}
    subject = iso.Dataset(data, target="hired", protected=["sex"], prediction="said")
    report = iso.audit(subject, checks=["group_fairness"], language="eo", seed=0)
    page = report.to_html()
    assert '<html lang="eo"' in page
    assert "Bilanco" in page
    assert "Bilanco" in report.to_markdown()


def test_without_its_folder_it_is_unknown() -> None:
    with pytest.raises(SpecError, match=r"Unknown language 'eo'\. Available: 'en', 'pt-BR'\."):
        msg("Balance sheet").text("eo")
