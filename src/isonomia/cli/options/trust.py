"""The word of the person at the keyboard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from isonomia.cli.options.roles import read_names

if TYPE_CHECKING:
    from isonomia.models import Trust


@dataclass(frozen=True, kw_only=True)
class TrustOptions:
    """What may run code, or be connected to."""

    trust: Annotated[
        bool,
        typer.Option(
            "--trust", help="Run code that is asked for: a pickle, joblib or PyTorch file, what a spec names."
        ),
    ] = False
    trust_only: Annotated[
        list[str] | None,
        typer.Option(
            "--trust-only", metavar="NAME", help="Trust this alone: a module, a type in a skops file, an address."
        ),
    ] = None

    def word(self) -> Trust:
        """What the person allows."""
        from isonomia.models import Trust

        return Trust(self.trust, tuple(read_names(self.trust_only or [], "--trust-only")))
