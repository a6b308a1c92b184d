"""How is it shown: figures, HTML, Markdown, JSON.

An audit builds a `Document`; everything here only shows it, and any `evidence.Result` or `evidence.Finding` in it.
"""

from typing import TYPE_CHECKING

from isonomia.parameters import face
from isonomia.report.csv_text import csv_of, to_csv
from isonomia.report.document import (
    ComparedGroup,
    Criterion,
    Document,
    Point,
    Section,
    SectionOutcome,
    Side,
    Verdict,
    VerdictOutcome,
)
from isonomia.report.figures import draw, draw_svg
from isonomia.report.inquiry import Inquiry
from isonomia.report.json_report import SCHEMA_VERSION, content_hash, dumps, from_json, schema, to_json
from isonomia.report.latex import escaped, to_latex
from isonomia.report.markdown import to_markdown
from isonomia.report.notice import Fact, Notice
from isonomia.report.page import Extent, to_html
from isonomia.report.pdf import find_chromium, to_pdf
from isonomia.report.plain_text import to_text
from isonomia.report.saving import Form, save
from isonomia.report.terminal import summary

__all__ = [
    "SCHEMA_VERSION",
    "ComparedGroup",
    "Criterion",
    "Document",
    "Extent",
    "Fact",
    "Form",
    "Inquiry",
    "Notice",
    "Point",
    "Section",
    "SectionOutcome",
    "Side",
    "Verdict",
    "VerdictOutcome",
    "content_hash",
    "csv_of",
    "draw",
    "draw_svg",
    "dumps",
    "escaped",
    "find_chromium",
    "from_json",
    "save",
    "schema",
    "summary",
    "to_csv",
    "to_html",
    "to_json",
    "to_latex",
    "to_markdown",
    "to_pdf",
    "to_text",
]

if not TYPE_CHECKING:
    __dir__, __getattr__ = face(__name__, __all__)
