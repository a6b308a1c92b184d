"""The foot of every page: which report of which data and model it is, and on paper which page of how many."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from isonomia._version import __version__
from isonomia.languages import Language, Message, msg
from isonomia.report.document import Document
from isonomia.report.json_report import to_json
from isonomia.report.texts import tame

#: Characters of a hash that are written.
SHORT = 12


def foot(part: Any, language: Language) -> str:
    """The hashes of a report, its data and its model, and the version of the program.

    >>> foot(Document("Audit", {}, fingerprint={"data_sha256": "ab" * 32}), "en").split(" · ")[1]
    'data abababababab'
    """
    known: list[Message] = []
    if isinstance(part, Document):
        known.append(msg("report {mark}", mark=to_json(part)["sha256"][:SHORT]))
        if data := part.fingerprint.get("data_sha256"):
            known.append(msg("data {mark}", mark=tame(str(data)[:SHORT])))
        if model := part.fingerprint.get("model_sha256"):
            known.append(msg("model {mark}", mark=tame(str(model)[:SHORT])))
    return " · ".join([*(one.text(language) for one in known), f"Isonomia {__version__}"])


def on_paper(text: str, language: Language) -> Markup:
    """The rule of style that writes a text at the foot of every sheet, and the number of the sheet."""
    before, between, after = msg("page {n} of {all}", n="\0", all="\0").text(language).split("\0")
    number = f"{_quoted(before)} counter(page) {_quoted(between)} counter(pages) {_quoted(after)}"
    look = "font: 7pt ui-monospace, monospace; color: #444;"
    return Markup(
        f"@page {{ @bottom-left {{ content: {_quoted(text)}; {look} }} @bottom-right {{ content: {number}; {look} }} }}"
    )


def _quoted(text: str) -> str:
    """A text of CSS: nothing in it can end it, or the style it stands in."""
    kept = (char if char.isalnum() or char in " ." else f"\\{ord(char):x} " for char in text)
    return '"' + "".join(kept) + '"'
