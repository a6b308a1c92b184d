"""`isonomia metrics`: what can be measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from isonomia.cli.options import Json, NoColor, Quiet
from isonomia.cli.screen import Screen

if TYPE_CHECKING:
    from isonomia.metrics import Metric


def metrics(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One metric, in full.")] = None,
    task: Annotated[
        str | None, typer.Option("--task", metavar="T", help="Only for binary, multiclass or regression.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> None:
    """List the metrics, or describe one."""
    from isonomia.errors import SpecError, close_to
    from isonomia.evidence import Table
    from isonomia.metrics import METRICS

    screen = Screen(json=json, quiet=quiet, color=not no_color)
    tasks = ("binary", "multiclass", "regression")
    if task is not None and task not in tasks:
        raise SpecError(f"`--task` must be a kind of task; got {task!r}.{close_to(task, tasks)}")
    if name is not None:
        described = _described(METRICS[name])
        if json:
            screen.data(described)
        for key, value in described.items():
            screen.say(f"{key:17} {', '.join(map(str, value)) if isinstance(value, list) else value}")
        return
    listed = [_described(metric) for metric in METRICS if task is None or task in metric.tasks]
    if json:
        screen.data(listed)
    shown = {
        key: [_cell(entry[key]) for entry in listed] for key in ("metric", "aliases", "tasks", "better", "purpose")
    }
    screen.table(Table.of(shown))


def _described(metric: Metric) -> dict[str, Any]:
    low, high = metric.range
    return {
        "metric": metric.id,
        "aliases": [name for name in metric.aliases if name != metric.id],
        "purpose": metric.purpose,
        "tasks": list(metric.tasks),
        "needs": list(metric.surface),
        "labels": "needed" if metric.needs_labels else "not needed",
        "better": {"higher": "higher", "lower": "lower", "none": "neither"}[metric.direction],
        "range": [_bound(low), _bound(high)],
        "fewest rows": metric.min_samples,
        "references": list(metric.references),
    }


def _bound(value: float) -> float | str:
    """A bound that JSON can hold."""
    return value if abs(value) != float("inf") else ("infinity" if value > 0 else "-infinity")


def _cell(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)
