"""Options that belong together: a dataclass declares them once, and a command takes the group as one argument."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of every group among its parameters as parameters of its own.

    A parameter whose annotation is a dataclass is a group: each field is an option with the field's annotation and
    default, and the command receives the group made of what was given.
    """
    own = inspect.signature(command, eval_str=True).parameters.values()
    groups: dict[str, Any] = {one.name: one.annotation for one in own if is_dataclass(one.annotation)}
    options: list[inspect.Parameter] = []
    for one in own:
        options += _options(groups[one.name]) if one.name in groups else [one.replace(kind=one.KEYWORD_ONLY)]

    @wraps(command)
    def run(**given: Any) -> None:
        made = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**made, **given)

    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in options}
    return run


@cache
def _options(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    kind = inspect.Parameter.KEYWORD_ONLY
    return [
        inspect.Parameter(
            field.name,
            kind,
            annotation=hints[field.name],
            default=field.default if field.default is not field.default_factory else inspect.Parameter.empty,
        )
        for field in fields(group)
    ]
