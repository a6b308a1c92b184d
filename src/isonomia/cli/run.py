"""`isonomia run`: a whole audit from one spec file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isonomia.cli.options import Json, Junit, NoColor, Out, Quiet
from isonomia.cli.screen import Screen
from isonomia.errors import SpecError
from isonomia.languages import languages


def run(
    spec: Annotated[
        Path | None, typer.Argument(metavar="SPEC", help="A YAML or JSON file: dataset, model, checks, policy.")
    ] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema of a spec, for editors, and do nothing else.")
    ] = False,
    lang: Annotated[
        str | None,
        typer.Option("--lang", metavar="L", help=f"Language: {' or '.join(languages())}; else the spec's own."),
    ] = None,
    out: Out = None,
    junit: Junit = None,
    json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> None:
    """Run everything that a spec file asks for."""
    if schema:
        from json import dumps

        from isonomia.audit import spec_schema

        typer.echo(dumps(spec_schema(), indent=1))
        return
    if spec is None:
        raise SpecError("`isonomia run` needs a spec file: isonomia run spec.yaml (or --schema to see what it holds).")
    from isonomia.audit import read_spec
    from isonomia.audit import run as run_spec
    from isonomia.cli.output import deliver
    from isonomia.cli.progress_bar import ProgressBar
    from isonomia.languages import check_language, msg

    given = read_spec(spec)
    screen = Screen(json=json, quiet=quiet, color=not no_color, language=check_language(lang or given.language))
    folder = out if out is not None or given.out is None else Path(given.out)
    with ProgressBar(screen, msg("Reading")) as progress:
        report = run_spec(given.model_copy(update={"out": None, "language": screen.language}), progress=progress)
    deliver(report, screen, out=folder, junit=junit)
    raise typer.Exit(report.exit_code)
