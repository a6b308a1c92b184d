"""`isonomia discover pairs`: people treated differently when only protected attributes change."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isonomia.cli.options import (
    Data,
    Json,
    Lang,
    MaxSeconds,
    MethodOption,
    Na,
    NoColor,
    Positive,
    Quiet,
    Seed,
    TableFile,
    Target,
    Trust,
)
from isonomia.cli.screen import Screen

if TYPE_CHECKING:
    from isonomia.discovery import PairResult

#: Pairs shown on the screen; all are in the file of --out.
SHOWN = 10


def pairs(
    data: Data,
    model: Annotated[
        str,
        typer.Option(
            "--model", metavar="FILE", help="A model file (skops, ONNX, ...), module:callable or http address."
        ),
    ],
    protected: Annotated[
        list[str], typer.Option("--protected", metavar="A,B", help="The attributes to change: sex,race")
    ],
    method: Annotated[str, typer.Option("--method", metavar="M", help="See: isonomia methods.")] = "auto",
    target: Target = None,
    positive: Positive = None,
    trust: Trust = False,
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
    max_seconds: MaxSeconds = None,
    gamma: Annotated[
        float, typer.Option("--gamma", metavar="X", min=0, help="Scores must differ by more; 0: decisions must differ.")
    ] = 0.0,
    one_at_a_time: Annotated[
        bool, typer.Option("--one-at-a-time", help="Change one protected attribute at a time only.")
    ] = False,
    ledger_dir: Annotated[
        Path | None,
        typer.Option("--ledger-dir", metavar="DIR", help="Keep a ledger here, or continue it."),
    ] = None,
    analysis: Annotated[str | None, typer.Option("--analysis", metavar="ID", help="Its name in --ledger-dir.")] = None,
    option: MethodOption = None,
    na: Na = None,
    out: TableFile = None,
    lang: Lang = "en",
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> None:
    """Find people who would be treated differently if only protected attributes were different."""
    from isonomia.cli.frames import check_writable, write_frame
    from isonomia.cli.progress_bar import ProgressBar
    from isonomia.cli.reading import read_model, read_options, read_table
    from isonomia.discovery import METHODS, find_pairs
    from isonomia.languages import check_language, msg

    screen = Screen(json=json, quiet=quiet, color=not no_color, language=check_language(lang))
    if out is not None:
        check_writable(out)
    with ProgressBar(screen, msg("Searching")) as progress:
        table = read_table(data, na=na, protected=protected, target=target, positive=positive)
        result = find_pairs(
            table,
            read_model(model, trust=trust),
            method=method,
            constraints=constraint or (),
            max_tests="auto" if max_tests is None else max_tests or None,
            max_seconds=max_seconds,
            gamma=gamma,
            one_attr_at_a_time=one_at_a_time,
            ledger_dir=ledger_dir,
            analysis_id=analysis,
            seed=seed,
            progress=progress,
            **read_options(option, METHODS.where(finds="pairs")[method].parameters),
        )
    if out is not None:
        write_frame(result.table, out)
    _show(screen, result)


def _show(screen: Screen, result: PairResult) -> None:
    from isonomia.evidence import Change

    if screen.json:
        screen.data(result.to_dict())
        return
    for finding in result.findings:
        screen.say(finding.message)
    if len(result.pairs):
        table = result.tables["witnesses"]
        changed = {c.name for c in table.columns if any(isinstance(value, Change) for value in c.values)}
        first = [name for name in table.names if name in changed or name in ("case_id", "gap")]
        rest = [name for name in table.names if name not in first]
        shown = table.select([*first, *rest]).take(range(min(SHOWN, len(table))))
        screen.table(shown, title=result.title.text(screen.language))
    for note in result.notes:
        screen.say(note)
