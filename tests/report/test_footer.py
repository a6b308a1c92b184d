"""Whoever reads a page, on screen or on paper, can tell which report of which data and model it is."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from isonomia._version import __version__
from isonomia.report import Document, dumps, to_html, to_json
from isonomia.report.pdf import paper_html

HASHES = {"data_sha256": "a1" * 32, "model_sha256": "b2" * 32, "seed": 0}


def footers(html: str) -> tuple[str, str]:
    """The footer on screen, and the rule that writes it on every sheet of paper."""
    screen = re.search(r"<footer[^>]*>(.*?)</footer>", html, re.DOTALL)
    paper = re.search(r"@page\s*{\s*@bottom-left.*?}\s*@bottom-right\s*{.*?}\s*}", html, re.DOTALL)
    assert screen is not None
    assert paper is not None
    return screen[1], paper[0]


def written(rule: str) -> str:
    """The texts of a rule, with its escapes read."""
    return re.sub(r"\\([0-9a-f]+) ", lambda found: chr(int(found[1], 16)), rule)


@pytest.mark.parametrize("extent", ["whole", "short", "first_page"])
@pytest.mark.parametrize(("language", "page"), [("en", '"page " counter(page) " of " counter(pages)'), ("pt-BR", "de")])
def test_every_extent_names_report_data_model_and_version(
    document: Document, extent: Any, language: str, page: str
) -> None:
    known = replace(document, fingerprint=HASHES)
    own = to_json(known)["sha256"]
    for html in (to_html(known, language, extent=extent), paper_html(known, language, extent)):
        screen, paper = footers(html)
        for part in (own[:12], "a1" * 6, "b2" * 6, f"Isonomia {__version__}"):
            assert part in screen
            assert part in written(paper)
        assert page in written(paper)
        assert "counter(page)" in paper
        assert "counter(pages)" in paper
        assert own[:13] not in screen


def test_the_footer_has_the_hash_of_the_file_beside_it(document: Document) -> None:
    assert json.loads(dumps(document))["sha256"][:12] in footers(to_html(document))[0]


def test_what_is_not_known_is_left_out_and_what_is_hostile_stays_a_text(document: Document) -> None:
    screen, paper = footers(to_html(replace(document, fingerprint={})))
    assert "None" not in screen + paper
    nasty = replace(document, fingerprint={"data_sha256": '"}</style><', "model_sha256": 3})
    html = to_html(nasty)
    assert html.count("</style>") == 1
    assert '"}' not in footers(html)[1].replace('"; }', "")


def test_a_result_by_itself_has_its_pages_counted(document: Document) -> None:
    result = next(section.result for section in document.sections if section.result is not None)
    screen, paper = footers(to_html(result))
    assert __version__ in screen
    assert "counter(pages)" in paper
