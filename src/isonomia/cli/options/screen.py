"""What a command writes and how: language, JSON, silence and colours, the same options for every command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from isonomia.cli.output.reader import set_reader_language
from isonomia.cli.output.screen import Screen
from isonomia.languages import check_language, languages


@dataclass(frozen=True, kw_only=True)
class ScreenOptions:
    """Language, JSON, silence and colours."""

    lang: Annotated[
        str | None, typer.Option("--lang", metavar="L", help=f"Language: {' or '.join(languages())}; else en.")
    ] = None
    json: Annotated[bool, typer.Option("--json", help="JSON on standard output, for machines.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Nothing but errors (and JSON, with --json).")] = False
    no_color: Annotated[bool, typer.Option("--no-color", help="No colours; NO_COLOR is heeded too.")] = False

    def screen(self, language: str = "en") -> Screen:
        """Where the command writes; in `language` unless the options name one."""
        chosen = check_language(self.lang or language)
        set_reader_language(chosen)
        return Screen(json=self.json, quiet=self.quiet, color=not self.no_color, language=chosen)
