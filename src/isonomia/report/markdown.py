"""The report as Markdown: for pull requests, wikis and terminals. Everything from data is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from isonomia.errors import FAULTS
from isonomia.evidence import Result, Table
from isonomia.languages import Language, Message, check_language, fault_message, msg, translate
from isonomia.languages.message import write_number
from isonomia.report import words
from isonomia.report.chapters import Chapter, arranged
from isonomia.report.document import Document, Section
from isonomia.report.first_page import first_page
from isonomia.report.glossary import ASSUMPTIONS, ASSUMPTIONS_TITLE
from isonomia.report.inquiry import Inquiry
from isonomia.report.naming import in_file_words
from isonomia.report.parts import tabulated
from isonomia.report.tables import cells, shown_columns
from isonomia.report.texts import figure, headline, readable, rows, sentence, tame, who

#: How many rows of a table are written; `report.json` has all of them.
ROWS = 50

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!$&])")
_ADDRESS = re.compile(r"(?i)\b(https?|ftp|mailto|www)([:.])")


def escape(text: str) -> str:
    r"""A text from data as Markdown shows it literally: one line, no markup, no HTML, no links, no cell borders.

    >>> print(escape("a|b\n<script>`x`"))
    a\|b \<script\>\`x\`
    """
    return _literal(tame(text))


def _literal(text: str) -> str:
    """A text whose parts from data are tame already."""
    # a bare address becomes a link by itself in many viewers; a word joiner keeps it a text
    return _ADDRESS.sub("\\1\u2060\\2", _SPECIAL.sub(r"\\\1", text))


def anchor(title: str) -> str:
    """What a heading is linked by in GitHub, GitLab and most other viewers.

    >>> anchor("O que os intervalos supõem")
    'o-que-os-intervalos-supõem'
    """
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def to_markdown(part: Document | Result | Inquiry, language: str = "en") -> str:
    """The whole report, a result by itself or an inquiry as one Markdown text.

    Examples
    --------
    >>> print(to_markdown(Document("Audit of a model", {"dataset": "adult", "rows": 48842}))[:18])
    # Audit of a model
    """
    if isinstance(part, Result):
        return _result(part, language)
    language = check_language(language)
    if isinstance(part, Inquiry):
        return _inquiry(part, language)
    document = in_file_words(part)
    parts = [
        f"# {sentence(document.title, language, escape)}",
        *_first_page(document, language),
        *_findings(document, language),
        *_criteria(document, language),
        *_subject(document, language),
        *(text for chapter, section in arranged(document) for text in _section(section, language, chapter)),
    ]
    if document.balance_sheet is not None:
        parts += [f"## {document.balance_sheet.title.text(language)}", *_body(document.balance_sheet, language)]
    parts += [f"## {ASSUMPTIONS_TITLE.text(language)}", "\n".join(f"- {part.text(language)}" for part in ASSUMPTIONS)]
    parts += [f"## {msg('Traceability').text(language)}", _fingerprint(document, language)]
    return "\n\n".join(text for text in parts if text) + "\n"


def _result(result: Result, language: str) -> str:
    """What a result says, its findings, figures and tables."""
    language = check_language(language)
    shown = in_file_words(result)
    said = [sentence(one, language, escape) for one in shown.lead]
    found = [
        f"- **{words.SEVERITY[one.severity].text(language)}**: {sentence(one.message, language, escape)}"
        for one in shown.findings
    ]
    parts = [f"# {sentence(shown.title, language, escape)}", *said, "\n".join(found), *_body(shown, language)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _inquiry(inquiry: Inquiry, language: str) -> str:
    """A question, its answer, what shows it, how sure it is, and everything that was measured."""
    parts = [f"# {sentence(inquiry.question, language, escape)}", f"## {msg('Answer').text(language)}"]
    parts += [sentence(one, language, escape) for one in inquiry.answer]
    parts += [] if inquiry.lead is None else _body(inquiry.lead, language)
    if inquiry.sure:
        parts.append(f"## {msg('How sure').text(language)}")
        parts.append("\n".join(f"- {sentence(one, language, escape)}" for one in inquiry.sure))
    for result in inquiry.results:
        parts += [f"## {sentence(result.title, language, escape)}", *_body(result, language)]
    parts.append(f"## {msg('What was run').text(language)}")
    parts.append(
        grid(["", ""], [[name.text(language), readable(value, language, escape)] for name, value in inquiry.about])
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def _counts(document: Document, language: str) -> str:
    counts = document.counts
    return msg(
        "Checks: {passed:int} without issues, {issues:int} with issues, {other:int} without a result, {total:int} in "
        "total.",
        passed=counts["passed"],
        issues=counts["issue"],
        other=counts["not_applicable"] + counts["skipped"] + counts["failed"],
        total=len(document.sections),
    ).text(language)


def _subject(document: Document, language: str) -> Iterable[str]:
    yield f"## {msg('What was examined').text(language)}"
    yield _counts(document, language)
    yield grid(
        ["", ""],
        [
            [escape(words.called(words.SUBJECT, key, language)), _examined(key, value, language)]
            for key, value in document.subject.items()
        ],
    )


def _examined(key: str, value: Any, language: str) -> str:
    if key == "task" and value in words.SUBJECT:
        return escape(words.called(words.SUBJECT, value, language))
    return readable(value, language, escape)


def _first_page(document: Document, language: Language) -> Iterable[str]:
    """The verdict, who is affected, what to do next and what was not examined, as on the first page of paper."""
    page = first_page(document, language)
    lead = page["lead"]
    yield f"**{_literal(page['failed'])}**" if page["failed"] else ""
    yield f"## {msg('Verdict').text(language)}"
    yield f"**{lead['name']}** · {_literal(lead['title'])}" if lead["title"] else ""
    yield _literal(page["means"])
    yield _literal(lead["reason"])
    yield _literal(f"{lead['basis']} {lead['standing']}".strip())
    yield _literal(page["assessment"])
    yield _literal(page["reference"])
    yield f"## {msg('Who is affected, and what to do').text(language)}"
    yield page["nobody"]
    yield _numbered(_literal(_matter(each, language)) for each in page["matters"])
    yield page["more_matters"]
    yield "\n".join(f"- {_literal(step)}" for step in page["steps"])
    if page["scope"] or page["unexamined"]:
        yield f"## {msg('What was not examined').text(language)}"
        yield _literal(page["scope"])
        yield "\n".join(f"- {_literal(f'{title}: {reason}')}" for title, reason in page["unexamined"])
        yield page["more_unexamined"]


def _matter(each: dict[str, Any], language: Language) -> str:
    """An entry in a line: what was found, how many people it is about, and what to do."""
    advice = f"{msg('What to do').text(language)}: {each['advice']}" if each["advice"] else ""
    return " ".join(filter(None, (each["message"], each["people"], advice)))


def _numbered(lines: Iterable[str]) -> str:
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))


def _criteria(document: Document, language: str) -> Iterable[str]:
    verdict = document.verdict
    if verdict is None or not verdict.criteria:
        return
    yield f"## {msg('Criteria of the policy').text(language)}"
    yield sentence(verdict.about, language, escape)
    if verdict.source:
        yield f"{msg('Source').text(language)}: {escape(translate(verdict.source, language))}"
    heads = [msg("Criterion"), msg("For whom"), msg("Figure"), msg("Limit"), msg("Outcome"), msg("Citation")]
    rows = [
        [
            sentence(criterion.name, language, escape),
            words.people_of(criterion, language, escape, document.words),
            escape(figure(criterion.estimate, language, words.style_of(criterion))),
            words.limit(criterion, language),
            words.outcome(criterion, language)
            + (f": {sentence(criterion.reason, language, escape)}" if criterion.reason else ""),
            escape(translate(criterion.citation, language)),
        ]
        for criterion in verdict.criteria
    ]
    yield grid([head.text(language) for head in heads], rows)


def _findings(document: Document, language: str) -> Iterable[str]:
    """Every finding: those about the same subject stand together under one number, the worst first."""
    yield f"## {msg('Findings').text(language)}"
    if not document.findings:
        yield msg("There are no findings.").text(language)
        return
    title = ASSUMPTIONS_TITLE.text(language)
    yield f"[{title}](#{anchor(title)})"
    heads = [msg("No."), msg("Severity"), msg("Finding"), msg("For whom")]
    heads += [msg("Rows"), msg("Figure"), msg("Adjusted p")]
    yield grid(
        [head.text(language) for head in heads],
        [
            [
                f"{number}.{index}" if index else f"**{number}**",
                words.SEVERITY[finding.severity].text(language),
                sentence(finding.message, language, escape)
                + (f" *{sentence(finding.advice, language, escape)}*" if finding.advice else "")
                + (f" {sentence(finding.tried.message, language, escape)}" if finding.tried else ""),
                who(finding.who, language, document.words, escape),
                rows(finding.n, language),
                escape(figure(finding.estimate, language, finding.format)),
                "—" if finding.p_adjusted is None else write_number(finding.p_adjusted, "p", language),
            ]
            for number, fold in enumerate(document.folds, 1)
            for index, finding in enumerate(fold.findings)
        ],
    )


def _section(section: Section, language: str, chapter: Chapter | None = None) -> Iterable[str]:
    if chapter is not None:
        yield f"## {chapter.title.text(language)}"
        yield sentence(chapter.lead, language, escape)
    yield f"## {section.title.text(language, escape=escape)}"
    outcome = f"**{words.OUTCOMES[section.outcome].text(language)}**"
    reason = f" ({sentence(section.reason, language, escape)})" if section.reason else ""
    yield f"{outcome}{reason} · {section.purpose.text(language, escape=escape)}"
    if section.result is not None:
        yield from _body(section.result, language)


def _body(result: Result, language: str) -> Iterable[str]:
    if result.values and not tabulated(result):
        yield grid(
            [msg("Headline figure").text(language), msg("Value").text(language)],
            [
                [escape(result.heading(name, language)), headline(result, name, language, escape)]
                for name in result.values
            ],
        )
    for name, table in result.tables.items():
        title = escape(name) if table.title is None else table.title.text(language, escape=escape)
        yield f"### {title}"
        try:
            yield table_text(table, language)
        except FAULTS as error:
            lost = msg("This table could not be written: {reason}.", reason=fault_message(error))
            yield sentence(lost, language, escape)
    for note in result.notes:
        yield f"> {note.text(language, escape=escape)}"


def table_text(table: Table, language: str = "en", rows: int = ROWS) -> str:
    """One table as Markdown; where it is longer than `rows`, a line says so."""
    lines = [
        [" ".join(filter(None, (cell.text, cell.interval))) for cell in line]
        for line in cells(table, language, rows, escape)
    ]
    text = grid([escape(column.heading(language)) for column in shown_columns(table)], lines)
    if len(table) > rows:
        text += "\n\n" + more(rows, len(table)).text(language)
    return text


def more(shown: int, total: int) -> Message:
    """That a table is longer than what is shown of it."""
    return msg("The first {shown:int} of {total:int} rows; report.json has all of them.", shown=shown, total=total)


def grid(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells that are already escaped, as a Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _fingerprint(document: Document, language: str) -> str:
    rows = [
        [
            escape(words.called(words.FINGERPRINT, key, language)),
            readable(str(value) if isinstance(value, int) else value, language, escape),
        ]
        for key, value in document.fingerprint.items()
    ]
    rows.append([msg("Created").text(language), escape(document.created)])
    return grid(["", ""], rows)
