"""What the page shows, ready to be written: the templates only place it, they compute nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from isonomia.errors import SpecError
from isonomia.evidence import Finding, Result, Table
from isonomia.languages import Language, msg
from isonomia.languages.message import write_number
from isonomia.report import words
from isonomia.report.document import Document, Section, Verdict
from isonomia.report.figures import sketch
from isonomia.report.glossary import GLOSSARY
from isonomia.report.tables import cells, shown_columns
from isonomia.report.texts import figure, interval, moment, said, sentence, tame, who, with_unit

#: Findings shown as cards; the rest stand in a table.
CARDS = 6
#: Marks of a picture for each row of a table that is shown.
MARKS = 10
#: Tables with more rows than this are closed until they are opened.
FOLDED = 12
#: More headline figures than this are closed as well.
TILES = 9

View = dict[str, Any]


def view(document: Document, language: Language, rows: int) -> View:
    """The page's parts as texts, in reading order; `rows` bounds what is shown of each table."""
    figures: list[View] = []
    anchors = {
        f"{section.code}/{name}" for section in document.sections if section.result for name in section.result.tables
    }
    sections = [_section(section, language, rows, figures) for section in document.sections]
    balance = document.balance_sheet
    return {
        "title": sentence(document.title, language),
        "created": moment(document.created, language),
        "assessment": document.assessment.text(language),
        "counts": _counts(document, language),
        "subject": _pairs(document.subject, words.SUBJECT, language),
        "verdict": _verdict(document.verdict, language),
        "cards": [_card(finding, language, anchors) for finding in document.findings[:CARDS]],
        "others": [_card(finding, language, anchors) for finding in document.findings[CARDS : CARDS + rows]],
        "unlisted": _unlisted(len(document.findings) - CARDS, rows, language),
        "sections": sections,
        "balance": None if balance is None else _result(balance, "balance_sheet", language, rows, figures),
        "glossary": [(term.text(language), words_.text(language)) for term, words_ in GLOSSARY],
        "fingerprint": _pairs(
            {key: str(item) if isinstance(item, int) else item for key, item in document.fingerprint.items()},
            words.FINGERPRINT,
            language,
        ),
        "figures": figures,
    }


def anchor(text: str) -> str:
    """A name that can stand in an address within the page.

    >>> anchor("group_fairness/by group")
    'group_fairness-by-group'
    """
    return re.sub(r"[^a-z0-9_]+", "-", text.lower())[:80].strip("-") or "part"


def _counts(document: Document, language: Language) -> list[View]:
    counts = document.counts
    silent = counts["not_applicable"] + counts["skipped"] + counts["failed"]
    grades = document.severities
    shown = [
        ("passed", msg("checks passed"), counts["passed"]),
        ("issue", msg("checks with issues"), counts["issue"]),
        ("silent", msg("checks without an answer"), silent),
        ("critical", msg("critical findings"), grades["critical"]),
        ("warning", msg("warnings"), grades["warning"]),
        ("notice", msg("notices"), grades["notice"]),
    ]
    return [{"kind": kind, "name": name.text(language), "number": str(number)} for kind, name, number in shown]


def _pairs(values: Mapping[str, Any], names: Mapping[str, Any], language: Language) -> list[tuple[str, str]]:
    def read(key: str, value: Any) -> str:
        if key == "task" and value in names:
            return words.called(names, value, language)
        return said(value, language)

    return [(tame(words.called(names, key, language)), read(key, value)) for key, value in values.items()]


def _verdict(verdict: Verdict | None, language: Language) -> View:
    if verdict is None:
        return {
            "outcome": "none",
            "name": msg("No verdict").text(language),
            "reason": msg("No policy was given, so there is no verdict.").text(language),
            "title": "",
            "source": "",
            "criteria": [],
        }
    return {
        "outcome": verdict.outcome,
        "name": words.VERDICTS[verdict.outcome].text(language),
        "title": sentence(verdict.title, language),
        "source": tame(verdict.source, 300),
        "reason": sentence(verdict.reason, language),
        "criteria": [
            {
                "name": sentence(criterion.name, language),
                "who": who(criterion.who, language),
                "reference": who(criterion.reference, language) if criterion.reference else "",
                "figure": figure(replace(criterion.estimate, low=None, high=None), language),
                "interval": interval(criterion.estimate, language).strip(),
                "limit": words.limit(criterion, language),
                "outcome": criterion.outcome,
                "said": words.CRITERIA[criterion.outcome].text(language),
                "reason": sentence(criterion.reason, language),
                "citation": tame(criterion.citation, 200),
            }
            for criterion in verdict.criteria
        ],
    }


def _card(finding: Finding, language: Language, anchors: set[str]) -> View:
    estimate = finding.estimate
    p = finding.p_adjusted if finding.p_adjusted is not None else finding.p_value
    return {
        "severity": finding.severity,
        "grade": words.SEVERITY[finding.severity].text(language),
        "message": sentence(finding.message, language),
        "who": who(finding.who, language),
        "reference": who(finding.reference, language) if finding.reference else "",
        "n": write_number(finding.n, "int", language),
        "value": with_unit(estimate.value, finding.format, language),
        "interval": interval(estimate, language, finding.format).strip(),
        "note": tame(estimate.note) if estimate.value is None else "",
        "p": "" if p is None else write_number(p, "p", language),
        "adjusted": finding.p_adjusted is not None,
        "sure": {True: "stands", False: "doubtful", None: "untested"}[finding.sure],
        "size": write_number(finding.magnitude, ",.1f", language) + " ×" if math.isfinite(finding.magnitude) else "—",
        "threshold": "" if finding.threshold is None else with_unit(finding.threshold, finding.format, language),
        "advice": sentence(finding.advice, language),
        "evidence": "table-" + anchor(finding.evidence) if finding.evidence in anchors else "",
    }


def _unlisted(left: int, rows: int, language: Language) -> str:
    if left <= rows:
        return ""
    return msg("{n:int} more findings are in report.json.", n=left - rows).text(language)


def _section(section: Section, language: Language, rows: int, figures: list[View]) -> View:
    shown: View = {"headlines": [], "many": False, "tables": [], "pictures": [], "notes": []}
    if section.result is not None:
        shown = _result(section.result, section.code, language, rows, figures)
    return {
        **shown,
        "id": "check-" + anchor(section.code),
        "title": sentence(section.title, language),
        "purpose": sentence(section.purpose, language),
        "outcome": section.outcome,
        "said": words.OUTCOMES[section.outcome].text(language),
        "reason": sentence(section.reason, language),
    }


def _result(result: Result, code: str, language: Language, rows: int, figures: list[View]) -> View:
    pictures: list[View] = []
    for picture in result.pictures:
        if picture.table not in result.tables:
            raise SpecError(f"The picture '{picture.title}' of {code!r} names no table of it: {picture.table!r}.")
        table = result.tables[picture.table]
        if not len(table):
            continue
        drawn = _compact(sketch(picture, table, language, most=MARKS * rows).to_plotly_json())
        drawn["layout"].pop("template", None)  # Plotly's own; the page holds ours
        left_out = drawn["layout"]["meta"]["left_out"]
        pictures.append(
            {
                "place": len(figures),
                "title": sentence(picture.title, language),
                "left_out": msg("{n:int} more are in the table.", n=left_out).text(language) if left_out else "",
                "height": int(drawn["layout"].get("height", 400)),
            }
        )
        figures.append(drawn)
    return {
        "title": sentence(result.title, language),
        "headlines": [
            (_name(result.heading(name, language)), said(value, language)) for name, value in result.values.items()
        ],
        "many": len(result.values) > TILES,
        "tables": [_table(name, table, code, language, rows) for name, table in result.tables.items()],
        "pictures": pictures,
        "notes": [sentence(note, language) for note in result.notes],
    }


def _table(name: str, table: Table, code: str, language: Language, rows: int) -> View:
    shown = list(cells(table, language, rows))
    heads = [tame(table.heading(column, language)) for column in shown_columns(table)]
    numeric = [any(line[place].number for line in shown) for place in range(len(heads))]
    more = msg("The first {shown:int} of {total:int} rows; report.json has all of them.", shown=rows, total=len(table))
    return {
        "id": "table-" + anchor(f"{code}/{name}"),
        "title": _name(name) if table.title is None else sentence(table.title, language),
        "heads": list(zip(heads, numeric, strict=True)),
        "rows": shown,
        "more": more.text(language) if len(table) > rows else "",
        "folded": len(table) > FOLDED,
        "changes": any(cell.change for line in shown for cell in line),
        "empty": not shown,
    }


def _name(key: str) -> str:
    """A table's or a figure's key as a heading."""
    text = tame(key.replace("_", " "))
    return text[:1].upper() + text[1:]


def _compact(value: Any) -> Any:
    """A figure's numbers to six significant digits: a picture shows no more, and the page stays small."""
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _compact(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_compact(item) for item in value]
    if hasattr(value, "tolist"):
        return _compact(value.tolist())
    return value
