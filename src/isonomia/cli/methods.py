"""`isonomia methods`: the ways to find whom a model treats differently."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from isonomia.cli.options import Json, NoColor, Quiet
from isonomia.cli.screen import Screen


def methods(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One method, in full.")] = None,
    json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
) -> None:
    """List the discovery methods, or describe one."""
    from isonomia.errors import SpecError, close_to
    from isonomia.evidence import Table

    screen = Screen(json=json, quiet=quiet, color=not no_color)
    known = _described()
    if name is not None:
        found = [entry for entry in known if entry["method"] == name]
        if not found:
            raise SpecError(f"Unknown method {name!r}.{close_to(name, [item['method'] for item in known])}")
        if json:
            screen.data(found[0])
        for key, value in found[0].items():
            screen.say(f"{key:10} {', '.join(value) if isinstance(value, list) else value}" if key != "options" else "")
        for option, told in found[0]["options"].items():
            screen.say(f"  --option {option}={told['default']}  {told['purpose']}")
        return
    if json:
        screen.data(known)
    shown: dict[str, list[Any]] = {key: [entry[key] for entry in known] for key in ("method", "finds", "purpose")}
    screen.table(Table.of(shown))


def _described() -> list[dict[str, Any]]:
    from isonomia.discovery import METHODS, PAIR_METHODS

    subgroups = [
        {
            "method": method.id,
            "finds": "subgroups",
            "purpose": method.purpose,
            "needs": list(method.needs),
            "reference": method.reference,
            "options": {one.name: {"default": _plain(one.default), "purpose": one.help} for one in method.parameters},
        }
        for method in METHODS
    ]
    pairs = [
        {
            "method": pair.id,
            "finds": "pairs",
            "purpose": pair.purpose,
            "needs": ["model", "protected"],
            "reference": pair.reference,
            "options": {one.name: {"default": _plain(one.default), "purpose": one.help} for one in pair.parameters},
        }
        for pair in PAIR_METHODS
    ]
    return subgroups + pairs


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None) else str(value)
