"""What the page shows, ready to be written: the templates only place it, they compute nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from isonomia.errors import SpecError
from isonomia.evidence import Picture, Result, Table
from isonomia.languages import Language, msg
from isonomia.report import words
from isonomia.report.document import Document, Section, Verdict
from isonomia.report.figures import describe
from isonomia.report.glossary import GLOSSARY
from isonomia.report.overview import View, anchor, overview, section_id
from isonomia.report.tables import cells, shown_columns
from isonomia.report.texts import figure, headline, interval, moment, said, sentence, tame, who

#: Marks of a picture for each row of a table that is shown, and the most there are.
MARKS, MOST_MARKS = 20, 600
#: Tables with more rows than this are closed until they are opened.
FOLDED = 12
#: More headline figures than this are closed as well.
TILES = 9


class Figures:
    """The figures of a page in the order they stand in; one that was drawn before, with as many marks, is not again."""

    def __init__(self) -> None:
        self.shown: list[View] = []
        self._drawn: dict[tuple[int, int], View] = {}

    def begin(self) -> None:
        """Start a page anew, as with other numbers of rows."""
        self.shown = []

    def add(self, picture: Picture, table: Table, language: Language, rows: int) -> tuple[int, View]:
        """The place of a figure on the page, and the figure."""
        most = min(MARKS * rows, MOST_MARKS)
        if (id(picture), most) not in self._drawn:
            self._drawn[id(picture), most] = describe(picture, table, language, most=most)
        self.shown.append(self._drawn[id(picture), most])
        return len(self.shown) - 1, self.shown[-1]


def view(document: Document, language: Language, rows: int, figures: Figures) -> View:
    """The page's parts as texts, in reading order; `rows` bounds what is shown of each table."""
    figures.begin()
    sections = [_section(section, language, rows, figures) for section in document.sections]
    balance = document.balance_sheet
    return {
        "title": sentence(document.title, language),
        "created": moment(document.created, language),
        "assessment": document.assessment.text(language),
        "counts": _counts(document, language),
        "subject": _pairs(document.subject, words.SUBJECT, language),
        "verdict": _verdict(document.verdict, language),
        **overview(document, language, rows),
        "sections": sections,
        "balance": None if balance is None else _result(balance, "balance_sheet", language, rows, figures),
        "glossary": [(term.text(language), words_.text(language)) for term, words_ in GLOSSARY],
        "fingerprint": _pairs(
            {key: str(item) if isinstance(item, int) else item for key, item in document.fingerprint.items()},
            words.FINGERPRINT,
            language,
        ),
        "figures": figures.shown,
    }


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


def _section(section: Section, language: Language, rows: int, figures: Figures) -> View:
    shown: View = {"headlines": [], "many": False, "tables": [], "pictures": [], "notes": []}
    if section.result is not None:
        shown = _result(section.result, section.code, language, rows, figures)
    return {
        **shown,
        "id": section_id(section),
        "title": sentence(section.title, language),
        "purpose": sentence(section.purpose, language),
        "outcome": section.outcome,
        "open": section.outcome in ("issue", "failed"),
        "said": words.OUTCOMES[section.outcome].text(language),
        "reason": sentence(section.reason, language),
    }


def _result(result: Result, code: str, language: Language, rows: int, figures: Figures) -> View:
    pictures: list[View] = []
    for picture in result.pictures:
        if picture.table not in result.tables:
            raise SpecError(f"The picture '{picture.title}' of {code!r} names no table of it: {picture.table!r}.")
        table = result.tables[picture.table]
        if not len(table):
            continue
        place, drawn = figures.add(picture, table, language, rows)
        left_out = drawn["layout"]["meta"]["left_out"]
        pictures.append(
            {
                "place": place,
                "title": sentence(picture.title, language),
                "left_out": msg("{n:int} more are in the table.", n=left_out).text(language) if left_out else "",
                "height": int(drawn["layout"].get("height", 400)),
            }
        )
    return {
        "title": sentence(result.title, language),
        "headlines": [
            (_name(result.heading(name, language)), headline(result, name, language)) for name in result.values
        ],
        "many": len(result.values) > TILES,
        "tables": [_table(name, table, code, language, rows) for name, table in result.tables.items()],
        "pictures": pictures,
        "notes": [sentence(note, language) for note in result.notes],
    }


def _table(name: str, table: Table, code: str, language: Language, rows: int) -> View:
    shown = list(cells(table, language, rows))
    heads = [tame(column.heading(language)) for column in shown_columns(table)]
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
