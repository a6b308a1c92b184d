"""The report on disk: each file is written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from isonomia.atomic import write_whole
from isonomia.errors import FAULTS, InternalError, IsonomiaError, SpecError, close_to, kind_of, place_of, show_trace
from isonomia.report.document import Document
from isonomia.report.json_report import dumps
from isonomia.report.markdown import to_markdown
from isonomia.report.page import to_html
from isonomia.report.pdf import to_pdf

Form = Literal["html", "json", "md", "summary", "pdf", "annex"]

#: Of each form the name of its file and what writes it.
_FORMS: Mapping[str, tuple[str, Callable[[Document, str], str | bytes]]] = {
    "html": ("report.html", to_html),
    "json": ("report.json", lambda document, language: dumps(document)),
    "md": ("report.md", to_markdown),
    "summary": ("summary.html", lambda document, language: to_html(document, language, extent="first_page")),
    "pdf": ("report.pdf", to_pdf),
    "annex": ("report-with-annex.pdf", lambda document, language: to_pdf(document, language, extent="whole")),
}


def save(
    document: Document,
    folder: str | os.PathLike[str],
    *,
    formats: Sequence[Form] = ("html", "json", "md"),
    language: str = "en",
) -> dict[str, Path]:
    """Writes a report into a folder, which is made where it is not there.

    Parameters
    ----------
    document : Document
    folder : path
    formats : sequence of "html", "json", "md", "summary", "pdf", "annex"
        report.html, report.json and report.md; summary.html is the first page alone, for one sheet of paper. Chromium,
        which has to be installed, prints report.pdf (the first page, the findings and the criteria) and, with "annex",
        report-with-annex.pdf (everything).
    language : "en" or "pt-BR"
        Of all but JSON, which holds English texts and the templates behind them.

    Returns
    -------
    dict of Path
        Where each form was written.
    """
    unknown = [form for form in formats if form not in _FORMS]
    if unknown:
        raise SpecError(f"`formats` must be some of {list(_FORMS)}; got {unknown[0]!r}.{close_to(unknown[0], _FORMS)}")
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise SpecError(f"The report goes into a folder; {str(target)!r} is a file. Name a folder, or move the file.")
    target.mkdir(parents=True, exist_ok=True)
    return _written(document, target, sorted(formats, key=lambda form: form != "json"), language)


def _written(document: Document, target: Path, formats: Sequence[Form], language: str) -> dict[str, Path]:
    """The files that were written, the JSON first: where a form fails the others are there before the error is."""
    written: dict[str, Path] = {}
    failed: dict[str, BaseException] = {}
    for form in formats:
        name, made = _FORMS[form]
        try:
            content = made(document, language)
        except FAULTS as error:
            failed[name] = error
        else:
            written[form] = write_whole(target / name, content)
    for name, error in failed.items():
        show_trace(error)
        if isinstance(error, IsonomiaError) or os.environ.get("ISONOMIA_FAULTS") == "raise":
            raise error
        kept = ", ".join(path.name for path in written.values())
        if not kept:
            raise InternalError(f"{name} could not be made: {kind_of(error)} (at {place_of(error)}).") from error
        raise InternalError(
            f"{name} could not be made: {kind_of(error)} (at {place_of(error)}). {str(target)!r} has {kept}."
        ) from error
    return written
