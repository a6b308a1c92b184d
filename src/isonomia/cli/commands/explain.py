"""`isonomia explain`: why a model predicts what it predicts, and what protected attributes add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isonomia.cli.options.model import ModelOptions
from isonomia.cli.options.screen import ScreenOptions
from isonomia.cli.options.shared import Seed
from isonomia.cli.options.table import TableOptions
from isonomia.cli.output.screen import Screen
from isonomia.languages import msg, once

if TYPE_CHECKING:
    from isonomia.evidence import Result
    from isonomia.languages import Message

#: Tables that only serve a picture.
DRAWN = ("summary",)


def explain(
    *,
    table: TableOptions,
    model: ModelOptions,
    method: Annotated[str, typer.Option("--method", metavar="M", help="auto, or see: isonomia explainers.")] = "auto",
    output: Annotated[
        str, typer.Option("--output", metavar="O", help="probability, log_odds, rescaled, decision or score.")
    ] = "probability",
    label: Annotated[
        str | None, typer.Option("--label", metavar="C", help="The class to explain, where there are several.")
    ] = None,
    rows: Annotated[
        int, typer.Option("--rows", metavar="N", min=1, help="People to explain, at most; more are sampled.")
    ] = 2000,
    max_model_rows: Annotated[
        int, typer.Option("--max-model-rows", metavar="N", min=1, help="Rows that the model may be asked about.")
    ] = 2_000_000,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="The folder for explain.html and explain.json.")
    ] = None,
    seed: Seed = 0,
    talk: ScreenOptions,
) -> None:
    """Show what each column adds to predictions, and what each protected attribute adds by itself."""
    import numpy as np

    from isonomia.cli.output.progress_bar import ProgressBar
    from isonomia.cli.output.report import write_result
    from isonomia.errors import NotApplicable
    from isonomia.explain import explained_class, gap, sensitive, several_classes, shapley
    from isonomia.subject import Subject

    screen = talk.screen()
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    with ProgressBar(screen, msg("Explaining")) as progress:
        data = table.read(screen)
        subject = Subject.of(data, model.require(), progress=progress, seed=seed)
        if rows < len(subject):
            subject = subject.take(np.sort(np.random.default_rng(seed).permutation(len(subject))[:rows]))
        options: dict[str, Any] = {"method": method, "output": output, "max_model_rows": max_model_rows}
        options["label"] = _label(label, subject.surface.classes)
        values = shapley(subject, seed=seed, **options)
        parts = [values.summary(options["label"])]
        names, picked = [""], label is None
        left_out: list[Message] = []
        for name in data.protected:
            if picked:
                options["label"] = explained_class(subject, name, output=options["output"])
            try:
                found = (
                    sensitive(subject, attribute=name, **options),
                    gap(
                        subject, attribute=name, **{key: options[key] for key in ("output", "max_model_rows", "label")}
                    ),
                )
            except NotApplicable as error:
                left_out.append(msg("{attribute} is left out: {reason}.", attribute=name, reason=error.message))
                continue
            parts += found
            names += [name, name]
    several = several_classes(subject) if picked and data.protected else ()
    result = _together(parts, names, (*several, *left_out))
    _show(screen, result)
    if out is not None:
        write_result(screen, result, out / "explain.html", result.to_dict())


def _label(text: str | None, classes: tuple[Any, ...]) -> Any:
    """The class that a text names."""
    return next((one for one in classes if str(one) == text), text)


def _together(parts: Sequence[Result], names: Sequence[str], notes: Sequence[Message]) -> Result:
    """Several results as one: tables and figures of an attribute carry its name; `notes` are about all of them."""
    from isonomia.evidence import Result

    def key(name: str, own: str) -> str:
        return f"{own}_{name}" if name else own

    # the mean contributions of groups and the gaps of groups are two tables called "groups"
    parts = [_renamed(part, "gaps") if "contributions" in part.tables else part for part in parts]
    named = list(zip(names, parts, strict=True))
    return Result(
        "explain",
        msg("Why the model predicts what it predicts"),
        {key(name, own): table for name, part in named for own, table in part.tables.items()},
        {key(name, own): value for name, part in named for own, value in part.values.items()},
        tuple(finding for part in parts for finding in part.findings),
        pictures=tuple(
            replace(picture, table=key(name, picture.table)) for name, part in named for picture in part.pictures
        ),
        notes=once((*(note for part in parts for note in part.notes), *notes)),
        titles={
            key(name, own): msg("{attribute}: {figure}", attribute=name, figure=part.titles[own])
            for name, part in named
            for own in part.values
        },
        formats={key(name, own): style for name, part in named for own, style in part.formats.items()},
    )


def _renamed(part: Result, groups: str) -> Result:
    return replace(part, tables={groups if name == "groups" else name: one for name, one in part.tables.items()})


def _show(screen: Screen, result: Result) -> None:
    if screen.json:
        screen.data(result.to_dict())
        return
    for finding in result.findings:
        screen.say(finding.message)
    for name, table in result.tables.items():
        if name not in DRAWN:
            screen.table(table, title=(table.title or result.title).text(screen.language))
    from isonomia.report.texts import headline

    for name in result.values:
        screen.say(f"{result.heading(name, screen.language)}: {headline(result, name, screen.language)}")
    for note in result.notes:
        screen.say(note)
