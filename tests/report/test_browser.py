"""The page in a real browser: no error, every picture drawn, nothing of the data runs, no sideways scrolling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

import isonomia as iso
from isonomia.evidence import Column, Result, Table
from isonomia.languages import msg
from isonomia.report import Document, Section, find_chromium, save, to_pdf

pytestmark = pytest.mark.browser

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SIZES: dict[str, ViewportSize] = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}


@dataclass
class Opened:
    """A page that was opened, and everything it complained about or tried."""

    page: Page
    trouble: list[str] = field(default_factory=list)

    def run(self, script: str) -> Any:
        return self.page.evaluate(script)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    wanted = find_chromium()  # `make test` installs it
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=wanted, args=list(FLAGS))
        yield browser
        browser.close()


class Desk:
    """Pages that are opened once and looked at by several tests, in any order."""

    def __init__(self, browser: Browser, paths: dict[str, Path]) -> None:
        self.browser, self.paths = browser, paths
        self.opened: dict[tuple[str, str, str], Opened] = {}

    def show(self, which: str, size: Literal["desktop", "phone"], scheme: str = "light") -> Opened:
        key = (which, size, scheme)
        if key not in self.opened:
            self.opened[key] = self._open(self.paths[which], SIZES[size], scheme)
        return self.opened[key]

    def _open(self, path: Path, size: ViewportSize, scheme: Any) -> Opened:
        opened = Opened(self.browser.new_context(viewport=size, color_scheme=scheme).new_page())
        opened.page.on("console", lambda said: opened.trouble.append(f"{said.type}: {said.text}"))
        opened.page.on("pageerror", lambda error: opened.trouble.append(f"error: {error}"))
        opened.page.on("request", lambda ask: opened.trouble.append(ask.url) if ask.url != path.as_uri() else None)

        def refuse(dialog: Any) -> None:
            opened.trouble.append(f"dialog: {dialog.message}")
            dialog.dismiss()

        opened.page.on("dialog", refuse)
        opened.page.goto(path.as_uri())
        return opened


@pytest.fixture(scope="module")
def desk(
    browser: Browser,
    document: Document,
    hostile: Document,
    people: Document,
    hostile_people: Document,
    tmp_path_factory: pytest.TempPathFactory,
) -> Desk:
    folder = tmp_path_factory.mktemp("reports")
    return Desk(
        browser,
        {
            "en": save(document, folder / "en", formats=["html"])["html"],
            "pt-BR": save(document, folder / "pt", formats=["html"], language="pt-BR")["html"],
            "hostile": save(hostile, folder / "hostile", formats=["html"])["html"],
            "pairs": save(people, folder / "pairs", formats=["html"])["html"],
            "pares": save(people, folder / "pares", formats=["html"], language="pt-BR")["html"],
            "hostile pairs": save(hostile_people, folder / "hostile_pairs", formats=["html"])["html"],
        },
    )


OPEN_ALL = "document.querySelectorAll('main details').forEach(box => { box.open = true; })"


@pytest.mark.parametrize(
    ("which", "size"), [("en", "desktop"), ("pt-BR", "phone"), ("hostile", "desktop"), ("hostile", "phone")]
)
def test_the_page_opens_whole(desk: Desk, which: str, size: Literal["desktop", "phone"]) -> None:
    opened = desk.show(which, size)
    opened.run(OPEN_ALL)
    shown = {"desktop": "wide", "phone": "narrow"}[size]
    assert opened.page.locator(f".plot > svg.{shown}:visible").count() == 9
    assert opened.page.locator(".plot > svg:visible").count() == 9
    assert opened.run("document.documentElement.scrollWidth") <= SIZES[size]["width"]
    # a drawing is not wider than its place
    assert opened.run("[...document.querySelectorAll('.plot')].every(p => p.scrollWidth <= p.clientWidth)")
    assert opened.trouble == []


def test_names_from_data_are_drawn_as_texts(desk: Desk) -> None:
    opened = desk.show("hostile", "desktop")
    assert opened.run("document.querySelectorAll('.plot a, main script, main img, main iframe').length") == 0
    labels = opened.run("[...document.querySelectorAll('.plot text')].map(text => text.textContent)")
    assert "<script>alert(1)</script>" in labels
    assert any(text.startswith("<b>bold</b> <") for text in labels)
    assert opened.trouble == []


def test_a_picture_is_explored(desk: Desk) -> None:
    """Plotly takes the place of the drawing that was asked for, tells what is pointed at, and goes away again."""
    opened = desk.show("hostile", "desktop")
    page = opened.page
    opened.run(OPEN_ALL)
    page.locator(".explore").first.click()
    figure = page.locator("figure.explored")
    figure.locator(".js-plotly-plot .point").first.wait_for(state="attached")
    assert figure.locator("svg.wide").is_hidden()
    assert page.locator(".js-plotly-plot").count() == 1
    figure.locator(".live .point").first.scroll_into_view_if_needed()
    figure.locator(".live .point").first.hover(force=True)
    page.wait_for_selector(".live .hovertext")
    assert "<script>alert(1)</script>" in (page.locator(".live .hovertext").first.text_content() or "")
    assert opened.run("document.querySelectorAll('.live a, .live script').length") == 0
    page.emulate_media(media="print")
    assert figure.locator("svg.wide").is_visible()
    assert figure.locator(".live").is_hidden()
    page.emulate_media(media="screen")
    page.locator(".explore").first.click()
    assert page.locator("figure.explored").count() == 0
    assert opened.trouble == []


AXE = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations", "incomplete"],
}
#: axe takes every drawing for an image and decides nothing about texts in it; `test_texts_stand_out` has their ink.
EXAMINED = {"exclude": [[".plot svg"]]}


@pytest.mark.parametrize(
    ("which", "size", "scheme"),
    [("en", "desktop", "light"), ("en", "phone", "dark"), ("pt-BR", "phone", "light"), ("pt-BR", "desktop", "dark")],
)
def test_everybody_can_read_it(desk: Desk, which: str, size: Literal["desktop", "phone"], scheme: str) -> None:
    """axe-core finds nothing to change, and no contrast that it cannot decide about."""
    opened = desk.show(which, size, scheme)
    opened.run(OPEN_ALL)
    found = Axe().run(opened.page, context=EXAMINED, options=AXE).response
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
    undecided = [each for each in found["incomplete"] if each["id"] == "color-contrast"]
    assert [node["html"] for each in undecided for node in each["nodes"]] == []
    assert len(found["passes"]) > 15


def test_rows_are_cards_on_a_phone(desk: Desk) -> None:
    """The name first, then figures under their headings; nothing scrolls sideways and no word is torn apart."""
    opened = desk.show("pt-BR", "phone")
    opened.run(OPEN_ALL)
    row = opened.page.locator("#table-group_fairness-by_group tbody tr").first
    cells = row.locator("td")
    tops = [cells.nth(index).bounding_box() for index in range(cells.count())]
    assert all(box is None or box["x"] + box["width"] <= 390 for box in tops)
    ordered = sorted((box["y"], index) for index, box in enumerate(tops) if box is not None)
    assert ordered[0][1] == 0
    labels = "c => getComputedStyle(c, '::before').content"
    assert cells.nth(2).evaluate(labels) == '"Taxa de seleção"' or "Selection rate" in cells.nth(2).evaluate(labels)
    assert opened.run("[...document.querySelectorAll('.scroll')].every(box => box.scrollWidth <= box.clientWidth)")


def test_tables_are_sorted_by_a_click(desk: Desk) -> None:
    opened = desk.show("en", "desktop")
    opened.run(OPEN_ALL)
    table = opened.page.locator("#table-group_fairness-by_group table")
    first = "[...document.querySelectorAll('#table-group_fairness-by_group tbody tr')].map(r => r.cells[0].innerText)"
    button = table.locator("th button").nth(2)
    button.click()
    assert opened.run(first) == ["Female", "Other", "Male", "not stated"]
    button.click()
    assert opened.run(first) == ["Male", "Other", "Female", "not stated"]  # what has no value stays last
    assert table.locator("th").nth(2).get_attribute("aria-sort") == "descending"


def test_evidence_is_a_click_away(desk: Desk) -> None:
    opened = desk.show("en", "desktop")
    opened.run(OPEN_ALL)
    opened.run("document.querySelector('#table-group_fairness-by_group').open = false")
    opened.page.locator(".evidence a").first.click()
    # a function to wait for would be evaluated in the page, which its policy refuses where it has to wait
    opened.page.locator("#table-group_fairness-by_group[open]").wait_for(state="attached")


def test_contents_are_closed_in_the_file_and_open_beside_the_text(desk: Desk, browser: Browser) -> None:
    page = browser.new_context(java_script_enabled=False, viewport=SIZES["phone"]).new_page()
    page.goto(desk.paths["en"].as_uri())
    assert page.locator("nav details").get_attribute("open") is None
    verdict = page.locator(".verdict").bounding_box()
    assert verdict is not None
    assert verdict["y"] < SIZES["phone"]["height"] / 2
    assert desk.show("en", "desktop").page.locator("nav details[open]").count() == 1
    assert desk.show("en", "phone").page.locator("nav details[open]").count() == 0


def test_a_picture_says_what_it_shows(desk: Desk) -> None:
    labels = desk.show("en", "desktop").run(
        "[...document.querySelectorAll('main .plot')].map(p => p.getAttribute('aria-label'))"
    )
    assert len(labels) == 9
    assert all(re.search(r"\d", label.removesuffix("The table below has the same figures.")) for label in labels)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_take_the_colours_of_the_page(desk: Desk, scheme: str) -> None:
    opened = desk.show("en", "desktop", scheme)
    ink = opened.run("getComputedStyle(document.querySelector('.plot svg.wide text')).fill")
    assert ink == {"light": "rgb(31, 41, 51)", "dark": "rgb(230, 234, 239)"}[scheme]


def test_sections_open_by_keyboard_and_links(desk: Desk, browser: Browser) -> None:
    opened = Desk(browser, desk.paths).show("en", "desktop")
    page = opened.page
    box = page.locator(".check:has(#check-weak_spots) > details")
    assert box.get_attribute("open") is None
    box.locator("> summary").focus()
    page.keyboard.press("Enter")
    assert page.locator(".check:has(#check-weak_spots) svg.wide:visible").count() == 5
    page.locator(".states a[href='#check-calibration']").click()
    page.locator(".check:has(#check-calibration) > details[open]").wait_for()
    page.locator(".matters a[href='#finding-1']").click()
    assert page.locator("#finding-1").is_visible()
    assert opened.trouble == []


def test_without_scripts_everything_is_there(desk: Desk, browser: Browser) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(desk.paths["en"].as_uri())
    assert page.locator(".verdict").is_visible()
    assert page.locator(".explore:visible").count() == 0
    table = page.locator("#table-weak_spots-figures")
    assert not table.is_visible()
    page.emulate_media(media="print")
    assert table.is_visible()
    assert page.locator(".plot > svg.wide:visible").count() == 9


def test_it_prints(desk: Desk) -> None:
    opened = desk.show("en", "desktop", "dark")
    closed = opened.run("document.querySelectorAll('main details:not([open])').length")
    assert opened.page.pdf(format="A4").startswith(b"%PDF")
    assert opened.run("document.querySelectorAll('main details:not([open])').length") == closed
    assert opened.trouble == []


def pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_a_board_reads_one_sheet(browser: Browser, document: Document, tmp_path: Path, language: str) -> None:
    path = save(document, tmp_path, formats=["summary"], language=language)["summary"]
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(path.as_uri())
    assert pages(page.pdf(prefer_css_page_size=True)) == 1
    assert page.locator(".decision").is_visible()


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_a_full_first_page_is_one_sheet_with_its_picture(browser: Browser, tmp_path: Path, language: str) -> None:
    """Nine groups with long names and three matters on people whose outcome was favourable: long sentences."""
    rng = np.random.default_rng(0)
    n = 6000
    names = ["northern district", *(f"river district {k}" for k in range(8))]
    where, sex = rng.choice(names, n), rng.choice(["women", "men"], n)
    p = 0.75 - 0.07 * np.searchsorted(sorted(names), where) - 0.2 * (sex == "women")
    granted = (rng.random(n) < p).astype(int)
    frame = {"district": where, "sex": sex, "granted": granted, "repaid": rng.integers(0, 2, n)}
    roles = {"target": "repaid", "prediction": "granted", "protected": ["district", "sex"]}
    report = iso.audit(frame, policy="us-lending", checks="quick", n_boot=50, **roles)
    path = report.save(tmp_path, formats=["summary"], language=language)["summary"]
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(path.as_uri())
    assert page.locator(".limits svg.wide .point").count() == 6
    assert page.locator(".matters li").count() == 3
    assert page.locator(".criteria li").count() == 2
    assert pages(page.pdf(prefer_css_page_size=True)) == 1
    assert path.stat().st_size < 100_000


def test_the_report_as_a_pdf(document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    """Printed by the browser itself, as a bank's converter would: a few pages, and the annex on request."""
    monkeypatch.setenv("ISONOMIA_CHROMIUM", find_chromium())
    short, whole = to_pdf(document, "pt-BR"), to_pdf(document, "pt-BR", extent="whole")
    assert short.startswith(b"%PDF")
    assert 2 <= pages(short) <= 6
    assert pages(short) < 4 <= pages(whole) <= 20


def test_no_table_is_wider_than_the_paper(browser: Browser, tmp_path: Path) -> None:
    """Paper does not scroll: what stands beyond its edge is lost; and no number is torn apart to make it fit."""
    n = 18
    measures = [Column(f"measure {k}", [0.123456] * 4, [0.1] * 4, [0.1] * 4, format="pct") for k in range(n)]
    wide = Table((Column("group", [f"sex=female, ethnicity=group {index}" for index in range(4)]), *measures))
    narrow = Table.of({"metric": ["Selection rate of everybody"], "value": [0.00001]}, [Column("value", format="p")])
    result = Result("wide", msg("Wide"), {"wide": wide, "narrow": narrow})
    section = Section("wide", msg("Wide"), msg("How wide?"), "passed", result)
    path = save(Document("Audit", {"rows": 4}, (section,)), tmp_path, formats=("html",))["html"]
    page = browser.new_context(viewport={"width": 718, "height": 1040}).new_page()  # A4 within its margins
    page.goto(path.as_uri())
    page.emulate_media(media="print")
    right = "[...document.querySelectorAll('main table')].map(t => t.getBoundingClientRect().right)"
    assert max(page.evaluate(right)) <= 719
    torn = """cells => cells.flatMap(cell => [...cell.childNodes].filter(node => node.nodeType === 3).map(node => {
        const range = document.createRange(); range.selectNodeContents(node);
        return range.getClientRects().length;
    })).filter(lines => lines > 1).length"""
    assert page.locator("#table-wide-wide td.n").evaluate_all(torn) == 0, "a number is broken inside"
    cell = page.locator("#table-wide-narrow td.n").first
    assert cell.inner_text() == "<\u00a00.0001"


PERSON = "[...document.querySelectorAll('.browser tbody tr')].map(r => [...r.cells].map(c => c.innerText.trim()))"
DIFFERS = "[...document.querySelectorAll('.browser tr.differs mark')].map(m => m.textContent)"


def test_pairs_are_shown_side_by_side(desk: Desk) -> None:
    opened = desk.show("pairs", "desktop")
    opened.run(OPEN_ALL)
    page = opened.page
    page.locator(".browser select").select_option("")
    assert page.locator(".browser .place").inner_text() == "1 of 5"
    assert [row[1:] for row in opened.run(PERSON)][1:5] == [
        ["40", "40"],
        ["Female", "Male"],
        ["Young", "Young"],
        ["no", "yes"],
    ]
    assert opened.run(DIFFERS) == ["Female", "Male", "no", "yes"]
    assert page.locator(".browser .back").is_disabled()
    page.locator(".browser .on").click()
    page.locator(".browser .on").click()
    assert page.locator(".browser .place").inner_text() == "3 of 5"
    assert opened.run(DIFFERS) == ["Other", "Female", "no", "yes"]
    page.keyboard.press("ArrowRight")  # the focus is on the button
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.locator(".browser .place").inner_text() == "5 of 5"
    assert page.locator(".browser .on").is_disabled()
    page.locator(".browser .back").click()
    assert page.locator(".browser .place").inner_text() == "4 of 5"
    assert opened.trouble == []


def test_pairs_are_chosen_by_a_value(desk: Desk) -> None:
    opened = desk.show("pairs", "desktop")
    opened.run(OPEN_ALL)
    page = opened.page
    page.locator(".browser select").select_option(label="Other")
    assert page.locator(".browser .place").inner_text() == "1 of 2"
    assert opened.run(DIFFERS) == ["Other", "Female", "no", "yes"]
    page.locator(".browser .on").click()
    assert opened.run(DIFFERS) == ["Male", "Other", "yes", "no"]
    page.locator(".browser select").select_option("")
    assert page.locator(".browser .place").inner_text() == "1 of 5"


def test_pairs_with_hostile_values_are_texts(desk: Desk) -> None:
    opened = desk.show("hostile pairs", "phone")
    opened.run(OPEN_ALL)
    page = opened.page
    for _ in range(4):
        page.locator(".browser .on").click()
    page.locator(".browser select").select_option(label="<script>alert(1)</script>")
    assert opened.run(DIFFERS)[0] == "<script>alert(1)</script>"
    assert opened.run("document.querySelectorAll('main script, main img, main a[href^=java], main i').length") == 0
    assert opened.run("document.documentElement.scrollWidth") <= SIZES["phone"]["width"]
    assert opened.trouble == []


def test_pairs_speak_portuguese_and_are_a_table_without_scripts(desk: Desk, browser: Browser) -> None:
    assert desk.show("pares", "phone").page.locator(".browser .place").text_content() == "1 de 5"
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(desk.paths["pares"].as_uri())
    assert page.locator(".browser").is_hidden()
    assert page.locator("#table-pairs-witnesses tbody tr").count() == 5
    assert page.locator("#table-pairs-witnesses mark").first.text_content() == "Female → Male"


@pytest.mark.parametrize(("size", "drawing"), [("desktop", "wide"), ("phone", "narrow")])
@pytest.mark.parametrize("ink", ["rgb(0, 0, 0)", "rgb(230, 230, 230)"])
def test_a_fragment_shows_its_pictures_without_scripts(
    browser: Browser, document: Document, tmp_path: Path, size: str, drawing: str, ink: str
) -> None:
    """In somebody else's page: one of the two drawings is seen, in the ink of that page, and nothing sticks out."""
    fragments = [section.to_html("pt-BR", page=False) for section in document.sections if section.result]
    path = tmp_path / "notebook.html"
    head = "<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width'>"
    path.write_text(f"{head}<body style='margin:8px;color:{ink}'>{''.join(fragments)}", encoding="utf-8")
    page = browser.new_context(viewport=SIZES[size], java_script_enabled=False).new_page()
    page.goto(path.as_uri())
    other = {"wide": "narrow", "narrow": "wide"}[drawing]
    assert page.locator(f".plot > svg.{drawing}:visible").count() == page.locator("figure").count() == 9
    assert page.locator(f".plot > svg.{other}:visible").count() == 0
    assert page.locator(f"svg.{drawing} .point:visible").count() > 20
    tick = page.locator(f"svg.{drawing} text").first
    assert tick.evaluate("text => getComputedStyle(text).fill") == ink
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]
    beyond = """drawings => drawings.flatMap(svg => [...svg.querySelectorAll('text')].filter(text => {
        const [inner, outer] = [text.getBoundingClientRect(), svg.getBoundingClientRect()];
        return inner.left < outer.left - 2 || inner.right > outer.right + 2;
    }).map(text => text.textContent))"""
    assert page.locator(f"svg.{drawing}").evaluate_all(beyond) == []
