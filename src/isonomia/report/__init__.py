"""How is it shown: figures, HTML, Markdown, JSON.

An audit builds a `Document`; everything here only shows it, and any `evidence.Result` or `evidence.Finding` in it.
"""

from isonomia.report.document import Criterion, Document, Point, Section, SectionOutcome, Side, Verdict, VerdictOutcome
from isonomia.report.figures import draw, draw_svg
from isonomia.report.json_report import SCHEMA_VERSION, dumps, from_json, schema, to_json
from isonomia.report.markdown import to_markdown
from isonomia.report.page import to_html
from isonomia.report.saving import Form, save
from isonomia.report.terminal import summary

__all__ = [
    "SCHEMA_VERSION",
    "Criterion",
    "Document",
    "Form",
    "Point",
    "Section",
    "SectionOutcome",
    "Side",
    "Verdict",
    "VerdictOutcome",
    "draw",
    "draw_svg",
    "dumps",
    "from_json",
    "save",
    "schema",
    "summary",
    "to_html",
    "to_json",
    "to_markdown",
]
