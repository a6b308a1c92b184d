"""A study on disk: the report in every language, tables as CSV and LaTeX, figures as SVG."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

from isonomia.atomic import atomic_write
from isonomia.errors import SpecError
from isonomia.evidence import Table
from isonomia.languages import languages
from isonomia.report import save
from isonomia.study.latex import to_latex

if TYPE_CHECKING:
    from isonomia.study.outcome import Study


def save_study(study: Study, folder: Path) -> dict[str, Path]:
    """Writes ``<language>/report.*``, ``tables/*.csv``, ``tables/*.<language>.tex``, ``figures/*.<language>.svg``."""
    if folder.exists() and not folder.is_dir():
        raise SpecError(f"A study goes into a folder; {str(folder)!r} is a file. Name a folder, or move the file.")
    document = study.document
    written: dict[str, Path] = {}
    for language in languages():
        paths = save(document, folder / language, language=language)
        written |= {f"{language}/{form}": path for form, path in paths.items()}
    results = [section.result for section in document.sections if section.result is not None]
    for result in results:
        for name, table in result.tables.items():
            stem = f"{result.code}-{name}"
            written[f"table/{stem}.csv"] = _write(folder / "tables" / f"{stem}.csv", to_csv(table))
            for language in languages():
                path = folder / "tables" / f"{stem}.{language}.tex"
                written[f"table/{path.name}"] = _write(path, to_latex(table, language) + "\n")
        for name, drawing in result.drawings.items():
            for language in languages():
                path = folder / "figures" / f"{result.code}-{name}.{language}.svg"
                written[f"figure/{path.name}"] = _write(path, drawing.to_svg(language))
    return written


def to_csv(table: Table) -> str:
    """The table as CSV: intervals and reasons as columns of their own, full precision.

    A text that a spreadsheet would take for a formula gets an apostrophe before it.
    """
    stream = io.StringIO()
    rows = list(table.rows())
    writer = csv.DictWriter(stream, fieldnames=list(rows[0]) if rows else list(table.names), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _plain(value) for name, value in row.items()} for row in rows)
    return stream.getvalue()


def _plain(value: object) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = str(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as part:
        part.write_bytes(text.encode("utf-8", "replace"))
    return path
