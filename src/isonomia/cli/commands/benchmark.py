"""`isonomia benchmark`: which discovery method finds what is there?"""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isonomia.cli.command_group import CommandGroup
from isonomia.cli.options.roles import read_names
from isonomia.cli.options.screen import ScreenOptions
from isonomia.cli.options.shared import MaxSeconds
from isonomia.cli.output.screen import Screen
from isonomia.languages import msg

if TYPE_CHECKING:
    from isonomia.store import Store

benchmark = CommandGroup("Which discovery method finds what is there?", no_args_is_help=True)

GridName = Annotated[str, typer.Argument(metavar="GRID", help="quick, standard or paper.")]
StoreUrl = Annotated[
    str | None,
    typer.Option(
        "--store", metavar="URL", envvar="ISONOMIA_STORE", help="Where cells are kept: a file or postgresql://..."
    ),
]
StoreUrls = Annotated[
    list[str] | None,
    typer.Option("--store", metavar="URL", help="Where cells are kept; once per shard for several stores."),
]
#: Where cells are kept where no store is named.
DEFAULT_STORE = "benchmark.db"


@benchmark.command("run")
def run(
    *,
    grid: GridName,
    store: StoreUrl = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", metavar="N", min=1, help="Processes.")] = 2,
    shard: Annotated[
        str | None,
        typer.Option("--shard", metavar="I/N", help="Only part I of N, for machines without a common store."),
    ] = None,
    methods: Annotated[str | None, typer.Option("--methods", metavar="A,B", help="Only these methods.")] = None,
    datasets: Annotated[
        int | None,
        typer.Option("--datasets", metavar="N", min=1, help="At most N datasets per setting; a later run adds more."),
    ] = None,
    tuned: Annotated[
        bool,
        typer.Option("--tuned", help="Each method with the best of 20 settings; report it as GRID-tuned."),
    ] = False,
    backend: Annotated[
        str | None,
        typer.Option("--backend", metavar="NAME", help="Start the jobs by a backend of joblib: loky, dask, ray."),
    ] = None,
    max_seconds: MaxSeconds = None,
    talk: ScreenOptions,
) -> None:
    """Run the cells that are not done yet; a run that was stopped goes on where it was."""
    from isonomia.benchmark import GRIDS, run_benchmark
    from isonomia.benchmark.running import missing_sources
    from isonomia.cli.output.progress_bar import ProgressBar
    from isonomia.store import open as open_store

    screen = talk.screen()
    missing = ", ".join(missing_sources(GRIDS[grid]))
    if missing:
        screen.remark(msg("Settings on data that are not on this machine are left out: {sources}.", sources=missing))
    names = None if methods is None else read_names(methods, "--methods")
    with open_store(store or DEFAULT_STORE) as opened, ProgressBar(screen, msg("Running the benchmark")) as progress:
        counts = run_benchmark(
            grid,
            opened,
            methods=names,
            jobs=jobs,
            shard=_shard(shard),
            datasets=datasets,
            tuned=tuned,
            backend=backend,
            max_seconds=max_seconds,
            progress=progress,
        )
    _show_counts(screen, grid, counts)


@benchmark.command("status")
def status(
    *,
    grid: GridName,
    store: StoreUrl = None,
    talk: ScreenOptions,
) -> None:
    """Say how many cells are done, under way and to do, and how long the rest may take."""
    from isonomia.benchmark.running import statuses
    from isonomia.benchmark.summary import seconds_per_cell
    from isonomia.store import open as open_store

    screen = talk.screen()
    with open_store(store or DEFAULT_STORE) as opened:
        counts = statuses(opened, grid)
        pace = seconds_per_cell(opened, grid)
    _show_counts(screen, grid, counts, pace)


@benchmark.command("report")
def report(
    *,
    grid: GridName,
    store: StoreUrls = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder for CSV, LaTeX, figures and the report.")
    ] = Path("out/benchmark"),
    figures: Annotated[
        bool, typer.Option("--figures/--no-figures", help="Draw figures (extra `paper`), or leave them out.")
    ] = True,
    nemenyi: Annotated[
        bool, typer.Option("--nemenyi", help="Bars by Nemenyi's test of mean ranks, as in older papers.")
    ] = False,
    talk: ScreenOptions,
) -> None:
    """Write tables, tests, figures and advice from the cells that are done; nothing is run."""
    import os

    from isonomia.benchmark import read_benchmark

    screen = talk.screen()
    with ExitStack() as stack:
        urls = store or [os.environ.get("ISONOMIA_STORE") or DEFAULT_STORE]
        found = read_benchmark([_opened(stack, url) for url in urls], grid)
    written = found.save(out, figures=figures, nemenyi=nemenyi)
    if screen.json:
        screen.data(found.document.to_dict())
        return
    for line in (*found.document.answer, *found.document.sure):
        screen.say(line)
    for part in found.results[:1]:
        for table in part.tables.values():
            screen.table(table, title=table.title.text(screen.language) if table.title else "")
    screen.say(msg("Full report: {path}", path=str(written[f"{screen.language}/html"])))


def _opened(stack: ExitStack, url: str) -> Store:
    from isonomia.store import open as open_store

    return stack.enter_context(open_store(url))


def _shard(text: str | None) -> tuple[int, int] | None:
    from isonomia.errors import SpecError

    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if found is None:
        raise SpecError(f"`--shard` must be I/N, such as 3/20; got {text!r}.")
    return int(found[1]), int(found[2])


def _show_counts(screen: Screen, grid: str, counts: dict[str, int], pace: float | None = None) -> None:
    """How the cells stand, and what the rest may take at the pace so far."""
    left = counts["waiting"] + counts["running"]
    if screen.json:
        seconds = None if pace is None else pace * left
        screen.data({"grid": grid, **counts, "seconds_left": seconds})
        return
    params: dict[str, Any] = {"grid": grid, "done": sum(counts.values()) - left, "left": left}
    screen.say(msg("{grid}: {done:# cell|# cells} done, {left:int} to do.", **params))
    problems = {name: counts[name] for name in ("unsuitable", "failed", "timeout", "memory")}
    if any(problems.values()):
        screen.say(
            msg(
                "Without an answer: {unsuitable:int} where the method does not apply, {failed:int} failed, "
                "{timeout:int} out of time, {memory:int} out of memory.",
                **problems,
            )
        )
    if pace is not None and left:
        screen.say(msg("At the pace so far the rest takes {minutes:num} minutes.", minutes=pace * left / 60))
