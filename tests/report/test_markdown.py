"""The Markdown form: whole, escaped, with its counts."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from isonomia.evidence import Table
from isonomia.report import Document, to_markdown
from isonomia.report.glossary import ASSUMPTIONS
from isonomia.report.markdown import escape, table_text


def test_it_says_what_was_found(document: Document) -> None:
    text = to_markdown(document)
    assert text.startswith("# Audit of Middle\n")
    assert "Found: 6 critical findings, 5 warnings and 5 notices." in text
    assert "Checks: 2 without issues, 1 with issues, 2 without a result, 5 in total." in text
    assert "**Exceeds the policy's limits**" in text
    assert "| 12.0% \\[10.0%, 15.0%\\] |" in text
    assert "not available: no positives in the group" in text
    for section in document.sections:
        assert f"## {section.title.text()}" in text


def test_it_leads_with_the_answer(document: Document) -> None:
    """As on paper: the verdict, who is affected, what to do, what was not examined; then findings and the annex."""
    headings = re.findall(r"(?m)^## (.+)$", to_markdown(document))
    assert headings[:6] == [
        "Verdict",
        "Who is affected, and what to do",
        "What was not examined",
        "Findings",
        "Criteria of the policy",
        "What was examined",
    ]
    assert re.findall(r"(?m)^## (.+)$", to_markdown(document, "pt-BR"))[:2] == [
        "Veredito",
        "Quem é afetado e o que fazer",
    ]
    assert to_markdown(document).split("## ")[1].startswith("Verdict\n\n**Exceeds the policy's limits** · ")


def test_one_check_is_one(document: Document) -> None:
    passed, issue = (
        next(section for section in document.sections if section.outcome == outcome) for outcome in ("passed", "issue")
    )
    alone = replace(document, sections=(issue,)).assessment
    assert alone.text() == "Found: 6 critical findings, 5 warnings and 5 notices."
    calm = replace(document, sections=(passed,)).assessment
    assert calm.text("pt-BR") == "Nenhum problema em 1 verificação."


def test_it_speaks_portuguese(document: Document) -> None:
    text = to_markdown(document, "pt-BR")
    assert "**Ultrapassa os limites da política**" in text
    assert "Verificações: 2 sem problemas, 1 com problemas, 2 sem resultado, 5 no total." in text
    assert "| 12,0% \\[10,0%; 15,0%\\] |" in text


@pytest.mark.parametrize(
    ("language", "title"), [("en", "What the intervals assume"), ("pt-BR", "O que os intervalos supõem")]
)
def test_findings_link_to_what_their_intervals_assume(document: Document, language: str, title: str) -> None:
    text = to_markdown(document, language)
    (link,) = re.findall(rf"\[{title}\]\(#([^)]+)\)", text)
    assert link == title.lower().replace(" ", "-")
    (assumed,) = re.findall(rf"\n## {title}\n\n((?:- .+\n)+)", text)
    assert len(assumed.splitlines()) == len(ASSUMPTIONS)
    assert "docs/statistics.md" in assumed


def unescaped(text: str) -> str:
    return re.sub(r"\\.", "", text)


def test_hostile_names_neither_break_tables_nor_carry_markup(hostile: Document) -> None:
    text = to_markdown(hostile)
    bare = unescaped(text)
    assert "<" not in bare
    assert "`" not in bare
    assert "x" * 200 not in text
    assert re.findall(r"\]\(([^)]*)\)", bare) == ["#what-the-intervals-assume"]  # the one link is ours
    widths = [unescaped(line).count("|") for line in text.splitlines()]
    for place, line in enumerate(text.splitlines()):
        if re.fullmatch(r"(\| --- )+\|", line):
            rows = [place - 1]
            while rows[-1] + 1 < len(widths) and text.splitlines()[rows[-1] + 1].startswith("|"):
                rows.append(rows[-1] + 1)
            assert len({widths[row] for row in rows}) == 1, text.splitlines()[place - 1]
    headings = [line for line in text.splitlines() if re.match(r"#{1,6} ", line)]
    assert not [line for line in headings if line.startswith("# heading")]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", r"a\|b"),
        ("[x](y)", r"\[x\](y)"),
        ("a\nb\r\nc", "a b c"),
        ("&lt;", r"\&lt;"),
        ("\\|", r"\\\|"),
        ("http://x.y", "http\u2060://x.y"),
    ],
)
def test_escape(text: str, shown: str) -> None:
    assert escape(text) == shown


def test_long_tables_say_that_they_are_cut() -> None:
    text = table_text(Table.of({"x": list(range(1000))}), rows=3)
    assert text.endswith("The first 3 of 1,000 rows; report.json has all of them.")
    assert text.count("\n| ") == 4


def test_the_task_is_told_in_words() -> None:
    document = Document("Audit", {"dataset": "triage", "task": "multiclass"})
    assert "| Task | multiclass classification |" in to_markdown(document)
    assert "| Tarefa | classificação multiclasse |" in to_markdown(document, "pt-BR")
