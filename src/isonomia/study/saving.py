"""A study on disk: the report in every language, tables as CSV and LaTeX, figures as SVG."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from isonomia.atomic import write_whole
from isonomia.errors import SpecError
from isonomia.languages import languages
from isonomia.report import save, to_csv, to_latex

if TYPE_CHECKING:
    from isonomia.study.outcome import Study


def save_study(study: Study, folder: Path) -> dict[str, Path]:
    """Writes ``<language>/report.*``, ``tables/*.csv``, ``tables/*.<language>.tex``, ``figures/*.<language>.svg``."""
    if folder.exists() and not folder.is_dir():
        raise SpecError(f"A study is written to a folder, but {str(folder)!r} is a file. Name a folder.")
    document = study.document
    written: dict[str, Path] = {}
    for language in languages():
        paths = save(document, folder / language, language=language)
        written |= {f"{language}/{form}": path for form, path in paths.items()}
    for result in document.results:
        for name, table in result.tables.items():
            stem = f"{result.code}-{name}"
            written[f"table/{stem}.csv"] = write_whole(folder / "tables" / f"{stem}.csv", to_csv(table))
            for language in languages():
                path = folder / "tables" / f"{stem}.{language}.tex"
                written[f"table/{path.name}"] = write_whole(path, to_latex(table, language) + "\n")
        for name, drawing in result.drawings.items():
            for language in languages():
                path = folder / "figures" / f"{result.code}-{name}.{language}.svg"
                written[f"figure/{path.name}"] = write_whole(path, drawing.to_svg(language))
    return written
