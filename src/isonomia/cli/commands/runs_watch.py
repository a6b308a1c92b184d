"""`isonomia runs watch`: figures that are looked at with every new run, and what was seen."""

from __future__ import annotations

import json as encoding
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from isonomia.cli.commands.runs import attribute_names, people
from isonomia.cli.options.screen import ScreenOptions
from isonomia.cli.options.shared import StoreAddress
from isonomia.cli.output.screen import Screen
from isonomia.languages import msg

if TYPE_CHECKING:
    from isonomia.store import Alert, Store, Watch

#: The exit code where alerts are open.
OPEN = 1


def watch(
    *,
    analysis: Annotated[str, typer.Argument(metavar="ANALYSIS", help="The analysis.")],
    add: Annotated[
        Literal["policy", "change", "chart"] | None,
        typer.Option("--add", metavar="RULE", help="Watch by this rule: policy, change or chart."),
    ] = None,
    metric: Annotated[str | None, typer.Option("--metric", metavar="M", help="The metric to watch.")] = None,
    measure: Annotated[
        Literal["value", "difference", "ratio"],
        typer.Option("--measure", metavar="M", help="value, difference or ratio."),
    ] = "value",
    who: Annotated[
        list[str] | None, typer.Option("--who", metavar="A=V", help="Only these people: sex=F; all where left out.")
    ] = None,
    attributes: Annotated[
        str | None, typer.Option("--attributes", metavar="A,B", help="Only figures of these attributes.")
    ] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="RUN", help="The run that the rule change compares with.")
    ] = None,
    end: Annotated[str | None, typer.Option("--end", metavar="WATCH", help="Look no more.")] = None,
    close: Annotated[str | None, typer.Option("--close", metavar="ALERT", help="Close an alert; with --note.")] = None,
    note: Annotated[str | None, typer.Option("--note", metavar="TEXT", help="What the alert was.")] = None,
    store: StoreAddress = None,
    talk: ScreenOptions,
) -> None:
    """Watch figures, and show open alerts: with --json a line each.

    Ends with 1 where alerts are open, else with 0.
    """
    from isonomia.cli.output.store import open_store
    from isonomia.errors import SpecError

    screen = talk.screen()
    if close is not None and not note:
        raise SpecError("Closing an alert needs a note on what it was: --note TEXT.")
    with open_store(store) as opened:
        if baseline is not None:
            opened.set_baseline(baseline)
        if add is not None:
            opened.watch(
                analysis,
                rule=add,
                metric=metric,
                measure=measure,
                who=people(who),
                attributes=attribute_names(attributes),
            )
        if end is not None:
            opened.end_watch(end)
        if close is not None and note is not None:
            opened.close_alert(close, note=note)
        alerts = _show(screen, opened, analysis)
    raise typer.Exit(OPEN if alerts else 0)


def _show(screen: Screen, store: Store, analysis: str) -> list[Alert]:
    from isonomia.evidence import Column, Table

    watches, alerts = store.watches(analysis), store.alerts(analysis)
    if screen.json:
        for alert in alerts:
            typer.echo(encoding.dumps(alert.to_dict()))
        return alerts
    listed = Table(
        (
            Column("id", [one.id for one in watches], title=msg("watch")),
            Column("rule", [one.rule for one in watches], title=msg("rule")),
            Column("figure", [_figure(one) for one in watches], title=msg("figure")),
        )
    )
    screen.table(listed, title=msg("{n:# watch|# watches}", n=len(watches)).text(screen.language))
    opened = Table(
        (
            Column("id", [one.id for one in alerts], title=msg("alert")),
            Column("at", [one.at.strftime("%Y-%m-%d %H:%M") for one in alerts], title=msg("time (UTC)")),
            Column("message", [one.message for one in alerts], title=msg("message")),
        )
    )
    screen.table(opened, title=msg("{n:# open alert|# open alerts}", n=len(alerts)).text(screen.language))
    return alerts


def _figure(watch: Watch) -> str:
    parts = (watch.metric, watch.measure, watch.attribute, watch.who_key)
    return " ".join(part for part in parts if part)
