"""Reports and results on disk: the suffix of a path decides what is written, each file whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from isonomia.atomic import write_whole
from isonomia.errors import FAULTS, InternalError, IsonomiaError, SpecError, close_to, kind_of, place_of, show_trace
from isonomia.evidence import Result
from isonomia.evidence.column import plain
from isonomia.report.csv_text import csv_of, to_csv
from isonomia.report.document import Document
from isonomia.report.inquiry import Inquiry
from isonomia.report.json_report import dumps
from isonomia.report.markdown import to_markdown
from isonomia.report.page import to_html
from isonomia.report.pdf import to_pdf

Form = Literal["html", "json", "md", "summary", "pdf", "annex"]
Write = Callable[[Any, str], str | bytes]


def _csv(result: Result) -> str:
    """The main table; what a search found is more than the page of it shows."""
    if type(result).table is Result.table:
        return to_csv(result.main_table)
    import narwhals.stable.v2 as nw

    found = nw.from_native(result.table, eager_only=True)
    rows = found.iter_rows(named=True)
    return csv_of(({name: plain(value) for name, value in row.items()} for row in rows), found.columns)


#: What is written into a folder unless forms are named.
USUAL: tuple[Form, ...] = ("html", "json", "md")
#: Of each form of a report the name of its file in a folder and what writes it.
_FORMS: Mapping[str, tuple[str, Write]] = {
    "html": ("report.html", to_html),
    "json": ("report.json", lambda document, language: dumps(document)),
    "md": ("report.md", to_markdown),
    "summary": ("summary.html", lambda document, language: to_html(document, language, extent="first_page")),
    "pdf": ("report.pdf", to_pdf),
    "annex": ("report-with-annex.pdf", lambda document, language: to_pdf(document, language, extent="whole")),
}
#: The same of a result by itself.
_RESULT_FORMS: Mapping[str, tuple[str, Write]] = {
    "html": ("result.html", to_html),
    "json": ("result.json", lambda result, language: result.to_json()),
    "md": ("result.md", to_markdown),
    "pdf": ("result.pdf", to_pdf),
    "csv": ("result.csv", lambda result, language: _csv(result)),
}
#: The same of a question that was investigated.
_INQUIRY_FORMS: Mapping[str, tuple[str, Write]] = {
    "html": ("report.html", to_html),
    "json": ("report.json", lambda inquiry, language: inquiry.to_json()),
    "md": ("report.md", to_markdown),
    "pdf": ("report.pdf", to_pdf),
}
#: The form that each suffix asks for.
_SUFFIXES: Mapping[str, str] = {
    ".html": "html",
    ".htm": "html",
    ".json": "json",
    ".md": "md",
    ".pdf": "pdf",
    ".csv": "csv",
}


def save(
    part: Document | Result | Inquiry,
    path: str | os.PathLike[str],
    *,
    formats: Sequence[Form] | None = None,
    language: str = "en",
) -> dict[str, Path]:
    """Writes a report, or a result by itself: one file where the path has a suffix, else a folder, which is made.

    Parameters
    ----------
    part : Document, Report, Result or Inquiry
    path : path
        A file that ends in ``.html``, ``.json``, ``.md`` or ``.pdf`` (a result also in ``.csv``: its main table), or a
        folder.
    formats : sequence of "html", "json", "md", "summary", "pdf", "annex", optional
        Of a folder: report.html, report.json and report.md, unless others are named; summary.html is the first page
        alone, for a mail or one sheet of paper (``save("mail.html", formats=["summary"])`` is that file). Chromium,
        which has to be installed, prints report.pdf (the first page, the findings and the criteria) and, with "annex",
        report-with-annex.pdf (everything). A result has html, json, md, pdf and csv, in files named result.
    language : "en" or "pt-BR"
        Of all but JSON and CSV: JSON holds English texts and the templates behind them.

    Returns
    -------
    dict of Path
        Where each form was written.
    """
    shown = getattr(part, "document", part)
    if not isinstance(shown, Document | Result | Inquiry):
        raise SpecError(f"Only a report or a result can be saved; got {type(part).__name__}.")
    known = _RESULT_FORMS
    if not isinstance(shown, Result):
        known = _FORMS if isinstance(shown, Document) else _INQUIRY_FORMS
    form = _form_of(path, known)
    if form is not None:
        form = _one_form(path, form, formats, known)
        return _written(shown, {form: (Path(path).expanduser(), known[form][1])}, language)
    asked = USUAL if formats is None else formats
    unknown = [one for one in asked if one not in known]
    if unknown:
        raise SpecError(f"`formats` must be some of {list(known)}; got {unknown[0]!r}.{close_to(unknown[0], known)}")
    target = _folder(path, known)
    target.mkdir(parents=True, exist_ok=True)
    first = sorted(asked, key=lambda one: one != "json")
    return _written(shown, {one: (target / known[one][0], known[one][1]) for one in first}, language)


def _one_form(path: str | os.PathLike[str], usual: str, asked: Sequence[str] | None, known: Mapping[str, Any]) -> str:
    """The form that is written into a file: that of its suffix, or another one with the same suffix."""
    if asked is None:
        return usual
    if len(asked) == 1 and asked[0] in known and Path(known[asked[0]][0]).suffix == Path(known[usual][0]).suffix:
        return asked[0]
    raise SpecError(
        f"One file holds one form, and the suffix of {str(path)!r} is that of {usual!r}; leave `formats` out, or name "
        "a folder."
    )


def check_target(path: str | os.PathLike[str]) -> bool:
    """Whether a report is saved to this path as a folder; what `save` refuses is refused."""
    folder = _form_of(path, _FORMS) is None
    if folder:
        _folder(path, _FORMS)
    return folder


def _folder(path: str | os.PathLike[str], known: Mapping[str, Any]) -> Path:
    target = Path(path).expanduser()
    if target.exists() and not target.is_dir():
        raise SpecError(
            f"The report goes into a folder; {str(target)!r} is a file. Name a folder, or a file that ends in "
            f"{_listed(known)}."
        )
    return target


def _written(part: Any, files: Mapping[str, tuple[Path, Write]], language: str) -> dict[str, Path]:
    """The files that were written in this order: where a form fails the others are there before the error is."""
    written: dict[str, Path] = {}
    failed: dict[Path, BaseException] = {}
    for form, (path, make) in files.items():
        try:
            content = make(part, language)
        except FAULTS as error:
            failed[path] = error
        else:
            written[form] = write_whole(path, content)
    for path, fault in failed.items():
        show_trace(fault)
        if isinstance(fault, IsonomiaError) or os.environ.get("ISONOMIA_FAULTS") == "raise":
            raise fault
        name, kept = path.name, ", ".join(one.name for one in written.values())
        if not kept:
            raise InternalError(f"{name} could not be made: {kind_of(fault)} (at {place_of(fault)}).") from fault
        raise InternalError(
            f"{name} could not be made: {kind_of(fault)} (at {place_of(fault)}). {str(path.parent)!r} has {kept}."
        ) from fault
    return written


def _form_of(path: str | os.PathLike[str], known: Mapping[str, Any]) -> str | None:
    """The form that a path's suffix asks for; None for a folder."""
    suffix = Path(path).suffix.lower()
    if Path(path).expanduser().is_dir() or str(path).endswith(("/", os.sep)) or not suffix[1:].isalpha():
        return None
    form = _SUFFIXES.get(suffix)
    if form not in known:
        raise SpecError(
            f"{str(path)!r} ends in {suffix!r}, which cannot be written. Name a file that ends in {_listed(known)}; or "
            "a folder, without a suffix."
        )
    return form


def _listed(known: Mapping[str, Any]) -> str:
    return ", ".join(suffix for suffix, form in _SUFFIXES.items() if form in known and suffix != ".htm")
