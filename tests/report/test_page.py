"""The page as a text: it loads nothing, holds its script once, stays small, and is built as a reader needs it."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections import Counter
from html.parser import HTMLParser

import pytest

from isonomia.evidence import Picture, Result, Table
from isonomia.languages import msg
from isonomia.report import Document, Section, to_html
from isonomia.report.first_page import AFFECTED
from isonomia.report.glossary import ASSUMPTIONS
from isonomia.report.page import MOST_BYTES, paper_html
from isonomia.report.tables import shown_columns

VOID = {"meta", "br", "img", "link", "hr", "input", "wbr"}


class Outline(HTMLParser):
    """Elements, attributes and texts of a page, with scripts and styles kept apart."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.scripts: list[str] = []
        self.style = ""
        self.text = ""
        self.headings: list[str] = []
        self.feed(page)
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("h1", "h2", "h3"):
            self.headings.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        where = self.open[-1] if self.open else ""
        if where == "script":
            self.scripts.append(data)
        elif where == "style":
            self.style += data
        else:
            self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def outline(document: Document) -> Outline:
    return Outline(to_html(document))


@pytest.fixture(scope="module")
def attacked(hostile: Document) -> Outline:
    return Outline(to_html(hostile))


def unpacked(page: Outline, place: int) -> str:
    """A script as the page unpacks it: the pictures' data are the first, Plotly the second."""
    return gzip.decompress(base64.b64decode(page.scripts[place])).decode()


def plotly(page: Outline) -> str:
    return unpacked(page, 1)


@pytest.mark.parametrize("which", ["outline", "attacked"])
def test_nothing_is_loaded_from_anywhere(which: str, request: pytest.FixtureRequest) -> None:
    page: Outline = request.getfixturevalue(which)
    assert not {"link", "img", "iframe", "object", "embed", "form", "base", "video", "audio"} & {
        tag for tag, _ in page.elements
    }
    for tag, attributes in page.elements:
        assert "src" not in attributes, tag
        assert (attributes.get("href") or "#").startswith("#"), attributes
        assert not [name for name in attributes if name.startswith("on")], attributes
    assert "url(" not in page.style
    assert "@import" not in page.style
    addresses = {
        found for script in [*page.scripts, plotly(page)] for found in re.findall(r"https?://([\w.-]+)", script)
    }
    assert addresses <= {"www.w3.org"}  # names of XML namespaces, which are never loaded


def test_the_policy_allows_our_two_scripts_and_nothing_else(outline: Outline) -> None:
    policy = next(m["content"] or "" for m in outline.all("meta") if m.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["connect-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    run = [plotly(outline), outline.scripts[2]]
    assert [kind.get("type") for kind in outline.all("script")] == ["application/gzip", "application/gzip", None]
    hashes = [f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in run]
    assert rules["script-src"].split() == hashes


def test_the_script_is_there_once_and_the_file_is_small(document: Document, hostile: Document) -> None:
    for each in (document, hostile):
        page = to_html(each, "pt-BR")
        assert page.count('id="plotly"') == 1
        assert len(page.encode()) < MOST_BYTES


def test_attacks_are_texts(attacked: Outline) -> None:
    assert "<script>alert(1)</script>" in attacked.text
    assert len(attacked.scripts) == 3  # the pictures' data, Plotly, ours
    assert "{{ 7 * 7 }}" in attacked.text
    assert "x" * 200 not in attacked.text
    assert "\u202e" not in attacked.text
    assert not [1 for script in attacked.scripts[:1] if "<" in script or ">" in script or "\u2028" in script]


def test_the_pictures_are_data(outline: Outline, document: Document) -> None:
    held = json.loads(unpacked(outline, 0))
    drawn = [p for s in document.sections if s.result for p in s.result.pictures if len(s.result.tables[p.table])]
    assert len(held["figures"]) == len(drawn) == 9
    assert len([a for a in outline.all("div") if a.get("class") == "plot" and a["aria-label"]]) == 9
    assert all("template" not in figure["layout"] for figure in held["figures"])


def test_a_reader_finds_the_way(outline: Outline, document: Document) -> None:
    ids = Counter(attributes["id"] for _, attributes in outline.elements if "id" in attributes)
    assert max(ids.values()) == 1
    for attributes in outline.all("a"):
        assert (attributes["href"] or "").removeprefix("#") in ids
    for tag, attributes in outline.elements:
        for name in ("aria-labelledby",):
            assert name not in attributes or attributes[name] in ids, (tag, attributes)
    assert outline.headings.count("h1") == 1
    assert outline.headings[:2] == ["h1", "h2"]
    assert outline.elements[0] == ("html", {"lang": "en"})
    assert len(outline.all("caption")) + 1 >= len(outline.all("table"))
    assert all("scope" in head for head in outline.all("th"))
    main = outline.text[outline.text.index("Verdict ·") :]
    assert main.index("Exceeds the policy") < main.index("Findings") < main.index("What was examined")
    for section in document.sections:
        assert section.title.text() in outline.text


def test_numbers_and_words_are_in_the_language(document: Document) -> None:
    page = Outline(to_html(document, "pt-BR"))
    assert page.elements[0] == ("html", {"lang": "pt-BR"})
    assert "12,0%" in page.text
    assert "[10,0%; 15,0%]" in page.text
    assert "Ultrapassa os limites da política" in page.text
    assert "48.842" in page.text
    assert "Como ler este relatório" in page.text


@pytest.mark.parametrize(
    ("language", "title"), [("en", "What the intervals assume"), ("pt-BR", "O que os intervalos supõem")]
)
def test_findings_link_to_what_their_intervals_assume(document: Document, language: str, title: str) -> None:
    page = to_html(document, language)
    findings = page[page.index('class="findings"') : page.index('class="annex"')]
    assert f'<a href="#intervals">{title}</a>' in findings
    (assumed,) = re.findall(rf'<h3 id="intervals">{title}</h3>\s*<ul>(.+?)</ul>', page)
    assert assumed.count("<li>") == len(ASSUMPTIONS)
    assert "docs/statistics.md" in assumed


def test_the_page_begins_with_the_answer(document: Document) -> None:
    page = to_html(document)
    order = [page.index(f'id="{part}"') for part in ("verdict", "findings", "annex", "criteria", "subject", "checks")]
    assert order == sorted(order)
    first, checks = page[order[0] : order[1]], page[order[5] :]
    for number, fold in enumerate(document.folds[:AFFECTED], 1):
        assert f'href="#finding-{number}"' in first
        assert page.count(f'id="finding-{number}"') == 1
        assert fold.first.message.text() in first
    for section in document.sections:
        assert f'href="#check-{section.code}"' in checks
        if section.reason:
            assert str(section.reason) in checks.replace("&lt;", "<").replace("&gt;", ">")


def test_every_finding_is_on_the_page(document: Document) -> None:
    page = Outline(to_html(document))
    for finding in document.findings:
        assert finding.message.text() in page.text
    assert f"{len(document.findings)} findings on {len(document.folds)} matters" in page.text
    assert "more findings of this check" in page.text


def test_the_annex_is_closed_and_open_on_paper(document: Document) -> None:
    for page, opened in ((to_html(document), False), (paper_html(document, "en", "whole"), True)):
        for section in document.sections:
            before = page[: page.index(f'<h2 id="check-{section.code}"')]
            assert before[before.rindex("<details") :].startswith("<details open>") == opened, section.code
    assert "<script" not in page


def test_drawings_stand_in_the_page_and_plotly_where_there_is_room(document: Document) -> None:
    page = Outline(to_html(document))
    drawn = [attributes["class"] for attributes in page.all("svg")]
    assert drawn.count("wide") == drawn.count("narrow") == 9
    assert len([button for button in page.all("button") if button.get("class") == "explore"]) == 9
    table = Table.of({"name": [f"{'n' * 80}{place}" for place in range(200)], "x": range(200)})
    picture = Picture("bars", "t0", msg("Bars"), {"labels": "name", "value": "x"})
    result = Result("c", msg("Rows"), {f"t{place}": table for place in range(40)}, pictures=(picture,))
    large = to_html(Document("Audit", {}, (Section("c", msg("Rows"), msg("Rows"), "passed", result),)))
    assert len(large.encode()) < MOST_BYTES
    assert 'class="wide"' in large
    assert 'id="plotly"' in large  # 60 rows of each table leave room for it


def test_nothing_that_was_only_measured_is_said_to_have_passed(document: Document) -> None:
    page = to_html(document)
    assert "measured, no findings" in page
    assert 'class="chip passed">passed' not in page
    style = page[page.index("<style>") : page.index("</style>")]
    assert ".passed" not in style


def test_what_other_columns_have_is_dropped() -> None:
    table = Table.of(
        {
            "by": ["sex", "sex x age"],
            "group": ["sex=F", "sex=F, age in [25, 60)"],
            "sex": ["F", "F"],
            "age": [None, "[25, 60)"],
            "race": ["white", "white"],
            "small": [False, False],
            "n": [1, 2],
        }
    )
    assert [column.name for column in shown_columns(table)] == ["group", "race", "n"]
    marked = Table.of({"group": ["sex=F"], "by": ["sex"], "small": [True]})
    assert [column.name for column in shown_columns(marked)] == ["group", "small"]
    apart = Table.of({"group": ["F", "M"], "attribute": ["sex", "sex"]})
    assert [column.name for column in shown_columns(apart)] == ["group", "attribute"]


def test_a_report_with_next_to_nothing_in_it() -> None:
    page = Outline(to_html(Document("Audit", {})))
    assert "No policy was given" in page.text
    assert "There are no findings." in page.text


def test_long_tables_are_cut_until_the_page_is_small() -> None:
    rows = 5000
    table = Table.of(
        {"slice": ["s" * 100 + str(place) for place in range(rows)], "x": range(rows), "y": [0.123] * rows}
    )
    picture = Picture("scatter", "t", msg("Rows"), {"x": "x", "y": "y", "hover": ["slice"]})
    sections = tuple(
        Section(
            f"c{place}", msg("Rows"), msg("Rows"), "passed", Result("c", msg("Rows"), {"t": table}, pictures=(picture,))
        )
        for place in range(8)
    )
    page = to_html(Document("Audit", {}, sections))
    assert len(page.encode()) < MOST_BYTES
    assert "of 5,000 rows; report.json has all of them." in page
    assert "more are in the table." in page


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_texts_stand_out_from_their_ground(outline: Outline) -> None:
    """WCAG AA asks for a contrast of 4.5 for texts, on white paper and on dark."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    page = outline.style[outline.style.index(".isonomia.page {") :]
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
        for block in (page[: page.index("@media")], page[page.index("@media") : page.index("}")])
    )
    for colours in (light, dark):
        grounds = {"ink": ("paper", "sheet", "tint"), "quiet": ("paper", "sheet", "tint"), "link": ("paper", "sheet")}
        grounds |= {name: (f"{name}-tint", "sheet") for name in ("red", "amber", "blue", "green", "grey")}
        for name, behind in grounds.items():
            for ground in behind:
                assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)
        for ground in ("red-tint", "amber-tint", "green-tint", "grey-tint"):
            assert contrast(colours["quiet"], colours[ground]) >= 4.5, ground
