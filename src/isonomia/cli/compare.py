"""`isonomia compare`: did the new model get worse, and where?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isonomia.cli.options import Json, Lang, NoColor, Quiet
from isonomia.cli.screen import Screen

if TYPE_CHECKING:
    from isonomia.evidence import Table


def compare(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="A report.json, or the folder it is in.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="The report to hold against it.")],
    lang: Lang = "en",
    json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> None:
    """Compare two reports: did the new model get worse?

    Ends with 1 where the verdict or a figure got worse.
    """
    from isonomia.audit import compare as hold
    from isonomia.languages import check_language, msg

    screen = Screen(json=json, quiet=quiet, color=not no_color, language=check_language(lang))
    comparison = hold(before, after)
    if json:
        screen.data({**comparison.to_dict(), "worse": comparison.worse})
    changes, findings = comparison.tables["changes"], comparison.tables["findings"]
    _show(screen, comparison.tables["verdicts"])
    moved = _kept(findings, "state", leave="unchanged")
    screen.say(msg("{n:# finding is|# findings are} unchanged.", n=len(findings) - len(moved)))
    _show(screen, moved)
    moved = _kept(changes, "direction", leave="same")
    screen.say(msg("{moved:int} of {n:int} figures changed by more than chance.", moved=len(moved), n=len(changes)))
    _show(screen, moved)
    for note in comparison.notes:
        screen.say(note)
    screen.say(msg("Something got worse.") if comparison.worse else msg("Nothing got worse."))
    raise typer.Exit(comparison.exit_code)


def _kept(table: Table, column: str, *, leave: str) -> Table:
    """The rows of a table where a column says something else."""
    return table.take([row for row, value in enumerate(table[column].values) if str(value) != leave])


def _show(screen: Screen, table: Table) -> None:
    if len(table):
        screen.table(table, title=None if table.title is None else table.title.text(screen.language))
