"""Groups of commands: options in groups, and errors in the words of the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from isonomia.cli.options.grouped import grouped
from isonomia.cli.options.wording import Command

Function = Callable[..., None]


class CommandGroup(typer.Typer):
    """Commands that take options in groups (`grouped`), and whose errors name these options (`Command`)."""

    def __init__(self, purpose: str, **settings: Any) -> None:
        super().__init__(help=purpose, rich_markup_mode=None, pretty_exceptions_enable=False, **settings)

    def command(  # type: ignore[override]  # functions that return nothing, as all commands do
        self, name: str | None = None, **settings: Any
    ) -> Callable[[Function], Function]:
        """Register a function as a command of this group."""
        return _registering(super().command(name, **{"cls": Command, **settings}))

    def callback(self, **settings: Any) -> Callable[[Function], Function]:  # type: ignore[override]
        """Register what runs before the commands of this group, or instead of one."""
        return _registering(super().callback(**settings))


def _registering(register: Callable[[Function], Function]) -> Callable[[Function], Function]:
    def add(function: Function) -> Function:
        register(grouped(function))
        return function

    return add
