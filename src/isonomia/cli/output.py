"""How a report is handed over: shown, saved, written for machines; the process ends with its exit code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from isonomia.atomic import atomic_write
from isonomia.cli.screen import Screen
from isonomia.languages import msg

if TYPE_CHECKING:
    from isonomia.audit import Report


def deliver(report: Report, screen: Screen, *, out: Path | None, junit: Path | None) -> dict[str, Path]:
    """Show the summary (or the JSON), and write the requested files; returns where the forms of the report are."""
    from isonomia.report import dumps, summary

    saved = {} if out is None else report.save(out, language=screen.language)
    if junit is not None:
        from isonomia.cli.junit import to_junit

        junit.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(junit) as part:
            part.write_text(to_junit(report.document, screen.language), encoding="utf-8", errors="replace")
    if screen.json:
        typer.echo(dumps(report.document))
    if screen.talks:
        screen.show(summary(report.document, screen.language))
        screen.say()
        if "html" in saved:
            screen.say(msg("Full report: {path}", path=str(saved["html"])))
        else:
            screen.say(msg("Pass --out FOLDER to write the full report."))
    return saved
