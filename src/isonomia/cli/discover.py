"""`isonomia discover`: whom a model treats differently."""

from __future__ import annotations

import json as jsons
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isonomia.cli.options import Json, Lang, NoColor, Quiet, Seed
from isonomia.cli.screen import Screen

if TYPE_CHECKING:
    from isonomia.discovery import SubgroupResult

discover = typer.Typer(
    help="Find whom a model treats differently.", no_args_is_help=True, rich_markup_mode=None, add_completion=False
)


@discover.callback()
def door() -> None:
    """Find whom a model treats differently."""


@discover.command("subgroups")
def subgroups(
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="CSV, Parquet, Arrow or JSON lines; or a dataset's name.")
    ],
    method: Annotated[str, typer.Option("--method", metavar="M", help="See: isonomia methods.")] = "sliceline",
    target: Annotated[str | None, typer.Option("--target", metavar="T", help="The column of true outcomes.")] = None,
    positive: Annotated[str | None, typer.Option("--positive", metavar="V", help="The favourable outcome.")] = None,
    protected: Annotated[
        list[str] | None,
        typer.Option("--protected", metavar="A,B", help="Protected attributes; numbers in bands: sex,age:25,60"),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="FILE", help="A model file (skops, ONNX, ...) or module:callable.")
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Load a pickle or joblib model: this runs whatever code is in it.")
    ] = False,
    prediction: Annotated[
        str | None, typer.Option("--prediction", metavar="COL", help="Instead of a model: the column it decided in.")
    ] = None,
    score: Annotated[
        list[str] | None, typer.Option("--score", metavar="COL", help="Its probabilities; several classes: a=COL,b=COL")
    ] = None,
    weight: Annotated[str | None, typer.Option("--weight", metavar="COL", help="One weight a row.")] = None,
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
        float | None, typer.Option("--max-overlap", metavar="X", help="Leave out those that repeat a better one.")
    ] = None,
    max_seconds: Annotated[float | None, typer.Option("--max-seconds", metavar="S", help="Stop after this.")] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", metavar="A=V", help="An option of the method: alpha=0.9")
    ] = None,
    na: Annotated[
        list[str] | None, typer.Option("--na", metavar="TEXT", help="A text that stands for a missing value: ?")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the table: .csv, .csv.gz or .parquet.")
    ] = None,
    lang: Lang = "en",
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> None:
    """Find subgroups with other outcomes or errors than the rest."""
    from isonomia.cli.audit import read_data
    from isonomia.cli.frames import check_writable, write_frame
    from isonomia.cli.roles import read_protected, read_score
    from isonomia.cli.waiting import Waiting
    from isonomia.discovery import find_subgroups
    from isonomia.languages import check_language

    screen = Screen(json=json, quiet=quiet, color=not no_color, language=check_language(lang))
    if out is not None:
        check_writable(out)
    roles: dict[str, Any] = {
        "target": target,
        "positive": positive,
        "protected": read_protected(protected or []),
        "prediction": prediction,
        "score": read_score(score or []),
        "weight": weight,
    }
    with Waiting(screen, "searching") as progress:
        table = read_data(data, {name: value for name, value in roles.items() if value}, na or [])
        loaded = None
        if model is not None:
            from isonomia.models import load_model

            loaded = load_model(model, trust=trust)
        result = find_subgroups(
            table,
            loaded,
            method=method,
            metric=None if metric is None else [name.strip() for name in metric.split(",")],
            k=k,
            max_l=max_l or None,
            min_support=_support(min_support),
            holdout=holdout,
            max_overlap=max_overlap,
            max_seconds=max_seconds,
            seed=seed,
            progress=progress,
            **_options(option or []),
        )
    if out is not None:
        write_frame(result.table, out)
    _show(screen, result)


def _show(screen: Screen, result: SubgroupResult) -> None:
    from isonomia.evidence import Table

    if screen.json:
        screen.data(result.to_dict())
        return
    table = result.tables["subgroups"]
    hidden = {*result.features, *(f"{name} (feature)" for name in result.features), "subgroup_key", "p_value"}
    hidden |= {"outcome", "diff_outcome", "overlap"}
    columns = {name: values for name, values in table.columns.items() if name not in hidden}
    screen.table(Table(columns, table.formats, table.titles), title=result.title.text(screen.language))
    for note in result.notes:
        screen.tell(note)


def _support(text: str | None) -> float | int | None:
    """A share where it is written with a point, a number of rows otherwise."""
    from isonomia.errors import SpecError

    if text is None:
        return None
    try:
        return int(text) if text.strip().lstrip("+-").isdigit() else float(text)
    except ValueError:
        raise SpecError(f"`--min-support` must be a share such as 0.05 or a number of rows; got {text!r}.") from None


def _options(given: list[str]) -> dict[str, Any]:
    """``name=value`` with numbers, true, false and null read as such, everything else as text."""
    from isonomia.errors import SpecError

    named: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals):
            raise SpecError(f"`--option` takes name=value, such as alpha=0.9; got {text!r}.")
        try:
            named[name.strip()] = jsons.loads(value)
        except jsons.JSONDecodeError:
            named[name.strip()] = value
    return named
