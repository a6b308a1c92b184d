"""`isonomia runs`: what was found before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from isonomia.cli.command_group import CommandGroup
from isonomia.cli.options.roles import read_names
from isonomia.cli.options.screen import ScreenOptions
from isonomia.cli.options.shared import AnalysisName, Out, StoreAddress
from isonomia.languages import Message, msg

if TYPE_CHECKING:
    from isonomia.evidence import Table
    from isonomia.store import Run

runs = CommandGroup("What was found before: runs kept in a store.", no_args_is_help=True)

RunId = Annotated[
    str, typer.Argument(metavar="RUN", help="The id of a run, its first characters, or an analysis for its last run.")
]
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder.")]
Only = Annotated[str | None, typer.Option("--analysis", metavar="NAME", help="Only this analysis.")]


@runs.command("list")
def list_(
    *,
    analysis: Annotated[str | None, typer.Argument(metavar="ANALYSIS", help="Only runs of this analysis.")] = None,
    store: StoreAddress = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="The newest only.")] = 20,
    talk: ScreenOptions,
) -> None:
    """List runs, the newest first."""
    from isonomia.cli.output.store import open_store

    screen = talk.screen()
    with open_store(store) as opened:
        found = opened.runs(analysis, limit=limit)
    if talk.json:
        screen.data([_plain(run) for run in found])
    screen.table(_table(found), title=msg("{n:# run|# runs}", n=len(found)).text(screen.language))


@runs.command("show")
def show(
    *,
    run: RunId,
    store: StoreAddress = None,
    out: Out = None,
    talk: ScreenOptions,
) -> None:
    """Show the report of a run again, or write it into a folder; ends with the exit code of its audit."""
    from isonomia.cli.output.report import deliver
    from isonomia.cli.output.store import open_store

    screen = talk.screen()
    with open_store(store) as opened:
        found = opened.run(run)
        report = opened.load(found)
    if found.kind == "audit":
        deliver(report, screen, out=out)
        raise typer.Exit(report.exit_code)
    if talk.json:
        screen.data(report.to_dict())
    for finding in report.findings:
        screen.say(finding.message)
    for table in report.tables.values():
        screen.table(table, title=None if table.title is None else table.title.text(screen.language))


@runs.command("compare")
def compare(
    *,
    before: RunId,
    after: RunId,
    store: StoreAddress = None,
    talk: ScreenOptions,
) -> None:
    """Compare two runs: did the model get worse? Ends with 1 where the verdict or a figure got worse."""
    from isonomia.cli.commands.compare import show_comparison
    from isonomia.cli.output.store import open_store

    screen = talk.screen()
    with open_store(store) as opened:
        comparison = opened.compare(before, after)
    show_comparison(screen, comparison)
    raise typer.Exit(comparison.exit_code)


@runs.command("rm")
def remove(
    *,
    run: RunId,
    store: StoreAddress = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    talk: ScreenOptions,
) -> None:
    """Remove a run; the log keeps that it was there."""
    from isonomia.cli.output.store import open_store

    with open_store(store) as opened:
        found = opened.run(run)
        if not yes:
            typer.confirm(f"Remove the run {found.id} of {found.analysis}? It cannot be brought back.", abort=True)
        opened.remove(found)
    _done(talk, msg("Removed run {id} of {analysis}.", id=found.id, analysis=found.analysis))


@runs.command("import")
def import_(*, folder: Folder, store: StoreAddress = None, analysis: AnalysisName = None, talk: ScreenOptions) -> None:
    """Add the runs of an exported folder, or every report.json in a folder."""
    from isonomia.cli.output.store import open_store

    with open_store(store) as opened:
        new, known = opened.import_(folder, analysis=analysis)
    _done(talk, msg("Added {new:# run|# runs}; the store had {known:# already|# already}.", new=new, known=known))


@runs.command("export")
def export(*, folder: Folder, store: StoreAddress = None, analysis: Only = None, talk: ScreenOptions) -> None:
    """Write all runs as files; `isonomia runs import` reads them again, byte by byte."""
    from isonomia.cli.output.store import open_store

    with open_store(store) as opened:
        n = opened.export(folder, analysis=analysis)
    _done(talk, msg("Wrote {n:# run|# runs} to {path}.", n=n, path=str(folder)))


@runs.command("upgrade")
def upgrade(*, store: StoreAddress = None, talk: ScreenOptions) -> None:
    """Bring the tables of a store up to date; make a copy of it first."""
    from isonomia.store import open as opened

    with opened(store, upgrade_tables=True) as found:
        _done(talk, msg("The tables of {store} are up to date.", store=str(found.address)))


@runs.command("trend")
def trend(
    *,
    analysis: Annotated[str, typer.Argument(metavar="ANALYSIS", help="The analysis.")],
    metric: Annotated[str, typer.Argument(metavar="METRIC", help="Such as selection_rate.")],
    who: Annotated[
        list[str] | None, typer.Option("--who", metavar="A=V", help="The people: sex=F; everyone where left out.")
    ] = None,
    measure: Annotated[
        Literal["value", "difference", "ratio"],
        typer.Option("--measure", metavar="M", help="value, difference or ratio."),
    ] = "value",
    attributes: Annotated[
        str | None, typer.Option("--attributes", metavar="A,B", help="For the gap between all groups: sex.")
    ] = None,
    store: StoreAddress = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="The newest runs only.")] = 50,
    talk: ScreenOptions,
) -> None:
    """Show a figure over the runs of an analysis, with its intervals."""
    from isonomia.cli.output.store import open_store

    screen = talk.screen()
    with open_store(store) as opened:
        found = opened.history(
            metric,
            analysis=analysis,
            measure=measure,
            who=people(who),
            attributes=attribute_names(attributes),
            limit=limit,
        )
    if talk.json:
        screen.data(found.to_dict())
    screen.table(found.tables["history"], title=found.title.text(screen.language))


def _done(talk: ScreenOptions, message: Message) -> None:
    """What was done, as a sentence or as JSON."""
    screen = talk.screen()
    if screen.json:
        screen.data(dict(message.params))
    screen.say(message)


def people(given: list[str] | None) -> dict[str, str] | None:
    """People as written on the command line: ``sex=F``."""
    from isonomia.errors import SpecError

    if given is None:
        return None
    parts = [text.partition("=") for text in given]
    wrong = [text for text, (column, equals, _) in zip(given, parts, strict=True) if not (column and equals)]
    if wrong:
        raise SpecError(f"`--who` takes COLUMN=VALUE, such as sex=F; got {wrong[0]!r}.")
    return {column: value for column, _, value in parts}


def attribute_names(text: str | None) -> list[str] | None:
    """Names of attributes with commas between them."""
    return None if text is None else read_names(text, "--attributes")


def _plain(run: Run) -> dict[str, Any]:
    from dataclasses import asdict
    from datetime import datetime

    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in asdict(run).items()}


def _table(found: list[Run]) -> Table:
    from isonomia.evidence import Column, Table

    return Table(
        (
            Column("id", [run.id for run in found], title=msg("run")),
            Column("analysis", [run.analysis for run in found], title=msg("analysis")),
            Column("kind", [run.kind for run in found], title=msg("kind")),
            Column("created", [run.created.strftime("%Y-%m-%d %H:%M") for run in found], title=msg("time (UTC)")),
            Column("rows", [run.rows for run in found], format="int", title=msg("rows")),
            Column("verdict", [run.verdict or "" for run in found], title=msg("verdict")),
            Column("n_findings", [run.n_findings for run in found], format="int", title=msg("findings")),
            Column("worst", [run.worst or "" for run in found], title=msg("worst")),
        )
    )
