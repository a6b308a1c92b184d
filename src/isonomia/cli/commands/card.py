"""`isonomia card`: what a rule asks to be published, made from a report."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from isonomia.cli.options.screen import ScreenOptions
from isonomia.errors import SpecError


def card(
    *,
    report: Annotated[Path, typer.Argument(metavar="REPORT", help="A report.json, or the folder it is in.")],
    kind: Annotated[
        Literal["ll144"], typer.Option("--kind", metavar="K", help="ll144: New York City's summary of a bias audit.")
    ] = "ll144",
    source: Annotated[str, typer.Option("--source", metavar="TEXT", help="Where the data come from.")] = "",
    explanation: Annotated[str, typer.Option("--explanation", metavar="TEXT", help="What the data are.")] = "",
    distributed: Annotated[
        datetime | None,
        typer.Option("--distributed", metavar="DATE", formats=["%Y-%m-%d"], help="When the tool was distributed."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write it: .md, .html or .csv (the ratios).")
    ] = None,
    talk: ScreenOptions,
) -> None:
    """Print the summary that a rule asks to be published, or write it to a file."""
    from isonomia.atomic import write_whole
    from isonomia.audit import Report, bias_audit_summary
    from isonomia.audit.bias_audit_summary import summary_markdown
    from isonomia.report import to_csv

    screen = talk.screen()
    if out is not None and out.suffix.lower() not in (".md", ".html", ".csv"):
        raise SpecError(f"The file to write must end in .md, .html or .csv; got {out.name!r}.")
    summary = bias_audit_summary(
        Report.load(report),
        source=source,
        explanation=explanation,
        distributed=None if distributed is None else distributed.date(),
    )
    if screen.json:
        screen.data(summary.to_dict())
    if out is None:
        screen.say(summary_markdown(summary, screen.language).rstrip("\n"))
    elif out.suffix.lower() == ".csv":
        write_whole(out, to_csv(summary.tables["impact_ratios"]))  # for spreadsheets: no text is taken for a formula
    else:
        write = summary.to_html if out.suffix.lower() == ".html" else partial(summary_markdown, summary)
        write_whole(out, write(screen.language))
