"""`isonomia verify`: is a report what it says?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isonomia.cli.options.screen import ScreenOptions
from isonomia.cli.options.shared import ModelFile
from isonomia.cli.options.trust import TrustOptions


def verify(
    *,
    report: Annotated[Path, typer.Argument(metavar="REPORT", help="A report.json, or the folder it is in.")],
    data: Annotated[
        str | None, typer.Option("--data", metavar="FILE", help="The data of the audit, to repeat it.")
    ] = None,
    model: ModelFile = None,
    trust: TrustOptions,
    talk: ScreenOptions,
) -> None:
    """Check a report: its hash, whether its verdict follows from its figures, and whether these come out again.

    Ends with 0 where all of that holds, 1 where something does not, 2 where there is no report to read, and 3 where
    something could not be checked.
    """
    from isonomia.audit import verify as check
    from isonomia.cli.output.progress_bar import ProgressBar
    from isonomia.languages import msg

    screen = talk.screen()
    with ProgressBar(screen, msg("Checking")) as progress:
        found = check(report, data=data, model=model, trust=trust.word(), progress=progress)
    if screen.json:
        screen.data({**found.to_dict(), "exit_code": found.exit_code})
    screen.say(found.headline)
    for table in found.tables.values():
        if len(table):
            screen.table(table, title=None if table.title is None else table.title.text(screen.language))
    for note in found.notes:
        screen.say(note)
    raise typer.Exit(found.exit_code)
