"""`isonomia study`: do explanations and fairness measures agree?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isonomia.cli.command_group import CommandGroup
from isonomia.cli.options.roles import read_names
from isonomia.cli.options.screen import ScreenOptions
from isonomia.cli.options.shared import MaxSeconds
from isonomia.cli.options.trust import TrustOptions
from isonomia.cli.output.screen import Screen
from isonomia.languages import msg

if TYPE_CHECKING:
    from isonomia.study import Study

study = CommandGroup("Do explanations and fairness measures agree?", no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder for finished cells, report, tables, figures.")]
Paper = Annotated[
    Path | None,
    typer.Option("--paper", metavar="DIR", help="The paper's files: its set-up, published figures beside ours."),
]
Tolerance = Annotated[
    float | None,
    typer.Option("--tolerance", metavar="X", min=0, help="Up to which size a measure counts as equal (0.005)."),
]
NBoot = Annotated[
    int | None, typer.Option("--n-boot", metavar="N", min=0, help="Replicates of the cluster bootstrap (2000).")
]

#: What the screen shows of the agreement; all of it is in the report.
SHOWN = ("against", "measure", "n", "agree", "chance", "kappa", "p_adjusted")


@study.command("run")
def run(
    *,
    folder: Folder,
    paper: Paper = None,
    paper_only: Annotated[
        bool, typer.Option("--paper-only", help="Train nothing: compare the published results themselves.")
    ] = False,
    spec: Annotated[
        Path | None,
        typer.Option("--spec", metavar="FILE", help="Options, own data, models and measures: YAML or JSON."),
    ] = None,
    datasets: Annotated[str | None, typer.Option("--datasets", metavar="A,B", help="Only these datasets.")] = None,
    models: Annotated[str | None, typer.Option("--models", metavar="A,B", help="Only these models.")] = None,
    fixes: Annotated[str | None, typer.Option("--fixes", metavar="A,B", help="Only these fixes.")] = None,
    explainers: Annotated[
        str | None, typer.Option("--explainers", metavar="A,B", help="Only these explainers.")
    ] = None,
    measures: Annotated[str | None, typer.Option("--measures", metavar="A,B", help="Only these measures.")] = None,
    seeds: Annotated[int | None, typer.Option("--seeds", metavar="N", min=1, help="How many seeds: 0 to N-1.")] = None,
    explained: Annotated[
        int | None, typer.Option("--explained", metavar="N", min=0, help="Test rows explained; 0 for all.")
    ] = None,
    max_seconds: MaxSeconds = None,
    tolerance: Tolerance = None,
    n_boot: NBoot = None,
    trust: TrustOptions,
    talk: ScreenOptions,
) -> None:
    """Train, measure and explain every model; a run that was stopped goes on where it was."""
    from isonomia.cli.output.progress_bar import ProgressBar
    from isonomia.study import read_study_spec, run_study

    screen = talk.screen()
    options: dict[str, Any] = {} if spec is None else read_study_spec(spec, trust=trust.word())
    lists = {"datasets": datasets, "models": models, "fixes": fixes, "explainers": explainers, "measures": measures}
    options |= {name: read_names(text, f"--{name}") for name, text in lists.items() if text is not None}
    given = {"tolerance": tolerance, "n_boot": n_boot, "max_seconds": max_seconds, "paper": paper}
    options |= {name: value for name, value in given.items() if value is not None}
    if seeds is not None:
        options["seeds"] = list(range(seeds))
    if explained is not None:
        options["explained"] = explained or None
    with ProgressBar(screen, msg("Running the study")) as progress:
        found = run_study(folder, **options, paper_only=paper_only, progress=progress)
    show(screen, found, folder)


@study.command("report")
def report(
    *,
    folder: Folder,
    paper: Paper = None,
    tolerance: Tolerance = None,
    n_boot: NBoot = None,
    talk: ScreenOptions,
) -> None:
    """Write the report of the cells that are finished; nothing is trained."""
    from isonomia.study import read_study

    screen = talk.screen()
    given = {"tolerance": tolerance, "n_boot": n_boot}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    show(screen, read_study(folder, paper=paper, **options), folder)


def show(screen: Screen, found: Study, folder: Path) -> None:
    """The answer, the agreement and published figures beside ours; everything is written into the folder."""
    from isonomia.study.reporting import unread_cell

    written = found.save(folder)
    if screen.json:
        screen.data(found.document.to_dict())
        return
    for one in found.unread:
        screen.say(unread_cell(one))
    for line in found.document.answer:
        screen.say(line)
    table = found.agreement.tables["agreement"]
    rows = [row for row, scope in enumerate(table["explainer"].values) if scope == "all"]
    screen.table(table.select(list(SHOWN)).take(rows), title=found.agreement.title.text(screen.language))
    if found.reproduction is not None:
        for name in ("figures", "shares"):
            part = found.reproduction.tables[name]
            screen.table(part, title=part.title.text(screen.language) if part.title else "")
    screen.say(msg("Full report: {path}", path=str(written[f"{screen.language}/html"])))
