"""`isonomia audit`: a table, what its columns are for, and what to hold the model against."""

from __future__ import annotations

from typing import Annotated

import typer

from isonomia.cli.options import (
    Data,
    Json,
    Junit,
    Lang,
    Missing,
    ModelFile,
    Na,
    NoColor,
    Out,
    Policy,
    Positive,
    Prediction,
    Privileged,
    Protected,
    Quiet,
    Score,
    Seed,
    Target,
    Task,
    Trust,
    Weight,
)
from isonomia.cli.screen import Screen


def audit(
    data: Data,
    target: Target = None,
    positive: Positive = None,
    protected: Protected = None,
    privileged: Privileged = None,
    model: ModelFile = None,
    trust: Trust = False,
    prediction: Prediction = None,
    score: Score = None,
    policy: Policy = None,
    checks: Annotated[
        str, typer.Option("--checks", metavar="C", help="quick, standard, full, or names with commas between them.")
    ] = "standard",
    weight: Weight = None,
    time: Annotated[str | None, typer.Option("--time", metavar="COL", help="The moment of a row.")] = None,
    task: Task = None,
    missing: Missing = "group",
    na: Na = None,
    lang: Lang = "en",
    out: Out = None,
    junit: Junit = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> None:
    """Examine what a model does to people.

    With --policy the figures are compared with thresholds, and the exit code is the verdict.
    """
    from isonomia.audit import audit as examine
    from isonomia.cli.output import deliver
    from isonomia.cli.progress_bar import ProgressBar
    from isonomia.cli.reading import read_model, read_table
    from isonomia.languages import check_language, msg

    screen = Screen(json=json, quiet=quiet, color=not no_color, language=check_language(lang))
    with ProgressBar(screen, msg("Reading")) as progress:
        table = read_table(
            data,
            na=na,
            protected=protected,
            privileged=privileged,
            score=score,
            target=target,
            positive=positive,
            prediction=prediction,
            weight=weight,
            time=time,
            task=task,
        )
        loaded = read_model(model, trust=trust)
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


def _chosen(checks: str) -> str | list[str]:
    names = [name.strip() for name in checks.split(",")]
    return names[0] if len(names) == 1 and names[0] in ("quick", "standard", "full") else names
