"""Reports of real audits, of the three tasks and in both languages: as long as they may be, with every picture."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, sync_playwright

import isonomia as iso
from isonomia.report import find_chromium, to_pdf
from isonomia.report.page import MOST_BYTES

pytestmark = pytest.mark.browser

TASKS = {"binary": "eeoc", "multiclass": "engineering", "regression": "engineering-regression"}
LANGUAGES = ("en", "pt-BR")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
AXE = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations", "incomplete"],
}


class Scorer:
    """A model that uses a protected attribute."""

    def __init__(self, task: str) -> None:
        self.task = task

    def predict(self, frame: Any) -> Any:
        score = np.asarray(frame["years_of_work"]) / 20 - 1 + 0.6 * (np.asarray(frame["sex"]) == "M")
        if self.task == "regression":
            return score
        edges = [0.0] if self.task == "binary" else [-0.3, 0.5]
        return np.digitize(score, edges)


@pytest.fixture(scope="module")
def reports() -> dict[str, iso.Report]:
    """Standard audits that break a policy, of 1,500 people."""
    rng = np.random.default_rng(0)
    n = 1500
    frame = {
        "sex": rng.choice(["F", "M"], n),
        "ethnic_origin": rng.choice(["Black", "White", "Asian"], n, p=[0.2, 0.7, 0.1]),
        "years_of_work": rng.integers(0, 40, n),
        "hours_per_week": rng.normal(38, 6, n).round(1),
    }
    made = {}
    for task, policy in TASKS.items():
        model = Scorer(task)
        truth = model.predict(frame | {"years_of_work": frame["years_of_work"] + rng.normal(0, 8, n)})
        data = iso.Dataset(
            frame | {"pay_grade": truth},
            target="pay_grade",
            protected=["sex", "ethnic_origin"],
            task=task,  # type: ignore[arg-type]
        )
        made[task] = iso.audit(data, model, policy=policy, n_boot=50)
    return made


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        yield browser
        browser.close()


def pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("task", TASKS)
def test_the_first_page_is_one_sheet(
    reports: dict[str, iso.Report], browser: Browser, task: str, language: str
) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.set_content(reports[task].to_html(language, extent="first_page"))
    assert pages(page.pdf(prefer_css_page_size=True)) == 1
    assert page.locator(".decision").is_visible()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("task", TASKS)
def test_the_short_report_is_short(
    reports: dict[str, iso.Report], browser: Browser, tmp_path: Path, task: str, language: str
) -> None:
    """At most six pages on paper; the whole one, with static pictures, below 2 MB and readable without scripts."""
    page = browser.new_context(java_script_enabled=False).new_page()
    page.set_content(reports[task].to_html(language, extent="short"))
    assert 2 <= pages(page.pdf(prefer_css_page_size=True)) <= 6
    path = tmp_path / "report.html"
    path.write_text(reports[task].to_html(language), encoding="utf-8")
    assert path.stat().st_size < MOST_BYTES <= 2_000_000
    page.goto(path.as_uri())
    page.emulate_media(media="print")
    assert page.locator(".plot > svg.wide:visible").count() == page.locator("figure").count() > 3


def test_paper_holds_the_pictures(reports: dict[str, iso.Report], monkeypatch: pytest.MonkeyPatch) -> None:
    """`chromium --print-to-pdf` draws what the page holds: the annex is longer with pictures than without."""
    monkeypatch.setenv("ISONOMIA_CHROMIUM", find_chromium())
    document = reports["binary"].document
    assert pages(to_pdf(document, "en")) <= 6 < pages(to_pdf(document, "en", extent="whole"))


@pytest.mark.parametrize(
    ("task", "language", "width", "scheme"),
    [
        ("binary", "pt-BR", 1280, "light"),
        ("binary", "pt-BR", 390, "dark"),
        ("regression", "en", 1280, "dark"),
        ("regression", "en", 390, "light"),
    ],
)
def test_everybody_can_read_real_reports(
    reports: dict[str, iso.Report], browser: Browser, tmp_path: Path, task: str, language: str, width: int, scheme: Any
) -> None:
    """With `test_everybody_can_read_it` every language, width and colour scheme."""
    path = tmp_path / "report.html"
    path.write_text(reports[task].to_html(language), encoding="utf-8")
    page = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme).new_page()
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('main details').forEach(box => { box.open = true; })")
    found = Axe().run(page, context={"exclude": [[".plot svg"]]}, options=AXE).response
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
    undecided = [each for each in found["incomplete"] if each["id"] == "color-contrast"]
    assert [node["html"] for each in undecided for node in each["nodes"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_documented_is_not_passed(browser: Browser) -> None:
    """A profile without limits is not ticked, whatever it documents."""
    data = {"sex": ["F", "M"] * 60, "hired": [0, 1] * 60}
    report = iso.audit(data, prediction="hired", protected=["sex"], policy="nyc-ll144", n_boot=20)
    assert report.verdict is not None
    assert report.verdict.outcome == "documents"
    assert report.findings[0].severity == "critical"
    page = browser.new_context().new_page()
    page.set_content(report.to_html(extent="first_page"))
    mark = "getComputedStyle(document.querySelector('.verdict .mark'), '::before').content"
    assert page.evaluate(mark) == '"–"'
