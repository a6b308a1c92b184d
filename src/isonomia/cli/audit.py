"""`isonomia audit`: a table, what its columns are for, and what to hold the model against."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from isonomia.cli.options import Json, Junit, Lang, NoColor, Out, Policy, Quiet, Seed
from isonomia.cli.screen import Screen

if TYPE_CHECKING:
    from isonomia.data import Dataset


def audit(
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="CSV, Parquet, Arrow or JSON lines; or a dataset's name.")
    ],
    target: Annotated[str | None, typer.Option("--target", metavar="T", help="The column of true outcomes.")] = None,
    positive: Annotated[str | None, typer.Option("--positive", metavar="V", help="The favourable outcome.")] = None,
    protected: Annotated[
        list[str] | None,
        typer.Option("--protected", metavar="A,B", help="Protected attributes; numbers in bands: sex,age:25,60"),
    ] = None,
    privileged: Annotated[
        list[str] | None, typer.Option("--privileged", metavar="A=V", help="A privileged value: sex=Male")
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
    policy: Policy = None,
    checks: Annotated[
        str, typer.Option("--checks", metavar="C", help="quick, standard, full, or names with commas between them.")
    ] = "standard",
    weight: Annotated[str | None, typer.Option("--weight", metavar="COL", help="One weight a row.")] = None,
    time: Annotated[str | None, typer.Option("--time", metavar="COL", help="The moment of a row.")] = None,
    task: Annotated[
        Literal["binary", "multiclass", "regression"] | None,
        typer.Option("--task", metavar="T", help="binary, multiclass or regression; else read off the data."),
    ] = None,
    missing: Annotated[
        Literal["group", "exclude", "error"],
        typer.Option("--missing", metavar="M", help="Rows without a protected value: group, exclude or error."),
    ] = "group",
    na: Annotated[
        list[str] | None, typer.Option("--na", metavar="TEXT", help="A text that stands for a missing value: ?")
    ] = None,
    lang: Lang = "en",
    out: Out = None,
    junit: Junit = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> None:
    """Examine what a model does to people.

    With --policy it is held against thresholds, and the exit code tells the verdict.
    """
    from isonomia.audit import audit as examine
    from isonomia.cli.delivery import deliver
    from isonomia.cli.roles import read_privileged, read_protected, read_score
    from isonomia.cli.waiting import Waiting
    from isonomia.languages import check_language

    screen = Screen(json=json, quiet=quiet, color=not no_color, language=check_language(lang))
    roles: dict[str, Any] = {
        "target": target,
        "positive": positive,
        "protected": read_protected(protected or []),
        "privileged": read_privileged(privileged or []),
        "prediction": prediction,
        "score": read_score(score or []),
        "weight": weight,
        "time": time,
        "task": task,
    }
    with Waiting(screen, "reading") as progress:
        table = read_data(data, {name: value for name, value in roles.items() if value}, na or [])
        loaded = None
        if model is not None:
            from isonomia.models import load_model

            loaded = load_model(model, trust=trust)
        report = examine(
            table,
            loaded,
            checks=_chosen(checks),
            policy=policy,
            seed=seed,
            missing=missing,
            language=screen.language,
            progress=progress,
        )
    deliver(report, screen, out=out, junit=junit)
    raise typer.Exit(report.exit_code)


def read_data(source: str, roles: dict[str, Any], na: list[str]) -> Dataset:
    """A file; or, where there is none of that name, a dataset of the catalog with its own roles and those given."""
    from isonomia.data import catalog, read

    if not Path(source).exists() and source in catalog.names():
        found = catalog.load(source)
        return found.with_roles(**roles) if roles else found
    return read(source, na_values=na, **roles)


def _chosen(checks: str) -> str | list[str]:
    names = [name.strip() for name in checks.split(",")]
    return names[0] if len(names) == 1 and names[0] in ("quick", "standard", "full") else names
