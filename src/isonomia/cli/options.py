"""Options that several commands share, with one meaning each."""

from __future__ import annotations

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="JSON on standard output, for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing but errors (and JSON, with --json).")]
NoColor = Annotated[bool, typer.Option("--no-color", help="No colours; NO_COLOR is heeded too.")]
Lang = Annotated[str, typer.Option("--lang", metavar="L", help="Language: en or pt-BR.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Start of everything random.")]
