"""The page in a real browser: no error, every picture drawn, nothing of the data runs, no sideways scrolling."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from isonomia.evidence import Column, Result, Table
from isonomia.languages import msg
from isonomia.report import Document, Section, save

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
    wanted = os.environ.get("ISONOMIA_CHROMIUM") or next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if wanted is None:
        pytest.fail(
            "These tests open the report in Chromium, which was not found. Install it (Debian: apt-get install "
            "chromium; `make test` does so), or set ISONOMIA_CHROMIUM to its path."
        )
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
        opened.page.wait_for_selector("html[data-drawn=yes]", timeout=60_000)
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
    opened.page.locator(".plot:not(.js-plotly-plot)").first.wait_for(state="detached")
    drawn = opened.run(
        """[...document.querySelectorAll('.js-plotly-plot')].map(plot => plot.querySelectorAll(
            '.scatterlayer .trace, .barlayer .trace, .heatmaplayer .hm').length)"""
    )
    assert len(drawn) == 9
    assert min(drawn) >= 1
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
    bold = "[...document.querySelectorAll('.plot tspan')].filter(t => t.textContent === 'bold').length"
    assert opened.run(bold) == 0
    assert opened.trouble == []


def test_what_is_pointed_at_is_told(desk: Desk) -> None:
    opened = desk.show("hostile", "desktop")
    opened.page.locator(".plot .point").first.scroll_into_view_if_needed()
    opened.page.locator(".plot .point").first.hover(force=True)
    opened.page.wait_for_selector(".plot .hovertext")
    assert "<script>alert(1)</script>" in (opened.page.locator(".plot .hovertext").first.text_content() or "")
    assert opened.trouble == []


def test_tables_are_sorted_by_a_click(desk: Desk) -> None:
    opened = desk.show("en", "desktop")
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
    opened.page.evaluate("document.querySelector('#table-group_fairness-by_group').open = false")
    opened.page.locator(".evidence a").first.click()
    # a function to wait for would be evaluated in the page, which its policy refuses where it has to wait
    opened.page.locator("#table-group_fairness-by_group[open]").wait_for(state="attached")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_take_the_colours_of_the_page(desk: Desk, scheme: str) -> None:
    opened = desk.show("en", "desktop", scheme)
    ink = opened.run("getComputedStyle(document.querySelector('.plot .xtick text')).fill")
    assert ink == {"light": "rgb(31, 41, 51)", "dark": "rgb(230, 234, 239)"}[scheme]


def test_sections_open_by_keyboard_and_links_and_draw_then(desk: Desk, browser: Browser) -> None:
    opened = Desk(browser, desk.paths).show("en", "desktop")
    page = opened.page
    box = page.locator(".check:has(#check-weak_spots) > details")
    assert box.get_attribute("open") is None
    assert page.locator(".check:has(#check-weak_spots) .js-plotly-plot").count() == 0
    box.locator("> summary").focus()
    page.keyboard.press("Enter")
    page.locator(".check:has(#check-weak_spots) .plot:not(.js-plotly-plot)").first.wait_for(state="detached")
    assert page.locator(".check:has(#check-weak_spots) .js-plotly-plot").count() == 5
    page.locator(".states a[href='#check-calibration']").click()
    page.locator(".check:has(#check-calibration) > details[open]").wait_for()
    page.locator(".top-findings a[href='#finding-1']").click()
    assert page.locator("#finding-1").is_visible()
    assert opened.trouble == []


def test_everything_is_open_on_paper_without_scripts_too(desk: Desk, browser: Browser) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(desk.paths["en"].as_uri())
    table = page.locator("#table-weak_spots-figures")
    assert not table.is_visible()
    page.emulate_media(media="print")
    assert table.is_visible()


def test_it_prints(desk: Desk) -> None:
    opened = desk.show("en", "desktop", "dark")
    closed = opened.run("document.querySelectorAll('main details:not([open])').length")
    assert opened.page.pdf(format="A4").startswith(b"%PDF")
    # on paper every section is open and every picture drawn; on the screen they are closed again
    assert opened.page.locator(".plot:not(.js-plotly-plot)").count() == 0
    assert opened.run("document.querySelectorAll('main details:not([open])').length") == closed
    assert opened.trouble == []


def test_no_table_is_wider_than_the_paper(browser: Browser, tmp_path: Path) -> None:
    """Paper does not scroll: what stands beyond its edge is lost; and no number is torn apart to make it fit."""
    n = 18
    measures = [Column(f"measure {k}", [0.123456] * 4, [0.1] * 4, [0.1] * 4, format="pct") for k in range(n)]
    wide = Table((Column("group", [f"sex=female, ethnicity=group {index}" for index in range(4)]), *measures))
    narrow = Table.of({"metric": ["Selection rate of everybody"], "value": [0.00001]}, {"value": "p"})
    result = Result("wide", msg("Wide"), {"wide": wide, "narrow": narrow})
    section = Section("wide", msg("Wide"), msg("How wide?"), "passed", result)
    path = save(Document("Audit", {"rows": 4}, (section,)), tmp_path, formats=("html",))["html"]
    page = browser.new_context(viewport={"width": 718, "height": 1040}).new_page()  # A4 within its margins
    page.goto(path.as_uri())
    page.emulate_media(media="print")
    right = "[...document.querySelectorAll('main table')].map(t => t.getBoundingClientRect().right)"
    assert max(page.evaluate(right)) <= 719
    cell = page.locator("#table-wide-narrow td[data-key]").first
    assert cell.evaluate("c => getComputedStyle(c).overflowWrap") == "normal"


PERSON = "[...document.querySelectorAll('.browser tbody tr')].map(r => [...r.cells].map(c => c.innerText.trim()))"
DIFFERS = "[...document.querySelectorAll('.browser tr.differs mark')].map(m => m.textContent)"


def test_pairs_are_shown_side_by_side(desk: Desk) -> None:
    opened = desk.show("pairs", "desktop")
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
    page = opened.page
    for _ in range(4):
        page.locator(".browser .on").click()
    page.locator(".browser select").select_option(label="<script>alert(1)</script>")
    assert opened.run(DIFFERS)[0] == "<script>alert(1)</script>"
    assert opened.run("document.querySelectorAll('main script, main img, main a[href^=java], main i').length") == 0
    assert opened.run("document.documentElement.scrollWidth") <= SIZES["phone"]["width"]
    assert opened.trouble == []


def test_pairs_speak_portuguese_and_are_a_table_without_scripts(desk: Desk, browser: Browser) -> None:
    assert desk.show("pares", "phone").page.locator(".browser .place").inner_text() == "1 de 5"
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(desk.paths["pares"].as_uri())
    assert page.locator(".browser").is_hidden()
    assert page.locator("#table-pairs-witnesses tbody tr").count() == 5
    assert page.locator("#table-pairs-witnesses mark").first.inner_text() == "Female → Male"


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
    tick = page.locator(f"svg.{drawing} text[fill=currentColor]").first
    assert tick.evaluate("text => getComputedStyle(text).fill") == ink
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]
    beyond = """drawings => drawings.flatMap(svg => [...svg.querySelectorAll('text')].filter(text => {
        const [inner, outer] = [text.getBoundingClientRect(), svg.getBoundingClientRect()];
        return inner.left < outer.left - 2 || inner.right > outer.right + 2;
    }).map(text => text.textContent))"""
    assert page.locator(f"svg.{drawing}").evaluate_all(beyond) == []
