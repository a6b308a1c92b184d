"""Checks that ask one question are one chapter, with one sentence before them."""

from __future__ import annotations

import pytest

from isonomia.evidence import Estimate, Finding, Result
from isonomia.languages import msg
from isonomia.report import Document, Section, to_html, to_markdown
from isonomia.report.chapters import arranged


def section(code: str, topic: str = "", *, says: str = "", ran: bool = True) -> Section:
    said = Finding(f"{code}.x", "warning", msg("{says}", says=says), Estimate(0.1), columns=("sex",), topic=topic)
    found = (said,) if says else ()
    result = Result(code, msg("yes"), findings=found) if ran else None
    outcome = "issue" if says else "passed" if ran else "skipped"
    reason = None if ran else "no model"
    return Section(code, msg("{code}", code=code), msg("no"), outcome, result, reason, topic=topic)  # type: ignore[arg-type]


def document(*sections: Section) -> Document:
    return Document("Audit", {}, sections)


def test_sections_of_a_topic_stand_together_where_the_first_stood() -> None:
    parts = [section("proxies", "use"), section("performance"), section("counterfactual", "use", says="It does.")]
    placed = arranged(document(*parts))
    assert [one.code for _, one in placed] == ["proxies", "counterfactual", "performance"]
    assert [chapter is not None for chapter, _ in placed] == [True, False, False]
    assert placed[0][0] is not None
    assert str(placed[0][0].lead) == "It does."


@pytest.mark.parametrize(
    ("ran", "lead"),
    [(True, "No check found that it does"), (False, "No check on this question has a result")],
)
def test_the_lead_says_that_nothing_was_found_or_nothing_asked(ran: bool, lead: str) -> None:
    placed = arranged(document(section("proxies", "use", ran=ran), section("counterfactual", "use", ran=ran)))
    assert placed[0][0] is not None
    assert str(placed[0][0].lead).startswith(lead)


def test_one_check_alone_is_no_chapter() -> None:
    assert arranged(document(section("proxies", "use"), section("performance")))[0][0] is None


def test_page_and_markdown_show_the_chapter_before_its_checks() -> None:
    shown = document(section("a"), section("proxies", "use"), section("b"), section("flips", "use", says="It does."))
    for language, question in (("en", "Does the model use"), ("pt-BR", "O modelo usa um atributo")):
        page, text = to_html(shown, language), to_markdown(shown, language)
        assert page.index('id="check-a"') < page.index('id="chapter-use"') < page.index('id="check-proxies"')
        assert page.index('id="check-proxies"') < page.index('id="check-flips"') < page.index('id="check-b"')
        assert 'href="#chapter-use"' in page
        assert text.index(f"## {question}") < text.index("## proxies") < text.index("## flips") < text.index("## b")
