"""`isonomia run`: a whole audit from one spec file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from isonomia.cli.options.screen import ScreenOptions
from isonomia.cli.options.shared import (
    AnalysisName,
    Annex,
    FailOn,
    Junit,
    ModelFile,
    Out,
    Pdf,
    Policy,
    StoreAddress,
    Summary,
)
from isonomia.cli.options.trust import TrustOptions
from isonomia.errors import SpecError


def run(
    *,
    spec: Annotated[
        Path | None, typer.Argument(metavar="SPEC", help="A YAML or JSON file: dataset, model, checks, policy.")
    ] = None,
    data: Annotated[
        str | None, typer.Option("--data", metavar="FILE", help="Another data file than the spec's.")
    ] = None,
    model: ModelFile = None,
    policy: Policy = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Another value of the spec: seed=3, drift.reference=old.csv"),
    ] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema of a spec, for editors, and do nothing else.")
    ] = False,
    fail_on: FailOn = "verdict",
    out: Out = None,
    pdf: Pdf = False,
    annex: Annex = False,
    summary: Summary = None,
    junit: Junit = None,
    store: StoreAddress = None,
    analysis: AnalysisName = None,
    trust: TrustOptions,
    talk: ScreenOptions,
) -> None:
    """Run everything that a spec file asks for.

    --data, --model, --policy, --lang and --set replace what the spec says: one file serves every release. Code, and
    connections, that the spec itself asks for need --trust.
    """
    if schema:
        from json import dumps

        from isonomia.audit import spec_schema

        typer.echo(dumps(spec_schema(), indent=1))
        return
    if spec is None:
        raise SpecError(
            "`isonomia run` needs a spec file: isonomia run spec.yaml (or --schema for the keys it may have)."
        )
    from isonomia.audit import changed_checks, exit_code, out_folder, read_changes, read_spec
    from isonomia.audit import run as run_spec
    from isonomia.cli.output.progress_bar import ProgressBar
    from isonomia.cli.output.report import check_outputs, deliver
    from isonomia.cli.output.store import chosen_store
    from isonomia.languages import msg

    changed = read_changes(changes)
    given = read_spec(spec, {**changed, **_replaced(data, model, policy)})
    if asked := changed_checks(changed):
        named = [given.checks] if isinstance(given.checks, str) else given.checks
        given = given.model_copy(update={"checks": [*named, *asked]})
    screen = talk.screen(given.language)
    word = trust.word()
    folder = out if out is not None else out_folder(given, word)
    keeping = chosen_store(store, analysis)
    check_outputs(folder, junit, pdf=pdf or annex, summary=summary)
    with ProgressBar(screen, msg("Reading")) as progress:
        silent = given.model_copy(update={"out": None, "language": screen.language})
        report = run_spec(silent, trust=word, progress=progress)
    files = {"junit": junit, "summary": summary}
    deliver(report, screen, out=folder, **files, pdf=pdf, annex=annex, keeping=keeping, fail_on=fail_on)
    raise typer.Exit(exit_code(report.document, report.policy, fail_on))


def _replaced(data: str | None, model: str | None, policy: str | None) -> dict[str, Any]:
    """What the options name instead of the spec's; paths are those of the shell, not of the spec's folder."""
    given = {"dataset.path": data, "model.path": model, "policy": policy}
    return {key: _there(value) for key, value in given.items() if value is not None}


def _there(name: str) -> str:
    """A file by its whole path; a name of a policy, a module or an address as it is."""
    path = Path(name).expanduser()
    return str(path.resolve()) if path.exists() else name
