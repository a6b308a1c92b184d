"""A benchmark on disk: cells and summary as CSV, tables as LaTeX, figures, the report in every language, a README."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from isonomia._version import __version__
from isonomia.atomic import write_whole
from isonomia.benchmark.figures import save_figures
from isonomia.benchmark.grids import BUDGETS
from isonomia.benchmark.latex_scores import latex_scores
from isonomia.benchmark.summary import PRIMARY, Cells, csv_rows
from isonomia.benchmark.tables import summary_table
from isonomia.errors import SpecError
from isonomia.languages import languages
from isonomia.report import csv_of, save, to_csv

if TYPE_CHECKING:
    from isonomia.benchmark.reading import Benchmark


def save_benchmark(
    benchmark: Benchmark, folder: Path, *, figures: bool = True, nemenyi: bool = False
) -> dict[str, Path]:
    """Writes everything that the cells allow into a folder; see `Benchmark.save`."""
    if folder.exists() and not folder.is_dir():
        raise SpecError(f"A benchmark is written to a folder, but {str(folder)!r} is a file. Name a folder.")
    cells = benchmark.cells
    rows = csv_rows(cells)
    written = {"cells.csv": write_whole(folder / "cells.csv", csv_of(rows, list(rows[0])))}
    written["summary.csv"] = write_whole(folder / "summary.csv", _summary(cells))
    for result in benchmark.results:
        for name, table in result.tables.items():
            path = folder / "tables" / f"{result.code}-{name}.csv"
            written[f"tables/{path.name}"] = write_whole(path, to_csv(table))
    for language in languages():
        paths = save(benchmark.document, folder / language, language=language)
        written |= {f"{language}/{form}": path for form, path in paths.items()}
        for finds in PRIMARY:
            if cells.to_find() and cells.methods(finds):
                path = folder / "tables" / f"{finds}.{language}.tex"
                written[f"tables/{path.name}"] = write_whole(path, latex_scores(cells, finds, language))
        if figures:
            for path in save_figures(cells, folder / "figures", language=language, nemenyi=nemenyi):
                written[f"figures/{path.name}"] = path
    written["README.md"] = write_whole(folder / "README.md", _readme(cells))
    return written


def _summary(cells: Cells) -> str:
    """One row per kind and method; the scores of both kinds as columns."""
    rows: list[dict[str, Any]] = []
    for finds in PRIMARY:
        if cells.methods(finds, ranked=False):
            rows += [{"finds": finds, **row} for row in summary_table(cells, finds).rows()]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return csv_of([{name: row.get(name) for name in names} for row in rows], names)


def _readme(cells: Cells) -> str:
    """What was run, with which limits, and where."""
    methods = sorted({str(row["method"]) for row in cells.rows})
    budgets = sorted({str(row["budget"]) for row in cells.rows})
    limits = [
        f"- budget {name}: {BUDGETS[name].purpose}" if name in BUDGETS else f"- budget {name}" for name in budgets
    ]
    seeds = len({row["data_seed"] for row in cells.rows})
    lines = [
        f"# Benchmark `{cells.benchmark}`",
        "",
        f"Isonomia {__version__}. Repeat it with `isonomia benchmark run {cells.benchmark}`.",
        "",
        f"- {len(cells.rows):,} cells done, {cells.waiting:,} to do",
        f"- {len(cells.settings)} settings, {seeds} datasets each",
        *limits,
        f"- machines: {len({row['machine'] for row in cells.rows})}",
        f"- methods: {', '.join(methods)}",
        "",
        "`cells.csv` has one row per cell (columns of time and memory are the last), `summary.csv` one per method, "
        "`tables/` the tables of the report and LaTeX for booktabs, `figures/` SVG and PDF, `en/` and `pt-BR/` the "
        "report.",
    ]
    return "\n".join(lines) + "\n"
