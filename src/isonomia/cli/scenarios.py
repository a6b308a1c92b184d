"""`isonomia scenarios`: what may change in the world, and what it takes to play it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from isonomia.cli.options import Json, NoColor, Quiet
from isonomia.cli.screen import Screen

if TYPE_CHECKING:
    from isonomia.robustness import Scenario


def scenarios(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One scenario, in full.")] = None,
    json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> None:
    """List the scenarios of stress tests, or describe one."""
    from isonomia.evidence import Table
    from isonomia.robustness import SCENARIOS

    screen = Screen(json=json, quiet=quiet, color=not no_color)
    if name is not None:
        described = _described(SCENARIOS[name])
        if json:
            screen.data(described)
        for key, value in described.items():
            screen.say(f"{key:10} {', '.join(value) if isinstance(value, list) else value}")
        return
    listed = [_described(entry) for entry in SCENARIOS]
    if json:
        screen.data(listed)
    shown: dict[str, list[Any]] = {
        key: [", ".join(entry[key]) if isinstance(entry[key], list) else str(entry[key]) for entry in listed]
        for key in ("scenario", "tasks", "needs", "level", "purpose")
    }
    screen.table(Table.of(shown))


def _described(entry: Scenario) -> dict[str, Any]:
    most = entry.most if entry.most != float("inf") else "infinity"
    return {
        "scenario": entry.id,
        "purpose": entry.purpose,
        "tasks": list(entry.tasks),
        "needs": list(entry.needs),
        "level": entry.level,
        "most": most,
        "unit": "" if entry.unit is None else entry.unit.text(),
        "options": [one.name for one in entry.parameters],
    }
