"""The report on disk: each file is written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from isonomia.atomic import atomic_write
from isonomia.errors import SpecError, close_to
from isonomia.report.document import Document
from isonomia.report.json_report import dumps
from isonomia.report.markdown import to_markdown
from isonomia.report.page import to_html

Form = Literal["html", "json", "md"]

_FORMS: Mapping[str, Callable[[Document, str], str]] = {
    "html": to_html,
    "json": lambda document, language: dumps(document),
    "md": to_markdown,
}


def save(
    document: Document,
    folder: str | os.PathLike[str],
    *,
    formats: Sequence[Form] = ("html", "json", "md"),
    language: str = "en",
) -> dict[str, Path]:
    """Writes report.html, report.json and report.md into a folder, which is made where it is not there.

    Parameters
    ----------
    document : Document
    folder : path
    formats : sequence of "html", "json", "md"
    language : "en" or "pt-BR"
        Of the page and the Markdown; JSON holds English texts and the templates behind them.

    Returns
    -------
    dict of Path
        Where each form was written.
    """
    unknown = [form for form in formats if form not in _FORMS]
    if unknown:
        raise SpecError(f"`formats` must be some of {list(_FORMS)}; got {unknown[0]!r}.{close_to(unknown[0], _FORMS)}")
    texts = {form: _FORMS[form](document, language) for form in formats}
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise SpecError(f"The report goes into a folder; {str(target)!r} is a file. Name a folder, or move the file.")
    target.mkdir(parents=True, exist_ok=True)
    return {form: _write(target / f"report.{form}", text) for form, text in texts.items()}


def _write(path: Path, text: str) -> Path:
    with atomic_write(path) as part:
        # half of a surrogate pair, which hostile data may hold, has no UTF-8
        part.write_bytes(text.encode("utf-8", "replace"))
    return path
