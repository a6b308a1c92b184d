"""The parts of a report as texts, each on its own: a result, a section, a table, a picture, a finding.

A page and a fragment are made of the same parts; the templates only arrange them, they compute nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from markupsafe import Markup

from isonomia.errors import FAULTS
from isonomia.evidence import Drawing, Finding, Result, Table
from isonomia.languages import Language, Message, fault_message, msg
from isonomia.report import words
from isonomia.report.document import Section
from isonomia.report.figures import describe, static
from isonomia.report.figures.svg.drawing import NARROW, WIDE, flat
from isonomia.report.figures.svg.elements import lines_of
from isonomia.report.inquiry import Inquiry
from isonomia.report.notice import Fact, Notice
from isonomia.report.overview import View, anchor, card, section_id
from isonomia.report.tables import cells, shown_columns
from isonomia.report.texts import headline, readable, sentence, tame

#: Marks of a picture for each row of a table that is shown, and the maximum.
MARKS, MOST_MARKS = 20, 600
#: Tables with more rows than this are closed until they are opened.
FOLDED = 12
#: More headline figures than this are closed as well.
TILES = 9
#: Marks of a picture that are told to those who cannot see it.
SAID = 8
#: Findings that a part lists, and columns of a table in a fragment.
FINDINGS, COLUMNS = 10, 40


class Figures:
    """The figures of a page in their order; one that was drawn before, with as many marks, is not drawn again."""

    def __init__(self) -> None:
        self.shown: list[View] = []
        self._drawn: dict[tuple[int, int], tuple[View, Markup]] = {}

    def begin(self) -> None:
        """Start again, as with other numbers of rows."""
        self.shown = []

    def add(self, drawing: Drawing, setting: Setting) -> tuple[View, Markup]:
        """A figure as Plotly's JSON, and as static drawings for a page and for a phone."""
        picture, most = drawing.picture, min(MARKS * setting.rows, MOST_MARKS)
        if (id(picture), most) not in self._drawn:
            described = describe(picture, drawing.table, setting.language, most=most)
            drawn = Markup("".join(static(picture.kind, described, width, alone=False) for width in (WIDE, NARROW)))
            self._drawn[id(picture), most] = described, drawn
        self.shown.append(self._drawn[id(picture), most][0])
        return self._drawn[id(picture), most]


@dataclass(frozen=True)
class Setting:
    """How parts are shown.

    Attributes
    ----------
    language : str
    rows : int
        At most this many rows of each table.
    figures : Figures
        Collects what is drawn.
    page : bool
        Whether they stand in a page of ours, with ids, links and a script.
    parts : int, optional
        At most this many tables and pictures of a result.
    paper : bool
        Whether it is to be printed: everything is open, and there are no scripts.
    explorable : bool
        Whether a reader can have a picture drawn by Plotly, which the page then holds.
    proofs : mapping
        What stands above a table ("check/table"): the evidence of findings that it shows.
    """

    language: Language
    rows: int
    figures: Figures
    page: bool = True
    parts: int | None = None
    paper: bool = False
    explorable: bool = False
    proofs: Mapping[str, Sequence[View]] = field(default_factory=dict)


def unless_lost(make: Callable[[], View], lost: Callable[[Message], View]) -> View:
    """A part as texts; one that cannot be written or drawn gives way to a sentence that says so, and the page stays."""
    try:
        return make()
    except FAULTS as error:
        return lost(fault_message(error))


def result_view(result: Result, code: str, setting: Setting) -> View:
    """A result: headline figures, pictures, tables, notes."""
    language, most = setting.language, setting.parts
    drawings = [drawing for drawing in result.drawings.values() if len(drawing.table)]
    tables = list(result.tables.items())
    hidden = 0 if most is None else len(drawings[most:]) + len(tables[most:])
    headlines = [] if tabulated(result) else list(result.values)
    shown = enumerate(tables[:most])
    return {
        "title": sentence(result.title, language),
        "headlines": [(_name(result.heading(name, language)), headline(result, name, language)) for name in headlines],
        "many": len(headlines) > TILES,
        "pictures": [_picture(drawing, setting) for drawing in drawings[:most]],
        "tables": [_table(table, setting, name, code, first=index == 0) for index, (name, table) in shown],
        "hidden": msg("{n:int} more tables and pictures", n=hidden).text(language) if hidden else "",
        "notes": [sentence(note, language) for note in result.notes],
        "findings": [],
    }


def tabulated(result: Result) -> bool:
    """Whether a table has every headline figure in a row of its own."""
    lists = (table for table in result.tables.values() if "metric" in table and "value" in table)
    return any(len(table) == len(result.values) for table in lists)


def found_view(findings: tuple[Finding, ...], setting: Setting) -> View:
    """The findings of one check, the first ones."""
    hidden = len(findings[FINDINGS:])
    return {
        "findings": [card(finding, setting.language) for finding in findings[:FINDINGS]],
        "unlisted": msg("{n:int} more findings", n=hidden).text(setting.language) if hidden else "",
    }


def _picture(drawing: Drawing, setting: Setting) -> View:
    def lost(reason: Message) -> View:
        text = msg("This picture could not be drawn: {reason}.", reason=reason)
        return {
            "title": sentence(drawing.picture.title, setting.language),
            "lost": sentence(text, setting.language),
        }

    return unless_lost(lambda: picture_view(drawing, setting), lost)


def _table(table: Table, setting: Setting, name: str, code: str, *, first: bool) -> View:
    def lost(reason: Message) -> View:
        text = msg("This table could not be written: {reason}.", reason=reason)
        return {"title": _name(name or "table"), "lost": sentence(text, setting.language), "changes": False}

    return unless_lost(lambda: table_view(table, setting, name, code, first=first), lost)


def section_view(section: Section, setting: Setting) -> View:
    """A check of an audit: how it ended and why, and its result."""
    view: View = {"headlines": [], "many": False, "tables": [], "pictures": [], "notes": [], "findings": []}
    view |= {
        "hidden": "",
        "id": section_id(section),
        "title": sentence(section.title, setting.language),
        "purpose": sentence(section.purpose, setting.language),
        "outcome": section.outcome,
        "open": False,
        "label": words.OUTCOMES[section.outcome].text(setting.language),
        "reason": sentence(section.reason, setting.language),
    }

    def whole() -> View:
        found = {} if section.result is None else result_view(section.result, section.code, setting)
        return {**found, **found_view(section.findings, setting), **{key: view[key] for key in ("id", "title")}}

    def lost(reason: Message) -> View:
        text = msg("The result of this check could not be shown: {reason}.", reason=reason)
        return {"reason": sentence(text, setting.language)}

    return {**view, **unless_lost(whole, lost)}


def picture_view(drawing: Drawing, setting: Setting) -> View:
    """A picture: its title, its static drawing, and its index among the figures of the page."""
    described, drawn = setting.figures.add(drawing, setting)
    left_out = described["layout"]["meta"]["left_out"]
    more = msg("{n:int} more are in the table.", n=left_out)
    return {
        "index": len(setting.figures.shown) - 1,
        "title": sentence(drawing.picture.title, setting.language),
        "left_out": more.text(setting.language) if left_out else "",
        "said": _said(described, setting.language),
        "drawing": drawn,
    }


def _said(described: Mapping[str, Any], language: Language) -> str:
    """What a reader hears who cannot see a picture: its first marks as they are told where they are pointed at."""
    marks = [text for trace in described["data"] for text in flat(trace.get("hovertext") or ()) if text]
    said = [", ".join(filter(None, lines_of(mark))) for mark in marks[:SAID]]
    return "; ".join([*said, msg("The table below has the same figures.").text(language)])


def table_view(table: Table, setting: Setting, name: str = "", code: str = "", *, first: bool = True) -> View:
    """A table: headings, cells, and what is not shown of it. In a fragment only the first of several is open."""
    language, rows = setting.language, setting.rows
    columns = None if setting.page else COLUMNS
    heads = [tame(column.heading(language)) for column in shown_columns(table)]
    lines = list(cells(table, language, rows, columns=columns))
    numeric = [any(line[index].number for line in lines) for index in range(len(heads[:columns]))]
    proofs = [
        {**proof, "row": next(cells(table.take([proof["at"]]), language, 1, columns=columns))}
        for proof in setting.proofs.get(f"{code}/{name}", ())
    ]
    return {
        "proofs": proofs,
        "marked": [proof["at"] for proof in proofs],
        "id": "table-" + anchor(f"{code}/{name}"),
        "title": _name(name or "table") if table.title is None else sentence(table.title, language),
        "heads": list(zip(heads[:columns], numeric, strict=True)),
        "labels": card_labels(heads[:columns]),
        "rows": lines,
        "more": "; ".join(_left_out(len(table), rows, 0 if columns is None else len(heads[columns:]), setting)),
        "folded": (len(table) > FOLDED and bool(name)) or not (first or setting.page),
        "changes": any(cell.change for line in lines for cell in line),
        "empty": not lines,
    }


#: A card names so many of its cells.
LABELS = 20


def card_labels(heads: Sequence[str]) -> str:
    """The headings as custom properties, from which a phone names the cells of a row: CSS texts, every sign escaped.

    >>> card_labels(["n", 'a"b'])
    "--h1:'n';--h2:'a\\\\22 b'"
    """
    texts = (
        "".join(char if char.isalnum() or char == " " else f"\\{ord(char):x} " for char in head)
        for head in heads[:LABELS]
    )
    return ";".join(f"--h{index}:'{text}'" for index, text in enumerate(texts, 1))


def _left_out(total: int, rows: int, columns: int, setting: Setting) -> list[str]:
    """That rows and columns are not shown."""
    parts = []
    if total > rows and setting.page:
        parts.append(
            msg("The first {shown:int} of {total:int} rows; report.json has all of them.", shown=rows, total=total)
        )
    elif total > rows:
        parts.append(msg("{n:one more row|# more rows}", n=total - rows))
    if columns:
        parts.append(msg("{n:one more column|# more columns}", n=columns))
    return [part.text(setting.language) for part in parts]


def _name(key: str) -> str:
    """A table's or a figure's key as a heading."""
    text = tame(key.replace("_", " "))
    return text[:1].upper() + text[1:]


def notice_view(notice: Notice, setting: Setting) -> View:
    """A notice: its facts, its tables whole, its notes, and what closes it."""
    whole = replace(setting, rows=max([setting.rows, *map(len, notice.shown)]))

    def pairs(facts: Sequence[Fact]) -> list[tuple[str, str]]:
        return [(name.text(setting.language), sentence(value, setting.language)) for name, value in facts]

    return {
        "title": sentence(notice.title, setting.language),
        "facts": pairs(notice.facts),
        "tables": [table_view(table, whole) for table in notice.shown],
        "notes": [sentence(note, setting.language) for note in notice.notes],
        "closing": pairs(notice.closing),
    }


def inquiry_view(inquiry: Inquiry, setting: Setting) -> View:
    """A question, its answer, what shows it, how sure it is, and everything that was measured."""
    language = setting.language
    results = [
        {
            **result_view(result, result.code, setting),
            "id": "result-" + anchor(result.code),
            "purpose": sentence(inquiry.purposes.get(result.code), language),
        }
        for result in inquiry.results
    ]
    return {
        "title": sentence(inquiry.question, language),
        "answer": [sentence(one, language) for one in inquiry.answer],
        "lead": None if inquiry.lead is None else result_view(inquiry.lead, "lead", setting),
        "sure": [sentence(one, language) for one in inquiry.sure],
        "about": [(name.text(language), readable(value, language)) for name, value in inquiry.about],
        "results": results,
    }


def part_view(part: Any, setting: Setting) -> tuple[str, View]:
    """Any part but a whole report: the macro of ``parts.html`` that arranges it, and its texts."""
    if isinstance(part, Inquiry):
        return "inquiry", inquiry_view(part, setting)
    if isinstance(part, Notice):
        return "notice", notice_view(part, setting)
    if isinstance(part, Section):
        return "section", {**section_view(part, setting), "open": True}
    if isinstance(part, Result):
        view = {**result_view(part, part.code, setting), **found_view(part.findings, setting)}
        quiet = [] if part.findings else [*part.lead] or [msg("There are no findings.")]
        return "result", {**view, "quiet": [sentence(one, setting.language) for one in quiet]}
    if isinstance(part, Table):
        return "table", table_view(part, setting)
    if isinstance(part, Drawing):
        return "picture", picture_view(part, setting)
    if isinstance(part, Finding):
        extra = {"id": "finding", "number": "", "also": "", "others": []}
        view = card(part, setting.language)
        return "card", {**view, **extra, "subject": view["who"], "title": msg("Finding").text(setting.language)}
    raise TypeError(f"Only parts of a report can be shown as HTML; got {type(part).__name__}.")
