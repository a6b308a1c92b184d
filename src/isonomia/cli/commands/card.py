"""`isonomia card`: what a rule asks to be published, made from a report."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from isonomia.cli.options.shared import Lang
from isonomia.errors import SpecError


def card(
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
    lang: Lang = "en",
) -> None:
    """Print the summary that a rule asks to be published, or write it to a file."""
    from isonomia.atomic import write_whole
    from isonomia.audit import Report, bias_audit_summary
    from isonomia.audit.bias_audit_summary import summary_markdown
    from isonomia.cli.output.frames import write_frame
    from isonomia.cli.output.screen import printable
    from isonomia.languages import check_language

    language = check_language(lang)
    if out is not None and out.suffix.lower() not in (".md", ".html", ".csv"):
        raise SpecError(f"The file to write must end in .md, .html or .csv; got {out.name!r}.")
    summary = bias_audit_summary(
        Report.load(report),
        source=source,
        explanation=explanation,
        distributed=None if distributed is None else distributed.date(),
    )
    if out is None:
        typer.echo(printable(summary_markdown(summary, language), lines=True), nl=False)
    elif out.suffix.lower() == ".csv":
        write_frame(summary.tables["impact_ratios"].frame(), out)
    else:
        text = summary.to_html(language) if out.suffix.lower() == ".html" else summary_markdown(summary, language)
        write_whole(out, text)
