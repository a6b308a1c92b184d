"""`isonomia discover pairs`: people treated differently when only protected attributes change."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isonomia.cli.options.model import ModelOptions
from isonomia.cli.options.screen import ScreenOptions
from isonomia.cli.options.search import SearchOptions
from isonomia.cli.options.table import TableOptions
from isonomia.cli.output.screen import Screen
from isonomia.errors import SpecError

if TYPE_CHECKING:
    from isonomia.discovery import PairResult

#: Pairs shown on the screen; all are in the file of --out.
SHOWN = 10


def pairs(
    *,
    table: TableOptions,
    model: ModelOptions,
    method: Annotated[str, typer.Option("--method", metavar="M", help="See: isonomia methods.")] = "auto",
    constraint: Annotated[
        list[str] | None,
        typer.Option("--constraint", metavar="RULE", help="What a valid person obeys: 'age >= 18'"),
    ] = None,
    max_tests: Annotated[
        int | None,
        typer.Option(
            "--max-tests", metavar="N", min=0, help="People to test; 0 for no limit. 10,000, or all in the data."
        ),
    ] = None,
    gamma: Annotated[
        float, typer.Option("--gamma", metavar="X", min=0, help="Scores must differ by more; 0: decisions must differ.")
    ] = 0.0,
    one_at_a_time: Annotated[
        bool, typer.Option("--one-at-a-time", help="Change one protected attribute at a time only.")
    ] = False,
    ledger_dir: Annotated[
        Path | None,
        typer.Option("--ledger-dir", metavar="DIR", help="Keep a ledger here, named by --analysis, or continue it."),
    ] = None,
    search: SearchOptions,
    talk: ScreenOptions,
) -> None:
    """Find people who would be treated differently if only protected attributes were different."""
    from isonomia.discovery import METHODS, find_pairs

    screen = talk.screen()

    def read_arguments() -> dict[str, Any]:
        data = table.read(screen)
        if not data.protected:
            raise SpecError("`--protected` must name the attributes to change: --protected sex,race")
        return {
            "data": data,
            "model": model.require(),
            "method": method,
            "constraints": constraint or (),
            "max_tests": "auto" if max_tests is None else max_tests or None,
            "gamma": gamma,
            "one_attr_at_a_time": one_at_a_time,
            "ledger_dir": ledger_dir,
        }

    parameters = METHODS.where(finds="pairs")[method].parameters
    keep = ledger_dir is None or search.store is not None
    _show(screen, search.run(screen, find_pairs, read_arguments, parameters, keep=keep))


def _show(screen: Screen, result: PairResult) -> None:
    from isonomia.evidence import Change

    for finding in result.findings:
        screen.say(finding.message)
    if len(result.pairs):
        table = result.tables["witnesses"]
        changed = {c.name for c in table.columns if any(isinstance(value, Change) for value in c.values)}
        first = [name for name in table.names if name in changed or name in ("case_id", "gap")]
        rest = [name for name in table.names if name not in first]
        top = table.select([*first, *rest]).take(range(min(SHOWN, len(table))))
        screen.table(top, title=result.title.text(screen.language))
    for note in result.notes:
        screen.say(note)
