"""Every result of a full audit renders alone: small, static, valid, and embeddable as often as one likes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest

import isonomia as iso
from isonomia.evidence import Column, Estimate, Finding, Picture, Result, Table
from isonomia.languages import msg
from isonomia.report.page import FRAGMENT_BYTES, MOST_BYTES

VOID = {"meta", "br", "img", "link", "hr", "input", "wbr"}
TASKS = ("binary", "multiclass", "regression")


class Outline(HTMLParser):
    """What a browser would build of a fragment; every element has to be closed where it was opened."""

    def __init__(self, fragment: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(fragment)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += "" if self.open and self.open[-1] == "style" else data

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.elements)


def check_static(fragment: str, most: int = FRAGMENT_BYTES) -> Outline:
    """A fragment that is small, loads and runs nothing, and has no ids that could come twice."""
    assert len(fragment.encode()) < most
    outline = Outline(fragment)
    assert not {"script", "link", "img", "iframe", "object", "html", "body", "head", "meta", "form", "button"} & {
        tag for tag, _ in outline.elements
    }
    for tag, attributes in outline.elements:
        assert not {"id", "href", "src", "aria-labelledby"} & set(attributes), (tag, attributes)
        assert not [name for name in attributes if name.startswith("on")], attributes
    assert outline.elements[0][1]["class"] == "isonomia"
    assert outline.count("style") == 1
    return outline


@pytest.fixture(scope="module", params=TASKS)
def report(request: pytest.FixtureRequest, audited: Callable[[str, str], iso.Report]) -> iso.Report:
    return audited(request.param, "full")


def test_every_result_of_a_full_audit_renders_alone(report: iso.Report) -> None:
    pictures = 0
    for section in report.document.sections:
        if section.result is None:
            continue
        result = section.result
        shown = [drawing for drawing in result.drawings.values() if len(drawing.table)]
        for fragment in (result._repr_html_(), section.to_html("pt-BR", page=False)):
            outline = check_static(fragment)
            assert outline.count("figure") == len(shown), section.code
            assert outline.count("svg") == 2 * len(shown), section.code  # for a page and for a phone
            assert outline.count("table") >= sum(1 for table in result.tables.values() if len(table)), section.code
            assert "\u202e" not in outline.text
            assert "</script>{0}" not in fragment
        assert result.title.text() in fragment or section.title.text("pt-BR") in fragment
        pictures += len(shown)
    assert pictures > 15


def test_two_fragments_in_one_page_do_not_collide(report: iso.Report) -> None:
    whole = report.to_html(page=False)
    check_static(whole, MOST_BYTES)
    one = report["group_fairness"].to_html(page=False)
    together = Outline(f"<html><body>{one}{whole}{one}</body></html>")
    ids = Counter(attributes["id"] for _, attributes in together.elements if "id" in attributes)
    assert not [name for name, times in ids.items() if times > 1]


def test_a_report_in_a_notebook_begins_with_its_verdict(report: iso.Report) -> None:
    outline = check_static(report._repr_html_(), MOST_BYTES)
    for section in report.document.sections:
        assert section.title.text() in outline.text
    assert report.document.assessment.text() in outline.text


def test_figures_and_frames_of_a_result(report: iso.Report) -> None:
    for section in report.document.sections:
        if section.result is None:
            continue
        result = section.result
        figures = result.plot() if result.pictures else {}
        if len(result.pictures) == 1:
            figures = {next(iter(result.drawings)): figures}
        assert list(figures) == list(result.drawings)
        for name, figure in figures.items():
            assert figure.to_plotly_json() == result.plot(name).to_plotly_json()
            check_static(result.drawings[name].to_html(page=False))
        for name, table in result.tables.items():
            assert list(result.to_frame(name)) == list(table.frame())


def test_names_are_checked_and_pictures_of_one_table_are_numbered() -> None:
    table = Table((Column("sex", ["F", "M"]), Column("rate", [0.2, 0.3], format="pct")), backend="polars")
    bars = Picture("bars", "rates", msg("Rows"), {"labels": "sex", "value": "rate"})
    result = Result("made", msg("Rows"), {"rates": table}, pictures=(bars, bars))
    assert list(result.drawings) == ["rates", "rates_2"]
    assert set(result.plot()) == {"rates", "rates_2"}
    assert result.plot("rates").data[0].x == (0.2, 0.3)
    assert type(result.to_frame("rates")).__module__.startswith("polars")
    assert type(result.to_frame("rates", "pandas")).__module__.startswith("pandas")
    assert result.drawings["rates"].to_svg().startswith("<svg ")
    with pytest.raises(iso.SpecError, match=r"no table called 'rate'\. Did you mean 'rates'"):
        result.to_frame("rate")
    with pytest.raises(iso.SpecError, match="no picture called 'rate'"):
        result.plot("rate")
    with pytest.raises(iso.NotApplicable, match="has no pictures"):
        Result("made", msg("Rows"), {"rates": table}).plot()
    lost = Result("made", msg("Rows"), {"rates": table}, pictures=(Picture("bars", "rats", msg("Rows"), {}),))
    with pytest.raises(iso.SpecError, match="shows the table 'rats'"):
        lost.to_html(page=False)


@pytest.mark.parametrize("columns", [3, 400])
def test_large_results_are_cut_and_it_is_stated(columns: int) -> None:
    rows = 4000
    values: dict[str, Any] = {"slice": ["<b>" * 40 + str(row) for row in range(rows)], "x": list(range(rows))}
    values |= {f"column {k}" + "x" * 300: [0.123] * rows for k in range(columns)}
    table = Table(tuple(Column(name, given) for name, given in values.items()))
    picture = Picture("scatter", "t", msg("Rows"), {"x": "x", "y": "x", "hover": ["slice"]})
    result = Result("c", msg("Rows"), {f"t{k}" if k else "t": table for k in range(15)}, pictures=(picture,) * 15)
    outline = check_static(result._repr_html_())
    assert "more rows" in outline.text
    assert "more tables and pictures" in outline.text
    assert ("more columns" in outline.text) == (columns == 400)
    assert outline.count("svg") >= 2
    one = check_static(table._repr_html_())
    assert "more rows" in one.text


def test_hostile_names_are_texts() -> None:
    name = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    table = Table((Column(name, [name, "</style></svg>"]), Column("rate", [0.2, 0.3], [0.1, 0.2], [0.3, 0.4])))
    finding = Finding("c.x", "critical", msg("{x} loses.", x=name), Estimate(0.2), {name: name}, 10, 1.0)
    result = Result(
        "c",
        msg("Rates of {x}", x=name),
        {name: table},
        {name: name},
        (finding,),
        (Picture("forest", name, msg("Rates of {x}", x=name), {"labels": name, "value": "rate"}),),
        (msg("Note on {x}", x=name),),
    )
    for part in (result, table, finding, result.drawings[name]):
        fragment = part.to_html(page=False)
        assert "<script>" in check_static(fragment).text
        assert "<script>alert" not in fragment
        page = part.to_html()
        assert page.startswith("<!doctype html>")
        assert "<script>alert" not in page


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_table_comes_back_as_the_frame_that_went_in(kind: str) -> None:
    import polars as pl

    frame = pl.DataFrame({"y": [0, 1] * 40, "p": [0, 1, 1, 1] * 20, "sex": ["F", "M", "M", "F"] * 20})
    given = {"polars": frame, "pandas": frame.to_pandas(), "pyarrow": frame.to_arrow()}[kind]
    result = iso.audit(
        iso.Dataset(given, target="y", prediction="p", protected=["sex"], positive=1), checks=["group_fairness"]
    )["group_fairness"]
    for name in result.tables:
        assert type(result.to_frame(name)).__module__.startswith(kind)
