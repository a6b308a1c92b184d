"""Results in JupyterLab, whose style for outputs reaches every table: no figure stands on another one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, sync_playwright

import isonomia as iso
from isonomia.report import find_chromium

pytestmark = pytest.mark.browser

#: JupyterLab's own rules for tables, texts and lists of an output: packages/rendermime/style/base.css.
JUPYTERLAB = """
:root { --jp-ui-font-size1: 13px; --jp-content-font-size1: 14px; --jp-content-line-height: 1.6;
  --jp-content-font-color1: rgba(0,0,0,.87); --jp-ui-font-color1: rgba(0,0,0,.87);
  --jp-layout-color0: white; --jp-rendermime-table-row-background: #f5f5f5; --jp-border-color1: #bdbdbd; }
.jp-RenderedHTMLCommon { color: var(--jp-content-font-color1); font-family: system-ui, sans-serif;
  font-size: var(--jp-content-font-size1); line-height: var(--jp-content-line-height); padding-right: 20px; }
.jp-RenderedHTMLCommon ul:not(.list-inline), .jp-RenderedHTMLCommon ol:not(.list-inline) { padding-left: 2em; }
.jp-RenderedHTMLCommon table { border-collapse: collapse; border-spacing: 0; border: none;
  color: var(--jp-ui-font-color1); font-size: var(--jp-ui-font-size1); table-layout: fixed;
  margin-left: auto; margin-bottom: 1em; margin-right: auto; }
.jp-RenderedHTMLCommon thead { border-bottom: 1px solid var(--jp-border-color1); vertical-align: bottom; }
.jp-RenderedHTMLCommon td, .jp-RenderedHTMLCommon th, .jp-RenderedHTMLCommon tr { vertical-align: middle;
  padding: 0.5em; line-height: normal; white-space: normal; max-width: none; border: none; }
:not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon td, :not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon th,
:not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon tr { text-align: right; }
.jp-RenderedHTMLCommon th { font-weight: bold; }
.jp-RenderedHTMLCommon tbody tr:nth-child(odd) { background: var(--jp-layout-color0); }
.jp-RenderedHTMLCommon tbody tr:nth-child(even) { background: var(--jp-rendermime-table-row-background); }
.jp-RenderedHTMLCommon p { text-align: left; margin: 0; margin-bottom: 1em; }
"""
#: A host page that gives terms a column of their own, as pages made by Sphinx and Bootstrap do.
TERMS = ".jp-RenderedHTMLCommon dt { float: left; width: 4rem; text-align: right; clear: left; }"

PAGE = """<!doctype html><meta charset="utf-8"><style>{rules}</style>
<body style="margin:0"><div class="jp-OutputArea-output jp-RenderedHTMLCommon jp-RenderedHTML" style="width:{width}px">
{part}</div>"""

#: Texts of cells and headings that reach over the edge of their own cell; and cells that overlap the next one.
SPILLED = """() => [...document.querySelectorAll('th, td')].filter(cell => cell.offsetParent).flatMap(cell => {
  const box = cell.getBoundingClientRect(), range = document.createRange();
  range.selectNodeContents(cell);
  return [...range.getClientRects()].some(r => r.width && (r.left < box.left - 1 || r.right > box.right + 1))
    || cell.scrollWidth > cell.clientWidth + 1 ? [cell.textContent] : [];
})"""
BROKEN_WORDS = """() => [...document.querySelectorAll('dt, th')].filter(one => one.offsetParent).flatMap(one => {
  const texts = document.createTreeWalker(one, NodeFilter.SHOW_TEXT), broken = [];
  for (let text = texts.nextNode(); text; text = texts.nextNode())
    for (const word of text.data.matchAll(/[\\p{L}]+/gu)) {
      const range = document.createRange();
      range.setStart(text, word.index); range.setEnd(text, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map(r => Math.round(r.top))).size > 1) broken.push(word[0]);
    }
  return broken;
})"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def rates() -> Any:
    rng = np.random.default_rng(7)
    people = {"sex": rng.choice(["woman", "man"], 1000), "region": rng.choice(["north", "south", "east"], 1000)}
    invited = rng.random(1000) < 0.4
    return iso.fairness.group_metrics(invited, invited ^ (rng.random(1000) < 0.2), sensitive_features=people)


@pytest.mark.parametrize("width", [700, 1000])
def test_no_figure_of_a_table_stands_on_another_one(browser: Browser, rates: Any, width: int) -> None:
    page = browser.new_page(viewport={"width": width + 40, "height": 900})
    page.set_content(PAGE.format(rules=JUPYTERLAB, width=width, part=rates._repr_html_()))
    page.evaluate("document.querySelectorAll('details').forEach(box => { box.open = true; })")
    assert page.locator("td.n:visible").count() > 50
    assert page.evaluate(SPILLED) == []
    assert page.evaluate(BROKEN_WORDS) == []
    aligned = page.evaluate(
        "[...document.querySelectorAll('tbody td:not(.n)')].map(c => getComputedStyle(c).textAlign)"
    )
    assert set(aligned) == {"left"}
    assert page.evaluate("getComputedStyle(document.querySelector('td.n')).textAlign") == "right"
    page.close()


def test_terms_are_written_whole(browser: Browser, rates: Any) -> None:
    """A list of terms keeps its own width where the page around it gives terms a narrow column."""
    data = iso.Dataset(
        {"sex": ["F", "M"] * 50, "y": [0, 1] * 50, "p": [0, 1] * 50}, target="y", protected=["sex"], prediction="p"
    )
    report = iso.audit(data, checks="performance")
    page = browser.new_page(viewport={"width": 900, "height": 900})
    page.set_content(PAGE.format(rules=JUPYTERLAB + TERMS, width=860, part=report._repr_html_()))
    page.evaluate("document.querySelectorAll('details').forEach(box => { box.open = true; })")
    assert "Favourable outcome" in page.locator("dt:visible").all_text_contents()
    assert page.evaluate(BROKEN_WORDS) == []
    assert page.evaluate(SPILLED) == []
    page.close()
