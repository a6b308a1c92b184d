"""Options that several commands share, with one meaning each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="JSON on standard output, for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing but errors (and JSON, with --json).")]
NoColor = Annotated[bool, typer.Option("--no-color", help="No colours; NO_COLOR is heeded too.")]
Lang = Annotated[str, typer.Option("--lang", metavar="L", help="Language: en or pt-BR.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Start of everything random.")]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="The folder for report.html, report.json and report.md.")
]
Junit = Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="JUnit XML for continuous integration.")]
Policy = Annotated[
    str | None, typer.Option("--policy", metavar="P", help="eeoc, nyc-ll144, ecoa, engineering, or your own file.")
]
