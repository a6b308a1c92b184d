"""`isonomia datasets`: public datasets, what they hold, and where they are."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from isonomia.cli.command_group import CommandGroup
from isonomia.cli.options.screen import ScreenOptions
from isonomia.cli.output.headings import heading, shown, worded
from isonomia.languages import Name, msg

datasets = CommandGroup("Public datasets: list them, describe one, fetch one.")

DatasetName = Annotated[str, typer.Argument(metavar="NAME", help="A dataset of the list.")]


@datasets.callback(invoke_without_command=True)
def listing(ctx: typer.Context, talk: ScreenOptions) -> None:
    """List the public datasets that can be loaded by name."""
    if ctx.invoked_subcommand is not None:
        return
    from isonomia.data import catalog
    from isonomia.evidence import Column, Table, yes_no

    screen = talk.screen()
    rows = catalog.listing()
    if screen.json:
        screen.data(rows)
    listed = ("name", "rows", "target", "favourable", "protected", "here", "purpose")
    cells: dict[str, list[Any]] = {key: [row[key] for row in rows] for key in listed}
    cells["here"] = [yes_no(here) for here in cells["here"]]
    cells["purpose"] = [Name.literal(purpose) for purpose in cells["purpose"]]
    columns = [Column(key, format="int" if key == "rows" else None, title=heading(key)) for key in listed]
    screen.table(Table.of(cells, columns))


@datasets.command("show")
def show(name: DatasetName, talk: ScreenOptions) -> None:
    """Describe one dataset: roles, licence, whose work it is, what to know before trusting it."""
    from isonomia.data import catalog

    screen = talk.screen()
    entry = catalog.info(name)
    listed = {row["name"]: row for row in catalog.listing()}[entry.id]
    described = {
        **listed,
        "task": worded(entry.task),
        "protected": {column: bands and list(bands.labels) for column, bands in entry.protected.items()},
        "privileged": dict(entry.privileged.items()),
        "citation": entry.citation,
        "notes": entry.notes,
        "file": entry.file,
        "sha256": entry.sha256,
    }
    if screen.json:
        screen.data(described)
    told = described | {key: Name.literal(described[key]) for key in ("purpose", "licence", "notes")}
    for key, value in told.items():
        screen.say(f"{heading(key).text(screen.language):13} {_shown(value, screen.language)}")


@datasets.command("fetch")
def fetch(name: DatasetName, talk: ScreenOptions) -> None:
    """Put a dataset into the cache; the only command that uses the network."""
    from isonomia.cli.output.progress_bar import ProgressBar
    from isonomia.data import catalog

    screen = talk.screen()
    with ProgressBar(screen, msg("Fetching {name}", name=name)):
        path = catalog.fetch(name)
    if screen.json:
        screen.data({"name": name, "path": str(path)})
    screen.say(str(path))


def _shown(value: Any, language: str) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {item}" if item is not None else str(name) for name, item in value.items())
    return shown(value, language)
