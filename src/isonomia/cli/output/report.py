"""Reports and results as files and on the screen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from isonomia.atomic import write_whole
from isonomia.cli.output.screen import Screen
from isonomia.errors import SpecError
from isonomia.languages import msg

if TYPE_CHECKING:
    from isonomia.audit import FailOn, Report
    from isonomia.cli.output.store import Keeping
    from isonomia.evidence import Result
    from isonomia.report import Form


def check_pdf(pdf: bool, out: Path | None) -> None:
    """Refuse a PDF that could not be written, before the work begins."""
    if not pdf:
        return
    if out is None:
        raise SpecError("`--pdf` and `--annex` write into the folder of the report; name the folder with --out.")
    from isonomia.report import find_chromium

    find_chromium()


def write_result(screen: Screen, result: Result, page: Path, record: Mapping[str, Any]) -> None:
    """Write a result as an HTML page, and its record as JSON beside it."""
    write_whole(page, result.to_html(screen.language))
    write_whole(page.with_suffix(".json"), json.dumps(record, allow_nan=False, indent=1) + "\n")
    screen.say(msg("Full report: {path}", path=str(page)))


def deliver(
    report: Report,
    screen: Screen,
    *,
    out: Path | None,
    junit: Path | None = None,
    pdf: bool = False,
    annex: bool = False,
    keeping: Keeping | None = None,
    fail_on: FailOn = "verdict",
) -> dict[str, Path]:
    """Keep the report, show the summary (or the JSON), and write the requested files; returns where its forms are."""
    from isonomia.report import dumps, summary

    if keeping is not None:
        report = keeping.keep(report, screen)
    saved = {} if out is None else report.save(out, language=screen.language)
    printed: list[Form] = [form for form, wanted in (("pdf", pdf), ("annex", annex)) if wanted]  # type: ignore[misc]
    if printed and out is not None:  # apart: what was written stays where printing fails
        saved |= report.save(out, formats=printed, language=screen.language)
    if junit is not None:
        from isonomia.cli.output.junit import to_junit

        text = to_junit(report.document, screen.language, policy=report.policy, fail_on=fail_on)
        write_whole(junit, text)
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
