"""`isonomia discover`: whom a model treats differently."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from isonomia.cli.command_group import CommandGroup
from isonomia.cli.options.model import ModelOptions
from isonomia.cli.options.roles import read_names
from isonomia.cli.options.screen import ScreenOptions
from isonomia.cli.options.search import SearchOptions
from isonomia.cli.options.table import TableOptions
from isonomia.cli.output.screen import Screen

if TYPE_CHECKING:
    from isonomia.discovery import SubgroupResult

discover = CommandGroup("Find whom a model treats differently.", no_args_is_help=True)


def subgroups(
    *,
    table: TableOptions,
    model: ModelOptions,
    method: Annotated[str, typer.Option("--method", metavar="M", help="auto, or see: isonomia methods.")] = "sliceline",
    metric: Annotated[
        str | None, typer.Option("--metric", metavar="R,S", help="Rates to examine: fpr, fnr, error_rate, ...")
    ] = None,
    k: Annotated[int, typer.Option("--k", metavar="N", help="How many subgroups.")] = 5,
    max_l: Annotated[int, typer.Option("--max-l", metavar="N", help="Conditions at most; 0 for no limit.")] = 3,
    min_support: Annotated[
        str | None, typer.Option("--min-support", metavar="X", help="A share such as 0.05, or a number of rows.")
    ] = None,
    holdout: Annotated[
        float | None, typer.Option("--holdout", metavar="X", help="Measure what is found on this share of the rows.")
    ] = None,
    max_overlap: Annotated[
        float | None, typer.Option("--max-overlap", metavar="X", help="Leave out subgroups that overlap a better one.")
    ] = None,
    one_by_one: Annotated[
        bool | None,
        typer.Option(
            "--one-by-one/--all-at-once", help="Find each subgroup by what it has beyond those before it, or not."
        ),
    ] = None,
    max_memory: Annotated[
        int, typer.Option("--max-memory", metavar="MB", min=1, help="Memory that a search over conditions works with.")
    ] = 512,
    search: SearchOptions,
    talk: ScreenOptions,
) -> None:
    """Find subgroups with other outcomes or errors than the rest."""
    from isonomia.discovery import METHODS, find_subgroups

    screen = talk.screen()

    def read_arguments() -> dict[str, Any]:
        return {
            "data": table.read(screen),
            "model": model.load(),
            "method": method,
            "metric": None if metric is None else read_names(metric, "--metric"),
            "k": k,
            "max_l": max_l or None,
            "min_support": _support(min_support),
            "holdout": holdout,
            "max_overlap": max_overlap,
            "one_by_one": one_by_one,
            "max_memory": max_memory << 20,
        }

    parameters = () if method == "auto" else METHODS.where(finds="subgroups")[method].parameters
    _show(screen, search.run(screen, find_subgroups, read_arguments, parameters))


def _show(screen: Screen, result: SubgroupResult) -> None:
    from isonomia.evidence import free_name

    table = result.tables["subgroups"]
    hidden = {
        *result.feature_names,
        *(free_name(name, {name}) for name in result.feature_names),
        "subgroup_key",
        "p_value",
    }
    hidden |= {"outcome", "diff_outcome", "overlap"}
    for one in result.lead:
        screen.say(one)
    screen.table(table.without(*hidden), title=result.title.text(screen.language))
    for note in result.notes:
        screen.say(note)


def _support(text: str | None) -> float | int | None:
    """A share where it is written with a point, a number of rows otherwise."""
    from isonomia.errors import SpecError

    if text is None:
        return None
    try:
        return int(text) if text.strip().lstrip("+-").isdigit() else float(text)
    except ValueError:
        raise SpecError(f"`--min-support` must be a share such as 0.05 or a number of rows; got {text!r}.") from None
