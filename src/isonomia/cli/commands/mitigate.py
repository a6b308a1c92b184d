"""`isonomia mitigate`: what helps, shown on people that neither the model nor the fix has seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from isonomia.cli.options.model import ModelOptions
from isonomia.cli.options.roles import read_names
from isonomia.cli.options.screen import ScreenOptions
from isonomia.cli.options.shared import AnalysisName, MaxSeconds, Policy, Seed, StoreAddress
from isonomia.cli.options.table import TableOptions
from isonomia.cli.output.screen import Screen
from isonomia.errors import UntrustedError
from isonomia.languages import Name, error_message, msg

if TYPE_CHECKING:
    from isonomia.evidence import Table
    from isonomia.mitigation import Durability, Mitigated
    from isonomia.models import Trust

#: What the screen shows of the table; all of it is in the page and in the JSON.
SHOWN = ("method", "period", "gap_before", "gap", "accuracy", "mae", "share_changed", "reads_attribute", "verdict")
#: The exit code of the best fix's verdict.
CODES = {"meets": 0, "exceeds": 1, "not_enough_evidence": 3}


def mitigate(
    *,
    table: TableOptions,
    model: ModelOptions,
    estimator: Annotated[
        str | None,
        typer.Option("--estimator", metavar="E", help="What is trained: logistic, forest, boosting or module:factory."),
    ] = None,
    goal: Annotated[
        str, typer.Option("--goal", metavar="G", help="demographic_parity, equal_opportunity, equalized_odds, ...")
    ] = "demographic_parity",
    limit: Annotated[
        float | None, typer.Option("--limit", metavar="X", help="The largest difference, or the smallest ratio.")
    ] = None,
    policy: Policy = None,
    methods: Annotated[
        str | None, typer.Option("--methods", metavar="M,N", help="Only these (isonomia mitigations).")
    ] = None,
    attributes: Annotated[
        str | None,
        typer.Option(
            "--attributes", metavar="A,B", help="The attributes to fix; else those that break the policy worst."
        ),
    ] = None,
    groups: Annotated[
        Literal["protected", "found"],
        typer.Option("--groups", metavar="G", help="Whose gap is closed: protected groups, or found subgroups."),
    ] = "protected",
    allow_attribute: Annotated[
        bool,
        typer.Option(
            "--allow-attribute",
            "--attribute-at-decision",
            help="Fixes may read the protected attribute when they decide.",
        ),
    ] = False,
    allow_random: Annotated[
        bool, typer.Option("--allow-random", "--randomised", help="Fixes may leave decisions to chance.")
    ] = False,
    objective: Annotated[
        Literal["accuracy", "balanced_accuracy"], typer.Option("--objective", metavar="O", help="What a fix costs.")
    ] = "accuracy",
    folds: Annotated[int, typer.Option("--folds", metavar="N", min=2, help="Parts of the cross-fitting.")] = 5,
    durability: Annotated[
        bool, typer.Option("--durability", help="Fit on the first period, and judge on each later one (--time).")
    ] = False,
    max_seconds: MaxSeconds = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="The folder for mitigation.html, mitigation.json and the best fix."),
    ] = None,
    store: StoreAddress = None,
    analysis: AnalysisName = None,
    seed: Seed = 0,
    talk: ScreenOptions,
) -> None:
    """Try every applicable fix, and judge each on people it has not seen.

    Ends with the verdict of the best fix: 0 meets the goal, 1 exceeds it, 3 not enough evidence.
    """
    from isonomia.cli.output.progress_bar import ProgressBar
    from isonomia.cli.output.store import chosen_store
    from isonomia.mitigation import durability as judge_later
    from isonomia.mitigation import mitigate as try_all

    screen = talk.screen()
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    keeping = chosen_store(store, analysis)
    with ProgressBar(screen, msg("Trying fixes")) as progress:
        data = table.read(screen)
        options: dict[str, Any] = {
            "model": model.load(),
            "goal": goal,
            "limit": limit,
            "policy": policy,
            "methods": "applicable" if methods is None else read_names(methods, "--methods"),
            "attributes": None if attributes is None else read_names(attributes, "--attributes"),
            "groups": groups,
            "attribute_at_decision": allow_attribute,
            "randomised": allow_random,
            "objective": objective,
            "seed": seed,
            "max_seconds": max_seconds,
            "progress": progress,
        }
        result: Mitigated | Durability
        if durability:
            result = judge_later(data, _estimator(estimator, model.word()), **options)
        else:
            result = try_all(data, _estimator(estimator, model.word()), folds=folds, **options)
    show(screen, result)
    if out is not None:
        write(screen, result, out)
    if keeping is not None:
        keeping.keep_result(result, screen)
    raise typer.Exit(CODES[result.verdict])


def _estimator(source: str | None, word: Trust) -> Any:
    """The name of an estimator, or what a factory of the user's, or a class of a known library, makes."""
    if source is None or ":" not in source:
        return source
    from isonomia.models import estimators, import_object, staying

    made = import_object(source, replace(word, names=(*word.names, *estimators.LIBRARIES)))
    with staying(f"'{source}'"):
        return made if hasattr(made, "fit") and not isinstance(made, type) else made()


def _not_tried(table: Table, language: str) -> dict[str, list[str]]:
    """The methods that were not tried, by the reason."""
    found: dict[str, list[str]] = {}
    for row, verdict in enumerate(table["verdict"].values):
        if verdict == "not_tried":
            reason = table["gap"].estimate(row).note or ""
            text = reason.text(language) if isinstance(reason, Name) else reason
            found.setdefault(text, []).append(str(table["method"].values[row]))
    return found


def _record(result: Mitigated | Durability) -> dict[str, Any]:
    """The result for machines: beside its tables, the ids of the best fix, its verdict, and the front or what lasts."""
    ids = {name: list(getattr(result, name)) for name in ("front", "lasting") if hasattr(result, name)}
    return {"best": result.best, "verdict": result.verdict, **ids, **result.to_dict()}


def show(screen: Screen, result: Mitigated | Durability) -> None:
    """The findings, the fixes that were tried (in each period) and why others were not; or everything as JSON."""
    if screen.json:
        screen.data(_record(result))
        return
    for finding in result.findings:
        screen.say(finding.message)
    table = result.tables["periods" if "periods" in result.tables else "methods"]
    tried = [row for row, verdict in enumerate(table["verdict"].values) if verdict != "not_tried"]
    rows = table.take(tried)
    columns = [name for name in SHOWN if name in rows.names and any(value is not None for value in rows[name].values)]
    screen.table(rows.select(columns), title=result.title.text(screen.language))
    for reason, names in _not_tried(result.tables.get("together", table), screen.language).items():
        screen.say(msg("Not tried: {names} ({reason})", names=", ".join(names), reason=reason))
    for note in result.notes:
        screen.say(note)


def write(screen: Screen, result: Mitigated | Durability, out: Path) -> None:
    """The page, the record and the best fix as files of a folder."""
    from isonomia.cli.output.report import write_result
    from isonomia.mitigation import MITIGATIONS

    write_result(screen, result, out / "mitigation.html", _record(result))
    if result.best not in (None, "none"):
        suffix = ".json" if MITIGATIONS[result.best].stage == "after" else ".skops"
        try:
            path, period = str(result.save(out / f"fix{suffix}")), result.values.get("fitted_on")
        except UntrustedError as error:  # of another package: everything else about it is written
            screen.say(msg("The best fix is not written to a file: {reason}", reason=error_message(error)))
            return
        if period is None:
            screen.say(msg("The best fix, fitted on all rows: {path}", path=path))
        else:
            screen.say(msg("The best fix, fitted on {period}: {path}", period=period, path=path))
